"""Residuals at the readings are noise, or show that the network is too small."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.methods.plan import choose
from pgt.methods.second_order.residual_correlation import (
    has_correlated_residuals,
    is_correlated,
    is_uncorrelated,
    violates_equation,
)
from pgt.nn.precision import cast

RANDOM = np.random.default_rng(0)
POINTS = RANDOM.uniform(size=(400, 3))
ALL = np.ones((400, 1), bool)
WAVE = np.sin(9 * POINTS[:, :1]) * np.cos(7 * POINTS[:, 2:])


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_not_correlated(seed):
    noise = np.random.default_rng(seed).standard_t(4, size=(400, 1))
    assert not is_correlated(noise, ALL, POINTS)


@pytest.mark.parametrize(("share", "correlated"), [(0.0, True), (0.5, True), (3.0, False)])
def test_a_wave_is_correlated_until_noise_hides_it(share, correlated):
    noise = share * WAVE.std() * RANDOM.normal(size=WAVE.shape)
    assert is_correlated(WAVE + noise, ALL, POINTS) is correlated


def test_constant_residuals_and_few_readings_are_not_correlated():
    assert not is_correlated(np.ones((400, 1)), ALL, POINTS)
    assert not is_correlated(WAVE[:8], ALL[:8], POINTS[:8])
    assert not is_correlated(WAVE[:0], ALL[:0], POINTS[:0])


def test_residuals_count_as_noise_only_if_uncorrelated():
    """Noise almost always does, a wave never; with too few readings both tests are false."""
    noise = [np.random.default_rng(seed).normal(size=(60, 1)) for seed in range(40)]
    assert sum(is_uncorrelated(one, ALL[:60], POINTS[:60]) for one in noise) >= 30
    assert not is_uncorrelated(WAVE, ALL, POINTS)
    line = np.linspace(0, 1, 30)[:, None]
    slow = np.sin(9 * line) + 0.9 * np.random.default_rng(0).normal(size=line.shape)
    assert not is_uncorrelated(slow, ALL[:30], line)
    assert not is_correlated(slow, ALL[:30], line)


def test_masked_readings_are_ignored():
    mask = np.concatenate([ALL, ~ALL], axis=1)
    noise = RANDOM.normal(size=(400, 1))
    assert not is_correlated(np.concatenate([noise, WAVE], axis=1), mask, POINTS)


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
        assert not has_correlated_residuals(
            model, dataclasses.replace(task.problem, observations=around)
        )


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
        assert not violates_equation(constant, task.pde, task.problem)
        assert violates_equation(cast(wild, jnp.float64), task.pde, task.problem)
        alone = dataclasses.replace(task.problem, equation_scales={})
        assert not violates_equation(cast(wild, jnp.float64), task.pde, alone)
