"""Numbers as loggers write them: decimal marks, groups of thousands, and words in place of a reading.

A comma or a point with three digits behind it may be either mark: "1,234". Which it is must show
somewhere in the file, or be given in the dialect.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError

MISSING_WORDS = {"", "na", "nan", "n/a", "null", "none"}
# What instruments and spreadsheets write in place of a reading.
NO_READING_WORDS = {
    "-", "--", "---", "?", "*", "over", "overrange", "overload", "overflow", "ovl", "ol", "+over",
    "-over", "under", "underrange", "err", "error", "fault", "fail", "open", "open tc", "burnout",
    "short", "bad", "invalid", "no data", "nodata", "missing", "undef", "unknown", "#n/a", "#nv",
    "#value!", "#wert!", "#div/0!", "#ref!", "#num!", "1.#qnan", "1.#ind", "-1.#ind", "nan(ind)",
    "-nan(ind)", "-nan",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?")
_FORTRAN = re.compile(r"([+-]?(?:\d+[.,]\d*|[.,]\d+))[dD]([+-]?\d{1,3})")
# Signs that only `normalize_number` understands: other minus signs, apostrophes, non-breaking blanks.
_UNUSUAL_SIGN = re.compile(r"[dD'’\u2212\u00a0\u2009\u202f]")
_GROUP_MARK = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_DOTTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})")
_TIME_LIKE = re.compile(r"\d:\d\d|(18|19|20)\d\d\D")
_GROUPS_AND_DECIMAL = re.compile(r"[+-]?\d{1,3}(([.,])\d{3})+(?!\2)[.,]\d*")
_TWO_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(([.,])\d{3})(\2\d{3})+")
_GROUP_OR_DECIMAL = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")


@dataclass
class NumberFormat:
    """The decimal mark, and the mark between groups of thousands (None: there is none).

    `hidden_words` counts the words that were read in place of numbers so far.
    """

    decimal: str = "."
    thousands: str | None = None
    hidden_words: int = field(default=0, compare=False)

    @property
    def notes(self) -> list[str]:
        """Notes on decimal commas and on marks between thousands."""
        names = {",": "commas", ".": "points"}
        found = ["decimal commas"] if self.decimal == "," else []
        return found + ([f"{names[self.thousands]} between thousands"] if self.thousands else [])

    def numbers(
        self, cells: list[str], lines: np.ndarray, name: str, is_axis: bool = False
    ) -> np.ndarray:
        """A column of numbers, NaN where there is no reading; an error names the first other cell."""
        text = "".join(cells)
        is_simple = self.decimal == "." or "." not in text
        if text.isascii() and "_" not in text and is_simple:  # float() also accepts 1_000 and ٣
            plain = cells if self.decimal == "." else (cell.replace(",", ".") for cell in cells)
            try:
                return np.fromiter(map(float, plain), np.float64, len(cells))
            except ValueError:  # a missing value, or text: look at every cell
                pass
        where = zip(cells, lines.tolist(), strict=True)
        found = [self._number(cell, line, name, is_axis) for cell, line in where]
        return np.array(found, np.float64)

    def _number(self, cell: str, line: int, name: str, is_axis: bool) -> float:
        text = normalize_number(cell)
        if text.lower() in MISSING_WORDS:
            return np.nan
        if (plain := self._without_groups(text)) is not None:
            return float(plain)
        if text.lower() in NO_READING_WORDS or (len(text) > 2 and set(text) <= set("-*#?.")):
            self.hidden_words += 1
            return np.nan
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise InputError(
            f"line {line}, column {name!r}: {shown!r} is not a number. {self._advice(text, is_axis)}"
        )

    def _without_groups(self, text: str) -> str | None:
        """The number as Python writes it; None where it is none in this format."""
        other = "," if self.decimal == "." else "."
        if other in text:
            whole = re.split(r"[eE]", text.partition(self.decimal)[0])[0]
            groups = rf"[+-]?\d{{1,3}}(\{other}\d{{3}})+"
            if self.thousands != other or not re.fullmatch(groups, whole):
                return None
            text = text.replace(other, "")
        text = text.replace(self.decimal, ".")
        return text if is_plain_number(text) else None

    def _advice(self, text: str, is_axis: bool) -> str:
        others = NumberFormat(".", ","), NumberFormat(",", ".")
        if _NUMBER.fullmatch(text) and any(other._without_groups(text) for other in others):
            mark = "point" if self.decimal == "." else "comma"
            return (
                f"The other numbers have a decimal {mark}; write this one alike, or give the mark: "
                f"{_DECIMAL_OPTION}."
            )
        if _TIME_LIKE.search(text):
            return "Correct it; a time is written as 2024-03-12 10:00:00, with its zone as +01:00."
        if is_axis:
            return "Correct it, or put a # before the line if it is no reading."
        return "Correct it, or leave the cell empty to hide the reading."


def normalize_number(cell: str) -> str:
    """A number with plain signs: ASCII minus, e before an exponent, no blanks between thousands.

    >>> [normalize_number(text) for text in ("−1.5D+03", "101'325.5", "1\u202f250,5")]
    ['-1.5e+03', '101325.5', '1250,5']
    """
    text = cell.strip()
    if not _UNUSUAL_SIGN.search(text):
        return text
    return _GROUP_MARK.sub("", _FORTRAN.sub(r"\1e\2", text.replace("\u2212", "-")))


_DECIMAL_OPTION = '`dialect=pgt.io.Dialect(decimal=".")` or `dialect=pgt.io.Dialect(decimal=",")`'


def is_plain_number(text: str) -> bool:
    """Whether Python reads the text as a number in ASCII digits."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def is_number_like(text: str) -> bool:
    """Whether a cell is a number in any of the formats.

    >>> is_number_like("1.234,5"), is_number_like("nan"), is_number_like("12:30")
    (True, True, False)
    >>> is_number_like("12.03.2024")
    False
    """
    if is_plain_number(text):
        return True
    text = normalize_number(text)
    return (bool(_NUMBER.fullmatch(text)) and not _DOTTED_DATE.fullmatch(text)) or is_plain_number(
        text
    )


def find_number_format(cells: Iterable[str], dialect: Dialect) -> NumberFormat:
    """The format that the numbers among some cells show.

    >>> find_number_format(["0,5", "1.250,0"], Dialect())
    NumberFormat(decimal=',', thousands='.', hidden_words=0)
    """
    numbers = {text for cell in cells if _NUMBER.fullmatch(text := normalize_number(cell))}
    numbers = {re.split("[eE]", text)[0] for text in numbers}
    groups = {found[2] for text in numbers if (found := _GROUPS_AND_DECIMAL.fullmatch(text))}
    groups |= {found[2] for text in numbers if (found := _TWO_GROUPS.fullmatch(text))}
    grouped = (_GROUPS_AND_DECIMAL, _TWO_GROUPS, _GROUP_OR_DECIMAL)
    plain = {text for text in numbers if not any(form.fullmatch(text) for form in grouped)}
    sure = {mark for text in plain for mark in ".," if mark in text}
    if dialect.decimal is not None:
        other = "," if dialect.decimal == "." else "."
        return NumberFormat(
            dialect.decimal, other if any(other in text for text in numbers) else None
        )
    return _decide_format(numbers, groups, sure)


def _decide_format(numbers: set[str], groups: set[str], sure: set[str]) -> NumberFormat:
    """The format, from the marks between groups and those that are surely decimal marks."""
    decimals = sure | {"," if group == "." else "." for group in groups}
    with_comma = [text for text in numbers if "," in text]
    if decimals == {"."} or not (decimals or with_comma):
        if with_comma and "," not in groups:
            raise _ambiguous_mark(min(with_comma))
        return NumberFormat(".", "," if "," in groups else None)
    if decimals == {","}:
        return NumberFormat(",", "." if "." in groups else None)
    if not decimals:
        raise _ambiguous_mark(min(with_comma))
    shown = [min((text for text in numbers if mark in text), default=None) for mark in ".,"]
    if None in shown:  # 1,234,567 has groups and 0,5 a decimal, by the same mark
        one = min((text for text in numbers if _TWO_GROUPS.fullmatch(text)), default="")
        other = min(text for text in numbers if re.search(r"[.,]", text) and text != one)
        raise InputError(
            f"the mark between the thousands of {one!r} is the decimal mark of {other!r}; write them "
            f"alike, or give the decimal mark: {_DECIMAL_OPTION}."
        )
    raise InputError(
        f"some numbers have decimal points ({shown[0]}) and some decimal commas ({shown[1]}); write "
        f"them alike, or give the decimal mark: {_DECIMAL_OPTION}."
    )


def _ambiguous_mark(text: str) -> InputError:
    joined, point = text.replace(",", ""), text.replace(",", ".")
    return InputError(
        f"{text!r} may be {joined} or {point}. Give the decimal mark: {_DECIMAL_OPTION}."
    )


def is_numeric_column(cells: Sequence[str]) -> bool:
    """Whether most of the cells that are not missing are numbers."""
    given = [c for c in cells if c.lower() not in MISSING_WORDS | NO_READING_WORDS]
    return bool(given) and sum(map(is_number_like, given)) > 0.5 * len(given)
