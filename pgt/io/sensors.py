"""A table of sensors: what each is called, and where it is."""

from collections.abc import Collection, Sequence

import numpy as np

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.called import SENSORS, is_called, spelt
from pgt.io.headings import Places
from pgt.io.marks import Marks, find_marks, is_number_like
from pgt.io.table import Convert, Table

AXES = ("x", "y", "z")


def positions_in(table: Table, dialect: Dialect, asked: Sequence[str] = ()) -> dict[str, Places]:
    """Positions by the name of the sensor, out of a table of cells; `asked` are the coordinates."""
    axes = _axes(table, [axis for axis in AXES if axis in asked])
    named = _names(table, axes.values())
    if not axes or named is None:
        listed = ", ".join(repr(heading.text) for heading in table.headings)
        raise InputError(
            "a table of sensors has a column of names, such as 'sensor', and the columns of their "
            f"positions among x, y and z; this one has {listed}."
        )
    marks = find_marks((c for p in axes.values() for c in table.cells(p)), dialect)
    found: dict[str, Places] = {}
    converters: dict[int, Convert] = {p: _numbers(marks, axis) for axis, p in axes.items()}
    raw, lines = table.load(converters | {named: _texts})
    units = {axis: table.headings[place].unit for axis, place in axes.items()}
    for row, name in enumerate(raw[named]):
        if name in found:
            raise InputError(f"line {lines[row]}: the sensor {name!r} stands here twice.")
        given = {axis: float(raw[p][row]) for axis, p in axes.items() if not np.isnan(raw[p][row])}
        found[name] = {axis: (value, units[axis]) for axis, value in given.items()}
    return found


def _axes(table: Table, asked: Sequence[str]) -> dict[str, int]:
    """By axis, the column of positions; a depth or distance alone lies along the only axis of space."""
    headings = table.headings
    found: dict[str, int] = {}
    for axis in AXES:
        exact = [place for place, h in enumerate(headings) if h.name.lower() == axis]
        called = [place for place, h in enumerate(headings) if is_called(h.name, axis)]
        if len(exact) > 1:
            raise InputError(f"two columns are named {axis!r}; rename one of them.")
        filled = [place for place in exact or called if _is_filled(table, place)]
        found |= dict.fromkeys([axis], filled[0]) if filled else {}
    only = next(iter(found)) if len(found) == 1 else None
    is_letter = only is not None and headings[found[only]].name.lower() == only
    return {asked[0]: found[only]} if only and len(asked) == 1 and not is_letter else found


def _is_filled(table: Table, place: int) -> bool:
    """Whether there are numbers, and not the names of places."""
    return any(is_number_like(cell) for cell in table.cells(place) if cell)


def _texts(cells: list[str], lines: np.ndarray) -> np.ndarray:
    return np.array([" ".join(cell.split()) for cell in cells], dtype=object)


def _numbers(marks: Marks, axis: str) -> Convert:
    return lambda cells, lines: marks.numbers(cells, lines, axis)


def _names(table: Table, taken: Collection[int]) -> int | None:
    """The column of names: by its heading, or the first whose cells are no numbers."""
    free = [place for place in range(len(table.headings)) if place not in taken]
    for place in free:
        if any(word in SENSORS for word in spelt(table.headings[place].name).split()):
            return place
    for place in free:
        cells = table.cells(place)
        if cells and not any(is_number_like(cell) for cell in cells):
            return place
    return None
