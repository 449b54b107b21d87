"""Features of a shape that make fields rough: holes, and in the plane reentrant corners.

Fields wind around holes, and their slope is infinite at corners that point into the domain. Models add
functions centered in the holes and at the corners.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import AbstractLeaf, AbstractShape, Boundary
from pgt.geometry.walls import kept_of

# A corner counts if the angle of the domain there is larger than this many half turns.
MIN_CORNER_TURN = 1.15
MAX_CORNERS, MAX_HOLES = 12, 8  # Smaller corners and holes beyond these numbers are left out.
# A hole has more than this share of its boundary in the domain; else it is a notch.
MIN_HOLE_SHARE = 0.9
# A round notch has more than this share of its boundary in the domain.
MIN_NOTCH_SHARE = 0.1
# In a round notch the largest distance of the wall from the middle is at most this times the least.
MAX_RADIUS_RATIO = 1.25
# The largest number of centers in one hole.
MAX_CENTERS = 6
# A wall point is seen from a center if it is at most this many times as far as the nearest one.
MAX_WALL_DISTANCE_RATIO = 1.5
# The number of places in a hole that are candidates for centers.
CENTERS_TRIED = 2048
# A new loop of a boundary begins after a step of more than this many times the usual one.
MAX_STEP_RATIO = 3.0
# The number of points on a small circle that measures the angle at a corner.
CIRCLE_POINTS = 720
# The radius of that circle in units of the size of the shape.
CIRCLE_RADIUS = 1e-4


class Holes(NamedTuple):
    """Centers in the holes, one per round hole and several per other hole, and distances to walls."""

    centres: Float[np.ndarray, "h d"]
    radii: Float[np.ndarray, " h"]


class Corners(NamedTuple):
    """The places of corners, the directions into the domain, and the angles of the domain there."""

    places: Float[np.ndarray, "c 2"]
    directions: Float[np.ndarray, " c"]
    angles: Float[np.ndarray, " c"]


def holes_of(solid: AbstractShape, most: int = MAX_CENTERS) -> Holes:
    """The holes of a shape: simple shapes, holes of a polygon, and parts of a formula.

    Functions around a center represent a field near the largest circle around it in the hole, and not
    much farther. So a hole that is not round has up to `most` centers.

    >>> from pgt.geometry import Disk
    >>> holes_of(Disk(radius=2) - Disk((0.5, 0), 0.3)).centres.tolist()
    [[0.5, 0.0]]
    """
    discs = [disc for middle, _, left in _largest(solid) for disc in _discs(middle, left, most)]
    centres = np.array([centre for centre, _ in discs]).reshape(-1, solid.dimension)
    return Holes(centres, np.array([radius for _, radius in discs]))


@lru_cache(maxsize=8)
def _largest(solid: AbstractShape):
    """The middle, the radius and the walls of each of the largest holes."""
    found = [
        _hole(solid, leaf, own, len(loops) == 1 and not leaf.is_sought)
        for leaf in solid.leaves()
        for loops in [_loops(leaf.boundary(512))]
        for own in loops
    ]
    return sorted((hole for hole in found if hole), key=lambda hole: -hole[1])[:MAX_HOLES]


def _hole(solid: AbstractShape, leaf: AbstractLeaf, loop: Boundary, is_whole_leaf: bool):
    """The middle, radius and walls of the hole inside a loop of a boundary; None where it is no hole."""
    ends = leaf.bounds() if is_whole_leaf else (loop.points.min(axis=0), loop.points.max(axis=0))
    walls, middle = kept_of(solid, leaf, loop), np.mean(ends, axis=0)
    if not len(walls.points) or not np.isfinite(middle).all():
        return None
    points_inwards = np.sum((walls.points - middle) * walls.normals, axis=1) < 0
    distance = np.linalg.norm(walls.points - middle, axis=1)
    is_hole = len(walls.points) > MIN_HOLE_SHARE * len(loop.points)  # else it is a notch
    is_round = distance.max() < MAX_RADIUS_RATIO * distance.min() and len(
        walls.points
    ) > MIN_NOTCH_SHARE * len(loop.points)
    if not (is_hole or is_round) or points_inwards.mean() <= 0.9 or solid.inside(middle[None])[0]:
        return None
    return middle, distance.min(), walls


def _discs(middle, walls: Boundary, most: int):
    """The centers and radii of discs in a hole, from which together all its walls are seen.

    The first disc is in the middle, and a round hole needs no other. Each further disc sees the wall
    point that the others see worst, and as much as possible of the walls that they do not see.
    """
    lower, upper = walls.points.min(axis=0), walls.points.max(axis=0)
    places = np.concatenate(
        [middle[None], lower + (upper - lower) * evenly(CENTERS_TRIED, len(middle))]
    )
    radii, nearest = KDTree(walls.points).query(places)
    is_in_hole = np.sum((places - walls.points[nearest]) * walls.normals[nearest], axis=1) > 0
    is_in_hole[0] = True
    places, radii = places[is_in_hole], np.maximum(radii[is_in_hole], np.finfo(float).tiny)
    relative_distance = np.linalg.norm(places[:, None] - walls.points, axis=-1) / radii[:, None]
    sees, chosen = relative_distance < MAX_WALL_DISTANCE_RATIO, [0]
    while len(chosen) < most and not sees[chosen].any(axis=0).all():
        worst = int(np.argmax(relative_distance[chosen].min(axis=0)))
        gain = (sees & ~sees[chosen].any(axis=0)) @ walls.weights
        sees_worst = (
            sees[:, worst]
            if sees[:, worst].any()
            else relative_distance[:, worst] == relative_distance[:, worst].min()
        )
        chosen.append(int(np.argmax(np.where(sees_worst, gain, -1.0))))
    return [(places[k], radii[k]) for k in chosen]


def _loops(own: Boundary) -> list[Boundary]:
    """The connected loops of a boundary in the plane, such as an outline and its holes."""
    if own.points.shape[1] == 3:
        return [own]
    step = np.linalg.norm(np.diff(own.points, axis=0), axis=1)
    usual = (own.weights[:-1] + own.weights[1:]) / 2
    ends = np.flatnonzero(step > MAX_STEP_RATIO * usual) + 1
    return [own.take(rows) for rows in np.split(np.arange(len(own.points)), ends)]


def corners_of(solid: AbstractShape) -> Corners:
    """The reentrant corners, at which the angle of the domain is more than half a turn.

    >>> from pgt.geometry import Rectangle
    >>> found = corners_of(Rectangle((-1, 1), (-1, 1)) - Rectangle((0, 1), (-1, 0)))
    >>> found.places.tolist(), (found.angles / np.pi).round(2).tolist()
    ([[0.0, 0.0]], [1.5])
    """
    candidates = np.concatenate([leaf.corners() for leaf in solid.leaves()])
    lower, upper = solid.bounds()
    step = CIRCLE_RADIUS * float(np.linalg.norm(upper - lower))
    turn = 2 * np.pi * (np.arange(CIRCLE_POINTS) + 0.5) / CIRCLE_POINTS
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    found = []
    for place in np.unique(candidates, axis=0):
        inside = solid.inside(place + step * circle)
        changes = int(np.sum(inside != np.roll(inside, 1)))
        angle = 2 * np.pi * float(inside.mean())
        if changes == 2 and MIN_CORNER_TURN * np.pi < angle:
            middle = circle[~inside].mean(
                axis=0
            )  # the middle of the outside, opposite to which the domain lies
            found.append((*place, np.arctan2(-middle[1], -middle[0]), angle))
    table = np.array(sorted(found, key=lambda row: -row[3])[:MAX_CORNERS]).reshape(-1, 4)
    return Corners(table[:, :2], table[:, 2], table[:, 3])
