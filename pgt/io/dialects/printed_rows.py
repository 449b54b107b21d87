"""Tables as R, pandas and small programs print them: rows that begin with their name, or name=value."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pgt.core.errors import InputError
from pgt.io.encoding import Line, Lines
from pgt.io.number_format import is_number_like
from pgt.io.time_stamps import is_time_stamp

_SAMPLE_LINES = 20  # lines that show the kind of text
_QUOTED_CELL = re.compile(r'\s*"[^"]*"')
_SEPARATORS = (" ", "\t", ",", ";")
_PAIR = re.compile(
    r"(?<![^\s,;\[\]])([^\W\d][\w.\-/]*(?:[\[(][^\s\[\]()]*[\])])?)\s*[:=]\s*(?=[^\s:=,;])([^\s,;]+)"
)


def convert_row_names(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """Rows that begin with a name or number of their own, which the heading does not mention.

    >>> convert_row_names([(1, '"x" "u"'), (2, '"1" 0.5 3'), (3, '"2" 0.7 4')], iter(()))[0]
    [(1, 'row x u'), (2, '1 0.5 3'), (3, '2 0.7 4')]
    """
    if len(head) > 2 and _has_row_numbers([text for _, text in head[:_SAMPLE_LINES]]):
        return [(head[0][0], f"row {head[0][1]}"), *head[1:]], rest
    if len(head) < 2 or (mark := _separator_of_row_names(head[0][1], head[1][1])) is None:
        return head, rest
    lines = ((number, text.replace('"', "")) for number, text in itertools.chain(head, rest))
    number, names = next(lines)
    return [(number, f"row{mark}{names}"), *itertools.islice(lines, len(head))], lines


def _has_row_numbers(lines: Sequence[str]) -> bool:
    """Whether rows begin with their number, as pandas prints a table."""
    names, *rows = [line.split() for line in lines if line.strip()] or [[]]
    numbers = [row[0] for row in rows]
    is_wide = len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows)
    return is_wide and numbers in ([str(n + first) for n in range(len(rows))] for first in (0, 1))


def _separator_of_row_names(heading: str, row: str) -> str | None:
    """The separator, where rows have a quoted name more than the heading has columns, as in R."""
    for mark in _SEPARATORS:
        names, cells = heading.strip().split(mark), row.strip().split(mark)
        is_quoted = all(map(_QUOTED_CELL.fullmatch, (*names, cells[0])))
        if len(cells) == len(names) + 1 > 2 and is_quoted:
            return mark
    return None


class _PairLine(NamedTuple):
    names: tuple[str, ...]
    values: tuple[str, ...]
    stamp: str  # a time before the pairs


def convert_pairs(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """Lines of names and values: "t:0 x:0.1 T:21.5", "10:00:05 x=0.1 T=21.5".

    >>> convert_pairs([(1, "t:0 T:20"), (2, "t:1 T:21")], iter(()))[0]
    [(1, 't;T'), (1, '0;20'), (2, '1;21')]
    """
    shown = [(number, text) for number, text in head[:_SAMPLE_LINES] if text.strip()]
    found = [_parse_pairs(text) for _, text in shown]
    first = found[0] if len(found) > 1 else None
    if first is None or any(one is None or one.names != first.names for one in found):
        return head, rest
    heading = (shown[0][0], ";".join([*(["time"] if first.stamp else []), *first.names]))
    rows = _iterate_pairs(itertools.chain(head, rest), first.names)
    return [heading, *itertools.islice(rows, len(head))], rows


def _parse_pairs(text: str) -> _PairLine | None:
    found = [*_PAIR.finditer(text.strip())]
    stamp, *between = _PAIR.split(text.strip())[0::3] if found else ("", "-")
    stamp = stamp.strip(" ,;\t[]")
    is_plain = len(found) > 1 and all(is_number_like(pair[2]) for pair in found)
    is_alone = not "".join(between).strip(" ,;\t") and (stamp == "" or is_time_stamp(stamp))
    if not (is_plain and is_alone):
        return None
    return _PairLine(tuple(p[1] for p in found), tuple(p[2] for p in found), stamp)


def _iterate_pairs(lines: Iterable[Line], names: tuple[str, ...]) -> Iterator[Line]:
    for number, text in lines:
        if not text.strip():
            continue
        found = _parse_pairs(text)
        if found is None or found.names != names:
            raise InputError(
                f"line {number} does not have the names of the lines above, {', '.join(names)}, each "
                "with a number; correct or remove it."
            )
        yield number, ";".join([*([found.stamp] if found.stamp else []), *found.values])
