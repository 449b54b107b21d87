"""Simple shapes of the plane and of space."""

import dataclasses

import numpy as np

from pgt.core.registry import register
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import (
    AbstractPlane,
    AbstractSolid,
    Boundary,
    Bounds,
    Interval,
    Length,
    Pair,
    PositivePair,
    Triple,
    Word,
    along_edges,
)


@register("disk")
@dataclasses.dataclass(frozen=True)
class Disk(AbstractPlane):
    """All points no farther than `radius` from `centre`.

    >>> round(Disk(radius=2).measure() / np.pi, 6)
    4.0
    """

    centre: Pair = (0.0, 0.0)
    radius: Length = 1.0
    name: Word | None = None

    def distance(self, points):
        return np.linalg.norm(points - np.array(self.centre), axis=1) - self.radius

    def bounds(self) -> Bounds:
        centre = np.array(self.centre)
        return centre - self.radius, centre + self.radius

    def boundary(self, count: int) -> Boundary:
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        normals = np.column_stack([np.cos(angle), np.sin(angle)])
        weights = np.full(count, 2 * np.pi * self.radius / count)
        return Boundary(np.array(self.centre) + self.radius * normals, normals, weights)


@register("ellipse")
@dataclasses.dataclass(frozen=True)
class Ellipse(AbstractPlane):
    """An ellipse along the axes; `radii` are half the width and half the height.

    >>> round(Ellipse(radii=(2, 1)).measure() / np.pi, 6)
    2.0
    """

    centre: Pair = (0.0, 0.0)
    radii: PositivePair = (2.0, 1.0)
    name: Word | None = None

    def distance(self, points):
        """The signed distance, by Newton steps for the angle of the nearest point in one quadrant."""
        away = np.abs(points - np.array(self.centre))
        a, b = self.radii
        angle = np.arctan2(a * away[:, 1], b * away[:, 0])
        for _ in range(12):
            cos, sin = np.cos(angle), np.sin(angle)
            slope = (b**2 - a**2) * cos * sin + a * away[:, 0] * sin - b * away[:, 1] * cos
            bend = (b**2 - a**2) * (cos**2 - sin**2) + a * away[:, 0] * cos + b * away[:, 1] * sin
            step = slope / np.where(np.abs(bend) > 1e-12 * a * b, np.abs(bend), a * b)
            angle = np.clip(angle - step, 0.0, np.pi / 2)
        nearest = np.column_stack([a * np.cos(angle), b * np.sin(angle)])
        size = np.linalg.norm(away - nearest, axis=1)
        return np.where(np.sum((away / np.array(self.radii)) ** 2, axis=1) <= 1, -size, size)

    def bounds(self) -> Bounds:
        centre, radii = np.array(self.centre), np.array(self.radii)
        return centre - radii, centre + radii

    def boundary(self, count: int) -> Boundary:
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        a, b = self.radii
        normals = circle * [b, a]
        speed = np.linalg.norm(normals, axis=1)
        weights = speed * 2 * np.pi / count
        return Boundary(np.array(self.centre) + circle * [a, b], normals / speed[:, None], weights)


@register("rectangle")
@dataclasses.dataclass(frozen=True)
class Rectangle(AbstractPlane):
    """A rectangle along the axes, with the limits `x` and `y`.

    >>> Rectangle(x=(0, 2), y=(0, 3)).measure()
    6.0
    """

    x: Interval
    y: Interval
    name: Word | None = None

    def distance(self, points):
        return box_distance(points, *self.bounds())

    def bounds(self) -> Bounds:
        return np.array([self.x[0], self.y[0]]), np.array([self.x[1], self.y[1]])

    def corners(self):
        (left, right), (low, high) = self.x, self.y
        return np.array([[left, low], [right, low], [right, high], [left, high]])

    def boundary(self, count: int) -> Boundary:
        corners = self.corners()
        return along_edges(corners, np.roll(corners, -1, axis=0), count)


def box_distance(points, lower, upper):
    """The signed distance from a box along the axes."""
    beyond = np.maximum(lower - points, points - upper)
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return outside + np.minimum(beyond.max(axis=1), 0.0)


# ------------------------------------------------------------------------------- space


@register("ball")
@dataclasses.dataclass(frozen=True)
class Ball(AbstractSolid):
    """All points no farther than `radius` from `centre`.

    >>> round(Ball(radius=2).walls().weights.sum().item() / np.pi, 6)
    16.0
    """

    centre: Triple = (0.0, 0.0, 0.0)
    radius: Length = 1.0
    name: Word | None = None

    def distance(self, points):
        return np.linalg.norm(points - np.array(self.centre), axis=1) - self.radius

    def bounds(self) -> Bounds:
        centre = np.array(self.centre)
        return centre - self.radius, centre + self.radius

    def boundary(self, count: int) -> Boundary:
        around, along = evenly(count, 2).T
        height = 2 * along - 1  # equal heights have equal areas (Archimedes)
        normals = np.column_stack([_circle(around) * np.sqrt(1 - height**2)[:, None], height])
        weights = np.full(count, 4 * np.pi * self.radius**2 / count)
        return Boundary(np.array(self.centre) + self.radius * normals, normals, weights)


@register("cylinder")
@dataclasses.dataclass(frozen=True)
class Cylinder(AbstractSolid):
    """A cylinder along z, with the limits `z`; `rotated` changes its direction.

    >>> round(Cylinder(radius=1, z=(0, 2)).measure() / np.pi, 3)
    2.0
    """

    centre: Pair = (0.0, 0.0)
    radius: Length = 1.0
    z: Interval = (0.0, 1.0)
    name: Word | None = None

    def distance(self, points):
        away = np.linalg.norm(points[:, :2] - np.array(self.centre), axis=1) - self.radius
        beyond = np.maximum(self.z[0] - points[:, 2], points[:, 2] - self.z[1])
        outside = np.hypot(np.maximum(away, 0), np.maximum(beyond, 0))
        return outside + np.minimum(np.maximum(away, beyond), 0)

    def bounds(self) -> Bounds:
        (x, y), (low, high), r = self.centre, self.z, self.radius
        return np.array([x - r, y - r, low]), np.array([x + r, y + r, high])

    def boundary(self, count: int) -> Boundary:
        low, high = self.z
        cap, side = np.pi * self.radius**2, 2 * np.pi * self.radius * (high - low)
        counts = [max(round(count * area / (2 * cap + side)), 1) for area in (side, cap)]
        around, along = evenly(counts[0], 2).T
        normals = np.column_stack([_circle(around), np.zeros(counts[0])])
        points = self.radius * normals + _column(low + (high - low) * along)
        parts = [Boundary(points, normals, np.full(counts[0], side / counts[0]))]
        for height, up in ((low, -1.0), (high, 1.0)):
            around, along = evenly(counts[1], 2).T
            flat = self.radius * np.sqrt(along)[:, None] * _circle(around)
            points = np.column_stack([flat, np.full(counts[1], height)])
            normals = np.tile([0.0, 0.0, up], (counts[1], 1))
            parts.append(Boundary(points, normals, np.full(counts[1], cap / counts[1])))
        boundary = mixed(parts)
        return boundary._replace(points=boundary.points + np.array([*self.centre, 0.0]))


@register("box")
@dataclasses.dataclass(frozen=True)
class Box(AbstractSolid):
    """A box along the axes, with the limits `x`, `y` and `z`.

    >>> round(Box(x=(0, 1), y=(0, 2), z=(0, 3)).measure(), 3)
    6.0
    """

    x: Interval
    y: Interval
    z: Interval
    name: Word | None = None

    def distance(self, points):
        return box_distance(points, *self.bounds())

    def bounds(self) -> Bounds:
        lower, upper = np.array([self.x, self.y, self.z]).T
        return lower, upper

    def boundary(self, count: int) -> Boundary:
        lower, upper = self.bounds()
        areas = np.prod(upper - lower) / (upper - lower)
        counts = np.maximum(np.round(count * areas / (2 * areas.sum())).astype(int), 1)
        return mixed(
            [self.face(axis, side, int(counts[axis])) for axis in range(3) for side in (0, 1)]
        )

    def face(self, axis: int, side: int, count: int) -> Boundary:
        """The points of the face at the lower (0) or the upper (1) end of an axis."""
        lower, upper = self.bounds()
        extent = upper - lower
        points = lower + extent * np.insert(evenly(count, 2), axis, 0.0, axis=1)
        points[:, axis] = self.bounds()[side][axis]
        normals = np.zeros((count, 3))
        normals[:, axis] = 2 * side - 1
        area = float(np.prod(np.delete(extent, axis)))
        return Boundary(points, normals, np.full(count, area / count))


def mixed(parts) -> Boundary:
    """The points of several parts in an order in which the first points fill all parts."""
    order = np.argsort(
        np.concatenate([(np.arange(len(p.points)) + 0.5) / len(p.points) for p in parts]),
        kind="stable",
    )
    return Boundary.joined(parts).take(order)


def _circle(around):
    """The points of the unit circle at shares of a turn."""
    return np.column_stack([np.cos(2 * np.pi * around), np.sin(2 * np.pi * around)])


def _column(height):
    """The points at these heights above the origin."""
    return np.column_stack([np.zeros((len(height), 2)), height])
