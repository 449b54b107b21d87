"""Families by name."""

import pytest

import pgt
from pgt.families.registry import get, names


def test_the_families_are_known_by_name_and_made_with_other_settings():
    assert {"heat", "advection_diffusion", "wave", "burgers"} <= set(names())
    assert all(get(name).name == name for name in names())
    assert get("heat", nodes=9).axes["x"].size == 9


def test_a_wrong_name_is_answered_with_the_near_one():
    with pytest.raises(pgt.InputError, match=r"no family 'heet'; .*Did you mean 'heat'\?"):
        get("heet")
