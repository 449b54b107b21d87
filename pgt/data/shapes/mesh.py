"""Shapes from meshes: the outline of triangles in the plane, the surface of tetrahedra in space."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int

from pgt.data.shapes.base import AbstractShape
from pgt.data.shapes.polygon import Polygon
from pgt.data.shapes.surface import Surface
from pgt.ground.errors import InputError

FLAT = 1e-9  # of its size: a mesh no higher than that lies in the plane
# The faces of a tetrahedron whose fourth corner is above the first three, seen from outside.
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def shape_of_mesh(
    points: Float[np.ndarray, "n k"], cells: Mapping[str, np.ndarray], name: str | None = None
) -> AbstractShape:
    """What the cells of a mesh cover, by meshio's names of them.

    >>> square = np.array([[0.0, 0.0], [1, 0], [1, 1], [0, 1]])
    >>> shape_of_mesh(square, {"triangle": np.array([[0, 1, 2], [0, 2, 3]])}).measure()
    1.0
    """
    if not np.isfinite(points).all():
        raise InputError("the mesh has a point that is not finite.")
    if "tetra" in cells:
        return _surface(points, cells["tetra"][:, :4], name)
    triangles = _triangles(cells)
    if not len(triangles):
        known = ", ".join(cells) or "none at all"
        raise InputError(f"the mesh has no triangles, quads or tetrahedra; its cells are {known}.")
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


def _surface(points: Float[np.ndarray, "n 3"], cells, name: str | None) -> Surface:
    """The faces that belong to one tetrahedron only, seen from outside."""
    a, b, c, d = np.moveaxis(points[cells], 1, 0)
    turned = np.sum(np.cross(b - a, c - a) * (d - a), axis=1) < 0
    cells = np.where(turned[:, None], cells[:, [0, 2, 1, 3]], cells)
    faces = cells[:, FACES].reshape(-1, 3)
    _, first, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    return Surface(points, faces[first[count == 1]], name)
