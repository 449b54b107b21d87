"""Decimal marks, thousands, and words in place of readings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io.number_format import NumberFormat, find_number_format


@pytest.mark.parametrize(
    ("cells", "decimal", "thousands"),
    [
        (["1", "2.5"], ".", None),
        (["1.234", "5.678"], ".", None),
        (["0,5", "1,234"], ",", None),
        (["0,125"], ",", None),
        (["1,234.5"], ".", ","),
        (["1.234,5", "7"], ",", "."),
        (["1,234,567"], ".", ","),
        (["1.234.567"], ",", "."),
        (["1,5e3", "2"], ",", None),
        (["a,b", "x"], ".", None),
    ],
)
def test_marks_show_in_the_numbers(cells, decimal, thousands):
    assert find_number_format(cells, Dialect()) == NumberFormat(decimal, thousands)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1,234", "12"], "'1,234' may be 1234 or 1.234"),
        (["0.5", "1,234"], "'1,234' may be 1234 or 1.234"),
        (["0.5", "0,5"], r"decimal points \(0.5\) and some decimal commas \(0,5\)"),
    ],
)
def test_what_is_open_is_asked(cells, message):
    with pytest.raises(InputError, match=message) as caught:
        find_number_format(cells, Dialect())
    assert 'dialect=pgt.io.Dialect(decimal=",")' in str(caught.value)


@pytest.mark.parametrize("cell", ["1.23", "1.2345,6", "1,2,3", "1_000", "１２", "warm", "1.234"])
def test_what_is_no_number_is_named_with_its_line(cell):
    with pytest.raises(InputError, match=f"line 7, column 'u': '{cell}' is not a number"):
        NumberFormat(",").numbers([cell], np.array([7]), "u")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back(number):
    lines = np.array([1])
    assert NumberFormat().numbers([repr(number)], lines, "u")[0] == number
    assert NumberFormat(",").numbers([repr(number).replace(".", ",")], lines, "u")[0] == number


def test_advice_suits_what_stands_there():
    marks = NumberFormat()
    with pytest.raises(
        InputError, match=r"a time is written as 2024-03-12 10:00:00, with its zone"
    ):
        marks.numbers(["2024-03-12 10:00 CET"], np.array([2]), "t", True)
    with pytest.raises(InputError, match="put a # before the line"):
        marks.numbers(["Mean"], np.array([2]), "x", True)
    with pytest.raises(InputError, match="leave the cell empty"):
        marks.numbers(["warm"], np.array([2]), "u")
