r"""Piecewise polynomials along one axis, and the points at which an equation is to hold there.

An axis is divided into elements with K points each. A field of which the equation has m derivatives along
the axis is a polynomial of degree K + m - 1 in every element, with m - 1 continuous derivatives (de Boor
and Swartz 1973). With N elements such a spline has N K + m numbers: one for each of the N K points, and m
for what holds at the ends. On a periodic axis there are no ends, and N K numbers.

With one long element this is spectral collocation, with many short ones it follows a front. Gauss's
points serve in space; in time Radau's, whose last point is the end of the step: that is the implicit
Runge-Kutta method Radau IIA.
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

MAX_BUFFER = 2**22  # numbers that are gathered at once for speed alone: 32 MiB
END_DISTANCE = 1e-9  # of an element: nearer to its ends, a place would belong to two elements


def gauss_points(count: int) -> Float[np.ndarray, " k"]:
    """Gauss's points in (0, 1)."""
    return (1 + legendre.leggauss(count)[0]) / 2


def radau_points(count: int) -> Float[np.ndarray, " k"]:
    """Radau's points in (0, 1], the end among them.

    >>> radau_points(2).round(6).tolist()
    [0.333333, 1.0]
    """
    inner = roots_jacobi(count - 1, 1.0, 0.0)[0] if count > 1 else np.zeros(0)
    return np.append((1 + inner) / 2, 1.0)


def legendre_values(
    local: Float[np.ndarray, " n"], degree: int, order: int = 0
) -> Float[np.ndarray, "n k"]:
    """The Legendre polynomials, or a derivative of them, at positions in [-1, 1]."""
    unit = np.eye(degree + 1)
    return (
        legendre.legval(local, legendre.legder(unit, order)).T
        if order
        else legendre.legvander(local, degree)
    )


@dataclass(frozen=True)
class Mesh:
    """The elements of an axis, and how many points each of them has.

    >>> mesh = Mesh((0.0, 0.5, 1.0), 4)
    >>> mesh.count, mesh.nodes.shape, mesh.refined(np.array([True, False])).edges
    (2, (8,), (0.0, 0.25, 0.5, 1.0))
    """

    edges: tuple[float, ...]
    points: int
    periodic: bool = False

    @property
    def count(self) -> int:
        """How many elements."""
        return len(self.edges) - 1

    @property
    def lengths(self) -> Float[np.ndarray, " n"]:
        return np.diff(self.edges)

    @cached_property
    def nodes(self) -> Float[np.ndarray, " m"]:
        """Where the equation is to hold."""
        starts = np.asarray(self.edges[:-1])
        return (starts[:, None] + self.lengths[:, None] * gauss_points(self.points)).ravel()

    def refined(self, chosen) -> "Mesh":
        """The same with some elements halved."""
        middles = [
            (a + b) / 2
            for a, b, is_split in zip(self.edges[:-1], self.edges[1:], chosen, strict=True)
            if is_split
        ]
        return Mesh(tuple(sorted((*self.edges, *middles))), self.points, self.periodic)

    def locate(
        self, positions: Float[np.ndarray, " n"]
    ) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """The element of each position, and where in it, from -1 to 1."""
        edges = np.asarray(self.edges)
        inside = np.clip(np.searchsorted(edges, positions, side="right") - 1, 0, self.count - 1)
        return inside, 2 * (positions - edges[inside]) / self.lengths[inside] - 1


@dataclass(frozen=True)
class Splines:
    """The splines on a mesh of which an equation has `order` derivatives along the axis."""

    mesh: Mesh
    order: int

    @property
    def degree(self) -> int:
        return self.mesh.points + self.order - 1

    @property
    def size(self) -> int:
        """How many numbers a spline has."""
        return self.mesh.count * self.mesh.points + (0 if self.mesh.periodic else self.order)

    @cached_property
    def columns(self) -> Int[np.ndarray, "elements k"]:
        """The splines that are not zero in each element."""
        return self._support[0]

    @cached_property
    def pieces(self) -> Float[np.ndarray, "elements k k"]:
        """Coefficients of Legendre polynomials of these splines in each element."""
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
        inner = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        at = edges[:-1, None] + mesh.lengths[:, None] * (1 + inner) / 2
        values = scipy.interpolate.BSpline.design_matrix(at.ravel(), knots, degree)
        shape = mesh.count, degree + 1, degree + 1
        columns = values.indices.reshape(shape)[:, 0] % self.size
        own = values.data.reshape(shape)
        return columns, np.linalg.solve(legendre_values(inner, degree)[None], own)

    def coefficients(self, numbers: np.ndarray, axis: int) -> np.ndarray:
        """Of splines with these numbers along an axis, the Legendre coefficients in every element: that
        axis becomes two, elements and degrees, which stand first."""
        own = np.moveaxis(numbers, axis, 0)[self.columns]  # (elements, k, ...)
        return np.einsum("eds,es...->ed...", self.pieces, own)

    def rows(self, positions: Float[np.ndarray, " n"], order: int = 0) -> scipy.sparse.csr_array:
        """Values of all splines at positions, or of a derivative: (n, size)."""
        inside, local = self.mesh.locate(np.asarray(positions, float))
        polynomials = legendre_values(local, self.degree, order)
        scale = (2 / self.mesh.lengths[inside]) ** order
        values = np.einsum("nd,nds->ns", polynomials, self.pieces[inside, : polynomials.shape[1]])
        values = scale[:, None] * values
        starts = np.arange(0, values.size + 1, values.shape[1])
        indices = self.columns[inside].ravel()
        return scipy.sparse.csr_array(
            (values.ravel(), indices, starts), shape=(len(local), self.size)
        )

    @cached_property
    def places(self) -> Float[np.ndarray, " m"]:
        """Positions at which values determine a spline, more than it has numbers."""
        inner = np.cos(np.pi * np.arange(self.degree + 2) / (self.degree + 1))[::-1]
        inner = (1 - END_DISTANCE) * inner  # the ends of two elements are not one position
        starts = np.asarray(self.mesh.edges[:-1])[:, None]
        return (starts + self.mesh.lengths[:, None] * (1 + inner) / 2).ravel()

    def fitted(self, values: np.ndarray, axis: int = 0) -> np.ndarray:
        """The numbers of the splines that fit values at `places` along an axis by least squares."""
        rows, solve = self._fit
        moved = np.moveaxis(values, axis, 0)
        flat = moved.reshape(len(moved), int(np.prod(moved.shape[1:], dtype=int)))
        found = solve(rows.T @ flat)
        found += solve(rows.T @ (flat - rows @ found))  # what the normal equations lost to rounding
        return np.moveaxis(found.reshape(self.size, *moved.shape[1:]), 0, axis)

    @cached_property
    def _fit(self):
        rows = self.rows(self.places)
        return rows, scipy.sparse.linalg.splu((rows.T @ rows).tocsc()).solve


@dataclass(frozen=True)
class TimeBasis:
    r"""One step in time, from 0 to 1, of a field of which the equation has m derivatives in time.

    u(τ) = s_0 + τ Σ_j c_j P_j(2τ - 1) with the state s at its start: values and m - 1 derivatives. These
    derivatives are polynomials of the same degree, equal to the slope of the one before at Radau's
    points: the implicit Runge-Kutta method for a system of first order, stable for steps of any length.
    Without derivatives in time, u(τ) = Σ_j c_j P_j(2τ - 1).
    """

    points: int
    order: int

    @property
    def size(self) -> int:
        """The numbers of the state, then the others."""
        return self.points + self.order

    def rows(
        self, positions: Float[np.ndarray, " n"], order: int = 0
    ) -> Float[np.ndarray, "n size"]:
        """The functions at positions, or their derivative."""
        kept = min(order, max(self.order - 1, 0))
        series = legendre.legder(self.series[kept], order - kept)
        values = legendre.legval(2 * np.asarray(positions) - 1, series).T
        return 2.0 ** (order - kept) * values

    @property
    def pieces(self) -> Float[np.ndarray, "k size"]:
        """Coefficients of Legendre polynomials on the step."""
        return self.series[0]

    @cached_property
    def last(self) -> Float[np.ndarray, "m size"]:
        """Value and derivatives below the highest at the end of the step."""
        ends = [self.rows(np.ones(1), order)[0] for order in range(self.order)]
        return np.array(ends).reshape(self.order, self.size)

    @cached_property
    def series(self) -> list[Float[np.ndarray, "k size"]]:
        """The same of u and of its derivatives below the highest."""
        if not self.order:
            return [np.eye(self.points)]
        whole = np.zeros((self.points + 1, self.size))
        whole[0, 0] = 1.0
        for j, unit in enumerate(np.eye(self.points)):
            whole[: j + 2, self.order + j] = legendre.legmul(unit[: j + 1], [0.5, 0.5])  # times τ
        found: list[np.ndarray] = [whole]
        at = np.concatenate([[-1.0], 2 * radau_points(self.points) - 1])
        for order in range(1, self.order):
            values = np.zeros((self.points + 1, self.size))
            values[0, order] = 1.0
            values[1:] = 2 * legendre.legval(at[1:], legendre.legder(found[-1])).T
            found.append(np.linalg.solve(legendre.legvander(at, self.points), values))
        return found


# ------------------------------------------------------------------------- polynomials in every element


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
    return padded(pieces, degrees, 2) - padded(others, degrees, 2)


def values_of(
    edges: Sequence[Float[np.ndarray, " _"]],
    pieces: Float[np.ndarray, "k c ..."],
    points: Float[np.ndarray, "n d"],
) -> Float[np.ndarray, "k n c"]:
    """Values of many fields at points."""
    dimension = len(edges)
    each = int(np.prod(pieces.shape[:2])) * int(np.prod(pieces.shape[2 + dimension :]))
    size = max(MAX_BUFFER // each, 1)
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


def padded(own, degrees, before: int):
    """With zeros up to these numbers of degrees; `before` axes come before the elements."""
    axes = len(degrees)
    more = [(0, 0)] * (before + axes) + [
        (0, int(d - n)) for d, n in zip(degrees, own.shape[before + axes :], strict=True)
    ]
    return np.pad(own, more)
