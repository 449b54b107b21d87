"""Text files of Tecplot and probes of OpenFOAM, turned into the lines of an ordinary table.

Tecplot, DaVis and TSI write VARIABLES = "x", "y" above zones of rows. Several zones are one table; the
SOLUTIONTIME of a zone becomes a column.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.core.errors import InputError
from pgt.io.encoding import Line, Lines
from pgt.io.headings import parse_unit
from pgt.io.layout import COMMENT_MARK, is_content
from pgt.io.number_format import is_number_like

ZONE_TIME = "SOLUTIONTIME"
_MAX_HEADER_LINES = 500
_VARIABLES = re.compile(r"\s*VARIABLES\s*=?", re.IGNORECASE)
_TIME = re.compile(r"\bSOLUTIONTIME\s*=\s*([-+.\deE]+)", re.IGNORECASE)
_NOT_ROWS = re.compile(
    r"\b(?:DATAPACKING|F)\s*=\s*(?:FE)?BLOCK\b|\bELEMENTS\s*=|\bE\s*=", re.IGNORECASE
)
_NAMES = re.compile(r'"([^"]*)"|([^\s,"]+)')
# TSI writes the whole header in one line.
_SEVERAL_IN_LINE = re.compile(r",?\s+(?=(?:VARIABLES\s*=|DATASETAUXDATA\s|ZONE\s))", re.IGNORECASE)
_PROBE = re.compile(r"\s*#\s*Probe\s+\d+\s*\(([^()]*)\)")
_BRACKETS = str.maketrans("()", "  ")


def convert_openfoam_probes(head: Sequence[Line], rest: Iterator[Line], name: str) -> Lines:
    """Probes of OpenFOAM: positions in comments above the rows become headings, vectors three cells.

    >>> lines = [(1, "# Probe 0 (0.5 0 0)"), (2, "# Time"), (3, "0.1 300")]
    >>> convert_openfoam_probes(lines, iter(()), "T.dat")[0][0]
    (2, 'Time T@x=0.5,y=0,z=0')
    """
    points = [found[1].split() for _, text in head if (found := _PROBE.match(text))]
    first = next((at for at, (_, text) in enumerate(head) if is_content(text)), 0)
    if not points or not first or any(len(point) != 3 for point in points):
        return head, rest
    field = re.sub(r"\W.*", "", name) or "u"
    parts = ["Ux", "Uy", "Uz"] if "(" in head[first][1] else [field]
    at = [",".join(f"{a}={value}" for a, value in zip("xyz", p, strict=True)) for p in points]
    heading = " ".join(["Time", *(f"{part}@{point}" for point in at for part in parts)])
    return [(head[first - 1][0], heading), *_strip_brackets(head[first:])], _strip_brackets(rest)


def _strip_brackets(lines: Iterable[Line]) -> Iterator[Line]:
    return ((number, text.translate(_BRACKETS)) for number, text in lines)


def convert_tecplot(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """The rows of all zones, below the names of the variables.

    >>> lines = [(1, 'VARIABLES = "x [mm]" "y"'), (2, "ZONE I=2"), (3, "1 2"), (4, "3 4")]
    >>> convert_tecplot(lines, iter(()))[0]
    [(2, 'x\\xa0[mm] y'), (3, '1 2'), (4, '3 4')]
    """
    head = [(n, part) for n, text in head for part in _SEVERAL_IN_LINE.split(text)]
    start = next((at for at, line in enumerate(head[:50]) if _VARIABLES.match(line[1])), None)
    if start is None:
        return head, rest
    rows = enumerate(head[start + 1 : start + _MAX_HEADER_LINES], start + 1)
    first = next((at for at, (_, text) in rows if _is_row(text)), None)
    if first is None:
        return head, rest
    header = head[start:first]
    for number, text in header:
        _check_rows(number, text)
    mark = next((mark for mark in ",\t" if mark in head[first][1].strip()), " ")
    time = _TIME.search(" ".join(text for _, text in header))
    names = [*_parse_variables([text for _, text in header]), *([ZONE_TIME] if time else [])]
    table = _iterate_zones(itertools.chain(head[first:], rest), time[1] if time else None, mark)
    heading = (head[first - 1][0], mark.join(_quote_name(name, mark) for name in names))
    return [heading, *itertools.islice(table, len(head) - first)], table


def _iterate_zones(rows: Iterable[Line], time: str | None, mark: str) -> Iterator[Line]:
    """The rows of all zones, followed by the time that the header of their zone gives."""
    for number, text in rows:
        if not is_content(text):
            continue
        if _is_row(text):
            bare = text.rstrip(" ,\t\r\n")
            yield number, bare if time is None else f"{bare}{mark}{time}"
            continue
        _check_rows(number, text)
        found = _TIME.search(text)
        if found and time is not None:
            time = found[1]
        elif re.match(r"\s*ZONE\b", text, re.IGNORECASE) or found:
            raise InputError(
                f"line {number}: the zones do not all have a SOLUTIONTIME in the line of their name; "
                "write one there, or each zone to a file of its own."
            )


def _check_rows(number: int, text: str) -> None:
    if _NOT_ROWS.search(text):
        raise InputError(
            f"line {number}: the values of each variable stand in a block of their own, or a mesh "
            "follows them. Save points in rows, with DATAPACKING=POINT, or as CSV."
        )


def _is_row(text: str) -> bool:
    cells = re.split(r"[\s,]+", text.strip(" ,\t\r\n"))
    return not COMMENT_MARK.match(text) and all(map(is_number_like, cells))


def _parse_variables(header: Sequence[str]) -> list[str]:
    """The names behind VARIABLES, and in quoted lines below it."""
    below = itertools.takewhile(lambda text: text.lstrip().startswith('"'), header[1:])
    lines = [_VARIABLES.sub("", header[0], count=1), *below]
    found = [quoted or plain for line in lines for quoted, plain in _NAMES.findall(line)]
    return [_bracket_unit(name) for name in found]


def _bracket_unit(name: str) -> str:
    """ "X mm" of TSI as "X [mm]"."""
    first, _, last = name.strip().partition(" ")
    is_unit = last.replace("/", "").isalnum() and parse_unit(last) is not None
    return f"{first} [{last}]" if first.isalpha() and is_unit else name


def _quote_name(name: str, mark: str) -> str:
    return "\xa0".join(name.split()) if mark == " " else f'"{name}"'
