"""Headers that say where they end, and headings that hide."""

import pytest

from pgt.ground.dialect import Dialect
from pgt.io.above import counts, table_lines


def lines(text, **options):
    numbered = list(enumerate(text.splitlines(), 1))
    return [line for _, line in table_lines(numbered, Dialect(**options))]


@pytest.mark.parametrize("mark", ["#", " #", "%", "//", "!"])
def test_comments_and_blank_lines_do_not_count(mark):
    assert not counts(f"{mark} moved\n")
    assert not counts(" \n")
    assert counts("1 # 2\n")


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# rod\n# x t\n1 2\n3 4", ["x t"]),
        ("#x,t\n1,2\n3,4", ["x,t"]),
        ("#,x,t\n0,1,2\n1,3,4", [",x,t"]),
        ("% x\tt\n1\t2\n3\t4", [" x\tt"]),
        ("#YY MM u\n#yr mo m/s\n2024 3 5.0\n2024 4 6.0", ["YY MM u", "yr mo m/s"]),
        ("% x    T (K) @ t=0    T (K) @ t=1\n1  2  3\n4  5  6", None),
        ("# made by me\n1 2\n3 4", []),
        ("# 1 2\n1 2\n3 4", []),
        ("# x t\n1 2", []),
        ("# x t\na b\n1 2\n3 4", []),
    ],
)
def test_a_heading_in_a_comment(text, heading):
    rows = [line for line in text.splitlines() if counts(line)]
    heading = ["x T\xa0(K)\xa0@\xa0t=0 T\xa0(K)\xa0@\xa0t=1"] if heading is None else heading
    assert lines(text) == heading + rows


def test_the_separator_that_was_said_decides():
    assert lines("# x;t\n1;2\n3;4", separator="tab") == ["1;2", "3;4"]


def test_names_with_blanks_are_held_together():
    assert lines("Time  Temp 1\n0  20\n1  21")[0] == "Time Temp\xa01"
    assert lines("x t\n0  20\n1  21")[0] == "x t"


def test_the_end_of_a_header_is_heard():
    assert lines("Date\t5\n***End_of_Header***\t\nt\tT\n0\t1\n1\t2") == ["t\tT", "0\t1", "1\t2"]
    assert lines("[Name]\nPlane\n[Data]\nx,T\n0,1\n1,2")[0] == "x,T"
    below = "x,T\n0,1\n1,2\n[Data]\nx,T\n0,1"
    assert (
        lines(below) == below.splitlines()
    )  # it says so of the rows that follow, not of those above
    assert lines("data\n1\n2")[0] == "data"
