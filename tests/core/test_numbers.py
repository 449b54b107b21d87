"""Numbers as people write them keep their value."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pgt.core.numbers import interval, ticks


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
