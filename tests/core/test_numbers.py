"""Numbers as people write them keep their value."""

import hypothesis.strategies as st
import pytest
import xarray as xr
from hypothesis import given

from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers
from pgt.core.numbers import interval, number, ticks


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_value(value):
    text = number(value, 4).replace("−", "-").replace(" × 10", "e")
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    assert float(text.translate(raised)) == pytest.approx(value, rel=6e-4, abs=1e-310)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_and_inside(low, length):
    found = ticks(low, low + length)
    assert 2 <= len(found) <= 11
    slack = 1e-6 * length + 1e-9 * abs(low)
    assert all(low - slack <= tick <= low + length + slack for tick in found)


@given(st.floats(-1e7, 1e7), st.floats(1e-4, 1e7))
def test_the_ends_of_an_interval_differ_by_its_length(low, length):
    first, last = map(float, interval(low, low + length).split(" to "))
    assert last - first == pytest.approx(length, rel=2e-2)


@pytest.mark.parametrize("ends", [(1.0, 1.0), (0.0, 0.0), (float("nan"), 1.0), (1e308, -1e308)])
def test_an_interval_of_any_numbers_is_said(ends):
    assert " to " in interval(*ends)


@pytest.mark.parametrize("data", [xr.Dataset(), "a", b"a", len, object(), {"a": 1}, 10**400])
def test_what_holds_no_numbers_is_named(data):
    with pytest.raises(InputError, match="`u`"):
        as_numbers("u", data)
