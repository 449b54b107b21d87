"""The sections of a run file that follow from the data: coordinates, fields, domain, units."""

import os
from dataclasses import replace
from pathlib import Path

from pgt.config.source import commented, toml
from pgt.data.units import conversion
from pgt.io.survey import Survey
from pgt.physics.equation_checks import fitting_units
from pgt.physics.pde import About


def observations(found: Survey, folder: Path) -> str:
    """The table [observations] for surveyed files, with paths relative to `folder`."""
    files = [_relative(file, folder) for file in found.files]
    lines = [commented(f"{', '.join(found.table.notes)}.")] if found.table.notes else []
    lines += [
        commented(f"{n}: {count} of {all_} readings hidden.")
        for n, (count, all_) in found.hidden.items()
    ]
    lines += [commented(f"Not used: {', '.join(found.unused)}.")] if found.unused else []
    if found.lacks_places:
        lines.append(
            "# No positions: if each column is one sensor, give a table of them (sensors = ...)."
        )
    lines += [f"file = {toml(files[0] if len(files) == 1 else files)}  # relative to this file"]
    if found.sensors is not None:
        lines.append(f"sensors = {toml(_relative(found.sensors, folder))}  # names and positions")
    lines.append(f"coords = {toml(found.coords)}")
    lines.append(f"fields = {toml(found.fields)}  # what was measured; others are inferred")
    if found.columns:
        lines.append(f"columns = {toml(found.columns)}  # the file's own headings")
    lines += [f"units = {toml(found.table.units)}"] if found.table.units else []
    if found.repeated:
        lines.append(f'duplicates = "mean"  # {found.repeated} readings repeat a place and time')
    if found.dialect is not None:
        given = {n: v for n, v in vars(found.dialect).items() if v is not None}
        lines.append(f"dialect = {toml(given)}")
    return "\n".join([*lines, f"#noise = {toml({found.fields[0]: 0.01})}  # standard deviation"])


def bounds(found: Survey) -> str:
    """The lines of [domain]: the box around the readings."""
    lines = [f"{axis} = {toml(_short(pair))}" for axis, pair in found.bounds.items()]
    return "\n".join(
        ["# The box around the readings; widen it to where the field is sought.", *lines]
    )


def equation(found: Survey) -> str:
    """The lines of [pde] without an equation, to be filled in."""
    name, space = found.fields[0], next((axis for axis in found.coords if axis != "t"), "")
    left = f"{name}_t" if "t" in found.coords else "0"
    right = f"a*{name}_{space}{space}" if space else f"-a*{name}"
    return (
        '# Write your equation: one of the library, such as name = "heat", or text:\n'
        f'#equations = ["{left} = {right}"]\n#a = 0.01'
    )


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _short(pair: tuple[float, float]) -> list[float | int]:
    """Whole numbers without a point, as one writes them."""
    return [int(v) if v.is_integer() and abs(v) < 1e15 else v for v in pair]


def in_fitting_units(found: Survey, about: About) -> Survey:
    """The survey with all axes of space in the unit of the first, and fields in units that follow.

    A run file that names these units has the readings converted. Readings stay as they are where the
    needed unit is not known, or is of another kind.
    """
    table = found.table
    values, units, notes = dict(table.values), dict(table.units), list(table.notes)
    given = {name: unit for name, unit in units.items() if unit.strip() != "1"}
    names = dict(zip(about.measured, about.measured, strict=True))
    fitting = fitting_units(about, found.coords, given, names) if about.equation else {}
    for name, (needed, _) in fitting.items():
        scale = conversion(given[name], needed) if name in given and needed else None
        if scale is None or scale == (1.0, 0.0) or name not in values:
            continue
        values[name] = values[name] * scale[0] + scale[1]
        notes.append(f"{name} converted from {given[name]} to {needed}")
        units[name] = str(needed)
    return replace(found, table=replace(table, values=values, units=units, notes=tuple(notes)))
