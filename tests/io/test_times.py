"""Columns of times."""

import numpy as np
import pytest
from sensor_files import write

from pgt.io.survey import survey

DAY = "2024-03-12"
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


def test_hours_may_be_counted_to_24(tmp_path):
    rows = "2024-03-12,23,0.1,20\n2024-03-12,24,0.1,21\n"
    found = survey([write(tmp_path, "date,hour,x,T\n" + rows)])
    assert found.table.values["t"].tolist() == [0.0, 3600.0]


@pytest.mark.parametrize("times", [("0", "60"), ("930", "1000"), ("0970", "1000")])
def test_other_numbers_beside_a_date_are_numbers(tmp_path, times):
    rows = "".join(f"2024-03-12,{time},0.1,20\n" for time in times)
    found = survey([write(tmp_path, "date,time,x,T\n" + rows)])
    assert found.columns["t"] == "time"
    assert found.table.values["t"].tolist() == [float(time) for time in times]


def test_milliseconds_belong_to_the_time_and_are_no_minutes(tmp_path):
    rows = "".join(f"{DAY},10:00:00,{ms},0.1,{ms}\n" for ms in (0, 5, 250))
    found = survey([write(tmp_path, f"Date,Time,ms,x,T\n{rows}")], measured=("T",))
    assert found.columns["t"] == "Date + Time + ms"
    np.testing.assert_allclose(found.table.values["t"], [0, 0.005, 0.25])


def test_times_of_day_without_zeros_in_front(tmp_path):
    rows = "".join(f"20240312,{clock},0.1,{n}\n" for n, clock in enumerate((0, 5, 59, 100, 1015)))
    found = survey([write(tmp_path, f"DATE,TIME,x,T\n{rows}")], measured=("T",))
    np.testing.assert_allclose(found.table.values["t"], [0, 300, 3540, 3600, 36900])


def test_dates_with_a_clock_are_better_than_numbers_that_nobody_knows(tmp_path):
    rows = "".join(f"{DAY} 10:0{n}:00,45363416666.{n},0.1,{n}\n" for n in range(3))
    found = survey([write(tmp_path, f"TimeString,Time_ms,x,T\n{rows}")], measured=("T",))
    assert found.columns["t"] == "TimeString"
    finer = "".join(f"{DAY} 10:00:00,{n},0.1,{n}\n" for n in range(3))
    assert survey([write(tmp_path, f"stamp,Time_ms,x,T\n{finer}")]).columns["t"] == "Time_ms"


def test_clocks_that_are_put_back_are_said(tmp_path):
    rows = "".join(f"2024-10-27 {clock},0.1,1\n" for clock in ("02:30", "02:59", "02:10", "03:10"))
    found = survey([write(tmp_path, f"time,x,T\n{rows}")], measured=("T",))
    assert any("times go back at 2024-10-27T02:59" in word for word in found.table.said)
