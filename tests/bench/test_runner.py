"""The tables: every run of every table works, sweeps continue, and budgets are what they say."""

import json
import os
from pathlib import Path

import jax
import pytest
from conftest import let_go_of_compiled_programs
from typer.testing import CliRunner

import pgt
from pgt.bench import runner
from pgt.bench.cost import step_cost
from pgt.bench.experiments import TABLES, Run, runs
from pgt.bench.methods import METHODS, REFERENCES
from pgt.bench.presets import PRESETS, SCALES, scale_of
from pgt.bench.problems import ONE_MODE, HeatProblem, WakeProblem, middle_of
from pgt.bench.runner import record_path, sweep, training_for
from pgt.cli import app
from pgt.cli.bench import TABLES as COMMANDS
from pgt.nn.frozen import count_parameters
from pgt.training.assemble import assemble

DOCUMENT = Path(__file__).parents[2] / "docs" / "results.md"


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """One folder for all tables and both workers: some runs belong to several tables."""
    folder = tmp_path_factory.getbasetemp()
    return (folder.parent if os.environ.get("PYTEST_XDIST_WORKER") else folder) / "records"


@pytest.mark.parametrize(
    "table",
    [pytest.param(t, marks=[] if t == "heat" else pytest.mark.slow) for t in TABLES],
)
def test_every_run_of_a_table_leaves_a_whole_record(table, records):
    todo = runs(table, "smoke")
    sweep(todo, records, lambda run, record: let_go_of_compiled_programs())
    for run in todo:
        record = json.loads(record_path(records, run).read_text())
        assert record["run"]["name"] == run.name
        assert "failed" not in record, record["failed"]
        assert record["errors"]["volume"]["overall"]["stacked"] > 0
        assert {"device", "processor", "versions", "commit"} <= set(record)
        if run.method in REFERENCES:
            continue
        assert record["residual"] > 0
        assert record["train_error"] >= 0
        assert record["cost"]["flops"] > 0
        assert record["parameters"] > 0
        assert len(record["history"]["step"]) == len(record["history"]["loss"]["data"]) > 0
        assert set(record["sigma_ratio"] or {}) == (
            {"u", "v"} if run.method == "pgt-uw" and run.problem.noise else set()
        )


def test_a_sweep_continues_where_it_stopped(tmp_path, monkeypatch):
    todo = runs("heat", "smoke", ("rbf",))
    sweep(todo[:1], tmp_path, lambda run, record: None)
    executed, told = [], []
    real = runner.execute
    monkeypatch.setattr(runner, "execute", lambda run: executed.append(run) or real(run))
    sweep(todo, tmp_path, lambda run, record: told.append((run, record is None)))
    assert executed == todo[1:]
    assert told == [(todo[0], False), (todo[1], True), (todo[1], False)]


def test_an_interrupted_run_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(run):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(runs("heat", "smoke", ("rbf",)), tmp_path, lambda run, record: None)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("table", TABLES)
def test_a_name_means_one_run(table, preset):
    todo = runs(table, preset, seeds=(0, 1))
    assert len({run.name for run in todo}) == len(set(todo)) == len(todo)
    assert all(run.method in {**METHODS, **REFERENCES} for run in todo)
    assert [run.seed for run in todo] == sorted(run.seed for run in todo)


def test_smoke_leaves_out_no_method_and_compiles_quickly():
    todo = [run for table in TABLES for run in runs(table, "smoke")]
    assert {run.method for run in todo} == {**METHODS, **REFERENCES}.keys()
    assert {run.recipe for run in todo} == {"ours", "authors"}
    # Runs of one shape share a program: as many readings everywhere, and as many of them fitted.
    assert len({run.problem.readings for run in todo}) == 1
    fitted = [run for run in todo if run.method in METHODS]
    scales = {kind: scale_of(kind, "smoke") for kind in ("heat", "wake")}
    held_out = {training_for(r, METHODS[r.method], scales[r.problem.kind]).hold_out for r in fitted}
    assert held_out == {0.0}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.usefixtures("optimised")
def test_only_smoke_is_compiled_without_optimisation(preset, monkeypatch):
    seen = {}

    def fit(run, setup):
        seen["quick"] = jax.config.read("jax_disable_most_optimizations")
        return None, {}

    monkeypatch.setattr(runner, "_fit", fit)
    before = jax.config.read("jax_disable_most_optimizations")
    runner.execute(Run(preset, HeatProblem(20), "pgt"))
    assert seen["quick"] == (preset == "smoke")
    assert jax.config.read("jax_disable_most_optimizations") == before


def test_the_tables_of_the_paper_are_complete():
    wake = {(run.method, run.recipe, run.budget) for run in runs("wake", "gpu")}
    rivals = {"pinn", "siren", "siren-pde", "wire", "wire-pde", "fno", "deeponet", "pinnsformer"}
    ways = {(recipe, budget) for recipe in ("ours", "authors") for budget in ("seconds", "steps")}
    for method in rivals | {"pgt", "pgt-anchors"}:
        assert {(r, b) for m, r, b in wake if m == method} == ways
    assert len(runs("ablation", "gpu")) == 7
    levels = {run.problem.noise for run in runs("noise", "gpu")}
    assert levels == {0.0, 0.01, 0.02, 0.05, 0.10, 0.20}
    assert {run.problem.readings for run in runs("gamma", "gpu")} == {75, 150, 500, 1500}
    assert {run.problem.readings for run in runs("heat", "cpu")} == {100, 200, 500}


def settings(method="pgt", recipe="ours", budget="seconds", problem=None, preset="cpu"):
    problem = problem or HeatProblem()
    run = Run(preset, problem, method, recipe, budget)
    return training_for(run, METHODS[method], scale_of(problem.kind, preset))


def test_recipes_and_budgets():
    scale = scale_of("heat", "cpu")
    ours, authors = settings(), settings(recipe="authors")
    assert ours.optimiser == "soap"
    assert ours.seconds + ours.polish.seconds == pytest.approx(scale.seconds)
    assert (authors.optimiser, authors.learning_rate, authors.polish) == ("adam", 1e-3, False)
    assert authors.seconds == scale.seconds
    for recipe in ("ours", "authors"):
        steps = settings(recipe=recipe, budget="steps")
        assert (steps.steps, steps.seconds, steps.polish) == (scale.steps, None, False)
    assert settings("siren").collocation == 0 < settings("siren-pde").collocation
    noisy = settings(problem=HeatProblem(noise=0.05))
    assert noisy.polish.evidence
    assert not ours.polish.evidence
    assert settings(problem=WakeProblem(noise=0.1)).hold_out > 0 == settings().hold_out


def test_the_page_names_the_budgets_of_the_presets():
    text = DOCUMENT.read_text(encoding="utf-8")
    heat, wake = SCALES["heat", "cpu"], SCALES["wake", "gpu"]
    assert f"{heat.seconds:.0f} s on heat, {wake.seconds:.0f} s on the wake" in text
    assert f"takes {100 * heat.polish_share:.0f} % of the" in text
    assert heat.steps == wake.steps == 1000
    assert "1000 steps for everybody" in text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("nope", "cpu"), "there is no table 'nope'; choose one of heat"),
        (("heat", "cpu", ("nope",)), "no method is called nope"),
    ],
)
def test_wrong_names_are_listed(wrong, message):
    with pytest.raises(pgt.InputError, match=message):
        runs(*wrong)


def test_a_wrong_preset_is_named():
    with pytest.raises(pgt.InputError, match="choose one of smoke, cpu, gpu"):
        scale_of("heat", "huge")


# ------------------------------------------------------------------------------- problems


def test_noise_of_the_wake_is_the_papers():
    """One σ = η std(u) on u and v, none on p; the same places as without noise."""
    clean, noisy = (WakeProblem(400, noise=n).load(3) for n in (0.0, 0.2))
    added = noisy.observations.values - clean.observations.values
    sigma = 0.2 * clean.observations.values[:, 0].std()
    assert noisy.noise["u"] == noisy.noise["v"] == pytest.approx(sigma)
    assert added[:, :2].std() == pytest.approx(sigma, rel=0.1)
    assert (added[:, 2] == 0).all()
    assert (clean.observations.points == noisy.observations.points).all()


def test_a_hidden_field_is_never_read():
    hidden = WakeProblem(50, hidden=("p",)).load(0)
    assert hidden.observations.fields == ("u", "v", "p")
    assert not hidden.observations.mask[:, 2].any()
    assert hidden.observations.mask[:, :2].all()


def test_the_given_values_of_heat_are_its_own():
    setup = HeatProblem(20, ONE_MODE).load(0)
    truth = pgt.datasets.heat(diffusivity=0.01)
    judged = HeatProblem(20).judge(setup, lambda x, t: truth.sel(x=x, t=t))
    assert judged["volume"]["relative_l2"]["u"] == 0
    assert {condition.kind for condition in setup.conditions} == {"bc", "ic"}
    assert HeatProblem(20, known=False).load(0).conditions == ()


def test_the_middle_snapshot_survives_thinning():
    setup = WakeProblem(30).load(0, every=20)
    assert float(middle_of(setup.truth).t[0]) == pytest.approx(10.0)


# ------------------------------------------------------------------------------- cost and command


def test_flops_of_a_step_are_those_of_its_matrix_products():
    """Data only, Adam: forward, and backward twice that; two operations a weight and reading."""
    setup = HeatProblem(200, known=False).load(0)
    model = pgt.PINN(pgt.Scaling.fit(setup.observations, setup.domain), width=64, layers=4)
    training = pgt.Training(optimiser="adam", collocation=0, hold_out=0.0)
    task = assemble(setup.observations, setup.pde, setup.domain, model=model, training=training)
    cost = step_cost(task)
    expected = 3 * 2 * count_parameters(model) * 200
    assert 0.8 * expected < cost["flops"] < 1.5 * expected
    assert cost["peak_bytes"] > 4 * 3 * count_parameters(model)  # weights and Adam's two moments


def command(*words):
    return CliRunner().invoke(app, ["bench", *words])


def test_the_command_prints_a_summary(tmp_path):
    options = ("--preset", "smoke", "--models", "rbf", "--records", str(tmp_path))
    first, again = command("heat", *options), command("heat", *options)
    assert first.exit_code == again.exit_code == 0, first.output
    assert "heat-20.rbf.seed0" in first.output
    assert len(list((tmp_path / "smoke").glob("*.json"))) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("heat", "--preset", "huge"), "choose one of smoke, cpu, gpu"),
        (("heat", "--models", "pgtt"), "no method is called pgtt"),
        (("results", "--records", "nowhere", "--document", "none.md"), "none.md"),
    ],
)
def test_mistakes_are_messages(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = command(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_commands_and_tables_agree():
    assert list(COMMANDS) == list(TABLES)


def test_the_audit_prints_every_data_set():
    result = command("audit")
    assert result.exit_code == 0, result.output
    for name in ("heat", "burgers", "travelling wave", "advected Gaussian", "cylinder wake"):
        assert name in result.output
