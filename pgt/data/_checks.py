"""Conversion of what users pass as readings to float64 columns; errors say exactly what is wrong."""

from collections.abc import Mapping, Sequence

import equinox as eqx
import numpy as np
import pandas as pd

from pgt.core.errors import InputError, closest
from pgt.core.number_arrays import as_numbers
from pgt.core.numbers import listed
from pgt.core.parser import AXES, CARTESIAN
from pgt.data.bounds import TOLERANCE, shown, spanned
from pgt.data.domain import Domain


def check_names(argument: str, names: Sequence[str]) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else tuple(names)
    if not names:
        raise InputError(f"`{argument}` is empty; name at least one.")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"`{argument}`: {name!r} is not a name; write a non-empty string.")
        if names.count(name) > 1:
            raise InputError(f"`{argument}` names {name!r} twice; name it once.")
    return names


def column_names(argument: str, data, names: Sequence[str] | None) -> tuple[str, ...]:
    """The given names, or the names of the columns of the data."""
    if names is None:
        if not isinstance(data, (Mapping, pd.DataFrame)):
            raise InputError(f"`{argument}` is missing: name the columns of the array.")
        names = tuple(data)
    return check_names(argument, names)


def check_coords_and_fields(coords: tuple[str, ...], fields: tuple[str, ...]) -> None:
    for name in coords:
        if name not in AXES:
            raise InputError(f"`coords`: unknown axis {name!r}; the axes are named {listed(AXES)}.")
    for name in fields:
        if name in coords or name in CARTESIAN:
            raise InputError(
                f"`fields`: {name!r} is the name of an axis; rename the field, for example 'u'."
            )


def check_units(units: Mapping[str, str] | None, known: tuple[str, ...]) -> dict[str, str]:
    for name in units or {}:
        if name not in known:
            raise InputError(f"`units` names {name!r}.{closest(name, known)}")
    return {name: str(units[name]) for name in known if units and name in units}


def as_table(argument: str, data, names: tuple[str, ...]) -> np.ndarray:
    """A float64 (n, len(names)) array from an array or from columns by name."""
    if isinstance(data, pd.DataFrame):
        data = {str(name): data[name] for name in data.columns}
    if isinstance(data, Mapping):
        return _from_columns(argument, data, names)
    array = as_numbers(argument, data)
    if array.ndim == 1 and len(names) == 1:
        return array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise InputError(
            f"`{argument}` has shape {array.shape}, but {len(names)} column(s) are named: "
            f"{names}. Write an array of shape (n, {len(names)}) or a dict of (n,) arrays."
        )
    return array


def _from_columns(argument: str, data: Mapping, names: tuple[str, ...]) -> np.ndarray:
    for name in names:
        if name not in data:
            raise InputError(f"`{argument}` has no column {name!r}.{closest(name, data)}")
    for name in data:
        if name not in names:
            raise InputError(
                f"`{argument}` has an unexpected column {name!r}.{closest(name, names)}"
            )
    columns = {name: as_numbers(f"{argument}[{name!r}]", data[name]) for name in names}
    shapes = {name: column.shape for name, column in columns.items()}
    if len(set(shapes.values())) != 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise InputError(
            f"the columns of `{argument}` must be (n,) arrays of one length; they have the shapes "
            f"{shapes}."
        )
    return np.stack(list(columns.values()), axis=1)


def as_noise(noise, fields: tuple[str, ...], mask: np.ndarray) -> np.ndarray:
    """The (n, c) array of σ of every reading, from one number, one per field, or one per reading."""
    if noise is None:
        return np.zeros(mask.shape)
    if isinstance(noise, Mapping):
        for name in noise:
            if name not in fields:
                raise InputError(f"`noise` names {name!r}.{closest(name, fields)}")
        columns = [_fill(f"noise[{f!r}]", noise.get(f, 0.0), len(mask)) for f in fields]
        sigma = np.stack(columns, axis=1)
    else:
        sigma = as_numbers("noise", noise)
        if sigma.ndim == 0:
            sigma = np.full(mask.shape, float(sigma))
    if sigma.shape != mask.shape:
        raise InputError(
            f"`noise` has shape {sigma.shape}; write one number, a dict with one per field, or an "
            f"array of shape {mask.shape} like the values."
        )
    sigma = np.where(mask, sigma, 0.0)
    _check_not_negative("noise", sigma, fields)
    return sigma


def noise_levels(noise, table: np.ndarray, fields: tuple[str, ...]) -> np.ndarray:
    """The σ to add to each field; a dict gives σ itself, a number is relative to the field's spread."""
    one_row = np.ones((1, len(fields)), bool)
    levels = as_noise(noise, fields, one_row)[0]
    if isinstance(noise, Mapping):
        return levels
    seen = np.isfinite(table)
    count = np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, table - np.where(seen, table, 0.0).sum(axis=0) / count, 0.0)
    return levels * np.sqrt((centred**2).sum(axis=0) / count)


def as_half_width(width, coords: tuple[str, ...], n: int) -> np.ndarray | None:
    """The (n, d) array of half the box widths, or None where every reading is a point reading."""
    if width is None:
        return None
    if not isinstance(width, Mapping):
        raise InputError(f"`width` is {width!r}; write a dict by axis, for example {{'x': 0.1}}.")
    for name in width:
        if name not in coords:
            raise InputError(f"`width` names {name!r}.{closest(name, coords)}")
    columns = [_fill(f"width[{axis!r}]", width.get(axis, 0.0), n) for axis in coords]
    boxes = np.stack(columns, axis=1)
    _check_not_negative("width", boxes, coords)
    return boxes / 2 if boxes.any() else None


def _fill(where: str, data, n: int) -> np.ndarray:
    column = as_numbers(where, data)
    if column.ndim == 0:
        return np.full(n, float(column))
    if column.shape != (n,):
        raise InputError(
            f"`{where}` has shape {column.shape}; write one number or an array of shape ({n},)."
        )
    return column


def _check_not_negative(argument: str, table: np.ndarray, names: tuple[str, ...]) -> None:
    bad = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"`{argument}` of {names[column]!r}, row {row}, is {table[row, column]:g}; it must be "
            "a finite number, 0 or above."
        )


def check_points(points: np.ndarray, coords: tuple[str, ...]) -> None:
    if len(points) == 0:
        raise InputError("there are no readings: `points` has no rows. Pass at least one.")
    bad = np.argwhere(~np.isfinite(points))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"coordinate {coords[column]!r}, row {row}, is {points[row, column]}; every reading "
            "needs a finite position. Correct or remove the row."
        )


def check_values(values: np.ndarray, n: int, fields: tuple[str, ...]) -> None:
    if len(values) != n:
        raise InputError(
            f"`points` has {n} rows but `values` has {len(values)} (shape {values.shape}); each "
            "reading needs one row in both."
        )
    bad = np.argwhere(np.isinf(values))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"field {fields[column]!r}, row {row}, is infinite; correct it, or write NaN to "
            "hide it."
        )
    if np.isnan(values).all():
        raise InputError(
            f"every value of {', '.join(fields)} is hidden: empty, NaN, or a word in place of a number; "
            "at least one must be measured."
        )


def check_shape(points: np.ndarray, domain: Domain) -> None:
    """Raise for readings outside the shape of the domain, for example inside an obstacle."""
    outside = np.flatnonzero(~domain.contains(points))
    if outside.size:
        places = "; ".join(f"row {row}: {_place(points[row], domain)}" for row in outside[:3])
        raise InputError(
            f"{outside.size} reading(s) outside the shape of the domain: {places}. Remove them, or "
            f"correct the shape, whose walls are {', '.join(domain.wall_names)}."
        )


def _place(point: np.ndarray, domain: Domain) -> str:
    pairs = zip(domain.axes, point, strict=True)
    return ", ".join(f"{axis} = {shown(axis, at, domain.units)}" for axis, at in pairs)


def check_axis(axis: str, position: np.ndarray, half: np.ndarray, domain: Domain) -> None:
    """Raise for readings whose position ± half box lies outside the domain along one axis."""
    (low, high), slack = domain.bounds(axis), TOLERANCE * domain.extent[domain.index(axis)]
    outside = np.flatnonzero((position - half < low - slack) | (position + half > high + slack))
    if outside.size:
        places = ", ".join(
            f"row {row}: {axis} = {shown(axis, float(position[row]), domain.units)}"
            + (f" ± {half[row]:g}" if half[row] else "")
            for row in outside[:3]
        )
        bounds = spanned(axis, (low, high), domain.units)
        raise InputError(
            f"{outside.size} reading(s) outside the domain {axis} = {bounds}: {places}. "
            "Remove them, or widen the domain."
        )


def settle_duplicates(readings, duplicates: str):
    """The readings after treatment of repeated ones: raise ("error"), average them ("mean"), or keep them
    as independent measurements ("independent")."""
    if duplicates == "independent":
        return readings
    if duplicates not in ("error", "mean"):
        raise InputError(f'`duplicates` is {duplicates!r}; write "error" or "mean".')
    boxes = () if readings.half_width is None else (readings.half_width,)
    first = first_equal_rows(np.hstack([readings.points, *boxes]))
    if duplicates == "error":
        check_duplicates(first, readings.mask, readings.fields)
        return readings
    kept, values, mask, noise = mean_of_duplicates(
        first, readings.values, readings.mask, readings.noise
    )
    return eqx.tree_at(
        lambda r: (r.values, r.mask, r.noise), readings.take(kept), (values, mask, noise)
    )


def first_equal_rows(places: np.ndarray) -> np.ndarray:
    """The number of the first row that equals each row."""
    places = places + 0.0  # -0.0 and 0.0 are the same place
    order = np.lexsort(places.T)  # stable, so the first of each run is the earliest row
    is_new = np.ones(len(places), bool)
    is_new[1:] = np.any(places[order[1:]] != places[order[:-1]], axis=1)
    first = np.empty(len(places), int)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first


def check_duplicates(first: np.ndarray, mask: np.ndarray, fields: tuple[str, ...]) -> None:
    """Raise for two readings of one field at one place; the error names both rows."""
    for column, field in enumerate(fields):
        rows = np.flatnonzero(mask[:, column])
        _, earliest = np.unique(first[rows], return_index=True)
        repeated = np.delete(rows, earliest)
        if repeated.size:
            row = repeated.min()
            twin = rows[first[rows] == first[row]][0]
            raise InputError(
                f"rows {twin} and {row} both measure {field!r} at the same point. Average them, or "
                'have it done: `duplicates="mean"`, an argument of pgt.Observations.from_table and '
                "from_arrays, and a key of [observations] in a run file."
            )


def mean_of_duplicates(first: np.ndarray, values: np.ndarray, mask: np.ndarray, noise: np.ndarray):
    """The rows kept, and per place the mean reading, its mask, and its σ (0 where one was not given).

    The mean of m independent readings has σ = sqrt(Σ σᵢ²) / m.
    """
    kept, group = np.unique(first, return_inverse=True)
    shape = (len(kept), values.shape[1])
    count, given = np.zeros(shape), np.ones(shape, bool)
    np.add.at(count, group, mask)
    share = 1.0 / np.maximum(count, 1.0)[group]  # divided before summing: huge readings stay finite
    total, sigma = np.zeros(shape), np.zeros(shape)
    np.add.at(total, group, values * share)
    np.hypot.at(sigma, group, noise * share)
    np.logical_and.at(given, group, ~mask | (noise > 0))
    return kept, total, count > 0, np.where(given, sigma, 0.0)
