"""The most probable system at once."""

import equinox as eqx
import jax
import made_pretrained
import numpy as np
import pytest

import pgt
from pgt.families import BurgersFamily, HeatFamily, assimilate
from pgt.families.at_once import AtOnce, at_once, lawful, many_at_once, side_by_side
from pgt.families.rigs import as_rigs
from pgt.families.solved import AbstractSolved
from pgt.families.weighing import LEAST

HEAT = HeatFamily(nodes=16, times=9)
NU = {"diffusivity": 0.02}


def drawn(seed, coefficients=NU, family: pgt.families.AbstractFamily = HEAT):
    return family.dataset(family.draw(jax.random.key(seed), coefficients))


def nodes(family) -> np.ndarray:
    return np.stack([m.ravel() for m in np.meshgrid(*family.axes.values(), indexing="ij")], axis=-1)


def made_larger(readings):
    return eqx.tree_at(lambda r: r.values, readings, 50 * np.asarray(readings.values))


def found_from(readings, family: AbstractSolved = HEAT, known=NU):
    found = at_once(family, readings, known)
    assert found is not None
    return found


def test_with_known_noise_it_is_the_dense_formula_of_the_law():
    readings = pgt.sample(drawn(1), n=5, noise=0.3, seed=2, record_noise=True)
    (x, t), k = np.asarray(readings.points, float).T, np.arange(1, 9)
    rows = np.sin(np.pi * np.outer(x, k)) * np.exp(-0.02 * np.pi**2 * np.outer(t, k**2))
    rows = rows / (1 + (k / 3) ** 2)
    values, sigma = (np.asarray(a, float)[:, 0] for a in (readings.values, readings.noise))
    found = found_from(readings).found
    level = float(found.level)
    assert 1 <= level < 1.5
    inner = rows @ rows.T + np.diag((level * sigma) ** 2)
    expected = rows.T @ np.linalg.solve(inner, values)
    np.testing.assert_allclose(found.unknowns, expected, atol=1e-6)
    assert found.steps == 1


def test_what_readings_know_has_no_spread_and_what_they_do_not_that_of_the_law():
    readings = pgt.sample(drawn(1), n=40, seed=2)
    mean, spread = found_from(readings).at(nodes(HEAT))
    truth = drawn(1).u.values.ravel()
    assert np.abs(mean[:, 0] - truth).max() < 1e-4
    assert spread.max() < 1e-3
    one = readings.take(np.array([0]))
    _, wide = found_from(one).at(nodes(HEAT))
    assert wide.max() > 0.5


def test_noise_that_few_readings_cannot_tell_widens_the_spread():
    """As many readings as unknowns pass through anything: noise must be thought possible."""
    inside = []
    for seed in range(12):
        truth = drawn(seed)
        readings = pgt.sample(truth, n=10, noise=0.1, seed=seed)
        mean, spread = found_from(readings).at(nodes(HEAT))
        inside.append(np.abs(mean[:, 0] - truth.u.values.ravel()) <= 1.645 * spread[:, 0] + 1e-9)
    assert np.mean(inside) > 0.8


def test_readings_of_another_law_are_not_answered():
    readings = pgt.sample(drawn(1), n=40)
    large = made_larger(readings)
    assert at_once(HEAT, large, NU) is None
    wrong = pgt.sample(drawn(1, {"diffusivity": 0.1}), n=40)
    assert at_once(HEAT, wrong, {"diffusivity": 0.003}) is None


def test_many_systems_are_answered_as_one_by_one():
    systems = [drawn(seed) for seed in range(3)]
    readings = [pgt.sample(one, n=12, seed=k) for k, one in enumerate(systems)]
    values = np.stack([np.asarray(r.values, float) for r in readings])
    values[1, 4:] = np.nan
    points = np.stack([np.asarray(r.points, float) for r in readings])
    rigs = as_rigs(HEAT, points, values, {"diffusivity": np.full(3, 0.02)}, nodes(HEAT))
    means, spreads, _, fine, _ = many_at_once(HEAT, rigs)
    assert fine.all()
    for k, one in enumerate(readings):
        few = one.take(np.arange(4)) if k == 1 else one
        mean, spread = found_from(few).at(nodes(HEAT))
        np.testing.assert_allclose(means[k], mean, atol=1e-7)
        np.testing.assert_allclose(spreads[k], spread, atol=1e-6)


def test_a_front_is_found_as_by_the_accurate_solver():
    family, known = BurgersFamily(nodes=32, times=17), {"viscosity": 0.02}
    truth = drawn(3, known, family)
    readings = pgt.sample(truth, n=48, noise=0.01, seed=1)
    quick, _ = found_from(readings, family, known).at(nodes(family))
    slow = assimilate(family, readings, known, draws=0).grid().u.values.ravel()
    spread = float(truth.u.std())
    assert np.sqrt(np.mean((quick[:, 0] - slow) ** 2)) < 5e-3 * spread
    assert np.sqrt(np.mean((quick[:, 0] - truth.u.values.ravel()) ** 2)) < 0.05 * spread


def test_the_spread_counts_what_the_rough_solver_leaves():
    """Of clean readings it is more than their noise: where many are read, it is all that is left."""
    family, known = BurgersFamily(nodes=16, times=9), {"viscosity": 0.02}
    truth = drawn(3, known, family)
    mean, spread = found_from(pgt.sample(truth, n=120, seed=1), family, known).at(nodes(family))
    misses = np.abs(mean[:, 0] - truth.u.values.ravel())
    assert np.quantile(misses / spread[:, 0], 0.9) < 10


def test_a_network_lets_the_law_answer_and_says_what_is_to_be_expected():
    network, truth = made_pretrained.with_law(), made_pretrained.FAMILY
    field = truth.dataset(truth.draw(jax.random.key(1), NU))
    readings = pgt.sample(field, n=14, seed=0)
    answer, alone = network(readings, NU), network(readings, NU, law=False)
    assert answer.outside == ()
    miss, other = (np.abs(a.grid(**truth.axes).u - field.u).max() for a in (answer, alone))
    assert miss < 1e-3 < other
    assert answer.expected_error < alone.expected_error
    # The network speaks where the law cannot: in another domain, or about another law.
    large = made_larger(readings)
    said, told = (network(large, NU, law=law).at(np.array([[0.3, 0.4]])) for law in (True, False))
    np.testing.assert_array_equal(said.mean, told.mean)
    beyond = network(readings, {"diffusivity": 0.3})
    assert any("diffusivity" in said for said in beyond.outside)


def test_bands_and_the_stated_error_are_those_of_noisy_readings_where_their_noise_is_given():
    """A σ that is given is no sign of clean readings, however well it is met."""
    network, family = made_pretrained.with_law(), made_pretrained.FAMILY
    field = drawn(4, NU, family)
    told, untold = (
        network(pgt.sample(field, n=14, noise=0.1, seed=1, record_noise=given), NU)
        for given in (True, False)
    )
    assert isinstance(told.by, AtOnce)
    assert not told.by.is_clean
    assert told.factor == untold.factor
    assert 0.3 < told.expected_error / untold.expected_error < 3
    clean = network(pgt.sample(field, n=14, seed=1), NU)
    assert isinstance(clean.by, AtOnce)
    assert clean.by.is_clean
    assert clean.expected_error < 0.01 * told.expected_error


def test_readings_that_no_system_of_the_law_comes_near_to_are_said_to_be_outside():
    network, family = made_pretrained.with_law(), made_pretrained.FAMILY
    readings = pgt.sample(drawn(4, NU, family), n=14, noise=0.25, seed=1, record_noise=True)
    answer = network(readings, NU)
    assert "in training their noise was up to" in answer.outside[0]


def test_a_network_answers_many_by_the_law_as_one_by_one():
    network, family = made_pretrained.with_law(), made_pretrained.FAMILY
    at = np.array([[0.2, 0.3], [0.7, 0.9]])
    readings = [pgt.sample(drawn(k, NU, family), n=14, seed=k) for k in range(2)]
    points = np.stack([np.asarray(r.points, float) for r in readings])
    values = (
        np.stack([np.asarray(r.values, float) for r in readings]) * np.array([1, 50])[:, None, None]
    )
    found = network.answers(points, values, {"diffusivity": np.full(2, 0.02)}, at)
    said = network(readings[0], NU).at(at)
    np.testing.assert_allclose(found.mean[0], said.mean, atol=1e-6)
    np.testing.assert_allclose(found.mean[0] + found.reach[0], said.high, atol=1e-6)
    alone = network.answers(points, values, {"diffusivity": np.full(2, 0.02)}, at, law=False)
    np.testing.assert_array_equal(found.mean[1], alone.mean[1])


@pytest.mark.parametrize(("level", "given", "fine"), [(2.0, True, True), (5.0, True, False),
                                                      (0.2 / LEAST, False, True),
                                                      (0.5 / LEAST, False, False)])  # fmt: skip
def test_noise_far_above_what_is_said_speaks_against_the_law(level, given, fine):
    found = found_from(pgt.sample(drawn(1), n=12)).found._replace(level=np.asarray(level))
    assert bool(lawful(found, given)) is fine


def test_a_graphics_card_answers_as_many_systems_together_as_it_has_room_for():
    large = HeatFamily(nodes=1000, times=1001)
    assert side_by_side(HEAT, "cpu") == side_by_side(large, "cpu") == 8
    assert side_by_side(HEAT, "gpu") == 256
    assert 8 <= side_by_side(large, "gpu") < 64
