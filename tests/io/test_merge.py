"""Several tables as one. Times that count from a moment which nobody says. Numbers that stand for
no reading."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.columns import Columns
from pgt.io.merge import (
    _note_epoch,
    hide_sentinels,
    merge_tables,
)

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def one(u, units=None, lines=(2, 3), **values):
    columns = {name: np.array(column) for name, column in values.items()} | {"u": np.array(u)}
    return Columns(columns, units or {}, np.array(lines), ("commas",))


def joined(*tables, units=None, missing=None, sigma=None):
    names = [f"{letter}.csv" for letter in "ab"][: len(tables)]
    return merge_tables(tables, names, units or {}, missing, ("u",), sigma or {})


def test_a_standard_deviation_takes_the_scale_without_the_offset():
    table = one([20.0, 30.0], {"u": "degF"}, **{"σ u": [9.0, 18.0]})
    found = joined(table, units={"u": "degC"}, sigma={"σ u": "u"})
    np.testing.assert_allclose(found.values["σ u"], [5.0, 10.0])


def test_all_files_count_from_one_moment():
    second = np.timedelta64(1, "s")
    late, early = one([1.0, 2.0], t=[TEN + second, TEN + 2 * second]), one([3.0, 4.0], t=[TEN] * 2)
    found = joined(late, early)
    assert found.values["t"].tolist() == [1.0, 2.0, 0.0, 0.0]
    assert found.origin == {"t": "2024-03-12T10:00:00"}
    assert found.units["t"] == "seconds since 2024-03-12T10:00:00"
    since = joined(late, units={"t": "min since 2024-03-12 09:59:31"})
    assert since.values["t"].tolist() == [0.5, 31 / 60]


def test_units_that_do_not_fit():
    with pytest.raises(InputError, match="'u' is in 'K' by the file, but in 'm' by `units`"):
        joined(one([1.0, 2.0], {"u": "K"}), units={"u": "m"})


MOMENT = 1710237600.0  # 2024-03-12 10:00 UTC


@pytest.mark.parametrize(
    ("first", "step", "unit"),
    [
        (MOMENT, 60.0, "seconds since 1970-01-01"),
        (1e3 * MOMENT, 6e4, "milliseconds since 1970-01-01"),
        (MOMENT / 86400 + 25569, 1 / 1440, "days since 1899-12-30"),
    ],
)
def test_what_is_said_can_be_written(tmp_path, first, step, unit):
    rows = "".join(f"0,{first + n * step!r},{n}\n" for n in range(3))
    path, names = write(tmp_path, f"x,t,u\n{rows}"), {"coords": ("x", "t"), "fields": ("u",)}
    found = read_columns(path, **names)
    assert found.notes[-1].endswith(f"if so, write units = {{t = '{unit}'}}")
    said = read_columns(path, **names, units={"t": unit})
    assert said.units["t"].endswith(unit.partition(" ")[2])
    assert not any("may" in word for word in said.notes)


@pytest.mark.parametrize(
    ("times", "unit"), [([0.0, 1e9], None), ([45363.0, 45364.0], "h"), ([], None)]
)
def test_other_times_raise_no_doubt(times, unit):
    assert _note_epoch(np.array(times, float), unit) is None


@pytest.mark.parametrize("number", [-9999.0, -999.9, 1e30, -1e30, 9.9e37, 99999.0, -99.99])
def test_sentinels_are_hidden_and_counted(number):
    values, found = hide_sentinels("T", np.array([20.5, number, 21.0, number]), None)
    np.testing.assert_array_equal(values, [20.5, np.nan, 21.0, np.nan])
    assert found == {number: 2}


@pytest.mark.parametrize(
    "values",
    [
        [-998.0, -999.0, -1001.0],
        [0.0, 5e4, 99999.0, 2e5],
        [101325.0, 99999.0, 99990.0],
        [1e30, 1e30],
        [20.5, 1e308],
        [-9999.0],
        [1.0, np.nan, 3e25],
    ],
)
def test_readings_are_left_alone(values):
    found, hidden = hide_sentinels("T", np.array(values), None)
    np.testing.assert_array_equal(found, values)
    assert hidden == {}


def test_what_is_open_is_asked_and_what_was_said_decides():
    values = np.array([-900.0, 100.0, -999.9])
    with pytest.raises(InputError, match=r"'T': -999.9 may be a reading.*missing=\[-999.9\]"):
        hide_sentinels("T", np.array([-700.0, 100.0, -999.9]), None)
    assert hide_sentinels("T", values, ())[1] == {}
    assert hide_sentinels("T", values, (100.0,))[1] == {100.0: 1}
