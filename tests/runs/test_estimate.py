"""`pgt check` says how much memory and time a run will take, within seconds."""

import dataclasses
import re

import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.config import load_run
from pgt.runs.check import prepare
from pgt.runs.estimate import (
    LeastSquaresSize,
    Speed,
    Work,
    estimate,
)

RUN = """
[observations]
file = "sensors.csv"
coords = ["x", "t"]
fields = ["u"]

[domain]
x = [0, 1]
t = [0, 1]

[pde]
name = "heat"
diffusivity = 0.01

[model]
name = "pgt"
width = 4
heads = 1
blocks = 1
decoder_width = 4

[training]
collocation = 8
optimiser = "adam"
polish = {iterations = 4, points = 16}
"""


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimate")
    readings = pgt.sample(pgt.datasets.heat(), 20)
    rows = [f"{x},{t},{u}" for (x, t), (u,) in zip(readings.points, readings.values, strict=True)]
    (folder / "sensors.csv").write_text("\n".join(["x,t,u", *rows]) + "\n")
    (folder / "run.toml").write_text(RUN)
    return folder / "run.toml"


def test_check_prints_memory_and_time(run_file):
    before = set(run_file.parent.iterdir())
    result = CliRunner().invoke(app, ["check", str(run_file)])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for words in ("memory of a step", "MiB", "time of a step", "time (estimate)"):
        assert words in said
    for words in ("memory of the polish", "of which the polish"):
        assert words in said
    assert set(run_file.parent.iterdir()) == before


def test_the_time_is_that_of_the_budget(run_file, monkeypatch):
    """Steps that take 10 ms each, and an iteration of the polish that takes 1 s."""
    task = prepare(load_run(run_file, ["training.steps=2000"]))[1].first
    monkeypatch.setattr("pgt.runs.estimate.measured_speed", lambda: Speed(1.0, 2.0))
    monkeypatch.setattr("pgt.runs.estimate._work_of_step", lambda task: Work(0.0, 0.02))
    monkeypatch.setattr(LeastSquaresSize, "work", lambda rows: Work(1.0, 0.0))
    rows = dict(estimate(task, lambda line: None))
    assert rows["memory of a step"] == "about 0.246 MiB"
    assert "10 ms, after some 15 s" in rows["time of a step"]
    # 2000 steps of 10 ms and 4 iterations of 1 s, after 15 s of compiling each
    assert re.match(r"about 54 s .*polish 19 s$", rows["time (estimate)"])
    training = dataclasses.replace(task.training, seconds=60.0, polish=False)
    timed = dataclasses.replace(task, training=training)
    assert dict(estimate(timed, print))["time (estimate)"] == "about 75 s on this machine"
