"""Times in all spellings become numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.ground.errors import InputError
from pgt.io.stamps import is_stamp, parse_stamps, since, split_origin, spoken

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def parse(*cells, dates=None):
    return parse_stamps(list(cells), np.arange(2, 2 + len(cells)), "Time", dates)


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
    assert is_stamp(text)
    day = np.timedelta64(1 if "13" in text else 0, "D")
    assert parse(text)[0] == TEN + day


def test_clocks_are_seconds():
    np.testing.assert_array_equal(parse("0:00:30", "", "10:00:01.5"), [30.0, np.nan, 36001.5])
    np.testing.assert_array_equal(parse("12:00:00 AM", "1:00:00 PM"), [0.0, 46800.0])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["01/02/2024 10:00"], "'01/02/2024 10:00' may have the day or the month first"),
        (["24-03-12"], "may have the day or the month first"),
        (["10:00", "10:01"], "hours and minutes, or minutes and seconds"),
        (
            ["2024-03-12 10:00", "2024-03-12 10:00Z"],
            "'2024-03-12 10:00Z' in line 3 says its zone, and",
        ),
        (["2024-03-12", "warm"], "line 3, column 'Time': 'warm' is not a time like the others"),
        (["31.02.2024"], "line 2, column 'Time': '31.02.2024' is not a time"),
        (["20240312T10"], "neither a number nor a time"),
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
    np.testing.assert_array_equal(since(times, TEN, "s"), [0.0, 90.0, np.nan])
    np.testing.assert_array_equal(since(times, TEN, "min"), [0.0, 1.5, np.nan])
    with pytest.raises(InputError, match="'m' is no unit"):
        since(times, TEN, "m")
    assert spoken(TEN) == "2024-03-12T10:00:00"
    assert spoken(np.datetime64("2024-03-12", "us")) == "2024-03-12"


def test_units_that_count_from_a_moment():
    assert split_origin("minutes since 2024-03-12 10:00") == ("minutes", TEN)
    assert split_origin("s") == ("s", None)
    assert split_origin("days since the flood") == ("days since the flood", None)


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
     "2024-03-12 10:00:00.5 AM", "12.03.2024 10:00:00:250"],
)  # fmt: skip
def test_zones_in_short_and_fractions(text):
    assert is_stamp(text)
    assert np.abs(parse(text)[0] - TEN) < np.timedelta64(1, "s")


def test_the_last_moment_of_a_day_is_the_first_of_the_next():
    found = parse("2024-03-11 23:59:59", "2024-03-11 24:00:00", "2024-03-12 00:00:01")
    assert np.diff(found).tolist() == [np.timedelta64(1, "s")] * 2


def test_years_of_two_digits_may_come_first():
    with pytest.raises(InputError, match=r"'24/03/13 10:00' may have the year first.*day first"):
        parse("24/03/13 10:00", "24/03/14 10:00")
    assert parse("13/03/24 10:00", "14/03/24 10:00")[0] == TEN + np.timedelta64(1, "D")
    assert parse("24/03/13 10:00", "24/03/14 10:00", dates="day first")[0].astype(str)[:4] == "2013"


def test_letters_for_half_a_day():
    np.testing.assert_array_equal(parse("12:00:00a", "1:00:00 p"), [0.0, 46800.0])


@pytest.mark.parametrize(
    ("cells", "heading", "expected"),
    [
        (["-00:01:00", "0:00:30"], "", [-60, 30]),
        (["01:02.5", "00:30.0"], "", [62.5, 30]),
        (["01:02"], "Elapsed (mm:ss)", [62]),
        (["01:02"], "Time [hh:mm]", [3720]),
    ],
)
def test_clocks_of_two_parts_and_before_zero(cells, heading, expected):
    found = parse_stamps(cells, np.arange(len(cells)), "t", None, heading)
    assert found.tolist() == expected


def test_the_heading_says_what_a_date_begins_with():
    for heading, month in {"Date (dd/mm/yyyy)": 2, "MM/DD/YYYY hh:mm": 1}.items():
        found = parse_stamps(["01/02/2024 10:00"], np.arange(1), "t", None, heading)
        assert str(found[0]).startswith(f"2024-0{month}-0{3 - month}")


def test_an_origin_with_seconds_of_one_digit():
    assert str(split_origin("hours since 1900-01-01 00:00:0.0")[1]) == "1900-01-01T00:00:00.000000"
