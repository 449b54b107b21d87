"""Fields and values into files, each either whole or not there: NetCDF, Zarr, CSV, VTK, and meshes.

A field is written part by part, so that a large one never is in memory as a whole.
"""

import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.parser import CARTESIAN
from pgt.data.dates import counted_from, start_of
from pgt.data.domain import AXES
from pgt.geometry.shape_files import needed
from pgt.io.file_access import check_suffix, missing_package, name_file_in_errors, write_safely

CF_CONVENTIONS = "CF-1.12"
Part = tuple[Mapping[Any, slice], xr.Dataset]
CSV_BATCH_ROWS = 1 << 16  # rows written at once, to bound the memory
AXIS_ATTRIBUTES = {
    "x": {"axis": "X", "long_name": "x coordinate"},
    "y": {"axis": "Y", "long_name": "y coordinate"},
    "z": {"axis": "Z", "long_name": "z coordinate", "positive": "up"},
    "t": {"axis": "T", "long_name": "time"},
}


@checked
def write_field(dataset: xr.Dataset, path: str | os.PathLike) -> Path:
    """Write a field by the ending of `path`; returns the file to open.

    ``.nc``: compressed NetCDF after the CF conventions, all attributes kept. ``.zarr``: the same as a
    Zarr store, a folder. ``.csv``: one row per point, an empty cell where there is no value. ``.vtr``: a
    rectilinear grid for ParaView; several instants become numbered files and a ``.pvd`` that holds them
    together. Fields too large for memory are written by `Reconstruction.to_netcdf` and `to_zarr`.

    >>> import tempfile
    >>> from pgt.io import read_field
    >>> field = xr.Dataset({"u": ("x", [1.0, 2.0])}, {"x": [0.0, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_field(write_field(field, Path(folder, "field.nc"))).equals(field)
    True
    """
    path = Path(path)
    with name_file_in_errors(path):
        if check_suffix(path, (*WRITERS, ".vtr")) == ".vtr":
            _check_dataset(dataset)
            return _write_vtk(_flags_as_numbers(dataset), path)
        _check_dataset(dataset)
        return write_parts([({}, dataset)], dataset.sizes, path)


def write_parts(parts: Iterable[Part], sizes: Mapping[Any, int], path: Path) -> Path:
    """Write a field of these sizes, which comes part by part, as .nc, .zarr or .csv.

    A part is where it lies along the dimensions, everywhere along one that is not named, and a
    Dataset of what is there. All have the same variables; they follow each other in the order of the
    rows of a table.
    """
    with name_file_in_errors(path):
        write = WRITERS[check_suffix(path, WRITERS)]
        return write(((where, _flags_as_numbers(part)) for where, part in parts), sizes, path)


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
    with name_file_in_errors(path):
        check_suffix(path, (".csv",))
        _check_dataset(dataset)
        return write_parts([({}, dataset)], dataset.sizes, path)


def _check_dataset(dataset) -> None:
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


def _flags_as_numbers(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with 0 and 1 for false and true, such as the mark of points outside the domain."""
    flags = {n: a.astype("int8") for n, a in dataset.variables.items() if a.dtype == bool}
    fields = {name: flag for name, flag in flags.items() if name in dataset.data_vars}
    marks = {name: flag for name, flag in flags.items() if name in dataset.coords}
    return dataset.assign(fields).assign_coords(marks)


def _write_netcdf(parts: Iterable[Part], sizes: Mapping[Any, int], path: Path) -> Path:
    import h5netcdf

    packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True, "fletcher32": True}
    with write_safely(path) as temporary, SafeFile(temporary) as content:
        with h5netcdf.File(content, "w") as file:
            file.dimensions = {str(dim): size for dim, size in sizes.items()}

            def make(name: str, array: xr.Variable, shape: Any, is_field: bool) -> Any:
                options = {"chunks": array.shape, **packed} if is_field and array.ndim else {}
                empty = np.nan if array.dtype.kind == "f" and is_field else None
                return file.create_variable(
                    name, [str(dim) for dim in array.dims], array.dtype, fillvalue=empty, **options
                )

            for where, part in parts:
                part = _with_cf_attributes(counted_from(part, 0.0))
                _write_part(file.variables, file.attrs, make, where, sizes, part)
                content.require_room()
        content.require_room()
    return path


def _write_zarr(parts: Iterable[Part], sizes: Mapping[Any, int], path: Path) -> Path:
    try:
        import zarr  # an optional dependency
    except ImportError:
        raise missing_package("zarr", "a Zarr store") from None
    if path.is_dir() and not any((path / name).is_file() for name in ("zarr.json", ".zgroup")):
        raise InputError("this is a folder that holds no Zarr store; name another.")
    with write_safely(path, is_folder=True) as temporary:
        # Format 2 with all metadata in one file: what any version of Zarr and xarray reads at once.
        group = zarr.open_group(temporary, mode="w", zarr_format=2)
        stored: dict[str, Any] = {}

        def make(name: str, array: xr.Variable, shape: Any, is_field: bool) -> Any:
            stored[name] = group.create_array(
                name, shape=shape, dtype=array.dtype, chunks=array.shape if array.ndim else "auto",
                fill_value=np.nan if array.dtype.kind == "f" else None,  # what it is, is missing
                attributes={"_ARRAY_DIMENSIONS": [str(dim) for dim in array.dims]},
            )  # fmt: skip
            return stored[name]

        for where, part in parts:
            part = _with_cf_attributes(counted_from(part, 0.0))
            _write_part(stored, group.attrs, make, where, sizes, part)
        zarr.consolidate_metadata(group.store)
    return path


def _write_part(
    stored: Mapping[str, Any], attributes, make, where, sizes, part: xr.Dataset
) -> None:
    """Write the variables of a part into arrays of the whole size, which the first part makes."""
    for name, array in part.variables.items():
        region = tuple(where.get(dim, slice(None)) for dim in array.dims)
        if str(name) not in stored:
            shape = tuple(sizes[dim] for dim in array.dims)
            made = make(str(name), array, shape, name in part.data_vars)
            made.attrs.update(array.attrs | _labels(part, name))
        stored[str(name)][region or ...] = array.to_numpy()
    attributes.update(part.attrs)


def _labels(part: xr.Dataset, name: Any) -> dict[str, str]:
    """The attribute of a field that names those of its coordinates that are no axes, as CF has it."""
    if name in part.coords:
        return {}
    own = [str(c) for c in part[name].coords if c not in part.dims]
    return {"coordinates": " ".join(own)} if own else {}


class SafeFile(io.RawIOBase):
    """A file whose writes never fail before `require_room` says so: HDF5 ends the process otherwise."""

    def __init__(self, path: Path):
        super().__init__()
        self.file = path.open("r+b", buffering=0)
        self.error: OSError | None = None

    def require_room(self) -> None:
        """Raise what went wrong while writing."""
        if self.error is not None:
            raise self.error

    def write(self, content) -> int:
        size = memoryview(content).nbytes
        try:
            if self.error is None:
                rest = memoryview(content).cast("B")
                while rest:
                    rest = rest[self.file.write(rest) :]
        except OSError as error:
            self.error = error
        return size

    def readinto(self, buffer) -> int:
        found = self.file.readinto(buffer)
        if self.error is not None:  # what was not written reads as zeros
            memoryview(buffer).cast("B")[found:] = bytes(len(buffer) - found)
            return len(buffer)
        return found

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def truncate(self, size: int | None = None) -> int:
        try:
            return self.file.truncate(size) if self.error is None else size or 0
        except OSError as error:
            self.error = error
            return size or 0

    def close(self) -> None:
        self.file.close()
        super().close()


def _with_cf_attributes(dataset: xr.Dataset) -> xr.Dataset:
    """A copy with the attributes that CF asks for, and none that NetCDF cannot hold."""
    dataset = dataset.drop_encoding()
    dataset.attrs = _storable_attributes(dataset.attrs) | {"Conventions": CF_CONVENTIONS}
    for name in dataset.variables:
        default = AXIS_ATTRIBUTES.get(str(name), {"long_name": str(name)})
        dataset[name].attrs = default | _storable_attributes(dataset[name].attrs)
    return dataset


def _storable_attributes(attributes: dict) -> dict:
    """Text and numbers unchanged, None left out, anything else as JSON."""
    return {
        str(name): value if _is_storable(value) else json.dumps(value, default=str)
        for name, value in attributes.items()
        if value is not None
    }


def _is_storable(value) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.size > 0 and value.dtype.kind in "iuf"
    return isinstance(value, (str, int, float, np.number)) and not isinstance(value, bool)


def _write_vtk(dataset: xr.Dataset, path: Path) -> Path:
    return _write_rectilinear(counted_from(dataset, start_of(dataset)), path)


def _write_csv(parts: Iterable[Part], sizes: Mapping[Any, int], path: Path) -> Path:
    with write_safely(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        frames = (frame for _, part in parts for frame in _iterate_frames(part))
        for number, frame in enumerate(frames):
            frame.to_csv(file, index=False, header=number == 0, lineterminator="\n")
    return path


def _iterate_frames(dataset: xr.Dataset) -> Iterator[pd.DataFrame]:
    """The rows of the table in batches: coordinates in the order x, y, z, t, then fields."""
    names = [axis for axis in AXES if axis in dataset.coords]
    names += [name for name in dataset.coords if name not in names] + list(dataset.data_vars)
    arrays = {name: dataset[name] for name in names}
    sizes = {dim: n for name in dataset.data_vars for dim, n in dataset[name].sizes.items()}
    sizes |= dict(dataset.sizes)
    count = math.prod(sizes.values())
    for start in range(0, count, CSV_BATCH_ROWS):
        rows = np.arange(start, min(start + CSV_BATCH_ROWS, count))
        places = np.unravel_index(rows, tuple(sizes.values())) if sizes else ()
        index = dict(zip(sizes, places, strict=True))
        yield pd.DataFrame(
            {
                name: array.to_numpy()[tuple(index[dim] for dim in array.dims)]
                for name, array in arrays.items()
            },
            index=rows,
        )


WRITERS = {".nc": _write_netcdf, ".zarr": _write_zarr, ".csv": _write_csv}


def _write_rectilinear(dataset: xr.Dataset, path: Path) -> Path:
    """One .vtr, or for several instants NAME_0000.vtr, ... and NAME.pvd; returns the file to open."""
    try:
        import pyevtk.vtk  # an optional dependency
    except ImportError:
        raise missing_package("pyevtk", "a VTK file") from None
    for dim in dataset.sizes:
        if dim not in CARTESIAN or dim not in dataset.coords:
            raise InputError(
                f"the field has the dimension {dim!r}; a VTK grid has the axes x, y, z and t only, "
                "each with its coordinate. Take one of it, as in .sel(quantile=0.05); write scattered "
                "points as .csv."
            )
    path = path.with_suffix(".vtr")  # pyevtk appends it in small letters
    if dataset.sizes.get("t", 1) == 1:
        with write_safely(path) as temporary:
            _write_snapshot(dataset, temporary)
        return path
    group = path.with_suffix(".pvd")
    with ExitStack() as stack:  # all files move to their places at the end, the .pvd last
        whole = stack.enter_context(write_safely(group))
        snapshots = [path.with_name(f"{path.stem}_{i:04d}.vtr") for i in range(dataset.sizes["t"])]
        for index, snapshot in enumerate(snapshots):
            temporary = stack.enter_context(write_safely(snapshot))
            _write_snapshot(dataset.isel(t=index), temporary)
        collection = pyevtk.vtk.VtkGroup(str(whole.absolute().with_suffix("")))
        for snapshot, time in zip(snapshots, dataset["t"].to_numpy(), strict=True):
            collection.addFile(escape(str(snapshot.absolute())), float(time))
        collection.save()
    return group


def _write_snapshot(dataset: xr.Dataset, path: Path) -> None:
    import pyevtk.hl

    dataset = dataset.isel(t=0) if "t" in dataset.dims else dataset
    present = [axis for axis in CARTESIAN[:3] if axis in dataset.dims]
    given = {axis: dataset[axis].to_numpy().astype(np.float64) for axis in present}
    axes = [given.get(axis, np.zeros(1)) for axis in CARTESIAN[:3]]
    full = xr.broadcast(dataset)[0].transpose(*present)
    fields = {
        escape(str(name)): np.asfortranarray(
            array.to_numpy().reshape([len(axis) for axis in axes]), dtype=np.float64
        )
        for name, array in full.data_vars.items()
    }
    pyevtk.hl.gridToVTK(str(path.with_suffix("")), *axes, pointData=fields)


@checked
def read_mesh(path: str | os.PathLike) -> Any:
    """A mesh as meshio reads it: gmsh (.msh), .vtu, .xdmf, ...

    >>> import meshio, tempfile
    >>> corners = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "one.vtu")
    ...     meshio.Mesh(corners, [("triangle", [[0, 1, 2]])]).write(path)
    ...     len(read_mesh(path).points)
    3
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file.")
    meshio = needed("meshio")
    try:
        return meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio exits for files that it does not know
        raise InputError(f"{path}: meshio cannot read this as a mesh ({error}).") from None


@checked
def mesh_points(mesh: Any, axes: tuple[str, ...], t: float | None = None) -> dict[str, np.ndarray]:
    """The points of a mesh by axis, as `Reconstruction.at` takes them, all at the instant `t`.

    >>> import meshio
    >>> corners = meshio.Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [("triangle", [[0, 1, 2]])])
    >>> mesh_points(corners, ("x", "y"))["x"].tolist()
    [0.0, 1.0, 0.0]
    """
    _check_has_points("mesh_points", mesh)
    points: Float[np.ndarray, "n k"] = np.asarray(mesh.points, float)
    if "t" in axes and t is None:
        raise InputError("mesh_points: the field depends on time; write an instant, t=0.5.")
    found = {axis: points[:, k] for k, axis in enumerate(a for a in axes if a != "t")}
    return found | ({"t": np.full(len(points), float(t or 0.0))} if "t" in axes else {})


@checked
def write_mesh(path: str | os.PathLike, mesh: Any, values: xr.Dataset) -> Path:
    """Write a mesh with values at its points, for ParaView: .vtu, or what else meshio knows.

    Parameters
    ----------
    path
        The file.
    mesh
        As `read_mesh` gives it.
    values
        What `Reconstruction.at` says at `mesh_points`, derivatives included.

    >>> import meshio, tempfile
    >>> mesh = meshio.Mesh([[0.0, 0], [1, 0], [0, 1]], [("triangle", [[0, 1, 2]])])
    >>> values = xr.Dataset({"u": ("point", [1.0, 2.0, 3.0])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_mesh(Path(folder, "field.vtu"), mesh, values)
    ...     read_mesh(path).point_data["u"].tolist()
    [1.0, 2.0, 3.0]
    """
    _check_has_points("write_mesh", mesh)
    meshio, path = needed("meshio"), Path(path)
    columns = {str(name): np.asarray(array, float) for name, array in values.data_vars.items()}
    for name, column in columns.items():
        if column.shape != (len(mesh.points),):
            raise InputError(
                f"{name!r} has {column.shape} values but the mesh {len(mesh.points)} points; ask for "
                "them with result.at(mesh_points(mesh, ...))."
            )
    points = np.asarray(mesh.points, float)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))  # VTK has three axes
    made = meshio.Mesh(points, mesh.cells, point_data=columns)
    with name_file_in_errors(path), write_safely(path) as temporary:
        made.write(temporary, file_format=path.suffix.lstrip(".").lower())
    return path


def _check_has_points(where: str, mesh: Any) -> None:
    if isinstance(mesh, type) or not hasattr(mesh, "points"):
        raise InputError(
            f"{where}(mesh=...): it has no points; give what pgt.io.read_mesh(...) gives."
        )
