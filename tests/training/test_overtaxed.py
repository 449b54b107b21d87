"""What a fit misses at its readings: noise, or more than the network can follow."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.nn.precision import cast
from pgt.training.assemble import assemble
from pgt.training.overtaxed import are_alike, are_unlike, bends_equation, is_overtaxed

RANDOM = np.random.default_rng(0)
POINTS = RANDOM.uniform(size=(400, 3))
ALL = np.ones((400, 1), bool)
WAVE = np.sin(9 * POINTS[:, :1]) * np.cos(7 * POINTS[:, 2:])


@pytest.mark.parametrize("seed", range(20))
def test_noise_has_nothing_in_common_with_its_neighbours(seed):
    noise = np.random.default_rng(seed).standard_t(4, size=(400, 1))
    assert not are_alike(noise, ALL, POINTS)


@pytest.mark.parametrize(("share", "alike"), [(0.0, True), (0.5, True), (3.0, False)])
def test_a_field_that_is_missed_shows_until_noise_hides_it(share, alike):
    noise = share * WAVE.std() * RANDOM.normal(size=WAVE.shape)
    assert are_alike(WAVE + noise, ALL, POINTS) is alike


def test_a_constant_miss_of_few_readings_says_nothing():
    assert not are_alike(np.ones((400, 1)), ALL, POINTS)
    assert not are_alike(WAVE[:8], ALL[:8], POINTS[:8])
    assert not are_alike(WAVE[:0], ALL[:0], POINTS[:0])


def test_what_is_missed_is_taken_for_noise_only_where_it_looks_like_it():
    """Of noise nearly always, of a field never, of too few readings to tell neither."""
    noise = [np.random.default_rng(seed).normal(size=(60, 1)) for seed in range(40)]
    assert sum(are_unlike(missed, ALL[:60], POINTS[:60]) for missed in noise) >= 30
    assert not are_unlike(WAVE, ALL, POINTS)
    line = np.linspace(0, 1, 30)[:, None]
    slow = np.sin(9 * line) + 0.9 * np.random.default_rng(0).normal(size=line.shape)
    assert not are_unlike(slow, ALL[:30], line)
    assert not are_alike(slow, ALL[:30], line)


def test_hidden_readings_are_not_asked():
    mask = np.concatenate([ALL, ~ALL], axis=1)
    noise = RANDOM.normal(size=(400, 1))
    assert not are_alike(np.concatenate([noise, WAVE], axis=1), mask, POINTS)


def test_a_model_is_overtaxed_by_waves_and_not_by_noise_around_its_own_field():
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    waves = pgt.sample(pgt.datasets.heat({1: 1.0, 4: 0.5}), n=150)
    task = assemble(waves, pgt.Burgers(0.01), domain)
    with jax.enable_x64(True):
        model = cast(task.model, jnp.float64)
        assert is_overtaxed(model, task.problem)
        readings = task.problem.observations
        own = jax.vmap(lambda z: model.decode(model.encode(readings), z))(
            jnp.asarray(readings.points)
        )
        noisy = np.asarray(own) + 0.05 * RANDOM.normal(size=own.shape)
        around = dataclasses.replace(readings, values=noisy)
        assert not is_overtaxed(model, dataclasses.replace(task.problem, observations=around))


def test_noise_does_not_bend_an_equation_and_a_field_without_room_does():
    """A constant fulfils Burgers' equation whatever the readings are; an untrained network does not."""
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    readings = pgt.sample(pgt.datasets.heat(), n=60)
    with jax.enable_x64(True):
        scaling = cast(pgt.Scaling.fit(readings, domain), jnp.float64)
        constant, wild = pgt.PINN(scaling), pgt.SIREN(scaling, frequency=30.0)
        still = jax.tree.map(lambda leaf: 0.0 * leaf, constant.tunable())
        constant = cast(eqx.tree_at(lambda m: m.tunable(), constant, still), jnp.float64)
        task = assemble(readings, pgt.Burgers(0.01), domain)
        assert not bends_equation(constant, task.pde, task.problem)
        assert bends_equation(cast(wild, jnp.float64), task.pde, task.problem)
        alone = dataclasses.replace(task.problem, equation_scales={})
        assert not bends_equation(cast(wild, jnp.float64), task.pde, alone)
