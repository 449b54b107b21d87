"""Families in files of Python."""

import jax
import pytest

import pgt
from pgt.cli.user_families import family_in_file, family_in_folder

LAW = """
from pgt.families.laws.wave_sum_laws import HeatFamily


class Mine(HeatFamily):
    name = "mine"
"""


def written(folder, text):
    path = folder / "a_law_of_mine.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("text", "name", "words"), [
    (LAW, "other", "no family 'other'; it has mine"),
    ("x = 1", "", "has no family"),
    ("import nowhere_at_all", "", "does not run: ModuleNotFoundError"),
    ("import equinox as eqx\n" + LAW + "    size: int = eqx.field(kw_only=True)", "", "fields defaults"),
])  # fmt: skip
def test_what_a_file_lacks_is_said(tmp_path, text, name, words):
    with pytest.raises(pgt.InputError, match=words):
        family_in_file(written(tmp_path, text), name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rods")
    rods = pgt.families.get("heat", nodes=9, times=8)
    for i in range(3):
        pgt.io.write_field(rods.dataset(rods.draw(jax.random.key(i))), folder / f"{i}.nc")
    return folder


@pytest.mark.parametrize(
    ("equation", "coefficients", "said"),
    [
        (None, [], "say which equation they solve"),
        ("heta", [], "Did you mean 'heat'"),
        ("heat", ["speed"], "speed"),
        ("u_t = nu*u_xx", ["diffusivity"], "nu"),
    ],
)
def test_what_does_not_fit_is_said(folder, equation, coefficients, said):
    with pytest.raises(pgt.InputError, match=said):
        family_in_folder(folder, equation, coefficients)
