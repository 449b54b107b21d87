"""Errors of sensors are found with the field, from a CSV to the result."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app

LINE = pgt.Domain(x=(0, 1), t=(0, 1))
EQUATION = "u_t = D*u_xx"
PLACES = np.linspace(0.1, 0.9, 6)


def truth(x, t):
    return np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x)


def sensors(count=12, noise=0.01, seed=0):
    x, t = (a.ravel() for a in np.meshgrid(PLACES, np.linspace(0, 1, count)))
    return x, t, truth(x, t) + noise * np.random.default_rng(seed).normal(size=len(x))


def scattered(count=80, seed=0):
    random = np.random.default_rng(seed)
    x, t = random.uniform(size=(2, count))
    return random, x, t, truth(x, t)


def fitted(x, t, u, known=None, noise=None, scale=1.0):
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u}, sensors=known, noise=noise)
    conditions = pgt.Initial(u=f"{scale}*sin(pi*x)"), pgt.Dirichlet("x", u=0.0)
    pde = pgt.Equation(EQUATION, D=pgt.Unknown(0.05, positive=True))
    return pgt.reconstruct(readings, pde, LINE, conditions, method="solver", progress=False)


def diffusivity(result):
    found = result.intervals()["D"]
    return np.array([found.lower, found.value, found.upper])


def test_a_run_file_states_offsets_and_the_result_names_the_wrong_sensor(tmp_path):
    x, t, u = sensors()
    u += 0.1 * (x == PLACES[1])
    rows = [f"{a:.9g},{b:.9g},{c:.9g}" for a, b, c in zip(x, t, u, strict=True)]
    (tmp_path / "readings.csv").write_text("\n".join(["x,t,u", *rows]))
    (tmp_path / "run.toml").write_text("""
        method = "solver"
        observations = {file = "readings.csv", coords = ["x", "t"], fields = ["u"]}
        domain = {x = [0, 1], t = [0, 1]}
        sensors = {offset = 0.02, gain = 0, drift = 0, clock = 0}
        error_bars = {name = "posterior", samples = 16}
        output = {grid = {x = 3, t = 3}, formats = ["csv"]}
        [pde]
        equations = ["u_t = D*u_xx"]
        D = {unknown = true, initial = 0.05, positive = true}
        [[conditions]]
        kind = "initial"
        u = "sin(pi*x)"
        [[conditions]]
        kind = "dirichlet"
        axis = "x"
        u = 0
        """)
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "run.toml"), "-o", str(tmp_path / "out")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert "drifting_sensors" in metrics["doubt_kinds"]
    result = pgt.Reconstruction.load(tmp_path / "out")
    table = result.sensor_errors()
    assert sorted(table["x"]) == pytest.approx(PLACES)
    assert set(table["effect"]) == {"offset"}
    worst = table.loc[table["value"].abs().idxmax()]
    assert worst["x"] == pytest.approx(PLACES[1])
    assert worst["value"] == pytest.approx(0.1, abs=0.02)
    # The wrong sensor will read too much again; a sensor elsewhere may have an offset, too.
    band = result.band({"x": [PLACES[1], 0.33], "t": [0.5, 0.5]}, of="reading")
    expected = truth(np.array([PLACES[1], 0.33]), 0.5) + np.array([0.1, 0.0])
    np.testing.assert_allclose(band["u"], expected, atol=0.02)
    here, elsewhere = (band["u_upper"] - band["u"]).to_numpy()
    assert elsewhere > np.hypot(here, 1.645 * 0.02)


def test_a_late_clock_is_found_and_the_field_is_that_of_right_sensors():
    x, t, u = sensors(noise=0.003)
    moved = np.where(x == PLACES[2], truth(x, t + 0.1) - truth(x, t), 0.0)
    known = pgt.Sensors(offset=0, gain=0, drift=0, clock=0.1)
    result = fitted(x, t, u + moved, known)
    table = result.sensor_errors()
    (late,) = table.loc[table["x"] == PLACES[2], "value"]
    assert late == pytest.approx(0.1, abs=0.02)
    lower, _, upper = diffusivity(result)
    assert lower < 0.1 < upper


def test_readings_below_a_detection_limit_do_not_bias_a_coefficient():
    random, x, t, u = scattered()
    read = np.maximum(u + 0.05 * random.normal(size=len(u)), 0.5)
    biased = diffusivity(fitted(x, t, read))
    lower, value, upper = diffusivity(fitted(x, t, read, pgt.Sensors(below=0.5)))
    assert lower < 0.1 < upper
    assert abs(value - 0.1) < abs(biased[1] - 0.1)
    assert biased[2] < 0.1


def test_counts_give_the_coefficient_of_the_poisson_likelihood():
    random, x, t, u = scattered()
    counts = random.poisson(100 * u).astype(float)
    _, value, _ = diffusivity(fitted(x, t, counts, pgt.Sensors(noise="counts"), scale=100.0))
    grid = np.linspace(0.07, 0.13, 6001)
    means = 100 * np.exp(-grid[:, None] * np.pi**2 * t) * np.sin(np.pi * x)
    best = grid[np.argmax(np.sum(counts * np.log(means) - means, axis=1))]
    assert value == pytest.approx(best, rel=0.01)


def test_log_normal_readings_give_the_coefficient_of_their_logarithms():
    random, x, t, u = scattered()
    read = u * np.exp(0.2 * random.normal(size=len(u)))
    lower, value, upper = diffusivity(fitted(x, t, read, pgt.Sensors(noise="lognormal")))
    decays = -np.log(read / np.sin(np.pi * x)) / np.pi**2  # = D t + noise
    assert value == pytest.approx(decays @ t / (t @ t), rel=0.01)
    sigma = 0.2 / np.pi**2 / np.sqrt(t @ t)
    assert (upper - lower) / 2 == pytest.approx(1.645 * sigma, rel=0.25)


def test_offsets_cannot_be_stated_of_scattered_readings():
    _, x, t, u = scattered(20)
    with pytest.raises(pgt.InputError, match="no sensor stands still"):
        fitted(x, t, u, pgt.Sensors(offset=0.1))
