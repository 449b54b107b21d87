"""Shapes from files and other libraries: shapely geometries, WKT, GeoJSON, surfaces, meshes."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.geometry.polygon import Polygon
from pgt.geometry.shape import AbstractShape, Length, Word, number
from pgt.geometry.surface import Surface

SURFACES = (".stl", ".ply", ".obj", ".off")
TEXTS = ("POLYGON", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "SRID=")
_REFERENCE = re.compile(r"^\s*SRID=\d+;", re.IGNORECASE)  # as PostGIS writes in front of WKT


def read_shape(source: Any, name: str | None = None, factor: float = 1.0) -> AbstractShape:
    """A shape from a file, from WKT text, or from a geometry of shapely.

    ``.wkt`` and ``.geojson`` hold polygons, ``.stl``, ``.ply`` and ``.obj`` closed surfaces; everything
    else is read by meshio: the outline of a mesh of triangles in the plane, the surface of one of
    tetrahedra, wedges, pyramids and hexahedra. Needs the extra `shapes`.

    Parameters
    ----------
    source
        A path, WKT text such as "POLYGON ((0 0, 1 0, 1 1, 0 0))", or a shapely geometry.
    name
        The name of its wall.
    factor
        The factor to the units of the domain: 0.001 for a file in millimeters and a domain in meters.

    >>> round(read_shape("POLYGON ((0 0, 2 0, 2 1, 0 0))", name="coast").measure(), 9)
    1.0
    """
    shape = _read(source, name)
    if number("read_shape(factor)", factor, above=0) == 1:
        return shape
    return shape.scaled(factor)


@register("file", kind="shape")
def shape_file(path: Word, name: Word | None = None, factor: Length = 1.0) -> AbstractShape:
    """The shape that `read_shape` returns, for run files; a relative path starts in their folder."""
    return read_shape(Path(path), name, factor)


def _read(source, name: str | None) -> AbstractShape:
    if hasattr(source, "geom_type"):
        return _of_shapely(source, name, "shape")
    if isinstance(source, str) and source.strip().upper().startswith(TEXTS):
        return _of_text(source, name, "WKT")
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"read_shape({type(source).__name__}): give a path, WKT text or a shapely geometry."
        )
    path = Path(source)
    if not path.is_file():
        hint = " WKT of a shape begins with POLYGON or MULTIPOLYGON." if "(" in str(source) else ""
        raise InputError(f"{path}: there is no such file.{hint}")
    ending = path.suffix.lower()
    read = {".wkt": _wkt, ".geojson": _geojson, ".json": _geojson}.get(ending)
    read = read or (_surface if ending in SURFACES else _mesh)
    try:
        return read(path, name)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _wkt(path: Path, name: str | None) -> AbstractShape:
    return _of_text(_text(path), name, "WKT")


def _geojson(path: Path, name: str | None) -> AbstractShape:
    shapely = needed("shapely")
    try:
        data = json.loads(_text(path))
        if data["type"] == "FeatureCollection":
            parts = [feature["geometry"] for feature in data["features"]]
        else:
            parts = [data["geometry"] if data["type"] == "Feature" else data]
        # A feature without a geometry is valid.
        geometries = [shapely.from_geojson(json.dumps(part)) for part in parts if part is not None]
    except (KeyError, TypeError, ValueError, shapely.errors.ShapelyError) as error:
        raise InputError(f"not GeoJSON with polygons ({_first_line(error)}).") from None
    return _of_shapely(shapely.union_all(geometries), name, "GeoJSON")


def _of_text(text: str, name: str | None, what: str) -> AbstractShape:
    shapely = needed("shapely")
    try:
        geometry = shapely.from_wkt(_REFERENCE.sub("", text))
    except shapely.errors.ShapelyError as error:
        raise InputError(f"not {what} that shapely can read ({_first_line(error)}).") from None
    return _of_shapely(geometry, name, what)


def _of_shapely(geometry, name: str | None, what: str) -> Polygon:
    shapely = needed("shapely")
    if geometry is None or geometry.is_empty:
        raise InputError(f"the {what} is empty; it needs one polygon at least.")
    if not geometry.is_valid:
        reason = shapely.is_valid_reason(geometry)
        raise InputError(f"the {what} is not valid: {reason}. Repair it with shapely.make_valid.")
    parts = [part for part in getattr(geometry, "geoms", [geometry]) if part.area > 0]
    if not parts or any(part.geom_type != "Polygon" for part in parts):
        raise InputError(f"the {what} is a {geometry.geom_type}; a shape is made of polygons.")
    rings = [ring for part in parts for ring in (part.exterior, *part.interiors)]
    return Polygon.of_rings([np.asarray(ring.coords)[:, :2] for ring in rings], name)


def _surface(path: Path, name: str | None) -> Surface:
    trimesh = needed("trimesh")
    try:
        mesh = trimesh.load(path, force="mesh", process=False)
        corners, triangles = np.asarray(mesh.vertices, float), np.asarray(mesh.faces)
    except Exception as error:  # its readers raise exceptions of many kinds
        raise InputError(f"no surface that trimesh can read ({_first_line(error)}).") from None
    if not len(triangles):
        raise InputError("the file holds no triangles.")
    return Surface(corners, triangles, name)


def _mesh(path: Path, name: str | None) -> AbstractShape:
    meshio = needed("meshio")
    try:
        mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # it exits the program for unknown files
        raise InputError(f"no mesh that meshio can read ({_first_line(error)}).") from None
    cells = {block.type: [] for block in mesh.cells}
    for block in mesh.cells:
        cells[block.type].append(np.asarray(block.data))
    return shape_of_mesh(
        np.asarray(mesh.points, float), {k: np.concatenate(v) for k, v in cells.items()}, name
    )


def needed(package: str) -> Any:
    """The imported package; raises with the command that installs it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise InputError(
            f"shapes from files need the package {package}: "
            "pip install 'physics-guided-transformer[shapes]'"
        ) from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError:
        raise InputError("it is no text.") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


# A mesh lies in the plane if its height is at most this share of its size.
MAX_FLAT_HEIGHT = 1e-9
# The corners of the faces of each kind of cell, by meshio's names. In cells of higher order further nodes
# follow the corners.
FACES = {
    "tetra": ((0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)),
    "pyramid": ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 3, 4)),
    "wedge": ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (0, 2, 5, 3)),
    "hexahedron": (
        (0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 3, 7, 4),
    ),
}  # fmt: skip


def shape_of_mesh(
    points: Float[np.ndarray, "n k"], cells: Mapping[str, np.ndarray], name: str | None = None
) -> AbstractShape:
    """The shape that the cells of a mesh cover; `cells` uses meshio's names.

    >>> square = np.array([[0.0, 0.0], [1, 0], [1, 1], [0, 1]])
    >>> shape_of_mesh(square, {"triangle": np.array([[0, 1, 2], [0, 2, 3]])}).measure()
    1.0
    """
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(
            f"the mesh has points of shape {points.shape}; they need 2 or 3 coordinates."
        )
    for kind, found in cells.items():
        if found.size and not (found.min() >= 0 and found.max() < len(points)):
            raise InputError(
                f"a cell '{kind}' of the mesh has a corner that is none of its points."
            )
    if not np.isfinite(points).all():
        raise InputError("the mesh has a point that is not finite.")
    solids = {kind: found for kind, found in cells.items() if _solid(kind)}
    if solids:
        return _surface_of_solids(points, solids, name)
    triangles = _triangles(cells)
    if not len(triangles):
        known = ", ".join(cells) or "none at all"
        raise InputError(f"the mesh has no triangles, quads or solid cells; its cells are {known}.")
    used = points[np.unique(triangles)]
    height = np.ptp(used[:, 2]) if points.shape[1] == 3 else 0.0
    if height > MAX_FLAT_HEIGHT * np.ptp(used, axis=0).max():
        return Surface(points, triangles, name)
    cells_as_polygons = needed("shapely").polygons(points[triangles][:, :, :2])
    return _of_shapely(needed("shapely").union_all(cells_as_polygons), name, "mesh")


def _triangles(cells: Mapping[str, np.ndarray]) -> Int[np.ndarray, "f 3"]:
    """The triangles of a mesh, with each quad as two triangles."""
    found = [np.zeros((0, 3), int)]
    found += [cells[kind][:, :3] for kind in ("triangle", "triangle6") if kind in cells]
    for kind in ("quad", "quad8", "quad9"):
        if kind in cells:
            found += [cells[kind][:, [0, 1, 2]], cells[kind][:, [0, 2, 3]]]
    return np.concatenate(found).astype(int)


def _solid(kind: str) -> str | None:
    """The kind of a solid cell without its order ("tetra" for "tetra10"); None for other cells."""
    return next((known for known in FACES if re.fullmatch(known + r"\d*", kind)), None)


def _surface_of_solids(
    points: Float[np.ndarray, "n 3"], cells: Mapping, name: str | None
) -> Surface:
    """The surface of the faces that belong to only one cell, oriented outwards."""
    triangles = []
    for size in (3, 4):
        faces, middles = _faces(points, cells, size)
        _, first, count = np.unique(
            np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
        )
        alone = first[count == 1]
        faces, middles = faces[alone], middles[alone]
        corners = points[faces]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = np.sum(across * (corners.mean(axis=1) - middles), axis=1) < 0
        faces = np.where(inward[:, None], faces[:, ::-1], faces)
        triangles += [faces[:, [0, k, k + 1]] for k in range(1, size - 1)]
    return Surface(points, np.concatenate(triangles), name)


def _faces(points: Float[np.ndarray, "n 3"], cells: Mapping, size: int):
    """All faces of `size` corners, and the center of the cell of each."""
    faces, middles = [np.zeros((0, size), int)], [np.zeros((0, 3))]
    for kind, found in cells.items():
        known = FACES[_solid(kind) or kind]
        middle = points[found[:, : 1 + max(map(max, known))]].mean(axis=1)
        for face in known:
            if len(face) == size:
                faces.append(found[:, face])
                middles.append(middle)
    return np.concatenate(faces).astype(int), np.concatenate(middles)
