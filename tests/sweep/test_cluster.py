"""Fits on processes of this machine: each once, also where a worker is killed."""

import csv
import json
import sys
from pathlib import Path

import distributed
import pytest
from pretended_fits import BROKEN, KILLED, WRONG, pretend

import pgt.sweep
from pgt.core.errors import InputError
from pgt.sweep import cluster
from pgt.sweep.cases import Case


@pytest.fixture(scope="module")
def client():
    with cluster._local_cluster(2) as local, distributed.Client(local) as client:
        yield client


@pytest.fixture
def local(client, monkeypatch):
    monkeypatch.setattr(cluster, "_local_cluster", lambda workers: client.cluster)
    monkeypatch.setattr(type(client.cluster), "__exit__", lambda *_: None)
    return client


def cases(count):
    return [Case(f"case-{k}", Path("run.toml"), (), {"seed": k}) for k in range(count)]


def ends(folder):
    return {k: len(list((folder / "fits" / f"case-{k}").glob("end-*"))) for k in range(20)}


def test_twenty_fits_finish_once_although_a_worker_is_killed(local, tmp_path):
    records = cluster.run_cases(cases(20), tmp_path, pretend, progress=False)
    status = [record["status"] for record in records]
    assert status == ["failed" if k == WRONG else "finished" for k in range(20)]
    assert ends(tmp_path) == {k: int(k != WRONG) for k in range(20)}
    for k in (KILLED, BROKEN):
        assert len(list((tmp_path / "fits" / f"case-{k}").glob("start-*"))) == 2
    assert records[WRONG]["error"] == "the readings are wrong."
    # Another call runs what is left, and nothing else.
    (tmp_path / "fits" / "mended").touch()
    again = cluster.run_cases(cases(20), tmp_path, pretend, progress=False)
    assert {record["status"] for record in again} == {"finished"}
    assert set(ends(tmp_path).values()) == {1}
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["seed"]) for row in rows] == list(range(20))
    assert rows[3]["stated error of u"] == "0.03"
    assert rows[3]["doubts"] == "a b"


def test_a_finished_fit_is_not_run_when_dask_repeats_its_task(tmp_path):
    (case,) = cases(1)
    (tmp_path / "fits").mkdir()
    assert [cluster.run_once(case, tmp_path, pretend) for _ in range(2)] == ["finished"] * 2
    assert ends(tmp_path)[0] == 1
    record = json.loads((tmp_path / "fits" / "case-0.json").read_text())
    assert record["values"] == {"seed": 0}


def test_a_fit_that_fails_every_time_is_told(local, tmp_path):
    def fails(case, folder):
        raise OSError("no space left")

    (record,) = cluster.run_cases(cases(1), tmp_path, fails, retries=1, progress=False)
    assert record["status"] == "failed"
    assert record["error"] == "OSError: no space left"


def test_a_damaged_record_is_named(tmp_path):
    (tmp_path / "fits").mkdir()
    (tmp_path / "fits" / "case-0.json").write_text("{")
    with pytest.raises(InputError, match=r"case-0.json: damaged"):
        cluster.run_cases(cases(1), tmp_path, pretend)


def test_files_are_mapped_to_futures(client):
    futures = pgt.sweep.map(len, ["a", "bcd"], client=client)
    assert [future.result() for future in futures] == [1, 3]
    assert pgt.sweep.map(len, ["ab"])[0].result() == 2  # on the client that there is


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"--address tcp://127\.0\.0\.1:9: no Dask scheduler"):
        cluster.run_cases(cases(1), tmp_path, pretend, "tcp://127.0.0.1:9")


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"\[sweep\]"):
        pgt.sweep.map(len, ["a"])
