"""NetCDF files: gridded fields, and readings along a sample dimension."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
from pgt.io.called import is_called, is_good, no_lengths
from pgt.io.columns import Columns, check_count, check_present
from pgt.io.plain import numbers_or_dates

CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "none")
SUFFIXES = (".nc", ".nc4", ".cdf", ".h5", ".hdf5")


@register(*SUFFIXES, kind="reader")
def read(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Every combination of the dimensions as one row; units from the attributes."""
    wanted = coords + others
    with opened(path) as dataset:
        check_present(wanted, map(str, dataset.variables))
        dataset = _indexed(dataset, coords, others)
        arrays = _placed(dataset, coords, others)
        sizes = {dim: size for array in arrays for dim, size in array.sizes.items()}
        check_count(math.prod(sizes.values()))
        arrays, said = _without_bad([_in_range(array) for array in arrays], dataset)
        columns = [array.to_numpy().ravel() for array in xr.broadcast(*arrays)]
        units = {n: _unit(dataset[n].attrs) for n in wanted if "units" in dataset[n].attrs}
    values = {name: numbers_or_dates(name, c) for name, c in zip(wanted, columns, strict=True)}
    said += [word for n in coords if (word := _calendar(dataset[n].attrs))]
    return Columns(values, units, said=tuple(said))


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
        with opened(path) as dataset:
            _check_grid(dataset)
            return dataset.load()


@contextmanager
def opened(path: Path) -> Iterator[xr.Dataset]:
    """The dataset in a file, as long as that is open; times stay numbers."""
    with understood("NetCDF"):
        with path.open("rb") as file:
            start = file.read(8)
        if start[:3] != b"CDF" and start != b"\x89HDF\r\n\x1a\n":
            raise InputError("this is not a NetCDF file: it starts like none.")
        group, engine = None, "scipy" if start[:3] == b"CDF" else "h5netcdf"
        if engine == "h5netcdf":
            with h5py.File(path) as file:  # h5netcdf prints a traceback of its own when this fails
                group = _group(file)
        # times stay the numbers they are: the equation needs numbers, not dates
        # and plain HDF5, which has no names for dimensions, gets some without a warning
        more: dict[str, Any] = {}
        if engine == "h5netcdf":
            more = {"phony_dims": "sort", "group": group}
        with xr.open_dataset(
            path, engine=engine, decode_times=False, cache=False, **more
        ) as dataset:
            yield dataset


def _group(file: h5py.File) -> str | None:
    """The only group that holds arrays, where none stand outside of groups."""
    dict(file.attrs)
    if not len(file) or any(isinstance(file[name], h5py.Dataset) for name in file):
        return None
    groups: list[str] = []

    def note(_name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset):
            groups.append(str(item.parent.name))

    file.visititems(note)
    names = sorted({*groups})
    if len(names) > 1:
        raise InputError(
            f"the arrays stand in the groups {', '.join(names[:5])}; save one of them alone."
        )
    return names[0] if names else None


def _in_range(array: xr.DataArray) -> xr.DataArray:
    """The values that a variable calls valid; packed ones say so of what they are packed in."""
    low, high = array.attrs.get("valid_range", (-np.inf, np.inf))
    low, high = array.attrs.get("valid_min", low), array.attrs.get("valid_max", high)
    if "scale_factor" in array.encoding or not (np.isfinite(low) or np.isfinite(high)):
        return array
    return array.where((array >= low) & (array <= high))


def _without_bad(
    arrays: list[xr.DataArray], dataset: xr.Dataset
) -> tuple[list[xr.DataArray], list[str]]:
    """The arrays without values that a variable of flags calls bad in words, and what to say of it."""
    found, said = [], []
    for array in arrays:
        for name in str(array.attrs.get("ancillary_variables", "")).split():
            flags = dataset[name] if name in dataset.variables else None
            if flags is None or flags.dims != array.dims or "flag_values" not in flags.attrs:
                continue
            meanings = str(flags.attrs.get("flag_meanings", "")).split()
            pairs = zip(np.atleast_1d(flags.attrs["flag_values"]), meanings, strict=False)
            bad = [value for value, word in pairs if "bad" in word or is_good(word) is False]
            is_bad = flags.reset_coords(drop=True).isin(bad) & array.notnull()
            if count := int(is_bad.sum()):
                array = array.where(~is_bad)
                said.append(
                    f"{count} reading{'s' if count > 1 else ''} hidden that {name!r} calls bad"
                )
        found.append(array)
    return found, said


def _unit(attributes: dict) -> str:
    """The unit of a variable; days of a calendar that nobody lives by count from no date."""
    unit = str(attributes["units"])
    return unit.partition(" since ")[0] if _calendar(attributes) else unit


def _calendar(attributes: dict) -> str | None:
    """What to say of a calendar whose days are no dates."""
    name = str(attributes.get("calendar", "standard")).lower()
    return None if name in CALENDARS else f"no dates, since the calendar is {name!r}"


def _indexed(dataset: xr.Dataset, coords: tuple[str, ...], others: tuple[str, ...]) -> xr.Dataset:
    """The dataset with what is said of stations or profiles repeated for each of their readings.

    CF has two ways: a variable that names the station of each reading, or one that counts the readings
    of each.
    """
    for name, variable in dataset.variables.items():
        if "instance_dimension" in variable.attrs:
            dim, along = variable.attrs["instance_dimension"], str(variable.dims[0])
            index = variable.to_numpy().astype(int)
        elif "sample_dimension" in variable.attrs:
            dim, along = variable.dims[0], variable.attrs["sample_dimension"]
            index = np.repeat(np.arange(variable.size), variable.to_numpy().astype(int))
        else:
            continue
        if index.size != dataset.sizes.get(along) or index.min() < 0:
            raise InputError(f"the variable {str(name)!r} does not say whose each reading is.")
        mine = [n for n in coords + others if dim in dataset[n].dims and n != along]
        taken = {n: dataset[n].isel({dim: xr.DataArray(index, dims=along)}) for n in mine}
        dataset = dataset.drop_vars(mine).assign(taken)
    return dataset


def _placed(dataset: xr.Dataset, coords: tuple[str, ...], others: tuple[str, ...]):
    """The wanted variables without dimensions of length 1 that no coordinate describes."""
    placed = {dim for name in coords for dim in dataset[name].dims}
    arrays = [dataset[name].reset_coords(drop=True) for name in coords + others]
    loose = {dim for array in arrays for dim in array.dims if dim not in placed}
    for dim in sorted(map(str, loose)):
        if dataset.sizes[dim] > 1:
            raise _loose(dataset, dim, coords)
    read = {dim for name in others for dim in dataset[name].dims}
    for name in coords if others else ():
        for dim in dataset[name].dims:
            if dim not in read and dataset.sizes[dim] > 1:
                raise InputError(
                    f"the coordinate {name!r} has the dimension {str(dim)!r}, along which nothing was "
                    f"read: {', '.join(others)} is given along {', '.join(sorted(map(str, read)))}. Save "
                    "a position for every reading."
                )
    return [array.isel(dict.fromkeys(loose & set(array.dims), 0)) for array in arrays]


def _loose(dataset: xr.Dataset, dim: str, coords: tuple[str, ...]) -> InputError:
    """That a dimension is no axis, and which one it may be."""
    if dim.startswith("phony_dim"):
        return InputError(
            "the file has no names for its dimensions, and two of them are of one length, so it is "
            "unclear which is which. Save it as NetCDF, with dimensions that have names."
        )
    if dim not in dataset.variables:
        return InputError(
            f"the dimension {dim!r} ({dataset.sizes[dim]} entries) has no coordinate. Save a variable "
            f"{dim!r} with their positions."
        )
    free = AXES[len([name for name in coords if not is_called(name, "t")])]
    return InputError(
        f"the dimension {dim!r} ({dataset.sizes[dim]} entries) belongs to none of the coordinates "
        f'{", ".join(coords)}. Name its coordinate, as in `columns={{"{free}": "{dim}"}}`, or keep one '
        f"entry.{no_lengths([dim])}"
    )


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
                    "axes x, y, z and t only, each with its coordinate values. With xarray, "
                    f"dataset.rename({{{dim!r}: 'x'}}) gives an axis another name."
                )
    for axis in dataset.coords:
        if not np.isfinite(as_numbers(str(axis), dataset[axis].to_numpy())).all():
            raise InputError(f"the coordinate {axis!r} is not finite everywhere.")
