"""Axes along which readings differ: a simulation writes z = 0 beside every point of a plane."""

from collections.abc import Sequence
from dataclasses import replace

from pgt.io.columns import Columns

SPACE = ("x", "y", "z")


def without_constant(
    table: Columns, coords: Sequence[str], wanted: Sequence[str]
) -> tuple[Columns, tuple[str, ...]]:
    """The table without axes that have one value everywhere, and the axes that are left.

    Those that are `wanted` stay, and so do all of space where none varies.

    >>> import numpy as np
    >>> flat = Columns({"x": np.array([0.0, 1.0]), "z": np.zeros(2), "u": np.ones(2)})
    >>> without_constant(flat, ("x", "z"), ("x",))[1]
    ('x',)
    """
    space = [axis for axis in coords if axis in SPACE]
    constant = [axis for axis in coords if (table.values[axis] == table.values[axis][:1]).all()]
    if set(space) <= set(constant):
        return table, tuple(coords)
    left_out = [axis for axis in constant if axis not in wanted]
    said = [
        f"{axis} left out, since it is {table.values[axis][0]:g} everywhere" for axis in left_out
    ]
    values = {name: column for name, column in table.values.items() if name not in left_out}
    units = {name: unit for name, unit in table.units.items() if name not in left_out}
    left = replace(table, values=values, units=units, said=(*table.said, *said))
    return left, tuple(axis for axis in coords if axis not in left_out)
