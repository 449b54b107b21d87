"""Moments in other spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.io.spellings import is_compact, with_year_first
from pgt.io.stamps import is_stamp


@pytest.mark.parametrize(
    "text",
    [
        "12 March 2024 10:00:00", "12. März 2024 10:00:00", "12-Mar-24 10:00:00", "12MAR2024 10:00:00",
        "Mar 12 2024 10:00:00", "March 12, 2024, 10:00:00", "Tue Mar 12 10:00:00 2024",
        "Tue, 12 Mar 2024 10:00:00", "20240312100000", "20240312T100000", "2024 3 12 10 0 0",
    ],
)  # fmt: skip
def test_the_year_comes_first(text):
    assert with_year_first(text) == "2024-03-12 10:00:00"
    assert is_stamp(text)


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
    assert with_year_first(text) == text
    assert not is_stamp(text)


def test_fractions_and_zones_stay():
    assert with_year_first("2024 3 12 10 0 30.25") == "2024-03-12 10:00:30.25"
    assert with_year_first("20240312T1000+0100") == "2024-03-12 10:00+0100"
    assert with_year_first("2 days 01:00:00.5") == "49:00:00.5"
    assert with_year_first("12.03.2024 10:00 Uhr") == "12.03.2024 10:00"
    assert with_year_first("12/03/2024 10h05") == "12/03/2024 10:05"
    assert with_year_first("2024年3月12日 10:00") == "2024-3-12 10:00"
    assert with_year_first("2024-366") == "2024-12-31"
    assert with_year_first("2023-366") == "2023-366"


def test_numbers_that_may_be_dates():
    assert [is_compact(text) for text in ("20240312", "202403121000", "20241301", "2024031", "12.5")] == [
        True, True, False, False, False,
    ]  # fmt: skip


@given(st.text(alphabet="0123456789 :.-+TZUCGMJanFebMärz,days", max_size=30))
def test_any_text_is_a_moment_or_not(text):
    assert isinstance(is_stamp(with_year_first(text)), bool)
