"""The strength of a prior and the noise of the readings, against densities evaluated directly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_searches import noisy_polynomial, run

from pgt.training import evidence
from pgt.training.least_squares import Prior


def test_the_evidence_finds_noise_and_prior_of_a_linear_model():
    """The fixed point maximises the marginal likelihood, evaluated directly as a Gaussian density."""
    rows, design, values = noisy_polynomial()
    n, p = design.shape
    prior = Prior(hold=1e-2 / n, rows=n, count=float(n), given=0.0)
    theta, _ = run([rows], np.zeros(p), None, prior, iterations=150)
    with jax.enable_x64(True):
        jacobian, target, hold = jnp.asarray(design) / np.sqrt(n), values / np.sqrt(n), prior.hold
        for _ in range(100):
            matrix = jacobian.T @ jacobian + hold * jnp.eye(p)
            expected = jnp.linalg.solve(matrix, jacobian.T @ target)
            misfit = jacobian @ expected - target
            hold, sigma = one_update(jacobian, misfit, expected, hold, float(n), 0.0)
    hold, sigma = float(hold), float(sigma)

    def log_evidence(hold, sigma):
        weight_variance = sigma**2 / (n * hold)
        covariance = sigma**2 * np.eye(n) + weight_variance * design @ design.T
        fit = values @ np.linalg.solve(covariance, values)
        return -0.5 * (fit + np.linalg.slogdet(covariance)[1])

    best = log_evidence(hold, sigma)
    assert sigma == pytest.approx(0.1, rel=0.25)
    for factor in (0.8, 1.25):
        # Change one of the two variances at a time.
        assert log_evidence(hold * factor, sigma) < best
        assert log_evidence(hold * factor**2, sigma * factor) < best
    np.testing.assert_allclose(theta, expected, atol=1e-3)


def test_the_root_is_that_of_the_normal_equations():
    jacobian, prior = np.random.default_rng(0).normal(size=(4, 3)), np.array([0.5, 2.0, 0.0])
    with jax.enable_x64(True):
        found = np.asarray(evidence.root(jnp.asarray(jacobian), jnp.asarray(prior)))
    np.testing.assert_array_equal(found, np.triu(found))
    np.testing.assert_allclose(found.T @ found, jacobian.T @ jacobian + np.diag(prior), atol=1e-14)


def one_update(jacobian, misfit, theta, hold, count, given, free=0):
    """One round of the fixed-point iteration from the whole of J."""
    size = len(theta)
    root = evidence.root(jacobian, hold * evidence.held_back(size, free))
    found = evidence.determined(root, jacobian[: len(misfit)], hold, free)
    return evidence.update(found, misfit, theta[: size - free], count, given)


def one_round(theta, hold=0.5, given=0.0, free=0):
    """(a, σ) of two readings, each of a number of its own, missed by 0.3 and 0.4."""
    with jax.enable_x64(True):
        arrays = (jnp.eye(2), jnp.asarray([0.3, 0.4]), jnp.asarray(theta))
        numbers = (jnp.asarray(n) for n in (hold, 2.0, given))
        return [float(n) for n in one_update(*arrays, *numbers, free)]


def test_one_round_by_hand():
    """H = 1.5, so that γ = γ_d = 2 - 0.5 * 2 / 1.5 = 4/3 of two weights are determined."""
    variance = 2 * 0.25 / (2 - 4 / 3)
    hold, sigma = one_round([3.0, 4.0])
    assert sigma == pytest.approx(np.sqrt(variance))
    assert hold == pytest.approx(variance / 2 * (4 / 3) / 25)


def test_a_noise_that_is_given_is_kept():
    hold, sigma = one_round([3.0, 4.0], given=0.6)
    assert sigma == pytest.approx(0.6)
    assert hold == pytest.approx(0.36 / 2 * (4 / 3) / 25)


def test_a_noise_that_readings_plainly_exceed_is_not():
    assert one_round([3.0, 4.0], given=0.1) == one_round([3.0, 4.0])


def test_a_coefficient_is_no_weight():
    """However large it is, it makes the prior of the weights no weaker."""
    small, large = (one_round([3.0, k], given=1.0, free=1)[0] for k in (4.0, 4e6))
    assert small == large == pytest.approx(1.0 / 2 * (2 / 3) / 9)


def test_weights_that_determine_all_readings_leave_a_tenth_of_them_free():
    sigma = one_round([3.0, 4.0], hold=1e-12)[1]
    assert sigma == pytest.approx(np.sqrt(2 * 0.25 / (evidence.LEAST_FREE * 2)))


@pytest.mark.parametrize("seed", range(5))
def test_a_coefficient_that_nothing_holds_determines_no_less_than_nothing(seed):
    """Its columns are so large then that hardly a digit is left of the others."""
    random = np.random.default_rng(seed)
    weights, own = random.normal(size=(30, 60)), 1e9 * random.normal(size=(30, 1))
    with jax.enable_x64(True):
        kernel = 1e-3 * weights @ weights.T + own @ own.T
        found = evidence.determined_dual(kernel, own, 10)
        assert 0 <= float(found.weights) <= 30
        assert 0 <= float(found.by_readings) <= 10
        hold, sigma = evidence.update(found, np.ones(10), np.ones(60), 10.0, 0.0)
        nothing = evidence.update(
            evidence.Determined(jnp.asarray(-2.0), found.by_readings),
            np.ones(10), np.ones(60), 10.0, 0.0,
        )  # fmt: skip
    assert float(hold) > 0
    assert float(sigma) > 0
    assert float(nothing[0]) > 0
