"""Lines of a file that grows, and of standard input."""

import io
import os
import threading

import numpy as np
import pytest

from pgt.config import load_run
from pgt.core.errors import InputError
from pgt.live import following
from pgt.live.following import chunks, read_lines


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(following, "PAUSE_SECONDS", 0.1)


def never():
    return False


def test_standard_input_ends_with_its_end():
    source = io.TextIOWrapper(io.BytesIO(b"x,t\n1,2\n\n3,4\n5,6"))
    found = list(chunks(source.readline, 2, never, follows=False))
    assert found == [["x,t\n", "1,2\n"], ["3,4\n", "5,6\n"]]


def test_a_file_is_followed_while_it_grows(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,t\n1,")
    with path.open() as source, path.open("a") as log:
        found = chunks(source.readline, 5, never, follows=True, idle=1.0)
        assert next(found) == ["x,t\n"]  # a line that is not finished waits
        log.write("2\n3,4\n")
        log.flush()
        assert next(found) == ["1,2\n", "3,4\n"]
        assert list(found) == []  # nothing came for a second


def test_reading_stops_when_it_is_asked_to():
    asked = threading.Event()
    ours, theirs = os.pipe()  # a source in which no line comes
    with os.fdopen(ours) as source, os.fdopen(theirs, "w") as sender:
        sender.write("a\n")
        sender.flush()
        found = chunks(source.readline, 1, asked.is_set, follows=False)
        assert next(found) == ["a\n"]
        asked.set()
        assert list(found) == []


def run_file(folder, times="[0, 1]"):
    (folder / "run.toml").write_text(
        '[observations]\nfile = "a.csv"\ncoords = ["x", "t"]\nfields = ["u"]\ncolumns = {u = "T [K]"}\n'
        f'[domain]\nx = [0, 1]\nt = {times}\n[pde]\nname = "heat"\ndiffusivity = 0.1\n'
    )
    (folder / "a.csv").write_text("x,t,T [K]\n")
    return load_run(folder / "run.toml")


def test_lines_are_read_as_the_run_file_says(tmp_path):
    parts, found = read_lines(run_file(tmp_path), "x,t,T [K]\n", ["0.5,7.5,300\n", "0.25,8,301\n"])
    np.testing.assert_allclose(found.points, [[0.5, 7.5], [0.25, 8.0]])
    assert dict(found.units)["u"] == "K"
    assert parts.pde.coords == ("x", "t")


def test_dates_have_no_last_one(tmp_path):
    run = run_file(tmp_path, '["2024-01-01", "2024-01-02"]')
    _, found = read_lines(run, "x,t,T [K]\n", ["0.5,2024-03-01T00:00:00,300\n"])
    assert len(found) == 1


def test_a_line_that_is_no_reading_is_named(tmp_path):
    with pytest.raises(InputError, match="line"):
        read_lines(run_file(tmp_path), "x,t,T [K]\n", ["0.5,hello,300\n"])
