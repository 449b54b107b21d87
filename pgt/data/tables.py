"""Tables of places inside a shape, from which points are taken."""

import itertools
from functools import lru_cache
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.errors import InputError
from pgt.core.types import Key, Points
from pgt.data.bounds import Bounds
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import AbstractShape

# By the dimension of space: cells along each axis of the grid from which places inside are taken, and
# places along each axis of the table.
SIDES = {2: 1024, 3: 80}
PLACES = {2: 256, 3: 40}
MOST = 1 << 24  # points tried to find those inside
TOO_THIN = (
    "the shape (walls: {names}) is too thin for its box: of millions of points hardly one is inside. "
    "Make it wider than a ten-thousandth of the box, or give what is so thin one axis less: its length."
)


@runtime_checkable
class Inside(Protocol):
    """What lies inside a shape."""

    @property
    def box(self) -> Bounds:
        """The box around it."""
        ...

    @property
    def shape(self) -> AbstractShape:
        """The shape."""
        ...

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which points are inside."""
        ...


@lru_cache(maxsize=8)  # a fit asks for the same points at every one of its turns
def even_inside(body: Inside, n: int, seed: int) -> Float[np.ndarray, "{n} d"]:
    """n fixed points that fill the inside evenly."""
    tried = 2 * n + 64
    while tried <= max(MOST, 64 * n):
        points = body.box.from_unit(evenly(tried, body.box.dimension, seed))
        inside = np.flatnonzero(body.contains(points))
        if len(inside) >= n:
            return np.asarray(points[inside[:n]], float)
        tried *= 4
    raise InputError(TOO_THIN.format(names=", ".join(body.shape.wall_names)))


@lru_cache(maxsize=8)
def places_inside(box: Bounds, solid: AbstractShape) -> Float[np.ndarray, "... k"]:
    """A table of places inside, each of which stands for the same volume: by x, then y, then z."""
    k = box.dimension
    side, random = SIDES[k], np.random.default_rng(0)
    cells = np.stack(np.meshgrid(*[np.arange(side)] * k, indexing="ij"), axis=-1).reshape(-1, k)
    unit = (cells + random.uniform(size=cells.shape)) / side
    places = np.asarray(box.from_unit(unit), float)
    places = places[solid.inside(places)]
    each = min(PLACES[k], int(len(places) ** (1 / k)))
    if each < 1:
        raise InputError(TOO_THIN.format(names=", ".join(solid.wall_names)))
    return _sorted(places, each, 0)


def picked(table: Float[np.ndarray, "... k"], unit: Points) -> Float[Array | np.ndarray, "n k"]:
    """Points of the unit cube as places of a table: what is spread evenly stays so."""
    library = jnp if isinstance(unit, jax.Array) else np
    k = table.ndim - 1
    sides = np.array(table.shape[:-1])
    cells = library.clip((unit[:, :k] * sides).astype(int), 0, sides - 1)
    index = library.sum(cells * np.append(np.cumprod(sides[::-1])[-2::-1], 1), axis=1)
    return library.asarray(table.reshape(-1, k).astype(unit.dtype))[index]


@lru_cache(maxsize=8)
def graded_places(box: Bounds, solid: AbstractShape, shape: AbstractShape, reach: float):
    """The places of that table one by one, and up to each of them the share of e^(-distance / reach), the
    reach as a share of the shortest side of the box in space."""
    places = places_inside(box, solid).reshape(-1, box.dimension)
    shortest = float(np.min(box.along(box.spatial_axes).extent))
    away = np.abs(shape.distance(places)) / (reach * shortest)
    weights = np.cumsum(np.exp(away.min() - away))
    return places.astype(np.float32), (weights / weights[-1]).astype(np.float32)


def graded(key: Key, n: int, places, shares) -> Float[Array, "{n} k"]:
    """n places at random, of those that `graded_places` found."""
    found = jnp.searchsorted(jnp.asarray(shares), jax.random.uniform(key, (n,)))
    return jnp.asarray(places)[jnp.minimum(found, len(places) - 1)]


def _sorted(places, each: int, axis: int):
    """Split along the axes in turn into equal numbers; of the last ones the middle is kept."""
    if axis == places.shape[1]:
        return places[len(places) // 2]
    places = places[np.argsort(places[:, axis], kind="stable")]
    ends = (np.arange(each + 1) * len(places)) // each
    if axis == places.shape[1] - 1:
        return places[(ends[:-1] + ends[1:]) // 2]
    parts = [_sorted(places[a:b], each, axis + 1) for a, b in itertools.pairwise(ends)]
    return np.stack(parts)
