"""Asking a stored run: grids as text, and a field that was stored untrained."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.runs.folder import METRICS
from pgt.runs.predict import info, load, parse_axes, predict


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("x=101", {"x": 101}),
        ("t=0:1:3", {"t": [0.0, 0.5, 1.0]}),
        ("x=3, t=0:1:2", {"x": 3, "t": [0.0, 1.0]}),
        ("", {}),
    ],
)
def test_grids_are_parsed(text, axes):
    assert parse_axes(text, ("x", "t")) == axes


WRONG = ["x", "x=", "z=3", "x=a", "x=0:1", "x=0:1:0", "x=0:1:2:3", "=3", "x=1", "x=0", "x=-1"]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_grids_are_named(text):
    with pytest.raises(pgt.InputError, match="--grid"):
        parse_axes(text, ("x", "t"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with a field that nobody fitted: u is asked for, not how good it is."""
    folder = tmp_path_factory.mktemp("stored")
    x, t = np.random.default_rng(0).uniform(size=(2, 6))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": x + t}, units={"x": "mm"})
    domain, pde = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(pgt.Unknown(0.25))
    model = pgt.PINN(pgt.Scaling.fit(readings, domain), width=2, layers=1)
    record = {
        "history": {}, "seed": 3, "version": "1", "jax": "2", "seconds": 1.25,
        "stopped": "budget spent", "parameter_count": 1234, "held_out_error": None,
    }  # fmt: skip
    fitted, held_out = readings.take(np.arange(4)), readings.take(np.arange(4, 6))
    pgt.Reconstruction(model, pde, fitted, held_out, record, domain).save(folder)
    return folder


def test_a_grid_and_points_say_the_same(stored, tmp_path):
    said = predict(stored, tmp_path / "grid.nc", "x=3", None, (), "t=0.5")
    assert said.endswith("grid.nc: a grid of 3 of x × 1 of t")
    (tmp_path / "points.csv").write_text("x,t\n0.5,0.5\n")
    predict(stored, tmp_path / "values.csv", None, tmp_path / "points.csv", ("u",))
    names, values = (tmp_path / "values.csv").read_text().splitlines()
    assert names.split(",") == ["x", "t", "u"]
    with xr.open_dataset(tmp_path / "grid.nc") as field:
        assert dict(field.sizes) == {"t": 1, "x": 3}
        assert float(values.split(",")[2]) == pytest.approx(float(field.u[0, 1]), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "grid", "named"),
    [
        ("grid.nc", "x=1000000000", "at most 100,000,000 positions"),
        ("grid.nc", "x=0:1:1000000000,t=2", "GB of memory.*fewer points"),
        (
            "grid.vtr",
            "x=99999,t=99999",
            "GB of memory.*fewer points",
        ),  # an instant is written at once
        ("grid.zarr", "x=99999,t=99999", "80 GB of disk.*1 GB are free.*fewer points"),
    ],
)
def test_a_grid_that_there_is_no_room_for_is_refused(
    stored, tmp_path, name, grid, named, monkeypatch
):
    monkeypatch.setattr("pgt.core.machine.available_memory", lambda: 16e9)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=10**9))
    with pytest.raises(pgt.InputError, match=named):
        predict(stored, tmp_path / name, grid, None, ())
    assert os.listdir(tmp_path) == []


def test_points_in_another_unit_are_converted_or_refused(stored, tmp_path):
    path, made = tmp_path / "points.nc", tmp_path / "values.csv"
    points = xr.Dataset({"x": ("point", [0.0005], {"units": "m"}), "t": ("point", [0.5])})
    points.to_netcdf(path, engine="h5netcdf")
    predict(stored, made, None, path, ())
    assert made.read_text().splitlines()[1].startswith("0.5,0.5,")  # mm, as the readings are
    points["x"].attrs["units"] = "s"
    points.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(pgt.InputError, match="'x' is in 's' by the file"):
        predict(stored, made, None, path, ())


def test_positions_outside_the_domain_are_said_and_marked(stored, tmp_path):
    with pytest.warns(pgt.DoubtWarning, match="3 of 3 points lie outside"):
        predict(stored, tmp_path / "far.csv", "x=99:100:3", None, (), "t=0.5")
    first, second, *_ = (tmp_path / "far.csv").read_text().splitlines()
    assert first.split(",")[:3] == ["x", "t", "outside"]
    assert second.split(",")[2] == "1"


def test_what_a_run_is(stored):
    said = dict(info(stored))
    assert said["equation"] == "Heat in x, t"
    assert said["readings"] == "4 fitted, 2 held out"
    assert said["model"] == "PINN, 1,234 parameters"
    assert said["diffusivity"] == "learnt: 0.25"
    assert "doubt" not in said
    found = {
        "held_out": {"u": {"relative": 0.5, "rmse": 2.0}, "v": {"relative": None, "rmse": 2.0}},
        "cross_validation": {"folds": 3, "by": "block"},
        "doubts": ["It is odd."],
    }
    (stored / METRICS).write_text(json.dumps(found))
    said = dict(info(stored))
    (stored / METRICS).unlink()
    assert said["held-out error of u"] == "5.00e-01 relative, 2.00e+00 rms"
    assert said["held-out error of v"] == "2.00e+00 rms"
    assert said["cross-validation"] == "3 folds by block"
    assert said["doubt"] == "It is odd."


def test_either_a_grid_or_points_are_asked_for(tmp_path):
    for grid, points in ((None, None), ("x=3", tmp_path / "points.csv")):
        with pytest.raises(pgt.InputError, match="either --grid"):
            predict(tmp_path, tmp_path / "out.nc", grid, points, ())


def test_what_is_no_folder_is_named(tmp_path):
    with pytest.raises(pgt.InputError, match=r"there is no folder .*nowhere"):
        load(tmp_path / "nowhere")
