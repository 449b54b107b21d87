"""Where conditions hold: the walls, the start and the seams of a box or of a shape in it."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from pgt.core.errors import InputError
from pgt.data.bounds import Bounds
from pgt.data.condition_regions import (
    IN_SHAPE,
    AbstractRegion,
    Faces,
    Instants,
    Seam,
    Spread,
    walled_ends,
)
from pgt.data.shaped_domain import Body, as_shape
from pgt.geometry.point_location import chosen
from pgt.geometry.shape import AbstractShape, Boundary
from pgt.geometry.walls import part_where

AT_START = 1024  # places at which the state at the start is known
Ends = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True)
class Edges:
    """Asked by a `Domain`, which is called as `said` in errors."""

    box: Bounds
    periodic: tuple[str, ...]
    shape: AbstractShape | None
    said: str

    def walls(self, axis, side: str, where: str | None) -> Faces | Spread:
        """The ends of some axes of space, or a part of them."""
        ends = self._ends(axis, side)
        if self.shape is None and where is None:
            return Faces(self.box, ends)
        return Spread.on(self.box, self.boundary(None, axis, side, where))

    def wall(self, name: str, where: str | None) -> Spread:
        """The walls of a name, or a part of them."""
        return Spread.on(self.box, self.boundary(name, None, "both", where))

    def boundary(self, wall: str | None, axis, side: str, where: str | None) -> list[Boundary]:
        """All points known of a wall, or without its name of ends of the box, and their weights."""
        parts = self._of_ends(axis, side, where) if wall is None else self._of_wall(wall)
        if where is None:
            return list(parts)
        return [part_where(part, self._holds(where)) for part in parts]

    def start(self) -> AbstractRegion:
        """The whole of space at the first moment."""
        self.box.index("t")  # Refuses a domain without time.
        if self.shape is None:
            return Faces(self.box, (("t", 0),))
        space = Body(self.box.along(self.box.spatial_axes), self.shape)
        return Spread.at_start(self.box, space.even(AT_START))

    def seam(self, axis: str) -> Seam:
        """The two ends of an axis, as one place."""
        self.box.index(axis)
        if self.shape is None or axis == "t":
            return Seam(self.box, axis)
        return Seam(self.box, axis, Spread.on(self.box, [self._body().face(axis, 0)]))

    def instants(self, held: tuple[tuple[str, float], ...] | None) -> Instants:
        """A position, or all of space, at every time."""
        for axis, _ in held or ():
            self.box.index(axis)
        here = held and tuple((axis, self.box.to_local(axis, at)) for axis, at in held)
        if self.shape is not None and here is not None:
            self._check_inside(dict(here))
        if self.shape is None or here is not None:
            return Instants(self.box, here)
        space = Body(self.box.along(self.box.spatial_axes), self.shape)
        return Instants(self.box, here, *space.quadrature(IN_SHAPE[self.box.has_time]))

    # ------------------------------------------------------------------------------ inside

    def _check_inside(self, place: dict[str, float]) -> None:
        """Raise where a position is in an obstacle."""
        missing = set(self.box.spatial_axes) - set(place)
        if missing:
            raise InputError(f"a position needs its {', '.join(sorted(missing))}; got {place}.")
        start = {"t": self.box.bounds("t")[0]} if self.box.has_time else {}
        point = np.array([(start | place)[axis] for axis in self.box.axes])
        if not self._body().contains(point[None])[0]:
            origin = np.asarray(self.box.origin or np.zeros(self.box.dimension))
            named = zip(self.box.axes, point + origin, strict=True)
            where = ", ".join(f"{axis} = {value:g}" for axis, value in named)
            raise InputError(
                f"the position {where} is outside the shape; write one that is inside."
            )

    def _body(self) -> Body:
        return Body(self.box, self.shape or as_shape(self.box))

    def _holds(self, where: str | None) -> Callable:
        """At which places a condition holds; at all, where there is none."""
        if where is None:
            return lambda places: np.ones(len(places), bool)
        axes = self.box.spatial_axes
        origin = np.asarray(self.box.along(axes).origin or 0.0)
        return lambda places: chosen(where, places + origin, axes)

    def _of_wall(self, name: str) -> Sequence[Boundary]:
        if self.shape is None:
            raise InputError(
                f"there is no wall {name!r}: the domain has no shape. Give it one with a wall of that "
                f"name, Domain(..., shape=-Disk(radius=1, name={name!r}))."
            )
        return self._body().wall(name)

    def _of_ends(self, axis, side: str, where: str | None) -> Sequence[Boundary]:
        ends = self._ends(axis, side)
        if len(self.box.spatial_axes) == 1:
            raise InputError(f"where={where!r}: with one axis of space a wall is one place.")
        return [self._body().face(*end) for end in ends]

    def _ends(self, axis, side: str) -> Ends:
        ends = walled_ends(self.box, self.periodic, axis, side)
        if not ends:
            raise InputError(f"{self.said} has no spatial axis that ends in a wall.")
        return ends
