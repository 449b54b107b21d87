"""A shape in tiles: what of each cell of a grid is inside, as places and the shares they stand for.

A cell that is all inside has Gauss's places, two along each axis; of one that a wall cuts the middle of
what is inside is taken. So a field is integrated right to the second power of their size, also where it
is steep beside a hole; points that are merely spread evenly miss a hundredth of it there.
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

FINE = {2: 1024, 3: 96}  # along each axis, of the grid that tells how much of a cell is inside
# Places of that grid for every place that is asked for, or the shape is too thin for tiles.
SEEN = 8
TRIES = 6  # to find how many cells hold so many places


class Tiles(NamedTuple):
    """Places inside, and what share of the shape each stands for."""

    places: Float[np.ndarray, "m k"]
    shares: Float[np.ndarray, " m"]


def tiles(inside: Callable, lower, upper, count: int, fine: int | None = None) -> Tiles | None:
    """`count` places or somewhat more between two corners; None where the shape is too thin for them.
    `fine` is how many places along each axis are looked at.

    >>> def disk(places):
    ...     return np.linalg.norm(places, axis=1) < 1
    >>> places, shares = tiles(disk, np.array([-1.0, -1.0]), np.array([1.0, 1.0]), 200)
    >>> len(places) < 300, round(float(np.sum(places**2, axis=1) @ shares), 3)  # exactly 0.5
    (True, 0.499)
    """
    axes = len(lower)
    fine = fine or FINE[axes]
    grid = np.stack(np.meshgrid(*[np.arange(fine)] * axes, indexing="ij"), axis=-1)
    grid = grid.reshape(-1, axes)
    grid = grid[inside(lower + (grid + 0.5) / fine * (upper - lower))]
    if len(grid) < SEEN * count:
        return None
    side = math.ceil((count / 2**axes) ** (1 / axes))
    for _ in range(TRIES):
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
