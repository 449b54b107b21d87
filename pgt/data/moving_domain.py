"""A shape that moves through a box: the same questions as are asked of one that stands still."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.special import roots_legendre

from pgt.core.errors import InputError
from pgt.core.types import Key, Points
from pgt.data.bounds import Bounds
from pgt.data.condition_regions import IN_SHAPE
from pgt.data.moving_boundary import Means, Side, Swept, sides_of, swept
from pgt.data.shaped_domain import Body, InBox, nodes_inside
from pgt.data.tables import even_inside, graded, graded_places, picked, places_inside
from pgt.geometry.plane import Rectangle
from pgt.geometry.shape import AbstractShape, no_such_wall
from pgt.geometry.walls import COUNTS

LOOKED_AT = 9  # instants at which a shape is checked
AREAS = 24  # instants of which the volume over time is put together
MEANS = 32  # instants at which a mean is known
FINE = {2: 192, 3: 48}  # places along each axis, by which an instant's inside is told


@dataclasses.dataclass(frozen=True)
class Passage(InBox):
    """What of a box lies inside a shape that moves, each point at its time.

    >>> from pgt.geometry import Disk
    >>> box = Bounds(("x", "y", "t"), ((-1.0, 1.0), (-1.0, 1.0), (0.0, 2.0)))
    >>> passage = Passage(box, Disk(radius=0.5).moving(x="0.2*t"))
    >>> passage.contains([[0.8, 0.0, 0.0], [0.8, 0.0, 2.0]]).tolist()
    [False, True]
    >>> round(passage.volume / np.pi, 4)
    0.5
    """

    box: Bounds
    shape: AbstractShape

    def at(self, t: float) -> Body:
        """The shape of one instant, in the box without time."""
        return Body(self.space, self.shape.at(t))

    @property
    def volume(self) -> float:
        """The area or volume of the shape, over all time."""
        return _volume(self)

    # ---------------------------------------------------------------------------------- inside

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which of the points (n, d) lie inside at their time, boundary included."""
        found = self.box.contains(points)
        found[found] = self.shape.inside(np.asarray(points, float)[found], self._slack)
        return found

    def from_unit(self, unit: Points) -> Points:
        """Points of the unit cube as points inside: what is spread evenly stays so."""
        return picked(places_inside(self.box, self.solid), unit)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n independent points, uniform inside; works under jit."""
        return jnp.asarray(self.from_unit(jax.random.uniform(key, (n, self.box.dimension))))

    def near_walls(self, key: Key, n: int, reach: float) -> Float[Array, "{n} d"]:
        """n independent points, the denser the closer a wall of the shape is; works under jit."""
        return graded(key, n, *graded_places(self.box, self.solid, self.shape, reach))

    def even(self, n: int, seed: int = 0) -> Float[np.ndarray, "{n} d"]:
        """n fixed points that fill the inside evenly."""
        return even_inside(self, n, seed).copy()

    def quadrature(self, n: int) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, " m"]]:
        """n fixed points, and weights that sum to the volume."""
        if n < 1:
            raise InputError(f"quadrature(n={n}): ask for 1 point or more.")
        return self.even(n), np.full(n, self.volume / n)

    def distance(self, points) -> Float[np.ndarray, " n"]:
        """How far the nearest wall is at the time of every point; below zero inside. Beside a corner of
        a shape that is put together of others, it may be less."""
        return self.shape.distance(np.asarray(points, float))

    def means(self) -> Means:
        """All of space at some instants, of which a mean is taken."""
        return _means(self)

    # ----------------------------------------------------------------------------------- walls

    def wall(self, name: str, holds: Callable) -> Swept:
        """The walls of that name over time, where a condition `holds` in the places."""
        if name not in self.shape.wall_names:
            raise InputError(no_such_wall(name, self.shape.wall_names))
        return swept(self.box, self.solid, sides_of(self.solid, name), holds)

    def faces(self, ends: Sequence[tuple[str, int]], holds: Callable) -> Swept:
        """Ends of the box over time, as far as the shape reaches there."""
        return swept(self.box, self.solid, [self._side(*end) for end in ends], holds)

    def _side(self, axis: str, side: int) -> Side:
        column, count = self.space.index(axis), COUNTS[len(self.space.axes)]
        if isinstance(self.case, Rectangle):
            own, bound = self.case.boundary(count), self.space.bounds(axis)[side]
            return Side(own.take(np.abs(own.points[:, column] - bound) <= self._slack), self.case)
        return Side(self.case.face(column, side, count), self.case)

    def velocity(self, points: Float[np.ndarray, "n d"], name: str) -> Float[np.ndarray, "n k"]:
        """How fast the wall of that name moves at points of it: the nearest, where several have it."""
        leaves = [leaf for leaf in self.shape.leaves() if leaf.wall == name]
        asked = [points[:, : leaf.dimension + leaf.moves] for leaf in leaves]
        away = [np.abs(leaf.distance(z)) for leaf, z in zip(leaves, asked, strict=True)]
        speeds = np.stack([leaf.velocity(z) for leaf, z in zip(leaves, asked, strict=True)])
        return speeds[np.argmin(away, axis=0), np.arange(len(points))]

    # ---------------------------------------------------------------------------------- checks

    def check(self, periodic: Sequence[str] = ()) -> None:
        """Raise unless at some instants the shape makes sense in the box, and a wall is ever in it."""
        times = np.linspace(*self.box.bounds("t"), LOOKED_AT).tolist()
        for t in times:
            try:
                self.at(t).check(periodic, has_walls=False)
            except InputError as error:
                raise InputError(f"at t = {t:g}, {error}") from None
        if not any(self.at(t).has_walls() for t in times):
            self.at(times[0]).check(periodic)


@lru_cache(maxsize=8)
def _volume(passage: Passage) -> float:
    low, high = passage.box.bounds("t")
    nodes, weights = roots_legendre(AREAS)
    times = low + (high - low) * (1 + nodes) / 2
    areas = [passage.at(float(t)).solid.measure() for t in times]
    return float(weights @ areas) * (high - low) / 2


@lru_cache(maxsize=8)
def _means(passage: Passage) -> Means:
    low, high = passage.box.bounds("t")
    times = low + (high - low) * (np.arange(MEANS) + 0.5) / MEANS
    count, fine = IN_SHAPE[True], FINE[len(passage.space.axes)]
    found = [nodes_inside(passage.at(float(t)), count, fine) for t in times]
    most = max(len(weights) for _, weights in found)
    places = np.stack([_filled_up(places, most) for places, _ in found])
    shares = np.stack([_filled_up(w / w.sum(), most, 0.0) for _, w in found])
    return Means(passage.box, times, places, shares)


def _filled_up(rows: np.ndarray, most: int, last: float | None = None) -> np.ndarray:
    """With copies of the last row, or with a number, to so many."""
    if last is not None:
        return np.append(rows, np.full(most - len(rows), last))
    return np.concatenate([rows, np.repeat(rows[-1:], most - len(rows), axis=0)])


def body_of(box: Bounds, shape: AbstractShape) -> Body | Passage:
    """Who answers for a shape in a box."""
    return Passage(box, shape) if shape.moves else Body(box, shape)


def shaped(shape, box: Bounds, periodic: Sequence[str]) -> AbstractShape:
    """The shape, where it makes sense in the box."""
    if not isinstance(shape, AbstractShape):
        raise InputError(f"Domain(shape={shape!r}): write a shape, such as Disk(radius=1).")
    space = box.along(box.spatial_axes)
    if len(space.axes) not in (2, 3):
        raise InputError(
            f"Domain(shape=...): a shape needs two or three axes of space, not {', '.join(box.axes)}."
        )
    if shape.moves and not box.has_time:
        raise InputError(
            "Domain(shape=...): the shape moves, but the domain has no time; give it t=(0, 1), or "
            "shape.at(t) for the shape of one instant."
        )
    seen = box if shape.moves else space
    found = shape.within(seen.lower, seen.upper) if shape.dimension == len(space.axes) else shape
    body_of(box, found).check(periodic)
    return found
