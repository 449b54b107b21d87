"""NetCDF files: gridded fields, and readings along a sample dimension."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

from pgt.data._checks import as_numbers
from pgt.data.domain import AXES
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.manifest import require_intact
from pgt.ground.registry import register
from pgt.io._files import check_is_file, check_suffix, naming, understood
from pgt.io.columns import Columns, check_count, check_present

SUFFIXES = (".nc", ".nc4", ".cdf")


@register(*SUFFIXES, kind="reader")
def read(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Every combination of the dimensions as one row; units from the attributes."""
    wanted = coords + others
    with _opened(path) as dataset:
        check_present(wanted, map(str, dataset.variables))
        arrays = _placed(dataset, coords, others)
        sizes = {dim: size for array in arrays for dim, size in array.sizes.items()}
        check_count(math.prod(sizes.values()))
        columns = [array.to_numpy().ravel() for array in xr.broadcast(*arrays)]
        units = {n: str(dataset[n].attrs["units"]) for n in wanted if "units" in dataset[n].attrs}
    values = {name: as_numbers(name, c) for name, c in zip(wanted, columns, strict=True)}
    return Columns(values, units)


@checked
def read_field(path: str | os.PathLike) -> xr.Dataset:
    """A gridded field from NetCDF, such as `write_field` writes; wholly in memory.

    Every variable lies on axes among x, y, z and t, each with its coordinate.

    >>> import tempfile
    >>> from pgt.io import write_field
    >>> field = xr.Dataset({"u": ("x", [1.0, 2.0])}, {"x": [0.0, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_field(write_field(field, Path(folder, "field.nc"))).u.values.tolist()
    [1.0, 2.0]
    """
    path = Path(path)
    with naming(path):
        check_is_file(path)
        check_suffix(path, SUFFIXES)
        require_intact(path)
        with _opened(path) as dataset:
            _check_grid(dataset)
            return dataset.load()


@contextmanager
def _opened(path: Path) -> Iterator[xr.Dataset]:
    with understood("NetCDF"):
        with path.open("rb") as file:
            start = file.read(8)
        if start[:3] != b"CDF" and start != b"\x89HDF\r\n\x1a\n":
            raise InputError("this is not a NetCDF file: it starts like none.")
        engine = "scipy" if start[:3] == b"CDF" else "h5netcdf"
        if engine == "h5netcdf":
            with h5py.File(path) as file:  # h5netcdf prints a traceback of its own when this fails
                dict(file.attrs)
        # times stay the numbers they are: the equation needs numbers, not dates
        with xr.open_dataset(path, engine=engine, decode_times=False, cache=False) as dataset:
            yield dataset


def _placed(dataset: xr.Dataset, coords: tuple[str, ...], others: tuple[str, ...]):
    """The wanted variables without dimensions of length 1 that no coordinate describes."""
    placed = {dim for name in coords for dim in dataset[name].dims}
    arrays = [dataset[name].reset_coords(drop=True) for name in coords + others]
    loose = {dim for array in arrays for dim in array.dims if dim not in placed}
    for dim in sorted(map(str, loose)):
        if dataset.sizes[dim] > 1:
            raise InputError(
                f"the dimension {dim!r} ({dataset.sizes[dim]} entries) belongs to none of the "
                f"coordinates {', '.join(coords)}. Name its coordinate, or keep one entry."
            )
    return [array.isel(dict.fromkeys(loose & set(array.dims), 0)) for array in arrays]


def _check_grid(dataset: xr.Dataset) -> None:
    if not dataset.data_vars:
        raise InputError("there is no field in it; name a file that `pgt predict` wrote.")
    for name, array in dataset.data_vars.items():
        if array.dtype.kind not in "iuf":
            raise InputError(f"the variable {name!r} holds {array.dtype} values, not numbers.")
        if not array.size:
            raise InputError(f"the variable {name!r} is empty.")
        for dim in array.dims:
            if dim not in AXES or dim not in dataset.coords:
                raise InputError(
                    f"the variable {name!r} has the dimension {dim!r}; a field on a grid has the "
                    "axes x, y, z and t only, each with its coordinate values."
                )
    for axis in dataset.coords:
        if not np.isfinite(as_numbers(str(axis), dataset[axis].to_numpy())).all():
            raise InputError(f"the coordinate {axis!r} is not finite everywhere.")
