"""Runs are kept seed by seed, and the summary counts what they say."""

import json

import pytest

from pgt.core.errors import InputError
from pgt_bench.generator import comparison, draw_kind, kind_of
from pgt_bench.generator.comparison import Line, append, compare, read, report, seeds_of
from pgt_bench.zoo.methods import OURS


def made(seed=0, error=0.1, stated=0.1, rivals=None, took=5.0, **more):
    """A record with numbers of our choice; no error: a fit that failed."""
    ours = {"errors": {"measured": error, "fields": {"u": error}, "hidden": {}}, "took": took,
            "stated_by_field": {"u": stated}, "doubts": []}  # fmt: skip
    if error is None:
        ours = {"failed": "ValueError: no", "failed_at": "fit.py:7", "took": took}
    others = {"gp": 0.2, "rbf": 0.4} if rivals is None else rivals
    shown = {n: {"errors": {"measured": e}, "took": 1.0} for n, e in others.items()}
    return {"seed": seed, "seconds": 10.0, "kind": "heat", "about": "a rod", "readings": 30,
            "noise": {"u": 0.02}, "commit": "abc", "ours": ours, "rivals": shown} | more  # fmt: skip


@pytest.fixture
def answers(monkeypatch):
    """Which methods were asked for what, in the place of fits."""
    asked = []

    def answered(method, what):
        asked.append((what.seed, method))
        return made()["ours"], None

    monkeypatch.setattr(comparison, "answered", answered)
    monkeypatch.setattr(comparison, "draw", lambda seed: draw_kind("layer", seed))
    return asked


def test_what_is_stored_is_not_run_again(answers, tmp_path):
    path = tmp_path / "runs" / "all.jsonl"
    compare((3, 4), 10.0, path, ("rbf",))
    assert answers == [(3, OURS), (3, "rbf"), (4, OURS), (4, "rbf")]
    told = []
    found = compare((4, 5), 10.0, path, ("rbf",), told.append)
    assert answers[4:] == [(5, OURS), (5, "rbf")]
    assert [record["seed"] for record in found] == [record["seed"] for record in told] == [4, 5]
    assert [json.loads(line)["seed"] for line in path.read_text().splitlines()] == [3, 4, 5]
    assert all(record["commit"] for record in read(path))


def test_a_line_that_was_not_finished_is_run_again(answers, tmp_path):
    path = tmp_path / "all.jsonl"
    append(path, made(3))
    with path.open("a") as file:
        file.write('{"seed": 4, "kind"')
    assert [record["seed"] for record in read(path)] == [3]
    compare((3, 4), 10.0, path, ("rbf",))
    assert [record["seed"] for record in read(path)] == [3, 4]


def test_files_of_other_runs_are_refused(answers, tmp_path):
    path = tmp_path / "all.jsonl"
    append(path, made())
    with pytest.raises(InputError, match=r"all\.jsonl.* 10 s"):
        compare((0,), 20.0, path, ("rbf",))
    path.write_text("nonsense\n")
    with pytest.raises(InputError, match=r"all\.jsonl, line 1"):
        read(path)


@pytest.mark.parametrize("text", ["", "a", "3:x", "-1", "5:5"])
def test_seeds_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="--seeds"):
        seeds_of(text)


def test_the_summary_counts():
    records = [
        made(0, 0.1, 0.1), made(1, 0.8, 0.2, took=25.0), made(2, 0.05, 0.5), made(3, None),
    ]  # fmt: skip
    said = report(records)
    assert "Ahead of every rival: 2 of 4" in said
    assert "our error over theirs: 0.79" in said  # (1/2 · 4 · 1/4)^(1/3)
    assert "Of 3 stated errors 33 % within 2 times" in said
    assert "33 % more than 3 times too small" in said
    assert "33 % more than 5 times too large" in said
    assert "2.50 at most" in said
    assert "Failed: 1\n  seed 3 (heat): ValueError: no at fit.py:7" in said
    assert "tuning" in said
    assert "reporting" in report([made(1000)])


def test_a_problem_is_fitted_and_compared(tmp_path):
    seed = next(seed for seed in range(100) if kind_of(seed) == "layer")
    (record,) = compare((seed,), 5.0, tmp_path / "all.jsonl", ("rbf",))
    assert "failed" not in record["ours"]
    assert record["kind"] == "layer"
    assert record["ours"]["stated_by_field"].keys() == {"u"}
    assert isinstance(record["ours"]["doubts"], list)
    assert Line(record).ratio is not None
    assert json.dumps(record) == json.dumps(read(tmp_path / "all.jsonl")[0])
