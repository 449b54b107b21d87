"""A folder of simulations, by words."""

import jax
import pytest

import pgt
from pgt.families.folder import family_in


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rods")
    rods = pgt.families.get("heat", nodes=9, times=8)
    for i in range(3):
        pgt.io.write_field(rods.dataset(rods.draw(jax.random.key(i))), folder / f"{i}.nc")
    return folder


@pytest.mark.parametrize("equation", ["heat", "u_t = diffusivity*u_xx"])
def test_an_equation_by_name_or_as_text(folder, equation):
    family = family_in(folder, equation, ["diffusivity"], crop={"t": 5})
    assert family.draw(jax.random.key(0)).values.shape == (9, 5, 1)
    assert family.pde({"diffusivity": 0.3}).fields == ("u",)


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
        family_in(folder, equation, coefficients)
