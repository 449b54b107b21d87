"""A folder of simulations: one NetCDF file for each, all on one grid."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from pgt.ground.errors import InputError
from pgt.io.gridded import SUFFIXES, read_field

SAME = 1e-5  # of how far fields vary along an axis: what differs by less is the same


class Stored(NamedTuple):
    """All files of a folder: their nodes, fields (file, *axes, field) and coefficients (file, name)."""

    axes: dict[str, np.ndarray]
    values: np.ndarray
    coefficients: np.ndarray


def read_folder(
    folder: str | os.PathLike,
    coords: Sequence[str],
    fields: Sequence[str],
    coefficients: Sequence[str],
) -> Stored:
    """What the files of a folder hold, in the order of their names; any that lacks something is named."""
    paths = sorted(p for p in Path(folder).glob("*") if p.suffix.lower() in SUFFIXES)
    if not paths:
        raise InputError(
            f"Simulations: there is no NetCDF file ({', '.join(SUFFIXES)}) in {os.fspath(folder)!r}."
        )
    axes, values, numbers = {}, [], []
    for path in paths:
        dataset = read_field(path)
        found = {axis: _nodes(path, dataset, axis) for axis in coords}
        axes = axes or found
        _check_same_grid(path, paths[0], found, axes)
        values.append(_fields(path, dataset, coords, fields))
        numbers.append([_coefficient(path, dataset, name) for name in coefficients])
    return Stored(axes, np.stack(values), np.asarray(numbers, float).reshape(len(paths), -1))


def _nodes(path: Path, dataset: xr.Dataset, axis: str) -> np.ndarray:
    if axis not in dataset.coords:
        listed = ", ".join(map(str, dataset.coords)) or "none"
        raise InputError(f"{path.name}: there is no coordinate {axis!r}; it has {listed}.")
    nodes = np.asarray(dataset[axis].values, float)
    if nodes.ndim != 1 or nodes.size < 2 or not (np.diff(nodes) > 0).all():
        raise InputError(
            f"{path.name}: the coordinate {axis!r} must have at least two values that increase."
        )
    return nodes


def _check_same_grid(path: Path, first: Path, found: dict, axes: dict) -> None:
    for axis, nodes in found.items():
        same = nodes.size == axes[axis].size
        if not same or not np.allclose(nodes, axes[axis], atol=1e-6 * np.ptp(axes[axis])):
            raise InputError(
                f"{path.name}: its values of {axis!r} are not those of {first.name}; put all "
                "simulations on one grid."
            )


def _fields(path: Path, dataset: xr.Dataset, coords: Sequence[str], fields: Sequence[str]):
    found = []
    for name in fields:
        if name not in dataset.data_vars:
            listed = ", ".join(map(str, dataset.data_vars))
            raise InputError(f"{path.name}: there is no field {name!r}; it has {listed}.")
        if set(dataset[name].dims) != set(coords):
            raise InputError(
                f"{path.name}: the field {name!r} lies over {', '.join(map(str, dataset[name].dims))}; "
                f"the equation has the coordinates {', '.join(coords)}."
            )
        found.append(np.asarray(dataset[name].transpose(*coords).values, np.float32))
        if not np.isfinite(found[-1]).all():
            missing = int((~np.isfinite(found[-1])).sum())
            raise InputError(
                f"{path.name}: the field {name!r} is not finite at {missing} of {found[-1].size} nodes; "
                "fill them, or leave the file out."
            )
    return np.stack(found, axis=-1)


def _coefficient(path: Path, dataset: xr.Dataset, name: str) -> float:
    """From an attribute or, where there is none, from a variable without dimensions."""
    held = dataset.attrs.get(name, dataset.get(name))
    write = f"dataset.attrs[{name!r}] = ..."
    if held is None:
        raise InputError(
            f"{path.name}: the coefficient {name!r} is missing; write it as an attribute of the file, "
            f"{write}, or as a variable that is one number."
        )
    try:
        value = float(np.asarray(held).item())
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        said = repr(held) if isinstance(held, str) else np.asarray(held)
        raise InputError(
            f"{path.name}: the coefficient {name!r} is {said}, which is no number; write one without "
            f"its unit, {write}."
        )
    return value


def without_repeated_ends(stored: Stored, periodic: Sequence[str]) -> Stored:
    """A node at the end of a period is that at its beginning, and goes: it would make the period longer
    by a step. It is known by the fields, which are the same there in every file."""
    axes, values = dict(stored.axes), stored.values
    for number, axis in enumerate(axes, start=1):
        if axis not in periodic or values.shape[number] < 3:
            continue
        first, last = (values.take(end, axis=number) for end in (0, -1))
        size = float(
            values.std(axis=number).max()
        )  # along the axis: fields that do not vary say nothing
        if size > 0 and np.abs(last - first).max() < SAME * size:
            values = values.take(range(values.shape[number] - 1), axis=number)
            axes[axis] = axes[axis][:-1]
    return Stored(axes, values, stored.coefficients)
