"""Standard normals behind readings, against formulas of dense matrices and finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from pgt.families.conditioning import Errors, condition, most_likely, posterior, with_rows
from pgt.training import dense

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(30, 6)) / 6


def gram(rows):
    return dense.gram(rows, dual=True) if len(rows) < rows.shape[1] else None


@pytest.mark.parametrize("rows", [MATRIX[:12], MATRIX.T[:, :20]], ids=["many", "few"])
def test_a_linear_posterior_is_that_of_dense_matrices(rows):
    variance = RNG.uniform(0.01, 0.1, len(rows))
    values = RNG.normal(size=len(rows))
    with jax.enable_x64(True):
        found = posterior(rows, gram(rows), values, variance)
    assert found is not None
    whole = rows @ rows.T + np.diag(variance)
    np.testing.assert_allclose(found.mean, rows.T @ np.linalg.solve(whole, values), rtol=1e-9)
    np.testing.assert_allclose(found.surprise, values @ np.linalg.solve(whole, values), rtol=1e-9)
    density = multivariate_normal(cov=whole).logpdf(values)
    expected = -2 * density - len(rows) * np.log(2 * np.pi)
    np.testing.assert_allclose(found.evidence, expected, rtol=1e-9)
    covariance = np.linalg.inv(np.eye(rows.shape[1]) + rows.T / variance @ rows)
    drawn = found.drawn(0, 20_000)
    np.testing.assert_allclose(drawn.T @ drawn / 20_000, covariance, atol=0.04)


def bent(z):
    """Twelve readings of two unknowns or of many."""
    return jnp.sin(jnp.arange(12) * z[0]) + jnp.exp(z[1] * jnp.linspace(0, 1, 12)) * jnp.mean(z)


@pytest.mark.parametrize("unknowns", [2, 40], ids=["forward", "reverse"])
def test_rows_are_finite_differences(unknowns):
    with jax.enable_x64(True):
        z = jnp.asarray(np.random.default_rng(1).normal(size=unknowns))
        here, rows = with_rows(bent, z, 12)
        np.testing.assert_allclose(here, bent(z))
        for k, step in enumerate(1e-6 * np.eye(unknowns)):
            slope = (bent(z + step) - bent(z - step)) / 2e-6
            np.testing.assert_allclose(rows[:, k], slope, atol=1e-7)


def test_the_most_probable_point_has_no_slope():
    values = np.array([0.3, 1.4, 1.9, 2.0, 1.1, 0.5, 0.8, 1.9, 2.5, 2.5, 1.5, 1.0])
    errors = Errors(np.full(12, 0.2), np.ones(12))
    with jax.enable_x64(True):
        linearised = jax.jit(lambda z: with_rows(bent, z, 12))
        found = condition(jax.jit(bent), linearised, values, errors, np.array([0.9, 0.5]), 30)

        def cost(z):
            return 0.5 * z @ z + 0.5 * np.sum((values - np.asarray(bent(z))) ** 2) / 0.2**2

        z = found.mean
        slope = [(cost(z + h) - cost(z - h)) / 2e-5 for h in 1e-5 * np.eye(2)]
        tilted = [(cost(z + 0.1 + h) - cost(z + 0.1 - h)) / 2e-5 for h in 1e-5 * np.eye(2)]
    assert np.abs(slope).max() < 1e-2 * np.abs(tilted).max()
    assert found.missed < 0.02


def test_a_linear_problem_takes_one_step_and_finds_its_noise():
    rows = np.random.default_rng(2).normal(size=(400, 6))
    z = np.random.default_rng(3).normal(size=6)
    values = rows @ z + 0.1 * np.random.default_rng(4).normal(size=400)
    errors = Errors(np.zeros(400), np.ones(400))
    found = condition(
        lambda z: rows @ z, lambda z: (rows @ z, rows), values, errors, np.zeros(6), 9
    )
    assert found.steps == 1
    assert 0.09 < found.level < 0.11
    np.testing.assert_allclose(found.mean, z, atol=0.03)


def test_noise_that_is_known_is_believed():
    rows, values = MATRIX[:12], MATRIX[:12] @ np.ones(6)
    errors = Errors(np.full(12, 0.5), np.ones(12))
    linear, _ = most_likely(rows, None, values, errors, False)
    np.testing.assert_array_equal(linear.variance, 0.25)
    found = condition(
        lambda z: rows @ z, lambda z: (rows @ z, rows), values, errors, np.zeros(6), 9
    )
    np.testing.assert_allclose(found.mean, linear.mean)
