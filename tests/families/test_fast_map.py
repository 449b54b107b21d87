"""The fast search, of one system and of many."""

import equinox as eqx
import jax
import numpy as np
import pytest

import pgt
from pgt.families import Assimilation, assimilate
from pgt.families.fast_map import FastEstimate, batch_size, estimate_many
from pgt.families.laws import BurgersFamily, HeatFamily
from pgt.families.laws.solved import AbstractSolved
from pgt.families.observation_operator import CLEAN_NOISE
from pgt.families.sensing import SensorBatch

HEAT = HeatFamily(nodes=16, times=9)
NU = {"diffusivity": 0.02}


def drawn(seed, coefficients=NU, family: pgt.families.AbstractFamily = HEAT):
    return family.dataset(family.draw(jax.random.key(seed), coefficients))


def nodes(family) -> np.ndarray:
    return np.stack([m.ravel() for m in np.meshgrid(*family.axes.values(), indexing="ij")], axis=-1)


def at_nodes(readings, family: AbstractSolved = HEAT, known=NU):
    found = assimilate(family, readings, known, fast=True)
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
    found = assimilate(HEAT, large, NU, fast=True)
    assert not found.is_lawful
    assert found.outside
    wrong = pgt.sample(drawn(1, {"diffusivity": 0.1}), n=40)
    assert not assimilate(HEAT, wrong, {"diffusivity": 0.003}, fast=True).is_lawful


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


def test_a_front_is_found_as_by_the_accurate_solver():
    family, known = BurgersFamily(nodes=32, times=17), {"viscosity": 0.02}
    truth = drawn(3, known, family)
    readings = pgt.sample(truth, n=48, noise=0.01, seed=1)
    quick, _ = at_nodes(readings, family, known)
    slow = assimilate(family, readings, known, draws=0).grid().u.values.ravel()
    spread = float(truth.u.std())
    assert np.sqrt(np.mean((quick - slow) ** 2)) < 5e-3 * spread
    assert np.sqrt(np.mean((quick - truth.u.values.ravel()) ** 2)) < 0.05 * spread


def test_the_spread_includes_the_error_of_the_coarse_solver():
    """It exceeds the noise of clean readings: where many are read, it is all that is left."""
    family, known = BurgersFamily(nodes=16, times=9), {"viscosity": 0.02}
    truth = drawn(3, known, family)
    mean, spread = at_nodes(pgt.sample(truth, n=120, seed=1), family, known)
    assert np.quantile(np.abs(mean - truth.u.values.ravel()) / spread, 0.9) < 10


@pytest.mark.parametrize(("level", "given", "lawful"), [
    (2.0, True, True), (5.0, True, False),
    (0.2 / CLEAN_NOISE, False, True), (0.5 / CLEAN_NOISE, False, False),
])  # fmt: skip
def test_noise_far_above_the_given_one_contradicts_the_law(level, given, lawful):
    zero = np.zeros(())
    found = FastEstimate(np.zeros(8), zero, np.asarray(level), zero, zero, zero)
    assert bool(found.is_lawful(given)) is lawful
    assert bool(found.contradictions(given, level * CLEAN_NOISE)) is not lawful


def test_a_gpu_answers_as_many_systems_together_as_it_has_room_for():
    large = HeatFamily(nodes=1000, times=1001)
    assert batch_size(HEAT, "cpu") == batch_size(large, "cpu") == 8
    assert batch_size(HEAT, "gpu") == 256
    assert 8 <= batch_size(large, "gpu") < 64


def test_the_answer_is_of_the_same_kind_as_that_of_the_accurate_search():
    readings = pgt.sample(drawn(1), n=12, noise=0.05)
    quick, slow = (assimilate(HEAT, readings, NU, fast=fast) for fast in (True, False))
    assert isinstance(quick, Assimilation)
    for found in (quick, slow):
        assert found.coefficients == NU
        assert set(found.grid(x=3, t=2).data_vars) == {"u", "u_low", "u_high"}
