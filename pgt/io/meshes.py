"""Values on a user's mesh: its points to ask for, and a file with what was answered."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.data.shapes.files import needed
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.io._files import naming, written


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
    except (Exception, SystemExit) as error:  # it ends the program where it does not know a file
        raise InputError(f"{path}: no mesh that meshio can read ({error}).") from None


@checked
def mesh_points(mesh: Any, axes: tuple[str, ...], t: float | None = None) -> dict[str, np.ndarray]:
    """The points of a mesh by axis, as `Reconstruction.at` takes them; all at the instant `t`.

    >>> import meshio
    >>> corners = meshio.Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [("triangle", [[0, 1, 2]])])
    >>> mesh_points(corners, ("x", "y"))["x"].tolist()
    [0.0, 1.0, 0.0]
    """
    _check_mesh("mesh_points", mesh)
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
    _check_mesh("write_mesh", mesh)
    meshio, path = needed("meshio"), Path(path)
    columns = {str(name): np.asarray(array, float) for name, array in values.data_vars.items()}
    for name, column in columns.items():
        if column.shape != (len(mesh.points),):
            raise InputError(
                f"{name!r} has {column.shape} values but the mesh {len(mesh.points)} points; ask for "
                "them with result.at(mesh_points(mesh, ...))."
            )
    points = np.asarray(mesh.points, float)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))  # VTK knows space only
    made = meshio.Mesh(points, mesh.cells, point_data=columns)
    with naming(path), written(path) as temporary:
        made.write(temporary, file_format=path.suffix.lstrip(".").lower())
    return path


def _check_mesh(where: str, mesh: Any) -> None:
    if isinstance(mesh, type) or not hasattr(mesh, "points"):
        raise InputError(
            f"{where}(mesh=...): it has no points; give what pgt.io.read_mesh(...) gives."
        )
