"""Solutions as polynomials in every element of a mesh of space and time (models/mesh_solution.py)."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from jaxtyping import Float

from pgt.methods.solver.collocation import Grid
from pgt.methods.solver.march import Solution
from pgt.methods.solver.splines import Mesh, legendre_values

CHUNK = 1 << 22  # numbers that are gathered at once


def edges_of(solution: Solution) -> list[Float[np.ndarray, " _"]]:
    """Where elements begin and end, along every axis of the domain."""
    found = [np.asarray(mesh.edges) for mesh in solution.grid.meshes]
    if solution.grid.problem.domain.has_time:
        starts = [start for start, _ in solution.steps]
        found.append(np.array([*starts, solution.grid.problem.domain.bounds("t")[1]]))
    return found


def polynomials_of(solution: Solution) -> Float[np.ndarray, "1 c ..."]:
    """The fields of a solution, as `pieces_of` gives them."""
    return pieces_of(solution.grid, [stage.numbers[:, None] for stage in solution.stages])


def pieces_of(
    grid: Grid, numbers: Sequence[Float[np.ndarray, "n k"]]
) -> Float[np.ndarray, "k c ..."]:
    """From the numbers of every step to the coefficients of Legendre polynomials: (k, fields, elements
    along each axis, degrees along each axis)."""
    stacked = np.stack(numbers)  # (steps, n, k)
    has_time, dimension = grid.problem.domain.has_time, len(grid.meshes)
    found = []
    for f, (time, splines) in enumerate(zip(grid.in_time, grid.splines, strict=True)):
        own = stacked[:, grid.own(f)]
        own = own.reshape(len(own), time.size, *(s.size for s in splines), own.shape[-1])
        own = np.moveaxis(np.tensordot(time.pieces, own, (1, 1)), (0, 1), (-1, -2))
        for spline in splines:  # each puts (elements, degrees) behind all others
            own = np.moveaxis(spline.coefficients(own, 0), (0, 1), (-2, -1))
        # (k, steps, degrees in time, elements, degrees, ...)
        pairs = [(3 + 2 * k, 4 + 2 * k) for k in range(dimension)] + ([(1, 2)] if has_time else [])
        order = (0, *(e for e, _ in pairs), *(d for _, d in pairs))
        found.append(
            own.transpose(order) if has_time else own[:, 0, 0].transpose(_without_time(order))
        )
    return np.stack(
        [_padded(own, _largest(found, dimension + has_time), 1) for own in found], axis=1
    )


def _without_time(order):
    return tuple(axis - 2 if axis else 0 for axis in order)


def _largest(found, axes: int):
    return np.max([own.shape[1 + axes :] for own in found], axis=0)


def _padded(own, degrees, before: int):
    """With zeros up to these numbers of degrees; `before` axes come before the elements."""
    axes = len(degrees)
    more = [(0, 0)] * (before + axes) + [
        (0, int(d - n)) for d, n in zip(degrees, own.shape[before + axes :], strict=True)
    ]
    return np.pad(own, more)


def moments_of(
    edges: Sequence[Float[np.ndarray, " _"]], pieces: Float[np.ndarray, "k c ..."]
) -> tuple[Float[np.ndarray, "k c"], Float[np.ndarray, "k c"]]:
    """Mean and mean square of every field over the domain, exactly: Legendre polynomials are
    orthogonal."""
    dimension = len(edges)
    shares = [np.diff(ends) / (ends[-1] - ends[0]) for ends in edges]
    weights = reduce(np.multiply.outer, shares, np.ones(()))
    means = np.sum(weights * pieces[(..., *[0] * dimension)], axis=tuple(range(2, 2 + dimension)))
    squares = pieces**2
    for _ in range(dimension):
        degrees = np.arange(squares.shape[-1])
        squares = squares @ (1 / (2 * degrees + 1))
    return means, np.sum(weights * squares, axis=tuple(range(2, 2 + dimension)))


def difference_of(
    pieces: Float[np.ndarray, "k c ..."], others: Float[np.ndarray, "k c ..."]
) -> np.ndarray:
    """Polynomials on the same elements subtracted, whatever their degrees."""
    axes = (pieces.ndim - 2) // 2
    degrees = np.maximum(pieces.shape[2 + axes :], others.shape[2 + axes :])
    return _padded(pieces, degrees, 2) - _padded(others, degrees, 2)


def values_of(
    edges: Sequence[Float[np.ndarray, " _"]],
    pieces: Float[np.ndarray, "k c ..."],
    points: Float[np.ndarray, "n d"],
) -> Float[np.ndarray, "k n c"]:
    """Values of many fields at points."""
    dimension = len(edges)
    each = int(np.prod(pieces.shape[:2])) * int(np.prod(pieces.shape[2 + dimension :]))
    size = max(CHUNK // each, 1)
    parts = [
        _values(edges, pieces, points[start : start + size])
        for start in range(0, max(len(points), 1), size)
    ]
    return np.concatenate(parts, axis=1)


def _values(edges, pieces, points):
    dimension = len(edges)
    inside, tables = [], []
    for axis, ends in enumerate(edges):
        element, local = Mesh(tuple(ends.tolist()), 1).locate(points[:, axis])
        inside.append(element)
        tables.append(legendre_values(local, pieces.shape[2 + dimension + axis] - 1))
    own = pieces[(slice(None), slice(None), *inside)]
    for table in reversed(tables):
        own = np.einsum("kcn...p,np->kcn...", own, table)
    return np.moveaxis(own, 1, 2)
