"""Headers of Tecplot's text files, as DaVis and many solvers write them: VARIABLES = "x", "y", a ZONE.

Several zones are one table where each says its SOLUTIONTIME: that of its rows is a column more.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.above import counts
from pgt.io.called import CALLED
from pgt.io.encoding import Line
from pgt.io.headings import as_unit, parse_heading
from pgt.io.marks import is_number_like

ZONE_TIME = "SOLUTIONTIME"
LOOKED_AT = 500  # lines in which a header ends
_VARIABLES = re.compile(r"\s*VARIABLES\s*=?", re.IGNORECASE)
_BLOCK = re.compile(r"\b(F|DATAPACKING)\s*=\s*(FE)?BLOCK\b", re.IGNORECASE)
_TIME = re.compile(r"\bSOLUTIONTIME\s*=\s*([-+.\deE]+)", re.IGNORECASE)
_NAMES = re.compile(r'"([^"]*)"|([^\s,"]+)')
# TSI writes all of a header in one line.
_IN_A_LINE = re.compile(r"\s+(?=(?:VARIABLES\s*=|DATASETAUXDATA\s|ZONE\s))", re.IGNORECASE)
_BEGINS = re.compile(r"\s*(ZONE\b|TITLE\s*=|VARIABLES\s*=)", re.IGNORECASE)


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with the names of the variables as a heading; others as they are.

    >>> lines = [(1, 'VARIABLES = "x [mm]" "y"'), (2, "ZONE I=2"), (3, "1 2"), (4, "3 4")]
    >>> as_table(lines, iter(()))[0][2:]
    [(2, 'x\\xa0[mm] y'), (3, '1 2'), (4, '3 4')]
    """
    head = _in_lines(head)
    start = next((at for at, line in enumerate(head[:50]) if _VARIABLES.match(line[1])), None)
    first = None if start is None else _first_row(head, start)
    if start is None or first is None:
        return head, rest
    header = [text for _, text in head[start:first]]
    for number, text in head[start:first]:
        _check_rows(number, text)
    mark = next((mark for mark in ",\t" if mark in head[first][1].strip()), " ")
    names, time = _variables(header), _time(header)
    above = [*head[:start], *((number, f"# {text}") for number, text in head[start:first])]
    rows = itertools.chain(head[first:], rest)
    if time is not None:
        is_told = any(parse_heading(name).name.lower() in CALLED["t"] for name in names)
        names, before = (names, None) if is_told else ([*names, ZONE_TIME], time)
        rows = _in_time(rows, names, before, mark)
    heading = (head[first - 1][0], mark.join(_in_one_piece(name, mark) for name in names))
    return [*above, heading, *itertools.islice(rows, len(head) - first)], rows


def is_zone(text: str) -> bool:
    """Whether a line begins another zone."""
    return re.match(r"\s*ZONE\b", text, re.IGNORECASE) is not None


def _in_lines(head: Sequence[Line]) -> list[Line]:
    """A header in one line as several of the same number."""
    found = []
    for number, text in head:
        is_header = len(found) < LOOKED_AT and re.match(r"\s*TITLE\s*=", text, re.IGNORECASE)
        parts = _IN_A_LINE.split(text) if is_header else [text]
        found += [(number, part) for part in parts]
    return found


def _in_time(
    rows: Iterable[Line], names: Sequence[str], time: str | None, mark: str
) -> Iterator[Line]:
    """Rows of all zones, each with its time behind it where that is no variable; headers left out."""
    header: list[str] | None = None
    own = names if time is None else names[:-1]
    for number, text in rows:
        if header is None and not _BEGINS.match(text):
            yield number, _at(text, time, mark)
            continue
        header = header or []
        _check_rows(number, text)
        if not _is_row(text):
            header.append(text)
            continue
        if any(map(_VARIABLES.match, header)) and _variables(_of_variables(header)) != own:
            raise InputError(f"the zone above line {number} has other variables than the first.")
        if time is not None and (time := _time(header)) is None:
            raise InputError(
                f"the zone above line {number} does not say its SOLUTIONTIME, as the first does; write "
                "each zone to a file of its own."
            )
        header = None
        yield number, _at(text, time, mark)


def _at(text: str, time: str | None, mark: str) -> str:
    """A row with its time behind it."""
    bare = text.rstrip(" ,\t\r\n")
    return f"{bare}{mark}{time}\n" if time is not None and counts(text) else text


def _check_rows(number: int, text: str) -> None:
    if _BLOCK.search(text):
        raise InputError(
            f"line {number}: the values of each variable stand in a block of their own, not in "
            "rows. Save the zone with DATAPACKING=POINT, or as CSV."
        )


def _time(header: Sequence[str]) -> str | None:
    """The moment of a zone, where its header says it."""
    found = _TIME.search(" ".join(header))
    return found[1] if found else None


def _first_row(head: Sequence[Line], start: int) -> int | None:
    rows = enumerate(head[start + 1 : start + LOOKED_AT], start + 1)
    return next((at for at, (_, text) in rows if _is_row(text)), None)


def _is_row(text: str) -> bool:
    cells = re.split(r"[\s,]+", text.strip(" ,\t\r\n"))
    return counts(text) and all(map(is_number_like, cells))


def _of_variables(header: Sequence[str]) -> list[str]:
    at = next(at for at, text in enumerate(header) if _VARIABLES.match(text))
    return list(header[at:])


def _variables(header: Sequence[str]) -> list[str]:
    """The names behind VARIABLES, and in lines below it that begin with quotation marks."""
    lines = [_VARIABLES.sub("", header[0], count=1)]
    for text in header[1:]:
        if not text.lstrip().startswith('"'):
            break
        lines.append(text)
    found = [quoted or plain for line in lines for quoted, plain in _NAMES.findall(line)]
    return [_with_brackets(name) for name in found]


def _with_brackets(name: str) -> str:
    """ "X mm" of TSI as "X [mm]"."""
    first, _, last = name.strip().partition(" ")
    return f"{first} [{last}]" if first.isalpha() and last.isascii() and _is_unit(last) else name


def _is_unit(text: str) -> bool:
    return text.replace("/", "").isalnum() and as_unit(text) is not None


def _in_one_piece(name: str, mark: str) -> str:
    return "\xa0".join(name.split()) if mark == " " else f'"{name}"'
