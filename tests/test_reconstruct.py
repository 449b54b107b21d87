"""Sensors that read at different rates, and readings that are averages over a box."""

import numpy as np
import pytest

import pgt
from pgt.data import Observations

DECAY = 0.1 * np.pi**2


def truth(x, t):
    return np.exp(-DECAY * t) * np.sin(np.pi * x)


def exact_mean(x, width):
    """The mean of sin(πx) over (x − width/2, x + width/2)."""
    low, high = np.pi * (x - width / 2), np.pi * (x + width / 2)
    return (np.cos(low) - np.cos(high)) / (high - low)


def network_of_sensors():
    """Point sensors at 3 and at 40 instants, and one wide one that reads the mean over 0.4."""
    rates, width = {0.1: 3, 0.35: 40, 0.8: 9}, 0.4
    x = np.concatenate([np.full(n, place) for place, n in rates.items()])
    t = np.concatenate([np.linspace(0, 1, n) for n in rates.values()])
    wide = np.linspace(0, 1, 12)
    values = np.concatenate([truth(x, t), exact_mean(0.5, width) * np.exp(-DECAY * wide)])
    places = {"x": np.append(x, np.full(12, 0.5)), "t": np.append(t, wide)}
    boxes = np.append(np.zeros(len(x)), np.full(12, width))
    return Observations.from_arrays(places, {"u": values}, width={"x": boxes})


pytestmark = pytest.mark.slow  # a fit of its own: make smoke runs it


@pytest.fixture(scope="module")
def result():
    readings, domain = network_of_sensors(), pgt.Domain(x=(0, 1), t=(0, 1))
    return pgt.reconstruct(
        readings, pgt.Heat(0.1), domain, [pgt.Dirichlet("x", u=0.0)],
        model=pgt.PINN(pgt.Scaling.fit(readings, domain), width=10, layers=2),
        training=pgt.Training(
            steps=200, collocation=100, polish=pgt.Polish(iterations=40, points=100)
        ),
    )  # fmt: skip


def test_the_field_between_sensors_of_different_rates(result):
    field = result.grid(x=15, t=15).u
    expected = truth(field.x, field.t).transpose("t", "x")
    error = float(np.sqrt(((field - expected) ** 2).mean() / (expected**2).mean()))
    # The centre of the wide sensor reads 7 % more than its mean: taken for a point reading it would
    # pull the field down by that.
    assert 1 - exact_mean(0.5, 0.4) > 0.06
    assert error < 0.01


def test_a_wide_sensor_is_fitted_by_the_mean_of_the_field_over_it(result):
    said = result.misfits()
    wide = said[said["x"] == 0.5]
    expected = exact_mean(0.5, 0.4) * np.exp(-DECAY * wide["t"])
    assert len(wide) == 12
    np.testing.assert_allclose(wide["predicted"], expected, atol=0.01)
    assert abs(float(result.at({"x": [0.5], "t": [0.0]}).u[0]) - 1) < 0.02


@pytest.mark.parametrize(
    "training",
    [
        pgt.Training(steps=3, collocation=8, polish=False),
        pgt.Training(collocation=8, polish=pgt.Polish(iterations=2)),
    ],
    ids=["trained", "polished"],
)
def test_a_fit_that_diverged_is_said_and_marked(training):
    readings = pgt.sample(pgt.datasets.heat({1: 1.0}, x=11, t=11), n=30)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    model = pgt.PINN(pgt.Scaling.fit(readings, domain), width=4, layers=2)
    with pytest.warns(pgt.DoubtWarning, match="the fit diverged"):
        result = pgt.reconstruct(
            readings, "u_t = log(u - 9)*u_xx", domain, model=model, training=training
        )
    assert result.summary["stopped"].startswith("diverged")
    assert (result.verdict().converged, result.field_error) == (False, {})
