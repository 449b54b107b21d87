"""Residuals at the readings are noise, or show that the network is too small."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.inference.likelihood import Likelihood
from pgt.methods.plan import choose
from pgt.methods.second_order.descent import build_system
from pgt.methods.second_order.residual_noise import (
    has_correlated_residuals,
    is_correlated,
    is_heavy_tailed,
    mean_square_residuals,
    resembles_noise,
    weight_by_field_noise,
    weighted_held_out_error,
)
from pgt.nn.trees import cast
from pgt.problem.losses import Problem

RANDOM = np.random.default_rng(0)
POINTS = RANDOM.uniform(size=(400, 3))
ALL = np.ones((400, 1), bool)
WAVE = np.sin(9 * POINTS[:, :1]) * np.cos(7 * POINTS[:, 2:])


@pytest.mark.parametrize(("share", "correlated"), [(0.0, True), (0.5, True), (3.0, False)])
def test_a_wave_is_correlated_until_noise_hides_it(share, correlated):
    noise = share * WAVE.std() * RANDOM.normal(size=WAVE.shape)
    assert is_correlated(WAVE + noise, ALL, POINTS) is correlated


def test_residuals_at_a_kink_are_heavier_tailed_than_noise():
    noise = [np.random.default_rng(seed).normal(size=(200, 1)) for seed in range(40)]
    mask = np.ones((200, 1), bool)
    assert sum(is_heavy_tailed(one, mask) for one in noise) <= 2
    kink = np.where(POINTS[:200, :1] < 0.05, 5.0, 1.0) * noise[0]
    assert is_heavy_tailed(kink, mask)
    assert not is_heavy_tailed(kink[:4], mask[:4])  # too few to tell
    assert not is_heavy_tailed(np.zeros((20, 1)), mask[:20])


def test_a_model_has_correlated_residuals_for_waves_and_not_for_noise():
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    waves = pgt.sample(pgt.datasets.heat({1: 1.0, 4: 0.5}), n=150)
    task = choose(waves, pgt.Burgers(0.01), domain).first
    with jax.enable_x64(True):
        model = cast(task.model, jnp.float64)
        assert has_correlated_residuals(model, task.problem)
        readings = task.problem.observations
        own = jax.vmap(lambda z: model.decode(model.encode(readings), z))(
            jnp.asarray(readings.points)
        )
        noisy = np.asarray(own) + 0.05 * RANDOM.normal(size=own.shape)
        around = dataclasses.replace(readings, values=noisy)
        problem = dataclasses.replace(task.problem, observations=around)
        assert not has_correlated_residuals(model, problem)
        assert resembles_noise(model, problem)
        noisy[:3] += 1.0
        spoiled = dataclasses.replace(readings, values=noisy)
        outlying = dataclasses.replace(problem, observations=spoiled)
        assert not resembles_noise(model, outlying)
        assert resembles_noise(model, dataclasses.replace(outlying, likelihood="student"))


def test_an_untrained_network_violates_an_equation_and_a_constant_does_not():
    """A constant fulfills Burgers' equation whatever the readings are."""
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    readings = pgt.sample(pgt.datasets.heat(), n=60)
    with jax.enable_x64(True):
        scaling = cast(pgt.Scaling.fit(readings, domain), jnp.float64)
        constant, wild = pgt.PINN(scaling), pgt.SIREN(scaling, frequency=30.0)
        still = jax.tree.map(lambda leaf: 0.0 * leaf, constant.tunable())
        constant = cast(eqx.tree_at(lambda m: m.tunable(), constant, still), jnp.float64)
        task = choose(readings, pgt.Burgers(0.01), domain).first
        assert mean_square_residuals(constant, task.pde, task.problem)[1] < 1e-20
        assert mean_square_residuals(cast(wild, jnp.float64), task.pde, task.problem)[1] > 0.1


# ------------------------------------------------------------------------------- noise of each field

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
EQUATIONS = pgt.Equation(["p_t + u_x = 0", "u_t + p_x = 0"])
COUNT = 60


def weighted(noise, bias=0.0, given: float | None = None, likelihood: Likelihood = "gauss"):
    """(residuals after and before, factors, θ, weighted error) for a network whose residuals are a noise
    of each field plus a wave of size `bias`."""
    random = np.random.default_rng(0)
    points = random.uniform(size=(COUNT, 2))
    first = pgt.Observations.from_arrays(
        points, random.normal(size=(COUNT, 2)), coords=("x", "t"), fields=("p", "u")
    )
    network = pgt.PINN(pgt.Scaling.fit(first, DOMAIN), width=4, layers=1)
    predicted = np.asarray(
        jax.vmap(lambda z: network.decode((), z))(jnp.asarray(points, jnp.float32))
    )
    wave = bias * np.sin(2 * np.pi * points[:, :1])
    deviation = np.asarray(noise) * random.normal(size=(COUNT, 2)) + wave
    spread = np.asarray(network.scaling.spread)
    readings = pgt.Observations.from_arrays(
        points, predicted + spread * deviation, coords=("x", "t"), fields=("p", "u")
    )
    problem = Problem.build(readings, EQUATIONS, (), DOMAIN, network.scaling, likelihood=likelihood)
    with jax.enable_x64(True):
        none = readings.take(np.zeros(0, int))
        parameters, residuals, _ = build_system(
            network, EQUATIONS, problem, pgt.Polish(points=16), none
        )
        found, factors = weight_by_field_noise(residuals, parameters.theta, network, problem, given)
        error = weighted_held_out_error(network, problem, readings, factors)
        return found, factors, residuals, parameters.theta, error


def test_readings_are_weighted_by_the_noise_of_their_field():
    noise = (0.02, 0.3)
    found, factors, before, theta, error = weighted(noise)
    with jax.enable_x64(True):
        rows = [np.asarray(s.rows_at(theta))[: 2 * COUNT].reshape(-1, 2) for s in (before, found)]
    common = np.linalg.norm(rows[1])
    np.testing.assert_allclose(common * factors, noise, rtol=0.2)
    assert error == pytest.approx(common, rel=1e-3)
    sizes = [np.linalg.norm(part, axis=0) for part in rows]
    assert sizes[0][1] > 10 * sizes[0][0]
    np.testing.assert_allclose(sizes[1][1], sizes[1][0], rtol=1e-6)
    assert found.program is before.program  # nothing is compiled again
