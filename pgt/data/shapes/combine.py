"""Shapes put together of others: with them, without them, moved, turned and scaled."""

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pgt.data.shapes.base import (
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
from pgt.ground.errors import InputError
from pgt.ground.registry import register


@register("union")
@dataclasses.dataclass(frozen=True, init=False)
class Union(AbstractShape):
    """What lies in one of the shapes at least; also written a | b.

    >>> from pgt.data.shapes import Rectangle
    >>> round(Union(Rectangle((0, 2), (0, 1)), Rectangle((0, 1), (0, 2))).measure(), 3)
    3.0
    """

    shapes: tuple[AbstractShape, ...]

    def __init__(self, *shapes: Shape):
        set_fields(self, shapes=_several("Union", shapes))

    def within(self, lower, upper) -> "Union":
        return Union(*(shape.within(lower, upper) for shape in self.shapes))

    @property
    def dimension(self) -> int:
        return self.shapes[0].dimension

    def distance(self, points):
        return np.min([shape.distance(points) for shape in self.shapes], axis=0)

    def inside(self, points, slack=0.0):
        return np.any([shape.inside(points, slack) for shape in self.shapes], axis=0)

    def bounds(self) -> Bounds:
        lower, upper = zip(*(shape.bounds() for shape in self.shapes), strict=True)
        return np.min(lower, axis=0), np.max(upper, axis=0)

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(leaf for shape in self.shapes for leaf in shape.leaves())


@register("intersection")
@dataclasses.dataclass(frozen=True, init=False)
class Intersection(AbstractShape):
    """What lies in all of the shapes; also written a & b.

    >>> from pgt.data.shapes import Disk, Rectangle
    >>> quarter = Intersection(Disk(), Rectangle((0, 1), (0, 1)))
    >>> round(4 * quarter.measure() / np.pi, 3)
    1.0
    """

    shapes: tuple[AbstractShape, ...]

    def __init__(self, *shapes: Shape):
        set_fields(self, shapes=_several("Intersection", shapes))

    def within(self, lower, upper) -> "Intersection":
        return Intersection(*(shape.within(lower, upper) for shape in self.shapes))

    @property
    def dimension(self) -> int:
        return self.shapes[0].dimension

    def distance(self, points):
        return np.max([shape.distance(points) for shape in self.shapes], axis=0)

    def inside(self, points, slack=0.0):
        points = np.asarray(points, float)
        found = self.shapes[0].inside(points, slack)
        for shape in self.shapes[1:]:  # the rest are asked of what is left only
            found[found] = shape.inside(points[found], slack)
        return found

    def bounds(self) -> Bounds:
        lower, upper = zip(*(shape.bounds() for shape in self.shapes), strict=True)
        return np.max(lower, axis=0), np.min(upper, axis=0)

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(leaf for shape in self.shapes for leaf in shape.leaves())


@register("difference")
@dataclasses.dataclass(frozen=True, init=False)
class Difference(AbstractShape):
    """What lies in the first shape and in none of the holes; also written a - b.

    >>> from pgt.data.shapes import Disk
    >>> round(Difference(Disk(radius=2), Disk(radius=1)).measure() / np.pi, 6)
    3.0
    """

    whole: AbstractShape
    holes: tuple[AbstractShape, ...]

    def __init__(self, whole: Shape, *holes: Shape):
        whole, *rest = _several("Difference", (whole, *holes))
        set_fields(self, whole=whole, holes=tuple(rest))

    def within(self, lower, upper) -> "Difference":
        whole, *holes = (shape.within(lower, upper) for shape in (self.whole, *self.holes))
        return Difference(whole, *holes)

    @property
    def dimension(self) -> int:
        return self.whole.dimension

    def distance(self, points):
        away = [-hole.distance(points) for hole in self.holes]
        return np.max([self.whole.distance(points), *away], axis=0)

    def inside(self, points, slack=0.0):
        points = np.asarray(points, float)
        found = self.whole.inside(points, slack)
        for hole in self.holes:
            found[found] = ~_strictly(hole, points[found], slack)
        return found

    def bounds(self) -> Bounds:
        return self.whole.bounds()

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(leaf for shape in (self.whole, *self.holes) for leaf in shape.leaves())


@register("outside")
@dataclasses.dataclass(frozen=True, init=False)
class Complement(AbstractShape):
    """All that lies outside a shape; also written -a. As the shape of a domain: an obstacle in its box.

    >>> from pgt.data.shapes import Disk
    >>> (-Disk()).inside(np.array([[0.0, 0.0], [2.0, 0.0]])).tolist()
    [False, True]
    """

    shape: AbstractShape

    def __init__(self, shape: Shape):
        set_fields(self, shape=_several("Complement", (shape,))[0])

    def within(self, lower, upper) -> "Complement":
        return Complement(self.shape.within(lower, upper))

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    def distance(self, points):
        return -self.shape.distance(points)

    def inside(self, points, slack=0.0):
        return ~_strictly(self.shape, np.asarray(points, float), slack)

    def bounds(self) -> Bounds:
        everywhere = np.full(self.dimension, np.inf)
        return -everywhere, everywhere

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return self.shape.leaves()


@register("placed")
@dataclasses.dataclass(frozen=True, init=False)
class Placed(AbstractShape):
    """A shape scaled, then turned, then moved; also written .scaled, .rotated, .moved.

    Parameters
    ----------
    shape
        The shape.
    shift
        By how much it is moved along every axis.
    degrees, axis
        By how much it is turned about the origin; in space, about which axis.
    factor
        By how much it grows, seen from the origin.

    >>> from pgt.data.shapes import Rectangle
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
        (shape,) = _several("Placed", (shape,))
        k = shape.dimension
        if k == 3 and degrees and axis is None:
            raise InputError("rotated(degrees, axis): in space, name the axis, such as (0, 0, 1).")
        set_fields(
            self,
            shape=shape,
            shift=numbers("moved(by)", shift or (0.0,) * k, k),
            degrees=number("rotated(degrees)", degrees),
            axis=_direction(axis) if k == 3 and axis is not None else None,
            factor=number("scaled(factor)", factor, above=0),
        )

    def within(self, lower, upper) -> "Placed":
        corners = np.stack(np.meshgrid(*np.stack([lower, upper]).T, indexing="ij"), axis=-1)
        back = self._back(corners.reshape(-1, self.dimension))
        shape = self.shape.within(back.min(axis=0), back.max(axis=0))
        return Placed(shape, self.shift, self.degrees, self.axis, self.factor)

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    @cached_property
    def _matrix(self) -> Float[np.ndarray, "k k"]:
        angle = math.radians(self.degrees)
        cos, sin = math.cos(angle), math.sin(angle)
        if self.dimension == 2:
            return np.array([[cos, -sin], [sin, cos]])
        x, y, z = self.axis or (0.0, 0.0, 1.0)
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + sin * cross + (1 - cos) * cross @ cross

    def _back(self, points):
        return (np.asarray(points, float) - np.array(self.shift)) @ self._matrix / self.factor

    def forth(self, points):
        """Where points of the shape are in the end."""
        return self.factor * points @ self._matrix.T + np.array(self.shift)

    def distance(self, points):
        return self.factor * self.shape.distance(self._back(points))

    def inside(self, points, slack=0.0):
        return self.shape.inside(self._back(points), slack / self.factor)

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
    """A simple shape where it is in the end; `how` says where."""

    leaf: AbstractLeaf
    how: Placed

    @property
    def name(self) -> str:
        return self.leaf.wall

    @property
    def is_sought(self) -> bool:
        return self.leaf.is_sought

    @property
    def dimension(self) -> int:
        return self.leaf.dimension

    @cached_property
    def _placed(self) -> Placed:
        how = self.how
        return Placed(self.leaf, how.shift, how.degrees, how.axis, how.factor)

    def distance(self, points):
        return self._placed.distance(points)

    def inside(self, points, slack=0.0):
        return self._placed.inside(points, slack)

    def bounds(self) -> Bounds:
        return self._placed.bounds()

    def corners(self):
        return self._placed.forth(self.leaf.corners())

    def boundary(self, count: int) -> Boundary:
        points, normals, weights = self.leaf.boundary(count)
        how = self._placed
        turned = normals @ how._matrix.T
        return Boundary(how.forth(points), turned, weights * how.factor ** (self.dimension - 1))


def _strictly(shape: AbstractShape, points, slack: float):
    """Which points are inside, the boundary itself excluded where there is a slack."""
    return shape.inside(points, -slack)


def _direction(axis) -> tuple[float, ...]:
    found = np.array(numbers("rotated(axis)", axis, 3))
    length = float(np.linalg.norm(found))
    if length == 0:
        raise InputError("rotated(axis=(0, 0, 0)): an axis has a direction; write (0, 0, 1).")
    return tuple((found / length).tolist())


def _several(where: str, shapes: Sequence) -> tuple[AbstractShape, ...]:
    """Shapes of one dimension, one at least."""
    if not shapes:
        raise InputError(f"{where}(): give one shape at least, such as Disk(radius=1).")
    for shape in shapes:
        if not isinstance(shape, AbstractShape):
            raise InputError(f"{where}: {shape!r} is no shape; write for example Disk(radius=1).")
    if len({shape.dimension for shape in shapes}) > 1:
        kinds = ", ".join(f"{type(s).__name__} ({s.dimension}D)" for s in shapes)
        raise InputError(f"{where}: shapes of the plane and of space together: {kinds}.")
    return tuple(shapes)
