"""Points inside a shape: evenly spread ones, random ones, and quadrature nodes with weights.

Random points are drawn from a table of places that represent equal volumes. Quadrature nodes are the
Gauss points of the cells of a grid that lie inside, and the centroids of cells that a wall cuts; then the
weights are corrected so that polynomials are integrated exactly. The exact integrals come from Gauss's
theorem on the walls.
"""

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

# Table places are chosen from a grid of this many cells along each axis, by the dimension of space.
GRID_SIDES = {2: 1024, 3: 80}
# The table has this many places along each axis. More represent the shape more finely and take memory.
TABLE_SIDES = {2: 256, 3: 40}
# A shape is too thin if this many points of the box do not give enough points inside.
MAX_POINTS_TRIED = 1 << 24
TOO_THIN = (
    "the shape (walls: {names}) is too thin for its box: of millions of points hardly one is inside. "
    "Make it wider than a ten-thousandth of the box, or give what is so thin one axis less: its length."
)


@runtime_checkable
class Inside(Protocol):
    """The interface of the inside of a shape (`Body`)."""

    @property
    def box(self) -> Bounds:
        """The box around the shape."""
        ...

    @property
    def shape(self) -> AbstractShape:
        """The shape."""
        ...

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which points are inside."""
        ...


@lru_cache(maxsize=8)  # a fit requests the same points many times
def even_inside(body: Inside, n: int, seed: int) -> Float[np.ndarray, "{n} d"]:
    """n fixed points that fill the inside evenly: those of an even set of the box that lie inside."""
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
    """A table of places inside that represent equal volumes, indexed by rank in x, then y, then z."""
    dimension = box.dimension
    side, random = GRID_SIDES[dimension], np.random.default_rng(0)
    cells = np.stack(np.meshgrid(*[np.arange(side)] * dimension, indexing="ij"), axis=-1).reshape(
        -1, dimension
    )
    unit = (cells + random.uniform(size=cells.shape)) / side
    places = np.asarray(box.from_unit(unit), float)
    places = places[solid.inside(places)]
    table_side = min(TABLE_SIDES[dimension], int(len(places) ** (1 / dimension)))
    if table_side < 1:
        raise InputError(TOO_THIN.format(names=", ".join(solid.wall_names)))
    return _sorted(places, table_side, 0)


def pick_places(
    table: Float[np.ndarray, "... k"], unit: Points
) -> Float[Array | np.ndarray, "n k"]:
    """The places of a table for points of the unit cube; evenly spread points stay evenly spread."""
    library = jnp if isinstance(unit, jax.Array) else np
    k = table.ndim - 1
    sides = np.array(table.shape[:-1])
    cells = library.clip((unit[:, :k] * sides).astype(int), 0, sides - 1)
    index = library.sum(cells * np.append(np.cumprod(sides[::-1])[-2::-1], 1), axis=1)
    return library.asarray(table.reshape(-1, k).astype(unit.dtype))[index]


@lru_cache(maxsize=8)
def weigh_by_distance(box: Bounds, solid: AbstractShape, shape: AbstractShape, reach: float):
    """The places of the table, and the cumulative distribution of weights e^(-distance / reach).

    The distance is that to the walls, and `reach` is a share of the shortest side of the box.
    """
    places = tabulate_places(box, solid).reshape(-1, box.dimension)
    shortest = float(np.min(box.along(box.spatial_axes).extent))
    distance = np.abs(shape.distance(places)) / (reach * shortest)
    cumulative = np.cumsum(np.exp(distance.min() - distance))
    return places.astype(np.float32), (cumulative / cumulative[-1]).astype(np.float32)


def sample_near_walls(key: Key, n: int, places, shares) -> Float[Array, "{n} k"]:
    """n random places with the cumulative distribution `shares`, both from `weigh_by_distance`."""
    rows = jnp.searchsorted(jnp.asarray(shares), jax.random.uniform(key, (n,)))
    return jnp.asarray(places)[jnp.minimum(rows, len(places) - 1)]


def _sorted(places, each: int, axis: int):
    """The table of places: they are split along the axes in turn into `each` parts of equal numbers.

    The middle place of each of the last parts is kept.
    """
    if axis == places.shape[1]:
        return places[len(places) // 2]
    places = places[np.argsort(places[:, axis], kind="stable")]
    ends = (np.arange(each + 1) * len(places)) // each
    if axis == places.shape[1] - 1:
        return places[(ends[:-1] + ends[1:]) // 2]
    parts = [_sorted(places[a:b], each, axis + 1) for a, b in itertools.pairwise(ends)]
    return np.stack(parts)


# The number of points along each axis of the fine grid that measures how much of a cell is inside.
FINE_GRID_SIDES = {2: 1024, 3: 96}
# A shape with fewer fine points inside per requested place is too thin for tiles.
FINE_POINTS_PER_PLACE = 8
# The number of cells that gives enough places is searched in at most this many attempts.
MAX_TRIES = 6


class Tiles(NamedTuple):
    """Places inside, and the share of the shape that each represents."""

    places: Float[np.ndarray, "m k"]
    shares: Float[np.ndarray, " m"]


def find_tiles(inside: Callable, lower, upper, count: int, fine: int | None = None) -> Tiles | None:
    """At least `count` places inside, between two corners of a box; None where the shape is too thin.

    `fine` is the number of points along each axis of the fine grid.

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
        places, sizes = _places_in_cells(grid, side, fine)
        if len(places) >= count or side >= fine:
            break
        larger = math.ceil(side * (count / len(places)) ** (1 / axes))
        side = min(fine, max(side + 1, larger))
    return Tiles(lower + (places + 0.5) / fine * (upper - lower), sizes / sizes.sum())


def _places_in_cells(grid: Int[np.ndarray, "n k"], side: int, fine: int) -> Tiles:
    """The places of a grid of `side` cells along each axis, with the fine points of each as `shares`.

    A cell that lies inside as a whole gives its Gauss points, one that a wall cuts gives its centroid.
    Places are in steps of the fine grid.
    """
    axes = grid.shape[1]
    digits = side ** np.arange(axes)
    cell_number = (grid * side // fine) @ digits
    occupied, cell, sizes = np.unique(cell_number, return_inverse=True, return_counts=True)
    column = occupied[:, None] // digits % side
    starts = -(-np.arange(side + 1) * fine // side)  # of every cell, and the end of the last
    low, high = starts[column], starts[column + 1]
    is_whole = sizes == np.prod(high - low, axis=1)
    corners = np.array(list(itertools.product((-1, 1), repeat=axes))) / math.sqrt(3)
    middle, half = (low + high - 1)[is_whole] / 2, (high - low)[is_whole] / 2
    gauss_points = middle[:, None] + corners * half[:, None]
    cut_places = _centroids(grid, cell, sizes)[~is_whole]
    gauss_sizes = np.repeat(sizes[is_whole] / 2**axes, 2**axes)
    return Tiles(
        np.concatenate([gauss_points.reshape(-1, axes), cut_places]),
        np.concatenate([gauss_sizes, sizes[~is_whole]]),
    )


def _centroids(grid, cell: Int[np.ndarray, " n"], sizes) -> Float[np.ndarray, "m k"]:
    """The centroid of the inside of each cell, or the inside point nearest to it if it is outside."""
    centroids = np.column_stack([np.bincount(cell, column) for column in grid.T]) / sizes[:, None]
    square_distance = np.sum((grid - centroids[cell]) ** 2, axis=1)
    order = np.lexsort((square_distance, cell))
    nearest = order[np.searchsorted(cell[order], np.arange(len(sizes)))]
    is_outside: Bool[np.ndarray, " m"] = square_distance[nearest] > grid.shape[1]
    return np.where(is_outside[:, None], grid[nearest], centroids)


# Polynomials up to this degree are integrated exactly, by the dimension of space.
MAX_DEGREES = {2: 8, 3: 5}
# If the number of points allows only a lower degree than this, the weights are not changed.
MIN_DEGREE = 2
# Wall points are processed in chunks of this size; walls of shapes with many holes have a million points.
WALL_POINTS_AT_ONCE = 1 << 14
# The degree is lowered until there are this many points for each polynomial.
MIN_POINTS_PER_POLYNOMIAL = 10


def balance_weights(
    points: Float[np.ndarray, "n k"], weights: Float[np.ndarray, " n"], walls: Boundary
) -> Float[np.ndarray, " n"]:
    """The weights, changed such that they integrate polynomials over the inside of the walls exactly.

    The relative changes have the least norm. The weights are returned unchanged if one would become
    negative.

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
    monomials = _monomials((points - middle) / half, powers)
    exact = _moments(walls, middle, half, powers)
    exact *= weights.sum() / exact[0]
    rows = (monomials * weights[:, None]).T
    change = np.linalg.lstsq(rows, exact - rows.sum(axis=1), rcond=None)[0]
    return weights * (1 + change) if (change > -1).all() else weights


def _powers(axes: int, most: int) -> Int[np.ndarray, "m k"]:
    """The exponents of all monomials up to the highest degree with at most `most` monomials, 1 first."""
    degrees = range(MAX_DEGREES[axes] + 1)
    highest = max((d for d in degrees if math.comb(d + axes, axes) <= most), default=0)
    rows = [row for row in itertools.product(degrees, repeat=axes) if sum(row) <= highest]
    return np.array(sorted(rows, key=sum))


def _monomials(unit: Float[np.ndarray, "n k"], powers) -> Float[np.ndarray, "n m"]:
    """The values of all monomials at points; products of powers are ten times as fast as `**`."""
    values = np.ones((len(unit), len(powers)))
    for column, exponents in zip(unit.T, powers.T, strict=True):
        values *= np.vander(column, exponents.max() + 1, increasing=True)[:, exponents]
    return values


def _moments(walls: Boundary, middle, half, powers) -> Float[np.ndarray, " m"]:
    """The integral of each monomial over the inside of the walls.

    Gauss's theorem gives it as an integral over the walls for every axis; the result is their mean.
    """
    unit, integrals = (walls.points - middle) / half, []
    for axis in range(len(middle)):
        raised = powers + np.eye(len(middle), dtype=int)[axis]
        weighted_normals = walls.weights * walls.normals[:, axis]
        starts = range(0, len(unit), WALL_POINTS_AT_ONCE)
        parts = [
            weighted_normals[k : k + WALL_POINTS_AT_ONCE]
            @ _monomials(unit[k : k + WALL_POINTS_AT_ONCE], raised)
            for k in starts
        ]
        integrals.append(half[axis] * np.sum(parts, axis=0) / raised[:, axis])
    return np.mean(integrals, axis=0)
