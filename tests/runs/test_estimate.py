"""`pgt check` says how much memory and time a run will take, from a step that it compiles and times."""

import dataclasses
import re

import equinox as eqx
import pytest
from typer.testing import CliRunner

import pgt
from pgt.bench.cost import CompiledStep
from pgt.cli import app
from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.nn.frozen import count_parameters
from pgt.runs.check import prepare
from pgt.runs.estimate import ITERATIONS, MOST_STEPS, _length, estimate

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


def test_what_a_run_file_leaves_out_of_a_pgt_suits_the_problem(run_file):
    run = load_run(run_file)
    given = {"width": 4, "heads": 1, "blocks": 1, "decoder_width": 4}
    parts = Parts(run)
    suited = pgt.default_model(parts.observations, parts.pde, parts.domain, **given)
    assert eqx.tree_equal(parts.model(0), suited)
    own = pgt.PGT(suited.scaling, suited.kernel, **given)  # with the class's own number of layers
    assert count_parameters(own) > count_parameters(suited)


def test_check_prints_memory_and_time(run_file):
    before = set(run_file.parent.iterdir())
    result = CliRunner().invoke(app, ["check", str(run_file)])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for words in ("memory of a step", "MiB", "time of a step", "time (estimate)"):
        assert words in said
    assert "timing the polish" in said
    assert set(run_file.parent.iterdir()) == before


def test_a_quick_check_compiles_nothing(run_file, monkeypatch):
    monkeypatch.setattr("pgt.runs.estimate.compile_step", None)
    result = CliRunner().invoke(app, ["check", str(run_file), "--quick"])
    assert result.exit_code == 0, result.output
    assert "coverage" in result.output
    assert "time (estimate)" not in result.output


def test_the_time_is_that_of_the_budget(run_file, monkeypatch):
    """Steps that take 10 ms each, iterations that take 1 s each after 5 s of compiling."""
    now, counts = [100.0], []

    def steps(count):
        counts.append(count)
        now[0] += 0.01 * count

    def polish(model, pde, problem, settings, held_out, report):
        assert settings.iterations == ITERATIONS
        for seconds in (5.0, 1.0, 1.0):
            now[0] += seconds
            report(0, 1.0)

    step = CompiledStep(steps, None, 2.0**20, 3.0)
    monkeypatch.setattr("pgt.runs.estimate.compile_step", lambda *_: step)
    monkeypatch.setattr("pgt.runs.estimate.polish", polish)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    _, task = prepare(load_run(run_file, ["training.steps=2000"]))
    rows = dict(estimate(task, lambda line: None))
    assert counts == [1, MOST_STEPS]
    assert rows["memory of a step"] == "1 MiB"
    assert "10 ms, after 3 s" in rows["time of a step"]
    # 2000 steps of 10 ms, 3 s of compiling; 5 s and 3 more iterations of 1 s
    assert re.match(r"about 31 s .*polish 8 s$", rows["time (estimate)"])
    training = dataclasses.replace(task.training, seconds=60.0, polish=False)
    timed = dataclasses.replace(task, training=training)
    assert dict(estimate(timed, print))["time (estimate)"] == "about 63 s on this machine"


def test_what_is_solved_in_closed_form_has_no_step_to_time(run_file, monkeypatch):
    monkeypatch.setattr("pgt.runs.estimate.compile_step", None)
    monkeypatch.setattr("pgt.runs.estimate.polish", None)
    _, named = prepare(load_run(run_file, ["model={name='features'}"]))
    words = "seconds: solved in closed form"
    assert estimate(named, print) == [("time (estimate)", words)]
    suited = dataclasses.replace(named, rival=lambda: named)
    ((_, longer),) = estimate(suited, print)
    assert longer == f"{words}; a network after it, should sines not follow the field"


def test_second_order_steps_from_the_start_are_all_that_is_timed(run_file, monkeypatch):
    monkeypatch.setattr("pgt.runs.estimate.compile_step", None)
    monkeypatch.setattr("pgt.runs.estimate._seconds_of_polish", lambda *_: 42.0)
    settings = ["model={name='pinn', width=4, layers=2}", "training={collocation=8}"]
    _, task = prepare(load_run(run_file, settings))
    assert task.training.steps == 0
    assert estimate(task, print) == [("time (estimate)", "about 42 s on this machine")]


@pytest.mark.parametrize(
    ("seconds", "words"), [(42, "42 s"), (99, "99 s"), (240, "4 minutes"), (9000, "2.5 hours")]
)
def test_lengths(seconds, words):
    assert _length(seconds) == words
