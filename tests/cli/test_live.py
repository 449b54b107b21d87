"""The command that follows readings: from standard input to a folder."""

import numpy as np
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app, interrupt

RUN = """
[observations]
file = "log.csv"
coords = ["x", "t"]
fields = ["u"]
[domain]
x = [0, 1]
t = [0, 1]
[pde]
name = "heat"
diffusivity = 0.1
[model]
name = "features"
band = 3.0
count = 30
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(RUN)
    random = np.random.default_rng(0)
    x, t = random.random(60), np.sort(random.random(60))
    u = np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x) + 0.01 * random.standard_normal(60)
    rows = [f"{a:.6g},{b:.6g},{c:.6g}" for a, b, c in zip(x, t, u, strict=True)]
    (tmp_path / "log.csv").write_text("\n".join(["x,t,u", *rows]) + "\n")
    return tmp_path


def live(source, *words, **options):
    fixed = ["run.toml", source, "--length", "2", "--horizon", "0.2", "--every", "30"]
    return CliRunner().invoke(app, ["live", *fixed, *words], **options)


def test_standard_input_ends_in_a_folder(folder):
    done = live("-", "-o", "out", input=(folder / "log.csv").read_text())
    assert done.exit_code == 0, done.output
    said = [line for line in done.output.splitlines() if line.startswith("t = ")]
    assert len(said) == 3  # 29 readings and a heading, 30, and the last one
    assert "29 readings" in said[0]
    assert "u ±" in said[0]
    result = pgt.Reconstruction.load("out")
    assert len(result.observations) == 60
    table = np.genfromtxt("out/updates.csv", delimiter=",", names=True)
    assert table["readings"].tolist() == [29, 59, 60]
    assert table["forecast_t"][-1] == pytest.approx(table["t"][-1] + 0.2)
    assert table["u_error"][-1] < table["u_error"][0]
    assert (table["u_forecast_error"] > 0).all()
    assert pgt.io.read_field("out/field.nc").u.shape


def test_a_file_that_no_longer_grows_ends_too(folder):
    (folder / "log.csv").write_text(
        "\n".join((folder / "log.csv").read_text().split("\n")[:6]) + "\n"
    )
    done = live("log.csv", "--idle", "0.1")
    assert done.exit_code == 2
    assert "too few readings" in done.output


def test_the_first_interrupt_asks_for_an_end_and_the_second_one_ends(monkeypatch):
    ended = []
    monkeypatch.setattr(interrupt, "_end", lambda: ended.append(True))
    ours, theirs = interrupt.socket.socketpair()
    with ours, interrupt.finishing("Finishing.") as is_stopped:
        theirs.send(bytes([interrupt.signal.SIGINT]))
        reader = interrupt.threading.Thread(target=interrupt._wait, args=(ours,))
        reader.start()
        while not is_stopped():
            reader.join(0.01)
        assert not ended
        theirs.send(bytes([interrupt.signal.SIGINT]))
        theirs.close()
        reader.join()
    assert ended == [True]
