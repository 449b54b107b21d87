"""Grids of ESRI, and of many models of terrain and water: a header of six numbers, then rows of cells."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pgt.core.errors import InputError
from pgt.io.encoding import Line, Lines
from pgt.io.number_format import is_plain_number

_HEADER_KEYS = (
    "ncols", "nrows", "xllcorner", "xllcenter", "yllcorner", "yllcenter", "cellsize", "dx", "dy",
    "nodata_value",
)  # fmt: skip
_HEADER_ENTRY = re.compile(r"\s*(?P<key>[A-Za-z_]+)\s+(?P<value>\S+)\s*")


def convert_esri_grid(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """The centers and values of the cells, from north to south.

    >>> lines = ["ncols 2", "nrows 1", "xllcorner 0", "yllcorner 0", "cellsize 10", "7 8"]
    >>> convert_esri_grid(list(enumerate(lines, 1)), iter(()))[0]
    [(5, 'x y value'), (6, '5.0 5.0 7'), (6, '15.0 5.0 8')]
    """
    grid, first = _parse_header(head)
    if not {"ncols", "nrows"} <= set(grid):
        return head, rest
    for number, text in head[:first]:
        _check_header_entry(number, *text.split())
    x, y = _first_center(grid, "x"), _first_center(grid, "y")
    if x is None or y is None or not {"cellsize", "dx"} & set(grid):
        raise InputError(
            "the header of the grid lacks its corner or the size of its cells; write xllcorner, "
            "yllcorner and cellsize."
        )
    rows = _iterate_cells(itertools.chain(head[first:], rest), grid, (x, y))
    heading = (head[first - 1][0], "x y value")
    return [heading, *itertools.islice(rows, len(head))], rows


def note_degrees(head: Sequence[Line]) -> list[str]:
    """A note that positions may be angles: the cells are small, and not at the origin.

    >>> lines = ["ncols 2", "xllcorner 7.5", "yllcorner 50", "cellsize 0.01", "1 2"]
    >>> note_degrees(list(enumerate(lines, 1)))
    ['x and y may be degrees, which are no lengths: write distances in metres']
    """
    grid, _ = _parse_header(head)
    numbers = {key: float(value) for key, value in grid.items() if is_plain_number(value)}
    x, y = (numbers.get(f"{axis}llcorner", numbers.get(f"{axis}llcenter")) for axis in "xy")
    if "ncols" not in numbers or x is None or y is None or (x, y) == (0, 0):
        return []
    is_on_earth = -180 <= x <= 360 and -90 <= y <= 90
    if not is_on_earth or numbers.get("cellsize", numbers.get("dx", 1.0)) > 1.0:
        return []
    return ["x and y may be degrees, which are no lengths: write distances in metres"]


def _check_header_entry(number: int, key: str, value: str) -> None:
    is_count = key.lower() in ("ncols", "nrows")
    if not (value.isdecimal() and int(value) if is_count else is_plain_number(value)):
        kind = "a whole number above 0" if is_count else "a number"
        raise InputError(f"line {number}: {key} is {value!r}, but has to be {kind}; correct it.")


def _parse_header(head: Sequence[Line]) -> tuple[dict[str, str], int]:
    """Entries of the header by key, and the index of the first row."""
    found: dict[str, str] = {}
    for at, (_, text) in enumerate(head):
        entry = _HEADER_ENTRY.fullmatch(text)
        if entry is None or entry["key"].lower() not in _HEADER_KEYS:
            return found, at
        found[entry["key"].lower()] = entry["value"]
    return found, len(head)


def _first_center(grid: Mapping[str, str], axis: str) -> float | None:
    """The center of the first cell."""
    if f"{axis}llcenter" in grid:
        return float(grid[f"{axis}llcenter"])
    corner = grid.get(f"{axis}llcorner")
    return None if corner is None else float(corner) + 0.5 * _cell_size(grid, axis)


def _cell_size(grid: Mapping[str, str], axis: str) -> float:
    return float(grid.get(f"d{axis}", grid.get("cellsize", "1")))


def _iterate_cells(
    lines: Iterable[Line], grid: Mapping[str, str], first: tuple[float, float]
) -> Iterator[Line]:
    """One line for every cell, with nan for those without data."""
    columns, rows = int(grid["ncols"]), int(grid["nrows"])
    no_data, count, number = float(grid.get("nodata_value", "-9999")), 0, 0
    for number, text in lines:
        for cell in text.split():
            row, column = divmod(count, columns)
            x = first[0] + column * _cell_size(grid, "x")
            y = first[1] + (rows - 1 - row) * _cell_size(grid, "y")
            is_empty = is_plain_number(cell) and float(cell) == no_data
            yield number, f"{x!r} {y!r} {'nan' if is_empty else cell}"
            count += 1
    if count != columns * rows:
        raise InputError(
            f"the grid ends at line {number} with {count} cells, but its header gives {columns} columns "
            f"and {rows} rows."
        )
