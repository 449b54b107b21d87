"""Families in files of Python."""

import pytest

import pgt
from pgt.families.family_file import family_in_file

LAW = """
from pgt.families.heat import HeatFamily


class Mine(HeatFamily):
    name = "mine"
"""


def written(folder, text):
    path = folder / "a_law_of_mine.py"
    path.write_text(text)
    return path


def test_the_only_family_of_a_file_is_meant(tmp_path):
    path = written(tmp_path, LAW)
    assert family_in_file(path).name == family_in_file(path, "mine").name == "mine"


@pytest.mark.parametrize(("text", "name", "words"), [
    (LAW, "other", "no family 'other'; it has mine"),
    ("x = 1", "", "has no family"),
    ("import nowhere_at_all", "", "does not run: ModuleNotFoundError"),
    ("import equinox as eqx\n" + LAW + "    size: int = eqx.field(kw_only=True)", "", "fields defaults"),
])  # fmt: skip
def test_what_a_file_lacks_is_said(tmp_path, text, name, words):
    with pytest.raises(pgt.InputError, match=words):
        family_in_file(written(tmp_path, text), name)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(pgt.InputError, match="no file"):
        family_in_file(tmp_path / "none.py")
