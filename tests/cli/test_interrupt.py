"""Ctrl-C on a terminal: one sentence and exit code 130, whatever the program is doing."""

import os
import pty
import select
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from pgt.cli.interrupt import INTERRUPTED, SHOW_CURSOR

ROOT = Path(__file__).parents[2]
LONGEST = 300.0  # seconds
LONGEST_END = 30.0
START = "from pgt.cli import start; start()"


# The keyboard is this process's, and Ctrl-C is heard: who runs the tests may not hear it.
AS_IN_A_TERMINAL = """\
import fcntl, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, script, *words, folder):
        self.keyboard, screen = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AS_IN_A_TERMINAL + textwrap.dedent(script), *map(str, words)],
            stdin=screen, stdout=screen, stderr=screen, cwd=folder, start_new_session=True,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PGT_NO_CACHE": "1", "COLUMNS": "200"},
        )  # fmt: skip
        os.close(screen)
        self.shown = ""

    def look(self, until="", seconds=LONGEST):
        """Watch the screen until some words stand there, the time is over or the program ends."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and until in self.shown):
            if select.select([self.keyboard], [], [], 0.01)[0]:
                try:
                    self.shown += os.read(self.keyboard, 1 << 16).decode(errors="replace")
                except OSError:  # nobody writes any more
                    break
        return self

    def interrupt(self):
        """Press Ctrl-C; how the program ends, and what it says."""
        before = len(self.shown)
        os.write(self.keyboard, b"\x03")
        self.look(seconds=LONGEST_END)
        os.close(self.keyboard)
        try:
            return self.process.wait(LONGEST_END), self.shown[before:]
        finally:
            self.process.kill()  # where it did not end, for nothing to run on


@pytest.mark.parametrize(
    "busy",
    ["time.sleep(99)", "while True: pass", "hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"],
)
def test_whatever_it_is_doing_it_ends(busy, tmp_path):
    """Also in the middle of code that never comes back to Python."""
    script = f"""
        import hashlib, sys, time
        from pgt.cli.interrupt import end_at_once, saying
        end_at_once()
        with saying(lambda: "So far, so good."):
            print("half a line", end="")  # not shown yet
            print("begun", file=sys.stderr)
            {busy}
    """
    terminal = Terminal(script, folder=tmp_path).look("begun")
    code, said = terminal.interrupt()
    assert code == INTERRUPTED == 130
    assert "half a line" in terminal.shown
    assert said.endswith(f"{SHOW_CURSOR}\r\nSo far, so good.\r\n")


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    """A network and a polish after it, both too long to end before they are interrupted."""
    folder = tmp_path_factory.mktemp("interrupted")
    chance = np.random.default_rng(0)
    x, t = chance.uniform(size=(2, 40))
    u = np.sin(6 * x) * np.exp(-t) + chance.normal(0, 0.05, 40)
    rows = [f"{a:.6f},{b:.6f},{c:.6f}" for a, b, c in zip(x, t, u, strict=True)]
    (folder / "sensors.csv").write_text("\n".join(["x,t,u", *rows]) + "\n")
    text = """
        [observations]
        file = "sensors.csv"
        coords = ["x", "t"]
        fields = ["u"]
        [domain]
        x = [0, 1]
        t = [0, 1]
        [pde]
        name = "burgers"
        viscosity = 0.05
        [model]
        name = "pinn"
        width = 6
        layers = 2
        [training]
        steps = 300
        collocation = 64
        polish = {iterations = 60, points = 64}
        [output]
        grid = {x = 5, t = 4}
        formats = ["nc"]
    """
    (folder / "run.toml").write_text(textwrap.dedent(text))
    return folder / "run.toml"


def fit(run_file, folder, *words):
    return Terminal(START, "fit", run_file, "-o", folder, *words, folder=folder.parent)


def is_begun(folder):
    return any((folder / "checkpoint").glob("**/[cp]*.safetensors"))


def check_interrupted(ended, folder):
    code, said = ended
    assert code == INTERRUPTED, said
    assert said.count("Stopped") == 1
    assert "Traceback" not in said
    if "Stopped; " in said:  # not before it began
        assert ("--resume" in said) == is_begun(folder)


def test_an_interrupt_while_compiling(run_file, tmp_path):
    terminal = fit(run_file, tmp_path / "out").look("compile")
    check_interrupted(terminal.interrupt(), tmp_path / "out")
