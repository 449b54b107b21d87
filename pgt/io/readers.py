"""The front doors for readings and points in files of any known kind, and tables of sensors."""

import inspect
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from pgt.core.checked import checked
from pgt.core.dialect import Dialect
from pgt.core.errors import InputError, closest
from pgt.core.registry import parts, register
from pgt.data import Domain, Observations
from pgt.data._checks import (
    check_coords_and_fields,
    check_names,
    check_points,
    check_units,
)
from pgt.data.observations import check_limits
from pgt.data.sensors import Sensors
from pgt.io.column_aliases import (
    SENSOR_NAMES,
    SPACE_AXES,
    is_axis_alias,
    normalize_name,
    warn_of_angles,
)
from pgt.io.columns import Columns
from pgt.io.excel import open_sheet
from pgt.io.file_access import check_is_file, check_suffix, name_file_in_errors
from pgt.io.headings import Positions, parse_heading
from pgt.io.merge import check_axis_sentinels, merge_tables
from pgt.io.number_format import find_number_format, is_number_like
from pgt.io.parquet import open_parquet_table
from pgt.io.selection import CellTable, Converter, as_text, select_columns
from pgt.io.text import TEXT_ENDINGS, open_text_table

Files = str | os.PathLike | Sequence[str | os.PathLike]
VALIDITY_COLUMN = "valid?"  # cannot be the name of a field
_ROW_NUMBERS = re.compile(r"\brow(s?) (\d+)(?: and (\d+))?")


@checked
def read_observations(
    files: Files,
    *,
    coords: Sequence[str],
    fields: Sequence[str],
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    noise=None,
    duplicates: str = "error",
    domain: Domain | None = None,
    sensors: str | os.PathLike | None = None,
    dialect: Dialect | None = None,
) -> Observations:
    r"""Readings from a CSV, TSV, Excel, Parquet, NetCDF, MAT, NPZ or registered kind of file.

    Parameters
    ----------
    files : one, or several whose rows are taken together; a missing value is a hidden reading.
    coords, fields : names as the equation uses them.
    columns : the names in the file where they differ: ``{"x": "position", "T": "TC*"}``.
    units : by name; numbers that the file has in another unit are converted.
    noise : σ: one number, or by field a number or the name of a column of the file.
    duplicates : "error", or "mean" to average repeated readings of one field at one point.
    domain : refuse readings outside of it, and numbers with which nothing can be computed in it.
    sensors : a table of names and positions, where each sensor is a column or a file.
    dialect : how the table is written, where the file does not show it.

    Raises
    ------
    InputError
        Names the file, the line or row and the column, and what to write instead.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "sensors.csv")
    ...     _ = path.write_text("x [m];u\n0,5;20,1\n0,7;\n")
    ...     readings = read_observations(path, coords=("x",), fields=("u",))
    >>> readings.points.tolist(), readings.mask.tolist(), readings.units
    ([[0.5], [0.7]], [[True], [False]], (('x', 'm'),))
    """
    table = read_columns(
        files, coords=coords, fields=fields, columns=columns, units=units, noise=noise,
        sensors=sensors, dialect=dialect,
    )  # fmt: skip
    return build_observations(table, files, coords=coords, duplicates=duplicates, domain=domain)


def build_observations(
    table: Columns,
    files: Files,
    *,
    coords: Sequence[str],
    duplicates: str = "error",
    domain: Domain | None = None,
    sensors: Sensors | None = None,
) -> Observations:
    """Readings from the columns of `read_columns`; errors name the files."""
    coords = (coords,) if isinstance(coords, str) else coords
    with name_file_in_errors(describe_files(files)), _lines_in_errors(table):
        readings = Observations.from_arrays(
            {name: table.values[name] for name in coords},
            {name: column for name, column in table.values.items() if name not in coords},
            noise=table.noise,
            units=table.units,
            duplicates=duplicates,
            sensors=sensors,
        )
        if domain is not None:
            readings.check_inside(domain)
            check_limits(readings, domain)
    return readings


@checked
def read_columns(
    files: Files,
    *,
    coords: Sequence[str],
    fields: Sequence[str],
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    noise=None,
    sensors: str | os.PathLike | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    r"""The columns of files as `read_observations` takes them, with notes on what was found and done.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "wide.csv")
    ...     _ = path.write_text("t [s];T@x=0.1;T@x=0.5\n0;20,5;21\n60;-9999;21,5\n")
    ...     found = read_columns(path, coords=("x", "t"), fields=("T",))
    >>> ", ".join(found.notes)
    'semicolons, decimal commas, 2 sensors, 2 time stamps, 1 sentinel hidden'
    >>> found.values["T"].tolist()
    [20.5, 21.0, nan, 21.5]
    """
    with name_file_in_errors(describe_files(files)):
        coords = check_names("coords", coords)
        fields = check_names("fields", fields) if fields != () else ()
        check_coords_and_fields((), fields)
        check_units(units, coords + fields)
        own = _names_in_file(coords + fields, columns)
    by_field = noise if isinstance(noise, Mapping) else {}
    sigma = {f"σ {name}": heading for name, heading in by_field.items() if isinstance(heading, str)}
    places = read_sensor_positions(
        None if sensors is None else Path(sensors), dialect or Dialect(), coords
    )
    beside = sigma | (
        {VALIDITY_COLUMN: dialect.valid} if dialect is not None and dialect.valid else {}
    )
    tables = []
    for path in _as_paths(files):
        with name_file_in_errors(path), _translate_hints(own):
            table = _read_file(path, own, coords, list(beside.values()), places, dialect)
            tables.append(_hide_invalid_rows(_rename_columns(table, own | beside), fields))
    with name_file_in_errors(describe_files(files)):
        called, missing = [path.name for path in _as_paths(files)], (dialect or Dialect()).missing
        spread = {name: name.removeprefix("σ ") for name in sigma}
        found = merge_tables(tables, called, units or {}, missing, fields, spread)
    found = _drop_empty_rows(found, coords, fields)
    if missing is None and fields:
        with name_file_in_errors(describe_files(files)), _lines_in_errors(found):
            for axis in coords:
                check_axis_sentinels(axis, found.values[axis])
    if sigma:
        noise = {name: found.values.get(f"σ {name}", value) for name, value in by_field.items()}
    warn_of_angles(coords, own)
    plain = {name: found.values[name] for name in coords + fields}
    return replace(found, values=plain, noise=noise)


@checked
def read_points(
    path: str | os.PathLike,
    coords: Sequence[str],
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> np.ndarray:
    r"""Positions (n, d) from a file, with columns in the order of `coords`; otherwise as for readings.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("x,t\n0.5,1\n0.7,2\n")
    ...     read_points(path, ("t", "x")).tolist()
    [[1.0, 0.5], [2.0, 0.7]]
    """
    coords = (coords,) if isinstance(coords, str) else coords
    table = read_columns(path, coords=coords, fields=(), columns=columns, units=units)
    points = np.stack([table.values[name] for name in coords], axis=1)
    with name_file_in_errors(describe_files(path)), _lines_in_errors(table):
        check_points(points, tuple(coords))
    return points


def _as_paths(files: Files) -> list[Path]:
    if isinstance(files, str | os.PathLike):
        return [Path(files)]
    paths = [Path(file) for file in files]
    if not paths:
        raise InputError("there is no file to read; name one at least.")
    return paths


def describe_files(files: Files) -> Path:
    """The name of one file, or of several, in messages."""
    first, *others = _as_paths(files)
    return Path(f"{first} and {len(others)} more") if others else first


def _rename_columns(table: Columns, own: Mapping[str, str]) -> Columns:
    """The columns under the names of the equation, with their units."""
    values = {name: table.values[column] for name, column in own.items()}
    units = {n: table.units.get(c, parse_heading(c).unit) for n, c in own.items()}
    return replace(table, values=values, units={n: unit for n, unit in units.items() if unit})


def _hide_invalid_rows(table: Columns, fields: Sequence[str]) -> Columns:
    """The table without readings in rows whose column of validity is 0 or below, or empty."""
    if VALIDITY_COLUMN not in table.values:
        return table
    values = dict(table.values)
    invalid = ~(values.pop(VALIDITY_COLUMN) > 0)
    values |= {name: np.where(invalid, np.nan, values[name]) for name in fields}
    count = int(invalid.sum())
    notes = [f"{count} row{'s' if count != 1 else ''} marked as invalid hidden"] if count else []
    return replace(table, values=values, notes=(*table.notes, *notes))


def _drop_empty_rows(table: Columns, coords: Sequence[str], fields: Sequence[str]) -> Columns:
    """The table without rows that have neither position nor reading.

    Some files end with notes, and arrays of profiles are filled up to one length.
    """
    if not fields:
        return table
    some = np.all if table.lines is not None else np.any
    nowhere = some([np.isnan(table.values[axis]) for axis in coords], axis=0)
    empty = nowhere & np.all([np.isnan(table.values[name]) for name in fields], axis=0)
    if not empty.any() or empty.all():
        return table
    values = {name: column[~empty] for name, column in table.values.items()}
    lines, sensors = (None if c is None else c[~empty] for c in (table.lines, table.sensors))
    count = int(empty.sum())
    note = f"{count} row{'s' if count > 1 else ''} without position or reading left out"
    return replace(table, values=values, lines=lines, sensors=sensors, notes=(*table.notes, note))


def _names_in_file(names: tuple[str, ...], columns: Mapping[str, str] | None) -> dict[str, str]:
    """The name of each coordinate and field in the file."""
    for name in columns or {}:
        if name not in names:
            raise InputError(
                f"`columns` has {name!r}.{closest(name, names)} Write the name in the equation first: "
                '`columns={"x": "name in the file"}`.'
            )
    own = dict(zip(names, names, strict=True)) | dict(columns or {})
    taken = list(own.values())
    for name, column in own.items():
        if taken.count(column) > 1:
            raise InputError(
                f"the column {column!r} would be read twice, once as {name!r}; name another in "
                "`columns`."
            )
    return own


def _read_file(
    path: Path,
    own: Mapping[str, str],
    coords: Sequence[str],
    sigma: Sequence[str],
    sensors: dict[str, Positions] | None,
    dialect: Dialect | None,
) -> Columns:
    check_is_file(path)
    readers = parts("reader")
    suffix = check_suffix(path, readers)
    reader = readers[suffix]
    where = tuple(own[name] for name in coords)
    others = dict.fromkeys(name for name in (*own.values(), *sigma) if name not in where)
    given = {"sensors": sensors, "dialect": dialect}
    options = {name: value for name, value in given.items() if value is not None}
    takes = inspect.signature(reader).parameters
    for name in options:
        if name not in takes:
            raise InputError(
                f"a file {suffix} is no table of cells, and `{name}` does not apply to it."
            )
    return reader(path, where, tuple(others), **options)


@contextmanager
def _translate_hints(own: Mapping[str, str]) -> Iterator[None]:
    """In hints on `columns`, replace the names of the file by those of the equation."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for name, column in own.items():
            text = text.replace(
                f"`columns={{{json.dumps(column)}: ", f"`columns={{{json.dumps(name)}: "
            )
        raise InputError(text) from None


@contextmanager
def _lines_in_errors(table: Columns) -> Iterator[None]:
    """In errors, replace the rows of `Observations`, counted from 0, by the lines of the file."""
    lines = table.lines
    try:
        yield
    except InputError as error:
        if lines is None:
            raise

        def line(match: re.Match) -> str:
            rows = [int(row) for row in match.groups()[1:] if row]
            if max(rows) >= len(lines):  # a name that looks like a row
                return match[0]
            return f"line{match[1]} {' and '.join(str(lines[row]) for row in rows)}"

        raise InputError(_ROW_NUMBERS.sub(line, str(error))) from None


_TABLE_OPENERS = {".xlsx": open_sheet, ".xlsm": open_sheet, ".parquet": open_parquet_table}
CELL_ENDINGS = (*_TABLE_OPENERS, *TEXT_ENDINGS)  # of files that are tables of cells


@contextmanager
def open_table(path: Path, dialect: Dialect) -> Iterator[CellTable]:
    """The table of cells in a file, whose columns can be loaded while it is open."""
    if opener := _TABLE_OPENERS.get(check_suffix(path, CELL_ENDINGS)):
        yield opener(path, dialect)
        return
    with open_text_table(path, dialect) as table:
        yield table


@register(".xlsx", ".xlsm", *TEXT_ENDINGS, kind="reader")
def read_cells(
    path: Path,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    *,
    sensors: dict[str, Positions] | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    """The columns `coords` and `others` of a workbook or a text table."""
    dialect = dialect or Dialect()
    with open_table(path, dialect) as table:
        return select_columns(table, coords, others, sensors, dialect)


def read_sensor_positions(
    path: Path | None, dialect: Dialect, asked: Sequence[str] = ()
) -> dict[str, Positions] | None:
    """Positions by the name of the sensor; None where there is no file.

    `asked` are the coordinates of the readings.
    """
    if path is None:
        return None
    with name_file_in_errors(path):
        check_is_file(path)
        with open_table(path, dialect) as table:
            return _parse_sensor_table(table, dialect, asked)


def _parse_sensor_table(
    table: CellTable, dialect: Dialect, asked: Sequence[str] = ()
) -> dict[str, Positions]:
    """Positions by the name of the sensor; `asked` are the coordinates of the readings."""
    axes = _find_axis_columns(table, [axis for axis in SPACE_AXES if axis in asked])
    named = _find_name_column(table, axes.values())
    if not axes or named is None:
        listed = ", ".join(repr(heading.text) for heading in table.headings)
        raise InputError(
            "a table of sensors has a column of names, such as 'sensor', and the columns of their "
            f"positions among x, y and z; this one has {listed}."
        )
    number_format = find_number_format((c for p in axes.values() for c in table.cells(p)), dialect)
    found: dict[str, Positions] = {}
    converters: dict[int, Converter] = {
        at: partial(number_format.numbers, name=axis) for axis, at in axes.items()
    }
    raw, lines = table.load(converters | {named: as_text})
    for row, name in enumerate(raw[named]):
        if name in found:
            raise InputError(f"line {lines[row]}: the sensor {name!r} stands here twice.")
        given = {
            axis: float(raw[at][row]) for axis, at in axes.items() if not np.isnan(raw[at][row])
        }
        found[name] = {
            axis: (value, table.headings[axes[axis]].unit) for axis, value in given.items()
        }
    return found


def _find_axis_columns(table: CellTable, asked: Sequence[str]) -> dict[str, int]:
    """By axis, the column of positions; a single depth or distance lies along the only axis asked for."""
    headings = table.headings
    found: dict[str, int] = {}
    for axis in SPACE_AXES:
        exact = [at for at, h in enumerate(headings) if h.name.lower() == axis]
        if len(exact) > 1:
            raise InputError(f"two columns are named {axis!r}; rename one of them.")
        alike = [at for at, h in enumerate(headings) if is_axis_alias(h.name, axis)]
        # A column of names of places is no axis.
        if filled := [
            at for at in exact or alike if any(map(is_number_like, table.filled_cells(at)))
        ]:
            found[axis] = filled[0]
    only = next(iter(found)) if len(found) == 1 else None
    is_letter = only is not None and headings[found[only]].name.lower() == only
    return {asked[0]: found[only]} if only and len(asked) == 1 and not is_letter else found


def _find_name_column(table: CellTable, taken: Collection[int]) -> int | None:
    """The column of names: by its heading, or the first whose cells are no numbers."""
    free = [column for column in range(len(table.headings)) if column not in taken]
    for column in free:
        words = normalize_name(table.headings[column].name).split()
        if any(word in SENSOR_NAMES for word in words):
            return column
    for column in free:
        cells = table.cells(column)
        if cells and not any(is_number_like(cell) for cell in cells):
            return column
    return None
