"""An equation on a mesh of space: rows and slopes for one step in time, and what is missing at its ends.

A field is a tensor product of splines along the axes of space and of a polynomial over a step in time. The
equation holds at the points of the mesh, conditions on faces at those of the faces. Where fewer conditions
are given than splines have numbers, values on a face are unknown functions. A steady equation is one step
without time, an equation in t alone one without space.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.origin import Origin
from pgt.data.regions import Faces, Seam
from pgt.ground.errors import InputError
from pgt.methods.rows import Rows, condition_rows, equation_rows, orders
from pgt.methods.splines import Mesh, Splines, Step, radau
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition, Initial, Periodic
from pgt.physics.pde import AbstractPDE

IN_TIME = 5  # points of a step: order nine at its end, six inside
DENSE = 300  # unknowns of a step up to which a dense factorisation is the faster one
NOT_HERE = "the method solver cannot be used here"


class Face(NamedTuple):
    """An end of an axis."""

    axis: str
    side: int


class Open(NamedTuple):
    """A value on a face that nobody gave: of a field, or of a derivative across the face."""

    face: Face
    field: int
    order: int


class Given(NamedTuple):
    """A condition on a face, as rows."""

    face: Face
    rows: Rows


@dataclass(frozen=True)
class Posed:
    """A problem as this method sees it: the order of every field along every axis, the conditions by
    face, and what is unknown."""

    pde: AbstractPDE
    domain: Domain  # counted from the origin
    origin: Origin
    equation: Rows
    orders: tuple[tuple[int, ...], ...]  # by field and axis
    given: tuple[Given, ...]
    initial: tuple[Rows, ...]
    open: tuple[Open, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        return self.pde.fields

    @property
    def space(self) -> tuple[str, ...]:
        return self.domain.spatial_axes

    def order_in_time(self, field: int) -> int:
        return self.orders[field][-1] if self.domain.has_time else 0


def posed(
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
) -> Posed:
    """The problem, or an `InputError` that says why this method cannot solve it."""
    if domain.shape is not None:
        raise InputError(f"{NOT_HERE}: the domain has a shape; it solves equations in boxes.")
    if len(domain.spatial_axes) > 2:
        raise InputError(f"{NOT_HERE}: it solves in at most two coordinates of space, and time.")
    equation = equation_rows(pde, scaling.origin)
    if equation.count != len(pde.fields):
        raise InputError(
            f"{NOT_HERE}: {equation.count} equations for {len(pde.fields)} fields ({', '.join(pde.fields)}); "
            "it needs as many equations as fields."
        )
    highest = np.zeros((len(pde.fields), len(pde.coords)), int)
    for name in equation.names:
        field, terms = orders(name, pde.coords, pde.fields)
        highest[field] = np.maximum(highest[field], np.max(terms, axis=0))
    given, initial = [], []
    for condition in conditions:
        region = getattr(condition, "region", None)
        if isinstance(condition, Periodic) or isinstance(region, Seam):
            raise InputError(
                f"{NOT_HERE}: write Domain(..., periodic=...) in the place of Periodic."
            )
        if not isinstance(region, Faces) or condition.kind not in ("bc", "ic"):
            raise InputError(
                f"{NOT_HERE}: {type(condition).__name__} does not hold on a whole face of the box."
            )
        rows = condition_rows(condition, pde, scaling.origin)
        if isinstance(condition, Initial):
            initial.append(rows)
        else:
            given += [Given(Face(axis, side), rows) for axis, side in region.pairs]
    everything = tuple(tuple(int(k) for k in row) for row in highest)
    problem = Posed(
        pde, domain, scaling.origin, equation, everything, tuple(given), tuple(initial), ()
    )
    return Posed(
        pde, domain, scaling.origin, equation, everything, tuple(given), tuple(initial),
        tuple(_open_values(problem, scaling)),
    )  # fmt: skip


# ------------------------------------------------------------------------- what is open at the ends


def _open_values(problem: Posed, scaling: Scaling) -> list[Open]:
    """The values on faces that no condition gives."""
    found = []
    for axis in problem.space:
        if axis in problem.domain.periodic:
            continue
        column = problem.domain.index(axis)
        rows = {side: _fields_of_rows(problem, Face(axis, side)) for side in (0, 1)}
        if len(rows[0]) + len(rows[1]) == sum(own[column] for own in problem.orders):
            continue
        need = {
            (f, side): own[column] // 2 for f, own in enumerate(problem.orders) for side in (0, 1)
        }
        for f, own in enumerate(problem.orders):
            if own[column] % 2:
                need[f, _end_of_odd(problem, scaling, f, column, rows)] += 1
        for side in (0, 1):
            face = Face(axis, side)
            known = dict.fromkeys(range(len(problem.fields)), 0)
            for asked in rows[side]:
                able = [f for f in asked if need[f, side] > known[f]]
                if not able:
                    raise InputError(
                        f"{NOT_HERE}: more conditions at the {('lower', 'upper')[side]} end of {axis} than "
                        "the equation can fulfil."
                    )
                known[max(able, key=lambda f: need[f, side] - known[f])] += 1
            for f, count in known.items():
                taken = _orders_given(problem, face, f)
                free = [k for k in range(need[f, side] + len(taken)) if k not in taken]
                found += [Open(face, f, k) for k in free[: need[f, side] - count]]
    return found


def _fields_of_rows(problem: Posed, face: Face) -> list[set[int]]:
    """For every row of the conditions on a face, the fields that it depends on."""
    found = []
    for given in problem.given:
        if given.face != face:
            continue
        fields = [orders(n, problem.pde.coords, problem.fields)[0] for n in given.rows.names]
        point = problem.domain.lower + 0.37 * problem.domain.extent
        point[problem.domain.index(face.axis)] = problem.domain.bounds(face.axis)[face.side]
        raws = _raws(problem)
        slopes = given.rows.slopes(raws, point[None], np.full((1, len(fields)), 0.7)).by_name[0]
        found += [{f for f, slope in zip(fields, row, strict=True) if slope} for row in slopes]
    return found


def _orders_given(problem: Posed, face: Face, field: int) -> set[int]:
    """The derivatives of a field across a face that conditions there ask for."""
    column, found = problem.domain.index(face.axis), set()
    for given in problem.given:
        if given.face == face:
            for name in given.rows.names:
                own, terms = orders(name, problem.pde.coords, problem.fields)
                if own == field:
                    found |= {term[column] for term in terms}
    return found


def _end_of_odd(problem: Posed, scaling: Scaling, field: int, column: int, rows) -> int:
    """The end at which a field of odd order has one condition more: where one is given, else where
    what it carries comes in."""
    order = problem.orders[field][column]
    more = [side for side in (0, 1) if sum(field in asked for asked in rows[side]) > order // 2]
    if more:
        return more[0]
    axis = problem.pde.coords[column]
    name = f"{problem.fields[field]}_{axis * order}"
    if not problem.domain.has_time or f"{problem.fields[field]}_t" not in problem.equation.names:
        return 0
    names = problem.equation.names
    points = problem.domain.even(16)
    mean = [
        scaling.mean[orders(n, problem.pde.coords, problem.fields)[0]]
        if n in problem.fields
        else 0.0
        for n in names
    ]
    slopes = problem.equation.slopes(
        _raws(problem), points, np.tile(np.asarray(mean, float), (16, 1))
    )
    here, time = (slopes.by_name[..., names.index(n)] for n in (name, f"{problem.fields[field]}_t"))
    speed = float(
        np.sum(here * time)
    )  # of the sign of what multiplies the derivative, over that of u_t
    return int((speed < 0) != (order % 4 == 3))


def _raws(problem: Posed) -> Float[np.ndarray, " p"]:
    from pgt.methods.rows import raws_of

    return raws_of(problem.pde)


# ------------------------------------------------------------------------- one step


class _Block(NamedTuple):
    """Rows at the points of a grid; by name the field, the derivative in time, and the matrix that gives
    the name's values of the field's numbers."""

    rows: Rows | None
    places: tuple[Float[np.ndarray, " m"], ...]  # along the axes of space
    parts: tuple[tuple[int, int, np.ndarray | scipy.sparse.csr_array], ...]
    open: Open | None = None


class Grid:
    """A problem on a mesh of space. The numbers of a step are those of the first field, in the order of
    time and space, then those of the next."""

    def __init__(self, problem: Posed, meshes: tuple[Mesh, ...]):
        self.problem, self.meshes = problem, meshes
        has_time = problem.domain.has_time
        self.in_time = tuple(
            Step(IN_TIME if has_time else 1, problem.order_in_time(f))
            for f in range(len(problem.fields))
        )
        self.splines = tuple(
            tuple(Splines(mesh, own[k]) for k, mesh in enumerate(meshes)) for own in problem.orders
        )
        self.moments = radau(IN_TIME) if has_time else np.ones(1)
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
        self.is_dense = int((~self.state).sum()) <= DENSE
        self.blocks = self._blocks()

    @property
    def size(self) -> int:
        """How many numbers a step has, those of its state included."""
        return int(self.starts[-1])

    def own(self, field: int) -> slice:
        """The numbers of a field."""
        return slice(int(self.starts[field]), int(self.starts[field + 1]))

    def _blocks(self) -> list[_Block]:
        problem, blocks = self.problem, []
        interior = tuple(mesh.nodes for mesh in self.meshes)
        blocks.append(self._block(problem.equation, interior))
        for given in problem.given:
            blocks.append(self._block(given.rows, self.on_face(given.face)))
        for value in problem.open:
            name = problem.fields[value.field] + (
                "_" + value.face.axis * value.order if value.order else ""
            )
            places = self.on_face(value.face)
            blocks.append(_Block(None, places, (self._part(name, places),), value))
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

    def _block(self, rows: Rows, places) -> _Block:
        return _Block(rows, places, tuple(self._part(name, places) for name in rows.names))

    def _part(self, name: str, places):
        field, terms = orders(name, self.problem.pde.coords, self.problem.fields)
        times = {term[-1] if self.problem.domain.has_time else 0 for term in terms}
        matrix = sum(self.matrix(field, term, places, self.moments) for term in terms)
        return field, times.pop(), matrix if self.is_dense else scipy.sparse.csr_array(matrix)

    def matrix(self, field: int, term: Sequence[int], places, moments):
        """Values of a derivative on the grid of moments in a step and places, by the field's numbers."""
        along = [s.rows(at, k) for s, at, k in zip(self.splines[field], places, term, strict=False)]
        time = term[-1] if self.problem.domain.has_time else 0
        parts = [self.in_time[field].rows(moments, time), *along]
        if self.is_dense:
            return reduce(np.kron, parts)
        return reduce(
            lambda a, b: scipy.sparse.kron(a, b, "csr"), [scipy.sparse.csr_array(p) for p in parts]
        )

    def points(self, block: _Block, start: float, length: float) -> Float[np.ndarray, "n d"]:
        """The points of a block in a step."""
        axes = [start + length * self.moments, *block.places]
        grids = np.meshgrid(*axes, indexing="ij")
        columns = [*grids[1:], grids[0]] if self.problem.domain.has_time else grids[1:]
        return np.stack([g.ravel() for g in columns], axis=1)


class Linearised(NamedTuple):
    """The rows of a step, and their slopes in its numbers, in the coefficients, and in the values that are
    open."""

    values: Float[np.ndarray, " m"]
    by_number: np.ndarray | scipy.sparse.csr_array
    by_unknown: Float[np.ndarray, "m p"]


def linearised(
    grid: Grid,
    numbers: Float[np.ndarray, " n"],
    step: tuple[float, float],
    raws: Float[np.ndarray, " p"],
    opened: "OpenValues",
) -> Linearised:
    """The rows at these numbers in the step from `step[0]` of length `step[1]`."""
    values, slopes, others = [], [], []
    for block in grid.blocks:
        points = grid.points(block, *step)
        table = [step[1] ** -time * (m @ numbers[grid.own(f)]) for f, time, m in block.parts]
        if block.rows is None:
            offset, basis = opened.at(block.open, points)
            values.append(table[0] - offset)
            slopes.append(_placed(grid, [(block.parts[0], np.ones(len(points)), step[1])]))
            others.append(-basis)
            continue
        found = block.rows.slopes(
            raws, points, np.stack(table, axis=1) if table else np.zeros((len(points), 0))
        )
        for k in range(block.rows.count):
            values.append(found.values[:, k])
            weighed = [
                (part, found.by_name[:, k, j], step[1]) for j, part in enumerate(block.parts)
            ]
            slopes.append(_placed(grid, weighed))
            own = np.zeros((len(points), opened.count))
            own[:, opened.unknowns.raws] = found.by_raw[:, k]
            others.append(own)
    stack = np.concatenate if grid.is_dense else lambda parts: scipy.sparse.vstack(parts, "csr")
    return Linearised(np.concatenate(values), stack(slopes), np.concatenate(others))


def _placed(grid: Grid, weighed):
    """Σ diag(weight) matrix, each in the columns of its field."""
    found = {}
    for (field, time, matrix), weight, length in weighed:
        weight = weight * length**-time
        own = (
            weight[:, None] * matrix if grid.is_dense else scipy.sparse.diags_array(weight) @ matrix
        )
        found[field] = found[field] + own if field in found else own
    count = len(weighed[0][1])
    if grid.is_dense:
        whole = np.zeros((count, grid.size))
        for field, own in found.items():
            whole[:, grid.own(field)] = own
        return whole
    widths = np.diff(grid.starts)
    parts = [found.get(f, scipy.sparse.csr_array((count, int(w)))) for f, w in enumerate(widths)]
    return scipy.sparse.hstack(parts, "csr")


class Factor:
    """A factorised square matrix."""

    def __init__(self, matrix):
        self.is_dense = isinstance(matrix, np.ndarray)
        if self.is_dense:
            self.parts = scipy.linalg.lu_factor(matrix, check_finite=False)
        else:
            self.parts = scipy.sparse.linalg.splu(matrix.tocsc())

    def solve(self, right):
        """The solution for one or many right sides."""
        if self.is_dense:
            return scipy.linalg.lu_solve(self.parts, right, check_finite=False)
        return self.parts.solve(np.ascontiguousarray(right))
