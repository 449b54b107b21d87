"""Where in a text the table is: what separates its cells, and which line is the heading.

A table begins where rows of one width follow each other that hold mostly numbers or times. The last
line above them without a number is the heading; between the two there may be a row of units, and
above it whatever the logger says of itself.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pgt.ground.dialect import CHARACTERS, SPOKEN, Dialect
from pgt.ground.errors import InputError
from pgt.io.encoding import Line
from pgt.io.headings import as_unit, parse_heading
from pgt.io.marks import MISSING, WORDS, is_number_like
from pgt.io.stamps import is_stamp
from pgt.io.suffixed import amount

MOST_COLUMNS = 10_000
SAMPLE = 200  # rows that are looked at to find the table
MOST = 0.5  # of the rows below a heading are of its table
# What loggers write below the names beside units: how a column came about.
MADE = {
    "", "-", "1", "ts", "rn", "avg", "smp", "min", "max", "std", "tot", "mean", "average", "sample",
    "utc", "degrees_north", "degrees_east", "psu",
}  # fmt: skip
_QUOTED = re.compile(r'"[^"]*"')
_CLEAR = re.compile(r"(?<!^t)/|[°²³^]|^deg|Pa$|bar$")  # units that nobody takes for a name
_LETTER = re.compile(r"[^\W\d_](?<![eE])")  # but that of an exponent
_FORMAT = re.compile(r"\d+[sdn]")  # how wide a column is, and whether of text, dates or numbers


class Layout(NamedTuple):
    """Which of some lines are the heading, the units and the first row, and what separates cells."""

    separator: str
    heading: int
    units: int | None
    first: int

    @property
    def said(self) -> list[str]:
        """What of it is worth saying."""
        above = f"{self.heading} line{'s' if self.heading > 1 else ''} above the heading"
        found = [above] if self.heading else []
        return found + (["units in a row of their own"] if self.units is not None else [])


class _Row(NamedTuple):
    """How a line looks when it is split: its cells, how many are numbers, and how many other text."""

    cells: list[str]
    numbers: int
    words: int

    @property
    def is_data(self) -> bool:
        return self.numbers >= max(1, self.words)

    @property
    def is_entry(self) -> bool:
        """Whether it may be an entry above the table, filled up with empty cells."""
        given = [cell for cell in self.cells if cell]
        is_short = len(given) <= 2 < len(self.cells)
        return is_short and not (is_number_like(given[0]) or is_stamp(given[0]))

    @property
    def is_about_columns(self) -> bool:
        """Whether it says how the columns were made: units, means, samples."""
        given = [cell for cell in self.cells if cell]
        about = [c for c in given if c != "t" and (as_unit(c) or c.strip(" []()").lower() in MADE)]
        is_format = all(map(_FORMAT.fullmatch, given))
        is_clear = any(_CLEAR.search(cell) for cell in about)
        numbers = self.numbers - self.cells.count("1")  # which is a unit, too
        return is_format or (not numbers and (is_clear or 2 * len(about) > len(given)))

    @property
    def is_units(self) -> bool:
        given = [cell for cell in self.cells if cell.strip()]
        units = [cell for cell in given if as_unit(cell)]
        return bool(units) and all(as_unit(c) or c.strip(" []()") in ("", "-", "1") for c in given)


def find_layout(lines: Sequence[Line], dialect: Dialect) -> Layout:
    """The table in some numbered lines, none of them blank or a comment."""
    if not lines:
        raise InputError("the file is empty; write one heading line with the column names first.")
    if dialect.separator is not None:
        separator = CHARACTERS[dialect.separator]
        return (_table(lines, separator) or (0.0, Layout(separator, 0, None, 1)))[1]
    found = [table for mark in SPOKEN if (table := _table(lines, mark))]
    best = max((score for score, _ in found), default=0.0)
    tables = [layout for score, layout in found if score == best]
    tables = [layout for layout in tables if not _is_blank_behind(lines, layout, tables)]
    if len(tables) == 1:
        _check_only(lines, tables[0], [layout for _, layout in found])
        return tables[0]
    if not _LETTER.search(lines[0][1]):
        return Layout(next((m for m in (";", "\t", ",") if m in lines[0][1]), " "), 0, None, 1)
    return Layout(separator_of(*lines[:2]), 0, None, 1)


def _is_blank_behind(lines: Sequence[Line], blank: Layout, found: Sequence[Layout]) -> bool:
    """Whether blanks stand behind another mark, which then is the one that separates; a tab is a blank,
    too."""
    marks = [layout.separator for layout in found if layout.separator != blank.separator]
    if blank.separator != " " or len(marks) != 1:
        return False
    cells = lines[blank.first][1].split(" ")
    return marks == ["\t"] or all(cell.strip().endswith(marks[0]) for cell in cells[:-1] if cell)


def _check_only(lines: Sequence[Line], best: Layout, found: Sequence[Layout]) -> None:
    """Refuse a heading such as "x,t;u", which two marks may separate; in "u, m/s" the blank tells."""
    line = lines[best.heading]
    if not _LETTER.search(line[1]):  # numbers alone are no heading, as will be said
        return
    names = re.sub(r"=\s*[+-]?\d+,\d+", "", _QUOTED.sub("", line[1]))  # x=0,1 is a position
    for layout in found:
        mark = layout.separator
        if mark in (best.separator, " "):
            continue
        if re.search(rf"\w{re.escape(mark)}\w", names):
            raise _unclear(line[0], [mark, best.separator])


def _unclear(number: int, marks: Sequence[str]) -> InputError:
    kinds = " and ".join(SPOKEN[mark] for mark in SPOKEN if mark in marks)
    said = next(word for word in (";", "tab", ",", "bar", "space") if CHARACTERS[word] in marks)
    return InputError(
        f"line {number}: the heading holds {kinds}, so it is unclear which separate "
        "the cells. Use one kind, and put names that contain it in quotation marks; or say "
        f'it: `dialect=pgt.io.Dialect(separator="{said}")`.'
    )


def _table(lines: Sequence[Line], separator: str) -> tuple[float, Layout] | None:
    """How good a table the lines make with this separator, and where it is; None for none."""
    return _best([_row(leniently(line, separator)) for _, line in lines[:SAMPLE]], separator)


def find_rows(rows: Sequence[Sequence[str]]) -> Layout:
    """The table in rows that are split already; where none shows, the first is the heading."""
    found = _best([_row(cells) for cells in rows[:SAMPLE]], "")
    return found[1] if found else Layout("", 0, None, 1)


def _best(rows: Sequence[_Row], separator: str) -> tuple[float, Layout] | None:
    starts = [at for at in range(1, len(rows)) if _begins(rows, at)]
    firsts = [at for at in starts if not rows[at].is_entry] or starts
    runs = [at for at in firsts if at == firsts[0] or at - 1 not in firsts]
    found = [(at, table) for at in runs if (table := _table_at(rows, at, separator))]
    if not found:
        return _matrix(rows, runs, separator)
    if found[0][1][0] >= MOST:
        return found[0][1]
    # Above the readings stands another table: a list of channels, or of settings.
    _, table = max(found, key=lambda one: one[1][0] * (len(rows) - one[0]))
    return _matrix(rows, runs, separator) if table[0] < MOST else table


def _matrix(
    rows: Sequence[_Row], runs: Sequence[int], separator: str
) -> tuple[float, Layout] | None:
    """Numbers without names that are more than half of all rows: the first of them stands for a heading,
    and will be complained of."""
    if not runs:
        return None
    at = runs[-1]
    width = len(rows[at].cells)
    if (
        at and not rows[at - 1].numbers and len(rows[at - 1].cells) > 1
    ):  # a heading that does not fit
        return None
    is_most = width > 1 and all(len(row.cells) == width and not row.words for row in rows[at:])
    return (1.0, Layout(separator, at, None, at + 1)) if is_most and len(rows) - at > 2 else None


def _table_at(rows: Sequence[_Row], first: int, separator: str) -> tuple[float, Layout] | None:
    """The table whose first row is this; None: no line above it is its heading."""
    if len(rows[first].cells) < 2:
        return None
    units = first - 1 if first > 1 and rows[first - 1].is_units else None
    heading = _heading(rows, first if units is None else units, rows[first])
    if heading is None and _is_above(*rows[first : first + 2]):
        heading, units = first, None  # numbers of channels stand where names should
    if heading is None:
        return None
    after = [row for row in rows[first:] if _fits(row.cells, rows[heading].cells)]
    score = sum(row.numbers / max(row.numbers + row.words, 1) for row in after) / len(rows[first:])
    between = range(heading + 1, first)
    if not all(rows[at].is_about_columns for at in between):  # wrong, and will be complained of
        return score, Layout(separator, heading, None, heading + 1)
    units = next((at for at in between if any(map(as_unit, rows[at].cells))), None)
    return score, Layout(separator, heading, units, max(first, heading + 1))


def _heading(rows: Sequence[_Row], below: int, data: _Row) -> int | None:
    """The last line above of different names, skipping a few rows that are none; else the one above."""
    fitting = [at for at in range(below - 1, -1, -1) if _fits(data.cells, rows[at].cells)]
    plain = [at for at in fitting if not rows[at].numbers and at >= below - 3]
    full = [
        at for at in plain if all(rows[at].cells) and len(set(rows[at].cells)) == _width(rows, at)
    ]
    names = [at for at in full if not rows[at].is_about_columns]
    return next(iter(names or full or plain or [at for at in fitting if at == below - 1]), None)


def _width(rows: Sequence[_Row], at: int) -> int:
    return len(rows[at].cells)


def _begins(rows: Sequence[_Row], at: int) -> bool:
    """Whether rows of numbers begin here."""
    row, below = rows[at], rows[at + 1 : at + 2]
    return row.is_data and all(
        other.is_data and len(other.cells) == len(row.cells) for other in below
    )


def _fits(row: Sequence[str], heading: Sequence[str]) -> bool:
    is_open = [bool(cells) and not cells[-1] for cells in (row, heading)]
    return fits(len(row), is_open[0], len(heading), is_open[1])


def fits(count: int, is_open: bool, width: int, is_heading_open: bool) -> bool:
    """Whether a row has as many cells as the heading; some loggers end either with one more separator."""
    more, less = count == width + 1 and is_open, count == width - 1 and is_heading_open
    return count == width or more or less


def _is_above(row: _Row, below: _Row | None = None) -> bool:
    """Whether text stands above a number."""
    pairs = zip(row.cells, below.cells, strict=False) if below else ()
    return any(not is_number_like(one) and is_number_like(other) for one, other in pairs if one)


def _row(cells: Sequence[str]) -> _Row:
    cells = [cell.strip() for cell in cells]
    numbers = sum(is_number_like(cell) or is_stamp(cell) for cell in cells[:MOST_COLUMNS])
    empty = sum(cell.lower() in MISSING or cell.lower() in WORDS for cell in cells[:MOST_COLUMNS])
    if cells[0] and numbers + empty < len(cells) <= MOST_COLUMNS:
        # Numbers with units are a row where nothing else stands; in t,5 cm,10 cm they are places.
        amounts = sum(amount(cell) is not None for cell in cells)
        numbers += amounts if numbers + amounts + empty == len(cells) else 0
    return _Row(cells, numbers, len(cells) - numbers - empty)


def leniently(line: str, separator: str) -> list[str]:
    """The cells of a line, or the line where its quotation marks are not closed."""
    try:
        return split(0, line, separator)
    except InputError:
        return [line]


def split(number: int, line: str, separator: str) -> list[str]:
    """The cells of a line."""
    if separator == " ":
        return re.split(r"[ \t]+", stripped) if (stripped := line.strip(" \t\n")) else []
    if '"' not in line:
        return line.rstrip("\n").split(separator)
    try:
        (cells,) = csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise InputError(
            f"line {number}: the quotation marks do not enclose whole cells of this line. Close "
            "or remove them."
        ) from None
    return cells


def separator_of(heading: Line, first: Line | None = None) -> str:
    """The one character that separates the names in a heading; a space stands for any blanks."""
    bare = _QUOTED.sub("", heading[1])
    found = [mark for mark in SPOKEN if mark in bare and mark != " "]
    if len(found) > 1:  # all but one belong to the names, as in "u, m/s"
        row = _QUOTED.sub("", first[1]) if first else ""
        fitting = [mark for mark in found if bare.count(mark) == row.count(mark)]
        if len(fitting) != 1:
            raise _unclear(heading[0], found)
        found = fitting
    return found[0] if found else " "


def check_names(number: int, names: Sequence[str], below: Sequence[str] = ()) -> None:
    """Refuse a heading of numbers, one that is a row like that `below`, and one that is far too long."""
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"line {number} has {len(names):,} cells; at most {MOST_COLUMNS:,} columns are read. A "
            "table has one row per reading or instant: turn it round, or take a part."
        )
    is_number = [is_number_like(name) or is_stamp(name) for name in names]
    pairs = zip(names, below, is_number, strict=False)
    is_row = any(is_number) and any(a == b and a and not number for a, b, number in pairs)
    if is_row or all(is_number_like(name) for name in names if name):
        raise InputError(
            f"line {number} holds numbers where the column names should stand. Write a heading "
            "line first, such as x,t,u (without #, which marks comments)."
        )


def check_upright(number: int, names: Sequence[str], beginnings: Sequence[str]) -> None:
    """Refuse a table whose columns are written as rows: x,0.1,0.5 above t,0,0."""
    first = [names[0], *beginnings]
    is_aside = len(names) > 2 and all(map(is_number_like, names[1:]))
    is_grid = any(is_number_like(cell) or is_stamp(cell) for cell in first)
    if is_aside and any(map(_is_axis, first)) and not is_grid:
        raise InputError(
            f"line {number} begins with the name {names[0]!r} and goes on with numbers, and so do those "
            "below: the table lies on its side. Turn it round: a column per quantity, a row per reading."
        )


def _is_axis(text: str) -> bool:
    return parse_heading(text).name.lower() in ("x", "y", "z", "t", "time")


@contextmanager
def check_another_heading(
    rows: Iterable[tuple[int, Sequence[str]]], names: Sequence[str], heading: int
) -> Iterator[None]:
    """Where rows cannot be read, say which of them is a heading. Whoever made a comment of it would read
    what is below it under the names of the first."""
    try:
        yield
    except InputError:
        for number, row in rows:
            cells = [" ".join(cell.split()) for cell in row]
            if set(cells) & {*names} - {""} and not any(map(is_number_like, cells)):
                raise InputError(
                    f"line {number} is another heading than line {heading}: another table begins there. "
                    "Write each to a file of its own."
                ) from None
        raise
