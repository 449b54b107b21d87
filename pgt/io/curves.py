"""Curves that Fluent plots to files: brackets around a title, the labels of axes, and each curve."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.encoding import Line

_LABELS = re.compile(r'\s*\(labels\s+"([^"]*)"\s+"([^"]*)"\)\s*')
_CURVE = re.compile(r"\s*\(\(xy/key/label\b")
LOOKED_AT = 20


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines of the one curve below the labels of its axes, where they are such; others as they are.

    >>> lines = ['(labels "Position" "Pressure")', '((xy/key/label "wall")', "0 1", "1 2", ")"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0]
    [(2, 'Position\\tPressure'), (3, '0\\t1'), (4, '1\\t2')]
    """
    found = (_LABELS.fullmatch(text) for _, text in head[:LOOKED_AT])
    labels = next((match for match in found if match), None)
    first = next((at for at, (_, text) in enumerate(head) if _CURVE.match(text)), None)
    if labels is None or first is None:
        return head, rest
    rows = _rows(itertools.chain(head[first + 1 :], rest))
    heading = (head[first][0], f"{labels[1]}\t{labels[2]}")
    return [heading, *itertools.islice(rows, len(head))], rows


def _rows(lines: Iterable[Line]) -> Iterator[Line]:
    for number, text in lines:
        if _CURVE.match(text):
            raise InputError(
                f"line {number} begins another curve, and nothing says where it is; write each to a file "
                "of its own."
            )
        if text.strip(" )\t\r\n"):
            yield number, "\t".join(text.split())
