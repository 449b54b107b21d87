"""Readings and points out of any known kind of file."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pgt.data import Domain, Observations
from pgt.data._checks import check_names, check_points, closest
from pgt.data.limits import check_limits
from pgt.data.units import require_same
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.registry import parts
from pgt.io._files import check_is_file, check_suffix, naming
from pgt.io.columns import Columns

_ROWS = re.compile(r"\brow(s?) (\d+)(?: and (\d+))?")


@checked
def read_observations(
    path: str | os.PathLike,
    *,
    coords: Sequence[str],
    fields: Sequence[str],
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    noise=None,
    duplicates: str = "error",
    domain: Domain | None = None,
) -> Observations:
    r"""Readings from a CSV, TSV, Parquet, NetCDF, MAT, NPZ or registered kind of file, by its ending.

    Parameters
    ----------
    path : the file; a missing value (empty cell, NA, NaN, null) is a hidden reading.
    coords, fields : names as the equation uses them.
    columns : the file's own names where they differ: ``{"x": "X [m]"}``.
    units : by name, where the file does not say; where it does, both must be the same.
    noise : σ: one number, or by field a number or the name of a column of the file.
    duplicates : "error", or "mean" to average repeated readings of one field at one point.
    domain : refuse readings outside of it, and numbers with which nothing can be computed in it.

    Raises
    ------
    InputError
        Names the file, the line or row and the column, and what to write instead.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "sensors.csv")
    ...     _ = path.write_text("X [m],u\n0.5,20.1\n0.7,\n")
    ...     readings = read_observations(path, coords=("x",), fields=("u",), columns={"x": "X [m]"})
    >>> readings.points.tolist(), readings.mask.tolist()
    ([[0.5], [0.7]], [[True], [False]])
    """
    path = Path(path)
    with naming(path):
        coords, fields = check_names("coords", coords), check_names("fields", fields)
        own = _own_names(coords + fields, columns)
        by_field = noise if isinstance(noise, Mapping) else {}
        sigma = [column for column in by_field.values() if isinstance(column, str)]
        table = _read(path, [own[n] for n in coords], [own[n] for n in fields], sigma)
        if sigma:
            noise = {n: table.values[v] if isinstance(v, str) else v for n, v in by_field.items()}
        found = _units(table, own, units)
        with _lines_for_rows(table):
            readings = Observations.from_arrays(
                {name: table.values[own[name]] for name in coords},
                {name: table.values[own[name]] for name in fields},
                noise=noise,
                units=found,
                duplicates=duplicates,
            )
            if domain is not None:
                readings.check_inside(domain)
                check_limits(readings, domain)
        return readings


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
    path = Path(path)
    with naming(path):
        coords = check_names("coords", coords)
        own = _own_names(coords, columns)
        table = _read(path, [own[name] for name in coords])
        _units(table, own, units)
        points = np.stack([table.values[own[name]] for name in coords], axis=1)
        with _lines_for_rows(table):
            check_points(points, coords)
    return points


def _units(table: Columns, own: dict[str, str], given: Mapping[str, str] | None) -> dict[str, str]:
    """Units by name, from the file and from the caller, who must not contradict each other."""
    found = {name: table.units[own[name]] for name in own if own[name] in table.units}
    for name, unit in (given or {}).items():
        require_same(name, {"the file": found.get(name), "`units`": unit})
    return found | dict(given or {})


def _own_names(names: tuple[str, ...], columns: Mapping[str, str] | None) -> dict[str, str]:
    """The name each coordinate and field has in the file."""
    for name in columns or {}:
        if name not in names:
            raise InputError(
                f"`columns` names {name!r}.{closest(name, names)} Write the equation's name first: "
                '{"x": "name in the file"}.'
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


def _read(path: Path, coords: list[str], fields: Sequence[str] = (), sigma: Sequence[str] = ()):
    check_is_file(path)
    readers = parts("reader")
    reader = readers[check_suffix(path, readers)]
    others = dict.fromkeys(name for name in (*fields, *sigma) if name not in coords)
    return reader(path, tuple(coords), tuple(others))


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
