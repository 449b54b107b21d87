"""The boundary of a shape that is put together of others.

Every simple shape knows points of its own boundary. Such a point is on the boundary of the whole where,
of the two places just beside it along the normal, one is inside the whole and the other is not; and the
normal points from the one to the other. Where the boundaries of two simple shapes lie on each other, the
first of them keeps the points.
"""

from functools import lru_cache

import numpy as np

from pgt.data.shapes.base import AbstractLeaf, AbstractShape, Boundary
from pgt.ground.errors import InputError

COUNTS = {
    2: 1 << 13,
    3: 1 << 16,
}  # points of every simple shape: a wall that is cut is known to 1e-4
BESIDE = 1e-6  # of a simple shape's size, from its boundary to the places beside it


@lru_cache(maxsize=64)
def boundary_of(
    shape: AbstractShape, name: str | None = None, count: int | None = None
) -> Boundary:
    """Points of the boundary; with a name, of the walls called so."""
    leaves = shape.leaves()
    count = count or COUNTS[shape.dimension]
    parts = [
        kept(shape, leaf, count, leaves[:k])
        for k, leaf in enumerate(leaves)
        if name is None or leaf.wall == name
    ]
    found = Boundary.joined(parts)
    if not len(found.points):
        what = (
            "the shape has no boundary" if name is None else f"nothing is left of the wall {name!r}"
        )
        raise InputError(f"{what}: the other shapes cover it, or leave nothing of it.")
    return found


def kept(
    shape: AbstractShape, leaf: AbstractLeaf, count: int, before: tuple[AbstractLeaf, ...] = ()
) -> Boundary:
    """The points of a simple shape's boundary that are on that of the whole, and on none `before`."""
    found = leaf.boundary(count)
    if leaf is shape:
        return found
    lower, upper = leaf.bounds()
    step = BESIDE * float(np.linalg.norm(upper - lower))
    within = shape.inside(found.points - step * found.normals)
    beyond = shape.inside(found.points + step * found.normals)
    stays = within != beyond
    for other in before:
        stays[stays] = np.abs(other.distance(found.points[stays])) > step
    sign = np.where(within, 1.0, -1.0)[:, None]
    return found._replace(normals=sign * found.normals).take(stays)
