"""Commands around a run file: mistakes in one message, and how to go on."""

import pytest
from typer.testing import CliRunner

from pgt.cli import app


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def said(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "heta"), "did you mean 'heat'"),
        (("init", "u_t = "), "pgt:"),
        (("init", "mine.toml"), "`pgt init heat -o mine.toml` writes it"),
        (("init",), "name an equation, such as heat, or files with --from"),
        (("init", "--from", "nowhere.csv"), "nowhere.csv: there is no such file"),
        (("check", "nowhere.toml"), "nowhere.toml"),
        (("fit", "nowhere.toml"), "nowhere.toml"),
        (("predict", "nowhere", "-o", "a.nc", "--grid", "x=3"), "no folder nowhere"),
        (("predict", "nowhere", "-o", "a.nc"), "either --grid"),
        (("compare", "a.nc", "b.nc"), "a.nc"),
        (("report", "nowhere"), "no folder nowhere"),
        (("info", "nowhere"), "no folder nowhere"),
    ],
)
def test_mistakes_are_one_message(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = command(*words)
    assert result.exit_code == 2, result.output
    assert message in said(result)
    assert "Traceback" not in result.output


def test_brackets_in_the_names_of_files_are_no_markup(tmp_path, monkeypatch):
    folder = tmp_path / "dd["
    folder.mkdir()
    (folder / "[b]r.csv").write_text("x,t,u\n0.1,0.1,1\n0.5,0.5,2\n0.9,0.9,3\n")
    run = folder / "a].toml"
    monkeypatch.chdir(tmp_path)
    made = command("init", "u_t = nu*u_xx", "--from", folder / "[b]r.csv", "-o", run)
    assert made.exit_code == 0, made.output
    checked = command("check", "dd[/a].toml")
    assert checked.exit_code == 0, checked.output
    for text in ("dd[/a].toml", "[b]r.csv"):
        assert text in "".join(checked.output.split())
    for words in (("fit", "[/a].toml"), ("info", "[/a]"), ("[/a]",), ("fit", "x", "--[/a]")):
        refused = command(*words)
        assert refused.exit_code == 2, refused.output
        assert "[/a]" in refused.output


def test_init_does_not_overwrite(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("mine")
    result = command("init", "heat", "-o", path)
    assert result.exit_code == 2
    assert "exists already" in said(result)
    assert path.read_text() == "mine"
