"""Numbers as loggers write them: decimal marks, thousands, and words in place of a reading.

A comma or a point with three digits behind it may be either mark: "1,234". Which it is must show
somewhere in the file, or be said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError

MISSING = {"", "na", "nan", "n/a", "null", "none"}
# What instruments and spreadsheets write where there is no reading.
WORDS = {
    "-", "--", "---", "----", "-----", "—", "?", "*", "***", "*****", "over", "ovr", "overrange",
    "over range", "overload", "overflow", "ovld", "ovfl", "ol", "o.l.", "under", "underrange",
    "under range", "err", "error", "fault", "fail", "open", "short", "bad", "invalid", "no data",
    "nodata", "missing", "#n/a", "#nv", "#na", "#value!", "#wert!", "#div/0!", "#ref!", "#num!",
    "open tc", "opentc", "burnout",
    "burn out", "+over", "-over", "+ol", "-ol", "ice", "eqp", "bkw",
    "undef", "undefined", "unavailable", "unknown",
    "i/o timeout", "bad input", "sensor error", "not available", "no reading", "lo",
    "hi", "low", "high", "tnc", "disconnected", ".", "..", "...",
    "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "nan(ind)", "-nan", "-nan(ind)", "qnan", "snan",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?")
_FORTRAN = re.compile(r"([+-]?(?:\d+[.,]\d*|[.,]\d+))[dD]([+-]?\d{1,3})")
# An exponent of three digits has no letter there; 0.5-100 is rather from one to the other.
_NO_LETTER = re.compile(r"([+-]?\d?[.,]\d{3,})([+-]\d{3})")
# Marks between thousands that are nothing else: an apostrophe, blanks that break no line.
_ODD = re.compile(r"[dD'’\u2212\u00a0\u2009\u202f ]|\d[+-]")
_BLANKS = re.compile(r"(?P<sign>[+-]?) *(?P<number>[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d*)?|[\d.,]+)")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})")
_GROUPED = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_TIMELIKE = re.compile(r"\d:\d\d|(18|19|20)\d\d\D")
_SPREADSHEET = re.compile(r'="([^"]*)"')  # a number as text, for Excel to leave it alone
_AS_TEXT = re.compile(r"^'(?=[+-]?\.?\d)")  # what makes text of it where it is typed in
_BOTH = re.compile(r"[+-]?\d{1,3}(([.,])\d{3})+(?!\2)[.,]\d*")
_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(([.,])\d{3})(\2\d{3})+")
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")


@dataclass
class Marks:
    """The decimal mark, the mark between thousands (None: there is none), and what was hidden."""

    decimal: str = "."
    thousands: str | None = None
    words: int = field(default=0, compare=False)  # read so far in place of readings

    @property
    def said(self) -> list[str]:
        """What is worth saying; points are not."""
        names = {",": "commas", ".": "points"}
        found = ["decimal commas"] if self.decimal == "," else []
        return found + ([f"{names[self.thousands]} between thousands"] if self.thousands else [])

    def numbers(
        self, cells: list[str], lines: np.ndarray, name: str, is_axis: bool = False
    ) -> np.ndarray:
        """A column of numbers, NaN where there is no reading; or which cell is none."""
        together = "".join(cells)
        if together.isascii() and "_" not in together:  # float() also takes 1_000 and other digits
            try:
                return np.fromiter(map(float, self._plain(cells, together)), np.float64, len(cells))
            except ValueError:  # a missing value, or text: look at every cell
                pass
        where = zip(cells, lines.tolist(), strict=True)
        found = [self._number(cell, line, name, is_axis) for cell, line in where]
        return np.array(found, np.float64)

    def _plain(self, cells: list[str], together: str) -> Iterable[str]:
        if self.decimal == ".":
            return cells
        if "." in together:
            raise ValueError  # a point is no decimal mark here
        return (cell.replace(",", ".") for cell in cells)

    def _number(self, cell: str, line: int, name: str, is_axis: bool) -> float:
        text = tidy(cell)
        if text.lower() in MISSING:
            return np.nan
        if (plain := self._without_groups(text)) is not None:
            return float(plain)
        if text.lower() in WORDS or (len(text) > 2 and set(text) <= set("-*#?")):
            self.words += 1
            return np.nan
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise InputError(
            f"line {line}, column {name!r}: {shown!r} is not a number. {self._advice(text, is_axis)}"
        )

    def _without_groups(self, text: str) -> str | None:
        """The number as Python writes it; None: it is none."""
        other = "," if self.decimal == "." else "."
        if other in text:
            whole = re.split(r"[eE]", text.partition(self.decimal)[0])[0]
            groups = rf"[+-]?\d{{1,3}}(\{other}\d{{3}})+"
            if self.thousands != other or not re.fullmatch(groups, whole):
                return None
            text = text.replace(other, "")
        text = text.replace(self.decimal, ".")
        return text if is_plain(text) else None

    def _advice(self, text: str, is_axis: bool) -> str:
        others = Marks(".", ","), Marks(",", ".")
        if _NUMBER.fullmatch(text) and any(marks._without_groups(text) for marks in others):
            mark = "point" if self.decimal == "." else "comma"
            return (
                f"The other numbers have a decimal {mark}; write this one alike, or say which mark "
                f"it is: {_SAY_MARK}."
            )
        if _TIMELIKE.search(text):
            return "Correct it; a time is written as 2024-03-12 10:00:00, with its zone as +01:00."
        if is_axis:
            return "Correct it, or put a # before the line if it is no reading."
        return "Correct it, or leave the cell empty to hide the reading."


def tidy(cell: str) -> str:
    """A cell with the signs that Python knows: a plain minus, e before an exponent, thousands unmarked.

    >>> tidy("−1.5D+03"), tidy("101'325.5"), tidy("+ 1 250,5"), tidy("0.2225-103")
    ('-1.5e+03', '101325.5', '+1250,5', '0.2225e-103')
    """
    text = _SPREADSHEET.sub(r"\1", cell.strip())
    text = _AS_TEXT.sub("", text)
    if not _ODD.search(text):
        return text
    text = text.replace("\u2212", "-")
    if found := _BLANKS.fullmatch(text):
        return found["sign"] + found["number"].replace(" ", "")
    if found := _NO_LETTER.fullmatch(text):
        return f"{found[1]}e{found[2]}"
    return _GROUPED.sub("", _FORTRAN.sub(r"\1e\2", text))


_SAY_MARK = '`dialect=pgt.io.Dialect(decimal=".")` or `dialect=pgt.io.Dialect(decimal=",")`'


def is_plain(text: str) -> bool:
    """Whether Python reads the text as a number, in plain digits."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def is_number_like(text: str) -> bool:
    """Whether a cell is a number in some way of writing numbers.

    >>> is_number_like("1.234,5"), is_number_like("nan"), is_number_like("12:30")
    (True, True, False)
    >>> is_number_like("12.03.2024")
    False
    """
    if is_plain(text):
        return True
    text = tidy(text)
    return (bool(_NUMBER.fullmatch(text)) and not _DATE.fullmatch(text)) or is_plain(text)


def find_marks(cells: Iterable[str], dialect: Dialect) -> Marks:
    """The marks that the numbers among some cells show.

    >>> find_marks(["0,5", "1.250,0"], Dialect())
    Marks(decimal=',', thousands='.', words=0)
    """
    numbers = {text for cell in cells if _NUMBER.fullmatch(text := tidy(cell))}
    numbers = {re.split("[eE]", text)[0] for text in numbers}
    groups = {found[2] for text in numbers if (found := _BOTH.fullmatch(text))}
    groups |= {found[2] for text in numbers if (found := _GROUPS.fullmatch(text))}
    plain = {text for text in numbers if not _BOTH.fullmatch(text) and not _GROUPS.fullmatch(text)}
    sure = {mark for text in plain for mark in ".," if mark in text and not _EITHER.fullmatch(text)}
    if dialect.decimal is not None:
        other = "," if dialect.decimal == "." else "."
        return Marks(dialect.decimal, other if any(other in text for text in numbers) else None)
    return _decided(numbers, groups, sure)


def _decided(numbers: set[str], groups: set[str], sure: set[str]) -> Marks:
    decimals = sure | {"," if group == "." else "." for group in groups}
    if decimals == {"."} or (not decimals and not any("," in text for text in numbers)):
        thousands = groups & {","}
        lone = [text for text in numbers if "," in text]
        if lone and not thousands:
            raise _open(min(lone))
        return Marks(".", "," if thousands else None)
    if decimals == {","}:
        thousands = groups & {"."}
        return Marks(",", "." if thousands else None)
    if not decimals:
        raise _open(min(text for text in numbers if "," in text))
    shown = [min((text for text in numbers if mark in text), default=None) for mark in ".,"]
    if None in shown:  # 1,234,567 has thousands and 0,5 a decimal, by the same mark
        one = min((text for text in numbers if _GROUPS.fullmatch(text)), default="")
        other = min(text for text in numbers if re.search(r"[.,]", text) and text != one)
        raise InputError(
            f"{one!r} has a mark between thousands that in {other!r} is the decimal one; write them "
            f"alike, or say which it is: {_SAY_MARK}."
        )
    raise InputError(
        f"some numbers have decimal points ({shown[0]}) and some decimal commas ({shown[1]}); write "
        f"them alike, or say which mark it is: {_SAY_MARK}."
    )


def _open(text: str) -> InputError:
    joined, point = text.replace(",", ""), text.replace(",", ".")
    return InputError(
        f"{text!r} may be {joined} or {point}. Say which mark is the decimal one: {_SAY_MARK}."
    )
