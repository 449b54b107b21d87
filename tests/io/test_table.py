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
from pgt.io.table import CellTable

PLACES = {"A": {"x": (0.0, "m"), "y": (1.0, "m")}, "B": {"x": (2.0, "m"), "y": (3.0, "m")}}


def table(names, rows, **options):
    rows = [[str(cell) for cell in row] for row in rows]

    def load(converters):
        lines = np.arange(2, 2 + len(rows))
        return {p: read([r[p] for r in rows], lines) for p, read in converters.items()}, lines

    return CellTable(parse_headings(names), rows, load, **options)


def chosen(made, coords, others, sensors=None):
    return select_columns(made, coords, others, sensors, Dialect())


def test_positions_in_a_plane_from_a_table_of_sensors():
    found = chosen(table(["t", "A", "B"], [[0, 5, 6]]), ("x", "y", "t"), ("T",), PLACES)
    assert (found.values["x"].tolist(), found.values["y"].tolist()) == ([0, 2], [1, 3])
    assert found.units == {"x": "m", "y": "m"}


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
