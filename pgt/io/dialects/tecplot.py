"""Text files of Tecplot, as DaVis and many solvers write them: VARIABLES = "x", "y", and zones of rows.

Several zones are one table. The SOLUTIONTIME of a zone, or a position in its title, becomes a column.
Zones without either must begin at different positions.
"""

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from pgt.core.errors import InputError
from pgt.io.column_aliases import AXES, is_axis_alias
from pgt.io.encoding import Line, Lines
from pgt.io.header import is_content
from pgt.io.headings import parse_heading, parse_positions, parse_unit
from pgt.io.number_format import is_number_like

ZONE_TIME = "SOLUTIONTIME"
_MAX_HEADER_LINES = 500
_VARIABLES = re.compile(r"\s*VARIABLES\s*=?", re.IGNORECASE)
_BLOCK = re.compile(r"\b(F|DATAPACKING)\s*=\s*(FE)?BLOCK\b", re.IGNORECASE)
_TIME = re.compile(r"\bSOLUTIONTIME\s*=\s*([-+.\deE]+)", re.IGNORECASE)
_TITLE = re.compile(r'\bT\s*=\s*"([^"]*)"', re.IGNORECASE)
_NODES = re.compile(r"\b(?:N|NODES)\s*=\s*(\d+)", re.IGNORECASE)
_ELEMENTS = re.compile(r"\b(?:E|ELEMENTS)\s*=\s*\d+", re.IGNORECASE)
_NAMES = re.compile(r'"([^"]*)"|([^\s,"]+)')
# TSI writes the whole header in one line.
_SEVERAL_IN_LINE = re.compile(r",?\s+(?=(?:VARIABLES\s*=|DATASETAUXDATA\s|ZONE\s))", re.IGNORECASE)
_BEGINS_ZONE = re.compile(r"\s*(ZONE\b|TITLE\s*=|VARIABLES\s*=)", re.IGNORECASE)


def convert_tecplot(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """The rows of all zones, below the names of the variables.

    >>> lines = [(1, 'VARIABLES = "x [mm]" "y"'), (2, "ZONE I=2"), (3, "1 2"), (4, "3 4")]
    >>> convert_tecplot(lines, iter(()))[0][2:]
    [(2, 'x\\xa0[mm] y'), (3, '1 2'), (4, '3 4')]
    """
    head = _split_header_lines(head)
    start = next((at for at, line in enumerate(head[:50]) if _VARIABLES.match(line[1])), None)
    first = None if start is None else _find_first_row(head, start)
    if start is None or first is None:
        return head, rest
    header = [text for _, text in head[start:first]]
    for number, text in head[start:first]:
        _check_not_block(number, text)
    mark = next((mark for mark in ",\t" if mark in head[first][1].strip()), " ")
    own = _parse_variables(header)
    values = _zone_values(header, own)
    comments = [(number, _TITLE.sub("T", f"# {text}")) for number, text in head[start:first]]
    lines = _skip_elements(itertools.chain(head[first:], rest), _count_nodes(header))
    rows = _iterate_zones(lines, own, values, mark)
    heading = (head[first - 1][0], mark.join(_quote_name(name, mark) for name in [*own, *values]))
    table = [*head[:start], *comments, heading, *itertools.islice(rows, len(head) - first)]
    return table, rows


def is_zone(text: str) -> bool:
    """Whether a line begins another zone."""
    return re.match(r"\s*ZONE\b", text, re.IGNORECASE) is not None


def _split_header_lines(head: Sequence[Line]) -> list[Line]:
    """The lines, with a header in one line split into several of the same number."""
    found = []
    for number, text in head:
        is_header = len(found) < _MAX_HEADER_LINES and re.match(
            r"\s*TITLE\s*=", text, re.IGNORECASE
        )
        parts = _SEVERAL_IN_LINE.split(text) if is_header else [text]
        found += [(number, part) for part in parts]
    return found


def _iterate_zones(
    rows: Iterable[Line], own: Sequence[str], beside: Mapping[str, str], mark: str
) -> Iterator[Line]:
    """The rows of all zones, followed by the values that the header of their zone gives."""
    header: list[str] | None = None
    begins: set[tuple[str, ...]] = set()
    at, is_first = _axis_columns(own), True
    for number, text in rows:
        if header is None and not _BEGINS_ZONE.match(text):
            begins |= {_axis_cells(text, at)} if is_first else set()
            is_first = is_first and not is_content(text)
            yield number, _append_values(text, beside, mark)
            continue
        header = header or []
        _check_not_block(number, text)
        if not _is_row(text):
            header.append(text)
            continue
        if any(map(_VARIABLES.match, header)) and _parse_variables(_from_variables(header)) != list(
            own
        ):
            raise InputError(f"the zone above line {number} has other variables than the first.")
        beside = _check_same_names(beside, _zone_values(header, own), number)
        _check_new_position(_axis_cells(text, at), begins, beside, number)
        begins.add(_axis_cells(text, at))
        header = None
        yield number, _append_values(text, beside, mark)


def _skip_elements(rows: Iterable[Line], nodes: int | None) -> Iterator[Line]:
    """The lines without the connectivity of elements below the nodes of a mesh."""
    header: list[str] = []
    for number, text in rows:
        if header or _BEGINS_ZONE.match(text):
            if not _is_row(text):
                header.append(text)
                yield number, text
                continue
            nodes, header = _count_nodes(header), []
        if nodes == 0 and is_content(text):
            continue
        nodes = nodes - 1 if nodes and is_content(text) else nodes
        yield number, text


def _count_nodes(header: Sequence[str]) -> int | None:
    """The number of nodes of a mesh; None for a zone of points."""
    text = " ".join(header)
    nodes, is_mesh = _NODES.search(text), _ELEMENTS.search(text)
    return int(nodes[1]) if nodes and is_mesh else None


def _axis_columns(names: Sequence[str]) -> list[int]:
    """The variables that are axes."""
    headings = [parse_heading(name).name for name in names]
    is_axis = [name != "T" and any(is_axis_alias(name, axis) for axis in AXES) for name in headings]
    return [k for k, is_it in enumerate(is_axis) if is_it]


def _axis_cells(text: str, at: Sequence[int]) -> tuple[str, ...]:
    cells = re.split(r"[\s,]+", text.strip(" ,\t\r\n"))
    return tuple(cells[k] for k in at if k < len(cells))


def _check_same_names(
    before: Mapping[str, str], now: Mapping[str, str], number: int
) -> Mapping[str, str]:
    """The values of a zone, which must have the names of the first zone."""
    for name in (*before, *now):
        if name not in before or name not in now:
            one, other = ("does not give", "does") if name not in now else ("gives", "does not")
            raise InputError(
                f"the zone above line {number} {one} its {name}, and the first {other}; write each zone "
                "to a file of its own."
            )
    return now


def _check_new_position(
    begin: tuple[str, ...],
    begins: Container[tuple[str, ...]],
    beside: Mapping[str, str],
    number: int,
) -> None:
    """Refuse zones at the same positions without a time."""
    if begin in begins and not beside:
        raise InputError(
            f"the zone above line {number} begins at the position of another one, and neither has a "
            "SOLUTIONTIME: write one into their headers, or each zone to a file of its own."
        )


def _zone_values(header: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """The values that the header of a zone gives for all its rows: a time, or positions in its title."""
    text = " ".join(header)
    title = _TITLE.search(text)
    words = (
        parse_positions(re.sub(r"\btime\b", "t", title[1], flags=re.IGNORECASE)) if title else {}
    )
    time = _TIME.search(text)
    told = {parse_heading(own[k]).name for k in _axis_columns(own)}
    found = {ZONE_TIME: time[1]} if time else {}
    for axis, (value, unit) in words.items():
        name = ZONE_TIME if axis == "t" else axis
        if name not in found:
            found[f"{name} [{unit}]" if unit else name] = repr(value)
    axes = {axis for axis in AXES if any(is_axis_alias(name, axis) for name in told)}
    return {name: v for name, v in found.items() if _axis_of_name(name) not in axes}


def _axis_of_name(name: str) -> str:
    return "t" if name.startswith(ZONE_TIME) else name[0]


def _append_values(text: str, beside: Mapping[str, str], mark: str) -> str:
    """A row, followed by the values of its zone."""
    bare = text.rstrip(" ,\t\r\n")
    return f"{mark.join([bare, *beside.values()])}\n" if beside and is_content(text) else text


def _check_not_block(number: int, text: str) -> None:
    if _BLOCK.search(text):
        raise InputError(
            f"line {number}: the values of each variable stand in a block of their own, not in "
            "rows. Save the zone with DATAPACKING=POINT, or as CSV."
        )


def _find_first_row(head: Sequence[Line], start: int) -> int | None:
    rows = enumerate(head[start + 1 : start + _MAX_HEADER_LINES], start + 1)
    return next((at for at, (_, text) in rows if _is_row(text)), None)


def _is_row(text: str) -> bool:
    cells = re.split(r"[\s,]+", text.strip(" ,\t\r\n"))
    return is_content(text) and all(map(is_number_like, cells))


def _from_variables(header: Sequence[str]) -> list[str]:
    at = next(at for at, text in enumerate(header) if _VARIABLES.match(text))
    return list(header[at:])


def _parse_variables(header: Sequence[str]) -> list[str]:
    """The names behind VARIABLES, and in quoted lines below it."""
    lines = [_VARIABLES.sub("", header[0], count=1)]
    for text in header[1:]:
        if not text.lstrip().startswith('"'):
            break
        lines.append(text)
    found = [quoted or plain for line in lines for quoted, plain in _NAMES.findall(line)]
    return [_bracket_unit(name) for name in found]


def _bracket_unit(name: str) -> str:
    """ "X mm" of TSI as "X [mm]"."""
    first, _, last = name.strip().partition(" ")
    return f"{first} [{last}]" if first.isalpha() and last.isascii() and _is_unit(last) else name


def _is_unit(text: str) -> bool:
    return text.replace("/", "").isalnum() and parse_unit(text) is not None


def _quote_name(name: str, mark: str) -> str:
    return "\xa0".join(name.split()) if mark == " " else f'"{name}"'
