"""Exports of CFX and CFD-Post: sections in brackets, of which [Data] holds a table."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.encoding import Line

_SECTION = re.compile(
    r"\s*\[(Name|Data|Faces|Lines|Spatial Fields|Parameters|Points)\]\s*,*\s*", re.I
)
LOOKED_AT = 50


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines of all sections of data below one heading, where there are such; others as they are.

    >>> lines = ["[Name]", "Line", "[Data]", "X [ m ], T [ K ]", "0, 300", "[Lines]", "0, 1"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0]
    [(4, 'X [ m ], T [ K ]'), (5, '0, 300')]
    """
    kinds = {_kind(text) for _, text in head[:LOOKED_AT]}
    if not {"name", "data"} <= kinds:
        return head, rest
    rows = _rows(itertools.chain(head, rest))
    return list(itertools.islice(rows, len(head))), rows


def _kind(text: str) -> str | None:
    found = _SECTION.fullmatch(text)
    return found[1].lower() if found else None


def _rows(lines: Iterable[Line]) -> Iterator[Line]:
    section, heading, is_heading = None, "", False
    for number, text in lines:
        if (kind := _kind(text)) is not None:
            section, is_heading = kind, kind == "data"
        elif section == "data" and text.strip():
            if not is_heading:
                yield number, text
            elif not heading:
                heading = text.strip()
                yield number, text
            elif text.strip() != heading:
                raise InputError(
                    f"line {number} is another heading than that of the first [Data]; write each to a "
                    "file of its own."
                )
            is_heading = False
