"""Outliers: what a misfit costs, and the noise found among them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from pgt.inference.likelihood import (
    FREEDOM,
    KNEE,
    likely_rows,
    misfit_size,
    noise_scale,
)

ROWS = np.array([0.0, 1e-9, 1e-3, -0.3, 1.0, -2.0, 7.0, 400.0])
ROBUST = ("student", "huber")


def costs(likelihood, rows, sigma):
    with jax.enable_x64(True):
        return np.asarray(likely_rows(likelihood, jnp.asarray(rows), sigma)) ** 2


def test_student_is_the_likelihood_of_the_t_distribution():
    """ρ differs from −2νσ²/(ν+1) log p(r) by a constant."""
    sigma = 0.3
    logs = stats.t.logpdf(ROWS, FREEDOM, scale=sigma)
    expected = -2 * FREEDOM * sigma**2 / (FREEDOM + 1) * (logs - logs[0])
    np.testing.assert_allclose(costs("student", ROWS, sigma), expected, rtol=1e-6, atol=1e-15)


def test_huber_is_a_parabola_and_then_straight():
    sigma, size = 0.3, np.abs(ROWS)
    knee = KNEE * sigma
    expected = np.where(size <= knee, size**2, 2 * knee * size - knee**2)
    np.testing.assert_allclose(costs("huber", ROWS, sigma), expected, rtol=1e-12)


@pytest.mark.parametrize("likelihood", ROBUST)
def test_small_misfits_cost_their_square_and_large_ones_pull_no_harder(likelihood):
    small = np.array([1e-6, -1e-4])
    np.testing.assert_allclose(costs(likelihood, small, 1.0), small**2, rtol=1e-6)
    with jax.enable_x64(True):
        slope = jax.vmap(jax.grad(lambda r: likely_rows(likelihood, r, 1.0) ** 2))
        pull = np.asarray(slope(jnp.asarray(ROWS)))
    assert np.isfinite(pull).all()
    np.testing.assert_array_equal(np.sign(pull), np.sign(ROWS))
    assert abs(pull[-1]) <= abs(pull[4]) * (KNEE + 1e-6)  # 400 σ against 1 σ


def test_the_noise_is_found_among_outliers_and_hidden_readings():
    random = np.random.default_rng(0)
    rows, mask = 0.2 * random.standard_normal((2000, 2)), np.ones((2000, 2), bool)
    rows[::20, 0] += 1e3
    mask[::3, 1], rows[::3, 1] = False, 0.0
    assert float(noise_scale(rows, mask)) == pytest.approx(0.2, rel=0.06)
    assert float(misfit_size("student", rows, mask)) == pytest.approx(0.2, rel=0.2)
    assert float(misfit_size("gauss", rows, mask)) > 100
    assert float(noise_scale(rows[:0], mask[:0])) == 0.0
