"""The demonstrations of the wake: with the pressure among the readings, and without."""

import json

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.demo import wake_demo

FILES = {
    "field.nc", "field.png", "compare.png", "convergence.png", "contributions.png", "report.html",
    "checksums.sha256",
    "metrics.json", "reconstruction.json", "reconstruction.safetensors",
}  # fmt: skip

pytestmark = pytest.mark.slow  # a fit of its own: make smoke runs it


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where both were run, at the smallest size."""
    here = tmp_path_factory.mktemp("demo")
    sizes = {"width": 4, "blocks": 1, "heads": 1, "anchors": 2, "decoder_width": 4}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wake_demo, "SIZES", sizes | {"decoder_layers": 2})
        small = pgt.Training(collocation=4, batch=8, optimiser="adam", polish=False)
        patch.setattr(wake_demo, "TRAINING", small)
        patch.setattr(wake_demo, "READINGS", 60)
        for name, words in {"wake": ("--seconds", "2"), "pressure": ("--quick",)}.items():
            patch.setattr(wake_demo, "EVERY", 100)
            result = CliRunner().invoke(app, ["demo", name, "-o", str(here / name), *words])
            assert result.exit_code == 0, (result.output, result.exception)
            (here / f"{name}.txt").write_text(result.output)
    return here


@pytest.mark.parametrize("name", ["wake", "pressure"])
def test_everything_is_left_and_the_numbers_are_those_of_the_field(folder, name):
    assert {path.name for path in (folder / name).iterdir()} == FILES
    numbers = json.loads((folder / name / "metrics.json").read_text())
    assert numbers["case"] == name
    truth = pgt.datasets.cylinder_wake()
    with xr.open_dataset(folder / name / "field.nc", engine="h5netcdf") as field:
        truth = truth.sel(t=field.t, method="nearest")
        if name == "pressure":
            assert abs(field.p.mean(("x", "y"))).max() < 1e-5
            truth["p"] = truth.p - truth.p.mean(("x", "y"))
        for quantity in "uvp":
            wrong = np.linalg.norm(field[quantity].values - truth[quantity].values)
            error = wrong / np.linalg.norm(truth[quantity].values)
            assert numbers["errors"]["relative_l2"][quantity] == pytest.approx(error, rel=1e-5)
            assert f"{error:.1e}" in (folder / f"{name}.txt").read_text()


def test_the_pressure_is_never_shown(folder):
    hidden = pgt.Reconstruction.load(folder / "pressure")
    assert not any(np.asarray(o.mask)[:, 2].any() for o in (hidden.observations, hidden.held_out))
    assert "p, never measured" in (folder / "pressure.txt").read_text()
    assert "determined up to a function of time" in (folder / "pressure/report.html").read_text()
    assert np.asarray(pgt.Reconstruction.load(folder / "wake").observations.mask).all()


def test_the_budget_is_kept(folder):
    numbers = json.loads((folder / "wake" / "metrics.json").read_text())
    assert numbers["training"]["seconds"] == 2
    assert numbers["stopped"] == "budget spent"
