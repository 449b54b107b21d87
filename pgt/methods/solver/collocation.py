"""A problem on a mesh of space: rows and slopes of steps in time, and what sensors read of them.

A field is a tensor product of splines along the axes of space and of a polynomial over a step in time.
The equation holds at the points of the mesh, conditions on faces at those of the faces. A steady equation
is one step without time, an equation in t alone one without space.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.sparse
from jaxtyping import Float

from pgt.data.observations import Observations, cell_quadrature, typical
from pgt.methods.solver.splines import Mesh, Splines, TimeBasis, padded, radau_points
from pgt.methods.solver.statement import Face, OpenValue, ResidualRows, Statement, orders
from pgt.nn.scaling import Scaling

TIME_POINTS = 5  # of a step: order nine at its end, six inside; fewer take more steps
MAX_DENSE_UNKNOWNS = 300  # of a step: with more, a sparse factorization is the faster one
ENRICHMENT = 2  # more points in each element for the solution that tells the error

Steps = Float[np.ndarray, "s 2"]  # the start and the length of each step


class _Block(NamedTuple):
    """Rows at the points of a grid; by name the field, the derivative in time, and the matrix that gives
    the name's values of the field's numbers."""

    rows: ResidualRows | None
    local: Float[np.ndarray, "m d"]  # its points; time counts from 0 to 1
    parts: tuple[tuple[int, int, Any], ...]  # dense or sparse
    open: OpenValue | None = None


class Grid:
    """A problem on a mesh of space. The numbers of a step are those of the first field, in the order of
    time and space, then those of the next."""

    def __init__(
        self, problem: Statement, meshes: tuple[Mesh, ...], time_points: int = TIME_POINTS
    ):
        self.problem, self.meshes = problem, meshes
        has_time = problem.domain.has_time
        self.time_points = time_points if has_time else 1
        self.in_time = tuple(
            TimeBasis(self.time_points, problem.order_in_time(f))
            for f in range(len(problem.fields))
        )
        self.splines = tuple(
            tuple(Splines(mesh, own[k]) for k, mesh in enumerate(meshes)) for own in problem.orders
        )
        self.moments = radau_points(self.time_points)
        self.in_space = tuple(
            int(np.prod([s.size for s in own], dtype=int)) for own in self.splines
        )
        sizes = [t.size * n for t, n in zip(self.in_time, self.in_space, strict=True)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        state = [
            np.arange(t.size * n) < t.order * n
            for t, n in zip(self.in_time, self.in_space, strict=True)
        ]
        self.state = np.concatenate(state)
        self.is_dense = int((~self.state).sum()) <= MAX_DENSE_UNKNOWNS
        self.blocks = self._blocks()
        self.pattern = None if self.is_dense else _Pattern(self)
        self.tables: dict[Any, Any] = {}  # of open values by points (unknown_functions.py)

    def enriched(self) -> "Grid":
        """The same elements with polynomials of higher degree, in space and in time."""
        meshes = tuple(replace(mesh, points=mesh.points + ENRICHMENT) for mesh in self.meshes)
        return Grid(self.problem, meshes, self.time_points + 1)

    @property
    def size(self) -> int:
        """How many numbers a step has, those of its state included."""
        return int(self.starts[-1])

    def own(self, field: int) -> slice:
        """The numbers of a field."""
        return slice(int(self.starts[field]), int(self.starts[field + 1]))

    def _blocks(self) -> list[_Block]:
        problem, interior = self.problem, tuple(mesh.nodes for mesh in self.meshes)
        blocks = [self._block(problem.equation, interior)]
        blocks += [self._block(own.rows, self.on_face(own.face)) for own in problem.given]
        for value in problem.open:
            derivative = "_" + value.face.axis * value.order if value.order else ""
            places = self.on_face(value.face)
            part = self._part(problem.fields[value.field] + derivative, places)
            blocks.append(_Block(None, self._local(places), (part,), value))
        return blocks

    def on_face(self, face: Face) -> tuple[Float[np.ndarray, " m"], ...]:
        """The places of a face: the points of later axes with their ends, those of earlier without."""
        places, held = [], self.problem.space.index(face.axis)
        for k, (axis, mesh) in enumerate(zip(self.problem.space, self.meshes, strict=True)):
            low, high = self.problem.domain.bounds(axis)
            if k == held:
                places.append(np.array([(low, high)[face.side]]))
            elif k < held or mesh.periodic:
                places.append(mesh.nodes)
            else:
                places.append(np.concatenate([[low], mesh.nodes, [high]]))
        return tuple(places)

    def _block(self, rows: ResidualRows, places) -> _Block:
        parts = tuple(self._part(name, places) for name in rows.names)
        return _Block(rows, self._local(places), parts)

    def _local(self, places) -> Float[np.ndarray, "m d"]:
        """The points of a block, moment by moment."""
        grids = np.meshgrid(self.moments, *places, indexing="ij")
        columns = [*grids[1:], grids[0]] if self.problem.domain.has_time else grids[1:]
        return np.stack([g.ravel() for g in columns], axis=1)

    def _part(self, name: str, places):
        field, terms = orders(name, self.problem.pde.coords, self.problem.fields)
        times = {term[-1] if self.problem.domain.has_time else 0 for term in terms}
        matrix = sum(self._matrix(field, term, places) for term in terms)
        return field, times.pop(), matrix if self.is_dense else scipy.sparse.csr_array(matrix)

    def _matrix(self, field: int, term: Sequence[int], places):
        """Values of a derivative on the grid of moments in a step and places, by the field's numbers."""
        along = [s.rows(at, k) for s, at, k in zip(self.splines[field], places, term, strict=False)]
        time = term[-1] if self.problem.domain.has_time else 0
        in_time = self.in_time[field].rows(self.moments, time)
        if self.is_dense:
            return reduce(np.kron, [in_time, *(part.toarray() for part in along)])
        return reduce(
            lambda a, b: scipy.sparse.kron(a, b, "csr"), [scipy.sparse.csr_array(in_time), *along]
        )

    def points(self, block: _Block, steps: Steps) -> Float[np.ndarray, "n d"]:
        """The points of a block in some steps, one step after the other."""
        found = np.tile(block.local, (len(steps), 1))
        if self.problem.domain.has_time:
            start, length = np.repeat(steps, len(block.local), axis=0).T
            found[:, -1] = start + length * found[:, -1]
        return found

    def values_at(self, nodes, local, fields) -> scipy.sparse.csr_array:
        """Values of fields at places and moments of one step, by the step's numbers."""
        rows, columns, values = [], [], []
        for field in np.unique(fields):
            own = np.flatnonzero(fields == field)
            found = self.in_time[field].rows(local[own])
            column = np.broadcast_to(np.arange(found.shape[1]), found.shape)
            for k, spline in enumerate(self.splines[field]):
                along = spline.rows(nodes[own, k])
                shape = len(own), -1
                weight, index = (a.reshape(shape) for a in (along.data, along.indices))
                found = (found[:, :, None] * weight[:, None]).reshape(shape)
                column = (column[:, :, None] * spline.size + index[:, None]).reshape(shape)
            rows.append(np.repeat(own, found.shape[1]))
            columns.append(int(self.starts[field]) + column.ravel())
            values.append(found.ravel())
        if not rows:
            return scipy.sparse.csr_array((len(nodes), self.size))
        triples = (np.concatenate(part) for part in (values, rows, columns))
        value, row, column = triples
        return scipy.sparse.coo_array((value, (row, column)), (len(nodes), self.size)).tocsr()


# ------------------------------------------------------------------------------ rows of steps


@runtime_checkable
class BoundaryValues(Protocol):
    """The values that are open on faces, among all that is unknown (unknown_functions.py)."""

    count: int
    raws: slice

    def at(
        self, value: OpenValue, points: Float[np.ndarray, "n d"]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values at points of the face, and their slopes."""
        ...


class Linearization(NamedTuple):
    """The rows of some steps, and by step their slopes in the numbers that are solved for and in those of
    the state, dense or sparse. `others` are the slopes in all that is unknown: for each group of rows the
    columns and what stands in them."""

    values: Float[np.ndarray, "s m"]
    by_free: Sequence[Any]
    by_state: Sequence[Any]
    others: list[tuple[slice, Float[np.ndarray, "s k p"]]]
    count: int

    def by_unknown(self, step: int) -> Float[np.ndarray, "m p"]:
        """The slopes of the rows of one step in all that is unknown."""
        found = np.zeros((self.values.shape[1], self.count))
        start = 0
        for columns, slopes in self.others:
            found[start : start + slopes.shape[1], columns] = slopes[step]
            start += slopes.shape[1]
        return found


def linearize(
    grid: Grid,
    numbers: Float[np.ndarray, "s n"],
    steps: Steps,
    raws: Float[np.ndarray, " p"],
    boundary: BoundaryValues,
) -> Linearization:
    """The rows at these numbers of some steps."""
    values, weights, others = [], [], []
    lengths, count = steps[:, 1:], len(steps)
    for block in grid.blocks:
        points, shape = grid.points(block, steps), (count, len(block.local))
        table = [
            lengths**-time * (matrix @ numbers[:, grid.own(f)].T).T
            for f, time, matrix in block.parts
        ]
        if block.rows is None:
            assert block.open is not None  # a block is one or the other
            offset, basis = boundary.at(block.open, points)
            values.append(table[0] - offset.reshape(shape))
            weights.append([np.broadcast_to(lengths ** -block.parts[0][1], shape)])
            others.append((slice(None), -basis.reshape(*shape, -1)))
            continue
        asked = np.stack(table, axis=2) if table else np.zeros((*shape, 0))
        found = block.rows.slopes(raws, points, asked.reshape(len(points), -1))
        for k in range(block.rows.count):
            values.append(found.values[:, k].reshape(shape))
            weights.append(
                [
                    found.by_name[:, k, j].reshape(shape) * lengths**-time
                    for j, (_, time, _) in enumerate(block.parts)
                ]
            )
            others.append((boundary.raws, found.by_raw[:, k].reshape(*shape, -1)))
    by_free: Any
    by_state: Any
    by_free, by_state = (_dense if grid.pattern is None else grid.pattern.matrices)(grid, weights)
    return Linearization(np.concatenate(values, axis=1), by_free, by_state, others, boundary.count)


def _dense(grid: Grid, weights) -> tuple[np.ndarray, np.ndarray]:
    """Of every step the slopes of its rows, Σ diag(weight) matrix in the columns of each field."""
    found = []
    for parts, own in zip(_parts_by_row(grid), weights, strict=True):
        whole = np.zeros((*own[0].shape, grid.size) if own else (0, 0, grid.size))
        for (field, _, matrix), weight in zip(parts, own, strict=True):
            whole[:, :, grid.own(field)] += weight[:, :, None] * matrix
        found.append(whole)
    whole = np.concatenate(found, axis=1)
    return whole[:, :, ~grid.state], whole[:, :, grid.state]


def _parts_by_row(grid: Grid):
    """The parts of a block, for each of its groups of rows."""
    return [
        block.parts for block in grid.blocks for _ in range(block.rows.count if block.rows else 1)
    ]


class _Pattern:
    """Where the sparse matrices of a step are not zero: it is the same for all of them."""

    def __init__(self, grid: Grid):
        rows, columns, values, asked = [], [], [], []
        height = weighed = 0
        for parts in _parts_by_row(grid):
            for field, _, matrix in parts:
                own = matrix.tocoo()
                rows.append(height + own.coords[0])
                columns.append(int(grid.starts[field]) + own.coords[1])
                values.append(own.data)
                asked.append(weighed + own.coords[0])
                weighed += matrix.shape[0]
            height += parts[0][2].shape[0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.lexsort((row, column))
        row, column = row[order], column[order]
        self.values, self.asked = np.concatenate(values)[order], np.concatenate(asked)[order]
        is_first = np.r_[True, (np.diff(row) != 0) | (np.diff(column) != 0)]
        self.starts = np.flatnonzero(is_first)
        row, column = row[is_first], column[is_first]
        self.halves = []
        for chosen in (~grid.state, grid.state):
            inside = chosen[column]
            renumbered = (np.cumsum(chosen) - 1)[column[inside]]
            ends = np.searchsorted(renumbered, np.arange(chosen.sum() + 1))
            self.halves.append((inside, row[inside], ends, (height, int(chosen.sum()))))

    def matrices(self, grid: Grid, weights) -> tuple[list, list]:
        """The same as `_dense`."""
        table = np.concatenate([weight for own in weights for weight in own], axis=1)
        free, state = [], []
        for own in table:
            entries = np.add.reduceat(own[self.asked] * self.values, self.starts)
            for found, (inside, row, ends, shape) in zip((free, state), self.halves, strict=True):
                found.append(scipy.sparse.csc_array((entries[inside], row, ends), shape))
        return free, state


# ------------------------------------------------------------------------------ readings


class Sensors:
    """All measured values, field by field, dimensionless: in units of their spread."""

    def __init__(self, readings: Observations, scaling: Scaling):
        nodes, weights = cell_quadrature(readings)
        nodes = np.asarray(nodes, float)
        rows, fields, values, sigma = [], [], [], []
        for field, name in enumerate(readings.fields):
            row, _, measured, noise = readings.measured(name)
            mean, spread = float(scaling.mean[field]), float(scaling.spread[field])
            rows.append(row)
            fields.append(np.full(len(row), field))
            values.append((measured - mean) / spread)
            sigma.append(noise / spread)
        self.rows, self.fields = np.concatenate(rows), np.concatenate(fields)
        self.nodes, self.weights = nodes[self.rows], np.asarray(weights, float)
        self.values, noise = np.concatenate(values), np.concatenate(sigma)
        self.mean = np.asarray(scaling.mean, float)[self.fields]
        self.spread = np.asarray(scaling.spread, float)[self.fields]
        self.common = typical(noise) or None
        self.relative = np.where(noise > 0, noise / (self.common or 1.0), 1.0)

    def on(self, grid: Grid, steps: Sequence[tuple[float, float]]) -> list[scipy.sparse.csr_array]:
        """By step, the matrix that gives readings, but for the mean of fields, of the step's numbers."""
        count = len(self.weights)
        nodes = self.nodes.reshape(-1, self.nodes.shape[-1])
        owner = np.repeat(np.arange(len(self.values)), count)
        weights = np.tile(self.weights, len(self.values)) / self.spread[owner]
        inside, local = _located(nodes, steps, grid.problem.domain.has_time)
        order = np.argsort(inside, kind="stable")
        rows = grid.values_at(nodes[order], local[order], self.fields[owner[order]])
        ends = np.searchsorted(inside[order], np.arange(len(steps) + 1))
        found = []
        for low, high in itertools.pairwise(ends):
            own = order[low:high]
            gathered = scipy.sparse.csr_array(
                (weights[own], (owner[own], np.arange(len(own)))), (len(self.values), len(own))
            )
            found.append(gathered @ rows[low:high])
        return found


def _located(nodes, steps, has_time: bool):
    """The step of each node, and where in it, from 0 to 1."""
    if not has_time:
        return np.zeros(len(nodes), int), np.ones(len(nodes))
    starts, lengths = np.array(steps).T
    inside = np.clip(np.searchsorted(starts, nodes[:, -1], side="right") - 1, 0, len(starts) - 1)
    return inside, (nodes[:, -1] - starts[inside]) / lengths[inside]


# ------------------------------------------------------------------------------ polynomials


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
        [padded(own, _largest(found, dimension + has_time), 1) for own in found], axis=1
    )


def _without_time(order):
    return tuple(axis - 2 if axis else 0 for axis in order)


def _largest(found, axes: int):
    return np.max([own.shape[1 + axes :] for own in found], axis=0)
