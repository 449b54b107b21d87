"""The part of a box inside a shape, with the methods of a box: sampling, quadrature, walls, checks.

`Domain` uses a `Body` wherever it would use its box if it has no shape. `check_shape` tells the user when
shape and box do not fit: other units, nothing inside, walls that do not close.
"""

import contextlib
import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property, lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.errors import InputError, warn_of
from pgt.core.types import Key, Points
from pgt.data.bounds import Bounds
from pgt.data.shape_points import (
    balance_weights,
    even_inside,
    find_tiles,
    pick_places,
    sample_near_walls,
    tabulate_places,
    weigh_by_distance,
)
from pgt.geometry import shape as shapes
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.set_operations import Intersection
from pgt.geometry.shape import AbstractShape, Boundary
from pgt.geometry.simple_shapes import Box, Rectangle
from pgt.geometry.walls import COUNTS, kept, kept_of, to_walls

# Points outside the shape by less than this share of the box diagonal count as inside: readings on a wall
# are stored in single precision.
WALL_TOLERANCE = 1e-6
# A shape that fills a smaller share of its box is refused as a mistake.
MIN_FILLED_SHARE = 1e-5
# The area inside the shape and the area that its walls enclose may differ by this share of the box.
MAX_AREA_GAP = 2e-3
# They may also differ by at most this share of the area inside or outside, whichever is less.
MAX_RELATIVE_AREA_GAP = 0.1
# Where the share inside or outside is smaller than this, it is measured with MANY_POINTS.
MIN_SHARE_FOR_FEW_POINTS = 0.05
FEW_POINTS, MANY_POINTS = 1 << 14, 1 << 20
# The shape may differ at this share of the points on the two ends of a periodic axis.
MAX_SEAM_MISMATCH = 5e-3
# A part of the shape whose size relative to the box is beyond these was given in other units.
MIN_RELATIVE_SIZE, MAX_RELATIVE_SIZE = 0.01, 100.0
# A tiny hole is accepted, with a warning, in a shape that fills more of the box than this.
MIN_SHARE_WITH_SMALL_HOLE = 0.5


@dataclasses.dataclass(frozen=True)
class Body:
    """The part of a box that lies inside a shape, at all times.

    >>> from pgt.geometry import Disk
    >>> body = Body(Bounds(("x", "y"), ((-1.0, 1.0), (-1.0, 1.0))), Disk(radius=0.5))
    >>> body.contains([[0.0, 0.0], [0.9, 0.0]]).tolist(), round(body.volume / np.pi, 4)
    ([True, False], 0.25)
    """

    box: Bounds
    shape: AbstractShape

    def __hash__(self) -> int:
        return hash((self.box, self.shape))

    @cached_property
    def space(self) -> Bounds:
        """The box without time."""
        return self.box.along(self.box.spatial_axes)

    @cached_property
    def solid(self) -> AbstractShape:
        """The shape, cut off at the ends of the box."""
        return Intersection(self.shape, self.case)

    @cached_property
    def case(self) -> Rectangle | Box:
        """The box as a shape."""
        return as_shape(self.box)

    @cached_property
    def _slack(self) -> float:
        return WALL_TOLERANCE * float(np.linalg.norm(self.space.extent))

    @property
    def volume(self) -> float:
        """The area or volume of the shape inside the box, times the duration."""
        return self.solid.measure() * self._duration

    @property
    def _duration(self) -> float:
        return math.prod(self.box.along(("t",)).extent) if self.box.has_time else 1.0

    # ---------------------------------------------------------------------------------- inside

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which of the points (n, d) lie inside, boundary included."""
        is_inside = self.box.contains(points)
        places = np.asarray(points, float)[:, : len(self.space.axes)]
        is_inside[is_inside] = self.shape.inside(places[is_inside], self._slack)
        return is_inside

    def from_unit(self, unit: Points) -> Points:
        """Points of the unit cube mapped to the inside; evenly spread points stay evenly spread."""
        places = pick_places(tabulate_places(self.space, self.solid), unit)
        if not self.box.has_time:
            return places
        times = self.box.along(("t",)).from_unit(unit[:, len(self.space.axes) :])
        library = jnp if isinstance(unit, jax.Array) else np
        return library.concatenate([places, times], axis=1)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n independent points, uniform inside; works under jit."""
        return jnp.asarray(self.from_unit(jax.random.uniform(key, (n, self.box.dimension))))

    def near_walls(self, key: Key, n: int, reach: float) -> Float[Array, "{n} d"]:
        """n independent points with density proportional to e^(-distance to the wall / reach).

        `reach` is a share of the shortest side of the box. Works under jit.
        """
        place_key, time_key = jax.random.split(key)
        places = sample_near_walls(
            place_key, n, *weigh_by_distance(self.space, self.solid, self.shape, reach)
        )
        if not self.box.has_time:
            return places
        times = self.box.along(("t",)).from_unit(jax.random.uniform(time_key, (n, 1)))
        return jnp.concatenate([places, times], axis=1)

    def even(self, n: int, seed: int = 0) -> Float[np.ndarray, "{n} d"]:
        """n fixed points that fill the inside evenly."""
        return even_inside(self, n, seed).copy()

    def quadrature(self, n: int) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, " m"]]:
        """About n fixed points, and quadrature weights that sum to the volume.

        Without time there are somewhat more points than n, and the weights integrate polynomials exactly.
        """
        if n < 1:
            raise InputError(f"quadrature(n={n}): ask for 1 point or more.")
        points, weights = nodes_inside(self, n)
        return points.copy(), weights.copy()

    def distance(self, points) -> Float[np.ndarray, " n"]:
        """The distance from each point to the nearest wall of the shape, negative inside."""
        return to_walls(self.shape, np.asarray(points, float)[:, : len(self.space.axes)])

    # ----------------------------------------------------------------------------------- walls

    def wall(self, name: str) -> tuple[Boundary, ...]:
        """Evenly spread points of the walls of that name, one boundary per wall."""
        if name not in self.shape.wall_names:
            raise InputError(shapes.no_such_wall(name, self.shape.wall_names))
        return self.solid.wall_parts(name)

    def face(self, axis: str, side: int) -> Boundary:
        """Points of the part of one face of the box that lies inside the shape."""
        column, case = self.space.index(axis), self.case
        count, bound = COUNTS[len(self.space.axes)], self.space.bounds(axis)[side]
        if isinstance(case, Rectangle):
            boundary = kept(self.solid, case, count)
            boundary = boundary.take(np.abs(boundary.points[:, column] - bound) <= self._slack)
        else:
            boundary = kept_of(self.solid, case, case.face(column, side, count))
        if not len(boundary.points):
            raise InputError(
                f"the shape does not reach the {('lower', 'upper')[side]} end of {axis}."
            )
        return boundary

    # ---------------------------------------------------------------------------------- checks

    def check(self, periodic: Sequence[str] = ()) -> None:
        """Raise where the shape does not fit the box.

        It must have the dimension and the units of the box, fill a part of it, have a wall in it that
        encloses the inside, and be the same at both ends of every periodic axis.
        """
        axes, shape = self.space.axes, self.shape
        if shape.dimension != len(axes):
            raise InputError(
                f"Domain(shape=...): a shape in {shape.dimension} dimensions does not fit the axes "
                f"{', '.join(axes)}; give a shape of {'the plane' if len(axes) == 2 else 'space'}."
            )
        places = np.asarray(self.space.from_unit(evenly(FEW_POINTS, len(axes))), float)
        share = float(np.mean(shape.inside(places)))
        for leaf in shape.leaves():
            self._check_size(leaf, share)
        if share < MIN_FILLED_SHARE and not self._has_inside():
            raise InputError(
                f"Domain(shape=...): nothing of the shape lies in the box {_shown(self.space)}; the "
                f"shape reaches from {_corner(shape.bounds()[0])} to {_corner(shape.bounds()[1])}. If it "
                "is meant to be there, it is too thin: walls closer to each other than some millionths "
                "of their size are one."
            )
        if share == 1 and not self.has_walls():
            raise InputError(
                f"Domain(shape=...): no wall of the shape lies in the box {_shown(self.space)}: it is "
                "all inside. Are both in the same units? Else leave the shape out."
            )
        if any(leaf.is_sought for leaf in shape.leaves()):
            self._check_closed(share)
        for axis in periodic:
            self._check_ends(axis, places)

    def _check_ends(self, axis: str, places: Float[np.ndarray, "n k"]) -> None:
        """Raise where the shape differs between the two ends of a periodic axis."""
        ends = []
        for bound in self.space.bounds(axis):
            at_end = places.copy()
            at_end[:, self.space.index(axis)] = bound
            ends.append(self.shape.inside(at_end, self._slack))
        if np.mean(ends[0] != ends[1]) > MAX_SEAM_MISMATCH:
            raise InputError(
                f"Domain(periodic={axis!r}): the shape is not the same at both ends of {axis}, which are "
                "one place. What reaches beyond one end comes in at the other: add it there, with "
                "shape.moved(...)."
            )

    def _check_closed(self, share: float) -> None:
        """Raise where the detected walls enclose another area than the one inside the shape."""
        count = MANY_POINTS if min(share, 1 - share) < MIN_SHARE_FOR_FEW_POINTS else FEW_POINTS
        places = self.space.from_unit(evenly(count, len(self.space.axes)))
        share = float(np.mean(self.shape.inside(np.asarray(places, float))))
        enclosed = self.solid.measure() / math.prod(self.space.extent)
        gap = min(MAX_AREA_GAP, MAX_RELATIVE_AREA_GAP * min(share, 1 - share))
        if abs(enclosed - share) > gap + 4 * math.sqrt(share * (1 - share) / count):
            raise InputError(
                f"Domain(shape=...): {share:.3g} of the box {_shown(self.space)} is inside, but walls "
                f"were found around {enclosed:.3g} of it. Leave out the limits x, y and z of a "
                "Formula, or make them wider than the shape; what is finer than a few thousandths of "
                "them, in space a few hundredths, is not found."
            )

    def _check_size(self, leaf, filled: float) -> None:
        """Raise where a part of the shape seems to be given in other units than the box.

        A small hole in a shape that fills most of the box may be a well or a wire. It leads to a warning,
        and only where it would lie in the box in other units.
        """
        lower, upper = leaf.bounds()
        if not np.isfinite([lower, upper]).all():
            return
        share = (upper - lower) / self.space.extent
        if share.max() >= MIN_RELATIVE_SIZE and share.min() <= MAX_RELATIVE_SIZE:
            return
        factor = share.max() if share.max() < MIN_RELATIVE_SIZE else share.min()
        doubt = (
            f"Domain(shape=...): {leaf.wall!r} is {max(factor, 1 / factor):.3g} times "
            f"{'smaller' if factor < 1 else 'larger'} than the box {_shown(self.space)}: it reaches from "
            f"{_corner(lower)} to {_corner(upper)}. Write both in the same units, for example with "
            f"shape.scaled({'1000' if factor < 1 else '0.001'})"
        )
        if factor > 1 or filled < MIN_SHARE_WITH_SMALL_HOLE:
            raise InputError(f'{doubt}, in a run file kind = "placed" and factor.')
        grown = (np.asarray(lower) / factor, np.asarray(upper) / factor)
        if np.all((grown[0] < self.space.upper) & (grown[1] > self.space.lower)):
            warn_of(f"{doubt}, unless it is that small.")

    def _has_inside(self) -> bool:
        """Whether the walls of the shape enclose more than a negligible share of the box."""
        try:
            return bool(self.solid.measure() > 1e-9 * math.prod(self.space.extent))
        except InputError:
            return False

    def has_walls(self) -> bool:
        """Whether a wall of the shape lies in the box."""
        for name in self.shape.wall_names:
            with contextlib.suppress(InputError):
                self.wall(name)
                return True
        return False


def check_shape(shape, box: Bounds, periodic: Sequence[str]) -> AbstractShape:
    """The shape cut to the box; raises where it does not fit the box (`Body.check`)."""
    if not isinstance(shape, AbstractShape):
        raise InputError(f"Domain(shape={shape!r}): write a shape, such as Disk(radius=1).")
    space = box.along(box.spatial_axes)
    if len(space.axes) not in (2, 3):
        raise InputError(
            f"Domain(shape=...): a shape needs two or three axes of space, not {', '.join(box.axes)}."
        )
    cut_shape = (
        shape.within(space.lower, space.upper) if shape.dimension == len(space.axes) else shape
    )
    Body(box, cut_shape).check(periodic)
    return cut_shape


def as_shape(box: Bounds) -> Rectangle | Box:
    """The spatial part of a box as a shape."""
    space = box.along(box.spatial_axes)
    make_box = Rectangle if len(space.axes) == 2 else Box
    return make_box(*space.limits, name="the box")


@lru_cache(maxsize=8)
def nodes_inside(
    body: Body, n: int, fine: int | None = None
) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, " m"]]:
    """The points and weights of `Body.quadrature`; `fine` is the resolution of `find_tiles`."""
    if body.box.has_time:
        return body.even(n), np.full(n, body.volume / n)
    tiles = find_tiles(body.solid.inside, body.space.lower, body.space.upper, n, fine)
    points, shares = tiles or (body.even(n), np.full(n, 1 / n))
    return points, balance_weights(points, shares * body.volume, body.solid.walls())


def _shown(box: Bounds) -> str:
    ends = zip(box.axes, box.limits, strict=True)
    return ", ".join(f"{axis} = ({low:g}, {high:g})" for axis, (low, high) in ends)


def _corner(place) -> str:
    return "(" + ", ".join(f"{value:g}" for value in place) + ")"
