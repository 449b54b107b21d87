"""Simple shapes of the plane."""

import dataclasses

import numpy as np

from pgt.core.registry import register
from pgt.geometry.shape import (
    AbstractLeaf,
    Boundary,
    Bounds,
    Interval,
    Length,
    Pair,
    PositivePair,
    Word,
)


class AbstractPlane(AbstractLeaf):
    """A simple shape of the plane."""

    @property
    def dimension(self) -> int:
        return 2


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


def along_edges(start, end, count: int) -> Boundary:
    """Points along edges that run counter-clockwise around the inside, in proportion to their lengths."""
    along = end - start
    length = np.linalg.norm(along, axis=1)
    each = np.maximum(np.round(count * length / length.sum()).astype(int), 1)
    edge = np.repeat(np.arange(len(start)), each)
    rank = np.arange(len(edge)) - np.repeat(np.cumsum(each) - each, each)
    share = (rank + 0.5) / each[edge]
    unit = along / length[:, None]
    normals = np.column_stack([unit[:, 1], -unit[:, 0]])
    points = start[edge] + share[:, None] * along[edge]
    return Boundary(points, normals[edge], (length / each)[edge])
