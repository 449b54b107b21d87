"""Zones of times. Moments in other spellings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.survey import survey
from pgt.io.time_spellings import find_zone, is_compact_date, normalize_moment, to_utc, zone_offset
from pgt.io.time_stamps import is_time_stamp, parse_time_stamps

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def test_zones():
    assert [zone_offset(z) for z in ("+01", "-0530", "UTC+2", "GMT", "+1:00")] == [
        3600.0, -19800.0, 7200.0, 0.0, 3600.0,
    ]  # fmt: skip
    assert find_zone("Date Time, GMT+01:00") == "GMT+01:00"
    assert find_zone("Time (UTC -3)") == "UTC-3"
    assert find_zone("Time (UTC)") is None
    assert find_zone("Time (CET)") == "CET"
    assert find_zone("Date Time, America/New_York") == "America/New_York"
    assert find_zone("Time (CST)") is None


def parse(*cells):
    return parse_time_stamps(list(cells), np.arange(2, 2 + len(cells)), "Time", None)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12T11:00:00+01:00[Europe/Berlin]", "2024-03-12T11:00:00[Europe/Berlin]",
        "Tue Mar 12 11:00:00 CET 2024", "Tue Mar 12 10:00:00 UTC 2024", "2024-072T10:00:00Z",
    ],
)  # fmt: skip
def test_zones_as_programs_write_them(text):
    assert is_time_stamp(text)
    assert parse(text)[0] == TEN


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12 11:00 CET", "2024-03-12 12:00:00 CEST", "12.03.2024 11:00 MEZ",
        "2024-03-12 05:00 EST", "2024-03-12T19:30 ACST", "2024-03-12 11:00 Europe/Berlin",
        "03/13/2024 6:00:00 AM America/New_York",
    ],
)  # fmt: skip
def test_zones_by_name(text):
    assert is_time_stamp(text)
    day = np.timedelta64(1 if "13" in text else 0, "D")
    assert parse(text)[0] == TEN + day


def test_a_place_knows_its_summer():
    night = [f"2024-03-31 {hour}:30 Europe/Berlin" for hour in ("01", "03", "04")]
    np.testing.assert_array_equal(np.diff(parse(*night)), np.timedelta64(1, "h"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2024-03-12 10:00 CST", "'CST' is the name of several zones; .* America/Chicago"),
        (
            "2024-03-31 02:30 Europe/Berlin",
            "Europe/Berlin showed 2024-03-31 02:30:00 twice or never",
        ),
        (
            "2024-10-27 02:30 Europe/Berlin",
            "Europe/Berlin showed 2024-10-27 02:30:00 twice or never",
        ),
        ("2024-03-12 10:00 Europe/Atlantis", "'Europe/Atlantis' is not"),
    ],
)
def test_zones_that_say_too_little(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


def test_a_place_in_the_heading(tmp_path):
    rows = "2024-03-31 01:30:00,0.1,1\n2024-03-31 03:30:00,0.1,2\n"
    path = write(tmp_path, "Time (Europe/Berlin),x,T\n" + rows, "a.csv")
    found = read_columns(
        path, coords=("x", "t"), fields=("T",), columns={"t": "Time (Europe/Berlin)"}
    )
    assert found.values["t"].tolist() == [0.0, 3600.0]
    assert "times from Europe/Berlin to UTC" in found.notes


def test_moments_that_are_missing_stay_so():
    moments = pd.Series(pd.to_datetime(["2024-07-01 12:00", None]))
    assert to_utc(moments, "Asia/Tokyo").isna().tolist() == [False, True]


USGS = "datetime\ttz_cd\tx\tT\n2024-03-10 01:45\t{0}\t1\t20\n2024-03-10 03:00\t{1}\t1\t21\n"


def test_a_column_of_zones_belongs_to_the_times(tmp_path):
    """Where the clocks were put forward, a quarter of an hour was an hour and a quarter."""
    for zones in (("EST", "EDT"), ("MST", "MDT"), ("PST", "PDT")):
        found = survey([write(tmp_path, USGS.format(*zones), "a.txt")])
        assert found.columns["t"] == "datetime + tz_cd"
        assert found.table.values["t"].tolist() == [0, 900]
    with pytest.raises(InputError, match=r"'CDT' is the name of several zones|'CST' is the name"):
        survey([write(tmp_path, USGS.format("CST", "CDT"), "a.txt")])
    one = survey([write(tmp_path, USGS.format("CST", "CST"), "a.txt")])
    assert one.columns["t"] == "datetime"


@pytest.mark.parametrize(
    "text",
    [
        "12 March 2024 10:00:00", "12. März 2024 10:00:00", "12-Mar-24 10:00:00", "12MAR2024 10:00:00",
        "Mar 12 2024 10:00:00", "March 12, 2024, 10:00:00", "Tue Mar 12 10:00:00 2024",
        "Tue, 12 Mar 2024 10:00:00", "20240312100000", "20240312T100000", "2024 3 12 10 0 0",
    ],
)  # fmt: skip
def test_the_year_comes_first(text):
    assert normalize_moment(text) == "2024-03-12 10:00:00"
    assert is_time_stamp(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mark 5 2024",
        "20240230T",
        "20241312",
        "12.5",
        "1710237600",
        "2024",
        "TC 1",
        "x",
        "12 rpm 2024",
    ],
)
def test_other_texts_are_no_moments(text):
    assert normalize_moment(text) == text
    assert not is_time_stamp(text)


def test_fractions_and_zones_stay():
    assert normalize_moment("2024 3 12 10 0 30.25") == "2024-03-12 10:00:30.25"
    assert normalize_moment("20240312T1000+0100") == "2024-03-12 10:00+0100"
    assert normalize_moment("2 days 01:00:00.5") == "49:00:00.5"
    assert normalize_moment("12.03.2024 10:00 Uhr") == "12.03.2024 10:00"
    assert normalize_moment("12/03/2024 10h05") == "12/03/2024 10:05"
    assert normalize_moment("2024年3月12日 10:00") == "2024-3-12 10:00"
    assert normalize_moment("2024-366") == "2024-12-31"
    assert normalize_moment("2023-366") == "2023-366"


def test_numbers_that_may_be_dates():
    texts = ("20240312", "202403121000", "20241301", "2024031", "12.5")
    assert [is_compact_date(text) for text in texts] == [
        True, True, False, False, False,
    ]  # fmt: skip


@given(st.text(alphabet="0123456789 :.-+TZUCGMJanFebMärz,days", max_size=30))
def test_any_text_is_a_moment_or_not(text):
    assert isinstance(is_time_stamp(normalize_moment(text)), bool)
