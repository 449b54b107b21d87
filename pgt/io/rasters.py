"""Grids of ESRI and of many models of terrain and water: a header of six numbers, then rows of cells."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pgt.ground.errors import InputError
from pgt.io.encoding import Line
from pgt.io.marks import is_plain

_KEYS = ("ncols", "nrows", "xllcorner", "xllcenter", "yllcorner", "yllcenter", "cellsize", "dx", "dy",
         "nodata_value")  # fmt: skip
_ENTRY = re.compile(r"\s*(?P<key>[A-Za-z_]+)\s+(?P<value>\S+)\s*")


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines as places and values of the cells, from north to south, where they are such a grid;
    others as they are. The places are the middles of cells.

    >>> lines = ["ncols 2", "nrows 1", "xllcorner 0", "yllcorner 0", "cellsize 10", "7 8"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0]
    [(5, 'x y value'), (6, '5.0 5.0 7'), (6, '15.0 5.0 8')]
    """
    grid, first = _header(head)
    if not {"ncols", "nrows"} <= set(grid):
        return head, rest
    for number, text in head[:first]:
        _check_entry(number, *text.split())
    x, y = _start(grid, "x"), _start(grid, "y")
    if None in (x, y) or not {"cellsize", "dx"} & set(grid):
        raise InputError(
            "the header of the grid says neither where it begins nor how large its cells are; write "
            "xllcorner, yllcorner and cellsize."
        )
    rows = _cells(itertools.chain(head[first:], rest), grid, (float(x or 0), float(y or 0)))
    heading = (head[first - 1][0], "x y value")
    return [heading, *itertools.islice(rows, len(head))], rows


def doubts(head: Sequence[Line]) -> list[str]:
    """That places may be angles, where they are none of metres: a small cell, not at the origin.

    >>> lines = ["ncols 2", "xllcorner 7.5", "yllcorner 50", "cellsize 0.01", "1 2"]
    >>> doubts(list(enumerate(lines, 1)))
    ['x and y may be degrees, which are no lengths: write distances in metres']
    """
    grid, _ = _header(head)
    numbers = {key: float(value) for key, value in grid.items() if is_plain(value)}
    x, y = (numbers.get(f"{axis}llcorner", numbers.get(f"{axis}llcenter")) for axis in "xy")
    if "ncols" not in numbers or x is None or y is None or (x, y) == (0, 0):
        return []
    is_on_earth = -180 <= x <= 360 and -90 <= y <= 90
    if not is_on_earth or numbers.get("cellsize", numbers.get("dx", 1.0)) > 1.0:
        return []
    return ["x and y may be degrees, which are no lengths: write distances in metres"]


def _check_entry(number: int, key: str, value: str) -> None:
    is_count = key.lower() in ("ncols", "nrows")
    if not (value.isdecimal() and int(value) if is_count else is_plain(value)):
        kind = "a whole number above 0" if is_count else "a number"
        raise InputError(f"line {number}: {key} is {value!r}, but has to be {kind}; correct it.")


def _header(head: Sequence[Line]) -> tuple[dict[str, str], int]:
    """Numbers by key, and where the rows begin."""
    found: dict[str, str] = {}
    for at, (_, text) in enumerate(head):
        entry = _ENTRY.fullmatch(text)
        if entry is None or entry["key"].lower() not in _KEYS:
            return found, at
        found[entry["key"].lower()] = entry["value"]
    return found, len(head)


def _start(grid: Mapping[str, str], axis: str) -> float | None:
    """Where the middle of the first cell is."""
    if f"{axis}llcenter" in grid:
        return float(grid[f"{axis}llcenter"])
    corner = grid.get(f"{axis}llcorner")
    return None if corner is None else float(corner) + 0.5 * _size(grid, axis)


def _size(grid: Mapping[str, str], axis: str) -> float:
    return float(grid.get(f"d{axis}", grid.get("cellsize", "1")))


def _cells(
    lines: Iterable[Line], grid: Mapping[str, str], start: tuple[float, float]
) -> Iterator[Line]:
    """One line for every cell; those without data have none."""
    columns, rows = int(grid["ncols"]), int(grid["nrows"])
    nothing, count, number = float(grid.get("nodata_value", "-9999")), 0, 0
    for number, text in lines:
        for cell in text.split():
            row, column = divmod(count, columns)
            x, y = (
                start[0] + column * _size(grid, "x"),
                start[1] + (rows - 1 - row) * _size(grid, "y"),
            )
            is_empty = is_plain(cell) and float(cell) == nothing
            yield number, f"{x!r} {y!r} {'nan' if is_empty else cell}"
            count += 1
    if count != columns * rows:
        raise InputError(
            f"the grid ends at line {number} with {count} cells, but its header says {columns} columns "
            f"and {rows} rows."
        )
