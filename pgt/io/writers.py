"""Fields and values into files, each either whole or not there."""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from pgt.data.clock import counted_from, start_of
from pgt.data.domain import AXES
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.io import vtk
from pgt.io._files import check_suffix, naming, written

CONVENTIONS = "CF-1.12"
ROWS = 1 << 16  # of a CSV file written at once: memory stays flat
AXIS_ATTRIBUTES = {
    "x": {"axis": "X", "long_name": "x coordinate"},
    "y": {"axis": "Y", "long_name": "y coordinate"},
    "z": {"axis": "Z", "long_name": "z coordinate", "positive": "up"},
    "t": {"axis": "T", "long_name": "time"},
}


@checked
def write_field(dataset: xr.Dataset, path: str | os.PathLike) -> Path:
    """Write a field by the ending of `path`; returns the file to open.

    ``.nc``: compressed NetCDF after the CF conventions, all attributes kept. ``.csv``: one row per
    point, an empty cell where there is no value. ``.vtr``: a rectilinear grid for ParaView; several
    instants become numbered files and a ``.pvd`` that holds them together.

    >>> import tempfile
    >>> from pgt.io import read_field
    >>> field = xr.Dataset({"u": ("x", [1.0, 2.0])}, {"x": [0.0, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_field(write_field(field, Path(folder, "field.nc"))).equals(field)
    True
    """
    path = Path(path)
    with naming(path):
        write = WRITERS[check_suffix(path, WRITERS)]
        _check(dataset)
        return write(_as_numbers(dataset), path)


@checked
def write_values(dataset: xr.Dataset, path: str | os.PathLike) -> Path:
    """Write values at scattered points, such as `Reconstruction.at` gives, as CSV.

    >>> import tempfile
    >>> values = xr.Dataset({"u": ("point", [1.0, 2.0])}, {"x": ("point", [0.0, 0.5])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_values(values, Path(folder, "values.csv")).read_text(), end="")
    x,u
    0.0,1.0
    0.5,2.0
    """
    path = Path(path)
    with naming(path):
        check_suffix(path, (".csv",))
        _check(dataset)
        return _csv(_as_numbers(dataset), path)


def _check(dataset) -> None:
    if not isinstance(dataset, xr.Dataset):
        raise InputError(
            f"expected an xarray.Dataset, got {type(dataset).__name__}; a DataArray becomes one by "
            "`.to_dataset(name='u')`."
        )
    if not dataset.data_vars:
        raise InputError("there is nothing to write: the dataset has no variables.")
    for name in dataset.variables:
        is_date = name in dataset.coords and dataset[name].dtype.kind == "M"
        if not (dataset[name].dtype.kind in "iufb" or is_date) or not dataset[name].size:
            raise InputError(
                f"the variable {name!r} holds {dataset[name].size} values of type "
                f"{dataset[name].dtype}; only numbers can be written, and at least one."
            )


def _as_numbers(dataset: xr.Dataset) -> xr.Dataset:
    """With 0 and 1 for what is false or true, such as the mark of points outside the domain."""
    flags = {
        n: array.astype("int8") for n, array in dataset.variables.items() if array.dtype == bool
    }
    fields = {name: flag for name, flag in flags.items() if name in dataset.data_vars}
    marks = {name: flag for name, flag in flags.items() if name in dataset.coords}
    return dataset.assign(fields).assign_coords(marks)


def _netcdf(dataset: xr.Dataset, path: Path) -> Path:
    dataset = _described(counted_from(dataset, 0.0))
    coordinates = {name: {"_FillValue": None} for name in dataset.coords}  # CF: none missing
    packed = {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True}
    fields = {name: packed for name, array in dataset.data_vars.items() if array.ndim}
    # made in memory: HDF5 can take the whole process down when it meets a full disk
    content = dataset.to_netcdf(engine="h5netcdf", encoding=coordinates | fields)
    with written(path) as temporary:
        temporary.write_bytes(content)
    return path


def _described(dataset: xr.Dataset) -> xr.Dataset:
    """A copy with the attributes CF asks for, and none that NetCDF cannot hold."""
    dataset = dataset.drop_encoding()
    dataset.attrs = _plain(dataset.attrs) | {"Conventions": CONVENTIONS}
    for name in dataset.variables:
        default = AXIS_ATTRIBUTES.get(str(name), {"long_name": str(name)})
        dataset[name].attrs = default | _plain(dataset[name].attrs)
    return dataset


def _plain(attributes: dict) -> dict:
    """Text and numbers as they are, None left out, anything else as JSON."""
    return {
        str(name): value if _is_plain(value) else json.dumps(value, default=str)
        for name, value in attributes.items()
        if value is not None
    }


def _is_plain(value) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.size > 0 and value.dtype.kind in "iuf"
    return isinstance(value, (str, int, float, np.number)) and not isinstance(value, bool)


def _vtk(dataset: xr.Dataset, path: Path) -> Path:
    return vtk.write(counted_from(dataset, start_of(dataset)), path)


def _csv(dataset: xr.Dataset, path: Path) -> Path:
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for number, frame in enumerate(_frames(dataset)):
            frame.to_csv(file, index=False, header=number == 0, lineterminator="\n")
    return path


def _frames(dataset: xr.Dataset) -> Iterator[pd.DataFrame]:
    """The rows of the table, some at a time: coordinates in the order x, y, z, t, then fields."""
    names = [axis for axis in AXES if axis in dataset.coords]
    names += [name for name in dataset.coords if name not in names] + list(dataset.data_vars)
    arrays = {name: dataset[name] for name in names}
    sizes = {dim: n for name in dataset.data_vars for dim, n in dataset[name].sizes.items()}
    sizes |= dict(dataset.sizes)
    count = math.prod(sizes.values())
    for start in range(0, count, ROWS):
        rows = np.arange(start, min(start + ROWS, count))
        places = np.unravel_index(rows, tuple(sizes.values())) if sizes else ()
        index = dict(zip(sizes, places, strict=True))
        yield pd.DataFrame(
            {
                name: array.to_numpy()[tuple(index[dim] for dim in array.dims)]
                for name, array in arrays.items()
            },
            index=rows,
        )


WRITERS = {".nc": _netcdf, ".csv": _csv, ".vtr": _vtk}
