"""Cross-validation: every reading predicted by a fit without it, in Python and from the command line.

The record of a cross-validation, its errors by hand.
"""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.data.splits import folds
from pgt.runs.folder import FOLDS


def record(values=(3.0, 4.0, 0.0, np.nan), guess=(3.0, 5.0, 1.0, np.nan), fold=(0, 1, 1, -1)):
    """Readings of u, with p hidden."""
    places = {"x": np.linspace(0, 1, len(values))}
    readings = pgt.Observations.from_arrays(places, {"u": values}).aligned(("u", "p"))
    predictions = np.stack([guess, np.zeros(len(guess))], axis=1)
    return pgt.CrossValidation(readings, predictions, np.array(fold), by="reading")


def test_errors_by_hand():
    found = record()
    assert found.folds == 2
    assert set(found.errors) == {"u"}, "a field that was not measured has no error"
    error, size = found.errors["u"], np.sqrt(25 / 3)
    assert error.readings == 3
    assert error.rmse == pytest.approx(np.sqrt(2 / 3))
    assert error.relative == pytest.approx(np.sqrt(2) / 5)
    assert error.by_fold == pytest.approx((0.0, 1 / size))
    assert error.spread == pytest.approx(1 / size / np.sqrt(2))


def test_a_record_survives_the_disk(tmp_path):
    assert pgt.CrossValidation.load(tmp_path) is None
    found = record()
    found.save(tmp_path)
    again = pgt.CrossValidation.load(tmp_path)
    assert again is not None
    np.testing.assert_array_equal(again.predictions, found.predictions)
    assert again.errors == found.errors
    assert again.by == "reading"


module = sys.modules[
    "pgt.reconstruction.cross_validation"
]  # the function has its name in the folder
DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
BRIEF = pgt.Training(steps=6, collocation=16, check_every=3, polish=False)
SETTINGS = {"steps": 6, "collocation": 16, "check_every": 3, "polish": "false"}


def readings():
    return pgt.sample(pgt.datasets.heat(), 30, seed=0)


def network(found):
    return pgt.SIREN(pgt.Scaling.fit(found, DOMAIN), width=8, layers=2)


def validated(found, training=BRIEF, **more):
    given = {"folds": 3, "model": network(found), "training": training, "seed": 2} | more
    return pgt.cross_validate(found, pgt.Heat(0.01), DOMAIN, **given)


@pytest.fixture(scope="module")
def plain():
    return validated(readings())


def test_the_pooled_error_is_that_of_the_fits(plain):
    """By hand: three fits by the front door, asked at points they were not given."""
    found = readings()
    parts = folds(found, 3, seed=2)
    guess = np.full(len(found), np.nan)
    for rows in parts:
        others = found.take(np.setdiff1d(np.arange(len(found)), rows))
        result = pgt.reconstruct(
            others, pgt.Heat(0.01), DOMAIN, model=network(found), training=BRIEF, seed=2
        )
        guess[rows] = result.at(found.points[rows])["u"]
    np.testing.assert_allclose(plain.predictions[:, 0], guess, rtol=1e-4, atol=1e-5)
    error = plain.errors["u"]
    wrong, truth = guess - found.values[:, 0], found.values[:, 0]
    assert error.readings == 30
    assert error.rmse == pytest.approx(np.sqrt(np.mean(wrong**2)), rel=1e-4)
    assert error.relative == pytest.approx(np.linalg.norm(wrong) / np.linalg.norm(truth), rel=1e-4)
    by_fold = [np.sqrt(np.mean(wrong[r] ** 2) / np.mean(truth**2)) for r in parts]
    np.testing.assert_allclose(error.by_fold, by_fold, rtol=1e-4)
    assert error.spread == pytest.approx(np.std(by_fold, ddof=1), rel=1e-3)
    shares = [len(rows) / 30 for rows in parts]
    assert error.relative**2 == pytest.approx(np.dot(shares, np.square(error.by_fold)))


def killed_in_the_second_fit(monkeypatch) -> list:
    """Have the second of all fits interrupted; the list fills with the place of each."""
    real, calls = module.fit_task, []

    def killed(*given, **more):
        calls.append(more["checkpoint"])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given, **more)

    monkeypatch.setattr(module, "fit_task", killed)
    return calls


# ------------------------------------------------------------------------------- command line


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def said(result):
    return " ".join(result.output.split())


def fit(folder, *more):
    return command("fit", folder.parent / "run.toml", "-o", folder, "--folds", 3, *more)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A run file and a CSV; a run with three folds, and one that was killed after the first."""
    here = tmp_path_factory.mktemp("folds")
    found = readings()
    lines = [",".join(f"{v:.8g}" for v in row) for row in np.hstack([found.points, found.values])]
    (here / "sensors.csv").write_text("\n".join(["x,t,u", *lines]) + "\n")
    assert command("init", "heat", "-o", here / "run.toml").exit_code == 0
    text = (here / "run.toml").read_text()
    text = text.replace('#[model]\n#name = "pgt"', '[model]\nname = "siren"\nwidth = 8\nlayers = 2')
    text = text.split("[training]")[0] + "[training]\n"
    text += "".join(f"{name} = {value}\n" for name, value in SETTINGS.items())
    (here / "run.toml").write_text(text + '[output]\ngrid = {x = 5, t = 4}\nformats = ["nc"]\n')
    whole = fit(here / "whole")
    assert whole.exit_code in (0, 3), whole.output
    for words in ("fold 1 of 3: 20 readings", "fold 3 of 3", "3-fold: each reading"):
        assert words in said(whole)
    return here


def test_a_killed_run_goes_on_and_ends_the_same(home, monkeypatch):
    calls = killed_in_the_second_fit(monkeypatch)
    stopped = fit(home / "stopped")
    assert stopped.exit_code == 130
    assert "--resume --folds 3" in said(stopped)
    without = command("fit", home / "run.toml", "-o", home / "stopped", "--resume")
    assert without.exit_code == 2
    assert "was begun with --folds" in said(without)
    resumed = fit(home / "stopped", "--resume")
    assert resumed.exit_code in (0, 3), resumed.output
    assert "fold 1 of 3: finished before fold 2 of 3: 20 readings" in said(resumed)
    assert [place.name for place in calls] == ["fold-1", "fold-2", "fold-2", "fold-3"]
    one, two = (json.loads((home / n / "metrics.json").read_text()) for n in ("whole", "stopped"))
    for name in ("held_out", "cross_validation", "doubts", "converged"):
        assert one[name] == two[name]
    assert {path.suffix for path in (home / "stopped" / FOLDS).iterdir()} == {".safetensors"}


def test_folds_that_make_no_sense_are_refused(home):
    for count, message in ((1, "--folds"), (31, "cannot be divided into 31 parts")):
        wrong = command("fit", home / "run.toml", "-o", home / f"no{count}", "--folds", count)
        assert wrong.exit_code == 2
        assert message in said(wrong)
