"""`pgt live`: what it starts, and one message for what is wrong."""

import live_rigs
import pytest
from typer.testing import CliRunner

from pgt.cli import app
from pgt.core.errors import InputError
from pgt.live import rig, server


@pytest.fixture
def started(monkeypatch, tmp_path):
    """What would be served; the model is one of the tests."""
    found = []
    monkeypatch.setattr(rig, "open_model", lambda path: live_rigs.rod())

    def run(session, bound, host, say, open_browser):
        assert bound.getsockname()[1] > 0
        found.append((session, host, open_browser))
        say("http://there/")

    monkeypatch.setattr(server, "serve", run)
    monkeypatch.chdir(tmp_path)
    return found


def live(*words, **how):
    return CliRunner().invoke(app, ["live", *words, "--port", "0"], **how)


def test_the_page_of_a_model(started):
    result = live("heat.safetensors")
    assert result.exit_code == 0, result.output
    assert result.stdout == "http://there/  (stop with Ctrl-C)\n"
    ((session, host, browser),) = started
    assert (host, browser, session.stream) == ("127.0.0.1", True, None)


def test_opened_to_others_there_is_a_warning(started):
    result = live("heat.safetensors", "--host", "0.0.0.0", "--no-browser")
    assert "everyone who can reach this machine" in result.stderr
    assert started[0][1:] == ("0.0.0.0", False)


@pytest.mark.usefixtures("started")
def test_readings_from_standard_input(monkeypatch):
    text = "x,t,u\n0.5,0.5,1\n0.5,nowhere,1\n0.5,0.6,2\n"
    found = []

    def run(session, *others, **how):
        # Read while it is served: the runner closes standard input behind the command.
        state = session.stream.state(seen=3, seconds=20)
        found.append((state["readings"], state["bad"], len(session.stream.readings()[0])))

    monkeypatch.setattr(server, "serve", run)
    result = live("heat.safetensors", "--stream", "-", "--window", "1", input=text)
    assert result.exit_code == 0, result.output
    assert found == [(2, 1, 1)]


def test_readings_from_a_file(started, tmp_path):
    (tmp_path / "readings.csv").write_text("x,t,u\n0.5,0.5,1\n")
    assert live("heat.safetensors", "--stream", "readings.csv").exit_code == 0
    assert started[0][0].stream.state(seen=1, seconds=20)["readings"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.safetensors",), "nowhere.safetensors: there is no such file"),
        ((".",), "is a folder"),
        (("a.safetensors", "--host", "no.such.name.invalid"), "knows no such name"),
    ],
)
def test_mistakes_are_one_message(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = live(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_stream_that_is_none(started):
    result = live("heat.safetensors", "--stream", "none.csv")
    assert result.exit_code == 2
    assert "no such file of readings" in " ".join(result.output.split())
    assert not started


def test_missing_packages_are_one_message(started, monkeypatch):
    def missing():
        raise InputError("the live page needs uvicorn")

    monkeypatch.setattr(server, "check_packages", missing)
    result = live("heat.safetensors")
    assert result.exit_code == 2
    assert "needs uvicorn" in result.output
