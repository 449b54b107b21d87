"""Systems behind readings, where the law is known."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families import HeatFamily, assimilate

HEAT = HeatFamily(nodes=16, times=9)
NU = {"diffusivity": 0.02}


def drawn(seed, coefficients=NU, family: pgt.families.AbstractFamily = HEAT):
    return family.dataset(family.draw(jax.random.key(seed), coefficients))


def test_the_posterior_is_the_dense_formula_of_the_law():
    readings = pgt.sample(drawn(1), n=5, noise=0.3, seed=2, record_noise=True)
    (x, t), k = np.asarray(readings.points, float).T, np.arange(1, 9)
    rows = np.sin(np.pi * np.outer(x, k)) * np.exp(-0.02 * np.pi**2 * np.outer(t, k**2))
    rows = rows / (1 + (k / 3) ** 2)
    values, sigma = (np.asarray(a, float)[:, 0] for a in (readings.values, readings.noise))
    expected = rows.T @ np.linalg.solve(rows @ rows.T + np.diag(sigma**2), values)
    np.testing.assert_allclose(assimilate(HEAT, readings, NU).noise, expected, atol=1e-6)


def test_the_noise_of_a_system_is_found_from_many_readings():
    key = jax.random.key(5)
    truth = HEAT.dataset(HEAT.draw(key, NU))
    found = assimilate("heat", pgt.sample(truth, n=100), NU)
    noise = jax.random.normal(jax.random.split(key)[0], HEAT.noise_shape)
    np.testing.assert_allclose(found.noise, noise, atol=1e-3)
    assert found.steps == 1
    assert found.outside == ()


@pytest.mark.slow
def test_bands_hold_nine_tenths_of_the_fields():
    inside, levels = [], []
    for seed in range(40):
        truth = drawn(seed)
        field = (
            found := assimilate(HEAT, pgt.sample(truth, n=24, noise=0.1, seed=seed), NU)
        ).grid()
        inside.append(((field.u_low <= truth.u) & (truth.u <= field.u_high))[1:-1].mean())
        levels.append(found.noise_level)
    assert 0.84 < np.mean(inside) < 0.95
    assert 0.05 < np.median(levels) < 0.15


def test_a_coefficient_that_is_not_known_is_found_within_its_band():
    truth = drawn(3, {"diffusivity": 0.04})
    readings = pgt.sample(truth, n=60, noise=0.02)
    found = assimilate(HEAT, readings, pgt.Heat(pgt.Unknown(0.01, positive=True)))
    low, high = found.bands["diffusivity"]
    assert low < found.coefficients["diffusivity"] < high
    assert abs(found.coefficients["diffusivity"] - 0.04) < 1.5 * (high - low)
    assert high - low < 0.01
    assert assimilate(HEAT, readings, pgt.Heat(0.04)).bands == {}


def test_where_to_begin_changes_nothing_where_the_solver_is_linear():
    truth = drawn(2)
    readings = pgt.sample(truth, n=9)
    cold, warm = (assimilate(HEAT, readings, NU, start=s, draws=0) for s in (None, truth))
    np.testing.assert_allclose(cold.noise, warm.noise, atol=1e-5)
    assert np.isnan(cold.at(np.array([[0.3, 0.4]])).low).all()


def test_readings_of_another_law_are_said():
    readings = pgt.sample(100 * drawn(2), n=30, noise=0.01, record_noise=True)
    assert "from the family's mean" in assimilate(HEAT, readings, NU).outside[0]
    rough = np.random.default_rng(0).normal(size=60)
    x, t = np.random.default_rng(1).uniform(0, 1, (2, 60))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": rough})
    assert "no system of the family" in assimilate(HEAT, readings, NU).outside[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"coefficients": {"viscosity": 1.0}}, "heat has no coefficient 'viscosity'"),
        ({"coefficients": {"diffusivity": -1.0}}, "write a number above 0"),
        ({"family": "hat"}, "there is no family 'hat'"),
        ({"family": "burgers", "coefficients": {"speed": 1}}, "no coefficient 'speed'"),
        ({"family": "poisson"}, "coordinates"),
        ({"family": "helmholtz"}, "coordinates"),
    ],
)
def test_what_is_wrong_is_said(given, words):
    readings = pgt.sample(drawn(0), n=5)
    with pytest.raises(pgt.InputError, match=words):
        assimilate(**{"family": HEAT, "readings": readings, "coefficients": {}} | given)


def test_another_field_and_another_place_are_refused():
    readings = pgt.sample(drawn(0), n=5)
    with pytest.raises(pgt.InputError, match="unknown"):
        assimilate(HEAT, pgt.Observations.from_arrays({"x": [0.5], "t": [0.5]}, {"v": [1.0]}), NU)
    with pytest.raises(pgt.InputError, match="outside the domain"):
        assimilate(HEAT, pgt.sample(drawn(0).assign_coords(x=HEAT.axes["x"] + 1), n=5), NU)
    with pytest.raises(pgt.InputError, match="draws"):
        assimilate(HEAT, readings, NU, draws=-1)
    for start in (drawn(0).rename(u="v"), drawn(0).isel(t=0)):
        with pytest.raises(pgt.InputError, match="write a dataset of u over x, t"):
            assimilate(HEAT, readings, NU, start=start)


@pytest.mark.slow
def test_fronts_are_found_and_a_network_saves_steps():
    network = pgt.families.shipped("burgers")
    truth = drawn(4, {"viscosity": 0.01}, network.family)
    readings = pgt.sample(truth, n=200)
    cold = assimilate(network.family, readings, {"viscosity": 0.01}, draws=8)
    warm = network.refined(readings, {"viscosity": 0.01}, draws=8)
    for found in (cold, warm):
        error = float(((found.grid().u - truth.u) ** 2).mean() ** 0.5 / truth.u.std())
        assert error < 0.01  # the finest waves of the start are gone before they are read
    assert warm.steps <= cold.steps


class Roughly(HeatFamily):
    """Slopes are those of rods that cool a little too fast."""

    def rough(self):
        return TooFast(nodes=self.nodes, times=self.times)


class TooFast(HeatFamily):
    def solve(self, noise, coefficients):
        return super().solve(noise, {"diffusivity": 1.03 * coefficients["diffusivity"]})


def test_slopes_may_be_rough_where_readings_are_exact():
    family = Roughly(nodes=16, times=9)
    readings = pgt.sample(drawn(5), n=100)
    exact, found = (assimilate(f, readings, NU, draws=0) for f in (HEAT, family))
    assert found.steps > exact.steps
    np.testing.assert_allclose(found.noise, exact.noise, atol=5e-3)


def test_chaos_that_forgot_its_state_is_refused_in_words():
    readings = pgt.Observations.from_arrays({"x": [1.0], "t": [2.0]}, {"u": [0.3]})
    with pytest.raises(pgt.InputError, match="after 60 units of time, by when chaos has forgotten"):
        assimilate("kuramoto_sivashinsky", readings, {"hyperviscosity": 1.0})
