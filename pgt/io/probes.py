"""Probes of OpenFOAM: their places in comments above the rows, vectors in brackets."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.io.above import COMMENT
from pgt.io.encoding import Line

_PROBE = re.compile(r"\s*#\s*Probe\s+\d+\s*\(([^()]*)\)")
_BRACKETS = str.maketrans("()", "  ")


def as_table(
    head: Sequence[Line], rest: Iterator[Line], name: str
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with the places of the probes in a heading, where they are such; others as they are.

    >>> lines = [(1, "# Probe 0 (0.5 0 0)"), (2, "# Time"), (3, "0.1 300")]
    >>> as_table(lines, iter(()), "T.dat")[0][0]
    (2, 'Time T@x=0.5,y=0,z=0')
    """
    places = [found[1].split() for _, text in head if (found := _PROBE.match(text))]
    rows = [at for at, (_, text) in enumerate(head) if text.strip() and not COMMENT.match(text)]
    if not places or not rows or any(len(place) != 3 for place in places):
        return head, rest
    field = re.sub(r"\W.*", "", name) or "u"
    parts = ["Ux", "Uy", "Uz"] if "(" in head[rows[0]][1] else [field]
    at = [",".join(f"{a}={value}" for a, value in zip("xyz", p, strict=True)) for p in places]
    heading = " ".join(["Time", *(f"{part}@{place}" for place in at for part in parts)])
    above = max(rows[0] - 1, 0)
    table = [(head[above][0], heading), *_without_brackets(head[rows[0] :])]
    return table, _without_brackets(rest)


def _without_brackets(lines: Iterable[Line]) -> Iterator[Line]:
    """Rows whose vectors are three cells each."""
    return ((number, text.translate(_BRACKETS)) for number, text in lines)
