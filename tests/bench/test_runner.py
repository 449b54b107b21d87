"""The tables: every run of every table works, and sweeps continue."""

import json
import os

import pytest
from compiled_programs import let_go_of_compiled_programs

from pgt_bench import runner
from pgt_bench.experiments import TABLES, has_recipe, runs
from pgt_bench.methods import REFERENCES
from pgt_bench.runner import groups, record_path, sweep


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """One folder for all tables and both workers: some runs belong to several tables."""
    folder = tmp_path_factory.getbasetemp()
    return (folder.parent if os.environ.get("PYTEST_XDIST_WORKER") else folder) / "records"


@pytest.mark.parametrize(
    ("table", "methods"),
    [("heat", ("rbf", "pinn")), *(pytest.param(t, (), marks=pytest.mark.slow) for t in TABLES)],
)
def test_every_run_of_a_table_leaves_a_whole_record(table, methods, records):
    todo = runs(table, "smoke", methods)
    if methods:  # of some methods, those recipes that compile quickly
        todo = [run for run in todo if run.method in REFERENCES or run.recipe == "authors"]
        assert {run.method for run in todo} == set(methods)
    assert todo
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
        assert record["parameters"] > 0
        if not has_recipe(run.method):
            continue
        assert record["cost"]["flops"] > 0
        assert len(record["history"]["step"]) == len(record["history"]["loss"]["data"]) > 0
        assert set(record["sigma_ratio"] or {}) == (
            {"u", "v"} if run.method == "pgt-uw" and run.problem.noise else set()
        )


def test_a_sweep_continues_where_it_stopped(tmp_path, monkeypatch):
    todo = runs("heat", "smoke", ("rbf",))
    sweep(todo[:1], tmp_path, lambda run, record: None)
    executed, told = [], []
    real = runner.execute
    monkeypatch.setattr(runner, "execute", lambda *given: executed.extend(given[0]) or real(*given))
    sweep(todo, tmp_path, lambda run, record: told.append((run, record is None)))
    assert executed == todo[1:]
    assert told == [(todo[0], False), (todo[1], True), (todo[1], False)]


def test_seeds_are_trained_at_once_where_nothing_is_solved_one_by_one(tmp_path):
    todo = [run for seed in (0, 1, 2) for run in runs("wake", "gpu", ("pinn", "rbf"), (seed,))]
    found = {(g[0].method, g[0].recipe, g[0].budget): len(g) for g in groups(todo, tmp_path)}
    assert found["pinn", "ours", "seconds"] == found["pinn", "authors", "steps"] == 3
    assert found["pinn", "newton", "seconds"] == found["rbf", "ours", "seconds"] == 1
    kernels = groups(runs("gamma", "gpu", seeds=(0, 1, 2)), tmp_path)
    assert {len(group) for group in kernels} == {6}, "with noise and without: as many steps"
    noisy = groups(runs("noise", "gpu", seeds=(0, 1, 2)), tmp_path)
    assert {len(group) for group in noisy} == {3}, "in equal seconds every level has its own"
