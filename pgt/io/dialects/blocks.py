"""Rows in blocks, each below a line with their time or position: "# t = 60 s", "Time: 60", a date."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.core.errors import InputError
from pgt.io.column_aliases import AXES, is_axis_alias
from pgt.io.encoding import Line, Lines
from pgt.io.header import COMMENT_MARK, is_content
from pgt.io.headings import NUMBER_PATTERN, UNIT_PATTERN, parse_heading, parse_unit
from pgt.io.number_format import is_number_like
from pgt.io.time_stamps import is_time_stamp

_STATEMENT = re.compile(
    rf"(?<![^\W_])(?P<axis>[xyzXYZt]|[Tt]ime|TIME|[Zz]eit)\s*[=:]\s*(?P<value>{NUMBER_PATTERN})(?![\d:-])"
    rf"\s*(?P<unit>{UNIT_PATTERN})?"
)
_STATEMENT_ALONE = re.compile(
    rf"[\W\d]*(?:(?:time)?step\W*\d*)?[\W_]*{_STATEMENT.pattern}\W*", re.IGNORECASE
)
_BEFORE_DATE = re.compile(r"(?:(?:date|time|t|zeit)\W*[=:]\s*)", re.IGNORECASE)
_Statement = dict[str, tuple[str, str | None]]  # by axis: the number as it is written, and its unit


def convert_blocks(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """Rows with a column more for each axis that the lines above the blocks give.

    >>> lines = ["# t = 0", "x u", "0.1 20", "0.5 21", "# t = 60", "0.1 22"]
    >>> convert_blocks(list(enumerate(lines, 1)), iter(()))[0]
    [(2, 'x u t'), (3, '0.1 20 0'), (4, '0.5 21 0'), (6, '0.1 22 60')]
    """
    first = next((at for at, (_, text) in enumerate(head) if _begins_with_number(text)), None)
    if first is None:
        return head, rest
    above = [found for _, text in head[:first] if (found := _parse_statement(text))]
    below = [found for _, text in head[first:] if (found := _parse_statement(text))]
    own = _axis_columns(head[:first], head[first][1]) if below else set()
    axes = [axis for axis in dict.fromkeys(a for found in below for a in found) if axis not in own]
    start = {axis: at for found in above for axis, at in found.items() if axis in axes}
    if not any(found.get(a, start.get(a)) != start.get(a) for found in below for a in axes):
        return head, _check_agreement(rest, above, head[: first + 1])
    lines = _iterate_rows(head, first, rest, axes, start)
    return list(itertools.islice(lines, len(head))), lines


def _begins_with_number(text: str) -> bool:
    if not is_content(text):
        return False
    cells = [cell for cell in re.split(r"[\s,;|]+", text.strip(" \t\r\n,;|")) if cell]
    return is_number_like(cells[0]) or is_time_stamp(cells[0]) if cells else False


def _parse_statement(text: str) -> _Statement:
    """What a comment, or a line that holds nothing else, gives for the rows below it."""
    if len(text) > 200 or not (
        COMMENT_MARK.match(text) or _STATEMENT_ALONE.fullmatch(text.strip())
    ):
        return {}
    moment = _BEFORE_DATE.sub("", COMMENT_MARK.sub("", text).strip(), count=1)
    if is_time_stamp(moment) and not is_number_like(moment):
        return {"t": (moment.replace(" ", "T"), None)}
    return {
        "t" if len(found["axis"]) > 1 else found["axis"].lower(): (
            found["value"],
            parse_unit(found["unit"] or ""),
        )
        for found in _STATEMENT.finditer(text)
    }


def _axis_columns(above: Sequence[Line], row: str) -> set[str]:
    """The axes that are columns already."""
    found: set[str] = set()
    for _, text in above[-4:]:
        plain = COMMENT_MARK.sub("", text).strip()
        cells = re.split(r"[;|,\t]|\s{2,}", plain)
        cells = [*cells, *plain.split()] if not _parse_statement(text) else []
        names = [parse_heading(cell).name for cell in cells if cell.strip()]
        found |= {
            axis for axis in AXES for name in names if name != "T" and is_axis_alias(name, axis)
        }
    return found | ({"t"} if is_time_stamp(re.split(r"[,;\t|]", row.strip())[0]) else set())


def _check_agreement(
    rest: Iterable[Line], above: Sequence[_Statement], head: Sequence[Line]
) -> Iterator[Line]:
    """The rest of the lines, of which none may contradict the statements above all rows."""
    start = {axis: value for notes in above for axis, (value, _) in notes.items()}
    for number, text in rest:
        for axis, (value, _) in _parse_statement(text).items() if COMMENT_MARK.match(text) else ():
            if start.get(axis, value) != value and axis not in _axis_columns(
                head[:-1], head[-1][1]
            ):
                raise _late_statement(number, axis, value)
        yield number, text


def _late_statement(number: int, axis: str, value: str) -> InputError:
    return InputError(
        f"line {number} gives {axis} = {value} for the rows below it; those above have another value, or "
        f"none. Write {axis} into a column of its own."
    )


def _iterate_rows(
    head: Sequence[Line],
    first: int,
    rest: Iterable[Line],
    axes: Sequence[str],
    start: _Statement,
) -> Iterator[Line]:
    """The heading with the `axes`, and the rows with the values that hold for them."""
    mark = next((mark for mark in "\t;,|" if mark in head[first][1].strip()), " ")
    for axis in axes:
        if axis not in start:
            number = next(n for n, text in head[first:] if axis in _parse_statement(text))
            raise _late_statement(number, axis, _parse_statement(dict(head)[number])[axis][0])
    current = dict(start)
    names = [f"{axis}[{unit}]" if (unit := start[axis][1]) else axis for axis in axes]
    above = enumerate(head[:first])
    plain = [at for at, (_, text) in above if text.strip() and not _parse_statement(text)]
    for at, (number, text) in enumerate(itertools.chain(head, rest)):
        if found := _parse_statement(text):
            current |= _check_unit(found, start, number)
        elif _begins_with_number(text):
            cells = [_strip_separator(text, mark), *(current[axis][0] for axis in axes)]
            yield number, mark.join(cells)
        elif at in plain[-1:] or (is_content(text) and at > first):
            yield number, mark.join([_strip_separator(text, mark), *names])
        else:
            yield number, text


def _strip_separator(text: str, mark: str) -> str:
    return text.rstrip("\r\n ") if mark == "\t" else text.rstrip().removesuffix(mark)


def _check_unit(found: _Statement, start: _Statement, number: int) -> _Statement:
    """The parts of a statement along known axes, which must keep the unit of the first block."""
    for axis, (value, unit) in found.items():
        if axis in start and unit != start[axis][1]:
            raise InputError(
                f"line {number} gives {axis} = {value} {unit or ''}, in another unit than above; use one "
                "unit."
            )
    return {axis: at for axis, at in found.items() if axis in start}
