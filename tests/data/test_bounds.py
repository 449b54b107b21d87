"""Points in a box: inside it, at random, and fixed ones that integrate polynomials exactly."""

import math

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data.bounds import Bounds, check_names, limits_of

BOX = Bounds(("x", "y", "t"), ((-1.0, 1.0), (0.0, 0.5), (2.0, 7.0)))


def test_quadrature_integrates_polynomials_exactly():
    points, weights = BOX.quadrature(64)  # four along each axis: exact up to degree seven
    x, y, t = points.T
    exact = (2 / 5) * (0.5**4 / 4) * ((7.0**8 - 2.0**8) / 8)
    assert (x**4 * y**3 * t**7) @ weights == pytest.approx(exact, rel=1e-13)
    with pytest.raises(InputError, match="n=0"):
        BOX.quadrature(0)


def test_more_points_than_there_is_time_or_memory_for_are_refused(monkeypatch):
    with pytest.raises(InputError, match="ask for 20000 at most"):
        Bounds(("x",), ((0.0, 1.0),)).quadrature(10**9)
    monkeypatch.setattr("pgt.core.machine.available_memory", lambda: 1e5)
    with pytest.raises(InputError, match="ask for fewer"):
        Bounds(("x", "y"), ((0.0, 1.0),) * 2).quadrature(10**6)


@pytest.mark.parametrize(
    ("axes", "limits"),
    [
        ("x", np.zeros((1, 2))), (("x",), None), (("x",), [1, 2]), (("x",), ((0.0, 1.0), (0.0, 1.0))),
        (None, ((0.0, 1.0),)), (("x",), ((0.0, math.nan),)), (("x",), (("a", "b"),)),
    ],
)  # fmt: skip
def test_a_box_of_something_else_is_refused(axes, limits):
    with pytest.raises(InputError, match="Bounds"):
        Bounds(axes, limits)


def test_bounds_are_two_numbers_in_order():
    assert limits_of("x", (0, 1)) == (0.0, 1.0)
    for pair in (1, (1, 0), (0, float("inf")), ("a", "b"), (0, 1, 2), (-1e308, 1e308)):
        with pytest.raises(InputError, match=r"Domain\(x="):
            limits_of("x", pair)


@pytest.mark.parametrize(
    ("bounds", "periodic", "units", "said"),
    [
        ({}, (), {}, "no axes"),
        ({"s": (0, 1)}, (), {}, "unknown axis 's'"),
        ({"t": (0, 1)}, ("t",), {}, "time cannot be periodic"),
        ({"x": (0, 1)}, ("y",), {}, "`periodic` names 'y'"),
        ({"x": (0, 1)}, (), {"y": "m"}, "`units` names 'y'"),
    ],
)
def test_what_is_said_of_axes_is_said_of_those_there_are(bounds, periodic, units, said):
    with pytest.raises(InputError, match=said):
        check_names(bounds, periodic, units)
