"""Guesses about columns."""

import pytest

from pgt.ground.errors import InputError
from pgt.io.guessed import Guess, check_one_time, may_be
from pgt.io.headings import parse_heading, parse_headings


def test_a_guess_begins_with_nothing():
    assert Guess() == Guess({}, [], [], None, [], set(), {})


def test_temperatures_are_no_times():
    assert may_be("t", parse_heading("t [s]"))
    assert not may_be("t", parse_heading("t [°C]"))
    assert not may_be("t", parse_heading("T"))


def test_two_times_are_refused_where_one_may_be_a_temperature():
    with pytest.raises(InputError, match="'t' and 'Zeit' may both be the time"):
        check_one_time(parse_headings(["Zeit", "x", "t"]))
    check_one_time(parse_headings(["time", "x", "t", "T"]))
    check_one_time(parse_headings(["time", "x", "t [s]"]))
