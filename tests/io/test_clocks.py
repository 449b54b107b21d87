"""Times of day that pass midnight."""

import numpy as np
import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io import read_columns
from pgt.io.clocks import SAID, past_midnight

LATE, EARLY = 86340.0, 60.0


def test_a_clock_that_falls_is_of_the_next_day():
    times = np.array([LATE, np.nan, EARLY, 40000.0, LATE, EARLY])
    found = past_midnight(times, [], np.arange(6))
    day = 86400.0
    np.testing.assert_array_equal(
        found, [LATE, np.nan, EARLY + day, 40000 + day, LATE + day, EARLY + 2 * day]
    )
    steady = np.array([0.0, 40000.0, 0.0, 40000.0])  # sorted by place, within half a day
    assert past_midnight(steady, [np.array([1.0, 1.0, 2.0, 2.0])], np.arange(4)) is steady


def test_all_sensors_pass_midnight_at_once():
    times, x = np.array([LATE, LATE, EARLY, EARLY]), np.array([0.1, 0.5, 0.1, 0.5])
    assert past_midnight(times, [x], np.arange(4))[2:].tolist() == [86460.0, 86460.0]
    moving = past_midnight(times[1:3], [np.array([0.1, 0.5])], np.arange(2))
    assert moving.tolist() == [LATE, 86460.0]


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
        past_midnight(np.array(times), [np.array(x)], np.arange(2, 6))


def test_sorted_by_place_with_the_same_times():
    times, x = np.array([LATE - 60, LATE, EARLY] * 2), np.repeat([0.1, 0.5], 3)
    found = past_midnight(times, [x], np.arange(6))
    assert found.tolist() == [LATE - 60, LATE, EARLY + 86400.0] * 2
    day = np.array([0.0, 36000.0, 72000.0] * 2)
    np.testing.assert_array_equal(past_midnight(day, [x], np.arange(6)), day)
    with pytest.raises(InputError, match="goes back in time"):
        past_midnight(times + np.repeat([0.0, 7.0], 3), [x], np.arange(6))


def test_clocks_are_in_seconds_and_said_to_have_passed_midnight(tmp_path):
    path = write(tmp_path, "Time [h],T@x=0.1,T@x=0.5\n23:59:00,1,2\n00:00:30,3,4\n", "a.csv")
    read = {"coords": ("x", "t"), "fields": ("T",), "columns": {"t": "Time"}}
    found = read_columns(path, **read, units={"t": "min"})
    np.testing.assert_allclose(found.values["t"], [1439.0, 1439.0, 1440.5, 1440.5])
    assert SAID in found.said
    assert "t converted from s to min" in found.said
    assert read_columns(path, **read).units["t"] == "s"
