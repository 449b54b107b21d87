"""The command for many fits: what it prints of them, and what it ends with."""

import pytest
from typer.testing import CliRunner

from pgt.cli import app
from pgt.sweep import cluster

RECORDS = [
    {
        "name": "a", "values": {"seed": 0, "model": {"name": "pgt"}}, "status": "finished",
        "field_error": {"u": {"value": 0.0123}}, "held_out": {"u": {"of_spread": 0.2}},
        "coefficients": {"k": 0.98765}, "doubt_kinds": ["large_error"], "seconds": 3.0,
    },
    {"name": "b", "values": {"seed": 1}, "status": "failed", "error": "the readings are wrong"},
]  # fmt: skip


def sweep(monkeypatch, records, *words):
    asked = {}
    monkeypatch.setattr(cluster, "run_sweep", lambda *a, **k: asked.update(k) or records)
    monkeypatch.setenv("COLUMNS", "200")
    return CliRunner().invoke(app, ["sweep", "sweep.toml", *words]), asked


def test_the_table_has_settings_and_errors(monkeypatch):
    done, asked = sweep(monkeypatch, RECORDS[:1], "--workers", "3", "--retries", "0")
    assert done.exit_code == 0, done.output
    for word in ("seed", 'name = "pgt"', "1.2", "0.9877", "large_error", "table.csv: 1 fits"):
        assert word in done.output
    assert asked == {"address": None, "workers": 3, "retries": 0}


def test_a_fit_that_failed_is_told_by_its_reason(monkeypatch):
    done, _ = sweep(monkeypatch, [*RECORDS, RECORDS[1]])
    assert done.exit_code == 5
    assert "2 of 3 fits failed: the readings are wrong" in done.output


def test_a_mistake_is_one_message(tmp_path):
    (tmp_path / "sweep.toml").write_text("seeds = 2")
    done = CliRunner().invoke(app, ["sweep", str(tmp_path / "sweep.toml")])
    assert done.exit_code == 2
    assert "base" in done.output
    assert "Traceback" not in done.output


@pytest.mark.slow  # processes that import everything
def test_a_sweep_of_real_fits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x,t,u\n" + "".join(f"0.{k},0.{k},{k}\n" for k in range(1, 9)))
    (tmp_path / "run.toml").write_text(
        '[observations]\nfile = "a.csv"\ncoords = ["x", "t"]\nfields = ["u"]\n[domain]\nx = [0, 1]\n'
        't = [0, 1]\n[pde]\nname = "heat"\ndiffusivity = 0.1\n[output]\nformats = []\n'
        "grid = {x = 5, t = 5}\n"
    )
    (tmp_path / "sweep.toml").write_text(
        'base = "run.toml"\nseeds = 2\n[grid]\nmethod = ["solver"]'
    )
    done = CliRunner().invoke(app, ["sweep", "sweep.toml", "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "runs/sweep/fits").glob("*/report.html"))) == 2
