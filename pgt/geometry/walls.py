"""The boundary of a shape that combines simple shapes.

Every simple shape gives points of its own boundary. Such a point is on the boundary of the whole if one
of the two places just beside it along the normal is inside the whole and the other is not; the outward
normal points from the former to the latter. Where the boundaries of two simple shapes coincide, the first
of them keeps the points. In the plane, the end of a wall between two points is found by bisection.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import KDTree

from pgt.core.errors import InputError
from pgt.geometry.shape import AbstractLeaf, AbstractShape, Boundary, Places

# The number of points of every simple shape, by dimension. With these, the end of a cut wall is known to
# 1e-4; more are more exact and take longer.
COUNTS = {2: 1 << 13, 3: 1 << 16}
# The place where a wall is cut is found with this many bisections between two points.
BISECTIONS = 20
# There is a corner between neighbors whose normals have a smaller cosine than this.
MIN_STRAIGHT_COSINE = 0.9
# The places beside a wall are at this distance from it, in sizes of the simple shape.
OFFSET_FROM_WALL = 1e-6


@lru_cache(maxsize=64)
def parts_of(
    shape: AbstractShape, name: str | None = None, count: int | None = None
) -> tuple[Boundary, ...]:
    """The points of the boundary, one part per simple shape, or per simple shape of this name."""
    leaves = shape.leaves()
    count = count or COUNTS[shape.dimension]
    parts = [
        kept(shape, leaf, count, leaves[:k])
        for k, leaf in enumerate(leaves)
        if name is None or leaf.wall == name
    ]
    found = tuple(part for part in parts if len(part.points))
    if not found:
        what = (
            "the shape has no boundary" if name is None else f"nothing is left of the wall {name!r}"
        )
        raise InputError(f"{what}: the other shapes cover it, or leave nothing of it.")
    return found


def kept(
    shape: AbstractShape, leaf: AbstractLeaf, count: int, before: tuple[AbstractLeaf, ...] = ()
) -> Boundary:
    """The points of a simple shape's boundary that are on the whole's, and not on that of `before`."""
    found = leaf.boundary(count)
    return found if leaf is shape else kept_of(shape, leaf, found, before)


def kept_of(
    shape: AbstractShape,
    leaf: AbstractLeaf,
    found: Boundary,
    before: tuple[AbstractLeaf, ...] = (),
) -> Boundary:
    """The points among `found`, of a simple shape's boundary, that `kept` keeps."""
    lower, upper = leaf.bounds()
    step = OFFSET_FROM_WALL * float(np.linalg.norm(upper - lower))

    def stays_at(part: Boundary):
        within = shape.inside(part.points - step * part.normals)
        stays = within != shape.inside(part.points + step * part.normals)
        for other in before:
            stays[stays] = np.abs(other.distance(part.points[stays])) > step
        return stays, within

    stays, within = stays_at(found)
    if shape.dimension == 2:
        found = _up_to_the_cuts(found, stays, lambda part: stays_at(part)[0])
    sign = np.where(within, 1.0, -1.0)[:, None]
    return found._replace(normals=sign * found.normals).take(stays)


def to_walls(shape: AbstractShape, points: Places) -> Float[np.ndarray, " n"]:
    """The signed distance to the nearest wall, negative inside.

    The `distance` of a combined shape may be too small: beside a corner, the nearest place of a simple
    shape may not be on a wall of the whole. That of a formula is exact only close to its wall. Where it
    differs from the distance to the stored wall points, the latter is returned.
    """
    found, leaves = shape.distance(points), shape.leaves()
    if len(leaves) == 1 and not leaves[0].is_sought:
        return found
    tree, apart = _wall_places(shape)
    away = tree.query(points)[0]
    is_other = np.abs(away - np.abs(found)) > apart
    return np.where(is_other, np.copysign(away, found), found)


@lru_cache(maxsize=8)
def _wall_places(shape: AbstractShape) -> tuple[KDTree, float]:
    """A tree of the points of the walls, and about the largest distance between neighbors."""
    found = shape.walls()
    return KDTree(found.points), float(found.weights.max() ** (1 / (shape.dimension - 1)))


def part_where(found: Boundary, holds: Callable) -> Boundary:
    """The part of a boundary where a condition holds; in the plane the weights end where it ends."""
    stays = holds(found.points)
    if found.points.shape[1] == 2:
        found = _up_to_the_cuts(found, stays, lambda part: holds(part.points))
    return found.take(stays)


def gather_points(parts: Sequence[Boundary], count: int) -> Boundary:
    """About `count` points of walls in the plane, each the mean of a run of neighboring points.

    Each has the mean normal of its run, and no run extends across a corner.
    """
    parts = [part for part in parts if len(part.points)]
    size = -(-sum(len(part.points) for part in parts) // count)
    return Boundary.joined([_merge_runs(part, size) for part in parts])


def _merge_runs(part: Boundary, size: int) -> Boundary:
    points, normals, weights = part
    gaps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    is_end = (np.sum(normals[1:] * normals[:-1], axis=1) < MIN_STRAIGHT_COSINE) | (
        gaps > 1.5 * (weights[1:] + weights[:-1]) / 2
    )
    number = np.arange(len(points))
    first = np.maximum.accumulate(np.where(np.append(True, is_end), number, 0))
    starts = np.flatnonzero((number - first) % size == 0)
    lengths = np.add.reduceat(weights, starts)
    points, normals = (
        np.add.reduceat(weights[:, None] * each, starts) / lengths[:, None]
        for each in (points, normals)
    )
    return Boundary(points, normals, lengths)


def _up_to_the_cuts(found: Boundary, stays: Bool[np.ndarray, " n"], stays_at: Callable) -> Boundary:
    """The boundary with corrected weights of the points next to a cut, so that they end at the cut.

    The cut between a point that stays and a neighbor that does not is found by bisection along the wall.
    The points must be in order along the wall, as they are in the plane.
    """
    weights = found.weights.copy()
    numbers = np.arange(len(weights))
    for step in (1, -1):
        neighbor = np.roll(numbers, -step)
        last_rows = np.flatnonzero(stays & ~stays[neighbor])
        if not len(last_rows):  # evaluating a shape of many parts at no points takes time, too
            continue
        half = found.weights[last_rows] / 2
        way, reach = _direction_and_reach(found, last_rows, neighbor[last_rows], half)
        low, high = np.zeros(len(last_rows)), np.ones(len(last_rows))
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            places = found.points[last_rows] + (middle * reach)[:, None] * way
            still_stays = stays_at(Boundary(places, found.normals[last_rows], half))
            low, high = np.where(still_stays, middle, low), np.where(still_stays, high, middle)
        weights[last_rows] += low * reach - half
    return found._replace(weights=weights)


def _direction_and_reach(found: Boundary, points, neighbors, half):
    """The direction along the wall towards a neighbor, and the length to search.

    Around a corner, or where the wall has no further point, it ends half a weight from the point.
    """
    normals, towards = found.normals[points], found.points[neighbors] - found.points[points]
    tangents = np.column_stack([-normals[:, 1], normals[:, 0]])
    along = np.sum(tangents * towards, axis=1)
    is_corner = np.sum(normals * found.normals[neighbors], axis=1) < MIN_STRAIGHT_COSINE
    is_gap = np.linalg.norm(towards, axis=1) > 1.5 * (half + found.weights[neighbors] / 2)
    return np.sign(along)[:, None] * tangents, np.where(is_corner | is_gap, half, np.abs(along))
