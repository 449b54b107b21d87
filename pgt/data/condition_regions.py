"""Where conditions hold: the faces of a box, two ends sewn together, one position at all times."""

import abc
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pgt.core.errors import InputError
from pgt.core.types import Key, Point, Scalar
from pgt.data.bounds import Bounds, no_wall
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import Boundary

SIDES = {"lower": (0,), "upper": (1,), "both": (0, 1)}
# Of a mean over space: nodes per spatial axis, by their number. Ten integrate a wave of three lengths
# across the box to 1e-5; six would miss a third of it.
NODES = {1: 24, 2: 10, 3: 7}
# In a shape, where a field may be steep beside a hole; fewer (True) where time is an axis.
MEAN_NODES_IN_SHAPE = {False: 1024, True: 400}
# A wall of a shape may bend and have corners, so it has so many times more nodes.
SHAPE_WALL_FACTOR = 4
# The number of places on a wall by the dimension of space.
MAX_WALL_PLACES = {2: 1024, 3: 4096}
# A mean over space is taken at so many instants in a step, since each costs all its nodes.
INSTANTS_PER_STEP = 8


class AbstractRegion(eqx.Module):
    """Where in a box a condition holds: points at random and fixed ones.

    >>> import pgt
    >>> walls = pgt.Domain(x=(0, 1), t=(0, 2)).walls("x")
    >>> isinstance(walls, AbstractRegion), walls.free
    (True, ('t',))
    """

    box: eqx.AbstractVar[Bounds]

    @property
    @abc.abstractmethod
    def free(self) -> tuple[str, ...]:
        """The axes that vary all over the region."""

    @abc.abstractmethod
    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """Random points, n of them unless fewer say as much; works under jit."""

    @abc.abstractmethod
    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """Fixed points, at least n of them unless fewer say as much."""


class Faces(AbstractRegion):
    """Some faces of a box, each a pair: an axis, held at its lower (0) or upper (1) bound."""

    box: Bounds = eqx.field(static=True)
    pairs: tuple[tuple[str, int], ...] = eqx.field(static=True)

    @property
    def free(self) -> tuple[str, ...]:
        """The axes that vary on every face."""
        held = {axis for axis, _ in self.pairs}
        return tuple(axis for axis in self.box.axes if axis not in held)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n points, uniform on the faces, which take turns."""
        rows = np.arange(n)
        turn = rows % len(self.pairs)
        points = self.box.sample(key, n)
        return points.at[rows, self._columns[turn]].set(self._bounds[turn])

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n Gauss–Legendre points, shared evenly between the faces."""
        each = -(-n // len(self.pairs))
        return np.concatenate([self._nodes_of(axis, side, each) for axis, side in self.pairs])

    def normal(self, z: Point) -> Float[Array, " d"]:
        """The outward normal of the face on which z lies."""
        return jnp.asarray(self._normals)[self._nearest(z)]

    def normal_derivative(self, z: Point, slope: Callable[[str], Scalar]) -> Float[Array, ""]:
        """Along the outward normal at z; `slope` is asked for those axes only that a normal has."""
        slopes = {axis: slope(axis) for axis, _ in self.pairs}
        normal = self.normal(z)
        parts = [normal[self.box.index(axis)] * along for axis, along in slopes.items()]
        return jnp.sum(jnp.stack(parts))

    @property
    def _columns(self) -> Int[np.ndarray, " faces"]:
        return np.array([self.box.index(axis) for axis, _ in self.pairs])

    @property
    def _bounds(self) -> Float[np.ndarray, " faces"]:
        return np.array([self.box.bounds(axis)[side] for axis, side in self.pairs])

    @property
    def _normals(self) -> Float[np.ndarray, "faces d"]:
        normals = np.zeros((len(self.pairs), self.box.dimension))
        normals[np.arange(len(normals)), self._columns] = [2 * side - 1 for _, side in self.pairs]
        return normals

    def _nearest(self, z: Point) -> Int[Array, ""]:
        distance = jnp.abs(z[self._columns] - self._bounds) / self.box.extent[self._columns]
        return jnp.argmin(distance)

    def _nodes_of(self, held: str, side: int, n: int) -> Float[np.ndarray, "m d"]:
        across = self.box.along([axis for axis in self.box.axes if axis != held])
        points, _ = across.quadrature(n)
        return np.insert(points, self.box.index(held), self.box.bounds(held)[side], axis=1)


class Spread(AbstractRegion):
    """Places spread evenly over a wall, or over space at the start; a normal at each.

    Points are drawn from the places alone, so that the normal of the nearest place is that of the point.
    """

    box: Bounds = eqx.field(static=True)
    places: Float[Array | np.ndarray, "m k"]
    normals: Float[Array | np.ndarray, "m k"]
    area: Float[Array | np.ndarray, ""]
    at_once: bool = eqx.field(static=True, default=False)

    @staticmethod
    def on(box: Bounds, parts: Sequence[Boundary]) -> "Spread":
        """On parts of a boundary: every place stands for as much of it as any other."""
        parts = [part for part in parts if len(part.points)]
        if not parts:
            raise InputError("nothing is left of the wall: the condition holds nowhere on it.")
        found = Boundary.joined(parts)
        picks = (_along if found.points.shape[1] == 2 else _over)(parts)
        total = np.asarray(found.weights.sum())
        return Spread(box, found.points[picks], found.normals[picks], total)

    @staticmethod
    def at_start(box: Bounds, places: Float[np.ndarray, "m k"]) -> "Spread":
        """All of space at the first moment."""
        return Spread(box, places, np.zeros_like(places), np.asarray(0.0), at_once=True)

    @property
    def free(self) -> tuple[str, ...]:
        """Space at the start; time on a wall."""
        if self.at_once:
            return self.box.spatial_axes
        return ("t",) if self.box.has_time else ()

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n places at random, each at a time of its own."""
        place_key, time_key = jax.random.split(key)
        rows = jax.random.randint(place_key, (n,), 0, len(self.places))
        times = jax.random.uniform(time_key, (n,))
        return jnp.asarray(self._timed(jnp.asarray(self.places)[rows], times))

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """Fixed places, more than n where a wall bends; their times fill the axis evenly."""
        n = n if self.at_once else SHAPE_WALL_FACTOR * n
        count = min(n, len(self.places)) if not self.box.has_time or self.at_once else n
        rank = np.arange(count)
        if self.places.shape[1] == 2 and not self.at_once:
            rows = (rank * 2 + 1) * len(self.places) // (2 * count)
        else:
            rows = rank % len(self.places)
        return np.asarray(self._timed(np.asarray(self.places)[rows], evenly(count, 1)[:, 0]))

    def normal(self, z: Point) -> Float[Array, " d"]:
        """The outward normal of the place nearest to z."""
        k = self.places.shape[1]
        found = _nearest(jnp.asarray(self.normals), jnp.asarray(self.places), z[:k])
        return jnp.pad(found, (0, self.box.dimension - k))

    def normal_derivative(self, z: Point, slope: Callable[[str], Scalar]) -> Float[Array, ""]:
        """Along the outward normal at z."""
        normal = self.normal(z)
        axes = self.box.spatial_axes
        return jnp.sum(jnp.stack([normal[k] * slope(axis) for k, axis in enumerate(axes)]))

    def _timed(self, places, share):
        """The places with a time each, where there is time."""
        if not self.box.has_time:
            return places
        library = jnp if isinstance(places, jax.Array) else np
        low, high = self.box.bounds("t")
        times = low + (high - low) * (0.0 * share if self.at_once else share)
        return library.concatenate([places, times[:, None].astype(places.dtype)], axis=1)


@jax.jit  # one program for every number of places, and not one for each operation
def _nearest(
    normals: Float[Array, "m k"], places: Float[Array, "m k"], place: Float[Array, " k"]
) -> Float[Array, " k"]:
    """The normal at the nearest of the places."""
    return normals[jnp.argmin(jnp.sum((places - place) ** 2, axis=1))]


def _along(parts: Sequence[Boundary]) -> Int[np.ndarray, " m"]:
    """Which points to take of walls in the plane: they stand in order along them."""
    weights = np.concatenate([part.weights for part in parts])
    count = min(MAX_WALL_PLACES[2], len(weights))
    share = (np.arange(count) + 0.5) / count + 1e-9  # beside the ends of places
    picks = np.searchsorted(np.cumsum(weights) / weights.sum(), share)
    return picks.clip(0, len(weights) - 1)


def _over(parts: Sequence[Boundary]) -> Int[np.ndarray, " m"]:
    """Which points to take of walls in space: of each the first, which fill it, by its area."""
    areas = np.array([part.weights.sum() for part in parts])
    sizes = np.array([len(part.points) for part in parts])
    ends = np.round(np.cumsum(areas) / areas.sum() * min(MAX_WALL_PLACES[3], sizes.sum())).astype(
        int
    )
    taken = np.diff(ends, prepend=0)
    firsts = np.cumsum(sizes) - sizes
    return np.concatenate(
        [first + np.arange(n) % size for first, n, size in zip(firsts, taken, sizes, strict=True)]
    )


class Seam(AbstractRegion):
    """The two ends of an axis, where what is periodic is sewn together. Its points are at the lower,
    `where` a shape reaches it."""

    box: Bounds = eqx.field(static=True)
    axis: str = eqx.field(static=True)
    where: AbstractRegion | None = None

    @property
    def free(self) -> tuple[str, ...]:
        """All axes but one."""
        return self._lower.free

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n uniform points."""
        return self._lower.sample(key, n)

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n Gauss–Legendre points."""
        return self._lower.nodes(n)

    def ends(self, z: Point) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        """z moved to the lower end, and to the upper."""
        column = self.box.index(self.axis)
        lower, upper = self.box.bounds(self.axis)
        z = jnp.asarray(z)
        return z.at[column].set(lower), z.at[column].set(upper)

    @property
    def _lower(self) -> AbstractRegion:
        return self.where or Faces(self.box, ((self.axis, 0),))


class Instants(AbstractRegion):
    """One position at all times, or all of space (`position` None), of which a mean is taken.

    Where time is held, too, or where there is none, it is a single point. `places` and `shares` are
    those of which a mean is taken, where space has a shape.
    """

    box: Bounds = eqx.field(static=True)
    position: tuple[tuple[str, float], ...] | None = eqx.field(static=True)
    places: Float[np.ndarray, "q k"] | None = None
    shares: Float[np.ndarray, " q"] | None = None

    @property
    def free(self) -> tuple[str, ...]:
        """("t",), or () where there is one instant only."""
        return ("t",) if self.box.has_time and "t" not in dict(self.position or ()) else ()

    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """At random times; few of them where each is a mean over many nodes."""
        if not self.free:
            return jnp.asarray(self._centre)[None]
        count = min(n, INSTANTS_PER_STEP) if self.position is None else n
        points = jnp.tile(jnp.asarray(self._centre), (count, 1))
        times = self.box.along(self.free).sample(key, count)
        return points.at[:, self.box.index("t")].set(times[:, 0])

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At n Gauss–Legendre times."""
        if not self.free:
            return self._centre[None]
        times, _ = self.box.along(self.free).quadrature(max(n, 1))
        points = np.tile(self._centre, (len(times), 1))
        points[:, self.box.index("t")] = times[:, 0]
        return points

    def mean_nodes(self, z: Point) -> tuple[Float[Array, "q d"], Float[np.ndarray, " q"]]:
        """Where a field is asked for at the time of z, and the weights of its mean."""
        if self.position is not None:
            return jnp.asarray(z)[None], np.ones(1)
        axes = self.box.spatial_axes
        if self.places is None or self.shares is None:
            points, weights = self.box.along(axes).quadrature(NODES[len(axes)] ** len(axes))
        else:
            points, weights = self.places, self.shares
        columns = [self.box.index(axis) for axis in axes]
        copies = jnp.tile(jnp.asarray(z), (len(points), 1))
        return copies.at[:, columns].set(points), weights / weights.sum()

    @property
    def _centre(self) -> Float[np.ndarray, " d"]:
        """The position; elsewhere the middle."""
        held = dict(zip(self.box.axes, self.box.middle, strict=True)) | dict(self.position or ())
        return np.array([held[axis] for axis in self.box.axes])


def walled_ends(
    box: Bounds, periodic: Sequence[str], axis: str | Sequence[str] | None, side: str
) -> tuple[tuple[str, int], ...]:
    """The ends of some spatial axes, or of all that are not periodic: each an axis and 0 or 1."""
    walled = tuple(name for name in box.spatial_axes if name not in periodic)
    axes = (axis,) if isinstance(axis, str) else tuple(axis or walled)
    for name in axes:
        box.index(name)
        if name not in walled:
            raise InputError(no_wall(name))
    return tuple((name, end) for name in axes for end in ends_of(side))


def ends_of(side: str) -> tuple[int, ...]:
    """0 for the lower end and 1 for the upper, or both."""
    if side not in SIDES:
        raise InputError(f"there is no side {side!r}; write 'lower', 'upper' or 'both'.")
    return SIDES[side]
