"""Readings in units that fit an equation: millimetres beside metres per second do not."""

from dataclasses import replace

from pgt.data.units import conversion
from pgt.io.survey import Survey
from pgt.physics.equation_checks import fitting_units
from pgt.physics.pde import About


def in_fitting_units(found: Survey, about: About) -> Survey:
    """What was found, with axes along the first one's unit, and fields in those of the axes.

    A run file that names these units has the readings converted. Where nothing says which unit is
    needed, or the readings have one of another kind, they stay as they are.
    """
    table = found.table
    values, units, said = dict(table.values), dict(table.units), list(table.notes)
    given = {name: unit for name, unit in units.items() if unit.strip() != "1"}
    names = dict(zip(about.measured, about.measured, strict=True))
    fitting = fitting_units(about, found.coords, given, names) if about.equation else {}
    for name, (needed, _) in fitting.items():
        scale = conversion(given[name], needed) if name in given and needed else None
        if scale is None or scale == (1.0, 0.0) or name not in values:
            continue
        values[name] = values[name] * scale[0] + scale[1]
        said.append(f"{name} converted from {given[name]} to {needed}")
        units[name] = str(needed)
    return replace(found, table=replace(table, values=values, units=units, notes=tuple(said)))
