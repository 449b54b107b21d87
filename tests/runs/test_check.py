"""What is said of a run before anything is trained."""

import numpy as np
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.config import load_run
from pgt.runs.check import describe, prepare

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


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return home_of(tmp_path_factory.mktemp("thirty"), 30)


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


def test_check_says_how_readings_are_held_out(home):
    check = ("check", home / "run.toml", *SIREN)
    by_one = command(*check)
    assert "3 of 30 readings, one by one at random" in said(by_one)
    by_block = command(*check, "--set", 'training.hold_out_by="block"')
    assert "of 30 readings, in whole blocks (9 in all)" in said(by_block)
    nothing = command(*check, "--set", "training.hold_out=0.0")
    assert "nothing: no error can be stated" in said(nothing)


def test_a_budget_in_seconds_takes_the_place_of_the_files(home):
    run = load_run(home / "run.toml", [SIREN[1]])
    assert prepare(run)[1].first.training.polish.seconds != 7.0
    assert prepare(run, seconds=7.0)[1].first.training.polish.seconds == 7.0
    trained = load_run(home / "run.toml", [SIREN[1], "training.polish=false"])
    assert prepare(trained)[1].first.training.seconds != 7.0
    assert prepare(trained, seconds=7.0)[1].first.training.seconds == 7.0
    both = load_run(home / "run.toml", [SIREN[1], "training.steps=300"])
    training = prepare(both, seconds=7.0)[1].first.training  # some of them for the polish
    finish = training.polish.seconds if training.polish else 0.0
    assert training.seconds + finish == pytest.approx(7.0)


def test_cells_without_a_reading_are_counted(tmp_path):
    (home_of(tmp_path, 2) / "sensors.csv").write_text("x,t,u\n0,0,1\n0.01,0,1\n1,1,2\n")
    run = load_run(tmp_path / "run.toml", [SIREN[1]])
    told = dict(describe(run, *prepare(run)))
    assert told["coverage"].startswith("2 of 16 cells hold a reading; in the others only")
    assert told["u"] == "3 values from 1 to 2, no unit given"
    assert told["x"] == "readings from 0 to 1, domain 0 to 1"


def test_one_reading_is_too_few(tmp_path):
    (home_of(tmp_path, 2) / "sensors.csv").write_text("x,t,u\n0.5,0.5,1\n")
    with pytest.raises(
        pgt.InputError, match=r"sensors\.csv.*1 reading in all: one is fitted by any"
    ):
        prepare(load_run(tmp_path / "run.toml", [SIREN[1]]))


def test_the_budget_is_in_the_units_of_what_is_done(home):
    def budget(*settings):
        run = load_run(home / "run.toml", settings)
        return dict(describe(run, *prepare(run)))["budget"]

    pinn = "model={name='pinn', width=4, layers=2}"
    assert budget(pinn) == "300 second-order steps on all weights"
    assert budget(pinn, "training.seconds=9.0") == "9 s of second-order steps on all weights"
    assert budget(pinn, "training.steps=7", "training.polish=false").startswith("7 steps of soap")
    unknown = "pde.diffusivity={unknown=true, initial=0.05, positive=true}"
    again = "solved by linearising the equation again and again, in seconds"
    assert budget("model.name='features'", unknown) == again
    assert budget("model.name='pgt'").startswith("2000 steps of soap")


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


def test_an_equation_that_grows_is_doubted_with_the_line_to_write(home):
    run = load_run(home / "run.toml", ["pde={equations=['u_t = -0.01*u_xx']}"])
    with pytest.warns(pgt.DoubtWarning, match=r"ill-posed forward in time.*'u_t = 0\.01\*u_xx'"):
        prepare(run)
