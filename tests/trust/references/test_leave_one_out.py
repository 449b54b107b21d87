"""The error of each reading from all others, and the kernel chosen by it."""

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

from pgt.trust.references.leave_one_out import (
    KERNELS,
    WIDTHS,
    best_candidates,
    leave_one_out,
    monomials,
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


def test_all_products_of_coordinates():
    found = monomials(np.array([[2.0, 3.0]]), 2)
    assert found.tolist() == [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    assert monomials(np.zeros((4, 3)), 0).shape == (4, 1)


def test_each_column_has_the_candidate_with_the_least_error():
    points, values = scattered(14)
    both = np.hstack([values, np.random.default_rng(1).normal(size=values.shape)])
    smoothings, kernels = np.array([0.0, 0.1]), ("cubic", "gaussian")
    found = best_candidates(points, both, kernels, smoothings)
    assert found is not None
    single = [
        best_candidates(points, both, (kernel,), np.array([smoothing]))
        for kernel in kernels
        for smoothing in smoothings
    ]
    for column, chosen in enumerate(found):
        errors = [one[column]["leave_one_out"] for one in single if one is not None]
        assert chosen["leave_one_out"] == pytest.approx(min(errors))
        assert chosen["epsilon"] in WIDTHS
    assert found[0]["leave_one_out"] < found[1]["leave_one_out"]


def test_a_spline_has_no_width():
    points, values = scattered(14)
    (chosen,) = best_candidates(points, values, ("cubic",), np.zeros(1)) or [None]
    assert chosen is not None
    assert (chosen["kernel"], chosen["epsilon"]) == ("cubic", 1.0)


def test_readings_on_a_line_determine_no_plane():
    """With one beside the line there is a plane, but not when that one is left out."""
    line = np.stack([np.linspace(0, 1, 8), np.zeros(8)], axis=1)
    beside = np.vstack([line, [[0.5, 1.0]]])
    for points in (line, beside):
        values = points[:, :1] ** 2
        assert best_candidates(points, values, ("cubic",), np.zeros(1)) is None
        assert best_candidates(points, values, ("linear",), np.zeros(1)) is not None


def test_an_error_that_rounding_decides_is_infinite():
    alike = np.zeros((4, 1))
    found = leave_one_out(
        np.zeros((4, 4)), monomials(alike, 0), np.arange(4.0)[:, None], np.array([0.0, 1.0])
    )
    assert np.isinf(found[0, 0])
    # All that is left is the mean of the other three.
    assert found[1, 0] == pytest.approx(np.sqrt(np.mean((np.arange(4) - 1.5) ** 2)) * 4 / 3)
