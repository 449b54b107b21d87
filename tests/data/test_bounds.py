"""Points in a box: inside it, at random, and fixed ones that integrate polynomials exactly."""

import math
import time

import jax
import numpy as np
import pytest
from scipy.stats import kstest

from pgt.core.errors import InputError
from pgt.data.bounds import Bounds, check_names, limits_of, no_wall, shown, spanned

BOX = Bounds(("x", "y", "t"), ((-1.0, 1.0), (0.0, 0.5), (2.0, 7.0)))


def test_numbers_by_axis():
    assert (BOX.dimension, BOX.has_time, BOX.spatial_axes) == (3, True, ("x", "y"))
    assert (BOX.index("t"), BOX.bounds("y")) == (2, (0.0, 0.5))
    np.testing.assert_array_equal(BOX.middle, [0.0, 0.25, 4.5])
    np.testing.assert_array_equal(BOX.extent, [2.0, 0.5, 5.0])
    assert {axis: float(at) for axis, at in BOX.named(np.arange(3.0)).items()} == {
        "x": 0.0,
        "y": 1.0,
        "t": 2.0,
    }
    assert BOX.along(("t", "x")) == Bounds(("t", "x"), ((2.0, 7.0), (-1.0, 1.0)))
    assert hash(BOX.along(BOX.axes)) == hash(BOX)
    with pytest.raises(InputError, match="no axis 'z', only x, y, t"):
        BOX.along(("z",))


def test_random_points_are_uniform_and_follow_the_key():
    points = np.asarray(jax.jit(lambda key: BOX.sample(key, 2000))(jax.random.key(0)))
    assert points.shape == (2000, 3)
    assert BOX.contains(points).all()
    for column in ((points - BOX.lower) / BOX.extent).T:
        assert kstest(column, "uniform").pvalue > 1e-3
    np.testing.assert_array_equal(points, BOX.sample(jax.random.key(0), 2000))
    assert not np.array_equal(points, BOX.sample(jax.random.key(1), 2000))


@pytest.mark.parametrize("library", [np, jax.numpy])
def test_the_unit_cube_is_stretched_over_the_box(library):
    corners = library.asarray([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5]])
    points = BOX.from_unit(corners)
    assert points.dtype == corners.dtype
    np.testing.assert_allclose(points, [BOX.lower, BOX.upper, BOX.middle], rtol=1e-7)


def test_rounding_does_not_carry_a_point_outside():
    narrow = Bounds(("x",), ((0.1, 0.3),))
    edge = np.array([[np.nextafter(np.float32(1), np.float32(0))]], np.float32)
    assert narrow.from_unit(edge)[0, 0] <= np.float32(0.3)


@pytest.mark.parametrize("n", [1, 20, 27, 28, 64])
def test_there_are_at_least_as_many_nodes_as_asked_and_weights_sum_to_the_volume(n):
    points, weights = BOX.quadrature(n)
    assert n <= len(points) == len(weights) == round(len(points) ** (1 / 3)) ** 3
    assert (round(len(points) ** (1 / 3)) - 1) ** 3 < n
    assert BOX.contains(points).all()
    assert weights.sum() == pytest.approx(2 * 0.5 * 5, rel=1e-14)


def test_thousands_of_nodes_in_a_line_are_found_at_once():
    line, began = Bounds(("t",), ((0.0, 2.0),)), time.process_time()
    points, weights = line.quadrature(5000)
    assert time.process_time() - began < 5  # of minutes that NumPy's would take
    assert np.sin(9 * points[:, 0]) @ weights == pytest.approx((1 - np.cos(18)) / 9, abs=1e-12)


def test_quadrature_integrates_polynomials_exactly():
    points, weights = BOX.quadrature(64)  # four along each axis: exact up to degree seven
    x, y, t = points.T
    exact = (2 / 5) * (0.5**4 / 4) * ((7.0**8 - 2.0**8) / 8)
    assert (x**4 * y**3 * t**7) @ weights == pytest.approx(exact, rel=1e-13)
    with pytest.raises(InputError, match="n=0"):
        BOX.quadrature(0)


def test_a_box_without_axes_is_one_point():
    points, weights = BOX.along(()).quadrature(5)
    assert points.shape == (1, 0)
    assert weights.tolist() == [1.0]


@pytest.mark.parametrize("by", [[], [1.0], np.ones(4)])
def test_a_box_is_moved_by_a_number_for_every_axis(by):
    with pytest.raises(InputError, match="one number for each of x, y, t"):
        BOX.moved(by)


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


def test_a_box_of_lists_is_that_of_tuples():
    assert hash(Bounds(["x"], [[0, 1]])) == hash(Bounds(("x",), ((0, 1),)))


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
        ({"s": (0, 1)}, (), {}, "unknown axis 's'"),
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
