"""Shapes that are scaled, then rotated, then moved."""

import dataclasses
import math
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.geometry.set_operations import several
from pgt.geometry.shape import (
    AbstractLeaf,
    AbstractShape,
    Boundary,
    Bounds,
    Length,
    Plain,
    Several,
    Shape,
    number,
    numbers,
    set_fields,
)


@register("placed")
@dataclasses.dataclass(frozen=True, init=False)
class Placed(AbstractShape):
    """A shape that is scaled, then rotated, then moved; also written .scaled, .rotated, .moved.

    Parameters
    ----------
    shape
        The shape.
    shift
        The lengths by which it is moved along the axes.
    degrees, axis
        The angle by which it is rotated about the origin and, in space, the axis of rotation.
    factor
        The factor by which it is scaled about the origin.

    >>> from pgt.geometry import Rectangle
    >>> lower, upper = Rectangle((0, 2), (0, 1)).rotated(90).moved(1, 0).bounds()
    >>> lower.round(9).tolist(), upper.round(9).tolist()
    ([0.0, 0.0], [1.0, 2.0])
    """

    shape: AbstractShape
    shift: tuple[float, ...]
    degrees: float
    axis: tuple[float, ...] | None
    factor: float

    def __init__(
        self,
        shape: Shape,
        shift: Several | None = None,
        degrees: Plain = 0.0,
        axis: Several | None = None,
        factor: Length = 1.0,
    ):
        (shape,) = several("Placed", (shape,))
        k = shape.dimension
        if k == 3 and degrees and axis is None:
            raise InputError("rotated(degrees, axis): in space, name the axis, such as (0, 0, 1).")
        set_fields(
            self,
            shape=shape,
            shift=numbers("moved(by)", shift or (0.0,) * k, k),
            degrees=number("rotated(degrees)", degrees),
            axis=direction(axis) if k == 3 and axis is not None else None,
            factor=number("scaled(factor)", factor, above=0),
        )

    def within(self, lower, upper) -> "Placed":
        corners = np.stack(np.meshgrid(*np.stack([lower, upper]).T, indexing="ij"), axis=-1)
        back = self.back(corners.reshape(-1, len(lower)))
        shape = self.shape.within(back.min(axis=0), back.max(axis=0))
        return Placed(shape, self.shift, self.degrees, self.axis, self.factor)

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    @cached_property
    def matrix(self) -> Float[np.ndarray, "k k"]:
        """The rotation matrix."""
        angle = math.radians(self.degrees)
        cross = turning(self.dimension, self.axis)
        return np.eye(len(cross)) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross

    def back(self, points):
        """Points mapped to the coordinates of the original shape."""
        return (np.asarray(points, float) - np.array(self.shift)) @ self.matrix / self.factor

    def forth(self, points):
        """Points of the original shape mapped to their final places."""
        return self.factor * points @ self.matrix.T + np.array(self.shift)

    def distance(self, points):
        return self.factor * self.shape.distance(self.back(points))

    def inside(self, points, slack=0.0):
        return self.shape.inside(self.back(points), slack / self.factor)

    def bounds(self) -> Bounds:
        ends = np.stack(self.shape.bounds())
        if not np.isfinite(ends).all():
            return ends[0], ends[1]
        corners = np.stack(np.meshgrid(*ends.T, indexing="ij"), axis=-1).reshape(-1, self.dimension)
        placed = self.forth(corners)
        return placed.min(axis=0), placed.max(axis=0)

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(PlacedLeaf(leaf, self) for leaf in self.shape.leaves())


@dataclasses.dataclass(frozen=True)
class PlacedLeaf(AbstractLeaf):
    """A simple shape at its final place, with the transformation `how`."""

    leaf: AbstractLeaf
    how: Placed

    @cached_property
    def whole(self) -> Placed:
        how = self.how
        return Placed(self.leaf, how.shift, how.degrees, how.axis, how.factor)

    @property
    def name(self) -> str:
        return self.leaf.wall

    @property
    def is_sought(self) -> bool:
        return self.leaf.is_sought

    @property
    def dimension(self) -> int:
        return self.leaf.dimension

    def distance(self, points):
        return self.whole.distance(points)

    def inside(self, points, slack=0.0):
        return self.whole.inside(points, slack)

    def bounds(self) -> Bounds:
        return self.whole.bounds()

    def corners(self):
        return self.whole.forth(self.leaf.corners())

    def boundary(self, count: int) -> Boundary:
        points, normals, weights = self.leaf.boundary(count)
        how = self.whole
        turned = normals @ how.matrix.T
        return Boundary(how.forth(points), turned, weights * how.factor ** (self.dimension - 1))


def turning(dimension: int, axis: tuple[float, ...] | None) -> Float[np.ndarray, "k k"]:
    """The generator K of a rotation, whose matrix is 1 + sin a K + (1 - cos a) K² (Rodrigues).

    >>> turning(2, None).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    if dimension == 2:
        return np.array([[0.0, -1.0], [1.0, 0.0]])
    x, y, z = axis or (0.0, 0.0, 1.0)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def direction(axis) -> tuple[float, ...]:
    """The axis as a unit vector."""
    found = np.array(numbers("rotated(axis)", axis, 3))
    length = float(np.linalg.norm(found))
    if length == 0:
        raise InputError("rotated(axis=(0, 0, 0)): an axis has a direction; write (0, 0, 1).")
    return tuple((found / length).tolist())
