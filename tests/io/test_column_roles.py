"""Guesses about columns. What columns of words say of the rows beside them. Columns that are fields
of an equation. Columns of times."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.column_roles import (
    check_one_time,
    find_column_fields,
    find_sensor_fields,
)
from pgt.io.headings import parse_headings
from pgt.io.survey import survey


def test_two_times_are_refused_where_one_may_be_a_temperature():
    with pytest.raises(InputError, match="'t' and 'Zeit' may both be the time"):
        check_one_time(parse_headings(["Zeit", "x", "t"]))
    check_one_time(parse_headings(["time", "x", "t", "T"]))
    check_one_time(parse_headings(["time", "x", "t [s]"]))


HEADING = "x,t,T,Quality\n"


@pytest.mark.parametrize("bad", ["Bad", "bad_sensor", "ERROR", "fail", "invalid", "Missing"])
def test_rows_that_words_call_bad_are_hidden(tmp_path, bad):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,OK\n0.9,0,-50,{bad}\n")
    found = survey([path])
    assert (found.hidden, found.dialect) == ({"T": (1, 3)}, Dialect(valid="Quality"))
    again = read_columns(path, coords=("x", "t"), fields=("T",), dialect=found.dialect)
    np.testing.assert_array_equal(again.values["T"], [20, 21, np.nan])


@pytest.mark.parametrize("names", ["S1 S2", "1 2"])
def test_sensors_without_places_are_not_averaged(tmp_path, names):
    rows = "".join(f"{t},{name},20\n" for t in (0, 60) for name in names.split())
    with pytest.raises(InputError, match=r"column 'sensor' .*sensors=\"positions.csv\""):
        survey([write(tmp_path, f"time,sensor,value\n{rows}")])


@pytest.mark.parametrize("column", ["name", "Bezeichnung", "tag"])
def test_readings_that_words_tell_apart_are_not_averaged(tmp_path, column):
    rows = "".join(f"{t},0.1,{name},{20 + t}\n" for t in (0, 60, 120) for name in ("temp", "hum"))
    path = write(tmp_path, f"time,x,{column},value\n{rows}")
    with pytest.raises(InputError, match=rf"differ in '{column}' \(hum, temp ...\)"):
        survey([path], measured=("T",), axes=("x", "t"))
    again = write(tmp_path, f"time,x,{column},value\n{rows.replace('hum', 'temp')}")
    assert survey([again], measured=("T",)).repeated == 3  # nothing tells them apart
    moved = "".join(f"{t},0.{n},n{n},{20 + t}\n" for t in (0, 60) for n in (1, 2))
    assert survey([write(tmp_path, f"time,x,{column},value\n{moved}")]).repeated == 0


def test_fields_by_their_names():
    assert find_sensor_fields(parse_headings(["TC1@x=1", "TC2@x=2"]), ("T",)) == {"T": "T"}
    assert find_sensor_fields(parse_headings(["Temp@x=1", "p@x=1"]), ("p", "T")) == {
        "p": "p",
        "T": "Temp",
    }
    headings = parse_headings(["U", "Ux", "Uy", "hours"])
    assert find_column_fields(headings, ("u", "v"), ()) == {"u": "Ux", "v": "Uy"}
    assert find_column_fields(parse_headings(["hours", "C"]), ("u",), ()) == {"u": "C"}


MINUTE = [0.0, 60.0]


@pytest.mark.parametrize(
    ("heading", "rows"),
    [
        ("date,time", ("20240312,100000", "20240312,100100")),
        ("date,time", ("20240312,95900", "20240312,100000")),
        ("Date,Time", ("2024-03-12,0959", "2024-03-12,1000")),
        ("Datum,Zeit", ("12.03.2024,095900", "12.03.2024,100000")),
        ("date,hour,minute", ("2024-03-12,9,59", "2024-03-12,10,0")),
        ("date,hour,minute,second", ("12.03.2024,9,59,30", "12.03.2024,10,0,30")),
    ],
)
def test_times_of_day_without_marks_belong_to_the_date(tmp_path, heading, rows):
    table = "\n".join([f"{heading},x,T", *(f"{row},0.1,20" for row in rows)])
    found = survey([write(tmp_path, table + "\n")], measured=("u",), axes=("x", "t"))
    assert (found.coords, found.columns["u"]) == (("x", "t"), "T")
    assert found.table.values["t"].tolist() == MINUTE


def test_clocks_that_are_put_back_are_said(tmp_path):
    rows = "".join(f"2024-10-27 {clock},0.1,1\n" for clock in ("02:30", "02:59", "02:10", "03:10"))
    found = survey([write(tmp_path, f"time,x,T\n{rows}")], measured=("T",))
    assert any("times go back at 2024-10-27T02:59" in word for word in found.table.notes)
