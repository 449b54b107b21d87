"""Runs leave records, and are not made twice."""

import pytest

from pgt.core.errors import InputError
from pgt_bench.zoo import runner
from pgt_bench.zoo.answers import Answer
from pgt_bench.zoo.methods import METHODS, Method, installed


@pytest.fixture
def perfect(monkeypatch):
    """A method that knows the truth, and one that fails."""

    def fails(asked):
        raise ValueError("out of luck\nand more")

    knows = Method("knows", lambda asked: Answer(asked.setup.truth, {"model": "oracle"}))
    monkeypatch.setitem(METHODS, "knows", knows)
    monkeypatch.setitem(METHODS, "fails", Method("fails", fails))


def test_what_is_asked_for():
    some = runner.runs(["layer", "beam"], ["rbf", "gp"], group="tuned", seeds=(0, 1))
    assert [run.name for run in some[:2]] == ["beam.rbf.60s.seed0", "beam.gp.60s.seed0"]
    assert {run.problem for run in some} == {"beam"}
    assert len(some) == 4
    assert len(runner.runs()) == 60 * len(installed())
    with pytest.raises(InputError):
        runner.runs(["beem"])


@pytest.mark.slow
def test_a_sweep_continues_where_it_stopped(perfect, tmp_path):
    todo, told = runner.runs(["layer"], ["knows", "fails"], seconds=2.5), []
    runner.sweep(todo, tmp_path, lambda run, record: told.append((run.method, record is None)))
    assert told == [("knows", True), ("knows", False), ("fails", True), ("fails", False)]
    again = []
    runner.sweep(todo, tmp_path, lambda run, record: again.append(record))
    knows, fails = again
    assert knows["errors"]["measured"] == 0
    assert knows["run"] == {"problem": "layer", "method": "knows", "seconds": 2.5, "seed": 0}
    assert (knows["model"], knows["kind"], knows["group"]) == ("oracle", "elliptic", "held-back")
    assert {"device", "commit", "took", "coverage"} <= set(knows)
    assert fails["failed"] == "ValueError: out of luck"
