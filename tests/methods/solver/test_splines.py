"""Splines against functions they can follow, and steps in time against their definition."""

import numpy as np
import pytest

from pgt.methods.solver.splines import Mesh, Splines, TimeBasis, gauss_points, radau_points


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_a_spline_follows_a_smooth_function_and_its_slope(periodic, order):
    spline = Splines(Mesh((0.0, 0.2, 0.5, 0.8, 1.0), 8, periodic), order)
    numbers, at = spline.fitted(np.sin(2 * np.pi * spline.places)), np.linspace(0, 1, 101)
    assert len(numbers) == 4 * 8 + (0 if periodic else order)
    assert np.abs(spline.rows(at) @ numbers - np.sin(2 * np.pi * at)).max() < 1e-6
    slope = 2 * np.pi * np.cos(2 * np.pi * at)
    assert np.abs(spline.rows(at, 1) @ numbers - slope).max() < 1e-3


def test_as_many_derivatives_are_continuous_as_the_order_says():
    spline = Splines(Mesh((0.0, 0.5, 1.0), 4), 2)
    for order, is_continuous in ((0, True), (1, True), (2, False)):
        left, right = (spline.rows(np.array([0.5 + e]), order) for e in (-1e-13, 1e-13))
        assert bool(np.abs(left - right).max() < 1e-6) is is_continuous


def test_points_integrate_what_they_should():
    """Five points of Gauss make polynomials of degree nine exact, Radau's those of degree eight."""
    for points, degree in ((gauss_points(5), 9), (radau_points(5), 8)):
        powers = np.vander(points, 5, increasing=True).T
        weights = np.linalg.solve(powers, 1 / np.arange(1, 6))
        assert weights @ points**degree == pytest.approx(1 / (degree + 1), abs=1e-13)
    assert radau_points(5)[-1] == 1.0


def test_an_oscillator_keeps_no_more_than_its_energy_in_long_steps():
    """u'' = -w² u in steps of many radians: amplitudes do not grow."""
    step, w = TimeBasis(5, 2), 200.0
    rows = step.rows(radau_points(5), 2) + w**2 * step.rows(radau_points(5))
    state = -np.linalg.solve(rows[:, 2:], rows[:, :2])
    ends = np.concatenate([step.rows(np.ones(1), k) for k in (0, 1)])
    once = ends[:, :2] + ends[:, 2:] @ state
    scaled = np.diag([w, 1]) @ once @ np.diag([1 / w, 1])
    assert np.abs(np.linalg.eigvals(scaled)).max() <= 1 + 1e-9
