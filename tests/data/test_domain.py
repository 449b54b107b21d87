import jax
import numpy as np
import pytest
from scipy.stats import kstest

import pgt
from pgt.core import serialise
from pgt.core.errors import InputError
from pgt.data import Domain
from pgt.data.condition_regions import Faces, Spread


def test_axes_are_kept_in_canonical_order():
    domain = Domain(t=(0, 2), y=(-1, 3), x=(0, 1), periodic=("y",), units={"t": "s"})
    assert domain.axes == ("x", "y", "t")
    np.testing.assert_array_equal(domain.lower, [0, -1, 0])
    np.testing.assert_array_equal(domain.upper, [1, 3, 2])
    np.testing.assert_array_equal(domain.extent, [1, 4, 2])
    assert domain.lower.dtype == np.float64
    assert domain.spatial_axes == ("x", "y")
    assert (domain.has_time, domain.dimension, domain.index("t")) == (True, 3, 2)
    assert domain.bounds("y") == (-1.0, 3.0)
    assert domain.units == {"t": "s"}
    assert (
        repr(domain) == "Domain(x=(0, 1), y=(-1, 3), t=(0, 2), periodic=('y',), units={'t': 's'})"
    )


def test_is_stored_and_hashable(tmp_path):
    domain = Domain(x=(0, 0.1), t=(0, 1), periodic="x", units={"x": "m"})
    serialise.save(tmp_path, "domain", domain)
    again = serialise.load(tmp_path, "domain")
    assert again == domain
    assert hash(again) == hash(domain)
    assert domain != Domain(x=(0, 0.1), t=(0, 1))
    with pytest.raises(AttributeError):
        domain.axes = ("x",)


def test_is_static_under_jit():
    scale = jax.jit(lambda value, domain: value * domain.extent[0], static_argnums=1)
    assert scale(1.0, Domain(x=(0, 2))) == 2.0


# --- geometry -----------------------------------------------------------------

ROOM = Domain(x=(0, 2), y=(-1, 1), t=(0, 3), periodic=("y",))


def test_random_points_are_uniform_inside():
    points = np.asarray(jax.jit(lambda key: ROOM.sample(key, 2000))(jax.random.key(0)))
    assert ROOM.contains(points).all()
    for column in ((points - ROOM.lower) / ROOM.extent).T:
        assert kstest(column, "uniform").pvalue > 1e-3
    np.testing.assert_array_equal(ROOM.from_unit(np.full((1, 3), 0.5)), [[1.0, 0.0, 1.5]])


def test_quadrature_gives_the_volume_and_exact_integrals():
    points, weights = ROOM.quadrature(20)  # three along each axis: exact up to degree five
    assert points.shape == (27, 3)
    assert ROOM.contains(points).all()
    assert weights.sum() == pytest.approx(2 * 2 * 3)
    x, y, t = points.T
    assert (x**5 * y**4 * t**2) @ weights == pytest.approx((2**6 / 6) * (2 / 5) * 9)


def test_walls_are_the_ends_of_axes_that_have_some():
    plane = Domain(x=(0, 2), y=(-1, 1), t=(0, 3))
    assert plane.walls().pairs == (("x", 0), ("x", 1), ("y", 0), ("y", 1))
    assert plane.walls("y", side="upper").pairs == (("y", 1),)
    assert plane.walls(("y", "x"), side="lower").pairs == (("y", 0), ("x", 0))
    assert ROOM.walls().pairs == (("x", 0), ("x", 1))
    z = plane.walls("y", side="lower").nodes(1)[0]
    assert plane.walls().normal(z).tolist() == [0, -1, 0]


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


def test_the_start_a_seam_and_a_probe():
    assert (ROOM.start().nodes(9)[:, 2] == 0).all()
    assert ROOM.seam("y").nodes(9)[:, 1].tolist() == [-1.0] * 9
    assert ROOM.instants({"x": 1.0, "y": 0.5, "t": 2.0}).nodes(9).tolist() == [[1.0, 0.5, 2.0]]
    assert ROOM.instants().free == ("t",)
    for ask in (Domain(x=(0, 1)).start, lambda: ROOM.seam("z"), lambda: ROOM.instants({"z": 1.0})):
        with pytest.raises(InputError, match="the domain has no axis"):
            ask()


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


def test_a_seed_is_not_negative():
    with pytest.raises(InputError, match="seed"):
        Domain(x=(0, 1)).even(3, seed=-1)


def test_an_outline_of_many_corners_is_shown_by_its_walls():
    angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    foil = pgt.shapes.Polygon(
        np.column_stack([np.cos(angles), 0.2 * np.sin(angles)]), name="airfoil"
    )
    shown = repr(pgt.Domain(x=(-2, 2), y=(-1, 1), shape=-foil))
    assert shown == "Domain(x=(-2, 2), y=(-1, 1), shape=<Complement with the walls airfoil>)"
    short = pgt.Domain(x=(-2, 2), y=(-1, 1), shape=-pgt.shapes.Disk(radius=0.5, name="hole"))
    assert "Disk(" in repr(short)


HOLE = pgt.shapes.Disk(radius=0.25, name="hole")
BOX = {"x": (-1, 1), "y": (-1, 1), "t": (0, 1)}


@pytest.mark.parametrize(("shape", "kind"), [(None, Faces), (-HOLE, Spread)])
def test_ends_of_the_box_are_of_the_kind_that_the_shape_asks_for(shape, kind):
    assert isinstance(pgt.Domain(**BOX, shape=shape).walls("x"), kind)


def test_a_position_in_an_obstacle_is_refused():
    domain = pgt.Domain(**BOX, shape=-HOLE)
    assert domain.instants({"x": -0.9, "y": 0.9}).free == ("t",)
    with pytest.raises(InputError, match=r"x = 0\.1, y = 0, t = 0 is outside the shape"):
        domain.instants({"x": 0.1, "y": 0.0})
