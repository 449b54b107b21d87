"""Fields and values into files, each either whole or not there: NetCDF, CSV, VTK, and meshes."""

import json
import math
import os
from collections.abc import Iterator
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
from pgt.data.dates import counted_from, start_of
from pgt.data.domain import AXES
from pgt.geometry.shape_files import needed
from pgt.io.file_access import check_suffix, missing_package, name_file_in_errors, write_safely

CF_CONVENTIONS = "CF-1.12"
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
    with name_file_in_errors(path):
        write = WRITERS[check_suffix(path, WRITERS)]
        _check_dataset(dataset)
        return write(_flags_as_numbers(dataset), path)


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
        return _write_csv(_flags_as_numbers(dataset), path)


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


def _write_netcdf(dataset: xr.Dataset, path: Path) -> Path:
    dataset = _with_cf_attributes(counted_from(dataset, 0.0))
    coordinates = {name: {"_FillValue": None} for name in dataset.coords}  # CF: none missing
    packed = {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True}
    fields = {name: packed for name, array in dataset.data_vars.items() if array.ndim}
    # Made in memory: on a full disk HDF5 can end the whole process.
    content = dataset.to_netcdf(engine="h5netcdf", encoding=coordinates | fields)
    with write_safely(path) as temporary:
        temporary.write_bytes(content)
    return path


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


def _write_csv(dataset: xr.Dataset, path: Path) -> Path:
    with write_safely(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for number, frame in enumerate(_iterate_frames(dataset)):
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


WRITERS = {".nc": _write_netcdf, ".csv": _write_csv, ".vtr": _write_vtk}


def _write_rectilinear(dataset: xr.Dataset, path: Path) -> Path:
    """One .vtr, or for several instants NAME_0000.vtr, ... and NAME.pvd; returns the file to open."""
    try:
        import pyevtk.vtk  # an optional dependency
    except ImportError:
        raise missing_package("pyevtk", "a VTK file") from None
    for dim in dataset.sizes:
        if dim not in AXES or dim not in dataset.coords:
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
    present = [axis for axis in AXES[:3] if axis in dataset.dims]
    given = {axis: dataset[axis].to_numpy().astype(np.float64) for axis in present}
    axes = [given.get(axis, np.zeros(1)) for axis in AXES[:3]]
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
