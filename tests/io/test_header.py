"""Headers that say where they end, and headings that hide. Rows of positions above or below the
names of the columns. Names of columns in several rows. Grids: places or instants in the heading."""

import numpy as np
import pytest
from logger_files import ROWS, workbook
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.header import (
    find_table_lines,
    is_content,
    merge_heading_rows,
    merge_position_rows,
    place_by_corner,
    place_by_grid,
    quote_points,
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


def test_positions_in_a_workbook(tmp_path):
    rows = [["Time [s]", "TC1", "TC2"], ["x [mm]", 100, 500], [0, 20.5, 21], [60, 22.25, 23.5]]
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(("Log", rows)))
    rows, units = read(path)
    assert rows == [(1e3 * x, t, value) for x, t, value in GRID_ROWS]
    assert units == {"x": "mm", "t": "s"}


def test_along_two_axes_and_for_names(tmp_path):
    text = "time,TC1,TC2\nx,0.1,0.5\ny,2,3\n" + READINGS
    found = survey([write(tmp_path, text)], measured=("T",), axes=("x", "y", "t"))
    assert found.coords == ("x", "y", "t")
    assert found.table.values["y"].tolist() == [2, 3, 2, 3]
    text = "depth,0.1,0.5\n2024-03-12 10:00,20.5,21\n2024-03-12 10:01,22.25,23.5\n"
    found = survey([write(tmp_path, text)])
    assert found.coords == ("z", "t")
    assert found.table.values["z"].tolist() == [0.1, 0.5, 0.1, 0.5]


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


def test_points_in_names_are_no_cells(tmp_path):
    path = write(tmp_path, "t,CH1(0.1,0.2),CH2(.3,0.2)\n0,20,21\n1,22,23\n")
    found = survey([path], measured=("T",))
    assert found.coords == ("x", "y", "t")
    assert found.table.values["x"].tolist() == [0.1, 0.3, 0.1, 0.3]
    assert found.table.values["T"].tolist() == [20, 21, 22, 23]
    lines = [(1, "t;T(0,1);T(0,5)"), (2, 'a,"b(0.1,0.2)"'), (3, "f(0,1),g")]
    assert quote_points(lines) == lines


def test_merged_cells_take_the_name_above():
    assert merge_heading_rows(["", "x=0.1"], [["Date", "Temperature"]]) == ["Date", "x=0.1"]
    assert merge_heading_rows(["", "x"], [["Title"]]) == ["", "x"]
    groups = [["", "T", "", "p", ""]]
    assert merge_heading_rows(["t", "x=0.1", "x=0.5", "x=0.1", "x=0.5"], groups)[3] == "p x=0.1"
    assert merge_heading_rows(["t", "x=0.1"], [["Rod 3", ""]]) == ["t", "x=0.1"]


def places(*names, axes=("x", "t")):
    return [heading.positions for heading in place_by_grid(parse_headings(names), axes)][1:]


def test_numbers_beside_a_time_are_places():
    assert places("t", "0,1", "0.5") == [{"x": (0.1, None)}, {"x": (0.5, None)}]
    assert places("Depth [m]", "0", "60", axes=("z", "t")) == [{"t": (0, None)}, {"t": (60, None)}]


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


def test_one_axis_has_to_be_left():
    assert not any(places("x", "0.1", "0.5", axes=("x", "y", "t")))
    assert not any(places("x", "0.1", "0.5", axes=()))


def test_a_corner_names_both_axes():
    found = place_by_corner(parse_headings(["t [s] / x [mm]", "1", "2"]))
    assert (found[0].name, found[0].unit) == ("t", "s")
    assert [heading.positions for heading in found[1:]] == [{"x": (1, "mm")}, {"x": (2, "mm")}]
    for names in (["p / kPa", "1", "2"], ["x/x", "1", "2"], ["t/x", "a", "b"]):
        assert not any(heading.positions for heading in place_by_corner(parse_headings(names)))


def test_times_of_day_in_the_heading_are_seconds():
    found = place_by_grid(parse_headings(["x", "10:00:00", "10:01:00"]), ("x", "t"))
    assert [heading.positions["t"] for heading in found[1:]] == [(36000, "s"), (36060, "s")]


def test_what_is_written_in_a_run_file_reads_the_same(tmp_path):
    path = write(tmp_path, "time,0.1,0.5\n0,20.5,21\n60,22.25,23.5\n120,24,25.75\n")
    found = survey([path], measured=("T",), axes=("x", "t"))
    again = read_columns(path, coords=("x", "t"), fields=("T",), columns=found.columns)
    rows = zip(*(again.values[name] for name in ("x", "t", "T")), strict=True)
    np.testing.assert_allclose(sorted(rows), sorted(ROWS))


def test_without_an_equation_x_and_y_are_as_likely(tmp_path):
    path = write(tmp_path, "x,0.1,0.5\n0,20.5,21\n60,22.25,23.5\n")
    assert survey([path]).coords == ("x",)
    assert survey([write(tmp_path, path.read_text().replace("x", "t"))]).coords == ("x", "t")


def test_a_table_on_its_side_is_still_refused(tmp_path):
    path = write(tmp_path, "x,0.1,0.5,0.1\nt,0,0,60\nT,20.5,21,22.25\n")
    with pytest.raises(InputError, match="lies on its side"):
        survey([path], measured=("T",), axes=("x", "t"))
