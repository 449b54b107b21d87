"""Zones of times."""

import numpy as np
import pandas as pd
import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io import read_columns
from pgt.io.stamps import is_stamp, parse_stamps
from pgt.io.survey import survey
from pgt.io.zones import seconds_of, to_utc, zone_in

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def test_zones():
    assert [seconds_of(z) for z in ("+01", "-0530", "UTC+2", "GMT", "+1:00")] == [
        3600.0, -19800.0, 7200.0, 0.0, 3600.0,
    ]  # fmt: skip
    assert zone_in("Date Time, GMT+01:00") == "GMT+01:00"
    assert zone_in("Time (UTC -3)") == "UTC-3"
    assert zone_in("Time (UTC)") is None
    assert zone_in("Time (CET)") == "CET"
    assert zone_in("Date Time, America/New_York") == "America/New_York"
    assert zone_in("Time (CST)") is None


def parse(*cells):
    return parse_stamps(list(cells), np.arange(2, 2 + len(cells)), "Time", None)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12T11:00:00+01:00[Europe/Berlin]", "2024-03-12T11:00:00[Europe/Berlin]",
        "Tue Mar 12 11:00:00 CET 2024", "Tue Mar 12 10:00:00 UTC 2024", "2024-072T10:00:00Z",
    ],
)  # fmt: skip
def test_zones_as_programs_write_them(text):
    assert is_stamp(text)
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
    assert is_stamp(text)
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
        ("2024-03-12 10:00 Europe/Atlantis", "'Europe/Atlantis' is the name of no zone"),
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
    assert "times from Europe/Berlin to UTC" in found.said


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
