r"""Splines along one axis, and the collocation points at which an equation holds there.

An axis is divided into N elements with K collocation points each. A field of which the equation has m
derivatives along the axis is a polynomial of degree K + m - 1 in every element, with m - 1 continuous
derivatives (de Boor and Swartz 1973). Such a spline has N K + m degrees of freedom: one for each point,
and m for the conditions at the ends. On a periodic axis there are no ends, and N K degrees of freedom.

With one long element this is spectral collocation; many short ones resolve a front. The points are
Gauss points in space and Radau points in time. The last Radau point is the end of the step, which gives
the implicit Runge-Kutta method Radau IIA.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import scipy.interpolate
import scipy.sparse
import scipy.sparse.linalg
from jaxtyping import Float, Int
from numpy.polynomial import legendre
from scipy.special import roots_jacobi

MAX_BUFFER = 2**22  # limits arrays that only save time: 32 MiB of float64
# The distance of places from the ends of their element, as a share of its half length: a place at the
# end itself would belong to two elements.
END_DISTANCE = 1e-9


def gauss_points(count: int) -> Float[np.ndarray, " k"]:
    """The Gauss points in (0, 1)."""
    return (1 + legendre.leggauss(count)[0]) / 2


def radau_points(count: int) -> Float[np.ndarray, " k"]:
    """The Radau points in (0, 1], which include the end.

    >>> radau_points(2).round(6).tolist()
    [0.333333, 1.0]
    """
    inner = roots_jacobi(count - 1, 1.0, 0.0)[0] if count > 1 else np.zeros(0)
    return np.append((1 + inner) / 2, 1.0)


def legendre_values(
    local: Float[np.ndarray, " n"], degree: int, order: int = 0
) -> Float[np.ndarray, "n k"]:
    """The Legendre polynomials up to a degree, or their derivatives, at positions in [-1, 1]."""
    unit = np.eye(degree + 1)
    return (
        legendre.legval(local, legendre.legder(unit, order)).T
        if order
        else legendre.legvander(local, degree)
    )


@dataclass(frozen=True)
class Mesh:
    """The elements of an axis, each with `points` collocation points.

    >>> mesh = Mesh((0.0, 0.5, 1.0), 4)
    >>> mesh.count, mesh.nodes.shape, mesh.refined(np.array([True, False])).edges
    (2, (8,), (0.0, 0.25, 0.5, 1.0))
    """

    edges: tuple[float, ...]
    points: int
    periodic: bool = False

    @property
    def count(self) -> int:
        """The number of elements."""
        return len(self.edges) - 1

    @property
    def lengths(self) -> Float[np.ndarray, " n"]:
        return np.diff(self.edges)

    @cached_property
    def nodes(self) -> Float[np.ndarray, " m"]:
        """The collocation points."""
        starts = np.asarray(self.edges[:-1])
        return (starts[:, None] + self.lengths[:, None] * gauss_points(self.points)).ravel()

    def refined(self, chosen) -> "Mesh":
        """The mesh with some elements halved."""
        middles = [
            (a + b) / 2
            for a, b, is_split in zip(self.edges[:-1], self.edges[1:], chosen, strict=True)
            if is_split
        ]
        return Mesh(tuple(sorted((*self.edges, *middles))), self.points, self.periodic)

    def locate(
        self, positions: Float[np.ndarray, " n"]
    ) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """The element of each position, and the local coordinate in it, from -1 to 1."""
        edges = np.asarray(self.edges)
        element = np.clip(np.searchsorted(edges, positions, side="right") - 1, 0, self.count - 1)
        return element, 2 * (positions - edges[element]) / self.lengths[element] - 1


@dataclass(frozen=True)
class Splines:
    """The splines on a mesh for a field of which the equation has `order` derivatives along the axis."""

    mesh: Mesh
    order: int

    @property
    def degree(self) -> int:
        return self.mesh.points + self.order - 1

    @property
    def size(self) -> int:
        """The number of basis splines."""
        return self.mesh.count * self.mesh.points + (0 if self.mesh.periodic else self.order)

    @cached_property
    def columns(self) -> Int[np.ndarray, "elements k"]:
        """The numbers of the basis splines that are not zero in each element."""
        return self._support[0]

    @cached_property
    def pieces(self) -> Float[np.ndarray, "elements k k"]:
        """The Legendre coefficients of these splines in each element: (element, degree, spline)."""
        return self._support[1]

    @cached_property
    def _support(self):
        mesh, degree = self.mesh, self.degree
        edges, around = np.asarray(mesh.edges), -(-(degree + 1) // mesh.points)
        if mesh.periodic:
            turns = np.arange(-around, around + 1)[:, None] * (edges[-1] - edges[0])
            knots = np.repeat(np.unique((edges[:-1] + turns).ravel()), mesh.points)
        else:
            ends = np.full(degree + 1, edges[0]), np.full(degree + 1, edges[-1])
            knots = np.concatenate([ends[0], np.repeat(edges[1:-1], mesh.points), ends[1]])
        chebyshev = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        positions = edges[:-1, None] + mesh.lengths[:, None] * (1 + chebyshev) / 2
        values = scipy.interpolate.BSpline.design_matrix(positions.ravel(), knots, degree)
        shape = mesh.count, degree + 1, degree + 1
        columns = values.indices.reshape(shape)[:, 0] % self.size
        values_by_element = values.data.reshape(shape)
        return columns, np.linalg.solve(legendre_values(chebyshev, degree)[None], values_by_element)

    def coefficients(self, numbers: np.ndarray, axis: int) -> np.ndarray:
        """The Legendre coefficients in every element of splines with these numbers along an axis. The
        axis is replaced by two, elements and degrees, which come first."""
        by_element = np.moveaxis(numbers, axis, 0)[self.columns]  # (elements, k, ...)
        return np.einsum("eds,es...->ed...", self.pieces, by_element)

    def rows(self, positions: Float[np.ndarray, " n"], order: int = 0) -> scipy.sparse.csr_array:
        """The values of all basis splines, or of a derivative, at positions: (n, size)."""
        element, local = self.mesh.locate(np.asarray(positions, float))
        polynomials = legendre_values(local, self.degree, order)
        scale = (2 / self.mesh.lengths[element]) ** order
        values = np.einsum("nd,nds->ns", polynomials, self.pieces[element, : polynomials.shape[1]])
        values = scale[:, None] * values
        starts = np.arange(0, values.size + 1, values.shape[1])
        indices = self.columns[element].ravel()
        return scipy.sparse.csr_array(
            (values.ravel(), indices, starts), shape=(len(local), self.size)
        )

    @cached_property
    def places(self) -> Float[np.ndarray, " m"]:
        """Positions at which values overdetermine a spline: Chebyshev points of every element."""
        chebyshev = np.cos(np.pi * np.arange(self.degree + 2) / (self.degree + 1))[::-1]
        chebyshev = (1 - END_DISTANCE) * chebyshev  # the ends of two elements are not one position
        starts = np.asarray(self.mesh.edges[:-1])[:, None]
        return (starts + self.mesh.lengths[:, None] * (1 + chebyshev) / 2).ravel()

    def fitted(self, values: np.ndarray, axis: int = 0) -> np.ndarray:
        """The numbers of the spline that fits values at `places` along an axis by least squares."""
        rows, solve = self._fit
        moved = np.moveaxis(values, axis, 0)
        flat = moved.reshape(len(moved), int(np.prod(moved.shape[1:], dtype=int)))
        numbers = solve(rows.T @ flat)
        numbers += solve(rows.T @ (flat - rows @ numbers))  # one step of iterative refinement
        return np.moveaxis(numbers.reshape(self.size, *moved.shape[1:]), 0, axis)

    @cached_property
    def _fit(self):
        rows = self.rows(self.places)
        return rows, scipy.sparse.linalg.splu((rows.T @ rows).tocsc()).solve


@dataclass(frozen=True)
class TimeBasis:
    r"""The basis over one step in time, from 0 to 1, of a field with m = `order` time derivatives.

    u(τ) = s_0 + τ Σ_j c_j P_j(2τ - 1), where the state s at the start has the value s_0 and m - 1
    derivatives. Each derivative below the highest is a polynomial of the same degree, which equals the
    slope of the previous one at the Radau points. This is the implicit Runge-Kutta method for the
    equivalent first-order system, stable for steps of any length. For m = 0, u(τ) = Σ_j c_j P_j(2τ - 1).
    """

    points: int
    order: int

    @property
    def size(self) -> int:
        """The count of numbers: those of the state, then the coefficients c."""
        return self.points + self.order

    def rows(
        self, positions: Float[np.ndarray, " n"], order: int = 0
    ) -> Float[np.ndarray, "n size"]:
        """The basis functions, or their derivatives, at positions."""
        known_order = min(order, max(self.order - 1, 0))
        series = legendre.legder(self.series[known_order], order - known_order)
        values = legendre.legval(2 * np.asarray(positions) - 1, series).T
        return 2.0 ** (order - known_order) * values

    @property
    def pieces(self) -> Float[np.ndarray, "k size"]:
        """The Legendre coefficients of the basis functions on the step."""
        return self.series[0]

    @cached_property
    def last(self) -> Float[np.ndarray, "m size"]:
        """The value and the derivatives below the highest at the end of the step."""
        ends = [self.rows(np.ones(1), order)[0] for order in range(self.order)]
        return np.array(ends).reshape(self.order, self.size)

    @cached_property
    def series(self) -> list[Float[np.ndarray, "k size"]]:
        """The Legendre coefficients of u and of its derivatives below the highest."""
        if not self.order:
            return [np.eye(self.points)]
        first = np.zeros((self.points + 1, self.size))
        first[0, 0] = 1.0
        for j, unit in enumerate(np.eye(self.points)):
            first[: j + 2, self.order + j] = legendre.legmul(unit[: j + 1], [0.5, 0.5])  # times τ
        series: list[np.ndarray] = [first]
        positions = np.concatenate([[-1.0], 2 * radau_points(self.points) - 1])
        for order in range(1, self.order):
            values = np.zeros((self.points + 1, self.size))
            values[0, order] = 1.0
            values[1:] = 2 * legendre.legval(positions[1:], legendre.legder(series[-1])).T
            series.append(np.linalg.solve(legendre.legvander(positions, self.points), values))
        return series


# ------------------------------------------------------------------------- polynomials in every element


def moments_of(
    edges: Sequence[Float[np.ndarray, " _"]], pieces: Float[np.ndarray, "k c ..."]
) -> tuple[Float[np.ndarray, "k c"], Float[np.ndarray, "k c"]]:
    """The mean and the mean square of every field over the domain, exact because Legendre polynomials
    are orthogonal."""
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
    """The difference of polynomials on the same elements, whose degrees may differ."""
    axes = (pieces.ndim - 2) // 2
    degrees = np.maximum(pieces.shape[2 + axes :], others.shape[2 + axes :])
    return padded(pieces, degrees, 2) - padded(others, degrees, 2)


def values_of(
    edges: Sequence[Float[np.ndarray, " _"]],
    pieces: Float[np.ndarray, "k c ..."],
    points: Float[np.ndarray, "n d"],
) -> Float[np.ndarray, "k n c"]:
    """The values of fields at points, computed in batches of points."""
    dimension = len(edges)
    numbers_per_point = int(np.prod(pieces.shape[:2])) * int(np.prod(pieces.shape[2 + dimension :]))
    batch_size = max(MAX_BUFFER // numbers_per_point, 1)
    parts = [
        _batch_values(edges, pieces, points[start : start + batch_size])
        for start in range(0, max(len(points), 1), batch_size)
    ]
    return np.concatenate(parts, axis=1)


def _batch_values(edges, pieces, points):
    dimension = len(edges)
    elements, tables = [], []
    for axis, ends in enumerate(edges):
        element, local = Mesh(tuple(ends.tolist()), 1).locate(points[:, axis])
        elements.append(element)
        tables.append(legendre_values(local, pieces.shape[2 + dimension + axis] - 1))
    by_point = pieces[(slice(None), slice(None), *elements)]
    for table in reversed(tables):
        by_point = np.einsum("kcn...p,np->kcn...", by_point, table)
    return np.moveaxis(by_point, 1, 2)


def padded(coefficients, degrees, before: int):
    """The coefficients, padded with zeros to these numbers of degrees. `before` axes precede those of
    the elements."""
    axes = len(degrees)
    widths = [(0, 0)] * (before + axes) + [
        (0, int(d - n)) for d, n in zip(degrees, coefficients.shape[before + axes :], strict=True)
    ]
    return np.pad(coefficients, widths)
