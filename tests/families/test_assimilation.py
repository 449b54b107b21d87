"""Systems behind readings, where the law is known."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families import assimilate
from pgt.families.laws import HeatFamily

HEAT = HeatFamily(nodes=16, times=9)
NU = {"diffusivity": 0.02}


def drawn(seed, coefficients=NU, family: pgt.families.AbstractFamily = HEAT):
    return family.dataset(family.draw(jax.random.key(seed), coefficients))


def rows_of_heat(readings):
    """Rows, values and σ of readings of the family."""
    (x, t), k = np.asarray(readings.points, float).T, np.arange(1, 9)
    rows = np.sin(np.pi * np.outer(x, k)) * np.exp(-0.02 * np.pi**2 * np.outer(t, k**2))
    values, sigma = (np.asarray(a, float)[:, 0] for a in (readings.values, readings.noise))
    return rows / (1 + (k / 3) ** 2), values, sigma


def test_the_posterior_is_the_dense_formula_of_the_law():
    readings = pgt.sample(drawn(1), n=5, noise=0.3, seed=2, record_noise=True)
    rows, values, sigma = rows_of_heat(readings)
    found = assimilate(HEAT, readings, NU)
    # The search averages over levels above the given σ.
    level = float(np.median(found.noise_level * np.sqrt(np.mean(values**2)) / sigma))
    assert 1 <= level < 1.5
    inner = rows @ rows.T + np.diag((level * sigma) ** 2)
    expected = rows.T @ np.linalg.solve(inner, values)
    np.testing.assert_allclose(found.noise, expected, atol=1e-6)
    assert found.steps == 1


def test_an_unknown_coefficient_is_found_within_its_band():
    truth = drawn(3, {"diffusivity": 0.04})
    readings = pgt.sample(truth, n=60, noise=0.02)
    found = assimilate(HEAT, readings, pgt.Heat(pgt.Unknown(0.01, positive=True)))
    low, high = found.bands["diffusivity"]
    assert low < found.coefficients["diffusivity"] < high < low + 0.01
    assert abs(found.coefficients["diffusivity"] - 0.04) < 1.5 * (high - low)
    assert assimilate(HEAT, readings, pgt.Heat(0.04)).bands == {}


def test_readings_of_another_law_are_reported():
    readings = pgt.sample(100 * drawn(2), n=30, noise=0.01, record_noise=True)
    assert "as far from all systems of the family" in assimilate(HEAT, readings, NU).outside[0]
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
        ({"family": "wave_2d"}, "coordinates"),
        ({"family": "poisson"}, "too many unknowns"),
    ],
)
def test_wrong_arguments_are_refused(given, words):
    readings = pgt.sample(drawn(0), n=5)
    with pytest.raises(pgt.InputError, match=words):
        assimilate(**{"family": HEAT, "readings": readings, "coefficients": {}} | given)


def test_another_field_another_place_and_chaos_are_refused(monkeypatch):
    with pytest.raises(pgt.InputError, match="unknown"):
        assimilate(HEAT, pgt.Observations.from_arrays({"x": [0.5], "t": [0.5]}, {"v": [1.0]}), NU)
    with pytest.raises(pgt.InputError, match="outside the domain"):
        assimilate(HEAT, pgt.sample(drawn(0).assign_coords(x=HEAT.axes["x"] + 1), n=5), NU)
    readings = pgt.Observations.from_arrays({"x": [1.0], "t": [2.0]}, {"u": [0.3]})
    with pytest.raises(pgt.InputError, match=r"kuramoto_sivashinsky.*burn-in"):
        assimilate("kuramoto_sivashinsky", readings, {"hyperviscosity": 1.0})
    monkeypatch.setattr("pgt.families.map_estimate.LARGEST_TANGENTS", 1)
    with pytest.raises(pgt.InputError, match="too many unknowns"):
        assimilate(HEAT, pgt.sample(drawn(0), n=5), NU)
