"""NetCDF files: gridded fields, and readings along a sample dimension."""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.manifest import require_intact
from pgt.core.number_arrays import as_numbers
from pgt.core.parser import CARTESIAN
from pgt.core.registry import register
from pgt.data.domain import AXES
from pgt.data.units import conversion
from pgt.io.column_aliases import explain_angles, is_axis_alias, parse_flag
from pgt.io.columns import ArrayNames, Columns, as_numbers_or_dates, check_present, check_row_count
from pgt.io.file_access import check_is_file, check_suffix, name_file_in_errors, wrap_library_errors

CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "none")
NETCDF_ENDINGS = (".nc", ".nc4", ".cdf", ".h5", ".hdf5")


@register(*NETCDF_ENDINGS, kind="reader")
def read_netcdf(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Every combination of the dimensions as one row; units from the attributes."""
    wanted = coords + others
    with open_dataset(path) as dataset:
        check_present(wanted, map(str, dataset.variables))
        arrays = _select_variables(dataset, coords, others)
        sizes = {dim: size for array in arrays for dim, size in array.sizes.items()}
        check_row_count(math.prod(sizes.values()))
        arrays, notes = _hide_flagged([_hide_out_of_range(array) for array in arrays], dataset)
        columns = [array.to_numpy().ravel() for array in xr.broadcast(*arrays)]
        units = {n: _unit_of(dataset[n].attrs) for n in wanted if "units" in dataset[n].attrs}
    values = {name: as_numbers_or_dates(name, c) for name, c in zip(wanted, columns, strict=True)}
    notes += [word for n in coords if (word := _note_calendar(dataset[n].attrs))]
    return Columns(values, units, notes=tuple(notes))


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
    with name_file_in_errors(path):
        check_is_file(path)
        check_suffix(path, NETCDF_ENDINGS)
        require_intact(path)
        with open_dataset(path) as dataset:
            _check_grid(dataset)
            return dataset.load()


@contextmanager
def open_dataset(path: Path) -> Iterator[xr.Dataset]:
    """The dataset in a file, while that is open; times stay numbers."""
    with wrap_library_errors("NetCDF"):
        with path.open("rb") as file:
            start = file.read(8)
        if start[:3] != b"CDF" and start != b"\x89HDF\r\n\x1a\n":
            raise InputError("this is not a NetCDF file: its first bytes differ.")
        group, engine = None, "scipy" if start[:3] == b"CDF" else "h5netcdf"
        if engine == "h5netcdf":
            with h5py.File(path) as file:  # h5netcdf prints a traceback when this fails
                group = _find_group(file)
        # Times stay numbers, as the equation needs them. Plain HDF5 has no names of dimensions; xarray
        # then makes some up.
        more: dict[str, Any] = {}
        if engine == "h5netcdf":
            more = {"phony_dims": "sort", "group": group}
        with xr.open_dataset(
            path, engine=engine, decode_times=False, cache=False, **more
        ) as dataset:
            yield dataset


def _find_group(file: h5py.File) -> str | None:
    """The only group that holds arrays, where there are none outside of groups."""
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


def _hide_out_of_range(array: xr.DataArray) -> xr.DataArray:
    """A variable without values outside its valid range, which packed variables give in packed units."""
    low, high = array.attrs.get("valid_range", (-np.inf, np.inf))
    low, high = array.attrs.get("valid_min", low), array.attrs.get("valid_max", high)
    if "scale_factor" in array.encoding or not (np.isfinite(low) or np.isfinite(high)):
        return array
    return array.where((array >= low) & (array <= high))


def _hide_flagged(
    arrays: list[xr.DataArray], dataset: xr.Dataset
) -> tuple[list[xr.DataArray], list[str]]:
    """The arrays without values whose flags are bad in words, and notes on them."""
    found, notes = [], []
    for array in arrays:
        for name in str(array.attrs.get("ancillary_variables", "")).split():
            flags = dataset[name] if name in dataset.variables else None
            if flags is None or flags.dims != array.dims or "flag_values" not in flags.attrs:
                continue
            meanings = str(flags.attrs.get("flag_meanings", "")).split()
            pairs = zip(np.atleast_1d(flags.attrs["flag_values"]), meanings, strict=False)
            bad = [value for value, word in pairs if "bad" in word or parse_flag(word) is False]
            is_bad = flags.reset_coords(drop=True).isin(bad) & array.notnull()
            if count := int(is_bad.sum()):
                array = array.where(~is_bad)
                notes.append(
                    f"{count} reading{'s' if count > 1 else ''} hidden that {name!r} marks as bad"
                )
        found.append(array)
    return found, notes


def _unit_of(attributes: dict) -> str:
    """The unit of a variable; days of an artificial calendar count from no date."""
    unit = str(attributes["units"])
    return unit.partition(" since ")[0] if _note_calendar(attributes) else unit


def _note_calendar(attributes: dict) -> str | None:
    """A note on a calendar whose days are no dates."""
    name = str(attributes.get("calendar", "standard")).lower()
    return None if name in CALENDARS else f"no dates, since the calendar is {name!r}"


def _select_variables(dataset: xr.Dataset, coords: tuple[str, ...], others: tuple[str, ...]):
    """The wanted variables without dimensions of length 1 that no coordinate describes."""
    placed = {dim for name in coords for dim in dataset[name].dims}
    arrays = [dataset[name].reset_coords(drop=True) for name in coords + others]
    loose = {dim for array in arrays for dim in array.dims if dim not in placed}
    for dim in sorted(map(str, loose)):
        if dataset.sizes[dim] > 1:
            raise _loose_dimension(dataset, dim, coords)
    read = {dim for name in others for dim in dataset[name].dims}
    for name in coords if others else ():
        for dim in dataset[name].dims:
            if dim not in read and dataset.sizes[dim] > 1:
                raise InputError(
                    f"the coordinate {name!r} has the dimension {str(dim)!r}, along which there are no "
                    f"readings: {', '.join(others)} is given along {', '.join(sorted(map(str, read)))}. "
                    "Save a position for every reading."
                )
    return [array.isel(dict.fromkeys(loose & set(array.dims), 0)) for array in arrays]


def _loose_dimension(dataset: xr.Dataset, dim: str, coords: tuple[str, ...]) -> InputError:
    """The error that a dimension is no axis, with the axis it may be."""
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
    free = CARTESIAN[len([name for name in coords if not is_axis_alias(name, "t")])]
    return InputError(
        f"the dimension {dim!r} ({dataset.sizes[dim]} entries) belongs to none of the coordinates "
        f'{", ".join(coords)}. Name its coordinate, as in `columns={{"{free}": "{dim}"}}`, or keep one '
        f"entry.{explain_angles([dim])}"
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
            if dim not in (*AXES, "quantile") or dim not in dataset.coords:
                raise InputError(
                    f"the variable {name!r} has the dimension {dim!r}; a field on a grid has the "
                    "axes x, y, z and t only, each with its coordinate values. With xarray, "
                    f"dataset.rename({{{dim!r}: 'x'}}) gives an axis another name."
                )
    for axis in dataset.coords:
        if not np.isfinite(as_numbers(str(axis), dataset[axis].to_numpy())).all():
            raise InputError(f"the coordinate {axis!r} is not finite everywhere.")


def list_netcdf_names(path: Path) -> ArrayNames:
    """By variable, its name or what its attributes say it is; fields with most axes first."""
    with open_dataset(path) as dataset:
        arrays = {str(n): array for n, array in dataset.variables.items()}
        edges = {str(array.attrs.get("bounds", "")) for array in arrays.values()}
        names = [n for n, a in arrays.items() if _is_readable(n, a.dtype) and n not in edges]
        names = [name for name in names if not name.endswith(("_bnds", "_bounds"))]
        names = sorted(names, key=lambda name: -arrays[name].ndim)  # fields have the most axes
        return {name: _cf_name(name, arrays[name].attrs) for name in names}


def _is_readable(name: str, kind: np.dtype) -> bool:
    """Whether a variable holds numbers, or times as text."""
    return kind.kind in "iuf" or (kind.kind in "OSU" and is_axis_alias(name, "t"))


def _cf_name(name: str, attributes: Mapping[str, Any]) -> str:
    """The name that the attributes of CF imply for a variable, such as "time"; else its own name."""
    if any(is_axis_alias(name, axis) for axis in CARTESIAN):
        return name
    standard, axis = (str(attributes.get(key, "")) for key in ("standard_name", "axis"))
    if axis == "T" or standard == "time" or " since " in str(attributes.get("units", "")):
        return "time"
    if standard.endswith("temperature"):
        return "temperature"
    is_length = conversion(str(attributes.get("units", "")), "m") is not None
    return axis.lower() if axis in ("X", "Y", "Z") and is_length else name
