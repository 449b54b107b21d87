"""Problems far from zero, dates, periodic axes, and what a call says of its time."""

import time

import numpy as np
import pytest
import xarray as xr

import pgt
from pgt import _reconstruct as front
from pgt.data import Observations
from pgt.methods.plan import choose
from pgt.problem.budget import total_seconds

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


# --------------------------------------------------------------------- far from zero


def decaying(x, t):
    return np.exp(-DECAY * t) * np.sin(np.pi * x) + 0.3 * x


def far_away(kind, start=(0.0, 0.0), size=(1.0, 1.0), level=(0.0, 1.0), pde=None, conditions=()):
    """The error of a field, relative to its spread, and how many values 101 places have."""
    (x0, t0), (width, hours), (u0, unit) = start, size, level
    x, t = np.random.default_rng(0).uniform(size=(2, 60))
    readings = Observations.from_arrays(
        {"x": x0 + width * x, "t": t0 + hours * t}, {"u": u0 + unit * decaying(x, t)}
    )
    domain = pgt.Domain(x=(x0, x0 + width), t=(t0, t0 + hours))
    scaling = pgt.Scaling.fit(readings, domain)
    models = {
        "sines": (pgt.Features(scaling, count=120, band=(6.0, 4.0)), pgt.Training()),
        "polished": (
            pgt.PINN(scaling, width=6, layers=2),
            pgt.Training(steps=0, collocation=32, polish=pgt.Polish(iterations=12, points=100)),
        ),
    }
    model, training = models[kind]
    result = pgt.reconstruct(
        readings, pde or pgt.Heat(0.1 * width**2 / hours), domain, conditions,
        model=model, training=training,
    )  # fmt: skip
    x, t = np.linspace(0, 1, 101), np.linspace(0, 1, 5)
    field = result.grid(x=x0 + width * x, t=t0 + hours * t).u.transpose("x", "t").to_numpy()
    truth = u0 + unit * decaying(x[:, None], t)
    return float(np.sqrt(np.mean((field - truth) ** 2)) / truth.std()), len(np.unique(field[:, 2]))


FAR = {
    "a time stamp": {"start": (0.0, 1714564800.0), "size": (1.0, 3600.0)},
    "metres of a grid": {"start": (5e6, 0.0)},
    "a pressure": {"level": (101325.0, 10.0)},
}


SLOW = pytest.mark.slow  # fits of its own: make smoke runs it


@pytest.mark.parametrize("kind", ["sines", pytest.param("polished", marks=SLOW)])
def test_an_offset_costs_no_accuracy(kind):
    near, _ = far_away(kind)
    for place in FAR.values():
        error, different = far_away(kind, **place)
        assert error == pytest.approx(near, rel=0.1)
        assert different == 101


@pytest.mark.parametrize("kind", ["sines", pytest.param("polished", marks=SLOW)])
def test_equations_and_conditions_see_physical_numbers_wherever_they_are(kind):
    def problem(x0, t0, u0):
        text = (
            f"u_t = 0.1*u_xx + 0.1*(u - {u0}) - 0.1*(exp(-0.1*pi^2*(t - {t0}))*sin(pi*(x - {x0}))"
            f" + 0.3*(x - {x0}))"
        )
        walls = pgt.Dirichlet("x", u=f"{u0} + 0.3*(x - {x0})")
        table = (x0 + np.linspace(0, 1, 201), u0 + decaying(np.linspace(0, 1, 201), 0.0))
        return far_away(
            kind, start=(x0, t0), level=(u0, 1.0), pde=pgt.Equation(text),
            conditions=[walls, pgt.Initial(u=table)],
        )  # fmt: skip

    near, far = problem(0.0, 0.0, 0.0)[0], problem(4e5, 2e6, 1e4)[0]
    assert far == pytest.approx(near, rel=0.05)
    assert near < (1e-4 if kind == "sines" else 0.2)


def test_a_gauge_holds_at_a_place_far_from_zero():
    x0 = 4e5
    readings = Observations.from_arrays({"x": x0 + np.linspace(0.1, 0.9, 9)}, {"u": np.zeros(9)})
    domain = pgt.Domain(x=(x0, x0 + 1))
    pde = pgt.Equation(["u_xx = 0", "p_x = 2*u + 1"])
    scaling = pgt.Scaling.fit(readings.aligned(pde.fields), domain)
    result = pgt.reconstruct(
        readings, pde, domain, [pgt.Gauge("p", at={"x": x0 + 0.5}, value=3.0)],
        model=pgt.Features(scaling, count=40, band=3.0),
    )  # fmt: skip
    said = result.at({"x": [x0, x0 + 0.5, x0 + 1]}).p.to_numpy()
    np.testing.assert_allclose(said, [2.5, 3.0, 3.5], atol=1e-3)


def test_sorting_or_shuffling_the_readings_gives_the_same_field():
    x, t = np.random.default_rng(2).uniform(size=(2, 30))
    noise = np.random.default_rng(3).normal(0, 0.05, 30)
    rows = np.random.default_rng(4).permutation(30)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))

    def field(rows):
        readings = Observations.from_arrays(
            {"x": x[rows], "t": t[rows]}, {"u": (decaying(x, t) + noise)[rows]}
        )
        result = pgt.reconstruct(
            readings, pgt.Heat(0.1), domain, seed=1,
            model=pgt.PINN(pgt.Scaling.fit(readings, domain), width=4, layers=1),
            training=pgt.Training(steps=5, collocation=16, batch=8, polish=False),
        )  # fmt: skip
        return result.grid(x=7, t=5).u.to_numpy(), result.summary["held_out_error"]

    (one, error), (other, same) = field(np.arange(30)), field(rows)
    np.testing.assert_array_equal(one, other)
    assert error == same


def test_a_reading_beyond_the_end_of_a_periodic_axis_wraps():
    x = np.linspace(0.02, 0.98, 13)
    wave = np.sin(2 * np.pi * x)
    circle = pgt.Domain(x=(0, 1), periodic=("x",))

    def field(x):
        readings = Observations.from_arrays({"x": x}, {"u": wave})
        model = pgt.Features(pgt.Scaling.fit(readings, circle), count=20, band=7.0)
        result = pgt.reconstruct(
            readings, pgt.Poisson("-4*pi^2*sin(2*pi*x)", 1), circle, model=model
        )
        return result.at({"x": [0.1, 1.1]}).u.to_numpy()

    beyond = field(np.where(x < 0.3, x + 1, x))
    np.testing.assert_allclose(beyond, field(x), atol=1e-12)
    with pytest.raises(pgt.InputError, match="outside the domain x"):
        field(x + 2)


def test_dates_in_dates_out(tmp_path):
    x, t = np.random.default_rng(0).uniform(size=(2, 40))
    noon = np.datetime64("2024-05-01T12:00", "ns")
    moments = noon + (3.6e12 * t).astype("timedelta64[ns]")
    readings = Observations.from_arrays({"x": x, "t": moments}, {"u": decaying(x, t)})
    domain = pgt.Domain(x=(0, 1), t=("2024-05-01T12:00", "2024-05-01T13:00"))
    model = pgt.Features(pgt.Scaling.fit(readings, domain), count=100, band=(6.0, 4.0))
    result = pgt.reconstruct(readings, pgt.Heat(0.1 / 3600), domain, model=model)
    half = result.at({"x": [0.5], "t": ["2024-05-01T12:30"]}, ["u", "u_t"])
    assert half.t.to_numpy()[0] == noon + np.timedelta64(30, "m")
    assert float(half.u[0]) == pytest.approx(decaying(0.5, 0.5), rel=1e-4)
    field = result.grid(x=5, t=3)
    np.testing.assert_array_equal(field.t, noon + np.arange(3) * np.timedelta64(30, "m"))
    assert float(result.grid(x=[0.5], t=half.t.to_numpy()).u[0, 0]) == pytest.approx(
        float(half.u[0])
    )
    pgt.plots.field(field, sensors=readings)
    stored = xr.open_dataset(pgt.io.write_field(field, tmp_path / "field.nc"), engine="h5netcdf")
    np.testing.assert_array_equal(stored.t, field.t)
    assert "2024-05-01" in pgt.io.write_field(field, tmp_path / "field.csv").read_text()


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


def test_seconds_count_from_when_the_call_began(monkeypatch):
    """What assembling took is not given to the fit once more."""
    given, fit = [], front.fit_task

    def watched(task, **options):
        given.append(total_seconds(task.training))
        return fit(task, **options)

    monkeypatch.setattr(front, "fit_task", watched)
    readings, domain = pgt.sample(pgt.datasets.heat(), n=30), pgt.Domain(x=(0, 1), t=(0, 1))
    model = pgt.Features(pgt.Scaling.fit(readings, domain), count=30, band=4.0)
    training = pgt.Training(seconds=90.0)
    plan = choose(readings, pgt.Heat(0.01), domain, model=model, training=training)
    result = front.run_plan(plan, progress=False, began=time.monotonic() - 40.0)
    assert 30.0 < given[0] < 50.0
    assert 40.0 < result.summary["wall_seconds"] < 90.0
    assert result.summary["total_seconds"] == 90.0
