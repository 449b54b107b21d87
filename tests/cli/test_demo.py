"""`pgt demo`: everything is left in the folder, and the terminal says what the numbers say."""

import json
import re

import fresh_python
import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.cli.demo import seconds_in_words

FIGURES = {"field.png", "compare.png", "convergence.png", "contributions.png"}


NUMBERS = {"field.nc", "metrics.json", "reconstruction.json", "reconstruction.safetensors"}


REPORT = {"report.html", "checksums.sha256"}


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def quick_demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "heat"
    command = "from pgt.cli import app; app()"
    return folder, fresh_python.run("-c", command, "demo", "heat", "--quick", "-o", folder)


@pytest.mark.slow
def test_quick_demo_writes_everything(quick_demo):
    folder, outcome = quick_demo
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == "", "the progress bar is for terminals only"
    assert {path.name for path in folder.iterdir()} == FIGURES | NUMBERS | REPORT
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in FIGURES)
    for expected in ("5.9e-03", "405,000,000", "scipy RBF", "this run", "100 readings"):
        assert expected in outcome.stdout


@pytest.mark.slow
def test_quick_demo_numbers_agree_with_the_field(quick_demo):
    folder, _ = quick_demo
    numbers = json.loads((folder / "metrics.json").read_text())
    truth = pgt.datasets.heat()
    with xr.open_dataset(folder / "field.nc", engine="h5netcdf") as field:
        assert pgt.metrics.relative_l2(truth, field)["u"] == pytest.approx(numbers["rel_l2"])
        again = pgt.Reconstruction.load(folder).grid(x=[0.3], t=[0.5])
        kept = field.sel(x=[0.3], t=[0.5], method="nearest")
        np.testing.assert_allclose(again.u, kept.u, rtol=1e-4, atol=1e-6)
    assert numbers["quick"]
    assert numbers["parameters"] > 0
    assert numbers["versions"]["pgt"] == pgt.__version__


def test_the_seconds_of_the_demo_add_up():
    numbers = {
        "device": "cpu: cpu", "seconds": 9.77, "first_step_seconds": 2.54,
        "train_seconds": 3.54, "polish_seconds": 0.5,
    }  # fmt: skip
    said = seconds_in_words(numbers)
    seconds = [float(number) for number in re.findall(r"([\d.]+) s\b", said)]
    assert seconds == [9.8, 4.0, 2.5, 5.7]
    assert "first step" in said


def test_a_folder_that_cannot_be_written_is_one_line_and_exit_code_2(tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = invoke("demo", "heat", "--quick", "-o", tmp_path / "file" / "heat")
    assert outcome.exit_code == 2
    assert "cannot write to" in outcome.output
    assert "another folder" in outcome.output
    assert "Traceback" not in outcome.output
    assert len(outcome.output.strip().splitlines()) == 1
