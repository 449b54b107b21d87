"""Tables that a heading does not fit: of R and pandas, with names of rows, and of EasyLog, with a serial
number."""

import itertools
import re
from collections.abc import Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.encoding import Line

_QUOTED = re.compile(r'\s*"[^"]*"')
SHOWN = 20  # lines that show it
MARKS = (" ", "\t", ",", ";")
SERIAL = re.compile(r",\s*serial number\s*", re.IGNORECASE)


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with one name for every column; others as they are.

    >>> as_table([(1, '"x" "u"'), (2, '"1" 0.5 3'), (3, '"2" 0.7 4')], iter(()))[0]
    [(1, 'row x u'), (2, '1 0.5 3'), (3, '2 0.7 4')]
    """
    if head and head[0][1].startswith(('"TOB', "TOB")):
        raise InputError(
            "this is a binary table of Campbell (TOB); convert it to TOA5, as CardConvert does."
        )
    if len(head) > 2 and _is_printed([text for _, text in head[:SHOWN]]):
        return [(head[0][0], f"row {head[0][1]}"), *head[1:]], rest
    if len(head) > 1 and (mark := _mark_of_names(head[0][1], head[1][1])):
        lines = ((number, text.replace('"', "")) for number, text in itertools.chain(head, rest))
        number, names = next(lines)
        return [(number, f"row{mark}{names}"), *itertools.islice(lines, len(head))], lines
    if (
        len(head) > 1
        and SERIAL.search(head[0][1])
        and head[0][1].strip().lower().endswith("number")
    ):
        return _without_serial(head), rest
    return head, rest


def _is_printed(lines: Sequence[str]) -> bool:
    """Whether rows begin with their number, which has no name, as pandas prints a table."""
    names, *rows = [line.split() for line in lines if line.strip()] or [[]]
    numbers = [row[0] for row in rows]
    is_wide = len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows)
    return is_wide and numbers in ([str(n + first) for n in range(len(rows))] for first in (0, 1))


def _mark_of_names(heading: str, row: str) -> str | None:
    """What separates cells, where rows have a name more than the heading has columns."""
    for mark in MARKS:
        names, cells = heading.strip().split(mark), row.strip().split(mark)
        is_quoted = all(map(_QUOTED.fullmatch, (*names, cells[0])))
        if len(cells) == len(names) + 1 > 2 and is_quoted:
            return mark
    return None


def _without_serial(head: Sequence[Line]) -> list[Line]:
    """The heading and the first row without the number of the logger, which no other row has."""
    (one, names), (other, row), *lines = head
    width = names.count(",")
    is_first = row.count(",") == width and all(
        text.count(",") < width for _, text in lines if text.strip()
    )
    if not is_first:
        return list(head)
    # Its name stands above the numbers of rows.
    logger, _, names = SERIAL.sub("", names).partition(",")
    first = row.rstrip("\r\n").rpartition(",")[0]
    return [(0, f"# {logger}"), (one, f"no.,{names}"), (other, first), *lines]
