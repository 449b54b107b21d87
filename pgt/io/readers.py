"""Readings and points out of any known kind of file."""

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgt.data import Domain, Observations
from pgt.data._checks import (
    check_coords_and_fields,
    check_names,
    check_points,
    check_units,
    closest,
)
from pgt.data.limits import check_limits
from pgt.ground.checked import checked
from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.ground.registry import parts
from pgt.io._files import check_is_file, check_suffix, naming
from pgt.io.called import warn_of_angles
from pgt.io.cells import read_sensors
from pgt.io.columns import Columns
from pgt.io.headings import Places, parse_heading
from pgt.io.sentinels import check_axis
from pgt.io.together import together

Files = str | os.PathLike | Sequence[str | os.PathLike]
VALID = "valid?"  # no field can be called that
_ROWS = re.compile(r"\brow(s?) (\d+)(?: and (\d+))?")


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
    columns : the file's own names where they differ: ``{"x": "position", "T": "TC*"}``.
    units : by name: numbers that the file gives in another unit are converted.
    noise : σ: one number, or by field a number or the name of a column of the file.
    duplicates : "error", or "mean" to average repeated readings of one field at one point.
    domain : refuse readings outside of it, and numbers with which nothing can be computed in it.
    sensors : a table of the names of sensors and their positions, where each is a column or a file.
    dialect : how the table is written, where that does not show.

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
    return observations_of(table, files, coords=coords, duplicates=duplicates, domain=domain)


def observations_of(
    table: Columns,
    files: Files,
    *,
    coords: Sequence[str],
    duplicates: str = "error",
    domain: Domain | None = None,
) -> Observations:
    """Readings from columns that `read_columns` gave; errors name the files."""
    coords = (coords,) if isinstance(coords, str) else coords
    with naming(spoken(files)), _lines_for_rows(table):
        readings = Observations.from_arrays(
            {name: table.values[name] for name in coords},
            {name: column for name, column in table.values.items() if name not in coords},
            noise=table.noise,
            units=table.units,
            duplicates=duplicates,
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
    r"""The columns of files as `read_observations` takes them, with what was found and done said.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "wide.csv")
    ...     _ = path.write_text("t [s];T@x=0.1;T@x=0.5\n0;20,5;21\n60;-9999;21,5\n")
    ...     found = read_columns(path, coords=("x", "t"), fields=("T",))
    >>> ", ".join(found.said)
    'semicolons, decimal commas, 2 sensors, 2 time stamps, 1 sentinel hidden'
    >>> found.values["T"].tolist()
    [20.5, 21.0, nan, 21.5]
    """
    with naming(spoken(files)):
        coords = check_names("coords", coords)
        fields = check_names("fields", fields) if fields != () else ()
        check_coords_and_fields((), fields)
        check_units(units, coords + fields)
        own = _own_names(coords + fields, columns)
    by_field = noise if isinstance(noise, Mapping) else {}
    sigma = {f"σ {name}": heading for name, heading in by_field.items() if isinstance(heading, str)}
    places = read_sensors(None if sensors is None else Path(sensors), dialect or Dialect(), coords)
    beside = sigma | ({VALID: dialect.valid} if dialect is not None and dialect.valid else {})
    tables = []
    for path in _paths(files):
        with naming(path), _in_own_names(own):
            table = _read(path, own, coords, list(beside.values()), places, dialect)
            tables.append(_without_invalid(_renamed(table, own | beside), fields))
    with naming(spoken(files)):
        called, missing = [path.name for path in _paths(files)], (dialect or Dialect()).missing
        spread = {name: name.removeprefix("σ ") for name in sigma}
        found = together(tables, called, units or {}, missing, fields, spread)
    found = _with_place_or_reading(found, coords, fields)
    if missing is None and fields:
        with naming(spoken(files)), _lines_for_rows(found):
            for axis in coords:
                check_axis(axis, found.values[axis])
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
    r"""Positions (n, d) from a file, columns in the order of `coords`; the rest as for readings.

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
    with naming(spoken(path)), _lines_for_rows(table):
        check_points(points, tuple(coords))
    return points


def _paths(files: Files) -> list[Path]:
    if isinstance(files, str | os.PathLike):
        return [Path(files)]
    paths = [Path(file) for file in files]
    if not paths:
        raise InputError("there is no file to read; name one at least.")
    return paths


def spoken(files: Files) -> Path:
    """How messages call one file, or several."""
    first, *others = _paths(files)
    return Path(f"{first} and {len(others)} more") if others else first


def _renamed(table: Columns, own: Mapping[str, str]) -> Columns:
    values = {name: table.values[column] for name, column in own.items()}
    said = {column: unit for column in own.values() if (unit := parse_heading(column).unit)}
    units = {
        n: unit for n, column in own.items() if (unit := table.units.get(column, said.get(column)))
    }
    return replace(table, values=values, units=units)


def _without_invalid(table: Columns, fields: Sequence[str]) -> Columns:
    """The table with no readings in the rows whose column `VALID` is 0 or below, or empty."""
    if VALID not in table.values:
        return table
    values = dict(table.values)
    invalid = ~(values.pop(VALID) > 0)
    values |= {name: np.where(invalid, np.nan, values[name]) for name in fields}
    count = int(invalid.sum())
    said = (f"{count} row{'s' if count != 1 else ''} marked as invalid hidden",) if count else ()
    return replace(table, values=values, said=(*table.said, *said))


def _with_place_or_reading(table: Columns, coords: Sequence[str], fields: Sequence[str]) -> Columns:
    """The table without rows that have neither: below the readings some files say whose they are, and
    arrays of profiles are filled up to one length."""
    if not fields:
        return table
    some = np.all if table.lines is not None else np.any
    nowhere = some([np.isnan(table.values[axis]) for axis in coords], axis=0)
    empty = nowhere & np.all([np.isnan(table.values[name]) for name in fields], axis=0)
    if not empty.any() or empty.all():
        return table
    values = {name: column[~empty] for name, column in table.values.items()}
    sensors = None if table.sensors is None else table.sensors[~empty]
    count = int(empty.sum())
    said = f"{count} row{'s' if count > 1 else ''} without place or reading left out"
    lines = None if table.lines is None else table.lines[~empty]
    return replace(table, values=values, lines=lines, sensors=sensors, said=(*table.said, said))


def _own_names(names: tuple[str, ...], columns: Mapping[str, str] | None) -> dict[str, str]:
    """The name each coordinate and field has in the file."""
    for name in columns or {}:
        if name not in names:
            raise InputError(
                f"`columns` names {name!r}.{closest(name, names)} Write the equation's name first: "
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


def _read(
    path: Path,
    own: Mapping[str, str],
    coords: Sequence[str],
    sigma: Sequence[str],
    sensors: dict[str, Places] | None,
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
            raise InputError(f"a file {suffix} is no table of cells: `{name}` says nothing of it.")
    return reader(path, where, tuple(others), **options)


@contextmanager
def _in_own_names(own: Mapping[str, str]) -> Iterator[None]:
    """Readers know the file's names; a hint on `columns` begins with the equation's."""
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
def _lines_for_rows(table: Columns) -> Iterator[None]:
    """Observations count rows from 0; whoever opens a text file looks for a line."""
    lines = table.lines
    try:
        yield
    except InputError as error:
        if lines is None:
            raise

        def line(match: re.Match) -> str:
            rows = [int(row) for row in match.groups()[1:] if row]
            if max(rows) >= len(lines):  # not a row, but a name that looks like one
                return match[0]
            return f"line{match[1]} {' and '.join(str(lines[row]) for row in rows)}"

        raise InputError(_ROWS.sub(line, str(error))) from None
