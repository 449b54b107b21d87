"""Time counted from the first date."""

import numpy as np
import xarray as xr

import pgt
from pgt.data.clock import counted_from, readings_from, start_of

TIMES = np.array(["2024-05-01T12:00", "2024-05-01T12:30"], "datetime64[ns]")
FIELD = xr.Dataset({"u": ("t", [1.0, 2.0])}, {"t": TIMES})


def test_dates_become_seconds_after_the_first():
    start = start_of(FIELD)
    counted = counted_from(FIELD, start)
    assert start == 1714564800.0
    assert counted.t.to_numpy().tolist() == [0.0, 1800.0]
    assert counted.t.attrs["units"] == "s since 2024-05-01T12:00:00"
    assert counted_from(FIELD, 0.0).t.attrs["units"] == "seconds since 1970-01-01"


def test_numbers_stay_as_they_are():
    plain = xr.Dataset({"u": ("t", [1.0, 2.0])}, {"t": [0.0, 1.0]})
    assert start_of(plain) is None
    assert counted_from(plain, None) is plain
    assert counted_from(plain, 0.0) is plain


def test_readings_are_counted_from_the_same_start():
    readings = pgt.Observations.from_arrays({"t": TIMES}, {"u": [1.0, 2.0]})
    moved = readings_from(readings, start_of(FIELD))
    assert moved.points[:, 0].tolist() == [0.0, 1800.0]
    assert dict(moved.units)["t"] == "s since 2024-05-01T12:00:00"
    assert readings_from(readings, None) is readings
