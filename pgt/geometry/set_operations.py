"""Shapes that combine others: unions, intersections, differences and complements."""

import abc
import dataclasses
from collections.abc import Sequence

import numpy as np

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.geometry.shape import (
    AbstractLeaf,
    AbstractShape,
    Bounds,
    Shape,
    set_fields,
)


class AbstractCombined(AbstractShape):
    """A shape that combines `parts`."""

    @property
    @abc.abstractmethod
    def parts(self) -> tuple[AbstractShape, ...]:
        """The shapes that it combines."""

    @abc.abstractmethod
    def of_parts(self, *parts: AbstractShape) -> "AbstractShape":
        """The same combination of other parts."""

    @property
    def dimension(self) -> int:
        return self.parts[0].dimension

    def within(self, lower, upper) -> AbstractShape:
        return self.of_parts(*(part.within(lower, upper) for part in self.parts))

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(leaf for part in self.parts for leaf in part.leaves())


@register("union")
@dataclasses.dataclass(frozen=True, init=False)
class Union(AbstractCombined):
    """The points in at least one of the shapes; also written a | b.

    >>> from pgt.geometry import Rectangle
    >>> round(Union(Rectangle((0, 2), (0, 1)), Rectangle((0, 1), (0, 2))).measure(), 3)
    3.0
    """

    shapes: tuple[AbstractShape, ...]

    def __init__(self, *shapes: Shape):
        set_fields(self, shapes=several("Union", shapes))

    @property
    def parts(self) -> tuple[AbstractShape, ...]:
        return self.shapes

    def of_parts(self, *parts: AbstractShape) -> "Union":
        return Union(*parts)

    def distance(self, points):
        return np.min([each.distance(points) for each in self.shapes], axis=0)

    def inside(self, points, slack=0.0):
        return np.any([each.inside(points, slack) for each in self.shapes], axis=0)

    def bounds(self) -> Bounds:
        lower, upper = zip(*(shape.bounds() for shape in self.shapes), strict=True)
        return np.min(lower, axis=0), np.max(upper, axis=0)


@register("intersection")
@dataclasses.dataclass(frozen=True, init=False)
class Intersection(AbstractCombined):
    """The points in all of the shapes; also written a & b.

    >>> from pgt.geometry import Disk, Rectangle
    >>> quarter = Intersection(Disk(), Rectangle((0, 1), (0, 1)))
    >>> round(4 * quarter.measure() / np.pi, 3)
    1.0
    """

    shapes: tuple[AbstractShape, ...]

    def __init__(self, *shapes: Shape):
        set_fields(self, shapes=several("Intersection", shapes))

    @property
    def parts(self) -> tuple[AbstractShape, ...]:
        return self.shapes

    def of_parts(self, *parts: AbstractShape) -> "Intersection":
        return Intersection(*parts)

    def distance(self, points):
        return np.max([each.distance(points) for each in self.shapes], axis=0)

    def inside(self, points, slack=0.0):
        points = np.asarray(points, float)
        found = np.ones(len(points), bool)
        for shape in self.shapes:  # each is evaluated only at the points inside all shapes before
            found[found] = shape.inside(points[found], slack)
        return found

    def bounds(self) -> Bounds:
        lower, upper = zip(*(shape.bounds() for shape in self.shapes), strict=True)
        return np.max(lower, axis=0), np.min(upper, axis=0)


@register("difference")
@dataclasses.dataclass(frozen=True, init=False)
class Difference(AbstractCombined):
    """The points in the first shape and in none of the holes; also written a - b.

    >>> from pgt.geometry import Disk
    >>> round(Difference(Disk(radius=2), Disk(radius=1)).measure() / np.pi, 6)
    3.0
    """

    whole: AbstractShape
    holes: tuple[AbstractShape, ...]

    def __init__(self, whole: Shape, *holes: Shape):
        whole, *rest = several("Difference", (whole, *holes))
        set_fields(self, whole=whole, holes=tuple(rest))

    @property
    def parts(self) -> tuple[AbstractShape, ...]:
        return (self.whole, *self.holes)

    def of_parts(self, *parts: AbstractShape) -> "Difference":
        return Difference(*parts)

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


@register("outside")
@dataclasses.dataclass(frozen=True, init=False)
class Complement(AbstractCombined):
    """The points outside a shape; also written -a. As the shape of a domain it is an obstacle in its box.

    >>> from pgt.geometry import Disk
    >>> (-Disk()).inside(np.array([[0.0, 0.0], [2.0, 0.0]])).tolist()
    [False, True]
    """

    shape: AbstractShape

    def __init__(self, shape: Shape):
        set_fields(self, shape=several("Complement", (shape,))[0])

    @property
    def parts(self) -> tuple[AbstractShape, ...]:
        return (self.shape,)

    def of_parts(self, *parts: AbstractShape) -> "Complement":
        return Complement(*parts)

    def distance(self, points):
        return -self.shape.distance(points)

    def inside(self, points, slack=0.0):
        return ~_strictly(self.shape, np.asarray(points, float), slack)

    def bounds(self) -> Bounds:
        everywhere = np.full(self.dimension, np.inf)
        return -everywhere, everywhere


def _strictly(shape: AbstractShape, points, slack: float):
    """Which points are inside by more than `slack`."""
    return shape.inside(points, -slack)


def several(where: str, shapes: Sequence) -> tuple[AbstractShape, ...]:
    """The shapes as a tuple; raises unless there is at least one and all have the same dimension."""
    if not shapes:
        raise InputError(f"{where}(): give one shape at least, such as Disk(radius=1).")
    for shape in shapes:
        if not isinstance(shape, AbstractShape):
            raise InputError(f"{where}: {shape!r} is no shape; write for example Disk(radius=1).")
    if len({shape.dimension for shape in shapes}) > 1:
        kinds = ", ".join(f"{type(s).__name__} ({s.dimension}D)" for s in shapes)
        raise InputError(f"{where}: shapes of the plane and of space together: {kinds}.")
    return tuple(shapes)
