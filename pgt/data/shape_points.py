"""Tables of places inside a shape, from which points are taken."""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pgt.core.errors import InputError
from pgt.core.types import Key, Points
from pgt.data.bounds import Bounds
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.shape import AbstractShape, Boundary

# By the dimension of space: cells along each axis of the grid from which places inside are taken, and
# places along each axis of the table.
GRID_SIDES = {2: 1024, 3: 80}
TABLE_SIDES = {2: 256, 3: 40}
# A shape of which so many points of the box hit nothing is too thin.
MAX_POINTS_TRIED = 1 << 24
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
    while tried <= max(MAX_POINTS_TRIED, 64 * n):
        points = body.box.from_unit(evenly(tried, body.box.dimension, seed))
        inside = np.flatnonzero(body.contains(points))
        if len(inside) >= n:
            return np.asarray(points[inside[:n]], float)
        tried *= 4
    raise InputError(TOO_THIN.format(names=", ".join(body.shape.wall_names)))


@lru_cache(maxsize=8)
def tabulate_places(box: Bounds, solid: AbstractShape) -> Float[np.ndarray, "... k"]:
    """A table of places inside, each of which stands for the same volume: by x, then y, then z."""
    k = box.dimension
    side, random = GRID_SIDES[k], np.random.default_rng(0)
    cells = np.stack(np.meshgrid(*[np.arange(side)] * k, indexing="ij"), axis=-1).reshape(-1, k)
    unit = (cells + random.uniform(size=cells.shape)) / side
    places = np.asarray(box.from_unit(unit), float)
    places = places[solid.inside(places)]
    each = min(TABLE_SIDES[k], int(len(places) ** (1 / k)))
    if each < 1:
        raise InputError(TOO_THIN.format(names=", ".join(solid.wall_names)))
    return _sorted(places, each, 0)


def pick_places(
    table: Float[np.ndarray, "... k"], unit: Points
) -> Float[Array | np.ndarray, "n k"]:
    """Points of the unit cube as places of a table: what is spread evenly stays so."""
    library = jnp if isinstance(unit, jax.Array) else np
    k = table.ndim - 1
    sides = np.array(table.shape[:-1])
    cells = library.clip((unit[:, :k] * sides).astype(int), 0, sides - 1)
    index = library.sum(cells * np.append(np.cumprod(sides[::-1])[-2::-1], 1), axis=1)
    return library.asarray(table.reshape(-1, k).astype(unit.dtype))[index]


@lru_cache(maxsize=8)
def weigh_by_distance(box: Bounds, solid: AbstractShape, shape: AbstractShape, reach: float):
    """The places of that table one by one, and up to each of them the share of e^(-distance / reach), the
    reach as a share of the shortest side of the box in space."""
    places = tabulate_places(box, solid).reshape(-1, box.dimension)
    shortest = float(np.min(box.along(box.spatial_axes).extent))
    away = np.abs(shape.distance(places)) / (reach * shortest)
    weights = np.cumsum(np.exp(away.min() - away))
    return places.astype(np.float32), (weights / weights[-1]).astype(np.float32)


def sample_near_walls(key: Key, n: int, places, shares) -> Float[Array, "{n} k"]:
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


# Points along each axis of the grid that measures how much of a cell is inside.
FINE_GRID_SIDES = {2: 1024, 3: 96}
# Places of that grid for every place that is asked for, or the shape is too thin for tiles.
FINE_POINTS_PER_PLACE = 8
# The number of cells that hold the places asked for is searched with so many tries.
MAX_TRIES = 6


class Tiles(NamedTuple):
    """Places inside, and what share of the shape each stands for."""

    places: Float[np.ndarray, "m k"]
    shares: Float[np.ndarray, " m"]


def find_tiles(inside: Callable, lower, upper, count: int, fine: int | None = None) -> Tiles | None:
    """`count` places or somewhat more between two corners; None where the shape is too thin for them.
    `fine` is how many places along each axis are looked at.

    >>> def disk(places):
    ...     return np.linalg.norm(places, axis=1) < 1
    >>> places, shares = find_tiles(disk, np.array([-1.0, -1.0]), np.array([1.0, 1.0]), 200)
    >>> len(places) < 300, round(float(np.sum(places**2, axis=1) @ shares), 3)  # exactly 0.5
    (True, 0.499)
    """
    axes = len(lower)
    fine = fine or FINE_GRID_SIDES[axes]
    grid = np.stack(np.meshgrid(*[np.arange(fine)] * axes, indexing="ij"), axis=-1)
    grid = grid.reshape(-1, axes)
    grid = grid[inside(lower + (grid + 0.5) / fine * (upper - lower))]
    if len(grid) < FINE_POINTS_PER_PLACE * count:
        return None
    side = math.ceil((count / 2**axes) ** (1 / axes))
    for _ in range(MAX_TRIES):
        places, sizes = _of_cells(grid, side, fine)
        if len(places) >= count or side >= fine:
            break
        larger = math.ceil(side * (count / len(places)) ** (1 / axes))
        side = min(fine, max(side + 1, larger))
    return Tiles(lower + (places + 0.5) / fine * (upper - lower), sizes / sizes.sum())


def _of_cells(grid: Int[np.ndarray, "n k"], side: int, fine: int) -> Tiles:
    """By so many cells along each axis, in steps of the fine grid; sizes in the place of shares."""
    axes = grid.shape[1]
    digits = side ** np.arange(axes)
    number = (grid * side // fine) @ digits
    found, cell, sizes = np.unique(number, return_inverse=True, return_counts=True)
    column = found[:, None] // digits % side
    starts = -(-np.arange(side + 1) * fine // side)  # of every cell, and the end of the last
    low, high = starts[column], starts[column + 1]
    is_whole = sizes == np.prod(high - low, axis=1)
    corners = np.array(list(itertools.product((-1, 1), repeat=axes))) / math.sqrt(3)
    middle, half = (low + high - 1)[is_whole] / 2, (high - low)[is_whole] / 2
    whole = middle[:, None] + corners * half[:, None]
    cut = _middles(grid, cell, sizes)[~is_whole]
    each = np.repeat(sizes[is_whole] / 2**axes, 2**axes)
    return Tiles(
        np.concatenate([whole.reshape(-1, axes), cut]), np.concatenate([each, sizes[~is_whole]])
    )


def _middles(grid, cell: Int[np.ndarray, " n"], sizes) -> Float[np.ndarray, "m k"]:
    """Of what is inside each cell: where that is bent and its middle outside, the place nearest to it."""
    middles = np.column_stack([np.bincount(cell, column) for column in grid.T]) / sizes[:, None]
    away = np.sum((grid - middles[cell]) ** 2, axis=1)
    order = np.lexsort((away, cell))
    nearest = order[np.searchsorted(cell[order], np.arange(len(sizes)))]
    is_outside: Bool[np.ndarray, " m"] = away[nearest] > grid.shape[1]
    return np.where(is_outside[:, None], grid[nearest], middles)


# The largest degree of the polynomials that are integrated exactly, by the dimension of space.
MAX_DEGREES = {2: 8, 3: 5}
# Below this degree the weights stay even.
MIN_DEGREE = 2
# Walls of shapes with many holes have a million points: so many are in memory together.
WALL_POINTS_AT_ONCE = 1 << 14
# With fewer points for each polynomial the degree is lowered.
MIN_POINTS_PER_POLYNOMIAL = 10


def balance_weights(
    points: Float[np.ndarray, "n k"], weights: Float[np.ndarray, " n"], walls: Boundary
) -> Float[np.ndarray, " n"]:
    """The weights, changed by as small shares of themselves as possible; as they were where one would not
    stay above 0.

    >>> from pgt.geometry.low_discrepancy import evenly
    >>> from pgt.geometry import Rectangle
    >>> places = evenly(1000, 2)
    >>> weights = balance_weights(places, np.full(1000, 1e-3), Rectangle((0, 1), (0, 1)).walls())
    >>> round(float(places[:, 0] ** 3 @ weights), 7)
    0.25
    """
    powers = _powers(points.shape[1], len(points) // MIN_POINTS_PER_POLYNOMIAL)
    if powers.max() < MIN_DEGREE:
        return weights
    lower, upper = walls.points.min(axis=0), walls.points.max(axis=0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    table = _monomials((points - middle) / half, powers)
    exact = _moments(walls, middle, half, powers)
    exact *= weights.sum() / exact[0]
    rows = (table * weights[:, None]).T
    change = np.linalg.lstsq(rows, exact - rows.sum(axis=1), rcond=None)[0]
    return weights * (1 + change) if (change > -1).all() else weights


def _powers(axes: int, most: int) -> Int[np.ndarray, "m k"]:
    """Those of all monomials up to a degree, 1 first, and no more than so many of them."""
    degrees = range(MAX_DEGREES[axes] + 1)
    highest = max((d for d in degrees if math.comb(d + axes, axes) <= most), default=0)
    rows = [row for row in itertools.product(degrees, repeat=axes) if sum(row) <= highest]
    return np.array(sorted(rows, key=sum))


def _monomials(unit: Float[np.ndarray, "n k"], powers) -> Float[np.ndarray, "n m"]:
    """By products: a power of every number would take ten times as long."""
    found = np.ones((len(unit), len(powers)))
    for own, exponents in zip(unit.T, powers.T, strict=True):
        found *= np.vander(own, exponents.max() + 1, increasing=True)[:, exponents]
    return found


def _moments(walls: Boundary, middle, half, powers) -> Float[np.ndarray, " m"]:
    """∫ of each monomial over what the walls enclose: the mean of Gauss's theorem along every axis."""
    unit, found = (walls.points - middle) / half, []
    for axis in range(len(middle)):
        raised = powers + np.eye(len(middle), dtype=int)[axis]
        across = walls.weights * walls.normals[:, axis]
        starts = range(0, len(unit), WALL_POINTS_AT_ONCE)
        parts = [
            across[k : k + WALL_POINTS_AT_ONCE]
            @ _monomials(unit[k : k + WALL_POINTS_AT_ONCE], raised)
            for k in starts
        ]
        found.append(half[axis] * np.sum(parts, axis=0) / raised[:, axis])
    return np.mean(found, axis=0)
