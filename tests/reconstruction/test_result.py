"""The result: shapes, names, units, derived quantities, coefficients, and a file and back."""

import jax
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.core import serialise
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, NavierStokes2D
from pgt.problem.checkpoint import TRAINING_FILE
from pgt.reconstruction import evaluation
from pgt.reconstruction.result import FILE, Reconstruction

DOMAIN = pgt.Domain(x=(0, 2), y=(0, 1), t=(0, 3), units={"t": "s"})
UNITS = {"x": "m", "y": "m", "u": "m s-1", "v": "m s-1"}


@pytest.fixture(scope="module")
def flow():
    """An untrained field: everything here is about how it is asked, not how well it fits."""
    random = np.random.default_rng(0)
    points = random.uniform((0, 0, 0), (2, 1, 3), (15, 3))
    readings = pgt.Observations.from_arrays(
        points, random.normal(size=(15, 2)), coords=("x", "y", "t"), fields=("u", "v"), units=UNITS
    )
    pde = NavierStokes2D(0.05)
    readings = readings.aligned(pde.fields)
    model = pgt.PGT(
        Scaling.fit(readings, DOMAIN), pde.kernel(), width=8, blocks=1, heads=2,
        decoder_width=10, decoder_layers=1, frequency=3.0,
    )  # fmt: skip
    record = {"history": {}, "version": "1", "seed": 3, "held_out_error": None}
    return Reconstruction(model, pde, readings, readings.take(np.arange(2)), record, DOMAIN)


def test_at_points(flow):
    points = np.array([[0.1, 0.2, 0.3], [1.9, 0.8, 2.0]])
    values = flow.at(points)
    assert isinstance(values, xr.Dataset)
    assert set(values) == {"u", "v", "p"}
    assert values.sizes == {"point": 2}
    np.testing.assert_array_equal(values.x, points[:, 0])
    np.testing.assert_array_equal(values.t, points[:, 2])
    by_name = flow.at({"t": points[:, 2], "x": points[:, 0], "y": points[:, 1]})
    xr.testing.assert_equal(values, by_name)


@pytest.mark.parametrize("values", [1, 20, 70, 10**6])
def test_a_grid_is_written_in_parts(flow, tmp_path, monkeypatch, values):
    monkeypatch.setattr(evaluation.Evaluation.grid_parts, "__defaults__", (None, values))
    axes = {"x": 5, "y": [0.25, 0.5, 2.0]}  # 2.0 is outside
    with pytest.warns(pgt.DoubtWarning, match="10 of 30 points lie outside"):
        whole = flow.grid(["u", "u_xy"], t=2, **axes)
    with pytest.warns(pgt.DoubtWarning, match="10 of 30 points lie outside") as warned:
        path = flow.to_netcdf(tmp_path / "field.nc", ["u", "u_xy"], t=2, **axes)
    assert len(warned) == 1
    found = pgt.io.read_field(path)
    xr.testing.assert_allclose(found.drop_vars("outside"), whole.drop_vars("outside"), atol=1e-6)
    np.testing.assert_array_equal(found.outside, whole.outside)


def test_grid(flow):
    grid = flow.grid(x=4, y=[0.25, 0.5], t=3)
    assert grid.u.dims == ("t", "y", "x")
    assert grid.sizes == {"t": 3, "y": 2, "x": 4}
    np.testing.assert_allclose(grid.x, np.linspace(0, 2, 4))
    one = flow.at({"x": [grid.x[3]], "y": [0.5], "t": [1.5]})
    np.testing.assert_allclose(grid.p.sel(y=0.5, t=1.5).isel(x=3), one.p[0], rtol=1e-5, atol=1e-6)
    assert flow.grid(x=2, t=2).sizes["y"] == 50


def test_units_and_provenance(flow):
    grid = flow.grid(["u", "u_xx", "vorticity", "p"], x=2, y=2, t=2)
    units = {name: grid[name].attrs.get("units") for name in grid.variables}
    assert units == {
        "u": "m s-1", "u_xx": "m s-1 m-2", "vorticity": "m s-1 m-1", "p": None,
        "x": "m", "y": "m", "t": "s",
    }  # fmt: skip
    assert grid.attrs["equation"] == "NavierStokes2D"
    assert grid.attrs["seed"] == 3
    assert "held_out_error" not in grid.attrs  # None cannot be written to NetCDF


def test_derived_quantities_against_numpy(flow):
    names = ["u", "v", "u_x", "u_y", "v_x", "v_y", "vorticity", "divergence", "speed"]
    grid = flow.grid(names, x=81, y=61, t=[1.0]).isel(t=0)
    numeric = {
        f"{f}_{a}": np.gradient(grid[f].values, grid[a].values, axis=grid[f].dims.index(a))
        for f in "uv"
        for a in "xy"
    }
    inside = (slice(1, -1), slice(1, -1))
    for name, expected in numeric.items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(grid[name].values[inside], expected[inside], atol=0.02 * scale)
    np.testing.assert_allclose(grid.vorticity, grid.v_x - grid.u_y, atol=1e-5)
    np.testing.assert_allclose(grid.divergence, grid.u_x + grid.v_y, atol=1e-5)
    np.testing.assert_allclose(grid.speed, np.hypot(grid.u, grid.v), rtol=1e-5)


def test_residual(flow):
    rows = flow.residual(x=3, y=2, t=2)
    assert set(rows) == {"momentum_x", "momentum_y", "continuity"}
    assert rows.continuity.dims == ("t", "y", "x")
    divergence = flow.grid("divergence", x=3, y=2, t=2).divergence
    np.testing.assert_allclose(rows.continuity, divergence, atol=1e-5)
    points = np.array([[0.1, 0.2, 0.3]])
    assert flow.residual(points).sizes == {"point": 1}
    with pytest.raises(
        pgt.InputError, match="residual: write either points, or the axes of a grid"
    ):
        flow.residual(points, x=3)


def test_readings_are_predicted_as_they_were_taken(flow):
    """A reading that is an average over a box is predicted by the mean of the field over it."""
    given = {"x": [0.5, 1.5], "y": [0.5, 0.2], "t": [1.0, 2.0]}
    at_points = pgt.Observations.from_arrays(given, {"v": [0.0, 0.0]})
    said = flow.predict_readings(at_points)
    assert said.shape == (2, 3)
    at = flow.at(given)
    np.testing.assert_allclose(said.T, [at.u, at.v, at.p], rtol=1e-5, atol=1e-6)
    wide = pgt.Observations.from_arrays(given, {"v": [0.0, 0.0]}, width={"x": [0.8, 0.0]})
    over_box = flow.predict_readings(wide)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    fine = flow.at({"x": 0.5 + 0.4 * nodes, "y": np.full(20, 0.5), "t": np.full(20, 1.0)})
    mean = [float(fine[name].to_numpy() @ weights / 2) for name in "uvp"]
    np.testing.assert_allclose(over_box[0], mean, rtol=1e-5, atol=1e-5)
    assert np.abs(over_box[0] - said[0]).max() > 1e-3
    np.testing.assert_allclose(over_box[1], said[1], rtol=1e-5, atol=1e-6)
    table = Reconstruction(
        flow.model, flow.pde, flow.observations, wide.aligned(flow.pde.fields), flow.record, DOMAIN
    ).misfits()
    np.testing.assert_allclose(table["predicted"].iloc[-2:], over_box[:, 1])
    assert flow.predict_readings(at_points.take(np.zeros(0, int))).shape == (0, 3)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.at(np.zeros((2, 2))), r"\(2, 2\).*x, y, t"),
        (lambda r: r.at(np.zeros(3)), r"\(3,\)"),
        (lambda r: r.at(np.zeros((0, 3))), "no points"),
        (lambda r: r.at([[0, 0, 0], [0, np.nan, 0]]), "row 1"),
        (lambda r: r.at({"x": [0], "y": [0]}), "exactly x, y, t"),
        (lambda r: r.at({"x": [0, 1], "y": [0], "t": [0]}), r"x \(2,\), y \(1,\)"),
        (lambda r: r.at(np.zeros((1, 3)), ["w"]), "'w'"),
        (lambda r: r.at(np.zeros((1, 3)), ["u_z"]), "'u_z'"),
        (lambda r: r.grid(z=3), "no axis is called z"),
        (lambda r: r.grid(x=0), r"x=0"),
        (lambda r: r.grid(x=[0, np.nan]), r"grid\(x="),
        (lambda r: r.grid(x=[[0, 1]]), r"grid\(x="),
        (lambda r: r.grid("temperature"), "'temperature'"),
        (lambda r: r.grid(x=True), r"grid\(x="),
        (lambda r: r.grid(x="many"), r"grid\(x="),
        (lambda r: r.grid(x=[]), r"grid\(x="),
    ],
)
def test_mistakes_are_named(flow, ask, message):
    with pytest.raises(pgt.InputError, match=message):
        ask(flow)


def test_a_file_and_back(flow, tmp_path):
    flow.save(tmp_path / "run")
    again = Reconstruction.load(tmp_path / "run")
    assert again.domain == flow.domain
    assert again.summary == flow.summary
    ours, theirs = (r.grid(["u", "p", "v_xx"], x=3, y=2, t=2) for r in (flow, again))
    xr.testing.assert_identical(ours, theirs)


def test_loading_runs_no_code(flow, tmp_path):
    """No pickle, and no constructor of a class is called."""

    class Trap(NavierStokes2D):
        def __check_init__(self):
            raise AssertionError("a constructor ran")

    Trap.__qualname__ = "Trap"
    trap = object.__new__(Trap)
    for name, value in vars(flow.pde).items():
        object.__setattr__(trap, name, value)
    kept = Reconstruction(flow.model, trap, flow.observations, flow.held_out, flow.record, DOMAIN)
    kept.save(tmp_path)
    for file in tmp_path.iterdir():
        assert b"pickle" not in file.read_bytes()
    assert type(Reconstruction.load(tmp_path, classes=[Trap]).pde) is Trap
    with pytest.raises(pgt.InputError, match=r"classes=\[Trap\]"):
        Reconstruction.load(tmp_path)


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (40, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    readings = pgt.Observations.from_arrays(points, u[:, None], coords=("x", "t"), fields=("u",))
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    pde = Heat(pgt.Unknown(0.4, positive=True))
    model = pgt.PINN(Scaling.fit(readings, domain), width=8, layers=2)
    training = pgt.Training(
        steps=150, collocation=50, polish=pgt.Polish(iterations=15, points=64), learning_rate=1e-2
    )
    return pgt.reconstruct(readings, pde, domain, model=model, training=training, progress=False)


def test_a_small_fit_finds_the_diffusivity(fitted):
    found = fitted.parameters["diffusivity"]
    assert abs(found - 0.1) < 0.05
    assert float(fitted.history.coefficient.sel(unknown="diffusivity")[0]) == pytest.approx(
        0.4, rel=0.05
    )
    costs = fitted.stages[0].costs
    assert costs[-1] < costs[0]
    truth = np.sin(np.pi * 0.5) * np.exp(-0.1 * np.pi**2 * 0.5)
    assert float(fitted.at([[0.5, 0.5]]).u[0]) == pytest.approx(truth, abs=0.05)


def test_a_polished_fit_survives_a_file_to_the_last_digit(fitted, tmp_path):
    fitted.save(tmp_path)
    again = Reconstruction.load(tmp_path)
    ours, theirs = (r.grid(["u", "u_t"], x=4, t=3) for r in (fitted, again))
    assert ours.u.dtype == np.float64
    xr.testing.assert_identical(ours, theirs)
    assert again.parameters == fitted.parameters
    xr.testing.assert_identical(again.history, fitted.history)
    assert not jax.config.jax_enable_x64


def test_a_checkpoint_is_no_result(tmp_path):
    serialise.save(tmp_path, TRAINING_FILE, {"layout": 3, "arrays": [np.zeros(2)]})
    with pytest.raises(pgt.InputError, match=r"holds a checkpoint.*--resume"):
        pgt.Reconstruction.load(tmp_path)
    for end in ("safetensors", "json"):
        (tmp_path / f"{TRAINING_FILE}.{end}").rename(tmp_path / f"{FILE}.{end}")
    with pytest.raises(pgt.InputError, match=r"holds a dict, not a Reconstruction"):
        pgt.Reconstruction.load(tmp_path)
