"""Every hint in a message, followed: what it says to write works, and is written where it was read."""

import ast
import re
from pathlib import Path

import pytest
from broken import altered, csv

import pgt
from pgt.config import load_run
from pgt.runs.check import prepare
from pgt.uncertainty.intervals import MAX_REMAINING_STEP, _step_note

PACKAGE = Path(pgt.__file__).parent
# Where sentences are made that the command line and the report print.
SEEN_THERE = (
    "uncertainty/verdict.py", "uncertainty/convergence.py",
    "uncertainty/intervals.py", "uncertainty/misfits.py",
    "core/doubt.py", "data/splits.py",
    "problem/checkpoint.py", "report/sentences.py", "runs/check.py", "runs/fit.py",
)  # fmt: skip
PYTHON = re.compile(
    r"\b(Polish|Training|Posterior|Ensemble|reconstruct)\(|\bcheckpoint=|\bpgt\.[a-zA-Z]"
)


def test_the_command_line_is_told_nothing_that_is_python():
    for module in SEEN_THERE:
        tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in prose
        ]
        assert not [text for text in texts if PYTHON.search(text)], module


def prepared(folder, data=None, overrides=(), **sections):
    """A run file read and assembled, up to its training."""
    (folder / "run.toml").write_text(altered(**sections))
    (folder / "sensors.csv").write_text(data or csv())
    return prepare(load_run(folder / "run.toml", overrides))


def refused(folder, **given) -> str:
    with pytest.raises(pgt.InputError) as caught:
        prepared(folder, **given)
    return str(caught.value)


NETWORK = {"model": {"name": "pinn", "width": 4, "layers": 1}}


def test_a_polish_that_had_not_converged_is_given_more_iterations(tmp_path):
    assert "give training.polish more iterations" in _step_note(2 * MAX_REMAINING_STEP)
    _, plan = prepared(tmp_path, overrides=["training.polish.iterations=500"], **NETWORK)
    assert plan.first.training.polish.iterations == 500


def test_an_ensemble_of_sines_becomes_a_posterior(tmp_path):
    sines = {"model": {"name": "features"}}
    message = refused(tmp_path, error_bars={"name": "ensemble"}, **sines)
    assert 'name = "posterior"' in message
    prepared(tmp_path, error_bars={"name": "posterior"}, **sines)


def test_readings_outside_are_removed_or_the_domain_widened(tmp_path):
    outside = csv("1.5,0.5,1")
    assert "Remove them, or widen the domain" in refused(tmp_path, data=outside)
    prepared(tmp_path)
    prepared(tmp_path, data=outside, domain={"x": [0, 2], "t": [0, 1]})
