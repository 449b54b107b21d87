"""The domain of a field in space and time.

The domain owns its geometry: it tells which points are inside, gives collocation points and quadrature,
and the walls, the start and the seams on which conditions hold. Other modules ask the domain for points
and do not compute them from its bounds.
"""

import copy
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.arguments import Count, Seed
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.types import Key, Points
from pgt.data.bounds import AXES as AXES
from pgt.data.bounds import Bounds, check_names, limits_of, spanned
from pgt.data.condition_regions import (
    MEAN_NODES_IN_SHAPE,
    AbstractRegion,
    Faces,
    Instants,
    Seam,
    Spread,
    walled_ends,
)
from pgt.data.coordinate_systems import (
    CARTESIAN,
    check_limits,
    system_of,
)
from pgt.data.dates import without_dates
from pgt.data.shaped_domain import Body, as_shape, check_shape
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.point_location import where_true
from pgt.geometry.shape import AbstractShape, Boundary, Shape
from pgt.geometry.walls import part_where

# The number of places in a shape at which the initial state is imposed.
START_PLACES = 1024
Real = float | int | np.floating | np.integer


@checked
@dataclasses.dataclass(frozen=True, init=False, repr=False)
class Domain:
    """The named and bounded axes of a problem: any of r, θ, x, y, z, t, always in that order.

    A domain is hashable and static under `jit`. Properties cost nothing; methods take
    arguments or compute points.

    Parameters
    ----------
    periodic
        Spatial axes whose two ends are one place.
    units
        Units by axis, for labels and for comparison with those of the readings.
    coordinates
        "cartesian"; "cylindrical" (or "polar", "axisymmetric") with r, θ and z, of which r is the
        distance from an axis; "spherical" with r, the distance from a point, and θ, the angle from an
        axis. `lap`, `div` and `grad` of the equation follow, and so do fluxes and totals.
    shape
        The part of the box that is the domain, if not all of it: `Disk(...) - Disk(...)`, or `-Disk(...)`
        for an obstacle. Its walls have the names of the shapes.
    **bounds
        A pair of numbers for each axis; for t also of dates, ("2024-05-01T12:00", "2024-05-01T13:00").

    >>> domain = Domain(t=(0, 2), x=(-1, 1), periodic=("x",), units={"t": "s"})
    >>> domain.axes, domain.bounds("t"), domain.extent.tolist()
    (('x', 't'), (0.0, 2.0), [2.0, 2.0])
    >>> Domain(r=(0, 0.1), t=(0, 60), coordinates="spherical")
    Domain(r=(0, 0.1), t=(0, 60), coordinates='spherical')
    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 8), y=(-2, 2), shape=-Disk(radius=0.5, name="cylinder"))
    >>> channel.wall_names, round(channel.volume, 2)
    (('cylinder',), 39.21)
    """

    box: Bounds
    periodic: tuple[str, ...]
    unit_pairs: tuple[tuple[str, str], ...]
    shape: AbstractShape | None = None
    coordinates: str = CARTESIAN

    def __init__(
        self,
        *,
        periodic: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
        shape: Shape | None = None,
        coordinates: str = CARTESIAN,
        **bounds,  # a pair of numbers each
    ):
        check_names(bounds, periodic, units or {})
        axes = tuple(axis for axis in AXES if axis in bounds)
        bounds, units = without_dates(bounds, units, "Domain")
        set_field = object.__setattr__  # the way into a frozen dataclass
        set_field(self, "box", Bounds(axes, tuple(limits_of(axis, bounds[axis]) for axis in axes)))
        set_field(self, "coordinates", system_of(coordinates, axes))
        check_limits(self.coordinates, dict(zip(axes, self.box.limits, strict=True)))
        set_field(self, "periodic", tuple(axis for axis in axes if axis in periodic))
        set_field(
            self, "unit_pairs", tuple((a, str(units[a])) for a in axes if units and a in units)
        )
        set_field(
            self, "shape", None if shape is None else check_shape(shape, self.box, self.periodic)
        )

    @classmethod
    def around(cls, points: Mapping, **options) -> "Domain":
        """The smallest box around points, which are columns by axis.

        Along an axis on which all points have one position, the box has length 1. `options` are
        `periodic`, `units` and `shape`.

        >>> Domain.around({"x": [0.2, 0.9, 0.5], "t": [3.0, 3.0, 3.0]})
        Domain(x=(0.2, 0.9), t=(2.5, 3.5))
        """
        if not hasattr(points, "items"):
            raise InputError(
                f"Domain.around({points!r}): write columns by axis, such as a table or a dict of arrays."
            )
        columns, units = without_dates(points, options.pop("units", None), "Domain.around")
        ends = {a: (float(np.min(c)), float(np.max(c))) for a, c in columns.items()}
        box: dict[str, Any] = {
            a: (x, y) if x < y else (x - 0.5, y + 0.5) for a, (x, y) in ends.items()
        }
        return cls(units=units, **options, **box)

    def __repr__(self) -> str:
        parts = [f"{a}={spanned(a, self.bounds(a), self.units)}" for a in self.axes]
        parts += [f"periodic={self.periodic}"] if self.periodic else []
        parts += [f"units={self.units}"] if self.unit_pairs else []
        parts += [f"coordinates={self.coordinates!r}"] if self.coordinates != CARTESIAN else []
        parts += [f"shape={self.shape.brief()}"] if self.shape is not None else []
        return f"Domain({', '.join(parts)})"

    @property
    def axes(self) -> tuple[str, ...]:
        return self.box.axes

    @property
    def lower(self) -> Float[np.ndarray, " d"]:
        return self.box.lower

    @property
    def upper(self) -> Float[np.ndarray, " d"]:
        return self.box.upper

    @property
    def extent(self) -> Float[np.ndarray, " d"]:
        return self.box.extent

    @property
    def units(self) -> dict[str, str]:
        return dict(self.unit_pairs)

    @property
    def spatial_axes(self) -> tuple[str, ...]:
        return self.box.spatial_axes

    @property
    def has_time(self) -> bool:
        return self.box.has_time

    @property
    def dimension(self) -> int:
        """The number of axes, time included, which is the d of points with shape (n, d)."""
        return self.box.dimension

    @checked
    def index(self, axis: str) -> int:
        """The column of `axis` in an array of points."""
        return self.box.index(axis)

    @checked
    def bounds(self, axis: str) -> tuple[float, float]:
        """The lower and upper bound of one axis."""
        return self.box.bounds(axis)

    # ---------------------------------------------------------------------------------- inside

    @property
    def _filled(self) -> Bounds | Body:
        """The object that samples the inside: the box, or its body where there is a shape."""
        return self.box if self.shape is None else self._body()

    @property
    def space(self) -> "Domain":
        """The domain without time.

        >>> Domain(x=(0, 1), t=(0, 2)).space
        Domain(x=(0, 1))
        """
        if not self.has_time:
            return self
        other, axes = copy.copy(self), self.spatial_axes
        units = tuple((axis, unit) for axis, unit in self.unit_pairs if axis != "t")
        object.__setattr__(other, "box", self.box.along(axes))
        object.__setattr__(other, "unit_pairs", units)
        return other

    @property
    def volume(self) -> float:
        """The length, area or volume of space, times the duration."""
        return math.prod(self.extent) if self.shape is None else self._body().volume

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which of the points (n, d) lie inside, boundary included."""
        return self._filled.contains(points)

    def distance(self, points) -> Float[np.ndarray, " n"]:
        """The distance from each point to the nearest wall of the shape, negative inside."""
        return self._body().distance(self.box.as_points(points))

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n independent points, uniform in the domain; pure, and works under jit."""
        return self._filled.sample(key, n)

    @checked
    def near_walls(self, key: Key, n: int, reach: float) -> Float[Array, "{n} d"]:
        """n independent points with density proportional to e^(-distance to the shape's walls / reach).

        `reach` is a share of the box's shortest side in space. Without a shape the points are uniform.
        """
        if not isinstance(key, jax.Array) or n < 0 or not reach > 0:
            raise InputError("near_walls: write a key, jax.random.key(0), and n and reach above 0.")
        if self.shape is None:
            return self.sample(key, n)
        return self._body().near_walls(key, n, reach)

    def from_unit(self, unit: Points) -> Points:
        """Points of the unit cube mapped to the domain; evenly spread points stay evenly spread."""
        is_float = getattr(getattr(unit, "dtype", None), "kind", "") == "f"
        if not is_float or unit.shape[-1:] != (self.dimension,):
            columns = ", ".join(self.axes)
            raise InputError(f"from_unit: write an array of numbers with the columns {columns}.")
        return self._filled.from_unit(unit)

    @checked
    def even(self, n: Count, seed: Seed = 0) -> Float[np.ndarray, "{n} d"]:
        """n fixed points that fill the domain evenly.

        >>> Domain(x=(0, 1), t=(0, 2)).even(3).shape
        (3, 2)
        """
        if self.shape is not None:
            return self._body().even(n, seed)
        return np.asarray(self.from_unit(evenly(n, self.dimension, seed)), float)

    @checked
    def quadrature(self, n: int) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, " m"]]:
        """At least n fixed points, and weights that sum to the volume.

        >>> points, weights = Domain(x=(0, 2), t=(0, 3)).quadrature(4)
        >>> len(points), round(float(weights.sum()), 12)
        (4, 6.0)
        """
        return self._filled.quadrature(n)

    def _body(self) -> Body:
        if self.shape is None:
            raise InputError(
                f"{self} has no shape; give it one: shape=Disk(radius=1), for example."
            )
        return Body(self.box, self.shape)

    # --------------------------------------------------------------- where conditions hold

    @property
    def wall_names(self) -> tuple[str, ...]:
        """The names of the shape's walls."""
        return () if self.shape is None else self.shape.wall_names

    @checked
    def walls(
        self,
        axis: str | Sequence[str] | None = None,
        side: str = "both",
        where: str | None = None,
    ) -> Faces | Spread:
        """The region of the ends of the given spatial axes, or of all that are not periodic.

        `side` is "lower", "upper" or "both"; `where` is a condition that selects a part, such as "y > 0".

        >>> Domain(x=(0, 1), y=(0, 1), t=(0, 1), periodic=("y",)).walls().pairs
        (('x', 0), ('x', 1))
        """
        if self.shape is None and where is None:
            return Faces(self.box, self._ends(axis, side))
        return Spread.on(self.box, self.boundary(None, axis, side, where))

    @checked
    def wall(self, name: str, where: str | None = None) -> Spread:
        """The region of the shape's walls of this name, or of the part where the condition `where` holds.

        >>> from pgt.geometry import Disk
        >>> disk = Domain(x=(-1, 1), y=(-1, 1), shape=Disk(name="rim"))
        >>> round(float(disk.wall("rim", where="x < 0").area), 3)
        3.142
        """
        return Spread.on(self.box, self.boundary(name, where=where))

    @checked
    def boundary(
        self,
        wall: str | None = None,
        axis: str | Sequence[str] | None = None,
        side: str = "both",
        where: str | None = None,
    ) -> list[Boundary]:
        """The points of a named wall, or of ends of the box, with normals and weights."""
        parts = (
            self._parts_of_ends(axis, side, where) if wall is None else self._parts_of_wall(wall)
        )
        if where is None:
            return list(parts)
        text, axes = where, self.spatial_axes
        origin = np.asarray(self.box.along(axes).origin or 0.0)
        return [
            part_where(part, lambda places: where_true(text, places + origin, axes))
            for part in parts
        ]

    def start(self) -> AbstractRegion:
        """The region of all of space at the first instant."""
        self.box.index("t")  # Refuses a domain without time.
        if self.shape is None:
            return Faces(self.box, (("t", 0),))
        return Spread.at_start(self.box, Body(self.space.box, self.shape).even(START_PLACES))

    @checked
    def seam(self, axis: str) -> Seam:
        """The region of the two ends of a periodic axis, which are one place."""
        self.box.index(axis)
        if self.shape is None or axis == "t":
            return Seam(self.box, axis)
        return Seam(self.box, axis, Spread.on(self.box, [self._body().face(axis, 0)]))

    @checked
    def instants(self, position: Mapping[str, float] | None = None) -> Instants:
        """The region of one position, or of the mean over space; at all times unless a t is given."""
        for axis in position or ():
            self.box.index(axis)
        local_position = None
        if position is not None:
            local_position = tuple(
                (axis, self.box.to_local(axis, at)) for axis, at in position.items()
            )
        if self.shape is None:
            return Instants(self.box, local_position)
        if local_position is not None:
            self._check_inside(dict(local_position))
            return Instants(self.box, local_position)
        nodes = Body(self.space.box, self.shape).quadrature(MEAN_NODES_IN_SHAPE[self.has_time])
        return Instants(self.box, None, *nodes)

    def _check_inside(self, place: dict[str, float]) -> None:
        """Raise where a position is outside the shape."""
        missing = set(self.spatial_axes) - set(place)
        if missing:
            raise InputError(f"a position needs its {', '.join(sorted(missing))}; got {place}.")
        start = {"t": self.bounds("t")[0]} if self.has_time else {}
        point = np.array([(start | place)[axis] for axis in self.axes])
        if not self._body().contains(point[None])[0]:
            origin = np.asarray(self.box.origin or np.zeros(self.dimension))
            named = zip(self.axes, point + origin, strict=True)
            where = ", ".join(f"{axis} = {value:g}" for axis, value in named)
            raise InputError(
                f"the position {where} is outside the shape; write one that is inside."
            )

    def _parts_of_wall(self, name: str) -> Sequence[Boundary]:
        if self.shape is None:
            raise InputError(
                f"there is no wall {name!r}: the domain has no shape. Give it one with a wall of that "
                f"name, Domain(..., shape=-Disk(radius=1, name={name!r}))."
            )
        return self._body().wall(name)

    def _parts_of_ends(self, axis, side: str, where: str | None) -> Sequence[Boundary]:
        ends = self._ends(axis, side)
        if len(self.spatial_axes) == 1:
            raise InputError(f"where={where!r}: with one axis of space a wall is one place.")
        body = Body(self.box, self.shape or as_shape(self.box))
        return [body.face(*end) for end in ends]

    def _ends(self, axis, side: str) -> tuple[tuple[str, int], ...]:
        ends = walled_ends(self.box, self.periodic, axis, side)
        if not ends:
            raise InputError(f"{self} has no spatial axis that ends in a wall.")
        return ends

    # --------------------------------------------------------------- counted from elsewhere

    @checked
    def moved(self, by: Sequence[float] | Float[np.ndarray, " d"]) -> "Domain":
        """The same domain with points relative to the origin `by` (origin.py)."""
        other = copy.copy(self)
        object.__setattr__(other, "box", self.box.moved(by))
        if self.shape is not None:
            back = [-float(by[self.index(axis)]) for axis in self.spatial_axes]
            object.__setattr__(other, "shape", self.shape.moved(*back))
        return other
