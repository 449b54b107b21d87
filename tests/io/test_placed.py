"""Rows of positions above or below the names of the columns."""

import pytest
from logger_files import workbook
from sensor_files import write

from pgt.io.placed import in_heading, quoted
from pgt.io.survey import survey

READINGS = "0,20.5,21\n60,22.25,23.5\n"
ROWS = [(0.1, 0, 20.5), (0.5, 0, 21), (0.1, 60, 22.25), (0.5, 60, 23.5)]


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
    assert rows == ROWS
    assert units.get("x") == unit
    semicolons = (heading + READINGS).replace(",", ";").replace(".", ",")
    assert read(write(tmp_path, semicolons, "b.csv"))[0] == ROWS


def test_positions_in_a_workbook(tmp_path):
    rows = [["Time [s]", "TC1", "TC2"], ["x [mm]", 100, 500], [0, 20.5, 21], [60, 22.25, 23.5]]
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(("Log", rows)))
    rows, units = read(path)
    assert rows == [(1e3 * x, t, value) for x, t, value in ROWS]
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
    assert in_heading(numbered) is numbered


def test_points_in_names_are_no_cells(tmp_path):
    path = write(tmp_path, "t,CH1(0.1,0.2),CH2(.3,0.2)\n0,20,21\n1,22,23\n")
    found = survey([path], measured=("T",))
    assert found.coords == ("x", "y", "t")
    assert found.table.values["x"].tolist() == [0.1, 0.3, 0.1, 0.3]
    assert found.table.values["T"].tolist() == [20, 21, 22, 23]
    lines = [(1, "t;T(0,1);T(0,5)"), (2, 'a,"b(0.1,0.2)"'), (3, "f(0,1),g")]
    assert quoted(lines) == lines
