"""Axes and bounds as they are written."""

import pytest

from pgt.core.errors import InputError
from pgt.data._bounds import check_names, limits_of, no_wall, shown, spanned


def test_bounds_are_two_numbers_in_order():
    assert limits_of("x", (0, 1)) == (0.0, 1.0)
    for pair in (1, (1, 0), (0, float("inf")), ("a", "b"), (0, 1, 2), (-1e308, 1e308)):
        with pytest.raises(InputError, match=r"Domain\(x="):
            limits_of("x", pair)


def test_positions_far_from_zero_keep_their_digits():
    assert spanned("x", (5412345.0, 5412345.5), {}) == "(5412345, 5412345.5)"
    assert shown("x", 0.1 + 0.2, {}) == "0.3"
    assert shown("t", 0.25, {"t": "s"}) == "0.25"


@pytest.mark.parametrize(
    ("bounds", "periodic", "units", "said"),
    [
        ({}, (), {}, "no axes"),
        ({"r": (0, 1)}, (), {}, "unknown axis 'r'"),
        ({"t": (0, 1)}, ("t",), {}, "time cannot be periodic"),
        ({"x": (0, 1)}, ("y",), {}, "`periodic` names 'y'"),
        ({"x": (0, 1)}, (), {"y": "m"}, "`units` names 'y'"),
    ],
)
def test_what_is_said_of_axes_is_said_of_those_there_are(bounds, periodic, units, said):
    with pytest.raises(InputError, match=said):
        check_names(bounds, periodic, units)


def test_why_there_is_no_wall():
    assert "time has no walls" in no_wall("t")
    assert "periodic along x" in no_wall("x")
