"""Levenberg-Marquardt steps, and the evidence for the strength of a prior and the noise."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_searches import noisy_polynomial, run

from pgt.methods.second_order import least_squares
from pgt.methods.second_order.least_squares import (
    Residuals,
    WeightPrior,
    hessian_factor,
)
from pgt.methods.second_order.residual_rows import RowBlock


def test_the_fixed_point_maximizes_the_evidence_of_a_linear_model():
    """The evidence is evaluated directly as a Gaussian density."""
    rows, design, values = noisy_polynomial()
    n, p = design.shape
    prior = WeightPrior(1e-2 / n, n, float(n), 0.0)
    theta, _ = run([rows], np.zeros(p), None, prior, iterations=150)
    with jax.enable_x64(True):
        jacobian, target, strength = (
            jnp.asarray(design) / np.sqrt(n),
            values / np.sqrt(n),
            prior.strength,
        )
        for _ in range(100):
            matrix = jacobian.T @ jacobian + strength * jnp.eye(p)
            expected = jnp.linalg.solve(matrix, jacobian.T @ target)
            misfit = jacobian @ expected - target
            strength, sigma = one_update(jacobian, misfit, expected, strength, float(n), 0.0)
    strength, sigma = float(strength), float(sigma)

    def log_evidence(strength, sigma):
        weight_variance = sigma**2 / (n * strength)
        covariance = sigma**2 * np.eye(n) + weight_variance * design @ design.T
        fit = values @ np.linalg.solve(covariance, values)
        return -0.5 * (fit + np.linalg.slogdet(covariance)[1])

    best = log_evidence(strength, sigma)
    assert sigma == pytest.approx(0.1, rel=0.25)
    for factor in (0.8, 1.25):
        # Change one of the two variances at a time.
        assert log_evidence(strength * factor, sigma) < best
        assert log_evidence(strength * factor**2, sigma * factor) < best
    np.testing.assert_allclose(theta, expected, atol=1e-3)


def one_update(jacobian, misfit, theta, strength, count, noise, coefficients=0):
    """(a, σ) after one round of the fixed-point iteration."""
    size = len(theta)
    root = least_squares.qr_factor(
        jacobian, strength * least_squares.prior_diagonal(size, coefficients)
    )
    found = least_squares.effective_parameters_primal(
        root, jacobian[: len(misfit)], strength, coefficients
    )
    return least_squares.update_evidence(found, misfit, theta[: size - coefficients], count, noise)


def test_a_linear_problem_is_solved():
    random = np.random.default_rng(0)
    matrix, target = random.normal(size=(20, 5)), random.normal(size=20)
    weights = random.uniform(0.5, 2.0, 20)
    blocks = [
        RowBlock(
            lambda t, item: (item[0] @ t - item[1])[None], (matrix[:12], target[:12]), weights[:12]
        ),
        RowBlock(
            lambda t, item: (item[0] @ t - item[1])[None], (matrix[12:], target[12:]), weights[12:]
        ),
    ]
    theta, costs = run(blocks, np.zeros(5), iterations=25)
    expected, square, *_ = np.linalg.lstsq(matrix * weights[:, None], target * weights, rcond=None)
    np.testing.assert_allclose(theta, expected, atol=1e-9)
    assert costs[-1] == pytest.approx(square[0], rel=1e-10)


def test_rosenbrock_is_minimized():
    """The minimum is at (1, 1) with cost 0."""
    block = RowBlock(
        lambda t, item: jnp.stack([10 * (t[1] - t[0] ** 2), item - t[0]]), np.ones(1), np.ones(1)
    )
    theta, costs = run([block], np.array([-1.2, 1.0]), iterations=80)
    np.testing.assert_allclose(theta, 1.0, atol=1e-6)
    assert all(b <= a for a, b in itertools.pairwise(costs))
    assert costs[0] == pytest.approx((10 * (1 - 1.44)) ** 2 + 2.2**2)


def test_the_theta_of_smallest_held_out_error_is_kept():
    """The minimum is at (3, 4), but the smallest diagonal-out error is on the way."""
    block = RowBlock(lambda t, item: (t - item) ** 3, np.array([[3.0, 4.0]]), np.ones(1))
    seen = []

    def held_out_error(theta):
        seen.append(np.asarray(theta))
        return float(np.abs(np.asarray(theta) - np.array([1.5, 2.0])).sum())

    theta, costs = run([block], np.zeros(2), held_out_error, iterations=200, patience=15)
    errors = [np.abs(t - np.array([1.5, 2.0])).sum() for t in seen]
    assert np.array_equal(np.asarray(theta), seen[int(np.argmin(errors))])
    assert 0 < np.argmin(errors) < len(errors) - 1
    assert len(costs) < 200


def test_a_prior_prevents_overfitting():
    rows, design, _ = noisy_polynomial()
    x = np.linspace(-1, 1, 200)
    grid = np.polynomial.legendre.legvander(x, design.shape[1] - 1)
    prior = WeightPrior(1e-2 / 40, 40, 40.0, 0.1)
    errors = [
        np.std(
            grid @ np.asarray(run([rows], np.zeros(26), None, p, iterations=80)[0]) - np.sin(3 * x)
        )
        for p in (None, prior)
    ]
    assert errors[1] < 0.1 < errors[0]  # the noise lies between


def test_stiffness_multiplies_all_rows_but_those_of_readings():
    blocks = [
        RowBlock(lambda t, item: t * item, np.ones((1, 1)), np.array([w])) for w in (2.0, 3.0)
    ]
    with jax.enable_x64(True):
        residuals, theta = Residuals(blocks), jnp.asarray([0.5])
        jacobian = residuals.stiffened(10.0).jacobian_at(theta)
        np.testing.assert_allclose(jacobian.rows, [1.0, 15.0])
        np.testing.assert_allclose(jacobian.matrix, [[2.0], [30.0]])
        np.testing.assert_allclose(residuals.stiffened(10.0).rows_at(theta), jacobian.rows)
        np.testing.assert_allclose(residuals.rows_at(theta), [1.0, 1.5])


@pytest.mark.parametrize("strength", [1e-3, 1e-6, 1e-14])
def test_the_hessian_factor_is_accurate_for_strong_and_weak_priors(strength):
    """The singular values of J span nine decades, so that a strength of 1e-14 requires QR of J."""
    random = np.random.default_rng(3)
    left, _ = np.linalg.qr(random.normal(size=(30, 6)))
    right, _ = np.linalg.qr(random.normal(size=(6, 6)))
    matrix = left @ np.diag(10.0 ** np.linspace(1, -8, 6)) @ right.T
    block = RowBlock(lambda t, item: (item @ t)[None], matrix, np.ones(30))
    diagonal = np.full(6, strength)
    with jax.enable_x64(True):
        normal = Residuals([block]).normal_at(jnp.ones(6))
        found, expected = (
            hessian_factor(normal, diagonal, strength),
            least_squares.qr_factor(matrix, jnp.asarray(diagonal)),
        )
    np.testing.assert_allclose(
        np.linalg.inv(np.asarray(found)) ** 2 @ np.ones(6),
        np.linalg.inv(np.asarray(expected)) ** 2 @ np.ones(6),
        rtol=1e-3,
    )
