"""Zones of times. Moments in other spellings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.core.errors import InputError
from pgt.io.time_spellings import normalize_moment
from pgt.io.time_stamps import is_time_stamp, parse_time_stamps

TEN = np.datetime64("2024-03-12T10:00:00", "us")


def parse(*cells):
    return parse_time_stamps(list(cells), np.arange(2, 2 + len(cells)), "Time", None)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12T11:00:00+01:00[Europe/Berlin]", "2024-03-12T11:00:00[Europe/Berlin]",
        "Tue Mar 12 11:00:00 CET 2024", "Tue Mar 12 10:00:00 UTC 2024", "2024-072T10:00:00Z",
    ],
)  # fmt: skip
def test_zones_as_programs_write_them(text):
    assert is_time_stamp(text)
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
    assert is_time_stamp(text)
    day = np.timedelta64(1 if "13" in text else 0, "D")
    assert parse(text)[0] == TEN + day


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
        ("2024-03-12 10:00 Europe/Atlantis", "'Europe/Atlantis' is not"),
    ],
)
def test_zones_that_say_too_little(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "12 March 2024 10:00:00", "12. März 2024 10:00:00", "12-Mar-24 10:00:00", "12MAR2024 10:00:00",
        "Mar 12 2024 10:00:00", "March 12, 2024, 10:00:00", "Tue Mar 12 10:00:00 2024",
        "Tue, 12 Mar 2024 10:00:00", "20240312100000", "20240312T100000", "2024 3 12 10 0 0",
    ],
)  # fmt: skip
def test_the_year_comes_first(text):
    assert normalize_moment(text) == "2024-03-12 10:00:00"
    assert is_time_stamp(text)


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
    assert normalize_moment(text) == text
    assert not is_time_stamp(text)


@given(st.text(alphabet="0123456789 :.-+TZUCGMJanFebMärz,days", max_size=30))
def test_any_text_is_a_moment_or_not(text):
    assert isinstance(is_time_stamp(normalize_moment(text)), bool)
