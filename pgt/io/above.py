"""What stands above the rows of a text: headers that say where they end, and headings that hide.

A heading may stand in a comment, as `numpy.savetxt`, buoys and simulations write it, and its names may
have blanks in them where only two blanks or more lie between two names.
"""

import itertools
import re
from collections.abc import Sequence

from pgt.ground.dialect import CHARACTERS, SPOKEN, Dialect
from pgt.io.encoding import Line
from pgt.io.marks import MISSING, is_number_like
from pgt.io.stamps import is_stamp

COMMENT = re.compile(r"\s*(#+|%+|//+|!+)")
_DRAWN = re.compile(r"\s*(?=.{5})[-=_+|]+(?:[ \t|+][-=_+|]+)*\s*")
_LAST = re.compile(
    r"\W*(?:END[ _]?(?:OF[ _])?(?:DATA|FILE)|EOF|\d+ rows?(?: in set.*| selected.*)?)\W*",
    re.IGNORECASE,
)
HIGH = 3  # lines of names and units that one heading has at most
LOOKED_AT = 200
# "***End_of_Header***", ">>*DATA*<<", "[Data]"
_END = re.compile(
    r"\W*end[ _]?(of[ _]?)?header\W*|[^\w\"]+(begin[ _]?)?data[^\w\"]+", re.IGNORECASE
)
_WIDE_BLANKS = re.compile(r" {2,}")


def counts(line: str) -> bool:
    """Whether a line is neither blank nor a comment, nor one that is drawn: "-----", nor says that the
    file ends; loggers that lost their power leave zeros."""
    is_blank = not line.strip(" \t\r\n\f\v\x00\x1a")
    is_drawn = _DRAWN.fullmatch(line) or _LAST.fullmatch(line.strip())
    return not is_blank and not COMMENT.match(line) and not is_drawn


def table_lines(head: Sequence[Line], dialect: Dialect) -> list[Line]:
    """The lines that make up the table and what stands above it, without comments but its heading.

    >>> table_lines([(1, "# x, t"), (2, "1,2"), (3, "3,4")], Dialect())
    [(1, ' x, t'), (2, '1,2'), (3, '3,4')]
    """
    kept = _after_header([line for line in head if counts(line[1])])
    if len(kept) < 2:
        return kept
    marks = [CHARACTERS[dialect.separator]] if dialect.separator else list(SPOKEN)
    for mark in marks:
        width = _width(kept[0][1], mark)
        if width > 1 and width == _width(kept[1][1], mark):
            comments = [line for line in head if line[0] < kept[0][0] and line[1].strip()]
            if heading := _out_of_comments(comments, mark, width):
                return heading + kept
    return _aligned(kept) if " " in marks else kept


def _after_header(lines: list[Line]) -> list[Line]:
    """The lines below the last that says "here the header ends", with no row of numbers above it."""
    start = 0
    for at, (_, text) in enumerate(lines[:LOOKED_AT]):
        if _END.fullmatch(text.strip()):
            start = at + 1
        elif any(_width(text, mark) > 1 for mark in SPOKEN):
            break
    return lines[start:] if len(lines) > start else lines


def _cells(text: str, mark: str) -> list[str]:
    text = text.strip(" \n") if mark == "\t" else text.strip()
    return [cell.strip() for cell in (text.split() if mark == " " else text.split(mark))]


def _width(text: str, mark: str) -> int:
    """How many cells a row of numbers and times has; 0: it is none."""
    cells = _cells(text, mark)
    is_row = all(is_number_like(c) or is_stamp(c) or c.lower() in MISSING for c in cells)
    return len(cells) if is_row else 0


def _out_of_comments(comments: Sequence[Line], mark: str, width: int) -> list[Line]:
    """The names, and units below them, in the last comments above the rows."""
    found: list[Line] = []
    for number, text in reversed(comments[-HIGH:]):
        names = _names(COMMENT.sub("", text.strip("\r\n"), count=1), mark, width)
        if names is None:
            break
        found.insert(0, (number, names))
    return found


def _names(text: str, mark: str, width: int) -> str | None:
    """A line of names for as many columns, with this mark between them; None: it is none."""
    for line in (text, text.strip()):
        cells = _cells(line, mark)
        if mark == " " and len(cells) != width:
            cells = _WIDE_BLANKS.split(line.strip())
        if len(cells) == width and any(cells) and not any(map(is_number_like, cells)):
            return mark.join(_unbroken(c) for c in cells) if mark == " " else line
    return None


def _unbroken(name: str) -> str:
    """A name whose blanks do not end a cell; whoever splits a heading makes them plain again."""
    return "\xa0".join(name.split()) or "-"


def _aligned(lines: list[Line]) -> list[Line]:
    """The lines with names in one piece that have single blanks in them and several between them."""
    widths = [_width(text, " ") for _, text in lines[:LOOKED_AT]]
    pairs = itertools.pairwise(widths)
    first = next((at for at, (one, other) in enumerate(pairs) if one == other > 1), 0)
    found = list(lines)
    for at in range(max(first - HIGH, 0), first):
        number, text = lines[at]
        cells = _WIDE_BLANKS.split(text.strip())
        if len(cells) == widths[first] != len(text.split()):
            found[at] = (number, " ".join(map(_unbroken, cells)))
    return found
