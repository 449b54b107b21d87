"""Columns by their headings."""

import pytest

from pgt.core.errors import InputError
from pgt.io.headings import parse_headings
from pgt.io.selection import explain_sensor_positions, find_columns, group_by_field_and_position


def test_a_name_that_two_columns_have():
    headings = parse_headings(["x", "flag", "flag"])
    assert find_columns(headings, "x") == (0,)
    with pytest.raises(InputError, match="two columns are named 'flag'"):
        find_columns(headings, "flag")


def test_several_columns_are_one_time():
    headings = parse_headings(["YY", "MM", "DD", "u"])
    assert find_columns(headings, "YY + MM + DD") == (0, 1, 2)
    assert find_columns(headings, "YY + hh") == ()


def test_the_pattern_that_is_shown_works():
    headings = parse_headings(["T@x=1", "T@x=2", "p@x=1", "p@x=2"])
    places = {at: heading.positions for at, heading in enumerate(headings)}
    with pytest.raises(InputError, match=r'say which columns are meant: `columns={"u": "T\*"}`'):
        group_by_field_and_position(headings, ["u"], places, ("x",))
    assert group_by_field_and_position(headings, ["T*"], places, ("x",)) == {
        "T*": {(1.0,): 0, (2.0,): 1}
    }


def test_names_of_sensors_that_stand_nowhere_are_shown():
    assert "table of sensors has 01, 02: none" in explain_sensor_positions("x", ["01", "02"])
    assert explain_sensor_positions("t", ["01"]) == ""
    assert "T@x=0.1" in explain_sensor_positions("x")
