"""Headers of Tecplot's text files, as DaVis and many solvers write them: VARIABLES = "x", "y", a ZONE.

Several zones are one table: where each says its SOLUTIONTIME, or a place in its title, that of its rows
is a column more. Those that say nothing have to be at different places.
"""

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from pgt.ground.errors import InputError
from pgt.io.above import counts
from pgt.io.called import AXES, is_called
from pgt.io.encoding import Line
from pgt.io.headings import as_unit, parse_heading, places_in
from pgt.io.marks import is_number_like

ZONE_TIME = "SOLUTIONTIME"
LOOKED_AT = 500  # lines in which a header ends
_VARIABLES = re.compile(r"\s*VARIABLES\s*=?", re.IGNORECASE)
_BLOCK = re.compile(r"\b(F|DATAPACKING)\s*=\s*(FE)?BLOCK\b", re.IGNORECASE)
_TIME = re.compile(r"\bSOLUTIONTIME\s*=\s*([-+.\deE]+)", re.IGNORECASE)
_TITLE = re.compile(r'\bT\s*=\s*"([^"]*)"', re.IGNORECASE)
_NODES = re.compile(r"\b(?:N|NODES)\s*=\s*(\d+)", re.IGNORECASE)
_ELEMENTS = re.compile(r"\b(?:E|ELEMENTS)\s*=\s*\d+", re.IGNORECASE)
_NAMES = re.compile(r'"([^"]*)"|([^\s,"]+)')
# TSI writes all of a header in one line.
_IN_A_LINE = re.compile(r",?\s+(?=(?:VARIABLES\s*=|DATASETAUXDATA\s|ZONE\s))", re.IGNORECASE)
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
    own = _variables(header)
    beside = _beside(header, own)
    above = [
        *head[:start],
        *((number, _TITLE.sub("T", f"# {text}")) for number, text in head[start:first]),
    ]
    lines = _without_elements(itertools.chain(head[first:], rest), _nodes(header))
    rows = _of_zones(lines, own, beside, mark)
    names = [*own, *beside]
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


def _of_zones(
    rows: Iterable[Line], own: Sequence[str], beside: Mapping[str, str], mark: str
) -> Iterator[Line]:
    """Rows of all zones, each with what its header says of it behind it; headers left out."""
    header: list[str] | None = None
    begins: set[tuple[str, ...]] = set()
    at, is_first = _places(own), True
    for number, text in rows:
        if header is None and not _BEGINS.match(text):
            begins |= {_begin(text, at)} if is_first else set()
            is_first = is_first and not counts(text)
            yield number, _with(text, beside, mark)
            continue
        header = header or []
        _check_rows(number, text)
        if not _is_row(text):
            header.append(text)
            continue
        if any(map(_VARIABLES.match, header)) and _variables(_of_variables(header)) != list(own):
            raise InputError(f"the zone above line {number} has other variables than the first.")
        beside = _as_before(beside, _beside(header, own), number)
        _check_elsewhere(_begin(text, at), begins, beside, number)
        begins.add(_begin(text, at))
        header = None
        yield number, _with(text, beside, mark)


def _without_elements(rows: Iterable[Line], nodes: int | None) -> Iterator[Line]:
    """Lines without those below the nodes of a mesh, which say how its elements are made of them."""
    header: list[str] = []
    for number, text in rows:
        if header or _BEGINS.match(text):
            if not _is_row(text):
                header.append(text)
                yield number, text
                continue
            nodes, header = _nodes(header), []
        if nodes == 0 and counts(text):
            continue
        nodes = nodes - 1 if nodes and counts(text) else nodes
        yield number, text


def _nodes(header: Sequence[str]) -> int | None:
    """How many nodes a mesh has; None: it is none, and all rows are of points."""
    text = " ".join(header)
    nodes, is_mesh = _NODES.search(text), _ELEMENTS.search(text)
    return int(nodes[1]) if nodes and is_mesh else None


def _places(names: Sequence[str]) -> list[int]:
    """Which variables say where a row is."""
    headings = [parse_heading(name).name for name in names]
    is_axis = [name != "T" and any(is_called(name, axis) for axis in AXES) for name in headings]
    return [k for k, is_it in enumerate(is_axis) if is_it]


def _begin(text: str, at: Sequence[int]) -> tuple[str, ...]:
    cells = re.split(r"[\s,]+", text.strip(" ,\t\r\n"))
    return tuple(cells[k] for k in at if k < len(cells))


def _as_before(before: Mapping[str, str], now: Mapping[str, str], number: int) -> Mapping[str, str]:
    """What a zone says of all its rows: the same as the first one does."""
    for name in (*before, *now):
        if name not in before or name not in now:
            one, other = ("does not say", "does") if name not in now else ("says", "does not")
            raise InputError(
                f"the zone above line {number} {one} its {name}, as the first {other}; write each zone "
                "to a file of its own."
            )
    return now


def _check_elsewhere(
    begin: tuple[str, ...],
    begins: Container[tuple[str, ...]],
    beside: Mapping[str, str],
    number: int,
) -> None:
    """Refuse zones at the same places of which nothing says when they were."""
    if begin in begins and not beside:
        raise InputError(
            f"the zone above line {number} begins where another one does, and neither says its "
            "SOLUTIONTIME: write that into their headers, or each zone to a file of its own."
        )


def _beside(header: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """What the header of a zone says of all its rows: its time, or places in its title."""
    text = " ".join(header)
    title = _TITLE.search(text)
    words = places_in(re.sub(r"\btime\b", "t", title[1], flags=re.IGNORECASE)) if title else {}
    time = _TIME.search(text)
    told = {parse_heading(own[k]).name for k in _places(own)}
    found = {ZONE_TIME: time[1]} if time else {}
    for axis, (value, unit) in words.items():
        name = ZONE_TIME if axis == "t" else axis
        if name not in found:
            found[f"{name} [{unit}]" if unit else name] = repr(value)
    axes = {axis for axis in AXES if any(is_called(name, axis) for name in told)}
    return {name: v for name, v in found.items() if _axis(name) not in axes}


def _axis(name: str) -> str:
    return "t" if name.startswith(ZONE_TIME) else name[0]


def _with(text: str, beside: Mapping[str, str], mark: str) -> str:
    """A row with what its zone says behind it."""
    bare = text.rstrip(" ,\t\r\n")
    return f"{mark.join([bare, *beside.values()])}\n" if beside and counts(text) else text


def _check_rows(number: int, text: str) -> None:
    if _BLOCK.search(text):
        raise InputError(
            f"line {number}: the values of each variable stand in a block of their own, not in "
            "rows. Save the zone with DATAPACKING=POINT, or as CSV."
        )


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
