"""An equation on a mesh of space: rows and slopes for one step in time, and what is missing at its ends.

A field is a tensor product of splines along the axes of space and of a polynomial over a step in time.
The equation holds at the points of the mesh, conditions on faces at those of the faces. Where fewer
conditions are given than splines have numbers, values on a face are unknown functions. A steady equation
is one step without time, an equation in t alone one without space.
"""

import copy
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.parser import parse_equation
from pgt.data.condition_regions import Faces, Seam
from pgt.data.domain import Domain
from pgt.data.origin import Origin
from pgt.methods.solver.residuals import (
    ResidualRows,
    condition_rows,
    equation_rows,
    orders,
    raws_of,
)
from pgt.methods.solver.splines import Mesh, Splines, Step, radau
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition, Initial, Periodic, is_far
from pgt.physics.expression import Expression, switches
from pgt.physics.interpolation_table import Table
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare

IN_TIME = 5  # points of a step: order nine at its end, six inside
DENSE = 300  # unknowns of a step up to which a dense factorisation is the faster one
ENRICHED = 2  # more points in each element for the solution that tells the error
# Extents of an axis from its end to one that lies far away: a mesh that refines itself pays ten elements
# for it, and a wave or front must not get there.
FAR = 1000.0
PROBED = 16  # points at which the sign of a velocity is asked
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


class FaceCondition(NamedTuple):
    """A condition on a face, as rows."""

    face: Face
    rows: ResidualRows


@dataclass(frozen=True)
class Posed:
    """A problem as this method sees it: the order of every field along every axis, the conditions by
    face, and what is unknown."""

    pde: AbstractPDE
    domain: Domain  # counted from the origin
    origin: Origin
    equation: ResidualRows
    orders: tuple[tuple[int, ...], ...]  # by field and axis
    given: tuple[FaceCondition, ...]
    initial: tuple[ResidualRows, ...]
    open: tuple[Open, ...]
    inner: Domain  # without what lies beyond it, up to an end far away
    knots: tuple[float, ...] = ()  # times inside at which slopes of tables change

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
    with jax.enable_x64(True):  # a fitted equation has coefficients in double precision
        return _posed(pde, domain, conditions, scaling)


def _posed(pde: AbstractPDE, domain: Domain, conditions, scaling: Scaling) -> Posed:
    if domain.shape is not None:
        raise InputError(f"{NOT_HERE}: the domain has a shape; it solves equations in boxes.")
    if len(domain.spatial_axes) > 2:
        raise InputError(f"{NOT_HERE}: it solves in at most two coordinates of space, and time.")
    equation = equation_rows(pde, scaling.origin)
    if equation.count != len(pde.fields):
        raise InputError(
            f"{NOT_HERE}: {equation.count} equations for the fields {', '.join(pde.fields)}; "
            "it needs as many equations as fields."
        )
    inner, domain = domain, _extended(domain, conditions)
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
            given += [FaceCondition(Face(axis, side), rows) for axis, side in region.pairs]
    by_field = tuple(tuple(int(k) for k in row) for row in highest)
    problem = Posed(
        pde, domain, scaling.origin, equation, by_field, tuple(given), tuple(initial), (),
        inner, _knots(pde, domain, conditions, scaling.origin),
    )  # fmt: skip
    return replace(problem, open=tuple(_open_values(problem, scaling)))


def _extended(domain: Domain, conditions) -> Domain:
    """The domain out to where its ends are that lie far away."""
    ends = [c.region.pairs for c in conditions if is_far(c)]
    if not ends:
        return domain
    if not any(isinstance(condition, Initial) for condition in conditions) and domain.has_time:
        raise InputError(
            f"{NOT_HERE}: with side='far' it needs the initial state; write Initial(...)."
        )
    other, limits = copy.copy(domain), dict(zip(domain.axes, domain.box.limits, strict=True))
    for axis, side in itertools.chain.from_iterable(ends):
        low, high = limits[axis]
        reach = FAR * (high - low)
        limits[axis] = (low, high + reach) if side else (low - reach, high)
    object.__setattr__(other, "box", replace(domain.box, limits=tuple(limits.values())))
    return other


def _knots(pde: AbstractPDE, domain: Domain, conditions, origin: Origin) -> tuple[float, ...]:
    """Inside the time of the domain, where tables in the equation or its conditions bend."""
    if not domain.has_time:
        return ()
    kinds = Table | Expression
    leaves = jax.tree.leaves((pde, tuple(conditions)), is_leaf=lambda node: isinstance(node, kinds))
    found = [leaf.knots("t") for leaf in leaves if isinstance(leaf, kinds)]
    found += [switches(parse_equation(text), "t") for text in getattr(bare(pde), "texts", ())]
    moments = np.unique(np.concatenate([np.zeros(0), *found])) - origin.along(("t",))[0]
    low, high = domain.bounds("t")
    slack = 1e-9 * (high - low)
    return tuple(moments[(moments > low + slack) & (moments < high - slack)].tolist())


def is_solvable(
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
) -> bool:
    """Whether this method solves the problem."""
    try:
        posed_on(domain, pde, conditions, scaling)
    except InputError:
        return False
    return True


def posed_on(
    domain: Domain,
    pde: AbstractPDE,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
) -> Posed:
    """The same of a domain in physical numbers, and of conditions that are not bound to it yet."""
    local = scaling.origin.domain(domain)
    bound = [condition.bind(local, pde.fields) for condition in conditions]
    return posed(pde, local, bound, scaling)


# ------------------------------------------------------------------------- what is open at the ends


def _open_values(problem: Posed, scaling: Scaling) -> list[Open]:
    """The values on faces that no condition gives. As many hold as the equation has derivatives along the
    axis: half of them at each end, and of an odd number one more at one of them."""
    found = []
    for axis in problem.space:
        if axis in problem.domain.periodic:
            continue
        column = problem.domain.index(axis)
        rows = {side: _asked_by_rows(problem, Face(axis, side)) for side in (0, 1)}
        if len(rows[0]) + len(rows[1]) == sum(own[column] for own in problem.orders):
            continue
        extra = {
            f: _end_of_odd(problem, scaling, f, column, rows)
            for f, own in enumerate(problem.orders) if own[column] % 2
        }  # fmt: skip
        for side in (0, 1):
            need = [
                own[column] // 2 + (extra.get(f) == side) for f, own in enumerate(problem.orders)
            ]
            found += _open_on(Face(axis, side), need, rows[side])
    return found


def _open_on(face: Face, need: list[int], rows: list[dict[int, int]]) -> list[Open]:
    """What is open on a face where each field needs so many conditions and these rows are given: each of
    them counts for a field that it asks for."""
    taken: list[set[int]] = [set() for _ in need]
    for asked in rows:
        able = [f for f in asked if need[f] > len(taken[f])]
        if not able:
            end = f"the {('lower', 'upper')[face.side]} end of {face.axis}"
            raise InputError(f"{NOT_HERE}: more conditions at {end} than the equation can fulfil.")
        field = max(able, key=lambda f: need[f] - len(taken[f]))
        order = asked[field]
        taken[field].add(order if order not in taken[field] else max(taken[field]) + 1)
    return [
        Open(face, f, order)
        for f, own in enumerate(taken)
        for order in [k for k in range(need[f] + len(own)) if k not in own][: need[f] - len(own)]
    ]


def _asked_by_rows(problem: Posed, face: Face) -> list[dict[int, int]]:
    """For every row of the conditions on a face, the fields that it depends on, and the highest
    derivative of each across the face."""
    found, column = [], problem.domain.index(face.axis)
    for given in problem.given:
        if given.face != face:
            continue
        names = [orders(n, problem.pde.coords, problem.fields) for n in given.rows.names]
        point = problem.domain.lower + 0.37 * problem.domain.extent
        point[column] = problem.domain.bounds(face.axis)[face.side]
        raws, values = raws_of(problem.pde), np.full((1, len(names)), 0.7)
        for row in given.rows.slopes(raws, point[None], values).by_name[0]:
            asked: dict[int, int] = {}
            for (field, terms), slope in zip(names, row, strict=True):
                if slope:
                    asked[field] = max(asked.get(field, 0), *(term[column] for term in terms))
            found.append(asked)
    return found


def _end_of_odd(problem: Posed, scaling: Scaling, field: int, column: int, rows) -> int:
    """The end at which a field of odd order has one condition more: where one is given, else where
    what it carries comes in."""
    order, fields = problem.orders[field][column], problem.fields
    more = [side for side in (0, 1) if sum(field in asked for asked in rows[side]) > order // 2]
    names, in_time = problem.equation.names, f"{fields[field]}_t"
    name = f"{fields[field]}_{problem.pde.coords[column] * order}"
    if more or in_time not in names or name not in names:
        return more[0] if more else 0
    means = dict(zip(fields, np.asarray(scaling.mean, float), strict=True))
    points = problem.domain.even(PROBED)
    values = np.tile([means.get(n, 0.0) for n in names], (PROBED, 1))
    slopes = problem.equation.slopes(raws_of(problem.pde), points, values).by_name
    # Of the sign of what multiplies the derivative, over that of what multiplies u_t.
    speed = float(np.sum(slopes[..., names.index(name)] * slopes[..., names.index(in_time)]))
    return int((speed < 0) != (order % 4 == 3))


# ------------------------------------------------------------------------- one step


class _Block(NamedTuple):
    """Rows at the points of a grid; by name the field, the derivative in time, and the matrix that gives
    the name's values of the field's numbers."""

    rows: ResidualRows | None
    places: tuple[Float[np.ndarray, " m"], ...]  # along the axes of space
    parts: tuple[tuple[int, int, Any], ...]  # dense or sparse
    open: Open | None = None


class Grid:
    """A problem on a mesh of space. The numbers of a step are those of the first field, in the order of
    time and space, then those of the next."""

    def __init__(self, problem: Posed, meshes: tuple[Mesh, ...], in_time: int = IN_TIME):
        self.problem, self.meshes = problem, meshes
        has_time = problem.domain.has_time
        self.points_in_time = in_time if has_time else 1
        self.in_time = tuple(
            Step(self.points_in_time, problem.order_in_time(f)) for f in range(len(problem.fields))
        )
        self.splines = tuple(
            tuple(Splines(mesh, own[k]) for k, mesh in enumerate(meshes)) for own in problem.orders
        )
        self.moments = radau(self.points_in_time)
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
        self.tables: dict[Any, Any] = {}  # of open values by points (unknown_functions.py)

    def enriched(self) -> "Grid":
        """The same elements with polynomials of higher degree, in space and in time."""
        meshes = tuple(replace(mesh, points=mesh.points + ENRICHED) for mesh in self.meshes)
        return Grid(self.problem, meshes, self.points_in_time + 1)

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

    def _block(self, rows: ResidualRows, places) -> _Block:
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
        in_time = self.in_time[field].rows(moments, time)
        if self.is_dense:
            return reduce(np.kron, [in_time, *(part.toarray() for part in along)])
        return reduce(
            lambda a, b: scipy.sparse.kron(a, b, "csr"), [scipy.sparse.csr_array(in_time), *along]
        )

    def points(self, block: _Block, start: float, length: float) -> Float[np.ndarray, "n d"]:
        """The points of a block in a step."""
        axes = [start + length * self.moments, *block.places]
        grids = np.meshgrid(*axes, indexing="ij")
        columns = [*grids[1:], grids[0]] if self.problem.domain.has_time else grids[1:]
        return np.stack([g.ravel() for g in columns], axis=1)


@runtime_checkable
class Opened(Protocol):
    """The values that are open on faces, among all that is unknown (unknown_functions.py)."""

    count: int
    raws: slice

    def at(self, value: Open, points: Float[np.ndarray, "n d"]) -> tuple[np.ndarray, np.ndarray]:
        """Values at points of the face, and their slopes."""
        ...


class Linearised(NamedTuple):
    """The rows of a step, and their slopes in its numbers, in the coefficients, and in the values that
    are open."""

    values: Float[np.ndarray, " m"]
    by_number: Any  # dense or sparse
    by_unknown: Float[np.ndarray, "m p"]


def linearised(
    grid: Grid,
    numbers: Float[np.ndarray, " n"],
    step: tuple[float, float],
    raws: Float[np.ndarray, " p"],
    opened: Opened,
) -> Linearised:
    """The rows at these numbers in the step from `step[0]` of length `step[1]`."""
    values, slopes, others = [], [], []
    for block in grid.blocks:
        points = grid.points(block, *step)
        table = [step[1] ** -time * (m @ numbers[grid.own(f)]) for f, time, m in block.parts]
        if block.rows is None:
            assert block.open is not None  # a block is one or the other
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
            own[:, opened.raws] = found.by_raw[:, k]
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

    def __init__(self, matrix: Any):
        self.dense = self.sparse = None
        if isinstance(matrix, np.ndarray):
            self.dense = scipy.linalg.lu_factor(matrix, check_finite=False)
        else:
            self.sparse = scipy.sparse.linalg.splu(matrix.tocsc())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution for one or many right sides."""
        if self.sparse is not None:
            return self.sparse.solve(np.ascontiguousarray(right))
        return scipy.linalg.lu_solve(self.dense, right, check_finite=False)
