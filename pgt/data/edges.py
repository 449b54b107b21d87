"""Where conditions hold: the walls, the start and the seams of a box, of a shape, of one that moves."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

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
from pgt.data.moving_boundary import Means, Swept
from pgt.data.moving_domain import Passage, body_of
from pgt.data.shaped_domain import Body, as_shape
from pgt.geometry.point_location import chosen
from pgt.geometry.shape import AbstractShape, Boundary, no_such_wall
from pgt.geometry.walls import part_where

LOOKED_AT = 65  # instants
AT_START = 1024  # places at which the state at the start is known
Ends = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True)
class Edges:
    """Asked by a `Domain`, which is called as `said` in errors."""

    box: Bounds
    periodic: tuple[str, ...]
    shape: AbstractShape | None
    said: str

    def walls(self, axis, side: str, where: str | None) -> Faces | Spread | Swept:
        """The ends of some axes of space, or a part of them."""
        ends = self._ends(axis, side)
        if self.shape is None and where is None:
            return Faces(self.box, ends)
        if (passage := self._passage()) is not None:
            return passage.faces(ends, self._holds(where))
        return Spread.on(self.box, self.boundary(None, axis, side, where))

    def wall(self, name: str, where: str | None) -> Spread | Swept:
        """The walls of a name, or a part of them."""
        if (passage := self._passage()) is not None:
            return passage.wall(name, self._holds(where))
        return Spread.on(self.box, self.boundary(name, None, "both", where))

    def velocity(self, name: str, points) -> Float[np.ndarray, "n k"]:
        """How fast a wall moves at points of it."""
        self.box.contains(points)  # refuses a wrong shape
        known = () if self.shape is None else self.shape.wall_names
        if name not in known:
            raise InputError(no_such_wall(name, known))
        passage, points = self._passage(), np.asarray(points, float)
        if passage is None:
            return np.zeros((len(points), len(self.box.spatial_axes)))
        return passage.velocity(points, name)

    def boundary(self, wall: str | None, axis, side: str, where: str | None) -> list[Boundary]:
        """All points known of a wall, or without its name of ends of the box, and their weights."""
        parts = self._of_ends(axis, side, where) if wall is None else self._of_wall(wall)
        if where is None:
            return list(parts)
        return [part_where(part, self._holds(where)) for part in parts]

    def start(self) -> AbstractRegion:
        """The whole of space at the first moment."""
        low, _ = self.box.bounds("t")
        if self.shape is None:
            return Faces(self.box, (("t", 0),))
        space = Body(self.box.along(self.box.spatial_axes), self.shape.at(low))
        return Spread.at_start(self.box, space.even(AT_START))

    def seam(self, axis: str) -> Seam:
        """The two ends of an axis, as one place."""
        self.box.index(axis)
        if self.shape is None or axis == "t":
            return Seam(self.box, axis)
        if (passage := self._passage()) is not None:
            return Seam(self.box, axis, passage.faces([(axis, 0)], self._holds(None)))
        return Seam(self.box, axis, Spread.on(self.box, [self._still().face(axis, 0)]))

    def instants(self, held: tuple[tuple[str, float], ...] | None) -> Instants | Means:
        """A position, or all of space, at every time."""
        for axis, _ in held or ():
            self.box.index(axis)
        here = held and tuple((axis, self.box.to_local(axis, at)) for axis, at in held)
        if self.shape is not None and here is not None:
            self._check_inside(dict(here))
        if self.shape is None or here is not None:
            return Instants(self.box, here)
        if (passage := self._passage()) is not None:
            return passage.means()
        space = Body(self.box.along(self.box.spatial_axes), self.shape)
        return Instants(self.box, here, *space.quadrature(IN_SHAPE[self.box.has_time]))

    # ------------------------------------------------------------------------------ inside

    def _check_inside(self, place: dict[str, float]) -> None:
        """Raise where a position is in an obstacle, at one of its times."""
        low, high = self.box.bounds("t") if self.box.has_time else (0.0, 0.0)
        times = [place["t"]] if "t" in place else np.linspace(low, high, LOOKED_AT)
        missing = set(self.box.spatial_axes) - set(place)
        if missing:
            raise InputError(f"a position needs its {', '.join(sorted(missing))}; got {place}.")
        points = np.array([[(place | {"t": t})[axis] for axis in self.box.axes] for t in times])
        outside = ~body_of(self.box, self.shape or as_shape(self.box)).contains(points)
        if outside.any():
            origin = np.asarray(self.box.origin or np.zeros(self.box.dimension))
            named = zip(self.box.axes, points[outside][0] + origin, strict=True)
            where = ", ".join(f"{axis} = {value:g}" for axis, value in named)
            raise InputError(
                f"the position {where} is outside the shape; write one that is inside."
            )

    def _passage(self) -> Passage | None:
        """The shape, where it moves."""
        found = self.shape and body_of(self.box, self.shape)
        return found if isinstance(found, Passage) else None

    def _still(self) -> Body:
        found = body_of(self.box, self.shape or as_shape(self.box))
        if isinstance(found, Passage):
            raise InputError(
                "the shape moves: its walls are those of an instant; ask domain.at(t)."
            )
        return found

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
        return self._still().wall(name)

    def _of_ends(self, axis, side: str, where: str | None) -> Sequence[Boundary]:
        ends = self._ends(axis, side)
        if len(self.box.spatial_axes) == 1:
            raise InputError(f"where={where!r}: with one axis of space a wall is one place.")
        return [self._still().face(*end) for end in ends]

    def _ends(self, axis, side: str) -> Ends:
        ends = walled_ends(self.box, self.periodic, axis, side)
        if not ends:
            raise InputError(f"{self.said} has no spatial axis that ends in a wall.")
        return ends
