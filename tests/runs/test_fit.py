"""From a CSV to a folder without writing Python: the commands, in the order a user meets them."""

import errno
import functools
import json
import shutil
from collections import Counter

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.core.folder_lock import lock_folder
from pgt.core.manifest import NAME, read_manifest
from pgt.data import Domain, Observations
from pgt.runs import fit as fitting
from pgt.runs.folder import METRICS, RUN_FILE
from pgt.runs.predict import load
from pgt.runs.report import report_data

QUICK = (
    "--set", "training.steps=15", "--set", "training.collocation=32", "--set", "training.polish=false",
    "--set", "training.check_every=5", "--set", "output.grid={x=11,t=6}",
)  # fmt: skip
SMALL = "output={grid={x=5,t=4},formats=['png']}"
SIREN = ("--set", "model={name='siren', width=8, layers=2}")


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def said(result):
    return " ".join(result.output.split())


def write_readings(path, n=60, seed=0, fields=("u",)):
    truth = pgt.datasets.heat()
    readings = pgt.sample(truth, n, seed=seed)
    rows = np.column_stack([readings.points, readings.values])
    lines = [",".join(("x", "t", *fields)), *(",".join(f"{v:.8g}" for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return truth


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run as a user makes one: init, a CSV, fit."""
    here = tmp_path_factory.mktemp("run")
    write_readings(here / "sensors.csv")
    assert command("init", "heat", "-o", here / "run.toml").exit_code == 0
    result = command("fit", here / "run.toml", "-o", here / "out", *QUICK, *SIREN)
    # A few steps explain nothing: that is said, and the exit code says it too.
    assert result.exit_code == 3, result.output
    assert "Readings that were not fitted" in said(result)
    (here / "said.txt").write_text(said(result))
    (here / "code.txt").write_text(str(result.exit_code))
    return here


def test_fit_leaves_everything(folder):
    names = {path.name for path in (folder / "out").iterdir()}
    assert {"run.toml", "metrics.json", "report.html", "field.nc", "field.png"} <= names
    out = folder / "out"
    kept = {path.relative_to(out).as_posix() for path in out.rglob("*.safetensors")}
    assert {"checkpoint/identity.safetensors", *names - {NAME, "checkpoint"}, *kept} == set(
        read_manifest(out)
    )
    numbers = json.loads((folder / "out" / "metrics.json").read_text())
    held = numbers["held_out"]["u"]
    assert held["readings"] == 6
    assert held["relative"] > 0
    assert held["interpolated_relative"] > 0
    assert isinstance(numbers["converged"], bool)
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    field = xr.open_dataset(folder / "out" / "field.nc")
    assert dict(field.sizes) == {"t": 6, "x": 11}
    field.close()


def test_the_verdict_is_that_of_the_held_out_readings(folder):
    result = load(folder / "out")
    shown = report_data(result, result.grid(x=5, t=4))
    verdict = shown.verdict
    at = result.at(np.asarray(result.held_out.points))["u"].to_numpy()
    np.testing.assert_allclose(shown.readings.predictions[:, 0], at, rtol=1e-4, atol=1e-5)
    truth = result.held_out.values[:, 0]
    expected = np.linalg.norm(at - truth) / np.linalg.norm(truth)
    assert verdict.held_out["u"].relative == pytest.approx(expected, rel=1e-3)
    better = verdict.held_out["u"].interpolated_relative < verdict.held_out["u"].relative
    assert any("interpolation" in doubt.sentence for doubt in verdict.doubts) == better
    assert verdict.converged is False or expected <= 0.5
    assert result.verdict() == verdict
    assert result.doubts == verdict.doubts


@pytest.fixture
def built(monkeypatch):
    """How often each of what a run is made of is built."""
    counts = Counter()

    def count(kind, what, method="__init__"):
        made = getattr(kind, method)

        @functools.wraps(made)
        def counted(*given, **more):
            counts[what] += 1
            return made(*given, **more)

        monkeypatch.setattr(kind, method, counted)

    count(Domain, "domain")
    count(pgt.Heat, "equation")
    count(Observations, "readings", "from_arrays")  # which checks them
    for kind in (pgt.PINN, pgt.SIREN):
        count(kind, "network")
    return counts


def test_a_sound_fit_exits_with_0_and_builds_each_part_once(tmp_path, built):
    random = np.random.default_rng(0)
    x, t = random.uniform(size=(2, 120))
    u = x + 0.01 * random.normal(size=120)  # x is a solution; at the noise the error comes to rest
    rows = [",".join(f"{value:.6g}" for value in row) for row in zip(x, t, u, strict=True)]
    (tmp_path / "sensors.csv").write_text("\n".join(["x,t,u", *rows]) + "\n")
    assert command("init", "heat", "-o", tmp_path / "run.toml").exit_code == 0
    settings = (
        "model={name='pinn', width=8, layers=2}", "output={grid={x=5,t=4},formats=['nc']}",
        "training={steps=400, collocation=16, check_every=40, learning_rate=0.01, polish=false}",
    )  # fmt: skip
    overrides = [word for setting in settings for word in ("--set", setting)]
    result = command("fit", tmp_path / "run.toml", "-o", tmp_path / "out", *overrides)
    assert result.exit_code == 0, result.output
    assert "did not converge" not in said(result)
    numbers = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert numbers["converged"] is True
    assert numbers["held_out"]["u"]["of_spread"] < 0.1
    assert built == {"domain": 1, "equation": 1, "readings": 1, "network": 1}


def test_predict_on_a_grid_and_at_points(folder):
    grid = command(
        "predict", folder / "out", "--grid", "x=5,t=0:1:3", "-o", folder / "grid.nc",
        "--quantities", "u,u_x",
    )  # fmt: skip
    assert grid.exit_code == 0, grid.output
    field = xr.open_dataset(folder / "grid.nc").load()
    assert dict(field.sizes) == {"t": 3, "x": 5}
    assert set(field.data_vars) == {"u", "u_x"}
    (folder / "points.csv").write_text("x,t\n0,0\n0.5,1\n")
    points = command(
        "predict", folder / "out", "--points", folder / "points.csv", "-o", folder / "v.csv"
    )
    assert points.exit_code == 0, points.output
    rows = (folder / "v.csv").read_text().splitlines()
    assert rows[0].split(",") == ["x", "t", "u"]
    assert float(rows[1].split(",")[2]) == pytest.approx(float(field.u[0, 0]), abs=1e-5)


def test_a_folder_in_use_is_not_overwritten(folder):
    taken = command("fit", folder / "run.toml", "-o", folder / "out", *QUICK, *SIREN)
    assert taken.exit_code == 2
    assert "--resume" in said(taken)
    resumed = command("fit", folder / "run.toml", "-o", folder / "out", "--resume", *QUICK, *SIREN)
    assert resumed.exit_code in (0, 3), resumed.output
    before = {path: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}
    changes = ("pde.diffusivity=0.02", "model.frequency=9.0", "seed=1", "training.steps=16")
    for change in changes:
        again = ("fit", folder / "run.toml", "-o", folder / "out", "--resume", *QUICK, *SIREN)
        other = command(*again, "--set", change)
        assert other.exit_code == 2, other.output
        assert "holds another run" in said(other)
        assert "there," in said(other)
    assert before == {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()}
    nothing = command(
        "fit", folder / "run.toml", "-o", folder / "fresh", "--resume", *QUICK, *SIREN
    )
    assert nothing.exit_code == 2
    assert "no run to resume" in said(nothing)


def test_a_run_is_begun_anew_where_that_is_asked_for(folder, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)
    (out / ".pgt-field-0a1b2c3d.nc").write_text("left by a kill")
    (out / "notes.txt").write_text("mine")
    fit = ("fit", folder / "run.toml", "-o", out, *QUICK, *SIREN, "--set", "seed=1")
    assert "--overwrite" in said(command(*fit))
    with lock_folder(out):
        owner = command(*fit, "--overwrite")
    assert (owner.exit_code, "belongs to process" in said(owner)) == (2, True)
    anew = command(*fit, "--overwrite")
    assert anew.exit_code == 4, anew.output
    assert load(out).summary["seed"] == 1
    assert (out / "notes.txt").read_text() == "mine"
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
    known = read_manifest(out)
    written = {"reconstruction.safetensors", "field.png", METRICS, RUN_FILE, "report.html"}
    assert written <= set(known)
    assert "notes.txt" not in known
    # A page that is written anew is not taken for damaged.
    assert command("report", out).exit_code == command("info", out).exit_code == 0


def test_a_damaged_file_of_a_run_is_named(solved, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(solved / "out", out)
    (out / METRICS).write_bytes((out / METRICS).read_bytes()[:-9])
    for words in (("info", out), ("report", out), ("predict", out, "-o", "a.nc", "--grid", "x=3")):
        result = command(*words)
        assert result.exit_code == 2
        assert "metrics.json: damaged or changed" in said(result)


def test_an_interrupt_says_how_to_go_on(folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "run_plan", interrupted)
    again = ("fit", folder / "run.toml", "-o", folder / "out", "--resume", *QUICK, *SIREN)
    saved, nothing = (
        command(*again),
        command("fit", folder / "run.toml", "-o", folder / "no", *QUICK, *SIREN),
    )
    assert saved.exit_code == nothing.exit_code == 130
    assert "--resume" in said(saved)
    assert "nothing was saved yet" in said(nothing)


def test_an_unwritable_folder_is_refused_before_training(tmp_path):
    write_readings(tmp_path / "sensors.csv")
    command("init", "heat", "-o", tmp_path / "run.toml")
    (tmp_path / "file").write_text("")
    result = command("fit", tmp_path / "run.toml", "-o", tmp_path / "file" / "out", *QUICK)
    assert result.exit_code == 2
    assert "cannot write" in said(result)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        pytest.param(
            ("--set", SMALL, "--set", "training.seconds=4"),
            "with 90 % between",
            marks=pytest.mark.slow,
        ),
        ((*QUICK, *SIREN, "--set", "training.polish=false"), "For their intervals write a table"),
    ],
    ids=["known", "unknown"],
)
def test_a_coefficient_has_its_interval_without_error_bars_where_it_is_known(
    tmp_path, settings, words
):
    write_readings(tmp_path / "sensors.csv", n=40)
    assert command("init", "heat", "-o", tmp_path / "run.toml").exit_code == 0
    unknown = ("--set", "pde.diffusivity={unknown=true, initial=0.05, positive=true}")
    result = command("fit", tmp_path / "run.toml", "-o", tmp_path / "out", *settings, *unknown)
    assert words in said(result)
    numbers = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert ("intervals" in numbers) is words.startswith("with")


CLOSED = ("--set", "method='closed-form'")


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A run in closed form, with nothing but what is needed."""
    here = tmp_path_factory.mktemp("solved")
    write_readings(here / "sensors.csv", n=40)
    command("init", "heat", "-o", here / "run.toml")
    result = command("fit", here / "run.toml", "-o", here / "out", "--set", SMALL, *CLOSED)
    assert result.exit_code == 0, result.output
    (here / "said.txt").write_text(said(result))
    return here


# ------------------------------------------------------------------------ an output that fails

EVERYTHING = {
    "checksums.sha256", "convergence.png", "field.csv", "field.nc", "field.png", "metrics.json",
    "reconstruction.json", "reconstruction.safetensors", "report.html", "run.toml",
}  # fmt: skip
FULL = OSError(errno.ENOSPC, "No space left on device")
ODD = ValueError("zip() argument 2 is longer")


def failing(error):
    def fail(*given, **more):
        raise error

    return fail


@pytest.mark.parametrize(
    ("broken", "lost"),
    [
        ({"pgt.plots.field": ODD, "pgt.runs.fit.with_origins": ODD}, {"field.png"}),
        ({"pgt.plots.convergence": ODD, "pgt.runs.fit.numbers": ODD},
         {"convergence.png", "metrics.json"}),
        ({"pgt.plots.save": FULL, "pgt.io.write_field": FULL},
         {"field.png", "convergence.png", "field.nc", "field.csv"}),
        ({"pgt.runs.fit.report_data": ODD, "pgt.runs.fit.write_manifest": FULL},
         {"report.html", "checksums.sha256"}),
        ({"pgt.runs.fit.write_report": FULL}, {"report.html"}),
        ({"pgt.report.page.agreement": ODD, "pgt.report.page.payload": ODD,
          "pgt.runs.report.judge": ODD, "pgt.runs.report._tables": ODD}, set()),
        ({"pgt.reconstruction.result.evidence_of": ODD}, set()),
    ],
    ids=lambda given: ", ".join(name.split(".")[-1] for name in given) if isinstance(given, dict) else "",
)  # fmt: skip
def test_an_output_that_fails_loses_nothing_else(solved, tmp_path, monkeypatch, broken, lost):
    out = tmp_path / "out"
    monkeypatch.setattr(fitting, "run_plan", lambda task, **_: load(solved / "out"))
    for place, error in broken.items():
        monkeypatch.setattr(place, failing(error))
    formats = "output={grid={x=5,t=4},formats=['png','nc','csv']}"
    found = command("fit", solved / "run.toml", "-o", out, "--set", formats)
    assert found.exit_code == 5, found.output
    assert isinstance(found.exception, SystemExit)
    assert said(found).count("could not be made") >= max(len(broken), len(lost))
    for words in (*{str(error.args[-1]) for error in broken.values()}, str(out)):
        assert words in said(found)
    for name in lost:
        assert f"{name} could not be made" in said(found)
    names = {path.name for path in out.iterdir() if path.is_file()}
    assert names == EVERYTHING - lost
    monkeypatch.undo()
    assert load(out).at(x=0.5, t=0.5).u.size == 1


@pytest.mark.parametrize("when", ["while it trains", "when it is saved"])
def test_a_full_disk_is_one_sentence(folder, tmp_path, monkeypatch, when):
    trains = when == "while it trains"
    place = (
        "pgt.methods.first_order.training_loop.save_checkpoint"
        if trains
        else "pgt.core.serialise._replace"
    )
    full = OSError(errno.ENOSPC, "No space left on device", "the-file")
    run = (folder / "run.toml", "-o", tmp_path / "out", *QUICK, *SIREN)
    monkeypatch.setattr(fitting, "sign", lambda *where: None)  # which writes before the training
    if not trains:
        monkeypatch.setattr(fitting, "run_plan", lambda task, **_: load(folder / "out"))
    monkeypatch.setattr(place, failing(full))
    found = command("fit", *run)
    assert found.exit_code == 2
    assert isinstance(found.exception, SystemExit)
    assert "the-file: No space left on device" in said(found)


def test_an_equation_without_readings_is_solved(tmp_path):
    """From a run file without [observations] to the folder of a fit."""
    walls = '[[conditions]]\nkind = "dirichlet"\naxis = "x"\nu = 0.0\n'
    start = '[[conditions]]\nkind = "initial"\nu = "sin(pi*x)"\n'
    text = (
        '[domain]\nx = [0, 1]\nt = [0, 1]\n\n[pde]\nname = "heat"\ndiffusivity = 0.1\n\n'
        f"{start}\n{walls}\n[output]\ngrid = {{x = 5, t = [1.0]}}\n"
    )
    (tmp_path / "run.toml").write_text(text)
    assert command("check", tmp_path / "run.toml").exit_code == 0
    result = command("fit", tmp_path / "run.toml", "-o", tmp_path / "out")
    assert result.exit_code == 0, said(result)
    numbers = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert numbers["model"] == "Solver"
    assert (tmp_path / "out" / "report.html").exists()
    found = pgt.Reconstruction.load(tmp_path / "out")
    assert found.at(x=0.5, t=1.0).u.item() == pytest.approx(np.exp(-0.1 * np.pi**2), abs=1e-6)
    (tmp_path / "open.toml").write_text(text.replace(walls, ""))
    refused = command("fit", tmp_path / "open.toml", "-o", tmp_path / "other")
    assert refused.exit_code != 0
    assert "open.toml" in said(refused)
    assert "Dirichlet" in said(refused)
    folds = command("fit", tmp_path / "run.toml", "-o", tmp_path / "third", "--folds", "5")
    assert folds.exit_code != 0
    assert "Traceback" not in said(folds)


def test_compare_info_and_report(folder):
    same = command("compare", folder / "out" / "field.nc", folder / "out" / "field.nc")
    assert same.exit_code == 0, same.output
    assert "0.000e+00" in same.output
    info = command("info", folder / "out")
    assert info.exit_code == 0, info.output
    assert "54 fitted, 6 held out" in said(info)
    (folder / "out" / "report.html").unlink()
    again = command("report", folder / "out")
    assert again.exit_code == 0, again.output
    assert (folder / "out" / "report.html").is_file()


def test_a_run_that_was_solved_is_not_overwritten(solved):
    taken = command("fit", solved / "run.toml", "-o", solved / "out")
    assert taken.exit_code == 2
    assert "--resume" in said(taken)
