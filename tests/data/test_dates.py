"""Dates in, dates out; seconds in between."""

import datetime

import numpy as np
import pandas as pd
import pytest

import pgt
from pgt.data.dates import (
    UNIT,
)

NOON = 1714564800.0
HOUR = pgt.Domain(x=(0, 1), t=("2024-05-01T12:00", "2024-05-01T13:00"))


def test_a_domain_of_dates_is_one_of_seconds_and_says_so():
    assert HOUR.bounds("t") == (NOON, NOON + 3600)
    assert HOUR.units == {"t": UNIT}
    assert (
        pgt.Domain(x=(0, 1), t=np.array(["2024-05-01T12", "2024-05-01T13"], "datetime64[h]"))
        == HOUR
    )
    python = tuple(datetime.datetime(2024, 5, 1, hour) for hour in (12, 13))
    assert pgt.Domain(x=(0, 1), t=python, units={"t": "s"}) == HOUR


def test_dates_are_shown_as_dates_where_something_is_wrong():
    assert "t=(2024-05-01T12:00:00, 2024-05-01T13:00:00)" in repr(HOUR)
    late = pgt.Observations.from_arrays({"x": [0.5], "t": ["2024-05-02"]}, {"u": [1.0]})
    with pytest.raises(
        pgt.InputError, match=r"t = \(2024-05-01T12:00:00, .*row 0: t = 2024-05-02T00"
    ):
        late.check_inside(HOUR)


@pytest.mark.parametrize(
    "column",
    [
        ["2024-05-01T12:00:30", "2024-05-01T12:59:00"],
        ["2024-05-01 14:00:30+02:00", "2024-05-01 12:59Z"],
        np.array(["2024-05-01T12:00:30", "2024-05-01T12:59:00"], "datetime64[ms]"),
        pd.Series(pd.to_datetime(["2024-05-01T12:00:30", "2024-05-01T12:59:00"])),
        pd.Series(pd.to_datetime(["2024-05-01T12:00:30Z", "2024-05-01T12:59:00Z"])),
    ],
)
def test_readings_may_have_dates(column):
    frame = pd.DataFrame({"x": [0.1, 0.2], "t": column, "u": [1.0, 2.0]})
    for readings in (
        pgt.Observations.from_arrays({"x": [0.1, 0.2], "t": column}, {"u": [1.0, 2.0]}),
        pgt.Observations.from_table(frame, coords=("x", "t"), fields=("u",)),
    ):
        assert readings.points[:, 1].tolist() == [NOON + 30, NOON + 3540]
        assert dict(readings.units) == {"t": UNIT}
        readings.check_inside(HOUR)


def test_mixed_columns_and_other_units_are_refused():
    with pytest.raises(pgt.InputError, match="dates and something else"):
        pgt.Observations.from_arrays({"t": ["2024-05-01", "soon"]}, {"u": [1.0, 2.0]})
    with pytest.raises(pgt.InputError, match="counted in seconds"):
        pgt.Domain(t=("2024-05-01", "2024-05-02"), units={"t": "h"})
    with pytest.raises(pgt.InputError, match="row 1, is nan"):
        pgt.Observations.from_arrays({"t": ["2024-05-01", None]}, {"u": [1.0, 2.0]})
