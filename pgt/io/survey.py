"""A survey of files of readings, from headings and cells: the basis of a run file.

The roles of the columns are guessed (column_roles.py). Where one stays unclear, an error says what to
write.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.core.registry import parts
from pgt.data._checks import first_equal_rows
from pgt.io.arrays import list_mat_names, list_npz_names
from pgt.io.column_aliases import (
    AXES,
    FLAG_NAMES,
    SPACE_AXES,
    is_axis_alias,
    rename_axes_in_order,
)
from pgt.io.column_roles import (
    ColumnRoles,
    check_not_mixed,
    check_one_quantity,
    check_sensor_positions,
    find_fields,
    find_time,
    find_unused_sensors,
    guess_roles,
    remove_validity_column,
)
from pgt.io.columns import ArrayNames, Columns
from pgt.io.file_access import check_is_file, check_suffix, name_file_in_errors, wrap_library_errors
from pgt.io.headings import Positions, find_length_axis, parse_headings, place_by_grid
from pgt.io.netcdf import NETCDF_ENDINGS, list_netcdf_names
from pgt.io.number_format import is_number_like, is_numeric_column
from pgt.io.readers import CELL_ENDINGS, open_table, read_columns, read_sensor_positions
from pgt.io.selection import (
    CellTable,
    as_text,
    explain_sensor_positions,
)
from pgt.io.simulation_text import ZONE_TIME
from pgt.io.time_stamps import is_time_stamp

ARRAY_NAME_READERS: dict[str, Callable[[Path], ArrayNames]] = {
    **dict.fromkeys(NETCDF_ENDINGS, list_netcdf_names),
    ".npz": list_npz_names,
    ".mat": list_mat_names,
}


@dataclass(frozen=True)
class Survey:
    """The contents of files: names as the equation uses them, and those in the file that differ."""

    files: tuple[Path, ...]
    sensors: Path | None
    coords: tuple[str, ...]
    fields: tuple[str, ...]
    columns: dict[str, str]
    table: Columns
    repeated: int  # readings of one field at one position and time, beyond the first
    unused: tuple[str, ...] = ()
    dialect: Dialect | None = None  # completed by what the files show

    @property
    def lacks_places(self) -> bool:
        """Whether several columns change in time only: they may be sensors without positions."""
        return self.coords == ("t",) and len(self.fields) + len(self.unused) > 1

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The box around the readings; along an axis of one position it extends a unit beyond it."""
        found = {}
        for axis in self.coords:
            column = self.table.values[axis]
            low, high = float(np.nanmin(column)), float(np.nanmax(column))
            found[axis] = (low, high if high > low else low + 1.0)
        return found

    @property
    def hidden(self) -> dict[str, tuple[int, int]]:
        """By field, the number of missing readings, and of all readings."""
        counts = {n: int(np.isnan(self.table.values[n]).sum()) for n in self.fields}
        return {name: (count, len(self.table)) for name, count in counts.items() if count}


def survey(
    files: Sequence[Path],
    *,
    measured: Sequence[str] = (),
    sensors: Path | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    axes: Sequence[str] = (),
    axes_in_order: bool = False,
) -> Survey:
    """The survey of files of readings.

    `measured` are the fields of an equation, if one is known, and `axes` its coordinates;
    `axes_in_order` maps the axes of space in the files to x, y and z in this order.
    """
    files = [Path(file) for file in files]
    if sensors is None:
        sensors = _find_sensor_table(files, dialect or Dialect())
        files = [file for file in files if file != sensors]
    positions = read_sensor_positions(sensors, dialect or Dialect(), axes) or {}
    given = dict(columns or {})
    with name_file_in_errors(files[0]):
        roles = _look_at_file(files[0], positions, given, dialect or Dialect(), axes)
        fields = find_fields(roles, measured, given)
    space = [axis for axis in SPACE_AXES if axis in roles.coords]
    is_single = len(space) == 1 and [axis for axis in axes if axis != "t"] == ["x"]
    if (axes_in_order or is_single) and not set(given) & set(AXES):
        roles.coords = rename_axes_in_order(roles.coords)
    if roles.valid is not None:
        dialect = replace(dialect or Dialect(), valid=roles.valid)
    coords = tuple(axis for axis in AXES if axis in roles.coords)
    own = {a: roles.coords[a] for a in coords if roles.coords[a] not in ("", a)} | fields
    own = {name: heading for name, heading in own.items() if heading != name} | given
    table = read_columns(
        files, coords=coords, fields=tuple(fields), columns=own, sensors=sensors, dialect=dialect
    )
    taken = {*own.values(), *fields, *roles.coords.values(), *coords}
    # The time of a single zone of Tecplot is constant.
    kept = [axis for axis in coords if own.get(axis) != ZONE_TIME]
    table, coords = drop_constant_axes(table, coords, (*axes, *given) if axes else kept)
    own = {name: heading for name, heading in own.items() if name in (*coords, *fields)}
    unused = [h.text for h in roles.numeric if h.text not in taken and h.name not in taken]
    unused += find_unused_sensors(roles, [own.get(name, name) for name in fields])
    repeated = _count_repeated(table, coords, tuple(fields))
    if repeated and coords == ("t",):
        with name_file_in_errors(files[0]):
            check_sensor_positions(roles)
    flags = [text for text in roles.words if text.lower() in FLAG_NAMES and text != roles.valid]
    notes = (*table.notes, *(f"the flags in {text!r} are not used" for text in flags))
    return Survey(
        tuple(files), sensors, coords, tuple(fields), own, replace(table, notes=notes), repeated,
        tuple(unused), dialect,
    )  # fmt: skip


def _look_at_file(
    path: Path,
    sensors: dict[str, Positions],
    given: dict[str, str],
    dialect: Dialect,
    axes: Sequence[str],
) -> ColumnRoles:
    check_is_file(path)
    suffix = check_suffix(path, (*CELL_ENDINGS, *ARRAY_NAME_READERS))
    if suffix in ARRAY_NAME_READERS:
        return _look_at_arrays(path, given)
    with open_table(path, dialect) as table:
        table = _place_by_headings(table, sensors, given, axes)
        cells = {h.text: {*table.filled_cells(at)} for at, h in enumerate(table.headings)}
        is_numeric = {text: is_numeric_column([*found]) for text, found in cells.items()}
        numeric = [
            h for h in table.headings if is_numeric[h.text] and not cells[h.text] <= {*sensors}
        ]
        # A column of names is no coordinate, even if its heading is "location".
        possible = [
            h
            for h in table.headings
            if h in numeric
            or not cells[h.text]
            or h.name.lower() in AXES
            or is_axis_alias(h.name, "t")
        ]
        roles = guess_roles(possible, numeric, sensors, given)
        roles.names = [text for text in cells if text]
        roles.constant = {text for text, found in cells.items() if len(found) == 1}
        roles.words = {
            text: _example_cell(found)
            for text, found in cells.items()
            if text and found and not is_numeric[text]
        }
        check_one_quantity(table, given)
        remove_validity_column(roles, table, given, dialect)
        if "t" not in given:
            find_time(roles, table)
        if not set(given) - set(AXES):
            check_not_mixed(roles, table, sensors)
        if not roles.numeric and not roles.sensors:
            table.load({0: as_text})  # raises what is wrong with its rows
        _add_given_axes(roles, table, sensors, axes)
        _add_length_axis(roles)
        return roles


def _look_at_arrays(path: Path, given: dict[str, str]) -> ColumnRoles:
    with wrap_library_errors("a file of arrays"):
        names = ARRAY_NAME_READERS[path.suffix.lower()](path)
    # What the attributes say; else the last part of "structure.name".
    headings = [
        replace(heading, name=known if known != heading.text else heading.name.rpartition(".")[2])
        for heading, known in zip(parse_headings([*names]), names.values(), strict=True)
    ]
    roles = guess_roles(headings, headings, {}, given)
    full = {heading.name: heading.text for heading in reversed(headings)}
    roles.coords |= {a: full.get(n, n) for a, n in roles.coords.items() if a not in given}
    return roles


def _example_cell(cells: set[str]) -> str:
    """A cell that is no number, if possible one with digits in it."""
    others = sorted(cell for cell in cells if not is_number_like(cell)) or sorted(cells)
    return next((cell for cell in others if re.search(r"\d", cell)), others[0])


def _place_by_headings(
    table: CellTable, sensors: dict[str, Positions], given: Mapping[str, str], axes: Sequence[str]
) -> CellTable:
    """The table, whose headings are positions where they are numbers beside a time."""
    if sensors or len({*given} & {*AXES}) > 1 or any(h.positions for h in table.headings):
        return table
    default = ("x", "t") if is_axis_alias(table.headings[0].name, "t") else ()
    return replace(table, headings=place_by_grid(table.headings, axes or default))


def _add_given_axes(
    roles: ColumnRoles, table: CellTable, sensors: dict[str, Positions], axes
) -> None:
    """Add the axes of positions outside of the columns; a time among them only where it is asked for."""
    beside = [heading.positions for heading in roles.sensors] + [
        table.fixed_positions,
        *sensors.values(),
    ]
    for axis in AXES:
        asked = beside if axis != "t" or "t" in axes else beside[: len(roles.sensors)]
        if axis not in roles.coords and any(axis in places for places in asked):
            roles.coords[axis] = ""


def _add_length_axis(roles: ColumnRoles) -> None:
    """Take the only column of lengths as the axis of space, where none is found: "Soil depth (cm)"."""
    if set(roles.coords) & set(SPACE_AXES):
        return
    found = [(axis, heading) for heading in roles.numeric if (axis := find_length_axis(heading))]
    if len(found) == 1:
        axis, heading = found[0]
        roles.coords[axis] = heading.text
        roles.numeric = [other for other in roles.numeric if other != heading]


def _count_repeated(table: Columns, coords: Sequence[str], fields: Sequence[str]) -> int:
    points = np.stack([table.values[axis] for axis in coords], axis=1)
    count = 0
    for name in fields:
        measured = points[np.isfinite(points).all(axis=1) & ~np.isnan(table.values[name])]
        count += len(measured) - len(np.unique(first_equal_rows(measured))) if len(measured) else 0
    return count


def drop_constant_axes(
    table: Columns, coords: Sequence[str], wanted: Sequence[str]
) -> tuple[Columns, tuple[str, ...]]:
    """The table without axes of one value, and the axes that are left.

    A simulation writes z = 0 beside every point of a plane. Axes that are `wanted` stay, and so do all
    axes of space where none varies.

    >>> flat = Columns({"x": np.array([0.0, 1.0]), "z": np.zeros(2), "u": np.ones(2)})
    >>> drop_constant_axes(flat, ("x", "z"), ("x",))[1]
    ('x',)
    """
    space = [axis for axis in coords if axis in SPACE_AXES]
    constant = [axis for axis in coords if (table.values[axis] == table.values[axis][:1]).all()]
    if set(space) <= set(constant):
        return table, tuple(coords)
    dropped = [axis for axis in constant if axis not in wanted]
    notes = [
        f"{axis} left out, since it is {table.values[axis][0]:g} everywhere" for axis in dropped
    ]
    values = {name: column for name, column in table.values.items() if name not in dropped}
    units = {name: unit for name, unit in table.units.items() if name not in dropped}
    left = replace(table, values=values, units=units, notes=(*table.notes, *notes))
    return left, tuple(axis for axis in coords if axis not in dropped)


def _find_sensor_table(files: Sequence[Path], dialect: Dialect) -> Path | None:
    """The one of several files that gives positions for the columns, names or files of the others."""
    for file in files if len(files) > 1 else ():
        try:
            names = read_sensor_positions(file, dialect) or {}
        except InputError:
            continue
        others = [other for other in files if other != file]
        if any(other.name.partition(".")[0] in names for other in others):
            return file
        if _is_named_in(names, others[0], dialect):
            return file
        is_table = check_suffix(others[0], parts("reader")) in CELL_ENDINGS
        if is_table and _has_only_positions(file, names, dialect):
            raise InputError(
                f"{file}: this looks like a table of sensors.{explain_sensor_positions('x', names)}"
            )
    return None


def _has_only_positions(path: Path, sensors: Mapping[str, Positions], dialect: Dialect) -> bool:
    """Whether a table holds only names of sensors and positions."""
    axes = {axis for places in sensors.values() for axis in places}
    with open_table(path, dialect) as table:
        filled = [heading for heading in table.headings if heading.text]
        return len(filled) == 1 + len(axes) and not any(map(is_time_stamp, sensors))


def _is_named_in(names: Container[str], path: Path, dialect: Dialect) -> bool:
    """Whether columns of a table, or cells in it, have such names."""
    try:
        with open_table(path, dialect) as table:
            cells = (cell for place in range(len(table.headings)) for cell in table.cells(place))
            texts = (text for heading in table.headings for text in (heading.text, heading.name))
            return any(text in names for text in (*texts, *cells))
    except InputError:
        return False
