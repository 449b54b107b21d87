"""A table of sensors: what each is called, and where it is."""

from collections.abc import Collection

import numpy as np

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.headings import Places
from pgt.io.marks import Marks, find_marks, is_number_like
from pgt.io.table import Convert, Table

AXES = ("x", "y", "z")
CALLED = ("sensor", "name", "channel", "id", "tc", "probe", "label", "file", "column", "station")


def positions_in(table: Table, dialect: Dialect) -> dict[str, Places]:
    """Positions by the name of the sensor, out of a table of cells."""
    names = [heading.name.lower() for heading in table.headings]
    for axis in AXES:
        if names.count(axis) > 1:
            raise InputError(f"two columns are named {axis!r}; rename one of them.")
    axes = {name: place for place, name in enumerate(names)}
    axes = {axis: axes[axis] for axis in AXES if axis in axes}
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
        found[name] = {axis: (float(raw[p][row]), units[axis]) for axis, p in axes.items()}
    return found


def _texts(cells: list[str], lines: np.ndarray) -> np.ndarray:
    return np.array([" ".join(cell.split()) for cell in cells], dtype=object)


def _numbers(marks: Marks, axis: str) -> Convert:
    return lambda cells, lines: marks.numbers(cells, lines, axis)


def _names(table: Table, taken: Collection[int]) -> int | None:
    """The column of names: by its heading, or the first whose cells are no numbers."""
    free = [place for place in range(len(table.headings)) if place not in taken]
    for place in free:
        if table.headings[place].name.lower() in CALLED:
            return place
    for place in free:
        cells = table.cells(place)
        if cells and not any(is_number_like(cell) for cell in cells):
            return place
    return None
