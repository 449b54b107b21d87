"""Guesses about columns: what columns of words say of the rows beside them, fields of an equation,
times."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.survey import survey

HEADING = "x,t,T,Quality\n"


@pytest.mark.parametrize("bad", ["Bad", "bad_sensor", "ERROR", "fail", "invalid", "Missing"])
def test_rows_that_words_call_bad_are_hidden(tmp_path, bad):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,OK\n0.9,0,-50,{bad}\n")
    found = survey([path])
    assert (found.hidden, found.dialect) == ({"T": (1, 3)}, Dialect(valid="Quality"))
    again = read_columns(path, coords=("x", "t"), fields=("T",), dialect=found.dialect)
    np.testing.assert_array_equal(again.values["T"], [20, 21, np.nan])


@pytest.mark.parametrize("word", ["Uncertain", "B", "2", ""])
def test_what_nobody_can_tell_is_not_used(tmp_path, word):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,{word}\n")
    found = survey([path], measured=("T",))
    assert (found.hidden, found.dialect) == ({}, None)


def test_a_word_that_comes_later_is_said_with_its_line(tmp_path):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,perhaps\n")
    with pytest.raises(InputError, match=r"line 3, column 'Quality': 'perhaps'"):
        read_columns(path, coords=("x", "t"), fields=("T",), dialect=Dialect(valid="Quality"))


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


def test_numbered_sensors_are_all_of_one_field(tmp_path):
    text = "t,Temp 1 @ x=0.1,Temp 2 @ x=0.5,RH 1 @ x=0.1\n0,20,21,50\n60,22,23,51\n"
    found = survey([write(tmp_path, text, "a.csv")], measured=("T",), axes=("x", "t"))
    assert found.columns == {"T": "Temp*"}
    assert found.table.values["T"].tolist() == [20, 21, 22, 23]
    assert found.unused == ("RH 1 @ x=0.1",)


DAY = "2024-03-12"


def test_dates_with_a_clock_are_better_than_numbers_that_nobody_knows(tmp_path):
    rows = "".join(f"{DAY} 10:0{n}:00,45363416666.{n},0.1,{n}\n" for n in range(3))
    found = survey([write(tmp_path, f"TimeString,Time_ms,x,T\n{rows}")], measured=("T",))
    assert found.columns["t"] == "TimeString"
    finer = "".join(f"{DAY} 10:00:00,{n},0.1,{n}\n" for n in range(3))
    assert survey([write(tmp_path, f"stamp,Time_ms,x,T\n{finer}")]).columns["t"] == "Time_ms"


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("Date,Hour", "2024-03-12,{}"),
        ("Year,Month,Day,Time", "2024,3,12,10:0{}:00"),
        ("Year,DOY", "2024,7{}"),
    ],
)
def test_times_in_several_columns_are_joined_by_the_user(tmp_path, heading, row):
    rows = "".join(f"{row.format(n)},0.{n + 1},{n}\n" for n in (1, 2))
    path = write(tmp_path, f"{heading},x,T\n{rows}")
    with pytest.raises(InputError, match=r"the time stands in the columns .*`columns="):
        survey([path], measured=("T",), axes=("x", "t"))


def test_years_months_days_and_clocks_are_one_time(tmp_path):
    path = write(tmp_path, "Y,M,D,hh,mm,x,T\n2024,3,12,9,59,0.1,1\n2024,3,12,10,0,0.1,2\n")
    found = survey([path], measured=("T",), columns={"t": "Y + M + D + hh + mm"})
    assert found.table.values["t"].tolist() == [0, 60]
    assert found.table.origin == {"t": "2024-03-12T09:59:00"}
