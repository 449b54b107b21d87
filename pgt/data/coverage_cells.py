"""In how much of a domain there are readings: the cells of a coarse grid that hold one."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain

CELLS = 4  # per axis, in which the readings are counted
SPARSE = 0.6  # of the cells that as many readings, thrown in at random, would fill


class Cells(NamedTuple):
    """How many cells hold a reading, of how many, and how many would if readings were spread over all."""

    filled: int
    total: int
    expected: float

    @property
    def is_sparse(self) -> bool:
        """Whether whole parts of the domain have no reading, and not by chance."""
        return self.filled < SPARSE * self.expected

    @property
    def in_words(self) -> str:
        """As `pgt check` and the report say it."""
        return f"{self.filled} of {self.total} cells hold a reading"


def cells(points: Float[Array | np.ndarray, "n d"], domain: Domain) -> Cells:
    """The cells of a grid of four by four, and so on, that hold one of the points.

    Sensors that stand still fill no more places than there are sensors.

    >>> corner = np.array([[0.1, 0.2], [0.2, 0.1]])
    >>> cells(corner, Domain(x=(0, 1), t=(0, 1))).in_words
    '1 of 16 cells hold a reading'
    """
    points = np.asarray(points, float)
    unit = (points - domain.lower) / domain.extent
    where = np.clip((unit * CELLS).astype(int), 0, CELLS - 1)
    filled, total = len(np.unique(where, axis=0)), CELLS**domain.dimension
    if domain.shape is not None:
        total = max(filled, _inside(domain, total))
    space = [domain.index(axis) for axis in domain.spatial_axes]
    parts = [space, [domain.index("t")]] if domain.has_time else [space]
    apart = np.prod([_filled(len(np.unique(points[:, p], axis=0)), CELLS ** len(p)) for p in parts])
    return Cells(filled, total, total * min(float(apart), _filled(len(points), total)))


def _inside(domain: Domain, total: int) -> int:
    """The cells of which some part lies in the domain's shape."""
    unit = (domain.even(64 * total) - domain.lower) / domain.extent
    return len(np.unique(np.clip((unit * CELLS).astype(int), 0, CELLS - 1), axis=0))


def _filled(count: int, cells: int) -> float:
    """The share of cells that `count` readings fill, thrown in at random."""
    return 1 - (1 - 1 / cells) ** count
