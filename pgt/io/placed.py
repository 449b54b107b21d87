"""Rows of positions above or below the names of the columns: "x [m], 0.1, 0.5".

They are written into the names, as in "TC1 (x=0.1 m)", which is how a position is read. What pandas
writes for a table with several rows of names is alike; the name of its first column stands below them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pgt.ground.dialect import CHARACTERS, SPOKEN, Dialect
from pgt.io.called import AXES, is_called
from pgt.io.encoding import Line
from pgt.io.headings import as_unit, parse_heading, places_in
from pgt.io.layout import leniently
from pgt.io.marks import is_number_like
from pgt.io.stamps import is_stamp

LOOKED_AT = 60  # rows in which a heading ends
HIGH = 4  # rows of names, units and positions that one heading has at most
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?")
# A name with a point behind it, between commas; 0,1 may be a number.
_POINT = re.compile(
    r"(?:(?<=,)|(?<=^))[^,()\n]*\((?:-?\d*\.\d+,\s*){1,2}-?\d*\.?\d+\)[^,()\n]*(?=,|\n|$)"
)

Row = tuple[int, list[str]]


class Positions(NamedTuple):
    """Which row they are, along which axis, and in which unit."""

    row: int
    axis: str
    unit: str


def quoted(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines with quotation marks around names that hold a point: CH1(0.1,0.2) among commas.

    >>> quoted([(1, "t,CH1(0.1,0.2)"), (2, "0,20")])
    [(1, 't,"CH1(0.1,0.2)"'), (2, '0,20')]
    """
    return [
        (
            n,
            _POINT.sub(r'"\g<0>"', text)
            if n <= LOOKED_AT and not re.search('[;"\t|]', text)
            else text,
        )
        for n, text in lines
    ]


def in_lines(lines: Sequence[Line], dialect: Dialect) -> Sequence[Line]:
    """The lines of a table with positions in its heading; without such a row, as they are."""
    marks = [CHARACTERS[dialect.separator]] if dialect.separator else SPOKEN
    for mark in marks:
        rows = [(number, leniently(text, mark)) for number, text in lines[:LOOKED_AT]]
        found = in_heading(rows)
        if found is not rows:
            texts = {
                number: mark.join(_in_one_piece(c, mark) for c in row) for number, row in found
            }
            kept = [(n, texts[n] + "\n") for n, text in lines[:LOOKED_AT] if n in texts]
            return [*kept, *lines[LOOKED_AT:]]
    return lines


def in_heading(rows: list[Row]) -> list[Row]:
    """The rows with positions in the names of the columns, and without those rows.

    >>> in_heading([(1, ["t", "TC1", "TC2"]), (2, ["x [m]", "0.1", "0.5"]), (3, ["0", "20", "21"])])
    [(1, ['t', 'TC1 (x=0.1 m)', 'TC2 (x=0.5 m)']), (3, ['0', '20', '21'])]
    """
    found = _positions(rows)
    if found is None:
        return rows
    cells = rows[found.row][1]
    first = _first_row(rows, found.row)
    at = _names(rows, found.row, first)
    names = [""] * len(cells) if at is None else rows[at][1]
    below = [k for k in range(found.row + 1, first) if not any(rows[k][1][1:]) and k != at]
    begin = (
        rows[below[0]][1][0] if below else names[0] if at is not None else _of_times(rows[first])
    )
    placed = [begin, *(_placed(n, c, found) for n, c in zip(names[1:], cells[1:], strict=True))]
    heading = found.row if at is None else at
    left_out = {found.row, *below} - {heading}
    return in_heading(
        [
            (n, placed if k == heading else row)
            for k, (n, row) in enumerate(rows)
            if k not in left_out
        ]
    )


def _positions(rows: Sequence[Row]) -> Positions | None:
    """The first row that begins with the name of an axis of space, and goes on with numbers."""
    for at, (_, cells) in enumerate(rows):
        heading = parse_heading(cells[0].strip(" :")) if len(cells) > 2 else None
        axes = [a for a in AXES[:3] if heading and is_called(heading.name, a)]
        given = [cell for cell in cells[1:] if cell.strip()]
        if axes and len(given) > 1 and all(map(_is_position, given)) and _first_row(rows, at):
            return Positions(at, axes[0], (heading.unit if heading else None) or "")
    return None


def _is_position(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None and bool(places_in(f"x={cell.strip()}"))


def _first_row(rows: Sequence[Row], at: int) -> int:
    """The first row of readings below; 0: there is none, as in a table that lies on its side."""
    width = len(rows[at][1])
    for k in range(at + 1, min(at + HIGH, len(rows))):
        begin, *others = (cell.strip() for cell in rows[k][1])
        is_row = is_number_like(begin) or is_stamp(begin)
        if is_row and len(rows[k][1]) == width and any(map(is_number_like, others)):
            return k
    return 0


def _names(rows: Sequence[Row], at: int, first: int) -> int | None:
    """The row of names: right above the positions, or between them and the readings."""
    width = len(rows[at][1])
    for k in (*range(at - 1, max(at - HIGH, -1), -1), *range(at + 1, first)):
        given = [cell.strip() for cell in rows[k][1][1:] if cell.strip()]
        is_plain = given and not any(is_number_like(c) or is_stamp(c) for c in given)
        if len(rows[k][1]) == width and is_plain and not all(map(as_unit, given)):
            return k
    return None


def _of_times(row: Row) -> str:
    """The name of a first column that only has one for the row of positions."""
    return "time" if is_stamp(row[1][0].strip()) else ""


def _placed(name: str, cell: str, at: Positions) -> str:
    value = cell.strip().replace(",", ".")
    return f"{name} ({at.axis}={value} {at.unit}".rstrip() + ")" if value else name


def _in_one_piece(cell: str, mark: str) -> str:
    if mark == " ":
        return "\xa0".join(cell.split())
    return f'"{cell}"' if mark in cell and '"' not in cell else cell.strip("\n")
