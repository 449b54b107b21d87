"""Where conditions hold in a shape that moves: walls that are elsewhere at every time, and means of what
is inside then."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pgt.core.errors import InputError
from pgt.core.types import Key, Point, Scalar
from pgt.data.bounds import Bounds
from pgt.data.condition_regions import BENT, INSTANTS, AbstractRegion
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import AbstractLeaf, AbstractShape, Boundary
from pgt.geometry.walls import BESIDE, COUNTS

PLACES = 1 << 13  # on a wall, at a time each
FEWEST = 1 << 9  # else more are tried
TRIES = 3  # each time eight times as many


class Swept(AbstractRegion):
    """Places of a wall that moves, each at a time of its own, with its normal and its velocity then.

    Points are drawn from the places alone, so that the normal of the nearest place is that of the point.
    """

    box: Bounds = eqx.field(static=True)
    places: Float[Array | np.ndarray, "m d"]
    normals: Float[Array | np.ndarray, "m k"]
    velocities: Float[Array | np.ndarray, "m k"]

    @property
    def free(self) -> tuple[str, ...]:
        """Time."""
        return ("t",)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n of the places at random, each at its time."""
        return jnp.asarray(self.places)[jax.random.randint(key, (n,), 0, len(self.places))]

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """The first of the places, which fill the wall at all times."""
        return np.asarray(self.places, float)[: BENT * n]

    def normal(self, z: Point) -> Float[Array, " d"]:
        """The outward normal of the place nearest to z."""
        found = jnp.asarray(self.normals)[self._nearest(z)]
        return jnp.pad(found, (0, self.box.dimension - found.shape[0]))

    def velocity(self, z: Point) -> Float[Array, " k"]:
        """How fast the wall moves at the place nearest to z."""
        return jnp.asarray(self.velocities)[self._nearest(z)]

    def normal_derivative(self, z: Point, slope: Callable[[str], Scalar]) -> Float[Array, ""]:
        """Along the outward normal at z."""
        normal, axes = self.normal(z), self.box.spatial_axes
        return jnp.sum(jnp.stack([normal[k] * slope(axis) for k, axis in enumerate(axes)]))

    def _nearest(self, z: Point) -> Int[Array, ""]:
        return _nearest(jnp.asarray(self.places), jnp.asarray(z), jnp.asarray(self.box.extent))


@jax.jit  # one program for every number of places, and not one for each operation
def _nearest(
    places: Float[Array, "m d"], z: Float[Array, " d"], extent: Float[Array, " d"]
) -> Int[Array, ""]:
    """The number of the nearest place, in space and time."""
    return jnp.argmin(jnp.sum(((places - z) / extent) ** 2, axis=1))


class Means(AbstractRegion):
    """All of space inside a shape that moves, of which a mean is taken: at some instants, each with its
    places and what they stand for."""

    box: Bounds = eqx.field(static=True)
    times: Float[np.ndarray, " i"]
    places: Float[np.ndarray, "i q k"]
    shares: Float[np.ndarray, "i q"]

    @property
    def free(self) -> tuple[str, ...]:
        """Time."""
        return ("t",)

    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """Some of the instants: each costs all its places."""
        rows = jax.random.randint(key, (min(n, INSTANTS),), 0, len(self.times))
        return jnp.asarray(self._points)[rows]

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """The instants, or n of them."""
        count = min(max(n, 1), len(self.times))
        return self._points[(np.arange(count) * 2 + 1) * len(self.times) // (2 * count)]

    def mean_nodes(self, z: Point) -> tuple[Float[Array, "q d"], Float[Array, " q"]]:
        """Where a field is asked for at the time of z, and the weights of its mean."""
        row = jnp.argmin(jnp.abs(jnp.asarray(self.times) - z[-1]))
        places, shares = jnp.asarray(self.places)[row], jnp.asarray(self.shares)[row]
        return jnp.concatenate([places, jnp.full((len(places), 1), z[-1])], axis=1), shares

    @property
    def _points(self) -> Float[np.ndarray, "i d"]:
        middle = np.tile(self.box.middle[:-1], (len(self.times), 1))
        return np.column_stack([middle, self.times])


class Side(NamedTuple):
    """Points of a simple shape at rest, the shape, and those whose walls come before its own."""

    own: Boundary
    leaf: AbstractLeaf
    before: tuple[AbstractLeaf, ...] = ()


def sides_of(solid: AbstractShape, name: str) -> list[Side]:
    """Of the walls of a name."""
    leaves, count = solid.leaves(), COUNTS[solid.dimension]
    return [
        Side(leaf.own(count), leaf, leaves[:k])
        for k, leaf in enumerate(leaves)
        if leaf.wall == name
    ]


def swept(box: Bounds, solid: AbstractShape, sides: Sequence[Side], holds: Callable) -> Swept:
    """What is seen of walls over time, and where a condition `holds` in the places."""
    count = PLACES
    for _ in range(TRIES):
        parts = [
            _seen(box, solid, side, _rows(side.own, _share(side, sides, count), seed), holds)
            for seed, side in enumerate(sides)
        ]
        if sum(len(part.points) for part, *_ in parts) >= FEWEST:
            break
        count *= 8
    found = Boundary.joined([part for part, _, _, _ in parts])
    times, rank, speed = (np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
    if not len(times):
        raise InputError("nothing is left of the wall at any time: the condition holds nowhere.")
    picks = _alike(found.weights, np.argsort(rank, kind="stable"))[:PLACES]
    points = np.column_stack([found.points, times])[picks]
    return Swept(box, points, found.normals[picks], speed[picks])


def _share(side: Side, sides: Sequence[Side], count: int) -> int:
    """How many of so many places belong to one of the walls, by its length at rest."""
    total = sum(each.own.weights.sum() for each in sides)
    return max(round(count * side.own.weights.sum() / total), 1)


def _seen(box: Bounds, solid: AbstractShape, side: Side, chosen: tuple, holds: Callable):
    """Places of one wall on the boundary of the whole at their time, the times, their ranks, and how fast
    the wall moves there."""
    low, high = box.bounds("t")
    rows, share = chosen
    times = low + (high - low) * share
    found = side.leaf.carried(side.own.take(rows), times)
    found = found._replace(weights=found.weights / side.own.weights[rows])
    lower, upper = found.points.min(axis=0), found.points.max(axis=0)
    step = BESIDE * float(np.linalg.norm(upper - lower))

    def asked(shape: AbstractShape, aside: float, rows=slice(None)):
        return np.column_stack([found.points + aside * found.normals, times])[
            rows, : solid.dimension + shape.moves
        ]

    within = solid.inside(asked(solid, -step))
    stays = (within != solid.inside(asked(solid, step))) & holds(found.points)
    for other in side.before:
        stays[stays] = np.abs(other.distance(asked(other, 0.0, stays))) > step
    found = found._replace(normals=np.where(within, 1.0, -1.0)[:, None] * found.normals)
    speed = side.leaf.velocity(asked(side.leaf, 0.0, stays))
    return found.take(stays), times[stays], (np.flatnonzero(stays) + 0.5) / len(rows), speed


def _rows(
    own: Boundary, count: int, seed: int
) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Rows of points at rest, and shares of the time, such that the first of them fill both."""
    if own.points.shape[1] == 3:  # the first points fill a surface
        shares = np.random.default_rng(seed).permutation(evenly(count, 1)[:, 0])
        return np.arange(count) % len(own.points), shares
    along, share = evenly(count, 2, seed).T
    ends = np.cumsum(own.weights)
    return np.searchsorted(ends / ends[-1], along).clip(0, len(ends) - 1), share


def _alike(weights: Float[np.ndarray, " n"], order: Int[np.ndarray, " n"]):
    """Which places to take, in an order, such that each stands for as much as any other."""
    own = weights[order]
    if np.ptp(own) <= 1e-9 * own.max():
        return order
    ends = np.cumsum(own)
    return order[np.searchsorted(ends / ends[-1], (np.arange(len(own)) + 0.5) / len(own))]
