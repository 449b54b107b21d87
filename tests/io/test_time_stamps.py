"""Times in all spellings become numbers. Days counted from the first of January. Times of day that
pass midnight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.time_stamps import (
    MIDNIGHT_NOTE,
    elapsed_since,
    format_origin,
    is_time_stamp,
    parse_time_stamps,
    unwrap_midnights,
)

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def parse(*cells, dates=None):
    return parse_time_stamps(list(cells), np.arange(2, 2 + len(cells)), "Time", dates)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12 10:00:00", "2024-03-12T10:00:00", "2024-03-12T10:00:00.000", "2024/03/12 10:00",
        "2024-3-12 10:00", "12.03.2024 10:00", "12.3.24 10:00:00", "12.03.2024, 10:00:00,0",
        "12-Mar-2024 10:00:00", "2024-03-12T10:00:00Z", "2024-03-12 12:00:00+02:00",
        "2024-03-12 05:00-0500", "13/03/2024 10:00", "03/13/2024 10:00:00 AM",
    ],
)  # fmt: skip
def test_spellings_of_one_moment(text):
    assert is_time_stamp(text)
    day = np.timedelta64(1 if "13" in text else 0, "D")
    assert parse(text)[0] == TEN + day


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["01/02/2024 10:00"], "'01/02/2024 10:00' may have the day or the month first"),
        (["24-03-12"], "may have the day or the month first"),
        (["10:00", "10:01"], "hours and minutes, or minutes and seconds"),
        (
            ["2024-03-12 10:00", "2024-03-12 10:00Z"],
            "'2024-03-12 10:00Z' in line 3",
        ),
        (["2024-03-12", "warm"], "line 3, column 'Time': 'warm' is not a time like the others"),
        (["31.02.2024"], "line 2, column 'Time': '31.02.2024' is not a time"),
        (["20240312T1"], "neither a number nor a time"),
        (["2024-03-12 10:00 CET"], "with a zone as"),
    ],
)
def test_what_is_open_or_wrong(cells, message):
    with pytest.raises(InputError, match=message):
        parse(*cells)


def test_what_was_said_decides():
    assert parse("01/02/2024", dates="day first")[0] == np.datetime64("2024-02-01")
    assert parse("01/02/2024", dates="month first")[0] == np.datetime64("2024-01-02")


def test_numbers_since_an_origin():
    times = np.array([TEN, TEN + np.timedelta64(90, "s"), np.datetime64("NaT")])
    np.testing.assert_array_equal(elapsed_since(times, TEN, "s"), [0.0, 90.0, np.nan])
    np.testing.assert_array_equal(elapsed_since(times, TEN, "min"), [0.0, 1.5, np.nan])
    with pytest.raises(InputError, match="'m'"):
        elapsed_since(times, TEN, "m")
    assert format_origin(TEN) == "2024-03-12T10:00:00"
    assert format_origin(np.datetime64("2024-03-12", "us")) == "2024-03-12"


@given(st.lists(st.text(alphabet="0123456789-/.: TZ+apmM,", max_size=22), max_size=4))
def test_any_text_is_a_time_or_refused(cells):
    try:
        found = parse(*cells)
    except InputError:
        return
    assert len(found) == len(cells)


@pytest.mark.parametrize(
    "text",
    ["2024-03-12T11:00:00+01", "2024-03-12 11:00 UTC+1", "2024-03-12 10:00 GMT", "2024-03-12 09:00 -1:00",
     "2024-03-12 10:00:00.5 AM", "Mar 12, 2024 10:00", "12 March 2024 10:00:00", "20240312T100000Z",
     "202403121000", "2024 3 12 10 0"],
)  # fmt: skip
def test_zones_in_short_and_fractions(text):
    assert is_time_stamp(text)
    assert np.abs(parse(text)[0] - TEN) < np.timedelta64(1, "s")


@pytest.mark.parametrize(
    ("cells", "heading", "expected"),
    [
        (["-00:01:00", "0:00:30"], "", [-60, 30]),
        (["01:02.5", "00:30.0"], "mm:ss", [62.5, 30]),
        (["01:02"], "Elapsed (mm:ss)", [62]),
        (["01:02"], "Time [hh:mm]", [3720]),
    ],
)
def test_clocks_of_two_parts_and_before_zero(cells, heading, expected):
    found = parse_time_stamps(cells, np.arange(len(cells)), "t", None, heading)
    assert found.tolist() == expected


LATE, EARLY = 86340.0, 60.0


@pytest.mark.parametrize(
    ("times", "x"),
    [
        ([0.0, 72000.0, 0.0, 72000.0], [0.1, 0.1, 0.5, 0.5]),  # of 20 hours, sorted by place
        ([LATE, EARLY, LATE, EARLY], [0.1, 0.1, 0.5, 0.5]),
        ([0.0, 90000.0, 0.0, 90000.0], [0.1, 0.1, 0.1, 0.1]),  # no clock has 25 hours
    ],
)
def test_what_may_be_another_sensor_is_refused(times, x):
    with pytest.raises(InputError, match=r"goes back in time at line .*another sensor"):
        unwrap_midnights(np.array(times), [np.array(x)], np.arange(2, 6))


def test_clocks_are_in_seconds_and_said_to_have_passed_midnight(tmp_path):
    path = write(tmp_path, "Time [h],T@x=0.1,T@x=0.5\n23:59:00,1,2\n00:00:30,3,4\n", "a.csv")
    read = {"coords": ("x", "t"), "fields": ("T",), "columns": {"t": "Time"}}
    found = read_columns(path, **read, units={"t": "min"})
    np.testing.assert_allclose(found.values["t"], [1439.0, 1439.0, 1440.5, 1440.5])
    assert MIDNIGHT_NOTE in found.notes
    assert "t converted from s to min" in found.notes
    assert read_columns(path, **read).units["t"] == "s"
