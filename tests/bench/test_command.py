"""`pgt bench`: a summary of what ran, mistakes as messages."""

import pytest
from typer.testing import CliRunner

from pgt_bench.command import bench


def command(*words):
    return CliRunner().invoke(bench, words)


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
        (("zoo", "--problem", "blub"), "the zoo has no problem 'blub'"),
        (("zoo", "--method", "krig"), "the zoo has no method 'krig'"),
        (("results", "--records", "nowhere", "--document", "none.md"), "none.md"),
    ],
)
def test_mistakes_are_messages(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = command(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_the_audit_prints_every_data_set():
    result = command("audit")
    assert result.exit_code == 0, result.output
    for name in ("heat", "burgers", "travelling wave", "advected Gaussian", "cylinder wake"):
        assert name in result.output
