"""Columns by name from CSV tables, pandas frames and xarray datasets."""

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from pgt.core.errors import InputError, closest
from pgt.data._checks import check_names
from pgt.data.domain import AXES


def read_table(table: str | os.PathLike | pd.DataFrame) -> pd.DataFrame:
    frame = table if isinstance(table, pd.DataFrame) else _read_csv(Path(table))
    columns = [str(name).strip() for name in frame.columns]
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(f"the table has two columns named {name!r}; rename one of them.")
    return frame.set_axis(columns, axis=1)


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            # pandas only warns when it cuts off cells that have no heading
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                path, index_col=False, skipinitialspace=True, low_memory=False, encoding="utf-8-sig"
            )
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}; check the path.") from None
    except (OSError, ValueError, pd.errors.ParserWarning) as error:
        raise InputError(
            f"{str(path)!r} could not be read as comma-separated text with one heading line: "
            f"{error}. Files as loggers write them are read by pgt.io.read_observations."
        ) from None


def columns(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, np.ndarray]:
    return {name: _column(frame, name) for name in names}


def columns_or_numbers(frame: pd.DataFrame, data):
    """The values of `noise` or `width`, with every text replaced by the column of that name."""
    if not isinstance(data, Mapping):
        return data
    return {k: _column(frame, v) if isinstance(v, str) else v for k, v in data.items()}


def _column(frame: pd.DataFrame, name: str) -> np.ndarray:
    if name not in frame.columns:
        other = " Other separators: pgt.io.read_observations." if len(frame.columns) == 1 else ""
        raise InputError(f"the table has no column {name!r}.{closest(name, frame.columns)}{other}")
    column = frame[name]
    if column.dtype.kind in "iuf" and pd.api.types.is_extension_array_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy()


def flatten(dataset: xr.Dataset | xr.DataArray, fields: Sequence[str] | None):
    """The coordinates, values and units of a dataset, one row per combination of its dimensions."""
    if not isinstance(dataset, xr.Dataset):
        raise InputError(
            f"expected an xarray.Dataset, got {type(dataset).__name__}; a DataArray becomes one by "
            "`.to_dataset(name='u')`."
        )
    names = check_names("fields", tuple(map(str, dataset.data_vars)) if fields is None else fields)
    for name in names:
        if name not in dataset.data_vars:
            raise InputError(
                f"the dataset has no field {name!r}.{closest(name, dataset.data_vars)}"
            )
    axes = tuple(axis for axis in AXES if axis in dataset.coords)
    _check_dimensions(dataset, names, axes)
    arrays = [dataset[name] for name in axes + names]
    flat = [array.to_numpy().ravel() for array in xr.broadcast(*arrays)]
    units = {n: str(dataset[n].attrs["units"]) for n in axes + names if "units" in dataset[n].attrs}
    points = dict(zip(axes, flat, strict=False))
    return points, dict(zip(names, flat[len(axes) :], strict=True)), units


def _check_dimensions(dataset: xr.Dataset, names: Sequence[str], axes: Sequence[str]) -> None:
    placed = {dim for axis in axes for dim in dataset[axis].dims}
    for name in names:
        for dim in dataset[name].dims:
            if dim not in placed:
                raise InputError(
                    f"field {name!r} has the dimension {dim!r}, along which no coordinate x, y, z "
                    "or t is given; rename the dimension, or assign the coordinates."
                )
    if not axes:
        raise InputError("the dataset has no coordinate named x, y, z or t; assign or rename them.")
