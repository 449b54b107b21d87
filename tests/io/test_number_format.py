"""Decimal marks, thousands, and words in place of readings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io.number_format import NumberFormat, find_number_format, is_number_like


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


def test_what_was_said_decides():
    assert find_number_format(["1,234"], Dialect(decimal=",")) == NumberFormat(",")
    assert find_number_format(["1,234"], Dialect(decimal=".")) == NumberFormat(".", ",")
    lines = np.array([2])
    assert NumberFormat(".", ",").numbers(["1,234"], lines, "u").tolist() == [1234.0]
    assert NumberFormat(",").numbers(["1,234"], lines, "u").tolist() == [1.234]


def test_numbers_and_words():
    marks, lines = NumberFormat(",", "."), np.arange(2, 9)
    cells = ["1.234,5", "", "OVER", " ---", "-,5", "NaN", "1e3"]
    found = marks.numbers(cells, lines, "u")
    np.testing.assert_array_equal(found, [1234.5, np.nan, np.nan, np.nan, -0.5, np.nan, 1000.0])
    assert marks.hidden_words == 2
    assert marks.notes == ["decimal commas", "points between thousands"]


@pytest.mark.parametrize("cell", ["1.23", "1.2345,6", "1,2,3", "1_000", "１２", "warm", "1.234"])
def test_what_is_no_number_is_named_with_its_line(cell):
    with pytest.raises(InputError, match=f"line 7, column 'u': '{cell}' is not a number"):
        NumberFormat(",").numbers([cell], np.array([7]), "u")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back(number):
    lines = np.array([1])
    assert NumberFormat().numbers([repr(number)], lines, "u")[0] == number
    assert NumberFormat(",").numbers([repr(number).replace(".", ",")], lines, "u")[0] == number


def test_what_looks_like_a_number():
    assert all(map(is_number_like, ("1", "-0,5", ".5", "1.234,5", "1e-3", "nan", "1,234.5")))
    assert not any(map(is_number_like, ("", "x", "12:30", "0x10", "1_0", "TC1", "1-2")))
    assert not any(
        map(is_number_like, ("12.03.2024", "1.2.24", "0.5-100", "2024 072", "0 100 200"))
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [("−5.5", -5.5), ("1.5D+03", 1500.0), ("-.5d-1", -0.05), ("101'325.5", 101325.5),
     ("1\u202f234\u00a0567", 1234567.0), ("2’000", 2000.0)],
)  # fmt: skip
def test_other_signs(text, number):
    assert is_number_like(text)
    marks = find_number_format([text], Dialect())
    assert marks.numbers([text], np.array([2]), "u").tolist() == [number]


@pytest.mark.parametrize("text", ["20d", "12D4", "1.5D", "5'5", "1'0000", "−"])
def test_what_only_looks_like_it(text):
    assert not is_number_like(text)


def test_one_mark_for_two_things_is_a_message():
    with pytest.raises(InputError, match=r"'1,234,567' .* '0,5'"):
        find_number_format(["1,234,567", "0,5"], Dialect())


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


def test_a_hint_that_cannot_help_is_not_given():
    with pytest.raises(InputError) as caught:
        NumberFormat(".", ",").numbers(["1,01,325.5"], np.array([2]), "p")
    assert "dialect" not in str(caught.value)
