import numpy as np
import pytest

import pgt
from pgt.core import serialise
from pgt.core.errors import InputError
from pgt.data import Domain


def test_is_stored_and_hashable(tmp_path):
    domain = Domain(x=(0, 0.1), t=(0, 1), periodic="x", units={"x": "m"})
    serialise.save(tmp_path, "domain", domain)
    again = serialise.load(tmp_path, "domain")
    assert again == domain
    assert hash(again) == hash(domain)
    assert domain != Domain(x=(0, 0.1), t=(0, 1))
    with pytest.raises(AttributeError):
        domain.axes = ("x",)


# --- geometry -----------------------------------------------------------------

ROOM = Domain(x=(0, 2), y=(-1, 1), t=(0, 3), periodic=("y",))


def test_quadrature_gives_the_volume_and_exact_integrals():
    points, weights = ROOM.quadrature(20)  # three along each axis: exact up to degree five
    assert points.shape == (27, 3)
    assert ROOM.contains(points).all()
    assert weights.sum() == pytest.approx(2 * 2 * 3)
    x, y, t = points.T
    assert (x**5 * y**4 * t**2) @ weights == pytest.approx((2**6 / 6) * (2 / 5) * 9)


@pytest.mark.parametrize(
    ("domain", "arguments", "message"),
    [
        (ROOM, ("z",), "no axis 'z', only x, y, t"),
        (ROOM, ("y",), "periodic along y: no wall there"),
        (ROOM, ("t",), "time has no walls"),
        (ROOM, ("x", "left"), "no side 'left'"),
        (Domain(t=(0, 1)), (), r"Domain\(t=\(0, 1\)\) has no spatial axis that ends in a wall"),
        (Domain(x=(0, 1), periodic=("x",)), (), "has no spatial axis"),
    ],
)
def test_walls_that_are_none(domain, arguments, message):
    with pytest.raises(InputError, match=message):
        domain.walls(*arguments)


def test_contains_tolerates_rounding_only():
    domain = Domain(x=(0, 1), t=(0, 10))
    points = [[0, 0], [1 + 1e-12, 10], [1.001, 5], [0.5, -1], [np.nan, 1]]
    np.testing.assert_array_equal(domain.contains(points), [True, True, False, False, False])
    with pytest.raises(InputError, match=r"\(n, 2\)"):
        domain.contains(np.zeros(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no axes"),
        ({"q": (0, 1)}, "unknown axis 'q'"),
        ({"x": (1, 1)}, "below"),
        ({"x": (0, np.inf)}, "finite"),
        ({"x": (np.nan, 1)}, "finite"),
        ({"x": (0, 1, 2)}, "two numbers"),
        ({"x": ("a", 1)}, "two numbers"),
        ({"x": (0, 1), "t": (0, 1), "periodic": ("t",)}, "time cannot be periodic"),
        ({"x": (0, 1), "periodic": ("y",)}, "`periodic` names 'y'"),
        ({"x": (0, 1), "units": {"y": "m"}}, "`units` names 'y'"),
    ],
)
def test_errors_name_the_culprit(arguments, message):
    with pytest.raises(InputError, match=message):
        Domain(**arguments)


def test_an_unknown_axis_is_named():
    with pytest.raises(InputError, match="no axis 'z', only x"):
        Domain(x=(0, 1)).bounds("z")


HOLE = pgt.shapes.Disk(radius=0.25, name="hole")
BOX = {"x": (-1, 1), "y": (-1, 1), "t": (0, 1)}


def test_a_position_in_an_obstacle_is_refused():
    domain = pgt.Domain(**BOX, shape=-HOLE)
    assert domain.instants({"x": -0.9, "y": 0.9}).free == ("t",)
    with pytest.raises(InputError, match=r"x = 0\.1, y = 0, t = 0 is outside the shape"):
        domain.instants({"x": 0.1, "y": 0.0})
