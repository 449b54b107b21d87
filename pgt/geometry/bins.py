"""Which edges or triangles could be met at a place: a grid of cells, each with a list."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

CHUNK = 1 << 17  # points at once: what is looked up then stays in the cache


class Bins(NamedTuple):
    """Cells of a grid in one or two coordinates; `members[starts[c]:starts[c + 1]]` is the list of c."""

    lower: Float[np.ndarray, " k"]
    step: Float[np.ndarray, " k"]
    shape: tuple[int, ...]
    starts: Int[np.ndarray, " cells"]
    members: Int[np.ndarray, " entries"]

    @staticmethod
    def build(low: Float[np.ndarray, "m k"], high: Float[np.ndarray, "m k"], cells: int) -> "Bins":
        """About `cells` cells; a member is in all those that its box from `low` to `high` touches."""
        lower, upper = low.min(axis=0), high.max(axis=0)
        pad = 1e-6 * np.maximum(upper - lower, 1e-300)
        lower, upper = lower - pad, upper + pad
        side = max(round(cells ** (1 / len(lower))), 1)
        step = (upper - lower) / side
        first = ((low - pad - lower) // step).clip(0, side - 1).astype(int)
        last = ((high + pad - lower) // step).clip(0, side - 1).astype(int)
        member, cell = _touched(first, last, side)
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(side ** len(lower) + 1))
        return Bins(lower, step, (side,) * len(lower), starts, member[order])

    def pairs(self, points: Float[np.ndarray, "n k"]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(rows, members): every point with every member of its cell; no row twice in one answer."""
        for first in range(0, len(points), CHUNK):
            part = points[first : first + CHUNK]
            index = np.floor((part - self.lower) / self.step)
            within = np.flatnonzero(np.all((index >= 0) & (index < self.shape), axis=1))
            cell = np.ravel_multi_index(tuple(index[within].astype(int).T), self.shape)
            start, count = self.starts[cell], self.starts[cell + 1] - self.starts[cell]
            order = np.argsort(-count, kind="stable")
            within, start, count = within[order], start[order], count[order]
            for turn in range(int(count[0]) if len(count) else 0):
                left = int(np.searchsorted(-count, -turn, side="left"))
                yield first + within[:left], self.members[start[:left] + turn]


def _touched(first, last, side: int):
    """(member, cell) of all cells that each member touches."""
    size = last - first + 1
    count = np.prod(size, axis=1)
    member = np.repeat(np.arange(len(first)), count)
    rank = np.arange(len(member)) - np.repeat(np.cumsum(count) - count, count)
    cell = np.zeros(len(member), int)
    for axis in range(first.shape[1]):
        rest = np.prod(size[:, axis + 1 :], axis=1).astype(int)
        place = first[member, axis] + (rank // rest[member]) % size[member, axis]
        cell = cell * side + place
    return member, cell
