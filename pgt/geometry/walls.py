"""The boundary of a shape that is put together of others.

Every simple shape knows points of its own boundary. Such a point is on the boundary of the whole where,
of the two places just beside it along the normal, one is inside the whole and the other is not; and the
normal points from the one to the other. Where the boundaries of two simple shapes lie on each other, the
first of them keeps the points.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import KDTree

from pgt.core.errors import InputError
from pgt.geometry.shape import AbstractLeaf, AbstractShape, Boundary, Places

COUNTS = {
    2: 1 << 13,
    3: 1 << 16,
}  # points of every simple shape: a wall that is cut is known to 1e-4
# The place where a wall is cut is found by so many bisections between two points.
BISECTIONS = 20
# Neighbors whose normals have a smaller cosine have a corner between them.
MIN_STRAIGHT_COSINE = 0.9
# Points beside a wall lie this far from it, in sizes of the simple shape.
OFFSET_FROM_WALL = 1e-6


@lru_cache(maxsize=64)
def parts_of(
    shape: AbstractShape, name: str | None = None, count: int | None = None
) -> tuple[Boundary, ...]:
    """Points of the boundary, by the simple shapes that made them; with a name, of those called so."""
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
    """The points of a simple shape's boundary that are on that of the whole, and on none `before`."""
    found = leaf.boundary(count)
    return found if leaf is shape else kept_of(shape, leaf, found, before)


def kept_of(
    shape: AbstractShape,
    leaf: AbstractLeaf,
    found: Boundary,
    before: tuple[AbstractLeaf, ...] = (),
) -> Boundary:
    """Of points of a simple shape's boundary, those that `kept` keeps."""
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
    """How far the nearest wall is, below zero inside. What a shape that is put together of others says
    itself may be less: beside a corner, the nearest place of a simple shape may be no wall of the whole.
    That of a formula is right close to its wall."""
    found, leaves = shape.distance(points), shape.leaves()
    if len(leaves) == 1 and not leaves[0].is_sought:
        return found
    tree, apart = _wall_places(shape)
    away = tree.query(points)[0]
    is_other = np.abs(away - np.abs(found)) > apart
    return np.where(is_other, np.copysign(away, found), found)


@lru_cache(maxsize=8)
def _wall_places(shape: AbstractShape) -> tuple[KDTree, float]:
    """The points of its walls, and how far they are apart at the most, about."""
    found = shape.walls()
    return KDTree(found.points), float(found.weights.max() ** (1 / (shape.dimension - 1)))


def part_where(found: Boundary, holds: Callable) -> Boundary:
    """Of points of a boundary those where a condition holds, in the plane up to where it ends."""
    stays = holds(found.points)
    if found.points.shape[1] == 2:
        found = _up_to_the_cuts(found, stays, lambda part: holds(part.points))
    return found.take(stays)


def gather_points(parts: Sequence[Boundary], count: int) -> Boundary:
    """Points of walls in the plane, neighbours taken together until about `count` are left: each stands
    in the middle of its piece, with the mean of the normals there, and none on both sides of a corner."""
    parts = [part for part in parts if len(part.points)]
    size = -(-sum(len(part.points) for part in parts) // count)
    return Boundary.joined([_together(part, size) for part in parts])


def _together(part: Boundary, size: int) -> Boundary:
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
    """With the weights of those points that stay beside one that does not: they end at the cut, which is
    looked for along the wall. Points are in their order, as they are in the plane."""
    weights = found.weights.copy()
    number = np.arange(len(weights))
    for step in (1, -1):
        beside = np.roll(number, -step)
        last = np.flatnonzero(stays & ~stays[beside])
        if not len(last):  # asking a shape of many parts about no place takes time, too
            continue
        half = found.weights[last] / 2
        way, reach = _way(found, last, beside[last], half)
        low, high = np.zeros(len(last)), np.ones(len(last))
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            places = found.points[last] + (middle * reach)[:, None] * way
            still = stays_at(Boundary(places, found.normals[last], half))
            low, high = np.where(still, middle, low), np.where(still, high, middle)
        weights[last] += low * reach - half
    return found._replace(weights=weights)


def _way(found: Boundary, here, there, half):
    """The direction along the wall towards a neighbour, and how far to look: beyond a corner, or where
    the wall has no further point, not at all."""
    normals, towards = found.normals[here], found.points[there] - found.points[here]
    tangents = np.column_stack([-normals[:, 1], normals[:, 0]])
    along = np.sum(tangents * towards, axis=1)
    bent = np.sum(normals * found.normals[there], axis=1) < MIN_STRAIGHT_COSINE
    far = np.linalg.norm(towards, axis=1) > 1.5 * (half + found.weights[there] / 2)
    return np.sign(along)[:, None] * tangents, np.where(bent | far, half, np.abs(along))
