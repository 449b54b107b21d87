"""Several tables as one."""

import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.io.columns import Columns
from pgt.io.together import together

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def one(u, units=None, lines=(2, 3), **values):
    columns = {name: np.array(column) for name, column in values.items()} | {"u": np.array(u)}
    return Columns(columns, units or {}, np.array(lines), ("commas",))


def joined(*tables, units=None, missing=None, sigma=None):
    names = [f"{letter}.csv" for letter in "ab"][: len(tables)]
    return together(tables, names, units or {}, missing, ("u",), sigma or {})


def test_files_in_two_units_become_one():
    found = joined(one([0.0, 1.0], {"u": "degC"}), one([273.15, 300.0], {"u": "K"}))
    np.testing.assert_allclose(found.values["u"], [0.0, 1.0, 0.0, 26.85])
    assert found.said == ("2 files", "commas", "u converted from K to degC")
    assert found.lines.tolist() == ["2 of a.csv", "3 of a.csv", "2 of b.csv", "3 of b.csv"]


def test_a_standard_deviation_takes_the_scale_without_the_offset():
    table = one([20.0, 30.0], {"u": "degF"}, **{"σ u": [9.0, 18.0]})
    found = joined(table, units={"u": "degC"}, sigma={"σ u": "u"})
    np.testing.assert_allclose(found.values["σ u"], [5.0, 10.0])


def test_sentinels_are_known_in_the_unit_of_the_file():
    found = joined(one([20.0, -9999.0], {"u": "degC"}), units={"u": "K"})
    np.testing.assert_array_equal(found.values["u"], [293.15, np.nan])
    assert "1 sentinel hidden" in found.said


def test_all_files_count_from_one_moment():
    second = np.timedelta64(1, "s")
    late, early = one([1.0, 2.0], t=[TEN + second, TEN + 2 * second]), one([3.0, 4.0], t=[TEN] * 2)
    found = joined(late, early)
    assert found.values["t"].tolist() == [1.0, 2.0, 0.0, 0.0]
    assert found.origin == {"t": "2024-03-12T10:00:00"}
    assert found.units["t"] == "seconds since 2024-03-12T10:00:00"
    since = joined(late, units={"t": "min since 2024-03-12 09:59:31"})
    assert since.values["t"].tolist() == [0.5, 31 / 60]


def test_numbers_that_count_from_two_moments():
    table = one([1.0, 2.0], {"t": "minutes since 2024-03-12 10:00"}, t=[0.0, 1.0])
    other = one([1.0, 2.0], {"t": "s since 2024-03-12 10:01"}, t=[0.0, 60.0])
    assert joined(table, other).values["t"].tolist() == [0.0, 1.0, 1.0, 2.0]


def test_units_that_do_not_fit():
    with pytest.raises(InputError, match="'u' is in 'K' by the file, but in 'm' by `units`"):
        joined(one([1.0, 2.0], {"u": "K"}), units={"u": "m"})
