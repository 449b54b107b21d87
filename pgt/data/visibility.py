"""What lies between two places: nothing, or a wall of the shape.

Influence goes around an obstacle, not through it: two places close to each other with a wall between them
have less to do with each other than their distance says.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from pgt.data.domain import Domain
from pgt.data.splits import Groups

# The line between two places is tested at so many points: a wall thinner than their distance may be
# missed.
POINTS_BETWEEN = 31
# Places of one group are joined through so many of their nearest ones.
NEIGHBOR_COUNT = 4


def are_visible(
    domain: Domain, here: Float[np.ndarray, "n d"], there: Float[np.ndarray, "n d"]
) -> Bool[np.ndarray, " n"]:
    """Which pairs of points see each other: the straight way between them stays inside the shape.
    Where an axis repeats, it is the shortest one. Without a shape all do.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 2), y=(-2, 2), shape=-Disk(radius=0.5))
    >>> are_visible(channel, np.array([[-1.0, 0.0]] * 2), np.array([[1.0, 0.0], [-1.0, 1.0]])).tolist()
    [False, True]
    """
    if domain.shape is None or not len(here):
        return np.ones(len(here), bool)
    k, low = len(domain.spatial_axes), np.asarray(domain.lower, float)
    repeats = np.array([axis in domain.periodic for axis in domain.axes[:k]])
    period = np.where(repeats, domain.extent[:k], np.inf)
    way = there[:, :k] - here[:, :k]
    way -= np.where(repeats, domain.extent[:k], 0.0) * np.round(way / period)
    share = np.arange(1, POINTS_BETWEEN + 1) / (POINTS_BETWEEN + 1)
    points = np.repeat(here[:, None], POINTS_BETWEEN, axis=1)
    points[..., :k] += share[:, None] * way[:, None]
    points[..., k:] += share[:, None] * (there - here)[:, None, k:]
    wrapped = low[:k] + np.mod(points[..., :k] - low[:k], np.where(repeats, period, 1.0))
    points[..., :k] = np.where(repeats, wrapped, points[..., :k])
    inside = domain.contains(points.reshape(-1, points.shape[-1]))
    return np.asarray(inside.reshape(len(here), POINTS_BETWEEN).all(axis=1))


def nearest(
    among: Float[np.ndarray, "m d"], points: Float[np.ndarray, "n d"], count: int
) -> tuple[Float[np.ndarray, "n {count}"], Int[np.ndarray, "n {count}"]]:
    """How far the nearest of some points are from each of others, and which they are.

    >>> nearest(np.array([[0.0], [5.0]]), np.array([[1.0]]), 2)[0].tolist()
    [[1.0, 4.0]]
    """
    away, which = KDTree(among).query(points, count)
    return np.asarray(away).reshape(-1, count), np.asarray(which).reshape(-1, count)


def split_by_walls(domain: Domain, points: Float[np.ndarray, "n d"], groups: Groups) -> Groups:
    """The groups, each divided into those that see each other, be it by way of others of the group.

    >>> from pgt.geometry import Rectangle
    >>> rooms = Domain(x=(0, 2), y=(0, 1), shape=-Rectangle(x=(0.9, 1.1), y=(-1, 2)))
    >>> points = np.array([[0.5, 0.5], [0.8, 0.2], [1.2, 0.5], [1.9, 0.9]])
    >>> split_by_walls(rooms, points, np.array([0, 0, 0, 1])).tolist()
    [0, 0, 1, 2]
    """
    if domain.shape is None:
        return groups
    apart, count = np.zeros(len(points), int), 0
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        apart[rows] = count + _parts(domain, points[rows])
        count = apart[rows].max() + 1
    return apart


def _parts(domain: Domain, points: Float[np.ndarray, "n d"]) -> Groups:
    """Numbers of the parts that see each other, each place by way of the nearest ones."""
    k = len(domain.spatial_axes)
    _, first, which = np.unique(points[:, :k], axis=0, return_index=True, return_inverse=True)
    places, count = points[first], min(NEIGHBOR_COUNT + 1, len(first))
    near = nearest(places[:, :k], places[:, :k], count)[1]
    here, there = np.repeat(np.arange(len(places)), count), near.reshape(-1)
    seen = are_visible(domain, places[here], places[there])
    size = (len(places), len(places))
    graph = coo_array((np.ones(int(seen.sum())), (here[seen], there[seen])), size)
    return connected_components(graph, directed=False)[1][which.reshape(-1)]


# Readings are counted in so many cells along each axis.
CELLS_PER_AXIS = 4
# Readings that fill less than this share of the cells that random ones would fill leave out parts of
# the domain.
MIN_FILLED_SHARE = 0.6


class Cells(NamedTuple):
    """How many cells hold a reading, of how many, and how many would if readings were spread over all."""

    filled: int
    total: int
    expected: float

    @property
    def is_sparse(self) -> bool:
        """Whether whole parts of the domain have no reading, and not by chance."""
        return self.filled < MIN_FILLED_SHARE * self.expected

    @property
    def in_words(self) -> str:
        """As `pgt check` and the report say it."""
        return f"{self.filled} of {self.total} cells hold a reading"


def count_cells(points: Float[Array | np.ndarray, "n d"], domain: Domain) -> Cells:
    """The cells of a grid of four by four, and so on, that hold one of the points.

    Sensors that stand still fill no more places than there are sensors.

    >>> corner = np.array([[0.1, 0.2], [0.2, 0.1]])
    >>> count_cells(corner, Domain(x=(0, 1), t=(0, 1))).in_words
    '1 of 16 cells hold a reading'
    """
    points = np.asarray(points, float)
    unit = (points - domain.lower) / domain.extent
    where = np.clip((unit * CELLS_PER_AXIS).astype(int), 0, CELLS_PER_AXIS - 1)
    filled, total = len(np.unique(where, axis=0)), CELLS_PER_AXIS**domain.dimension
    if domain.shape is not None:
        total = max(filled, _inside(domain, total))
    space = [domain.index(axis) for axis in domain.spatial_axes]
    parts = [space, [domain.index("t")]] if domain.has_time else [space]
    apart = np.prod(
        [_filled(len(np.unique(points[:, p], axis=0)), CELLS_PER_AXIS ** len(p)) for p in parts]
    )
    return Cells(filled, total, total * min(float(apart), _filled(len(points), total)))


def _inside(domain: Domain, total: int) -> int:
    """The cells of which some part lies in the domain's shape."""
    unit = (domain.even(64 * total) - domain.lower) / domain.extent
    return len(
        np.unique(np.clip((unit * CELLS_PER_AXIS).astype(int), 0, CELLS_PER_AXIS - 1), axis=0)
    )


def _filled(count: int, cells: int) -> float:
    """The share of cells that `count` readings fill, thrown in at random."""
    return 1 - (1 - 1 / cells) ** count
