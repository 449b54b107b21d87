"""`Table`: numbers on a grid as a linearly interpolated function of the coordinates."""

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Array, Float

from pgt.core.checked import checked
from pgt.core.dialect import Dialect
from pgt.core.errors import InputError, closest
from pgt.core.number_arrays import as_numbers
from pgt.core.numbers import listed
from pgt.core.parser import suggestion
from pgt.data.dates import are_dates, as_seconds
from pgt.data.domain import AXES
from pgt.io.readers import read_columns

VALUE = "value"  # the name of the column of values while a file is read


@checked
class Table(eqx.Module):
    """A known function of the coordinates from a file or a table, interpolated linearly.

    It may be a boundary value, an initial state, a source, or a coefficient in the text of an `Equation`,
    such as the temperature of a stream, a logged head or a switched rate.

    Parameters
    ----------
    source
        A file as `pgt.io.read_observations` takes it, or a pandas DataFrame.
    value
        The name of the column of values.
    x, y, z, t, r
        The names of the columns of the coordinates on which it depends. With two or more coordinates the
        rows must form a grid: each combination occurs once.
    units
        The units by axis, and of the values by "value"; numbers in other units are converted. For dates
        the unit says from when t counts, as in the readings: {"t": "s since 2024-03-12 10:00"}.
    dialect
        The format of the file, if it cannot be recognized.

    A row without a value is left out. Beyond its ends a table keeps its last value; a table that ends
    inside the domain is rejected.

    >>> stream = pd.DataFrame({"hour": [0.0, 1.0, 3.0], "T": [14.0, 15.0, 13.0]})
    >>> float(Table(stream, "T", t="hour")({"t": 2.0}))
    14.0
    """

    axes: tuple[Float[Array | np.ndarray, " _"], ...]
    values: Float[Array | np.ndarray, "..."]
    # None until binding determines the one coordinate that is free on a face.
    names: tuple[str, ...] | None = eqx.field(static=True)

    def __init__(
        self,
        source: str | os.PathLike | pd.DataFrame,
        value: str,
        x: str | None = None,
        y: str | None = None,
        z: str | None = None,
        t: str | None = None,
        r: str | None = None,
        units: Mapping[str, str] | None = None,
        dialect: Dialect | None = None,
    ):
        given = {"r": r, "x": x, "y": y, "z": z, "t": t}
        columns = {axis: name for axis, name in given.items() if name is not None}
        if not columns:
            raise InputError(
                f'Table(value={value!r}): name the column of a coordinate, such as t="date".'
            )
        numbers = _columns(source, columns | {VALUE: value}, dict(units or {}), dialect)
        table = _table_from_rows(f"the table of {value!r}", tuple(columns), numbers)
        self.axes, self.values, self.names = table.axes, table.values, table.names

    def __call__(self, point: Mapping[str, Any]) -> Float[Array, ""]:
        return self._interpolated(point, None)

    def slope(self, point: Mapping[str, Any], along: str) -> Float[Array, ""]:
        """The derivative along an axis, in the cell that contains the point."""
        return self._interpolated(point, along)

    def _interpolated(self, point: Mapping[str, Any], along: str | None) -> Float[Array, ""]:
        assert self.names is not None  # set by binding
        if along is not None and along not in self.names:
            return jnp.zeros(())
        cells = [_cell(axis, point[name]) for axis, name in zip(self.axes, self.names, strict=True)]
        values, total = jnp.asarray(self.values, float), jnp.zeros(())
        for corner in itertools.product((0, 1), repeat=len(cells)):
            weight = jnp.ones(())
            for name, side, (_, fraction, width) in zip(self.names, corner, cells, strict=True):
                if name == along:
                    weight = weight * (1 if side else -1) / width
                else:
                    weight = weight * (fraction if side else 1 - fraction)
            index = tuple(side + i for side, (i, *_) in zip(corner, cells, strict=True))
            total = total + weight * values[index]
        return total

    def knots(self, axis: str) -> Float[np.ndarray, " _"]:
        """The positions along an axis at which the slope changes; none for other axes."""
        if axis not in (self.names or ()):
            return np.zeros(0)
        return np.asarray(self.axes[(self.names or ()).index(axis)], float)


def made_table(
    where: str, axes: Sequence[Any], values: Any, names: tuple[str, ...] | None
) -> Table:
    """The table of these numbers; errors name it by `where`."""
    axes = tuple(as_numbers(f"{where}, coordinates", axis) for axis in axes)
    values = as_numbers(f"{where}, values", values)
    if any(axis.ndim != 1 for axis in axes) or values.shape != tuple(a.size for a in axes):
        raise InputError(
            f"{where}: coordinates of shape {[a.shape for a in axes]} do not fit values of shape "
            f"{values.shape}; give one value per coordinate."
        )
    if not all(np.isfinite(a).all() for a in (*axes, values)):
        raise InputError(f"{where}: the table holds NaN or inf; drop or fill those entries first.")
    if not axes or any(axis.size < 2 or (np.diff(axis) <= 0).any() for axis in axes):
        raise InputError(
            f"{where}: each coordinate of a table needs two or more increasing numbers without "
            "repeats; sort it first, or write a plain number for a constant."
        )
    return _build_table(axes, values, names)


def table_from_pair(where: str, pair: tuple) -> Table:
    """The table of a pair (coordinates, values) along the one free coordinate."""
    if len(pair) != 2:
        raise InputError(
            f"{where}: a table is a pair (coordinates, values), got {len(pair)} items."
        )
    return made_table(where, (pair[0],), pair[1], None)


def table_from_xarray(where: str, array: xr.DataArray) -> Table:
    """The table of an array whose dimensions are coordinates."""
    for dim in array.dims:
        if dim not in AXES:
            hint = suggestion(str(dim), AXES) or " Rename it with .rename(...)."
            raise InputError(f"{where}: dimension '{dim}' is not one of {listed(AXES)}.{hint}")
        if dim not in array.coords:
            raise InputError(
                f"{where}: dimension '{dim}' has no coordinate; use .assign_coords({dim}=...)."
            )
    names = tuple(str(dim) for dim in array.dims)
    return made_table(where, tuple(array[n].values for n in names), array.values, names)


def named_table(where: str, table: Table, coords: Sequence[str], free: tuple[str, ...]) -> Table:
    """The table for a domain with `coords`, of which `free` vary in the region of the table."""
    if table.names is None and len(free) != 1:
        raise InputError(
            f"{where}: a pair (coordinates, values) serves one free coordinate, but here "
            f"{list(free)} vary; give an xarray.DataArray with those dimensions."
        )
    names = free if table.names is None else table.names
    for name in names:
        if name not in coords:
            raise InputError(
                f"{where}: dimension '{name}' is not a coordinate of the domain {list(coords)}."
                + suggestion(name, tuple(coords))
            )
    return _build_table(table.axes, table.values, names)


def _build_table(axes, values, names) -> Table:
    table = object.__new__(Table)
    for field, value in (("axes", axes), ("values", values), ("names", names)):
        object.__setattr__(table, field, value)
    return table


def _cell(axis, at):
    """The index of the grid cell that contains `at`, the position in it from 0 to 1, and its width."""
    axis = jnp.asarray(axis, float)
    index = jnp.clip(jnp.searchsorted(axis, at, side="right") - 1, 0, axis.size - 2)
    width = axis[index + 1] - axis[index]
    return index, jnp.clip((at - axis[index]) / width, 0.0, 1.0), width


# ------------------------------------------------------------------------- from files and tables


def _columns(source, columns: Mapping[str, str], units, dialect) -> dict[str, np.ndarray]:
    """The columns of the coordinates by axis, and the column of values, as numbers."""
    for name in units:
        if name not in columns:
            raise InputError(f"Table(units=...): there is no {name!r}.{closest(name, columns)}")
    if isinstance(source, pd.DataFrame):
        return {
            name: _frame_column(source, name, column, units) for name, column in columns.items()
        }
    axes = tuple(name for name in columns if name != VALUE)
    table = read_columns(
        source, coords=axes, fields=(VALUE,), columns=columns, units=units, dialect=dialect
    )
    if "t" in table.origin and " since " not in units.get("t", ""):
        raise InputError(
            f"{source}: {columns['t']!r} holds dates; say from when t counts, as that of the readings "
            f'does: `units={{"t": "s since {table.origin["t"]}"}}`.'
        )
    return table.values


def _frame_column(
    frame: pd.DataFrame, name: str, column: str, units: Mapping[str, str]
) -> np.ndarray:
    if column not in frame.columns:
        raise InputError(
            f"the table has no column {column!r}.{closest(column, map(str, frame.columns))}"
        )
    cells = frame[column].to_numpy()
    if name == "t" and are_dates(cells):
        if " since " not in units.get("t", ""):
            raise InputError(
                f"{column!r} holds dates; say from when t counts, as that of the readings does: "
                f'`units={{"t": "s since {cells[0]}"}}`.'
            )
        return as_seconds(column, cells, units["t"])
    if name in units:
        raise InputError(
            f"Table(units={dict(units)!r}): the columns of a DataFrame have no units; convert "
            f"{column!r} before."
        )
    return as_numbers(f"the column {column!r}", cells)


def _table_from_rows(
    where: str, names: tuple[str, ...], columns: Mapping[str, np.ndarray]
) -> Table:
    """The table of rows in any order, which must form a grid."""
    values = np.asarray(columns[VALUE], float)
    points = np.stack([np.asarray(columns[name], float) for name in names], axis=1)
    kept = np.isfinite(values) if len(names) == 1 else np.ones(len(values), bool)
    kept &= np.isfinite(points).all(axis=1)
    values, points = values[kept], points[kept]
    if len(values) < 2:
        raise InputError(f"{where} has {len(values)} row(s) with a value; it needs two or more.")
    unique = [np.unique(column, return_inverse=True) for column in points.T]
    axes, index = [axis for axis, _ in unique], tuple(inverse for _, inverse in unique)
    row_counts = np.zeros([len(axis) for axis in axes], int)
    np.add.at(row_counts, index, 1)
    for wrong, what in ((row_counts > 1, "more than one row"), (row_counts == 0, "no row")):
        if wrong.any():
            at = [axis[k] for axis, k in zip(axes, np.argwhere(wrong)[0], strict=True)]
            place = ", ".join(f"{name} = {v:g}" for name, v in zip(names, at, strict=True))
            raise InputError(
                f"{where} has {what} with {place}; it needs one for every place of its grid."
            )
    grid = np.zeros([len(axis) for axis in axes])
    grid[index] = values
    return made_table(where, axes, grid, names)
