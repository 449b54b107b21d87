"""Columns of arrays: numbers, or dates, also as text."""

import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.io.plain import numbers_or_dates

MOMENTS = np.array(["2024-03-12T10:00", "NaT"], "datetime64[us]")


@pytest.mark.parametrize(
    "column",
    [
        np.array(["2024-03-12 10:00", ""]),
        np.array([b"2024-03-12 10:00", b""]),
        np.array(["2024-03-12 10:00", None], object),
        MOMENTS.astype("datetime64[s]"),
    ],
)
def test_dates_are_dates_however_they_are_kept(column):
    np.testing.assert_array_equal(numbers_or_dates("t", column), MOMENTS)


def test_numbers_stay_numbers_of_their_shape():
    found = numbers_or_dates("T", np.array([["1.5", "2"], ["3", "4"]], object))
    assert found.tolist() == [[1.5, 2], [3, 4]]
    assert numbers_or_dates("T", np.arange(3)).tolist() == [0, 1, 2]


def test_other_text_is_refused():
    with pytest.raises(InputError, match="'left' is not a number"):
        numbers_or_dates("x", np.array(["left", "right"]))
