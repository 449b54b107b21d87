"""The Laplace posterior against Gaussian conditionals and Fisher information in closed form."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

import pgt
from pgt.inference.likelihood import Likelihood
from pgt.methods.finished_fit import Fit
from pgt.methods.second_order.gauss_newton import polish
from pgt.methods.second_order.least_squares import Residuals, WeightPrior
from pgt.methods.second_order.residual_rows import RowBlock
from pgt.models.field_model import AbstractFieldModel
from pgt.problem.losses import Problem
from pgt.uncertainty.intervals import intervals
from pgt.uncertainty.laplace import draw_laplace_samples, draw_steps, local_posterior
from pgt.uncertainty.members import Members

SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))


def chebyshev(x, count: int):
    values = [jnp.ones_like(x), x]
    while len(values) < count:
        values.append(2 * x * values[-1] - values[-2])
    return jnp.stack(values[:count])


def mode_in_x(rows: int) -> Callable:
    """sin πx, 0 at both ends, times polynomials in t."""
    return lambda z: jnp.sin(jnp.pi * (z[0] + 1) / 2) * chebyshev(z[1], rows)


class Series(AbstractFieldModel):
    """A field linear in its weights, about zero: its posterior is known."""

    scaling: pgt.Scaling
    weights: Float[Array, " p"]
    basis: Callable = eqx.field(static=True)

    def encode(self, observations):
        return ()

    def decode(self, context, z):
        return (self.scaling.spread * (self.basis(self.scaling.to_unit(z)) @ self.weights))[:1]

    def tunable(self):
        return self.weights


def measured(u: Callable, n: int, noise: float, seed: int = 0, given: bool = False):
    """Readings of u(x, t) at random places, with noise in physical units."""
    random = np.random.default_rng(seed)
    points = random.uniform(0, 1, (n, 2))
    values = u(*points.T) + noise * random.standard_normal(n)
    return pgt.Observations.from_arrays(
        points, values[:, None], coords=("x", "t"), fields=("u",), noise=noise if given else None
    )


def fitted(
    readings, pde, basis: Callable, samples: int = 64, noise=None, iterations: int = 60,
    likelihood: Likelihood = "gauss",
):  # fmt: skip
    """(fit, members, what the posterior was made with) after nothing but a polish from zero."""
    scaling = pgt.Scaling.fit(readings, SQUARE)
    size = len(basis(jnp.zeros(2)))
    model = Series(scaling, jnp.full(size, 1e-3), basis)
    problem = Problem.build(readings, pde, (), SQUARE, scaling, likelihood=likelihood)
    settings = pgt.Polish(iterations=iterations, points=200, evidence=True)
    none = readings.take(np.zeros(0, int))
    model, pde, *_ = polish(model, pde, problem, settings, none, noise=noise)
    fit = Fit(model, pde, 0.0)
    drawn = draw_laplace_samples(
        fit, problem, pgt.Posterior(samples=samples), none, noise, settings
    )
    with jax.enable_x64(True):
        return fit, Members.of(*drawn.stacked), drawn.record


# ------------------------------------------------------------------------------ a linear field


def test_the_posterior_is_the_gaussian_conditional_on_an_exact_equation():
    """p = 5 weights, 20 readings d = Aθ + noise, 2 equations Bθ = 0, as stiff as can be."""
    stiffest = 100.0
    random = np.random.default_rng(0)
    design, equations = random.standard_normal((20, 5)), random.standard_normal((2, 5))
    null = np.linalg.svd(equations)[2][2:].T
    truth, noise = null @ np.array([1.0, -2.0, 0.5]), 0.1
    data = design @ truth + noise * random.standard_normal(20)

    def row(theta, item):
        return (item[0] @ theta - item[1])[None]

    with jax.enable_x64(True):
        search = Residuals([
            RowBlock(row, (design, data), np.full(20, 20**-0.5)),
            RowBlock(row, (equations, np.zeros(2)), np.full(2, 2**-0.5)),
        ])  # fmt: skip
        prior = WeightPrior(1e-3, 20, 20.0, noise)
        inside = np.linalg.lstsq(design @ null, data, rcond=None)[0]
        theta = jnp.asarray(null @ inside)
        factor, sigma, stiffness, *_ = local_posterior(theta, search, prior, 0.0, stiffest)
    factor, theta = np.asarray(factor), np.asarray(theta)
    matrix = factor.T @ factor
    likelihood = design.T @ design / 20 + stiffest**2 * equations.T @ equations / 2
    hold = np.diag(matrix - likelihood)
    assert (sigma, stiffness) == (noise, stiffest)
    np.testing.assert_allclose(matrix, likelihood + np.diag(hold), atol=1e-9)
    # MacKay: a = (σ²/n) γ / |θ|², with the three directions that the equations leave free.
    expected = noise**2 / 20 * (5 - hold[0] * np.trace(np.linalg.inv(matrix)))
    np.testing.assert_allclose(hold, expected / float(theta @ theta), rtol=1e-3)
    precision = null.T @ (design.T @ design + 20 * hold[0] * np.eye(5)) @ null / noise**2
    covariance = null @ np.linalg.inv(precision) @ null.T
    found = noise**2 / 20 * np.linalg.inv(matrix)
    np.testing.assert_allclose(found, covariance, atol=1e-3 * np.abs(covariance).max())


def test_draws_are_mirrored_and_the_covariance_of_coefficients_exact():
    random = np.random.default_rng(1)
    factor = np.triu(random.standard_normal((6, 6))) + 3 * np.eye(6)
    with jax.enable_x64(True):
        steps = np.asarray(draw_steps(jnp.asarray(factor), 0.5, 16, free=2))
        many = np.asarray(draw_steps(jnp.asarray(factor), 0.5, 20_000, free=0))
    covariance = 0.25 * np.linalg.inv(factor.T @ factor)
    np.testing.assert_array_equal(steps[:8], -steps[8:])
    np.testing.assert_allclose(steps[:, 4:].T @ steps[:, 4:] / 16, covariance[4:, 4:], atol=1e-14)
    np.testing.assert_allclose(many.T @ many / 20_000, covariance, atol=2e-3)


# ------------------------------------------------------------------------------ coefficients


@pytest.mark.slow
def test_the_interval_of_a_diffusivity_is_as_narrow_as_fisher_information_allows():
    """Against the exact solution A exp(−ν π² t) sin πx with both A and ν unknown."""
    noise, nu = 0.02, 0.1

    def u(x, t):
        return np.exp(-nu * np.pi**2 * t) * np.sin(np.pi * x)

    readings = measured(u, 60, noise)
    x, t = np.asarray(readings.points).T
    slopes = np.stack([u(x, t), -nu * np.pi**2 * t * u(x, t)], axis=1) / noise
    cramer_rao = np.sqrt(np.linalg.inv(slopes.T @ slopes)[1, 1])  # of the logarithm
    pde = pgt.Heat(pgt.Unknown(0.5, positive=True))
    _, members, about = fitted(readings, pde, mode_in_x(7))
    found = intervals(members, level=0.9)["diffusivity"]
    deviation = np.log(found.upper / found.lower) / 2 / 1.645
    assert 1 / 1.5 < deviation / cramer_rao < 1.5
    assert abs(np.log(found.value / nu)) < 3 * cramer_rao
    assert found.determined
    assert found.note == ""
    spread = float(np.std(np.asarray(readings.values)))
    assert about["noise"] * spread == pytest.approx(noise, rel=0.3)


def test_outliers_are_not_taken_for_noise_where_they_are_expected():
    exact = lambda x, t: np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x)  # noqa: E731
    readings = measured(exact, 60, 0.02)
    wrong = np.zeros((60, 1))
    wrong[::12] = 3.0
    spoilt = eqx.tree_at(lambda r: r.values, readings, readings.values + wrong)
    pde, basis = pgt.Heat(0.1), mode_in_x(4)
    noise = [
        fitted(spoilt, pde, basis, likelihood=name)[2]["noise"] * float(np.std(spoilt.values))
        for name in ("gauss", "student")
    ]
    assert noise[0] > 0.5
    assert noise[1] < 0.1
