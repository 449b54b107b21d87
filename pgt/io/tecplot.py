"""Headers of Tecplot's text files, as DaVis and many solvers write them: VARIABLES = "x", "y", a ZONE."""

import re
from collections.abc import Sequence

from pgt.ground.errors import InputError
from pgt.io.above import counts
from pgt.io.encoding import Line
from pgt.io.marks import is_number_like

LOOKED_AT = 500  # lines in which a header ends
_VARIABLES = re.compile(r"\s*VARIABLES\s*=?", re.IGNORECASE)
_BLOCK = re.compile(r"\b(F|DATAPACKING)\s*=\s*(FE)?BLOCK\b", re.IGNORECASE)
_NAMES = re.compile(r'"([^"]*)"|([^\s,"]+)')


def as_table(head: Sequence[Line]) -> list[Line]:
    """The lines with the names of the variables as a heading; others as they are.

    >>> as_table([(1, 'VARIABLES = "x [mm]" "y"'), (2, "ZONE I=2"), (3, "1 2"), (4, "3 4")])
    [(2, 'x\\xa0[mm] y'), (3, '1 2'), (4, '3 4')]
    """
    start = next((at for at, line in enumerate(head[:50]) if _VARIABLES.match(line[1])), None)
    first = None if start is None else _first_row(head, start)
    if start is None or first is None:
        return list(head)
    header = [text for _, text in head[start:first]]
    for (number, _), text in zip(head[start:first], header, strict=True):
        if _BLOCK.search(text):
            raise InputError(
                f"line {number}: the values of each variable stand in a block of their own, not in "
                "rows. Save the zone with DATAPACKING=POINT, or as CSV."
            )
    mark = next((mark for mark in ",\t" if mark in head[first][1].strip()), " ")
    names = [_in_one_piece(name, mark) for name in _variables(header)]
    return [*head[:start], (head[first - 1][0], mark.join(names)), *head[first:]]


def is_zone(text: str) -> bool:
    """Whether a line begins another zone."""
    return re.match(r"\s*ZONE\b", text, re.IGNORECASE) is not None


def _first_row(head: Sequence[Line], start: int) -> int | None:
    for at, (_, text) in enumerate(head[start + 1 : start + LOOKED_AT], start + 1):
        cells = re.split(r"[\s,]+", text.strip(" ,\t\r\n"))
        if counts(text) and all(map(is_number_like, cells)):
            return at
    return None


def _variables(header: Sequence[str]) -> list[str]:
    """The names behind VARIABLES, and in lines below it that begin with quotation marks."""
    lines = [_VARIABLES.sub("", header[0], count=1)]
    for text in header[1:]:
        if not text.lstrip().startswith('"'):
            break
        lines.append(text)
    return [quoted or plain for line in lines for quoted, plain in _NAMES.findall(line)]


def _in_one_piece(name: str, mark: str) -> str:
    return "\xa0".join(name.split()) if mark == " " else f'"{name}"'
