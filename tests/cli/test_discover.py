"""`pgt discover`: what it prints and writes."""

import json

import numpy as np
from typer.testing import CliRunner

from pgt.cli import app

RUN = """[observations]
file = "{}"
coords = ["t"]
fields = ["u"]
[domain]
t = [0, 1]
[pde]
equations = ["u_t = 0*u"]
"""


def test_a_missing_source_is_named_and_written(tmp_path):
    """Readings of u = 3 t² need the source 6 t, where the run file has u_t = 0."""
    table, run, output = (tmp_path / name for name in ("r.csv", "run.toml", "found.json"))
    t = np.linspace(0, 1, 30)
    noise = 0.01 * np.random.default_rng(0).standard_normal(30)
    rows = [f"{a},{3 * a**2 + e}" for a, e in zip(t, noise, strict=True)]
    table.write_text("\n".join(["t,u", *rows]))
    run.write_text(RUN.format(table))
    words = ["discover", str(run), "--only", "--term", "t", "--term", "u", "-o", str(output)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "The readings ask for the term" in " ".join(result.output.split())
    found = json.loads(output.read_text())
    (term,) = found["terms"]
    assert term["text"] == "t"
    assert term["lower"] < 6 < term["upper"]


def test_a_term_that_cannot_be_read_is_one_message(tmp_path):
    table, run = tmp_path / "r.csv", tmp_path / "run.toml"
    table.write_text("t,u\n0,1\n0.5,2\n1,3\n")
    run.write_text(RUN.format(table))
    result = CliRunner().invoke(app, ["discover", str(run), "--term", "k*u"])
    assert result.exit_code == 2, result.output
    assert "without a coefficient" in " ".join(result.output.split())
