"""Collocation on a mesh of space: the rows of time steps, their slopes, and the readings of sensors.

A field is a tensor product of splines along the axes of space and a polynomial over a step in time. The
equation holds at the points of the mesh, and conditions hold at the points of the faces. A steady
equation is one step without time; an equation in t alone is a problem without space.
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
from pgt.methods.solver.statement import (
    Face,
    FunctionValue,
    OpenValue,
    ResidualRows,
    Statement,
    orders,
)
from pgt.nn.scaling import Scaling

# The number of collocation points of a step in time: order nine at its end, six inside. With fewer points
# more steps are needed.
TIME_POINTS = 5
MAX_DENSE_UNKNOWNS = 300  # with more free numbers in a step, sparse factorization is faster
ENRICHMENT = 2  # additional points per element in the finer solution that estimates the error

Steps = Float[np.ndarray, "s 2"]  # the start and the length of each step


class _Block(NamedTuple):
    """The rows of the equation, of a condition, or of an open value or unknown function at the points of
    a grid.

    `local` are the points, with the time of a step from 0 to 1. `parts` has, for every name that the rows
    ask for, the field, the order of the time derivative, and the matrix, dense or sparse, from the
    field's numbers to the values of that name.
    """

    rows: ResidualRows | None
    local: Float[np.ndarray, "m d"]
    parts: tuple[tuple[int, int, Any], ...]
    open: OpenValue | FunctionValue | None = None


class Grid:
    """A problem on a mesh of space.

    The numbers of a step, its degrees of freedom, are those of the first field, in the order of time and
    space, then those of the next. `state` marks the numbers that are given at the start of a step; the
    others are free.
    """

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
            tuple(Splines(mesh, field_orders[k]) for k, mesh in enumerate(meshes))
            for field_orders in problem.orders
        )
        self.moments = radau_points(self.time_points)
        self.in_space = tuple(
            int(np.prod([s.size for s in splines], dtype=int)) for splines in self.splines
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
        self.tables: dict[Any, Any] = {}  # a cache for open values at points (unknown_functions.py)

    def enriched(self) -> "Grid":
        """The same elements with polynomials of higher degree, in space and in time."""
        meshes = tuple(replace(mesh, points=mesh.points + ENRICHMENT) for mesh in self.meshes)
        return Grid(self.problem, meshes, self.time_points + 1)

    @property
    def size(self) -> int:
        """The number of numbers of a step, including its state."""
        return int(self.starts[-1])

    def own(self, field: int) -> slice:
        """The slice of a field's numbers among those of a step."""
        return slice(int(self.starts[field]), int(self.starts[field + 1]))

    def _blocks(self) -> list[_Block]:
        """The blocks of the equation, of the given conditions, and of the open values."""
        problem, interior = self.problem, tuple(mesh.nodes for mesh in self.meshes)
        blocks = [self._block(problem.equation, interior)]
        blocks += [
            self._block(condition.rows, self.on_face(condition.face)) for condition in problem.given
        ]
        for value in problem.open:
            derivative = "_" + value.face.axis * value.order if value.order else ""
            places = self.on_face(value.face)
            part = self._part(problem.fields[value.field] + derivative, places)
            blocks.append(_Block(None, self._local(places), (part,), value))
        for function in problem.functions:
            part = self._part(problem.fields[function.field], interior)
            blocks.append(_Block(None, self._local(interior), (part,), function))
        return blocks

    def on_face(self, face: Face) -> tuple[Float[np.ndarray, " m"], ...]:
        """The coordinates of a face's points along each axis. Axes after that of the face include their
        ends, axes before it do not, so that no point belongs to two faces."""
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
        """The points of a block, one time point of the step after the other."""
        grids = np.meshgrid(self.moments, *places, indexing="ij")
        columns = [*grids[1:], grids[0]] if self.problem.domain.has_time else grids[1:]
        return np.stack([g.ravel() for g in columns], axis=1)

    def _part(self, name: str, places):
        """The field of a derivative, its order in time, and its matrix at the places."""
        field, terms = orders(name, self.problem.pde.coords, self.problem.fields)
        times = {term[-1] if self.problem.domain.has_time else 0 for term in terms}
        matrix = sum(self._matrix(field, term, places) for term in terms)
        return field, times.pop(), matrix if self.is_dense else scipy.sparse.csr_array(matrix)

    def _matrix(self, field: int, term: Sequence[int], places):
        """The matrix from a field's numbers to a derivative on the grid of time points and places."""
        along = [s.rows(at, k) for s, at, k in zip(self.splines[field], places, term, strict=False)]
        time = term[-1] if self.problem.domain.has_time else 0
        in_time = self.in_time[field].rows(self.moments, time)
        if self.is_dense:
            return reduce(np.kron, [in_time, *(part.toarray() for part in along)])
        return reduce(
            lambda a, b: scipy.sparse.kron(a, b, "csr"), [scipy.sparse.csr_array(in_time), *along]
        )

    def points(self, block: _Block, steps: Steps) -> Float[np.ndarray, "n d"]:
        """The points of a block in several steps, one step after the other."""
        points = np.tile(block.local, (len(steps), 1))
        if self.problem.domain.has_time:
            start, length = np.repeat(steps, len(block.local), axis=0).T
            points[:, -1] = start + length * points[:, -1]
        return points

    def values_at(self, nodes, local, fields) -> scipy.sparse.csr_array:
        """The matrix from a step's numbers to values of `fields` at `nodes` in space and times `local`,
        which run from 0 to 1 over the step."""
        rows, columns, values = [], [], []
        for field in np.unique(fields):
            members = np.flatnonzero(fields == field)
            values_of_field = self.in_time[field].rows(local[members])
            columns_of_field = np.broadcast_to(
                np.arange(values_of_field.shape[1]), values_of_field.shape
            )
            for k, spline in enumerate(self.splines[field]):
                along = spline.rows(nodes[members, k])
                shape = len(members), -1
                weight, index = (a.reshape(shape) for a in (along.data, along.indices))
                values_of_field = (values_of_field[:, :, None] * weight[:, None]).reshape(shape)
                columns_of_field = (
                    columns_of_field[:, :, None] * spline.size + index[:, None]
                ).reshape(shape)
            rows.append(np.repeat(members, values_of_field.shape[1]))
            columns.append(int(self.starts[field]) + columns_of_field.ravel())
            values.append(values_of_field.ravel())
        if not rows:
            return scipy.sparse.csr_array((len(nodes), self.size))
        triples = (np.concatenate(part) for part in (values, rows, columns))
        value, row, column = triples
        return scipy.sparse.coo_array((value, (row, column)), (len(nodes), self.size)).tocsr()


# ------------------------------------------------------------------------------ rows of steps


@runtime_checkable
class BoundaryValues(Protocol):
    """The open values on faces and the unknown functions, from the unknowns (unknown_functions.py)."""

    count: int
    raws: slice

    def at(
        self, value: OpenValue | FunctionValue, points: Float[np.ndarray, "n d"]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values at points of the face, or of the domain, and their slopes in all unknowns."""
        ...


class Linearization(NamedTuple):
    """The rows of some steps with their slopes.

    `by_free` and `by_state` have for each step the slopes in its free numbers and in its state, dense or
    sparse. `others` holds the slopes in the unknowns as (columns, slopes) for each group of rows; `count`
    is the number of unknowns.
    """

    values: Float[np.ndarray, "s m"]
    by_free: Sequence[Any]
    by_state: Sequence[Any]
    others: list[tuple[slice, Float[np.ndarray, "s k p"]]]
    count: int

    def by_unknown(self, step: int) -> Float[np.ndarray, "m p"]:
        """The slopes of the rows of one step in all unknowns."""
        matrix = np.zeros((self.values.shape[1], self.count))
        start = 0
        for columns, slopes in self.others:
            matrix[start : start + slopes.shape[1], columns] = slopes[step]
            start += slopes.shape[1]
        return matrix


def linearize(
    grid: Grid,
    numbers: Float[np.ndarray, "s n"],
    steps: Steps,
    raws: Float[np.ndarray, " p"],
    boundary: BoundaryValues,
) -> Linearization:
    """The rows of some steps at these numbers, with their slopes."""
    values, weights, others = [], [], []
    lengths, count = steps[:, 1:], len(steps)
    for block in grid.blocks:
        points, shape = grid.points(block, steps), (count, len(block.local))
        table = [
            lengths**-time * (matrix @ numbers[:, grid.own(f)].T).T
            for f, time, matrix in block.parts
        ]
        if block.rows is None:
            assert block.open is not None  # a block has either rows or an open value
            offset, basis = boundary.at(block.open, points)
            values.append(table[0] - offset.reshape(shape))
            weights.append([np.broadcast_to(lengths ** -block.parts[0][1], shape)])
            others.append((slice(None), -basis.reshape(*shape, -1)))
            continue
        derivatives = np.stack(table, axis=2) if table else np.zeros((*shape, 0))
        slopes_at_points = block.rows.slopes(raws, points, derivatives.reshape(len(points), -1))
        for k in range(block.rows.count):
            values.append(slopes_at_points.values[:, k].reshape(shape))
            weights.append(
                [
                    slopes_at_points.by_name[:, k, j].reshape(shape) * lengths**-time
                    for j, (_, time, _) in enumerate(block.parts)
                ]
            )
            others.append((boundary.raws, slopes_at_points.by_raw[:, k].reshape(*shape, -1)))
    by_free: Any
    by_state: Any
    by_free, by_state = (_dense if grid.pattern is None else grid.pattern.matrices)(grid, weights)
    return Linearization(np.concatenate(values, axis=1), by_free, by_state, others, boundary.count)


def _dense(grid: Grid, weights) -> tuple[np.ndarray, np.ndarray]:
    """The dense slopes of the rows of every step in its free numbers and in its state: Σ diag(weight)
    matrix in the columns of each field."""
    groups = []
    for parts, weights_of_group in zip(_parts_by_group(grid), weights, strict=True):
        whole = np.zeros(
            (*weights_of_group[0].shape, grid.size) if weights_of_group else (0, 0, grid.size)
        )
        for (field, _, matrix), weight in zip(parts, weights_of_group, strict=True):
            whole[:, :, grid.own(field)] += weight[:, :, None] * matrix
        groups.append(whole)
    whole = np.concatenate(groups, axis=1)
    return whole[:, :, ~grid.state], whole[:, :, grid.state]


def _parts_by_group(grid: Grid):
    """The parts of each block, repeated for each of its groups of rows."""
    return [
        block.parts for block in grid.blocks for _ in range(block.rows.count if block.rows else 1)
    ]


class _Pattern:
    """The sparsity pattern of the matrices of a step, which all steps share."""

    def __init__(self, grid: Grid):
        rows, columns, values, weight_index = [], [], [], []
        height = weight_count = 0
        for parts in _parts_by_group(grid):
            for field, _, matrix in parts:
                entries = matrix.tocoo()
                rows.append(height + entries.coords[0])
                columns.append(int(grid.starts[field]) + entries.coords[1])
                values.append(entries.data)
                weight_index.append(weight_count + entries.coords[0])
                weight_count += matrix.shape[0]
            height += parts[0][2].shape[0]
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.lexsort((row, column))
        row, column = row[order], column[order]
        self.values, self.weight_index = (
            np.concatenate(values)[order],
            np.concatenate(weight_index)[order],
        )
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
        """The slopes as `_dense` returns them, as sparse matrices for each step."""
        table = np.concatenate([weight for group in weights for weight in group], axis=1)
        free, state = [], []
        for step in table:
            entries = np.add.reduceat(step[self.weight_index] * self.values, self.starts)
            for half, (inside, row, ends, shape) in zip((free, state), self.halves, strict=True):
                half.append(scipy.sparse.csc_array((entries[inside], row, ends), shape))
        return free, state


# ------------------------------------------------------------------------------ readings


class MeasuredValues:
    """All measured values, field by field, in units of the field's spread.

    `common` is the typical given σ, or None; `relative` is the σ of each value relative to it.
    """

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
        """By step, the matrix from the step's numbers to its share of the readings; the mean of the field
        is not subtracted yet."""
        count = len(self.weights)
        nodes = self.nodes.reshape(-1, self.nodes.shape[-1])
        owner = np.repeat(np.arange(len(self.values)), count)
        weights = np.tile(self.weights, len(self.values)) / self.spread[owner]
        step_of_node, local = _located(nodes, steps, grid.problem.domain.has_time)
        order = np.argsort(step_of_node, kind="stable")
        rows = grid.values_at(nodes[order], local[order], self.fields[owner[order]])
        ends = np.searchsorted(step_of_node[order], np.arange(len(steps) + 1))
        matrices = []
        for low, high in itertools.pairwise(ends):
            members = order[low:high]
            gathered = scipy.sparse.csr_array(
                (weights[members], (owner[members], np.arange(len(members)))),
                (len(self.values), len(members)),
            )
            matrices.append(gathered @ rows[low:high])
        return matrices


def _located(nodes, steps, has_time: bool):
    """The step of each node, and the node's position in it, from 0 to 1."""
    if not has_time:
        return np.zeros(len(nodes), int), np.ones(len(nodes))
    starts, lengths = np.array(steps).T
    step = np.clip(np.searchsorted(starts, nodes[:, -1], side="right") - 1, 0, len(starts) - 1)
    return step, (nodes[:, -1] - starts[step]) / lengths[step]


# ------------------------------------------------------------------------------ polynomials


def pieces_of(
    grid: Grid, numbers: Sequence[Float[np.ndarray, "n k"]]
) -> Float[np.ndarray, "k c ..."]:
    """The Legendre coefficients of the fields from the numbers of every step, shape (k, fields, elements
    along each axis, degrees along each axis)."""
    stacked = np.stack(numbers)  # (steps, n, k)
    has_time, dimension = grid.problem.domain.has_time, len(grid.meshes)
    by_field = []
    for f, (time, splines) in enumerate(zip(grid.in_time, grid.splines, strict=True)):
        tensor = stacked[:, grid.own(f)]
        tensor = tensor.reshape(
            len(tensor), time.size, *(s.size for s in splines), tensor.shape[-1]
        )
        tensor = np.moveaxis(np.tensordot(time.pieces, tensor, (1, 1)), (0, 1), (-1, -2))
        for spline in splines:  # each moves its (elements, degrees) behind all other axes
            tensor = np.moveaxis(spline.coefficients(tensor, 0), (0, 1), (-2, -1))
        # (k, steps, degrees in time, elements, degrees, ...)
        pairs = [(3 + 2 * k, 4 + 2 * k) for k in range(dimension)] + ([(1, 2)] if has_time else [])
        order = (0, *(e for e, _ in pairs), *(d for _, d in pairs))
        by_field.append(
            tensor.transpose(order) if has_time else tensor[:, 0, 0].transpose(_without_time(order))
        )
    return np.stack(
        [padded(tensor, _largest(by_field, dimension + has_time), 1) for tensor in by_field], axis=1
    )


def _without_time(axes_order):
    return tuple(axis - 2 if axis else 0 for axis in axes_order)


def _largest(arrays, axes: int):
    return np.max([array.shape[1 + axes :] for array in arrays], axis=0)
