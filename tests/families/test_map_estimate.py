"""The MAP estimate, of one system and of many."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families import assimilate
from pgt.families.laws import HeatFamily
from pgt.families.laws.solved import AbstractSolved
from pgt.families.map_estimate import (
    estimate_many,
    estimate_one,
)
from pgt.families.observation_operator import double_precision, problem_of
from pgt.families.sensing import SensorBatch

HEAT = HeatFamily(nodes=16, times=9)
NU = {"diffusivity": 0.02}


def drawn(seed, coefficients=NU, family: pgt.families.AbstractFamily = HEAT):
    return family.dataset(family.draw(jax.random.key(seed), coefficients))


def nodes(family) -> np.ndarray:
    return np.stack([m.ravel() for m in np.meshgrid(*family.axes.values(), indexing="ij")], axis=-1)


def at_nodes(readings, family: AbstractSolved = HEAT, known=NU):
    found = assimilate(family, readings, known)
    assert found.is_lawful
    mean, spread = found.mean_and_spread(nodes(family))
    return mean[:, 0], spread[:, 0]


def test_the_spread_is_zero_where_readings_are_and_that_of_the_law_elsewhere():
    truth = drawn(1)
    readings = pgt.sample(truth, n=40, seed=2)
    mean, spread = at_nodes(readings)
    assert np.abs(mean - truth.u.values.ravel()).max() < 1e-4
    assert spread.max() < 1e-3
    assert at_nodes(readings.take(np.array([0])))[1].max() > 0.5


def test_noise_that_few_readings_cannot_tell_widens_the_spread():
    """As many readings as unknowns fit anything, so noise must be counted as possible."""
    inside = []
    for seed in range(12):
        truth = drawn(seed)
        mean, spread = at_nodes(pgt.sample(truth, n=10, noise=0.1, seed=seed))
        inside.append(np.abs(mean - truth.u.values.ravel()) <= 1.645 * spread + 1e-9)
    assert np.mean(inside) > 0.8


def test_readings_of_another_law_are_not_answered():
    readings = pgt.sample(drawn(1), n=40)
    large = eqx.tree_at(lambda r: r.values, readings, 50 * np.asarray(readings.values))
    found = assimilate(HEAT, large, NU)
    assert not found.is_lawful
    assert found.outside
    wrong = pgt.sample(drawn(1, {"diffusivity": 0.1}), n=40)
    assert not assimilate(HEAT, wrong, {"diffusivity": 0.003}).is_lawful


def test_many_systems_are_answered_as_one_by_one():
    readings = [pgt.sample(drawn(seed), n=12, seed=seed) for seed in range(3)]
    values = np.stack([np.asarray(r.values, float) for r in readings])
    values[1, 4:] = np.nan
    points = np.stack([np.asarray(r.points, float) for r in readings])
    batch = SensorBatch.of(HEAT, points, values, {"diffusivity": np.full(3, 0.02)}, nodes(HEAT))
    found = estimate_many(HEAT, batch)
    assert found.is_lawful.all()
    for k, one in enumerate(readings):
        mean, spread = at_nodes(one.take(np.arange(4)) if k == 1 else one)
        np.testing.assert_allclose(found.mean[k, :, 0], mean, atol=1e-7)
        np.testing.assert_allclose(found.spread[k, :, 0], spread, atol=1e-6)


# ------------------------------------------------------------------------------- law check


MESH = np.meshgrid(*HEAT.axes.values(), indexing="ij")
NODES = np.stack([m.ravel() for m in MESH], axis=-1)
RIGHT, WRONG = {"diffusivity": 0.02}, {"diffusivity": 0.025}


def drawn_system(seed, coefficients=RIGHT):
    return HEAT.dataset(HEAT.draw(jax.random.key(seed), coefficients))


def read(truth, noise: float, seed=0):
    return pgt.sample(truth, n=40, noise=noise, seed=seed)


def answered(truth, known, noise: float, seed=0):
    """Doubts, the error, the error that is stated, and the share of the field in a band of 90 %."""
    found = assimilate(HEAT, read(truth, noise, seed), known)
    assert found.is_lawful
    mean, spread = (a[:, 0] for a in found.mean_and_spread(NODES))
    misses, size = np.abs(mean - truth.u.values.ravel()), float(truth.u.std())
    error, stated = (float(np.sqrt(np.mean(a**2))) / size for a in (misses, spread))
    return found.outside, error, stated, np.mean(misses <= 1.645 * spread + 1e-6 * size)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_coefficient_that_is_wrong_is_doubted_and_counted(noise):
    for seed in range(4):
        doubts, error, stated, inside = answered(drawn_system(seed), WRONG, noise, seed)
        assert doubts[0].startswith(
            "diffusivity is given as 0.025, the readings speak for about 0.0"
        )
        value = float(doubts[0].split("about ")[1].split(" ")[0])
        assert abs(value - 0.02) < 0.002
        assert 0.6 * error < stated < 1.7 * error
        assert inside > 0.8


def test_the_right_law_is_not_doubted_and_no_wider_for_it():
    for seed in range(8):
        for noise in (0.0, 1e-5, 0.02, 0.1):
            assert answered(drawn_system(seed), RIGHT, noise, seed)[0] == ()
    with double_precision():
        problem = problem_of(HEAT, read(drawn_system(1), 0.02), RIGHT)
        comparison = jax.tree.map(np.asarray, estimate_one(problem, HEAT, jnp.zeros(8)).comparison)
    assert comparison is not None
    assert comparison.shift < 0.3 * comparison.spread


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_something_smooth_that_the_law_does_not_have_is_doubted_and_counted(noise):
    truth = drawn_system(2)
    truth["u"] = truth.u + 0.3 * truth.u.std() * (1 - truth.x)  # an end that is not cold
    doubts, error, stated, inside = answered(truth, RIGHT, noise)
    assert "something smooth that no system of the family has" in doubts[0]
    assert 0.5 * error < stated < 2 * error
    assert inside > 0.8
