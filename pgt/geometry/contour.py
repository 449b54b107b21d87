"""Where a function is zero: lines in the plane, triangles in space."""

import itertools
from collections.abc import Callable

import numpy as np


def level_lines(value: Callable, lower, upper, side: int) -> list[np.ndarray]:
    """Lines (n, 2) along which the function is zero, found on a grid.

    >>> lines = level_lines(lambda p: p[:, 0] - 0.25, [0, 0], [1, 1], 8)
    >>> len(lines), bool(np.allclose(lines[0][:, 0], 0.25))
    (1, True)
    """
    from contourpy import contour_generator  # comes with matplotlib

    x, y = (np.linspace(a, b, side + 1) for a, b in zip(lower, upper, strict=True))
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    heights = value(grid.reshape(-1, 2)).reshape(side + 1, side + 1)
    lines = (np.asarray(line) for line in contour_generator(x, y, heights).lines(0.0))
    return [line for line in lines if len(line) > 1]


def level_surface(value: Callable, lower, upper, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of the surface on which the function is zero, normals towards larger values.

    Every cell of a grid is cut into six tetrahedra, each of which the surface crosses in one triangle
    or two (marching tetrahedra).
    """
    axes = [np.linspace(a, b, side + 1) for a, b in zip(lower, upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    heights = value(grid)
    heights = np.where(heights == 0, 1e-300, heights)
    tetrahedra = _tetrahedra(side)
    below = heights[tetrahedra] < 0
    crossed = below.any(axis=1) & ~below.all(axis=1)
    tetrahedra, below = tetrahedra[crossed], below[crossed]
    order = np.argsort(~below, axis=1, kind="stable")  # those below zero first
    sorted_, count = np.take_along_axis(tetrahedra, order, axis=1), below.sum(axis=1)
    edges = np.concatenate(
        [sorted_[count == n][:, picks].reshape(-1, 3, 2) for n, picks in _CASES.items()]
    )
    return _oriented(grid, heights, edges)


# Of a tetrahedron's corners, 1, 2 or 3 below zero and listed first: the edges that are crossed.
_CASES = {
    1: [0, 1, 0, 2, 0, 3],
    2: [0, 2, 0, 3, 1, 2, 1, 2, 0, 3, 1, 3],
    3: [0, 3, 1, 3, 2, 3],
}


def _tetrahedra(side: int):
    """(6 cells, 4) numbers of grid points: a path along the axes, in each order, across every cell."""
    strides = np.array([(side + 1) ** 2, side + 1, 1])
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    base = cells @ strides
    paths = [np.cumsum([0, *strides[list(order)]]) for order in itertools.permutations(range(3))]
    return np.concatenate([base[:, None] + path for path in paths])


def _oriented(grid, heights, edges):
    keys = edges.reshape(-1, 2)
    unique, which = np.unique(np.sort(keys, axis=1), axis=0, return_inverse=True)
    a, b = unique.T
    share = heights[a] / (heights[a] - heights[b])
    corners = grid[a] + share[:, None] * (grid[b] - grid[a])
    triangles = which.reshape(-1, 3)
    # From below zero to above: the way from an edge's lower end to its upper one.
    low, high = grid[edges[:, :, 0]].mean(axis=1), grid[edges[:, :, 1]].mean(axis=1)
    p, q, r = np.moveaxis(corners[triangles], 1, 0)
    turned = np.sum(np.cross(q - p, r - p) * (high - low), axis=1) < 0
    triangles[turned] = triangles[turned][:, ::-1]
    return corners, triangles[_neighbours(corners[triangles])]


def _neighbours(faces):
    """An order in which triangles that look the same way and lie close stand close: points that are drawn
    along it are then spread over the surface (Morton 1966)."""
    a, b, c = np.moveaxis(faces, 1, 0)
    looks = (np.cross(b - a, c - a) > 0) @ np.array([1, 2, 4])
    lower, upper = faces.min(axis=(0, 1)), faces.max(axis=(0, 1))
    cells = ((a - lower) / np.maximum(upper - lower, 1e-300) * 1023).astype(np.int64)
    bits = (cells[:, :, None] >> np.arange(10)) & 1  # of every coordinate, in turn
    place = bits @ (1 << (3 * np.arange(10))) @ np.array([1, 2, 4])
    return np.lexsort([place, looks])
