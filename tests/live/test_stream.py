"""Readings that arrive: counted, named where they are bad, and never the end of the page."""

import io
import itertools
import threading

import live_rigs
import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.live.rows import LONGEST
from pgt.live.stream import NAMED, Stream, follow, source_of, whole_lines

ROD = live_rigs.rod()
GOOD = [b"x,t,u\n", b"0.5,0,1\n", b"0.5,1,2\n"]


def test_readings_come_in_order():
    stream = Stream(ROD)
    stream.read(GOOD)
    points, values = stream.readings()
    assert np.array_equal(points, [[0.5, 0], [0.5, 1]])
    assert np.array_equal(values, [[1], [2]])
    state = stream.state()
    assert (state["lines"], state["readings"], state["bad"], state["ended"]) == (3, 2, 0, True)


def test_without_a_line_there_is_nothing():
    points, values = Stream(ROD).readings()
    assert (points.shape, values.shape) == ((0, 2), (0, 1))


def test_only_the_newest_are_kept():
    stream = Stream(ROD, window=1)
    stream.read(GOOD)
    assert np.array_equal(stream.readings()[1], [[2]])
    assert stream.state()["readings"] == 2


def test_bad_lines_are_counted_and_the_last_ones_named():
    said = []
    stream = Stream(ROD, say=said.append)
    stream.read([*GOOD, *[b"a,b,c\n"] * 20, b"0,0,3\n"])
    state = stream.state()
    assert (state["readings"], state["bad"], len(state["named"])) == (3, 20, NAMED)
    assert state["named"][-1] == "line 23: x = 'a' is not a finite number"
    assert len(said) == NAMED
    assert said[-1].endswith("further ones are counted on the page.")


def test_a_heading_that_says_nothing_is_the_end():
    said = []
    stream = Stream(ROD, say=said.append)
    stream.read([b"\n", b"time,temperature\n", *GOOD])
    state = stream.state()
    assert "lacks x and t" in state["trouble"]
    assert said == [state["trouble"]]
    assert (state["ended"], state["readings"], state["lines"]) == (True, 0, 2)


def test_a_source_that_breaks_is_told():
    def lines():
        yield GOOD[0]
        raise OSError(5, "Input/output error")

    stream = Stream(ROD)
    stream.read(lines())
    assert "Input/output error" in stream.state()["trouble"]


def test_who_waits_hears_of_the_next_line():
    stream = Stream(ROD)
    stream.take(GOOD[0])
    assert stream.state(seen=1, seconds=0.01)["lines"] == 1
    threading.Timer(0.05, stream.take, [GOOD[1]]).start()
    assert stream.state(seen=1, seconds=30)["lines"] == 2


# ------------------------------------------------------------------------------- lines


def test_lines_end_with_the_text():
    assert list(whole_lines(io.BytesIO(b"a\nb\n\nc").readline, lambda: False)) == [
        b"a\n",
        b"b\n",
        b"\n",
        b"c",
    ]


def test_of_a_line_without_end_little_is_kept():
    text = b"a\n" + b"1" * (5 * LONGEST) + b"\nb\n"
    first, long, last = whole_lines(io.BytesIO(text).readline, lambda: False)
    assert (first, len(long), last) == (b"a\n", LONGEST + 1, b"b\n")


def test_a_file_is_followed_as_it_grows(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_bytes(b"x,t,u\n0.5,0,")
    lines = follow(file, pause=0.01)
    assert next(lines) == b"x,t,u\n"
    with file.open("ab") as end:
        end.write(b"1\n0.5,1,2")  # the last one without its end
    assert list(itertools.islice(lines, 2)) == [b"0.5,0,1\n", b"0.5,1,2"]
    file.write_bytes(b"x,t,u\n")  # emptied and begun anew
    assert next(lines) == b"x,t,u\n"


def test_where_lines_come_from(tmp_path):
    assert list(source_of("-", io.BytesIO(b"x\n").readline)) == [b"x\n"]
    file = tmp_path / "readings.csv"
    file.write_bytes(b"x,t,u\n")
    assert next(source_of(str(file), io.BytesIO().readline)) == b"x,t,u\n"
    with pytest.raises(InputError, match="no such file of readings; write - for"):
        source_of(str(tmp_path / "none.csv"), io.BytesIO().readline)
