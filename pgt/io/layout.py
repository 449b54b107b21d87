"""The position of the table in a text: the separator of its cells, its heading and its first row.

The first row of a table is where rows begin that have one width and mostly hold numbers or times. The
last line above it without a number is the heading. Between the two there may be a row of units, and above
the heading the header of the logger.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pgt.core.dialect import SEPARATOR_NAMES, SEPARATORS, Dialect
from pgt.core.errors import InputError
from pgt.io.encoding import Line
from pgt.io.headings import parse_heading, parse_unit
from pgt.io.number_format import MISSING_WORDS, NO_READING_WORDS, is_number_like
from pgt.io.time_stamps import is_time_stamp

MAX_COLUMNS = 10_000
SAMPLE_ROWS = 200  # The table is sought in the first rows, at most this many.
# Rows of numbers are accepted as the table if at least this share of the rows below fits the heading.
MIN_TABLE_SHARE = 0.5
# Words in a row of units that say how a column was processed.
PROCESSING_WORDS = {
    "", "-", "1", "ts", "rn", "avg", "smp", "min", "max", "std", "tot", "mean", "average", "sample",
    "utc", "degrees_north", "degrees_east", "psu",
}  # fmt: skip
_COLUMN_FORMAT = re.compile(r"\d+[sdn]")  # the width and type of a column of an RDB file
COMMENT_MARK = re.compile(r"\s*(#+|%+|//+|!+)")
_QUOTED = re.compile(r'"[^"]*"')
_CLEAR_UNIT = re.compile(r"(?<!^t)/|[°²³^]|^deg|Pa$|bar$")  # units that cannot be names
_LETTER = re.compile(r"[^\W\d_](?<![eE])")  # a letter that cannot be that of an exponent


class TableLayout(NamedTuple):
    """The separator of cells, and the indices of the heading, the units and the first row."""

    separator: str
    heading: int
    units: int | None
    first: int

    @property
    def notes(self) -> list[str]:
        """Notes on a header above the heading and on a row of units."""
        header_note = f"{self.heading} line{'s' if self.heading > 1 else ''} above the heading"
        found = [header_note] if self.heading else []
        return found + (["units in a row of their own"] if self.units is not None else [])


class _SplitRow(NamedTuple):
    """The cells of a line, the number of numbers among them, and the number of other texts."""

    cells: list[str]
    numbers: int
    words: int

    @property
    def is_data(self) -> bool:
        """Whether the row may be a row of readings: it has at least as many numbers as words."""
        return self.numbers >= max(1, self.words)

    @property
    def is_entry(self) -> bool:
        """Whether the row may be an entry of the header, padded with empty cells."""
        filled = [cell for cell in self.cells if cell]
        is_short = len(filled) <= 2 < len(self.cells)
        return is_short and not (is_number_like(filled[0]) or is_time_stamp(filled[0]))

    @property
    def is_about_columns(self) -> bool:
        """Whether the row describes the columns: their units, or that they are means or samples."""
        filled = [cell for cell in self.cells if cell]
        descriptions = [
            cell
            for cell in filled
            if cell != "t" and (parse_unit(cell) or cell.strip(" []()").lower() in PROCESSING_WORDS)
        ]
        is_clear = any(_CLEAR_UNIT.search(cell) for cell in descriptions)
        numbers = self.numbers - self.cells.count("1")  # "1" is also a unit
        is_format = all(map(_COLUMN_FORMAT.fullmatch, filled))
        return is_format or (not numbers and (is_clear or 2 * len(descriptions) > len(filled)))

    @property
    def is_units(self) -> bool:
        """Whether the row holds a unit, or a mark of none, in every cell that is not empty."""
        filled = [cell for cell in self.cells if cell.strip()]
        units = [cell for cell in filled if parse_unit(cell)]
        return bool(units) and all(
            parse_unit(cell) or cell.strip(" []()") in ("", "-", "1") for cell in filled
        )


def find_layout(lines: Sequence[Line], dialect: Dialect) -> TableLayout:
    """The layout of the table in numbered lines, none of which is blank or a comment."""
    if not lines:
        raise InputError("the file is empty; write one heading line with the column names first.")
    if dialect.separator is not None:
        separator = SEPARATORS[dialect.separator]
        return (_find_table(lines, separator) or (0.0, TableLayout(separator, 0, None, 1)))[1]
    candidates = [table for mark in SEPARATOR_NAMES if (table := _find_table(lines, mark))]
    best = max((score for score, _ in candidates), default=0.0)
    tables = [layout for score, layout in candidates if score == best]
    tables = [layout for layout in tables if not _is_trailing_blank(lines, layout, tables)]
    if len(tables) == 1:
        _check_unambiguous(lines, tables[0], [layout for _, layout in candidates])
        return tables[0]
    if not _LETTER.search(lines[0][1]):
        return TableLayout(next((m for m in (";", "\t", ",") if m in lines[0][1]), " "), 0, None, 1)
    return TableLayout(find_separator(*lines[:2]), 0, None, 1)


def is_content(line: str) -> bool:
    """Whether a line is neither blank nor a comment; zero bytes, after a loss of power, are blank."""
    return bool(line.strip(" \t\r\n\f\v\x00\x1a")) and not COMMENT_MARK.match(line)


def find_table_lines(head: Sequence[Line], dialect: Dialect) -> list[Line]:
    """The lines without comments, but for a heading in the last comment, as `numpy.savetxt` writes it.

    >>> find_table_lines([(1, "# x, t"), (2, "1,2"), (3, "3,4")], Dialect())
    [(1, ' x, t'), (2, '1,2'), (3, '3,4')]
    """
    kept = [line for line in head if is_content(line[1])]
    above = [line for line in head if kept and line[0] < kept[0][0] and line[1].strip()]
    marks = [SEPARATORS[dialect.separator]] if dialect.separator else list(SEPARATOR_NAMES)
    for mark in marks if len(kept) > 1 and above else ():
        rows = [_classify_row(split_leniently(text, mark)) for _, text in kept[:2]]
        width = len(rows[0].cells)
        if width < 2 or any(len(r.cells) != width or r.words or not r.numbers for r in rows):
            continue
        number, text = above[-1]
        text = COMMENT_MARK.sub("", text.strip("\r\n"), count=1)
        names = _classify_row(split_leniently(text, mark))
        if len(names.cells) == width and not names.numbers:
            return [(number, text), *kept]
    return kept


def _is_trailing_blank(
    lines: Sequence[Line], blank: TableLayout, found: Sequence[TableLayout]
) -> bool:
    """Whether blanks only follow another separator, which then separates; a tab counts as a blank."""
    marks = [layout.separator for layout in found if layout.separator != blank.separator]
    if blank.separator != " " or len(marks) != 1:
        return False
    cells = lines[blank.first][1].split(" ")
    return marks == ["\t"] or all(cell.strip().endswith(marks[0]) for cell in cells[:-1] if cell)


def _check_unambiguous(
    lines: Sequence[Line], best: TableLayout, found: Sequence[TableLayout]
) -> None:
    """Raise for a heading such as "x,t;u" with two possible separators; "u, m/s" is not one of them."""
    line = lines[best.heading]
    if not _LETTER.search(line[1]):  # `check_heading` refuses numbers
        return
    names = re.sub(r"=\s*[+-]?\d+,\d+", "", _QUOTED.sub("", line[1]))  # x=0,1 is a position
    for layout in found:
        mark = layout.separator
        if mark in (best.separator, " "):
            continue
        if re.search(rf"\w{re.escape(mark)}\w", names):
            raise _ambiguous_separator(line[0], [mark, best.separator])


def _ambiguous_separator(number: int, marks: Sequence[str]) -> InputError:
    kinds = " and ".join(SEPARATOR_NAMES[mark] for mark in SEPARATOR_NAMES if mark in marks)
    notes = next(word for word in (";", "tab", ",", "bar", "space") if SEPARATORS[word] in marks)
    return InputError(
        f"line {number}: the heading holds {kinds}, so it is unclear which separate "
        "the cells. Use one kind, and put names that contain it in quotation marks; or say "
        f'it: `dialect=pgt.io.Dialect(separator="{notes}")`.'
    )


def _find_table(lines: Sequence[Line], separator: str) -> tuple[float, TableLayout] | None:
    """The score and the layout of the best table with this separator; None where there is no table."""
    return _find_best_table(
        [_classify_row(split_leniently(line, separator)) for _, line in lines[:SAMPLE_ROWS]],
        separator,
    )


def find_layout_of_rows(rows: Sequence[Sequence[str]]) -> TableLayout:
    """The layout of rows that are already split; without a table, the first row is the heading."""
    found = _find_best_table([_classify_row(cells) for cells in rows[:SAMPLE_ROWS]], "")
    return found[1] if found else TableLayout("", 0, None, 1)


def _find_best_table(rows: Sequence[_SplitRow], separator: str) -> tuple[float, TableLayout] | None:
    """The score and the layout of the first good table, or else of the best one; None without a table."""
    starts = [at for at in range(1, len(rows)) if _is_first_row(rows, at)]
    first_rows = [at for at in starts if not rows[at].is_entry] or starts
    run_starts = [at for at in first_rows if at == first_rows[0] or at - 1 not in first_rows]
    tables = [(at, table) for at in run_starts if (table := _find_table_at(rows, at, separator))]
    if not tables:
        return _find_matrix(rows, run_starts, separator)
    if tables[0][1][0] >= MIN_TABLE_SHARE:
        return tables[0][1]
    # The first table may be one above the readings, such as a list of channels or of settings.
    _, table = max(tables, key=lambda one: one[1][0] * (len(rows) - one[0]))
    return _find_matrix(rows, run_starts, separator) if table[0] < MIN_TABLE_SHARE else table


def _find_matrix(
    rows: Sequence[_SplitRow], run_starts: Sequence[int], separator: str
) -> tuple[float, TableLayout] | None:
    """A table of numbers without a heading; `check_heading` then raises an error that says so."""
    if not run_starts:
        return None
    at = run_starts[-1]
    width = len(rows[at].cells)
    if (
        at and not rows[at - 1].numbers and len(rows[at - 1].cells) > 1
    ):  # a heading of another width
        return None
    are_all_numbers = width > 1 and all(
        len(row.cells) == width and not row.words for row in rows[at:]
    )
    return (
        (1.0, TableLayout(separator, at, None, at + 1))
        if are_all_numbers and len(rows) - at > 2
        else None
    )


def _find_table_at(
    rows: Sequence[_SplitRow], first: int, separator: str
) -> tuple[float, TableLayout] | None:
    """The score and the layout of the table with the first row `first`; None without a heading."""
    if len(rows[first].cells) < 2:
        return None
    units = first - 1 if first > 1 and rows[first - 1].is_units else None
    heading = _find_heading(rows, first if units is None else units, rows[first])
    if heading is None:
        return None
    fitting_rows = [row for row in rows[first:] if _row_fits(row.cells, rows[heading].cells)]
    score = sum(row.numbers / max(row.numbers + row.words, 1) for row in fitting_rows) / len(
        rows[first:]
    )
    between = range(heading + 1, first)
    if not all(rows[at].is_about_columns for at in between):  # later checks report the row
        return score, TableLayout(separator, heading, None, heading + 1)
    units = next((at for at in between if any(map(parse_unit, rows[at].cells))), None)
    return score, TableLayout(separator, heading, units, max(first, heading + 1))


def _find_heading(rows: Sequence[_SplitRow], below: int, data: _SplitRow) -> int | None:
    """The index of the heading: the last line above with different names, at most three lines above.

    Without such a line it is the line directly above, if that has the width of the data.
    """
    fitting = [at for at in range(below - 1, -1, -1) if _row_fits(data.cells, rows[at].cells)]
    plain = [at for at in fitting if not rows[at].numbers and at >= below - 3]
    full = [at for at in plain if all(c := rows[at].cells) and len({*c}) == len(c)]
    names = [at for at in full if not rows[at].is_about_columns]
    return next(iter(names or full or plain or [at for at in fitting if at == below - 1]), None)


def _is_first_row(rows: Sequence[_SplitRow], at: int) -> bool:
    """Whether rows of numbers begin at this row."""
    row, below = rows[at], rows[at + 1 : at + 2]
    return row.is_data and all(
        other.is_data and len(other.cells) == len(row.cells) for other in below
    )


def _row_fits(row: Sequence[str], heading: Sequence[str]) -> bool:
    """Whether a row has as many cells as the heading, but for one more separator at the end."""
    is_open, is_heading_open = (bool(cells) and not cells[-1] for cells in (row, heading))
    return is_fitting_width(len(row), is_open, len(heading), is_heading_open)


def is_fitting_width(count: int, is_open: bool, width: int, is_heading_open: bool) -> bool:
    """Whether a row of `count` cells fits a heading of `width` cells; either may end with a separator."""
    has_extra_cell = count == width + 1 and is_open
    return count == width or has_extra_cell or (count == width - 1 and is_heading_open)


def _classify_row(cells: Sequence[str]) -> _SplitRow:
    """The row with its numbers and words counted."""
    cells = [cell.strip() for cell in cells]
    numbers = sum(is_number_like(cell) or is_time_stamp(cell) for cell in cells[:MAX_COLUMNS])
    empty = sum(cell.lower() in MISSING_WORDS | NO_READING_WORDS for cell in cells[:MAX_COLUMNS])
    return _SplitRow(cells, numbers, len(cells) - numbers - empty)


def split_leniently(line: str, separator: str) -> list[str]:
    """The cells of a line; the whole line is one cell where its quotation marks are not closed."""
    try:
        return split_line(0, line, separator)
    except InputError:
        return [line]


def split_line(number: int, line: str, separator: str) -> list[str]:
    """The cells of a line; raises where quotation marks do not enclose whole cells."""
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


def find_separator(heading: Line, first: Line | None = None) -> str:
    """The character that separates the names in a heading; a blank stands for any number of blanks."""
    unquoted = _QUOTED.sub("", heading[1])
    candidates = [mark for mark in SEPARATOR_NAMES if mark in unquoted and mark != " "]
    if len(candidates) > 1:  # all but one belong to the names, as in "u, m/s"
        row = _QUOTED.sub("", first[1]) if first else ""
        fitting = [mark for mark in candidates if unquoted.count(mark) == row.count(mark)]
        if len(fitting) != 1:
            raise _ambiguous_separator(heading[0], candidates)
        candidates = fitting
    return candidates[0] if candidates else " "


def check_heading(number: int, names: Sequence[str], below: Sequence[str] = ()) -> None:
    """Raise for a heading of numbers, one that equals the row `below`, and one of too many columns."""
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"line {number} has {len(names):,} cells; at most {MAX_COLUMNS:,} columns are read. A "
            "table has one row per reading or instant: turn it round, or take a part."
        )
    is_number = [is_number_like(name) or is_time_stamp(name) for name in names]
    pairs = zip(names, below, is_number, strict=False)
    is_row = any(is_number) and any(a == b and a and not number for a, b, number in pairs)
    if is_row or all(is_number_like(name) for name in names if name):
        raise InputError(
            f"line {number} holds numbers where the column names should stand. Write a heading "
            "line first, such as x,t,u (without #, which marks comments)."
        )


def check_orientation(number: int, names: Sequence[str], beginnings: Sequence[str]) -> None:
    """Raise for a table whose columns are written as rows: x,0.1,0.5 above t,0,0."""
    first_column = [names[0], *beginnings]
    is_transposed = len(names) > 2 and all(map(is_number_like, names[1:]))
    is_grid = any(is_number_like(cell) or is_time_stamp(cell) for cell in first_column)
    axes = {parse_heading(cell).name.lower() for cell in first_column} & {*"xyzt", "time"}
    if is_transposed and axes and not is_grid:
        raise InputError(
            f"line {number} begins with the name {names[0]!r} and goes on with numbers, and so do those "
            "below: the table lies on its side. Turn it round: a column per quantity, a row per reading."
        )


@contextmanager
def explain_second_heading(
    rows: Iterable[tuple[int, Sequence[str]]], names: Sequence[str], heading: int
) -> Iterator[None]:
    """A context that replaces an error by one that names a second heading, where there is one.

    The second heading is not skipped, because the columns below it may be others than those above.
    """
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
