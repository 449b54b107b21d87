"""

Where readings lie: on an interval, or round a circle.

The error of each reading from all others, and the kernel chosen by it.
"""

import json

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

import pgt
from pgt import datasets
from pgt.data import Observations
from pgt_bench.interpolation import (
    KERNELS,
    gaussian_process,
    leave_one_out,
    monomials,
    rbf,
    with_conditions,
)


def scattered(n):
    points = np.random.default_rng(0).uniform(size=(n, 2))
    return points, np.sin(3 * points[:, :1]) * np.exp(points[:, 1:])


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("smoothing", [0.0, 1e-2])
def test_the_closed_form_is_leaving_one_out(kernel, smoothing):
    points, values = scattered(14)
    formula, degree = KERNELS[kernel]
    distance = np.linalg.norm(points[:, None] - points, axis=-1)
    found = leave_one_out(
        formula(4 * distance), monomials(points, degree), values, np.array([smoothing])
    )
    missed = []
    for i in range(len(points)):
        others = np.delete(np.arange(len(points)), i)
        fit = RBFInterpolator(
            points[others], values[others], kernel=kernel, epsilon=4.0, smoothing=smoothing
        )
        missed.append(fit(points[i : i + 1])[0] - values[i])
    assert found[0, 0] == pytest.approx(np.sqrt(np.mean(np.square(missed))), rel=1e-6)


SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))


def spread_points(n=30, seed=0):
    points = np.random.default_rng(seed).uniform(size=(n, 2))
    values = np.sin(3 * points[:, :1]) * np.exp(points[:, 1:])
    return Observations.from_arrays(points, values, coords=("x", "t"), fields=("u",))


# --- radial basis functions ---------------------------------------------------


def test_rbf_is_scipys_with_the_choice_it_reports():
    readings, where = spread_points(), np.random.default_rng(1).uniform(size=(7, 2))
    answer = rbf(readings, SQUARE, where)
    chosen = dict(answer.chosen["u"])
    assert chosen.pop("leave_one_out") < 0.02
    scipys = RBFInterpolator(readings.points, readings.values, **chosen)(where)
    np.testing.assert_allclose(answer.predictions, scipys, rtol=1e-9)
    at_readings = rbf(readings, SQUARE, readings.points, kernel="cubic", smoothing=0.0)
    np.testing.assert_allclose(at_readings.predictions, readings.values, atol=1e-9)
    assert at_readings.chosen["u"]["kernel"] == "cubic"
    assert answer.seconds > 0


# --- the Gaussian process -----------------------------------------------------


def test_gaussian_process_is_the_textbook_formula():
    readings, where = spread_points(20), np.random.default_rng(1).uniform(size=(5, 2))
    answer = gaussian_process(readings, SQUARE, where, noise=True, restarts=0)
    chosen = answer.chosen["u"]

    def covariance(a, b):
        scaled = (a[:, None] - b) / chosen["lengths"]
        return chosen["constant"] * np.exp(-(scaled**2).sum(axis=-1) / 2)

    points, values = readings.points, readings.values[:, 0]
    matrix = covariance(points, points)
    matrix += (chosen["noise_variance"] + chosen["jitter"]) * np.eye(len(points))
    standard = (values - values.mean()) / values.std()
    mean = covariance(where, points) @ np.linalg.solve(matrix, standard)
    expected = mean * values.std() + values.mean()
    np.testing.assert_allclose(answer.predictions[:, 0], expected, rtol=1e-5)


# --- both ---------------------------------------------------------------------


@pytest.mark.parametrize("method", [rbf, gaussian_process])
def test_hidden_values_are_not_read(method):
    full = spread_points(24)
    masked = np.where(np.arange(24)[:, None] % 2 == 0, full.values, np.nan)
    both = np.hstack([masked, full.values, np.full((24, 1), np.nan)])
    readings = Observations.from_arrays(
        full.points, both, coords=("x", "t"), fields=("u", "v", "p")
    )
    where = np.random.default_rng(2).uniform(size=(6, 2))
    answer = method(readings, SQUARE, where)
    half = method(full.take(np.arange(0, 24, 2)), SQUARE, where)
    np.testing.assert_allclose(answer.predictions[:, 0], half.predictions[:, 0], rtol=1e-8)
    np.testing.assert_allclose(
        answer.predictions[:, 1], method(full, SQUARE, where).predictions[:, 0], rtol=1e-8
    )
    assert np.isnan(answer.predictions[:, 2]).all()
    assert answer.chosen["p"] is None
    json.dumps(answer.chosen, allow_nan=False)


@pytest.mark.parametrize("method", [rbf, gaussian_process])
def test_a_periodic_axis_closes(method):
    truth = datasets.travelling_wave(x=11, t=9)
    readings = pgt.sample(
        truth, 70, seed=0
    )  # of 99: both ends of x at the same time are among them
    circle = pgt.Domain(x=(0, 1), t=(0, 1), periodic=("x",))
    ends = np.array([[0.0, 0.35], [1.0, 0.35], [0.3, 0.35]])
    found = method(readings, circle, ends).predictions[:, 0]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    np.testing.assert_allclose(found, np.sin(2 * np.pi * (ends[:, 0] - 0.35)), atol=1e-2)


# ------------------------------------------------------------------------------- given values


def test_given_values_become_readings():
    reading = Observations.from_arrays(
        {"x": [0.5, 0.0], "t": [0.5, 0.25]}, {"u": [3.0, 9.0], "v": [4.0, 5.0]}, noise=0.1
    )
    known = with_conditions(
        reading, [pgt.Initial(u="1 + x"), pgt.Dirichlet("x", u="2*t")], SQUARE, 5
    )
    assert len(known) == 5 + 4 + 4 + 2
    x, t = known.points.T
    start, wall = t == 0, (t > 0) & ((x == 0) | (x == 1))
    np.testing.assert_allclose(known.values[start, 0], 1 + x[start])
    measured = known.mask[:, 0]
    np.testing.assert_allclose(known.values[wall & measured, 0], 2 * t[wall & measured])
    # The sensor on the wall keeps only the field that no condition gives.
    assert known.mask[-2:].tolist() == [[True, True], [False, True]]
    assert known.values[-1].tolist() == [0.0, 5.0]
    assert not known.mask[:-2, 1].any()
    assert known.noise[-2:].tolist() == [[0.1, 0.1], [0.0, 0.1]]
    assert not known.noise[:-2].any()
    for column in (0, 1):
        places = known.points[known.mask[:, column]]
        assert len(np.unique(places, axis=0)) == len(places)
