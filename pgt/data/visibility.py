"""Visibility between points of a shaped domain, and cells of the domain without readings.

Influence goes around an obstacle, not through it: two close points with a wall between them are less
related than their distance says. So groups of readings are split by walls.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from pgt.data.domain import Domain
from pgt.data.splits import Groups

# The straight line between two points is tested at this many positions. More find thinner walls and take
# longer; a wall thinner than 1/32 of the line may be missed.
POINTS_BETWEEN = 31
# Each place of a group is connected to this many of its nearest places, if it sees them.
NEIGHBOR_COUNT = 4


def are_visible(
    domain: Domain, here: Float[np.ndarray, "n d"], there: Float[np.ndarray, "n d"]
) -> Bool[np.ndarray, " n"]:
    """Which pairs of points see each other: the straight line between them stays inside the shape.

    Along a periodic axis the line takes the shorter way. Without a shape all pairs see each other.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 2), y=(-2, 2), shape=-Disk(radius=0.5))
    >>> are_visible(channel, np.array([[-1.0, 0.0]] * 2), np.array([[1.0, 0.0], [-1.0, 1.0]])).tolist()
    [False, True]
    """
    if domain.shape is None or not len(here):
        return np.ones(len(here), bool)
    n_space, lower = len(domain.spatial_axes), np.asarray(domain.lower, float)
    is_periodic = np.array([axis in domain.periodic for axis in domain.axes[:n_space]])
    period = np.where(is_periodic, domain.extent[:n_space], np.inf)
    displacement = there[:, :n_space] - here[:, :n_space]
    displacement -= np.where(is_periodic, domain.extent[:n_space], 0.0) * np.round(
        displacement / period
    )
    share = np.arange(1, POINTS_BETWEEN + 1) / (POINTS_BETWEEN + 1)
    points = np.repeat(here[:, None], POINTS_BETWEEN, axis=1)
    points[..., :n_space] += share[:, None] * displacement[:, None]
    points[..., n_space:] += share[:, None] * (there - here)[:, None, n_space:]
    wrapped = lower[:n_space] + np.mod(
        points[..., :n_space] - lower[:n_space], np.where(is_periodic, period, 1.0)
    )
    points[..., :n_space] = np.where(is_periodic, wrapped, points[..., :n_space])
    inside = domain.contains(points.reshape(-1, points.shape[-1]))
    return np.asarray(inside.reshape(len(here), POINTS_BETWEEN).all(axis=1))


def nearest(
    among: Float[np.ndarray, "m d"], points: Float[np.ndarray, "n d"], count: int
) -> tuple[Float[np.ndarray, "n {count}"], Int[np.ndarray, "n {count}"]]:
    """The distances from each of `points` to the `count` nearest rows of `among`, and their row numbers.

    >>> nearest(np.array([[0.0], [5.0]]), np.array([[1.0]]), 2)[0].tolist()
    [[1.0, 4.0]]
    """
    distances, rows = KDTree(among).query(points, count)
    return np.asarray(distances).reshape(-1, count), np.asarray(rows).reshape(-1, count)


def split_by_walls(domain: Domain, points: Float[np.ndarray, "n d"], groups: Groups) -> Groups:
    """The groups, each split where walls separate its points.

    Two points stay in one group if a chain of points of that group connects them, each seeing the next.

    >>> from pgt.geometry import Rectangle
    >>> rooms = Domain(x=(0, 2), y=(0, 1), shape=-Rectangle(x=(0.9, 1.1), y=(-1, 2)))
    >>> points = np.array([[0.5, 0.5], [0.8, 0.2], [1.2, 0.5], [1.9, 0.9]])
    >>> split_by_walls(rooms, points, np.array([0, 0, 0, 1])).tolist()
    [0, 0, 1, 2]
    """
    if domain.shape is None:
        return groups
    split, count = np.zeros(len(points), int), 0
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        split[rows] = count + _parts(domain, points[rows])
        count = split[rows].max() + 1
    return split


def _parts(domain: Domain, points: Float[np.ndarray, "n d"]) -> Groups:
    """The number of the connected part of each point; edges join near places that see each other."""
    n_space = len(domain.spatial_axes)
    _, first, place_of_point = np.unique(
        points[:, :n_space], axis=0, return_index=True, return_inverse=True
    )
    places, count = points[first], min(NEIGHBOR_COUNT + 1, len(first))
    neighbors = nearest(places[:, :n_space], places[:, :n_space], count)[1]
    here, there = np.repeat(np.arange(len(places)), count), neighbors.reshape(-1)
    is_visible = are_visible(domain, places[here], places[there])
    size = (len(places), len(places))
    graph = coo_array((np.ones(int(is_visible.sum())), (here[is_visible], there[is_visible])), size)
    return connected_components(graph, directed=False)[1][place_of_point.reshape(-1)]


# The number of cells along each axis in which readings are counted.
CELLS_PER_AXIS = 4
# Readings leave out parts of the domain if they fill less than this share of the cells that random
# readings would fill.
MIN_FILLED_SHARE = 0.6


class Cells(NamedTuple):
    """The number of cells that hold a reading, of all cells, and expected for evenly random readings."""

    filled: int
    total: int
    expected: float

    @property
    def is_sparse(self) -> bool:
        """Whether whole parts of the domain have no reading, more than chance explains."""
        return self.filled < MIN_FILLED_SHARE * self.expected

    @property
    def in_words(self) -> str:
        """The sentence of `pgt check` and of the report."""
        return f"{self.filled} of {self.total} cells hold a reading"


def count_cells(points: Float[Array | np.ndarray, "n d"], domain: Domain) -> Cells:
    """The count of cells that hold a point, on a grid of CELLS_PER_AXIS cells along each axis.

    The expected count allows for fixed sensors, which fill no more places than there are sensors.

    >>> corner = np.array([[0.1, 0.2], [0.2, 0.1]])
    >>> count_cells(corner, Domain(x=(0, 1), t=(0, 1))).in_words
    '1 of 16 cells hold a reading'
    """
    points = np.asarray(points, float)
    unit = (points - domain.lower) / domain.extent
    cell = np.clip((unit * CELLS_PER_AXIS).astype(int), 0, CELLS_PER_AXIS - 1)
    filled, total = len(np.unique(cell, axis=0)), CELLS_PER_AXIS**domain.dimension
    if domain.shape is not None:
        total = max(filled, _inside(domain, total))
    space_columns = [domain.index(axis) for axis in domain.spatial_axes]
    axis_groups = [space_columns, [domain.index("t")]] if domain.has_time else [space_columns]
    expected_share = np.prod(
        [
            _filled(len(np.unique(points[:, p], axis=0)), CELLS_PER_AXIS ** len(p))
            for p in axis_groups
        ]
    )
    return Cells(filled, total, total * min(float(expected_share), _filled(len(points), total)))


def _inside(domain: Domain, total: int) -> int:
    """The number of cells of which some part lies in the domain's shape."""
    unit = (domain.even(64 * total) - domain.lower) / domain.extent
    return len(
        np.unique(np.clip((unit * CELLS_PER_AXIS).astype(int), 0, CELLS_PER_AXIS - 1), axis=0)
    )


def _filled(count: int, cells: int) -> float:
    """The expected share of `cells` that hold one of `count` random readings."""
    return 1 - (1 - 1 / cells) ** count
