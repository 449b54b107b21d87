"""Shapes from meshes: the outline of triangles in the plane, the surface of solid cells in space."""

import re
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int

from pgt.core.errors import InputError
from pgt.geometry.polygon import Polygon
from pgt.geometry.shape import AbstractShape
from pgt.geometry.surface import Surface

FLAT = 1e-9  # of its size: a mesh no higher than that lies in the plane
# By meshio's names the corners of a cell's faces; in cells of higher order others follow between them.
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
    """What the cells of a mesh cover, by meshio's names of them.

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
        return _surface(points, solids, name)
    triangles = _triangles(cells)
    if not len(triangles):
        known = ", ".join(cells) or "none at all"
        raise InputError(f"the mesh has no triangles, quads or solid cells; its cells are {known}.")
    used = points[np.unique(triangles)]
    height = np.ptp(used[:, 2]) if points.shape[1] == 3 else 0.0
    if height > FLAT * np.ptp(used, axis=0).max():
        return Surface(points, triangles, name)
    return Polygon.of_rings(_outline(points[:, :2], triangles), name)


def _triangles(cells: Mapping[str, np.ndarray]) -> Int[np.ndarray, "f 3"]:
    """Triangles, and quads as two of them."""
    found = [np.zeros((0, 3), int)]
    found += [cells[kind][:, :3] for kind in ("triangle", "triangle6") if kind in cells]
    for kind in ("quad", "quad8", "quad9"):
        if kind in cells:
            found += [cells[kind][:, [0, 1, 2]], cells[kind][:, [0, 2, 3]]]
    return np.concatenate(found).astype(int)


def _outline(points: Float[np.ndarray, "n 2"], triangles: Int[np.ndarray, "f 3"]) -> list:
    """Rings of the edges that belong to one triangle only, joined end to end."""
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    triangles = np.where((area < 0)[:, None], triangles[:, ::-1], triangles)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, first, count = np.unique(
        np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True
    )
    if (count > 2).any():
        raise InputError("the mesh has an edge with more than two triangles: it does not lie flat.")
    after: dict[int, list[int]] = {}
    for start, end in edges[first[count == 1]].tolist():
        after.setdefault(start, []).append(end)
    rings = []
    while after:
        ring = [next(iter(after))]
        while ring[-1] in after:
            ends = after[ring[-1]]
            ring.append(ends.pop())
            if not ends:
                del after[ring[-2]]
        if ring[0] != ring[-1]:
            raise InputError("the outline of the mesh does not close.")
        rings.append(points[ring[:-1]])
    return rings


def _solid(kind: str) -> str | None:
    """The kind of a solid cell, whatever its order: "tetra" for "tetra10"."""
    return next((known for known in FACES if re.fullmatch(known + r"\d*", kind)), None)


def _surface(points: Float[np.ndarray, "n 3"], cells: Mapping, name: str | None) -> Surface:
    """The faces that belong to one cell only, seen from outside."""
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
    """All faces of so many corners, and the middle of the cell that each belongs to."""
    faces, middles = [np.zeros((0, size), int)], [np.zeros((0, 3))]
    for kind, found in cells.items():
        known = FACES[_solid(kind) or kind]
        middle = points[found[:, : 1 + max(map(max, known))]].mean(axis=1)
        for face in known:
            if len(face) == size:
                faces.append(found[:, face])
                middles.append(middle)
    return np.concatenate(faces).astype(int), np.concatenate(middles)
