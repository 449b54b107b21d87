"""Lines to readings: columns by name, and what is wrong with the others."""

import live_rigs
import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.live.rows import Heading

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
    assert np.array_equal(Heading(heading, *ONE).read(line), [0.25, 0.5, -0.001])


def test_a_field_may_be_missing():
    heading = Heading(b"x,t,u,v", *TWO)
    assert np.array_equal(heading.read(b"0,1,,2"), [0, 1, np.nan, 2], equal_nan=True)
    assert np.array_equal(Heading(b"x,t,v", *TWO).read(b"0,1,2"), [0, 1, np.nan, 2], equal_nan=True)
    with pytest.raises(InputError, match="no field has a value"):
        heading.read(b"0,1,,NaN")


def test_empty_lines_and_headings_are_passed_over():
    heading = Heading(b"x,t,u", *ONE)
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
        Heading(line, *ONE)
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
        Heading(b"x,t,u", *ONE).read(line)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 120
