"""Readings that arrive, and their lines of text."""

import io
import itertools
import threading

import live_rigs
import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.live.stream import (
    MAX_LINE_BYTES,
    MAX_NAMED,
    Stream,
    StreamHeading,
    follow,
    source_of,
    whole_lines,
)

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
    assert (state["readings"], state["bad"], len(state["named"])) == (3, 20, MAX_NAMED)
    assert state["named"][-1] == "line 23: x = 'a' is not a finite number"
    assert len(said) == MAX_NAMED
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
    text = b"a\n" + b"1" * (5 * MAX_LINE_BYTES) + b"\nb\n"
    first, long, last = whole_lines(io.BytesIO(text).readline, lambda: False)
    assert (first, len(long), last) == (b"a\n", MAX_LINE_BYTES + 1, b"b\n")


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


AXES = live_rigs.rod().axes
ONE, TWO = (AXES, ("u",)), (AXES, ("u", "v"))


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        (b"x,t,u\n", b"0.25,0.5,-1e-3\n"),
        (b"\xef\xbb\xbfx,t,u\r\n", b"0.25,0.5,-1e-3\r\n"),
        (b'name;u ;"t"; x', b"a;-0.001;0.5;0.25"),
        (b"t\tu\tx\n", b"0.5\t-0.001\t 0.25 "),
    ],
)
def test_columns_are_found_by_name(heading, line):
    assert np.array_equal(StreamHeading(heading, *ONE).read(line), [0.25, 0.5, -0.001])


def test_a_field_may_be_missing():
    heading = StreamHeading(b"x,t,u,v", *TWO)
    assert np.array_equal(heading.read(b"0,1,,2"), [0, 1, np.nan, 2], equal_nan=True)
    assert np.array_equal(
        StreamHeading(b"x,t,v", *TWO).read(b"0,1,2"), [0, 1, np.nan, 2], equal_nan=True
    )
    with pytest.raises(InputError, match="no field has a value"):
        heading.read(b"0,1,,NaN")


def test_empty_lines_and_headings_are_passed_over():
    heading = StreamHeading(b"x,t,u", *ONE)
    assert [heading.read(line) for line in (b"\n", b" , ,\r\n", b"x,t,u\n")] == [None] * 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"x,u\n", "'x,u' lacks t; columns of this model are x, t and u"),
        (b"x,t\n", "has none of u"),
        (b"x,t,u,u\n", "names u twice"),
        (b"\x00\x01\xff", "lacks x and t"),
        (b"x" * 20_000, "longer than 10000 bytes"),
    ],
)
def test_headings_that_say_nothing(line, message):
    with pytest.raises(InputError) as caught:
        StreamHeading(line, *ONE)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"0.5,0.5", "2 cells instead of 3"),
        (b"0.5,0.5,1,2", "4 cells instead of 3"),
        (b"0.5,0.5,warm", "u = 'warm' is not a finite number"),
        (b"0.5,inf,1", "t = 'inf' is not a finite number"),
        (b",0.5,1", "x = '' is not a finite number"),
        (b"7,0.5,1", "x = '7' lies outside of 0 to 1"),
        (b"0.5,0.5,\xff\xfe", "is not a finite number"),
        (b"0.5,0.5," + b"1" * 9_000 + b"a", "…' is not a finite number"),
        (b"1," * 10_000, "longer than 10000 bytes"),
    ],
)
def test_bad_lines_are_one_short_sentence(line, message):
    with pytest.raises(InputError) as caught:
        StreamHeading(b"x,t,u", *ONE).read(line)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 120
