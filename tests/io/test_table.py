"""Long, wide and named tables of cells. Numbers with their units in the cells. Several quantities
below each other in one column."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.headings import parse_headings
from pgt.io.selection import select_columns
from pgt.io.survey import survey
from pgt.io.table import CellTable, parse_amount

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


def test_times_with_a_zone_in_the_heading_are_brought_to_utc(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Time (UTC-3),x,T\n2024-03-12 10:00,0,20\n2024-03-12 10:01,1,21\n")
    found = survey([path])
    assert found.table.origin == {"t": "2024-03-12T13:00:00"}
    assert "times from UTC-3 to UTC" in found.table.notes
    path.write_text("Time (UTC-3),x,T\n2024-03-12 10:00-03:00,0,20\n2024-03-12 10:01-03:00,1,21\n")
    assert survey([path]).table.origin == {"t": "2024-03-12T13:00:00"}  # and not twice


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


HEADING = "t;x;T\n"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("0 s;0,1 m;21,5 °C\n60 s;0,5 m;22,5 °C\n", "semicolons, units in cells, decimal commas"),
        ("0 s;0.1m;21.5°C\n1 min;50 cm;295.65 K\n", "semicolons, units in cells"),
    ],
)
def test_units_in_cells_are_those_of_their_column(tmp_path, rows, said):
    found = survey([write(tmp_path, "made by hand\n\n" + HEADING + rows)], measured=("T",))
    assert found.table.units == {"x": "m", "t": "s", "T": "°C"}
    assert ", ".join(word for word in found.table.notes if "above" not in word) == said
    np.testing.assert_allclose(found.table.values["T"], [21.5, 22.5])
    np.testing.assert_allclose(found.table.values["x"], [0.1, 0.5])
    np.testing.assert_allclose(found.table.values["t"], [0, 60])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t;x;T\n0;1;20 °C\n0;2;21\n", r"line 3, column 'T': '21' is not in '°C'"),
        ("t;x;T\n0;1;20 °C\n0;2;21 Pa\n", r"'21 Pa' is not in '°C'"),
        ("t;x;T [K]\n0;1;20 °C\n0;2;21 °C\n", r"says 'K', and its cells '°C', as in '20 °C'"),
        ("t;x;T\n0;1;20 °C\n0;2;warm\n0;3;5 °C\n", r"line 3, column 'T': 'warm' is not a number"),
    ],
)
def test_cells_that_do_not_fit_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, text)], measured=("T",))


def test_no_reading_among_them_is_hidden(tmp_path):
    found = survey([write(tmp_path, "t;x;T\n0;1;20 °F\n0;2;OVER\n0;3;\n0;4;70 F\n")])
    np.testing.assert_allclose(found.table.values["T"], [20, np.nan, np.nan, 70])
    assert found.table.units["T"] == "°F"


def test_lengths_in_headings_stay_places(tmp_path):
    found = survey([write(tmp_path, "t;5 cm;10 cm\n0;20 °C;21 °C\n60;22 °C;23 °C\n")])
    assert (found.coords, found.table.units["x"]) == (("x", "t"), "cm")
    assert found.table.values[found.fields[0]].tolist() == [20, 21, 22, 23]


@pytest.mark.parametrize(
    "cell", ["1A", "TC 1", "12:30", "2024-03-12", "5", "", "3 apples", "1d 02:00:00"]
)
def test_what_is_no_amount(cell):
    assert parse_amount(cell) is None


READINGS = [(t, s, 20 + s + t / 60, 45 + s) for t in (0, 60, 120) for s in (1, 2)]
LONG = "time,sensor,quantity,value,unit\n" + "".join(
    f"{t},S{s},temperature,{T},degC\n{t},S{s},humidity,{h},%\n" for t, s, T, h in READINGS
)
PLACES_unstacked = "sensor,x [m]\nS1,0.1\nS2,0.5\n"
EXPECTED = [T for _, _, T, _ in READINGS]


def test_each_quantity_is_a_column(tmp_path):
    files = [write(tmp_path, LONG), write(tmp_path, PLACES_unstacked, "places.csv")]
    found = survey(files, measured=("T",), axes=("x", "t"))
    assert (found.columns, found.unused) == ({"t": "time", "T": "temperature"}, ("humidity",))
    assert found.table.values["T"].tolist() == EXPECTED
    assert found.table.values["x"].tolist() == [0.1, 0.5] * 3
    assert (found.table.units["T"], found.repeated, found.hidden) == ("degC", 0, {})
    assert "2 quantities below each other, by 'quantity'" in found.table.notes
    assert survey(files, measured=("u",), axes=("x", "t")).columns["u"] == "temperature"
    both = survey(files)
    assert both.fields == ("temperature", "humidity")
    assert both.table.values["humidity"].tolist() == [h for *_, h in READINGS]  # in shared rows


def test_what_is_there_twice_and_what_is_lost_have_rows(tmp_path):
    path = write(tmp_path, "t,x,parameter,value\n0,0,a,1\n0,0,a,2\n0,0,b,3\n1,0,b,4\n1,0,,5\n")
    found = read_columns(path, coords=("x", "t"), fields=("a", "b"))
    np.testing.assert_array_equal(found.values["a"], [1, 2, np.nan])
    np.testing.assert_array_equal(found.values["b"], [3, np.nan, 4])
    assert found.lines is not None
    assert found.lines.tolist() == [2, 3, 5]


def test_other_languages_have_quantities(tmp_path):
    rows = "0;0,1;Temperatur [°C];20,5\n0;0,1;Feuchte [%];45\n1;0,1;Feuchte [%];46\n"
    text = f"Zeit;x;Messgröße;Wert\n{rows}"
    found = survey([write(tmp_path, text)], measured=("T",))
    assert (found.table.values["T"].tolist(), found.table.units["T"]) == ([20.5], "°C")


def test_names_of_sensors_may_stand_for_quantities(tmp_path):
    rows = "".join(f"{t},TC{s},{20 + s + t}\n" for t in (0, 60) for s in (1, 2))
    files = [
        write(tmp_path, f"t,variable,value\n{rows}"),
        write(tmp_path, "name,x\nTC1,0\nTC2,1\n", "p.csv"),
    ]
    found = survey(files, measured=("T",), axes=("x", "t"))
    assert found.table.values["T"].tolist() == [21, 22, 81, 82]
    assert found.table.values["x"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,x,metric,value\n0,0,rpm,20\n0,0,hum,45\n", "none of them is called 'T'"),
        ("t,x,metric,value\n0,0,T,a\n0,0,h,45\n0,1,T,5\n1,0,T,6\n", "line 2, column 'T': 'a' is"),
        ("t,x,metric,a,b\n0,0,temp,1,2\n0,0,hum,45,6\n", "several quantities stand below each other"),
        ("t,x,metric,value,unit\n0,0,temp,1,K\n0,0,hum,4,%\n0,1,temp,6,degC\n", "line 4: 'temp' is in"),
    ],
)  # fmt: skip
def test_what_nobody_can_tell_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, text)], measured=("T",))


def test_the_column_of_all_values_is_no_field(tmp_path):
    with pytest.raises(InputError, match=r"no column 'value'.*temperature, humidity"):
        read_columns(
            write(tmp_path, LONG), coords=("t",), fields=("T",), columns={"t": "time", "T": "value"}
        )
