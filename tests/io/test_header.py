"""Headers that say where they end, and headings that hide. Rows of positions above or below the
names of the columns. Names of columns in several rows. Grids: places or instants in the heading."""

import pytest
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.io.header import (
    find_table_lines,
    is_content,
    merge_position_rows,
    place_by_grid,
)
from pgt.io.headings import parse_headings
from pgt.io.survey import survey


def lines(text, **options):
    numbered = list(enumerate(text.splitlines(), 1))
    return [line for _, line in find_table_lines(numbered, Dialect(**options))]


@pytest.mark.parametrize("mark", ["#", " #", "%", "//", "!"])
def test_comments_and_blank_lines_do_not_count(mark):
    assert not is_content(f"{mark} moved\n")
    assert not is_content(" \n")
    assert is_content("1 # 2\n")


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
    rows = [line for line in text.splitlines() if is_content(line)]
    heading = ["x T\xa0(K)\xa0@\xa0t=0 T\xa0(K)\xa0@\xa0t=1"] if heading is None else heading
    assert lines(text) == heading + rows


READINGS = "0,20.5,21\n60,22.25,23.5\n"
GRID_ROWS = [(0.1, 0, 20.5), (0.5, 0, 21), (0.1, 60, 22.25), (0.5, 60, 23.5)]


def read(path):
    found = survey([path], measured=("T",), axes=("x", "t"))
    assert (found.coords, found.fields) == (("x", "t"), ("T",))
    values = found.table.values
    return [*zip(values["x"], values["t"], values["T"], strict=True)], found.table.units


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("time,TC1,TC2\nx [m],0.1,0.5\n", "m"),
        ("x [m],0.1,0.5\ntime,TC1,TC2\n", "m"),
        ("x,0.1,0.5\ntime,TC1,TC2\n", None),
        ("time,TC1,TC2\n[s],[°C],[°C]\nPosition,0.1,0.5\n", None),
        ("time,TC1,TC2\nposition (m):,0.1,0.5\n[s],[°C],[°C]\n", "m"),
        ("sensor,TC1,TC2\nx,0.1,0.5\ntime,,\n", None),  # as pandas writes it
        ("Logger 7,,\ntime,TC1,TC2\nx,0.1,0.5\n", None),
    ],
)
def test_positions_are_those_of_the_columns(tmp_path, heading, unit):
    rows, units = read(write(tmp_path, heading + READINGS, "a.csv"))
    assert rows == GRID_ROWS
    assert units.get("x") == unit
    semicolons = (heading + READINGS).replace(",", ";").replace(".", ",")
    assert read(write(tmp_path, semicolons, "b.csv"))[0] == GRID_ROWS


@pytest.mark.parametrize(
    "rows",
    [
        [["x", "0.1", "0.5"], ["t", "0", "60"], ["T", "20.5", "21"]],  # on its side
        [["x", "t", "T"], ["0.1", "0", "20"], ["0.5", "0", "21"]],
        [["x", "0.1"], ["t", "T"], ["0", "20"]],  # of the one sensor of the file
        [["t", "TC1", "TC2"], ["x", "0.1", "inlet"], ["0", "20", "21"]],
    ],
)
def test_other_rows_are_left_alone(rows):
    numbered = list(enumerate(rows, 1))
    assert merge_position_rows(numbered) is numbered


def places(*names, axes=("x", "t")):
    return [heading.positions for heading in place_by_grid(parse_headings(names), axes)][1:]


@pytest.mark.parametrize(
    "names",
    [
        ("t", "101", "102", "103"),  # channels
        ("t", "0.1", "T"),
        ("t", "0.1", "0.1"),
        ("t", "0.1"),
        ("T", "0.1", "0.5"),
        ("scan", "0.1", "0.5"),
        ("t", "2024-03-12", "2024-03-13"),
    ],
)
def test_other_headings_stay_as_they_are(names):
    assert not any(places(*names))
