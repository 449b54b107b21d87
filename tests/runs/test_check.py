"""What is said of a run before anything is trained."""

import numpy as np
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.config import load_run
from pgt.runs.check import prepare

SIREN = ("--set", "model={name='siren', width=8, layers=2}")


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def said(result):
    return " ".join(result.output.split())


def write_readings(path, n):
    readings = pgt.sample(pgt.datasets.heat(), n, seed=0)
    rows = np.column_stack([readings.points, readings.values])
    lines = ["x,t,u", *(",".join(f"{v:.8g}" for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def home_of(folder, n):
    """A run file and a CSV of so many readings."""
    write_readings(folder / "sensors.csv", n)
    assert command("init", "heat", "-o", folder / "run.toml").exit_code == 0
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return home_of(tmp_path_factory.mktemp("sixty"), 60)


def test_check_says_what_will_happen(folder):
    result = command("check", folder / "run.toml")  # test_estimate.py does the rest
    assert result.exit_code == 0, result.output
    for words in (
        "60 in sensors.csv",
        "hidden fields",
        "cells hold a reading",
        "nothing: each reading is predicted from all the others",
        "Features",
        "parameters",
        "in seconds",
    ):
        assert words in said(result)


def test_readings_outside_the_domain_name_the_file_and_the_line(tmp_path):
    write_readings(tmp_path / "sensors.csv", 60)
    with (tmp_path / "sensors.csv").open("a") as file:
        file.write("7,0.5,1\n")
    command("init", "heat", "-o", tmp_path / "run.toml")
    result = command("check", tmp_path / "run.toml")
    assert result.exit_code == 2
    assert "run.toml" in said(result)
    assert "x" in said(result)


def test_one_reading_is_too_few(tmp_path):
    (home_of(tmp_path, 2) / "sensors.csv").write_text("x,t,u\n0.5,0.5,1\n")
    with pytest.raises(
        pgt.InputError, match=r"sensors\.csv.*1 reading in all: one is fitted by any"
    ):
        prepare(load_run(tmp_path / "run.toml", [SIREN[1]]))


def test_a_shape_is_drawn_also_where_readings_are_outside(tmp_path):
    (tmp_path / "sensors.csv").write_text("x,y,u\n0.5,0.5,1\n0.1,0.1,2\n")
    run = tmp_path / "run.toml"
    run.write_text(
        '[observations]\nfile = "sensors.csv"\ncoords = ["x", "y"]\nfields = ["u"]\n'
        "[domain]\nx = [0, 1]\ny = [0, 1]\n"
        '[domain.shape]\nkind = "outside"\n'
        'shape = {kind = "disk", centre = [0.5, 0.5], radius = 0.2, name = "hole"}\n'
        '[pde]\nname = "laplace"\n'
    )
    found = CliRunner().invoke(app, ["check", str(run)])
    assert found.exit_code == 2
    assert "line 2: x = 0.5, y = 0.5" in found.output.replace("\n", " ")
    assert (tmp_path / "run-shape.png").stat().st_size > 0
    (tmp_path / "sensors.csv").write_text("x,y,u\n0.5,0.9,1\n0.1,0.1,2\n")
    found = CliRunner().invoke(app, ["check", str(run)])
    assert found.exit_code == 0
    assert "walls: hole" in found.output
