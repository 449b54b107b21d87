"""Regions on which conditions hold: faces of a box, walls of a shape, periodic seams, single positions.

Every region gives random points for stochastic training and fixed points (Gauss–Legendre or evenly
spread ones) for least squares. Faces and walls also give outward normals.
"""

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
# The number of quadrature nodes per axis of a mean over a box, by the number of spatial axes. Ten nodes
# integrate a wave of three lengths across the box to 1e-5; six would have an error of a third. More nodes
# make every evaluation of the mean slower.
NODES = {1: 24, 2: 10, 3: 7}
# The number of quadrature nodes of a mean over a shape, by whether there is time. A field may be steep
# beside a hole, so there are more nodes than in a box; with time, fewer keep all instants affordable.
MEAN_NODES_IN_SHAPE = {False: 1024, True: 400}
# A wall of a shape has this many times the nodes of a face, because it may bend and have corners.
SHAPE_WALL_FACTOR = 4
# The greatest number of stored places on a wall, by the dimension of space.
MAX_WALL_PLACES = {2: 1024, 3: 4096}
# The number of instants in a training step at which a mean over space is taken; each costs all its nodes.
INSTANTS_PER_STEP = 8


class AbstractRegion(eqx.Module):
    """The part of a box in which a condition holds; it gives random points and fixed ones.

    >>> import pgt
    >>> walls = pgt.Domain(x=(0, 1), t=(0, 2)).walls("x")
    >>> isinstance(walls, AbstractRegion), walls.free
    (True, ('t',))
    """

    box: eqx.AbstractVar[Bounds]

    @property
    @abc.abstractmethod
    def free(self) -> tuple[str, ...]:
        """The axes that vary on every part of the region."""

    @abc.abstractmethod
    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """n random points, or fewer where more would add nothing; works under jit."""

    @abc.abstractmethod
    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n fixed points, or fewer where more would add nothing."""


class Faces(AbstractRegion):
    """Some faces of a box, each as a pair of the fixed axis and its lower (0) or upper (1) bound."""

    box: Bounds = eqx.field(static=True)
    pairs: tuple[tuple[str, int], ...] = eqx.field(static=True)

    @property
    def free(self) -> tuple[str, ...]:
        """The axes that vary on every face."""
        held = {axis for axis, _ in self.pairs}
        return tuple(axis for axis in self.box.axes if axis not in held)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n uniform points; consecutive points lie on different faces in turn."""
        rows = np.arange(n)
        face = rows % len(self.pairs)
        points = self.box.sample(key, n)
        return points.at[rows, self._columns[face]].set(self._bounds[face])

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n Gauss–Legendre points, shared evenly between the faces."""
        per_face = -(-n // len(self.pairs))
        return np.concatenate([self._nodes_of(axis, side, per_face) for axis, side in self.pairs])

    def normal(self, z: Point) -> Float[Array, " d"]:
        """The outward normal of the face on which z lies."""
        return jnp.asarray(self._normals)[self._nearest(z)]

    def normal_derivative(self, z: Point, slope: Callable[[str], Scalar]) -> Float[Array, ""]:
        """The derivative along the outward normal at z, from the derivatives `slope(axis)`.

        `slope` is called only for axes along which some face has a normal.
        """
        slopes = {axis: slope(axis) for axis, _ in self.pairs}
        normal = self.normal(z)
        products = [
            normal[self.box.index(axis)] * derivative for axis, derivative in slopes.items()
        ]
        return jnp.sum(jnp.stack(products))

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
        """The number of the face nearest to z."""
        distance = jnp.abs(z[self._columns] - self._bounds) / self.box.extent[self._columns]
        return jnp.argmin(distance)

    def _nodes_of(self, held: str, side: int, n: int) -> Float[np.ndarray, "m d"]:
        """At least n Gauss–Legendre points of one face."""
        across = self.box.along([axis for axis in self.box.axes if axis != held])
        points, _ = across.quadrature(n)
        return np.insert(points, self.box.index(held), self.box.bounds(held)[side], axis=1)


class Spread(AbstractRegion):
    """A wall, or all of space at the first instant, as evenly spread places with normals.

    All points of the region are at these places, so that every point has the exact normal of its place.
    """

    box: Bounds = eqx.field(static=True)
    places: Float[Array | np.ndarray, "m k"]
    normals: Float[Array | np.ndarray, "m k"]
    area: Float[Array | np.ndarray, ""]
    at_once: bool = eqx.field(static=True, default=False)

    @staticmethod
    def on(box: Bounds, parts: Sequence[Boundary]) -> "Spread":
        """The region on parts of a boundary, with places that all represent the same area."""
        parts = [part for part in parts if len(part.points)]
        if not parts:
            raise InputError("nothing is left of the wall: the condition holds nowhere on it.")
        boundary = Boundary.joined(parts)
        chosen = (_along if boundary.points.shape[1] == 2 else _over)(parts)
        total = np.asarray(boundary.weights.sum())
        return Spread(box, boundary.points[chosen], boundary.normals[chosen], total)

    @staticmethod
    def at_start(box: Bounds, places: Float[np.ndarray, "m k"]) -> "Spread":
        """The region of all of space at the first instant."""
        return Spread(box, places, np.zeros_like(places), np.asarray(0.0), at_once=True)

    @property
    def free(self) -> tuple[str, ...]:
        """The spatial axes at the first instant; on a wall, time where there is time."""
        if self.at_once:
            return self.box.spatial_axes
        return ("t",) if self.box.has_time else ()

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n random places, each at a random time of its own."""
        place_key, time_key = jax.random.split(key)
        rows = jax.random.randint(place_key, (n,), 0, len(self.places))
        times = jax.random.uniform(time_key, (n,))
        return jnp.asarray(self._timed(jnp.asarray(self.places)[rows], times))

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """Fixed points at the places, SHAPE_WALL_FACTOR n of them on a wall, with evenly spread times."""
        n = n if self.at_once else SHAPE_WALL_FACTOR * n
        count = min(n, len(self.places)) if not self.box.has_time or self.at_once else n
        numbers = np.arange(count)
        if self.places.shape[1] == 2 and not self.at_once:
            rows = (numbers * 2 + 1) * len(self.places) // (2 * count)
        else:
            rows = numbers % len(self.places)
        return np.asarray(self._timed(np.asarray(self.places)[rows], evenly(count, 1)[:, 0]))

    def normal(self, z: Point) -> Float[Array, " d"]:
        """The outward normal at the place nearest to z."""
        k = self.places.shape[1]
        normal = _nearest(jnp.asarray(self.normals), jnp.asarray(self.places), z[:k])
        return jnp.pad(normal, (0, self.box.dimension - k))

    def normal_derivative(self, z: Point, slope: Callable[[str], Scalar]) -> Float[Array, ""]:
        """The derivative along the outward normal at z, from the derivatives `slope(axis)`."""
        normal = self.normal(z)
        axes = self.box.spatial_axes
        return jnp.sum(jnp.stack([normal[k] * slope(axis) for k, axis in enumerate(axes)]))

    def _timed(self, places, share):
        """The places with a time each, at the given `share` of the time axis, where there is time."""
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
    """The normal of the place nearest to `place`."""
    return normals[jnp.argmin(jnp.sum((places - place) ** 2, axis=1))]


def _along(parts: Sequence[Boundary]) -> Int[np.ndarray, " m"]:
    """The indices of points of walls in the plane that represent equal lengths.

    The points of a wall in the plane are in order along it.
    """
    weights = np.concatenate([part.weights for part in parts])
    count = min(MAX_WALL_PLACES[2], len(weights))
    share = (np.arange(count) + 0.5) / count + 1e-9  # shifted off the ends of the points' intervals
    picks = np.searchsorted(np.cumsum(weights) / weights.sum(), share)
    return picks.clip(0, len(weights) - 1)


def _over(parts: Sequence[Boundary]) -> Int[np.ndarray, " m"]:
    """The indices of points of walls in space, as many of each wall as its share of the area.

    The first points of a wall fill it evenly, so the first ones are taken.
    """
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
    """The two ends of a periodic axis, which are one place.

    Its points are on the lower end. `where` is the part of that end inside the shape, if there is one.
    """

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
        """z moved to the lower end and z moved to the upper end."""
        column = self.box.index(self.axis)
        lower, upper = self.box.bounds(self.axis)
        z = jnp.asarray(z)
        return z.at[column].set(lower), z.at[column].set(upper)

    @property
    def _lower(self) -> AbstractRegion:
        return self.where or Faces(self.box, ((self.axis, 0),))


class Instants(AbstractRegion):
    """One position at all times, or the mean over all of space at all times (`position` None).

    Where the position includes a time, or where there is no time axis, the region is a single point.
    Where space has a shape, `places` and `shares` are the quadrature nodes and weights of the mean.
    """

    box: Bounds = eqx.field(static=True)
    position: tuple[tuple[str, float], ...] | None = eqx.field(static=True)
    places: Float[np.ndarray, "q k"] | None = None
    shares: Float[np.ndarray, " q"] | None = None

    @property
    def free(self) -> tuple[str, ...]:
        """("t",), or () where the region has one instant only."""
        return ("t",) if self.box.has_time and "t" not in dict(self.position or ()) else ()

    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """Points at n random times; at most INSTANTS_PER_STEP where each is a mean over many nodes."""
        if not self.free:
            return jnp.asarray(self._centre)[None]
        count = min(n, INSTANTS_PER_STEP) if self.position is None else n
        points = jnp.tile(jnp.asarray(self._centre), (count, 1))
        times = self.box.along(self.free).sample(key, count)
        return points.at[:, self.box.index("t")].set(times[:, 0])

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """Points at n Gauss–Legendre times."""
        if not self.free:
            return self._centre[None]
        times, _ = self.box.along(self.free).quadrature(max(n, 1))
        points = np.tile(self._centre, (len(times), 1))
        points[:, self.box.index("t")] = times[:, 0]
        return points

    def mean_nodes(self, z: Point) -> tuple[Float[Array, "q d"], Float[np.ndarray, " q"]]:
        """The points at the time of z at which the field is evaluated, and the weights of their mean."""
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
        """The position; along axes that it does not give, the middle of the box."""
        held = dict(zip(self.box.axes, self.box.middle, strict=True)) | dict(self.position or ())
        return np.array([held[axis] for axis in self.box.axes])


def walled_ends(
    box: Bounds, periodic: Sequence[str], axis: str | Sequence[str] | None, side: str
) -> tuple[tuple[str, int], ...]:
    """The ends of the given spatial axes, or of all that are not periodic, as pairs (axis, 0 or 1)."""
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
