"""Where readings lie: on an interval, or round a circle."""

import numpy as np

from pgt.data import Domain, Observations
from pgt.trust.references.coordinates import first_at_each_place, readings, unit


def test_an_open_axis_goes_from_0_to_1():
    box = Domain(x=(2, 6), t=(-1, 1))
    found = unit(np.array([[2.0, -1.0], [3.0, 0.0], [6.0, 1.0]]), box)
    np.testing.assert_allclose(found, [[0, 0], [0.25, 0.5], [1, 1]])


def test_a_periodic_axis_is_a_circle_of_circumference_1():
    ring = Domain(x=(0, 4), t=(0, 1), periodic=("x",))
    points = np.array([[0.0, 0.3], [4.0, 0.3], [1.0, 0.3], [0.004, 0.3]])
    found = unit(points, ring)
    assert found.shape == (4, 3)
    np.testing.assert_allclose(found[0], found[1], atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(found[:, :2], axis=1), 1 / (2 * np.pi))
    np.testing.assert_allclose(found[2], [0, 1 / (2 * np.pi), 0.3], atol=1e-15)
    assert np.isclose(np.linalg.norm(found[3] - found[0]), 0.001, rtol=1e-4)


def test_a_hidden_value_is_not_a_number():
    given = {"u": [1.0, np.nan], "v": [np.nan, 2.0]}
    found = readings(Observations.from_arrays({"x": [0.0, 1.0]}, given))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[1.0, np.nan], [np.nan, 2.0]])


def test_of_a_field_read_twice_at_a_place_the_first_counts():
    """By field: a place where one field is known may yet say something of another."""
    places = np.array([[0.5], [0.2], [0.5 + 1e-12], [0.5]])
    mask = np.array([[True, False], [True, True], [True, True], [False, True]])
    kept = first_at_each_place(places, mask)
    assert kept.tolist() == [[True, False], [True, True], [False, True], [False, False]]


def test_zero_from_below_is_the_same_place():
    mask = np.ones((2, 1), bool)
    assert first_at_each_place(np.array([[-0.0], [0.0]]), mask).sum() == 1
    ring = Domain(x=(0, 1), periodic=("x",))
    assert first_at_each_place(unit(np.array([[0.0], [1.0]]), ring), mask).sum() == 1
