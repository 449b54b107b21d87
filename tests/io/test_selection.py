"""Columns by their headings. Long, wide and named tables of cells."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.headings import parse_headings
from pgt.io.selection import (
    CellTable,
    group_by_field_and_position,
    select_columns,
)
from pgt.io.survey import survey


def test_the_pattern_that_is_shown_works():
    headings = parse_headings(["T@x=1", "T@x=2", "p@x=1", "p@x=2"])
    places = {at: heading.positions for at, heading in enumerate(headings)}
    with pytest.raises(InputError, match=r'say which columns are meant: `columns={"u": "T\*"}`'):
        group_by_field_and_position(headings, ["u"], places, ("x",))
    assert group_by_field_and_position(headings, ["T*"], places, ("x",)) == {
        "T*": {(1.0,): 0, (2.0,): 1}
    }


PLACES = {"A": {"x": (0.0, "m"), "y": (1.0, "m")}, "B": {"x": (2.0, "m"), "y": (3.0, "m")}}


def table(names, rows, **options):
    rows = [[str(cell) for cell in row] for row in rows]

    def load(converters):
        lines = np.arange(2, 2 + len(rows))
        return {p: read([r[p] for r in rows], lines) for p, read in converters.items()}, lines

    return CellTable(parse_headings(names), rows, load, **options)


def chosen(made, coords, others, sensors=None):
    return select_columns(made, coords, others, sensors, Dialect())


def test_two_fields_of_one_wide_table():
    made = table(["t", "T@x=1", "p@x=1", "T@x=2"], [[0, 5, 6, 7], [1, 8, 9, 10]])
    found = chosen(made, ("x", "t"), ("T", "p"))
    assert found.values["x"].tolist() == [1, 2, 1, 2]
    assert found.values["t"].tolist() == [0, 0, 1, 1]
    assert found.values["T"].tolist() == [5, 7, 8, 10]
    np.testing.assert_array_equal(found.values["p"], [6, np.nan, 9, np.nan])
    assert found.lines.tolist() == [2, 2, 3, 3]


def test_a_pattern_chooses_columns():
    made = table(["t", "TC1 (x=1)", "TC2 (x=2)", "RH (x=1)"], [[0, 5, 6, 7]])
    assert chosen(made, ("x", "t"), ("TC*",)).values["TC*"].tolist() == [5, 6]
    assert chosen(made, ("x", "t"), ("TC1 (x=1)",)).values["x"].tolist() == [1]


def test_positions_in_a_plane_from_a_table_of_sensors():
    found = chosen(table(["t", "A", "B"], [[0, 5, 6]]), ("x", "y", "t"), ("T",), PLACES)
    assert (found.values["x"].tolist(), found.values["y"].tolist()) == ([0, 2], [1, 3])
    assert found.units == {"x": "m", "y": "m"}


def test_a_column_of_names_and_a_file_of_one_sensor():
    named = table(["t", "who", "T"], [[0, "A", 5], [0, "B", 6]])
    assert chosen(named, ("x", "t"), ("T",), PLACES).values["x"].tolist() == [0, 2]
    alone = table(["t", "T"], [[0, 5]], file_stem="B")
    assert chosen(alone, ("x", "t"), ("T",), PLACES).values["x"].tolist() == [2]
    fixed = table(["t", "T"], [[0, 5]], fixed_positions={"x": (7.0, "m")})
    assert chosen(fixed, ("x", "t"), ("T",)).values["x"].tolist() == [7]


@pytest.mark.parametrize(
    ("names", "others", "sensors", "message"),
    [
        (["t", "T@x=1", "T@x=1.0"], ("T",), None, "'T@x=1' and 'T@x=1.0' are both 'T'"),
        (["t", "T@x=1", "T@y=1"], ("T",), None, "'T@y=1' does not give .* along 'x'"),
        (["t", "T [K]", "T [degC]"], ("T",), None, r"columns 'T \[K\]' and 'T \[degC\]' are both"),
        (["t", "T@x=1 m", "T@x=2 mm"], ("T",), None, "'x' is in 'm' at one sensor and in 'mm'"),
        (["t", "A", "C"], ("T",), None, "no column 'x'.*sensors="),
        (["t", "x", "A"], ("T",), None, "no column 'T'"),
    ],
)  # fmt: skip
def test_what_cannot_be_told(names, others, sensors, message):
    with pytest.raises(InputError, match=message):
        chosen(table(names, [[0, 5, 6]]), ("x", "t"), others, sensors)


def test_a_sensor_that_the_table_does_not_know_is_named():
    named = table(["t", "who", "T"], [[0, "A", 5], [0, "B", 6], [0, "C", 6]])
    with pytest.raises(InputError, match="line 4: the table of sensors has no 'x' for 'C'"):
        chosen(named, ("x", "t"), ("T",), PLACES)


def test_decimal_commas_beside_points_are_asked_about(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,t,TMP\n40.5,0,"+0060,1"\n40.6,1,"+0061,1"\n')
    options = {"coords": ("t",), "fields": ("TMP",)}
    with pytest.raises(InputError, match=r"column 'x' has decimal points \(40.5\).*decimal=\",\""):
        read_columns(path, **options)
    assert read_columns(path, **options, dialect=Dialect(decimal=",")).values["TMP"][0] == 60.1


def test_true_and_false_say_which_rows_are_readings(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,T,valid\n0,20,TRUE\n1,99,FALSE\n2,21,True\n")
    found = survey([path])
    assert (found.fields, found.hidden, found.dialect) == (
        ("T",),
        {"T": (1, 3)},
        Dialect(valid="valid"),
    )


def test_digits_with_a_unit_are_no_dates(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t [s],x,T\n20240312,0,20\n20240313,1,21\n")
    assert survey([path]).table.values["t"].tolist() == [20240312.0, 20240313.0]
    path.write_text("t,x,T\n20240228,0,20\n20240301,1,21\n")
    assert survey([path]).table.values["t"].tolist() == [0.0, 2 * 86400.0]


def test_other_columns_show_the_decimal_mark_where_those_read_leave_it_open(tmp_path):
    path = write(tmp_path, "x;t;T;count\n0;0;20,293;1,5\n1;0;21,125;2,5\n")
    found = read_columns(path, coords=("x", "t"), fields=("T",))
    assert found.values["T"].tolist() == [20.293, 21.125]
    with pytest.raises(InputError, match=r"'20,293' may be 20293 or 20.293"):
        read_columns(write(tmp_path, "x;t;T\n0;0;20,293\n"), coords=("x", "t"), fields=("T",))
