"""The lines above the readings: comments, headings in several rows, positions in rows of their own.

A heading may stand in a comment, as `numpy.savetxt`, buoys and simulations write it, and its names may
contain blanks where two blanks or more separate the names. Positions in a row above or below the names
are written into the names, as in "TC1 (x=0.1 m)". The headings of a grid are positions themselves:
"t, 0.1, 0.5" above rows of readings, or dates above the columns of a glass fibre.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pgt.core.dialect import CHARACTERS, SPOKEN, Dialect
from pgt.core.errors import InputError
from pgt.io.column_aliases import AXES, is_axis_alias
from pgt.io.encoding import Line
from pgt.io.headings import Heading, find_length_axis, parse_heading, parse_positions, parse_unit
from pgt.io.layout import split_leniently
from pgt.io.number_format import MISSING_WORDS, is_number_like, normalize_number
from pgt.io.time_stamps import elapsed_since, format_origin, is_time_stamp, parse_time_stamps

COMMENT_MARK = re.compile(r"\s*(#+|%+|//+|!+)")
_RULER = re.compile(r"\s*(?=.{5})[-=_+|]+(?:[ \t|+][-=_+|]+)*\s*")
_END_OF_FILE = re.compile(
    r"\W*(?:END[ _]?(?:OF[ _])?(?:DATA|FILE)|EOF|\d+ rows?(?: in set.*| selected.*)?)\W*",
    re.IGNORECASE,
)
MAX_HEADING_LINES = 3  # of names and units
_MAX_HEADER_LINES = 200
# Marks of the end of a header: "***End_of_Header***", ">>*DATA*<<", "[Data]".
_END_OF_HEADER = re.compile(
    r"\W*end[ _]?(of[ _]?)?header\W*|[^\w\"]+(begin[ _]?)?data[^\w\"]+", re.IGNORECASE
)
_SEVERAL_BLANKS = re.compile(r" {2,}")


def is_content(line: str) -> bool:
    """Whether a line is neither blank, a comment, a ruler such as "-----", nor an end mark.

    Loggers that lost power leave zero bytes, which count as blank.
    """
    is_blank = not line.strip(" \t\r\n\f\v\x00\x1a")
    is_mark = _RULER.fullmatch(line) or _END_OF_FILE.fullmatch(line.strip())
    return not is_blank and not COMMENT_MARK.match(line) and not is_mark


def find_table_lines(head: Sequence[Line], dialect: Dialect) -> list[Line]:
    """The lines of the table and of what stands above it, without comments other than its heading.

    >>> find_table_lines([(1, "# x, t"), (2, "1,2"), (3, "3,4")], Dialect())
    [(1, ' x, t'), (2, '1,2'), (3, '3,4')]
    """
    kept = _skip_header([line for line in head if is_content(line[1])])
    if len(kept) < 2:
        return kept
    marks = [CHARACTERS[dialect.separator]] if dialect.separator else list(SPOKEN)
    for mark in marks:
        width = _numeric_width(kept[0][1], mark)
        if width > 1 and width == _numeric_width(kept[1][1], mark):
            comments = [line for line in head if line[0] < kept[0][0] and line[1].strip()]
            if heading := _heading_in_comments(comments, mark, width):
                return heading + kept
    return _join_spaced_names(kept) if " " in marks else kept


def _skip_header(lines: list[Line]) -> list[Line]:
    """The lines below the last mark of the end of a header, which has no row of numbers above it."""
    start = 0
    for at, (_, text) in enumerate(lines[:_MAX_HEADER_LINES]):
        if _END_OF_HEADER.fullmatch(text.strip()):
            start = at + 1
        elif any(_numeric_width(text, mark) > 1 for mark in SPOKEN):
            break
    return lines[start:] if len(lines) > start else lines


def _split_cells(text: str, mark: str) -> list[str]:
    text = text.strip(" \n") if mark == "\t" else text.strip()
    return [cell.strip() for cell in (text.split() if mark == " " else text.split(mark))]


def _numeric_width(text: str, mark: str) -> int:
    """The number of cells in a row of numbers and times; 0 for any other line."""
    cells = _split_cells(text, mark)
    is_row = all(is_number_like(c) or is_time_stamp(c) or c.lower() in MISSING_WORDS for c in cells)
    return len(cells) if is_row else 0


def _heading_in_comments(comments: Sequence[Line], mark: str, width: int) -> list[Line]:
    """The names, and the units below them, in the last comments above the rows."""
    found: list[Line] = []
    for number, text in reversed(comments[-MAX_HEADING_LINES:]):
        names = _heading_names(COMMENT_MARK.sub("", text.strip("\r\n"), count=1), mark, width)
        if names is None:
            break
        found.insert(0, (number, names))
    return found


def _heading_names(text: str, mark: str, width: int) -> str | None:
    """A line of as many names as there are columns, separated by this mark; None for any other line."""
    for line in (text, text.strip()):
        cells = _split_cells(line, mark)
        if mark == " " and len(cells) != width:
            cells = _SEVERAL_BLANKS.split(line.strip())
        if len(cells) == width and any(cells) and not any(map(is_number_like, cells)):
            return mark.join(_with_hard_blanks(c) for c in cells) if mark == " " else line
    return None


def _with_hard_blanks(name: str) -> str:
    """A name with blanks that do not end a cell; parsing a heading makes them plain again."""
    return "\xa0".join(name.split()) or "-"


def _join_spaced_names(lines: list[Line]) -> list[Line]:
    """The lines, with names joined that contain single blanks and are separated by several."""
    widths = [_numeric_width(text, " ") for _, text in lines[:_MAX_HEADER_LINES]]
    pairs = itertools.pairwise(widths)
    first = next((at for at, (one, other) in enumerate(pairs) if one == other > 1), 0)
    found = list(lines)
    for at in range(max(first - MAX_HEADING_LINES, 0), first):
        number, text = lines[at]
        cells = _SEVERAL_BLANKS.split(text.strip())
        if len(cells) == widths[first] != len(text.split()):
            found[at] = (number, " ".join(map(_with_hard_blanks, cells)))
    return found


MAX_HEADING_ROW = 60  # the last row in which a heading is sought
_MAX_ROWS_APART = 4  # between positions, names and readings
_POSITION_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?")
# A name with a point behind it, between commas; (0,1) without decimals may be one number.
_NAME_WITH_POINT = re.compile(
    r"(?:(?<=,)|(?<=^))[^,()\n]*\((?:-?\d*\.\d+,\s*){1,2}-?\d*\.?\d+\)[^,()\n]*(?=,|\n|$)"
)
HeaderRow = tuple[int, list[str]]


class PositionRow(NamedTuple):
    """A row of positions: its index, the axis, and the unit."""

    row: int
    axis: str
    unit: str


def quote_points(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines with quotation marks around names that contain a point: CH1(0.1,0.2) among commas.

    >>> quote_points([(1, "t,CH1(0.1,0.2)"), (2, "0,20")])
    [(1, 't,"CH1(0.1,0.2)"'), (2, '0,20')]
    """

    def quoted(number: int, text: str) -> str:
        is_candidate = number <= MAX_HEADING_ROW and not re.search('[;"\t|]', text)
        return _NAME_WITH_POINT.sub(r'"\g<0>"', text) if is_candidate else text

    return [(number, quoted(number, text)) for number, text in lines]


def merge_position_lines(lines: Sequence[Line], dialect: Dialect) -> Sequence[Line]:
    """The lines of a table with positions in its heading; unchanged without a row of positions."""
    marks = [CHARACTERS[dialect.separator]] if dialect.separator else SPOKEN
    for mark in marks:
        rows = [(number, split_leniently(text, mark)) for number, text in lines[:MAX_HEADING_ROW]]
        found = merge_position_rows(rows)
        if found is not rows:
            texts = {number: mark.join(_quote_cell(c, mark) for c in row) for number, row in found}
            kept = [(n, texts[n] + "\n") for n, text in lines[:MAX_HEADING_ROW] if n in texts]
            return [*kept, *lines[MAX_HEADING_ROW:]]
    return lines


def merge_position_rows(rows: list[HeaderRow]) -> list[HeaderRow]:
    """The rows with positions in the names of the columns, and without the rows of positions.

    >>> merge_position_rows([(1, ["t", "A", "B"]), (2, ["x [m]", "0.1", "0.5"]), (3, ["0", "20", "21"])])
    [(1, ['t', 'A (x=0.1 m)', 'B (x=0.5 m)']), (3, ['0', '20', '21'])]
    """
    found = _find_position_row(rows)
    if found is None:
        return rows
    cells = rows[found.row][1]
    first = _find_first_row(rows, found.row)
    at = _find_name_row(rows, found.row, first)
    names = [""] * len(cells) if at is None else rows[at][1]
    # pandas writes the name of the index in a row of its own below.
    below = [k for k in range(found.row + 1, first) if not any(rows[k][1][1:]) and k != at]
    begin = names[0] if at is not None else _time_name(rows[first])
    begin = rows[below[0]][1][0] if below else begin
    pairs = zip(names[1:], cells[1:], strict=True)
    placed = [begin, *(_add_position(name, cell, found) for name, cell in pairs)]
    heading = found.row if at is None else at
    left_out = {found.row, *below} - {heading}
    kept = [
        (n, placed if k == heading else r) for k, (n, r) in enumerate(rows) if k not in left_out
    ]
    return merge_position_rows(kept)


def _find_position_row(rows: Sequence[HeaderRow]) -> PositionRow | None:
    """The first row that begins with the name of an axis of space and continues with numbers."""
    for at, (_, cells) in enumerate(rows):
        heading = parse_heading(cells[0].strip(" :")) if len(cells) > 2 else None
        axes = [a for a in AXES[:3] if heading and is_axis_alias(heading.name, a)]
        given = [cell for cell in cells[1:] if cell.strip()]
        if axes and len(given) > 1 and all(map(_is_position, given)) and _find_first_row(rows, at):
            return PositionRow(at, axes[0], (heading.unit if heading else None) or "")
    return None


def _is_position(cell: str) -> bool:
    return _POSITION_NUMBER.fullmatch(cell.strip()) is not None and bool(
        parse_positions(f"x={cell.strip()}")
    )


def _find_first_row(rows: Sequence[HeaderRow], at: int) -> int:
    """The first row of readings below; 0 if there is none, as in a table that lies on its side."""
    width = len(rows[at][1])
    for k in range(at + 1, min(at + _MAX_ROWS_APART, len(rows))):
        begin, *others = (cell.strip() for cell in rows[k][1])
        is_row = is_number_like(begin) or is_time_stamp(begin)
        if is_row and len(rows[k][1]) == width and any(map(is_number_like, others)):
            return k
    return 0


def _find_name_row(rows: Sequence[HeaderRow], at: int, first: int) -> int | None:
    """The row of names: just above the positions, or between them and the readings."""
    width = len(rows[at][1])
    for k in (*range(at - 1, max(at - _MAX_ROWS_APART, -1), -1), *range(at + 1, first)):
        given = [cell.strip() for cell in rows[k][1][1:] if cell.strip()]
        is_plain = given and not any(is_number_like(c) or is_time_stamp(c) for c in given)
        if len(rows[k][1]) == width and is_plain and not all(map(parse_unit, given)):
            return k
    return None


def _time_name(row: HeaderRow) -> str:
    """The name of a first column whose cell in the row of positions names the axis."""
    return "time" if is_time_stamp(row[1][0].strip()) else ""


def _add_position(name: str, cell: str, at: PositionRow) -> str:
    value = cell.strip().replace(",", ".")
    return f"{name} ({at.axis}={value} {at.unit}".rstrip() + ")" if value else name


def _quote_cell(cell: str, mark: str) -> str:
    if mark == " ":
        return "\xa0".join(cell.split())
    return f'"{cell}"' if mark in cell and '"' not in cell else cell.strip("\n")


_POSITION_TEXT = re.compile(r"[xyz]\s*=\s*[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?\s*(?:[mck]?m)?")


def merge_heading_rows(cells: Sequence[str], above: Sequence[Sequence[str]]) -> list[str]:
    """The names of columns, completed from the rows `above`, of which the last is the nearest.

    An empty cell, left by merged cells, takes the name above it. A position alone belongs to the group
    of columns whose name stands above.

    >>> merge_heading_rows(["t", "x=0.1", "x=0.5"], [["", "T [K]", ""]])
    ['t', 'T [K] x=0.1', 'T [K] x=0.5']
    >>> merge_heading_rows(["Time", "", ""], [["Tag", "TC1", "TC2"], ["Unit", "C", "C"]])
    ['Time', 'TC1 [C]', 'TC2 [C]']
    """
    rows = [row for row in above if len(row) == len(cells)]
    groups = _spread_group_names(rows[-1]) if rows else [""] * len(cells)
    found = []
    for at, cell in enumerate(cells):
        name = cell if cell.strip() else _name_above([row[at] for row in reversed(rows)])
        is_position = cell.strip() and not _POSITION_TEXT.sub("", cell).strip(" ()[],;")
        found.append(" ".join(f"{groups[at] if is_position else ''} {name}".split()))
    return found


def _spread_group_names(row: Sequence[str]) -> list[str]:
    """The names of groups of columns, repeated for each of their columns."""
    found, last = [], ""
    for cell in row:
        last = cell.strip() or last
        found.append(last)
    is_group = not any(is_number_like(cell) or is_time_stamp(cell) for cell in row)
    is_group = is_group and any(row[1:]) and not all(row)  # a title fills the first cell only
    return found if is_group else [""] * len(row)


def _name_above(cells: Sequence[str]) -> str:
    """The nearest name above, with the unit between it and the heading."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if len(given) > 1 and parse_unit(given[0]) and not is_number_like(given[1]):
        return f"{given[1]} [{given[0]}]"
    return given[0] if given else ""


# The corner of a grid: "t/x", "x [m] \ t [s]".
_CORNER = re.compile(r"(?P<down>[^\\/]+?)\s*[\\/]\s*(?P<along>[^\\/]+)")


def place_by_corner(headings: Sequence[Heading]) -> list[Heading]:
    """The headings with positions, where the first names both axes of a grid: "t/x".

    >>> [h.positions for h in place_by_corner([parse_heading(n) for n in ("x/t", "0", "60")])[1:]]
    [{'t': (0.0, None)}, {'t': (60.0, None)}]
    """
    corner = _CORNER.fullmatch(headings[0].text)
    down, along = (
        (parse_heading(corner[name]) for name in ("down", "along")) if corner else (None,) * 2
    )
    rows, columns = _axis_of(down), _axis_of(along)
    if not (down and along and rows and columns) or rows == columns:
        return list(headings)
    placed = _place_columns(headings[1:], columns, along.unit)
    return [Heading(headings[0].text, rows, down.unit), *placed] if placed else list(headings)


def place_by_grid(headings: Sequence[Heading], axes: Sequence[str]) -> list[Heading]:
    """The headings as positions along the only one of `axes` that is not the axis of the first column.

    >>> headings = [parse_heading(name) for name in ("t", "0.1", "0.5")]
    >>> [heading.positions for heading in place_by_grid(headings, ("x", "t"))[1:]]
    [{'x': (0.1, None)}, {'x': (0.5, None)}]
    """
    rows = _axis_of(headings[0])
    left = [axis for axis in axes if axis != rows]
    # Successive whole numbers are rather channels than positions: 1, 2, 3, or 101, 102.
    values = _as_positions([heading.text for heading in headings[1:]]) or [0.5]
    is_counted = values[0].is_integer() and bool((np.diff(values) == 1).all())
    is_grid = rows is not None and len(left) == 1 and not is_counted
    placed = _place_columns(headings[1:], left[0], None) if is_grid else []
    return [headings[0], *placed] if placed else list(headings)


def _axis_of(heading: Heading | None) -> str | None:
    if heading is None or heading.name == "T":
        return None
    return next(
        (axis for axis in AXES if is_axis_alias(heading.name, axis)), find_length_axis(heading)
    )


def _place_columns(headings: Sequence[Heading], axis: str, unit: str | None) -> list[Heading]:
    """Columns at the numbers or times that their headings are; none where a heading is neither."""
    texts = [heading.text for heading in headings]
    if len(texts) < 2 or len({*texts}) < len(texts):
        return []
    if axis == "t" and all(is_time_stamp(text) and not is_number_like(text) for text in texts):
        return _place_at_times(headings)
    pairs = zip(headings, _as_positions(texts) or [], strict=False)
    return [replace(heading, positions={axis: (value, unit)}) for heading, value in pairs]


def _as_positions(texts: Sequence[str]) -> list[float] | None:
    """The headings as numbers; None where one is none, as 1,234."""
    try:
        return [float(normalize_number(text).replace(",", ".")) for text in texts]
    except ValueError:
        return None


def _place_at_times(headings: Sequence[Heading]) -> list[Heading]:
    """The headings as times, in seconds since the first of them."""
    texts = [heading.text for heading in headings]
    moments = parse_time_stamps(texts, np.ones(len(texts), int), "t", None)
    unit, seconds = "s", moments
    if moments.dtype.kind == "M":
        origin = moments.min()
        if np.isnat(origin):
            raise InputError("a heading is no time; write all headings as 2024-03-12 10:00:00.")
        unit = f"seconds since {format_origin(origin)}"
        seconds = elapsed_since(moments, origin, "s")
    pairs = zip(headings, seconds, strict=True)
    return [replace(heading, positions={"t": (float(at), unit)}) for heading, at in pairs]


def complete_headings(
    headings: Sequence[Heading], sample: Sequence[Sequence[str]]
) -> list[Heading]:
    """The headings with the positions that a corner such as "t/x" implies.

    A first column of times without a name, as pandas writes its index, is called "time".
    """
    first = [row[0].strip() for row in sample if row and row[0].strip()]
    is_free = headings[0].text == "" and all(h.name.lower() != "time" for h in headings)
    if (
        is_free
        and first
        and all(is_time_stamp(cell) and not is_number_like(cell) for cell in first)
    ):
        return [Heading("time", "time"), *headings[1:]]
    return place_by_corner(headings)
