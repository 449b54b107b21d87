"""Columns by their headings."""

import pytest

from pgt.core.errors import InputError
from pgt.io.headings import parse_headings
from pgt.io.selection import group_by_field_and_position


def test_the_pattern_that_is_shown_works():
    headings = parse_headings(["T@x=1", "T@x=2", "p@x=1", "p@x=2"])
    places = {at: heading.positions for at, heading in enumerate(headings)}
    with pytest.raises(InputError, match=r'say which columns are meant: `columns={"u": "T\*"}`'):
        group_by_field_and_position(headings, ["u"], places, ("x",))
    assert group_by_field_and_position(headings, ["T*"], places, ("x",)) == {
        "T*": {(1.0,): 0, (2.0,): 1}
    }
