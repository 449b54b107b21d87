"""What makes fields rough in a shape: holes, around which they wind, and in the plane corners that
point into the domain, at which their slope is infinite."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import AbstractLeaf, AbstractShape, Boundary
from pgt.geometry.walls import kept_of

# Corners with a smaller angle, in half turns, are nearly straight and bend no field.
MIN_CORNER_TURN = 1.15
MOST_CORNERS, MOST_HOLES = 12, 8
# A hole has more than this share of its boundary in the domain; else it is a notch.
MIN_HOLE_SHARE = 0.9
# A round notch has more than this share of its boundary in the domain.
MIN_NOTCH_SHARE = 0.1
# In a round notch the largest distance of the wall from the middle is at most this times the least.
MAX_RADIUS_RATIO = 1.25
# The largest number of centers in one hole.
MAX_CENTERS = 6
# A wall is seen from a center if it is at most so many times as far as the nearest one.
MAX_WALL_DISTANCE_RATIO = 1.5
# The number of places in a hole that are tried as centers.
CENTERS_TRIED = 2048
# A boundary goes on elsewhere after a step that exceeds the usual one by this factor.
MAX_STEP_RATIO = 3.0
# The angle at a corner is measured with so many points on a small circle.
CIRCLE_POINTS = 720
# The radius of that circle in units of the size of the shape.
CIRCLE_RADIUS = 1e-4


class Holes(NamedTuple):
    """Centres inside them, one of a round hole and several of others, and how near the domain comes."""

    centres: Float[np.ndarray, "h d"]
    radii: Float[np.ndarray, " h"]


class Corners(NamedTuple):
    """Where they are, the direction into the middle of the domain, and the angle of the domain there."""

    places: Float[np.ndarray, "c 2"]
    directions: Float[np.ndarray, " c"]
    angles: Float[np.ndarray, " c"]


def holes_of(solid: AbstractShape, most: int = MAX_CENTERS) -> Holes:
    """What was taken out of the whole: simple shapes, holes of a polygon, parts of a formula.

    Functions about a centre follow a field as far as the largest circle in the hole reaches, and not
    much farther: a hole that is not round has up to `most` centres.

    >>> from pgt.geometry import Disk
    >>> holes_of(Disk(radius=2) - Disk((0.5, 0), 0.3)).centres.tolist()
    [[0.5, 0.0]]
    """
    discs = [disc for middle, _, left in _largest(solid) for disc in _discs(middle, left, most)]
    centres = np.array([centre for centre, _ in discs]).reshape(-1, solid.dimension)
    return Holes(centres, np.array([radius for _, radius in discs]))


@lru_cache(maxsize=8)
def _largest(solid: AbstractShape):
    """Of the largest holes, the middle, the radius and the walls."""
    found = [
        _hole(solid, leaf, own, len(loops) == 1 and not leaf.is_sought)
        for leaf in solid.leaves()
        for loops in [_loops(leaf.boundary(512))]
        for own in loops
    ]
    return sorted((hole for hole in found if hole), key=lambda hole: -hole[1])[:MOST_HOLES]


def _hole(solid: AbstractShape, leaf: AbstractLeaf, own: Boundary, alone: bool):
    """Middle, radius and walls of what a loop of a simple shape's boundary leaves out; None where it is
    none."""
    ends = leaf.bounds() if alone else (own.points.min(axis=0), own.points.max(axis=0))
    left, middle = kept_of(solid, leaf, own), np.mean(ends, axis=0)
    if not len(left.points) or not np.isfinite(middle).all():
        return None
    inwards = np.sum((left.points - middle) * left.normals, axis=1) < 0
    away = np.linalg.norm(left.points - middle, axis=1)
    whole = len(left.points) > MIN_HOLE_SHARE * len(own.points)  # else it is a notch
    is_round = away.max() < MAX_RADIUS_RATIO * away.min() and len(
        left.points
    ) > MIN_NOTCH_SHARE * len(own.points)
    if not (whole or is_round) or inwards.mean() <= 0.9 or solid.inside(middle[None])[0]:
        return None
    return middle, away.min(), left


def _discs(middle, walls: Boundary, most: int):
    """Centres and radii of the middle or, of a hole that is not round, of discs inside it from which its
    walls are seen: each sees what the others see worst, and of such the most of what they do not see."""
    lower, upper = walls.points.min(axis=0), walls.points.max(axis=0)
    places = np.concatenate(
        [middle[None], lower + (upper - lower) * evenly(CENTERS_TRIED, len(middle))]
    )
    radii, nearest = KDTree(walls.points).query(places)
    within = np.sum((places - walls.points[nearest]) * walls.normals[nearest], axis=1) > 0
    within[0] = True
    places, radii = places[within], np.maximum(radii[within], np.finfo(float).tiny)
    far = np.linalg.norm(places[:, None] - walls.points, axis=-1) / radii[:, None]
    sees, chosen = far < MAX_WALL_DISTANCE_RATIO, [0]
    while len(chosen) < most and not sees[chosen].any(axis=0).all():
        worst = int(np.argmax(far[chosen].min(axis=0)))
        gain = (sees & ~sees[chosen].any(axis=0)) @ walls.weights
        seeing = sees[:, worst] if sees[:, worst].any() else far[:, worst] == far[:, worst].min()
        chosen.append(int(np.argmax(np.where(seeing, gain, -1.0))))
    return [(places[k], radii[k]) for k in chosen]


def _loops(own: Boundary) -> list[Boundary]:
    """In the plane, what of a boundary hangs together: an outline and its holes are one simple shape."""
    if own.points.shape[1] == 3:
        return [own]
    step = np.linalg.norm(np.diff(own.points, axis=0), axis=1)
    usual = (own.weights[:-1] + own.weights[1:]) / 2
    ends = np.flatnonzero(step > MAX_STEP_RATIO * usual) + 1
    return [own.take(rows) for rows in np.split(np.arange(len(own.points)), ends)]


def corners_of(solid: AbstractShape) -> Corners:
    """The corners at which the domain takes more than half a turn.

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
            middle = circle[~inside].mean(axis=0)  # of what is outside: the domain lies opposite
            found.append((*place, np.arctan2(-middle[1], -middle[0]), angle))
    table = np.array(sorted(found, key=lambda row: -row[3])[:MOST_CORNERS]).reshape(-1, 4)
    return Corners(table[:, :2], table[:, 2], table[:, 3])
