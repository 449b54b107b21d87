"""A field over a moving window: it follows the truth, and its forecast is as wrong as it says."""

import numpy as np
import pytest

import pgt
from pgt.live import Window

RATE = 0.1 * np.pi**2


def truth(x, t):
    """A solution of u_t = 0.1 u_xx."""
    return np.exp(-RATE * t) * np.sin(np.pi * x)


def readings(start, end, count, seed=0):
    random = np.random.default_rng(seed)
    x, t = random.random(count), np.sort(random.uniform(start, end, count))
    return {"x": x, "t": t, "u": truth(x, t) + 0.01 * random.standard_normal(count)}


def window(**options):
    model = {"name": "features", "band": 3.0, "count": 40}
    box = {"x": (0, 1), "t": (0, 1)}
    walls = [pgt.Dirichlet("x", u=0.0), pgt.Initial(u="sin(pi*x)")]
    options = {"length": 1.0, "horizon": 0.2, "model": model} | options
    return Window("u_t = 0.1*u_xx", box, walls, **options)


def test_readings_update_the_window_until_the_horizon_leaves_it():
    found = window()
    assert found.add(readings(0, 0.3, 8)) is None
    assert found.forecast() is None
    first = found.add(readings(0.3, 0.6, 8))
    assert len(first.observations) == 16  # those that waited, too
    second = found.add(readings(0.6, 0.9, 30))
    assert len(second.observations) == 46
    assert second.domain.bounds("t") == (0.0, 1.2)
    # The horizon passes the end: a new window begins, without the initial condition.
    third = found.add(readings(0.9, 1.2, 30))
    low, high = third.domain.bounds("t")
    assert (low, high) == pytest.approx((found.now - 0.5, found.now + 0.7))
    assert third.summary["conditions"] == ["bc"]
    assert np.asarray(third.observations.points)[:, 1].min() >= low
    ahead = found.forecast()
    assert ahead.t == pytest.approx(found.now + 0.2)
    field = third.grid(x=21, t=[ahead.t]).u.to_numpy().ravel()
    miss = np.abs(field - truth(np.linspace(0, 1, 21), ahead.t))
    assert 0 < ahead.error["u"] < 0.1
    assert np.mean(miss < 2 * ahead.error["u"]) > 0.8
    # What is older than the window is left out.
    assert found.add(readings(0, 0.1, 5)) is third


def test_a_window_never_holds_more_readings_than_it_may():
    found = window(max_readings=40, length=100.0)
    for start in range(6):
        found.add(readings(start / 10, (start + 1) / 10, 15, seed=start))
        count = 0 if found.result is None else len(found.result.observations)
        assert count <= 40
    assert found.start > 0
    found.add(readings(0.6, 0.7, 100))
    assert len(found.result.observations) <= 40


def test_the_error_of_a_forecast_without_draws_is_that_of_the_field():
    box = {"x": (0, 1), "t": (0, 1)}
    walls = [pgt.Dirichlet("x", u=0.0), pgt.Initial(u="sin(pi*x)")]
    found = Window("u_t = 0.1*u_xx", box, walls, length=1.0, horizon=0.2, method="solver")
    found.add(readings(0, 0.5, 20))
    assert found.result.members is None
    assert found.forecast().error["u"] < 1e-4
    # After a gap there are too few readings for a new field; the last one stays.
    assert found.add(readings(5, 5.1, 3)).domain.bounds("t") == (0.0, 1.2)
    assert found.forecast() is None
    assert found.add(readings(5.1, 5.2, 20)).domain.bounds("t")[0] > 4


def test_a_domain_without_time_is_refused():
    with pytest.raises(pgt.InputError, match="the domain has no t"):
        Window("u_xx = 0", {"x": (0, 1)}, length=1.0, horizon=0.1)
