"""Polygons of any number of rings: outlines of one or several parts, and holes."""

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.geometry.point_location import Bins
from pgt.geometry.shape import (
    AbstractPlane,
    Boundary,
    Bounds,
    Ring,
    Rings,
    Word,
    along_edges,
    set_fields,
    wall_name,
)

Corner = tuple[float, float]
# Pairs of a point and an edge are processed in chunks of this size.
PAIRS_AT_ONCE = 1 << 22
# Corners closer than this share of the size are merged.
MERGE_DISTANCE = 1e-12


@register("polygon")
@dataclasses.dataclass(frozen=True, init=False)
class Polygon(AbstractPlane):
    """The points inside an odd number of rings: one ring is an outline, further ones inside it are holes.

    Parameters
    ----------
    corners
        (n, 2) corners of a ring in order, either way around.
    holes
        Further rings.
    name
        The name of its wall.

    >>> Polygon([(0, 0), (2, 0), (2, 2), (0, 2)], holes=[[(0.5, 0.5), (1, 0.5), (1, 1)]]).measure()
    3.875
    """

    rings: tuple[tuple[Corner, ...], ...]
    name: str | None = None

    def __init__(
        self,
        corners: Ring,
        holes: Rings = (),
        name: Word | None = None,
    ):
        is_number = getattr(holes, "shape", None) == ()  # an array without axes
        if is_number or not isinstance(holes, Iterable) or isinstance(holes, str | bytes | Mapping):
            raise InputError("Polygon(holes): write a list of rings, each with its corners.")
        rings = [_ring(corners, "corners"), *(_ring(h, f"hole {k}") for k, h in enumerate(holes))]
        set_fields(self, rings=tuple(rings), name=wall_name("Polygon", name))
        _check_crossings(*self._edges)
        for k, ring in enumerate(self.rings[1:]):
            if not Polygon.of_rings(self.rings[:1]).inside(np.array(ring), 1e-9).all():
                raise InputError(
                    f"Polygon: hole {k} is not inside the outline; make it smaller, or give both as "
                    "shapes and write a - b."
                )

    @classmethod
    def of_rings(cls, rings, name: str | None = None) -> "Polygon":
        """The polygon of valid rings, which are outlines and holes of one or several parts."""
        polygon = object.__new__(cls)
        set_fields(polygon, rings=tuple(_ring(ring, "ring") for ring in rings), name=name)
        return polygon

    @cached_property
    def _edges(self) -> tuple[Float[np.ndarray, "e 2"], Float[np.ndarray, "e 2"]]:
        rings = [np.array(ring) for ring in self.rings]
        return np.concatenate(rings), np.concatenate([np.roll(r, -1, axis=0) for r in rings])

    @cached_property
    def _across(self) -> int:
        """The axis whose bins hold the edges; rays run along the other axis.

        It is the axis along which edges are short, so that a bin holds few of them.
        """
        start, end = self._edges
        lower, upper = self.bounds()
        return int(np.argmin(np.abs(end - start).sum(axis=0) / (upper - lower)))

    @cached_property
    def _bins(self) -> Bins:
        """The edges in bins of the coordinate `_across`."""
        start, end = (ends[:, self._across, None] for ends in self._edges)
        return Bins.build(
            np.minimum(start, end), np.maximum(start, end), min(8 * len(start), 1 << 16)
        )

    def inside(self, points, slack=0.0) -> Bool[np.ndarray, " n"]:
        points = self.as_places(points)
        is_inside, columns = np.zeros(len(points), bool), [1 - self._across, self._across]
        start, end = (ends[:, columns] for ends in self._edges)
        oriented = points[:, columns]
        for rows, edges in self._bins.pairs(oriented[:, 1:]):
            (px, py), (ax, ay), (bx, by) = oriented[rows].T, start[edges].T, end[edges].T
            is_crossed = (ay > py) != (by > py)
            is_beyond = (px - ax) * (by - ay) < (bx - ax) * (py - ay)
            is_inside[rows] ^= is_crossed & (is_beyond == (by > ay))
        if slack:
            is_inside[self._near(points, abs(slack))] = slack > 0
        return is_inside

    def _near(self, points, slack: float) -> Bool[np.ndarray, " n"]:
        """Which points are no farther than `slack` from an edge."""
        near = np.zeros(len(points), bool)
        start, end = self._edges
        low, high = np.minimum(start, end), np.maximum(start, end)
        for rows, edges in self._bins.pairs(points[:, self._across, None]):
            close = np.all(
                (points[rows] >= low[edges] - slack) & (points[rows] <= high[edges] + slack), axis=1
            )
            rows, edges = rows[close], edges[close]
            near[rows] |= _to_edge(points[rows], start[edges], end[edges]) <= slack
        return near

    def distance(self, points):
        points = np.asarray(points, float)
        start, end = self._edges
        size = np.full(len(points), np.inf)
        step = max(PAIRS_AT_ONCE // len(start), 1)
        for first in range(0, len(points), step):
            part = slice(first, first + step)
            size[part] = _to_edge(points[part, None], start, end).min(axis=1)
        return np.where(self.inside(points), -size, size)

    def bounds(self) -> Bounds:
        start, _ = self._edges
        return start.min(axis=0), start.max(axis=0)

    def corners(self):
        return self._edges[0]

    def boundary(self, count: int) -> Boundary:
        found = along_edges(*self._edges, count)
        # A ring may run either way around, so the inside decides which normal is outward.
        lower, upper = self.bounds()
        step = 1e-9 * float(np.linalg.norm(upper - lower))
        outward = self.inside(found.points - step * found.normals)
        return found._replace(normals=np.where(outward[:, None], 1.0, -1.0) * found.normals)


def _to_edge(points, start, end):
    """The distance from points to edges."""
    along, away = end - start, points - start
    share = np.sum(away * along, axis=-1) / np.maximum(np.sum(along**2, axis=-1), 1e-300)
    return np.linalg.norm(away - np.clip(share, 0, 1)[..., None] * along, axis=-1)


def _ring(corners, which: str) -> tuple[Corner, ...]:
    where = f"Polygon({which})"
    try:
        ring: np.ndarray = np.asarray(corners, float)
    except (TypeError, ValueError, OverflowError):
        ring = np.zeros((0, 0))
    if ring.ndim != 2 or ring.shape[1] != 2:
        raise InputError(f"{where}: write corners as pairs of numbers, [(0, 0), (1, 0), (0, 1)].")
    if not np.isfinite(ring).all():
        row = int(np.argwhere(~np.isfinite(ring))[0][0])
        raise InputError(f"{where}: corner {row} is not finite.")
    size = float(np.ptp(ring, axis=0).max()) if len(ring) else 0.0
    kept = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1) > MERGE_DISTANCE * size
    ring = ring[kept]  # a ring may repeat a corner, and its first one at the end
    if len(ring) < 3:
        raise InputError(
            f"{where}: a ring needs three different corners, this one has {len(ring)}."
        )
    if np.linalg.svd(ring - ring.mean(axis=0), compute_uv=False).min() <= MERGE_DISTANCE * size:
        raise InputError(f"{where}: all corners lie on one line; the ring has no area.")
    return tuple((float(x), float(y)) for x, y in ring)


def _check_crossings(start, end) -> None:
    """Raise for edges that cross or overlap; edges that share only a corner are allowed."""
    count = len(start)
    for first in range(0, count, max(PAIRS_AT_ONCE // count, 1)):
        part = np.arange(first, min(first + max(PAIRS_AT_ONCE // count, 1), count))
        a, b = start[part, None], end[part, None]
        sides = _turn(a, b, start) * _turn(a, b, end) < 0
        other = _turn(start, end, a) * _turn(start, end, b) < 0
        on_line = (_turn(a, b, start) == 0) & (_turn(a, b, end) == 0)
        on_line[np.arange(len(part)), part] = False
        upon = on_line & _overlap(a, b, start, end)
        found = np.argwhere((sides & other) | upon)
        if len(found):
            i, j = int(part[found[0][0]]), int(found[0][1])
            how = "lies on" if upon[tuple(found[0])] else "crosses"
            raise InputError(
                f"Polygon: the edge from {_shown(start[i])} to {_shown(end[i])} {how} that from "
                f"{_shown(start[j])} to {_shown(end[j])}; give the corners in order along the outline."
            )


def _overlap(a, b, c, d):
    """Whether the edge c–d, on the line through a and b, overlaps the edge a–b in more than a point."""
    along = b - a
    length = np.sum(along**2, axis=-1)
    p, q = (np.sum((end - a) * along, axis=-1) / length for end in (c, d))
    return np.minimum(np.maximum(p, q), 1.0) - np.maximum(np.minimum(p, q), 0.0) > 1e-9


def _turn(a, b, c):
    """A positive number where c is to the left of the line from a to b, and exactly zero on it."""
    (ux, uy), (vx, vy) = np.moveaxis(b - a, -1, 0), np.moveaxis(c - a, -1, 0)
    found = ux * vy - uy * vx
    return np.where(np.abs(found) > 1e-12 * (np.abs(ux * vy) + np.abs(uy * vx)), found, 0.0)


def _shown(corner) -> str:
    return f"({corner[0]:g}, {corner[1]:g})"
