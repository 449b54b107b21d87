"""The statement of a problem for the solver: equation and conditions as rows at points, and open values.

The residual of an equation is a function of coordinates, coefficients and the derivatives that it asks
for. At a point it is differentiated in these derivatives and in the coefficients. Since a field is linear
in its numbers, that is all that Newton's method needs.

A problem needs as many conditions along an axis as the equation has derivatives there. Where fewer are
given, values on a face are open: they become unknown functions.
"""

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.parser import parse_equation
from pgt.core.unknown import is_unknown, named_unknowns, resolve
from pgt.data.condition_regions import Faces, Seam
from pgt.data.domain import Domain
from pgt.data.origin import Origin
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition, Initial, Periodic, is_far
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.expression import Expression, switches
from pgt.physics.interpolation_table import Table
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare, filled, functions_of

# The number of points along an axis at which velocities, slopes of rows and values on faces are sampled.
PROBE_POINTS = 33
# The distance of a far end from the box, in extents of the axis. An adaptive mesh needs about ten
# elements for it; a wave or front must not get there.
FAR_EXTENTS = 1000.0
REFUSAL = "the method solver cannot be used here"
# Batches of points are padded to powers of two from this size on, so that few programs are compiled.
MIN_BATCH = 64


def with_raws(pde: AbstractPDE, raws: Float[Array | np.ndarray, " p"]) -> AbstractPDE:
    """The equation with its unknowns at other values, in the order of `named_unknowns`."""
    remaining = list(raws)

    def replaced(node):
        return eqx.tree_at(lambda n: n.raw, node, remaining.pop(0)) if is_unknown(node) else node

    return jax.tree.map(replaced, pde, is_leaf=is_unknown) if remaining else pde


def raws_of(pde: AbstractPDE) -> Float[np.ndarray, " p"]:
    """The raw numbers of the unknowns of an equation: logarithms, logits or multiples of units."""
    return np.array([float(node.raw) for _, node in named_unknowns(pde)])


@dataclass(frozen=True)
class Slopes:
    """Rows at points, and their slopes in the derivatives they ask for and in the raw coefficients."""

    values: Float[np.ndarray, "n k"]
    by_name: Float[np.ndarray, "n k names"]
    by_raw: Float[np.ndarray, "n k p"]


@dataclass(frozen=True)
class ResidualRows:
    """`count` rows that should be zero: those of the equation, or of one condition.

    `names` are the derivatives and fields that the rows ask for; `at(raws, z, values)` gives the rows at
    one point.
    """

    names: tuple[str, ...]
    count: int
    at: Callable

    def slopes(
        self,
        raws: Float[np.ndarray, " p"],
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n names"],
    ) -> Slopes:
        """The rows and their slopes at many points."""
        count = len(points)
        size = max(MIN_BATCH, 1 << (count - 1).bit_length())
        padded = [
            np.concatenate([part, np.repeat(part[:1], size - count, 0)])
            for part in (points, values)
        ]
        with jax.enable_x64(True):
            compiled = self._compiled(raws, *padded)
        return Slopes(*(np.asarray(part)[:count] for part in compiled))

    @cached_property
    def _compiled(self) -> Callable:
        def both(raws, z, values):
            slopes = jax.jacfwd(self.at, argnums=(2, 0))(raws, z, values)
            return self.at(raws, z, values), *slopes

        return jax.jit(jax.vmap(both, in_axes=(None, 0, 0)))


def equation_rows(pde: AbstractPDE, origin: Origin) -> ResidualRows:
    """The rows of an equation, in the order of its residuals. Points and values are counted from
    `origin`."""
    names = tuple(name for name in requested(pde) if name not in pde.coords)
    count = len(jax.eval_shape(lambda: resolve(pde).residual(_Zeros())))

    def at(raws, z, values):
        resolved = resolve(with_raws(pde, raws))
        table = _table(names, pde.coords, z, values, origin)
        return jnp.stack([jnp.asarray(row, float) for row in resolved.residual(table).values()])

    return ResidualRows(names, count, at)


def condition_rows(condition: AbstractCondition, pde: AbstractPDE, origin: Origin) -> ResidualRows:
    """The rows of a condition on a face. The condition is bound to a domain counted from `origin`."""
    requested_names: dict[str, None] = {}

    def record(z, name):
        requested_names[name] = None
        return jnp.zeros(())

    point = jnp.asarray(condition.nodes(1)[0])
    bound = filled(condition, pde)
    count = jax.eval_shape(lambda: bound.rows(record, point)).shape[0]
    names = tuple(name for name in requested_names if name not in pde.coords)

    def at(raws, z, values):
        resolved = resolve(with_raws(pde, raws))
        table = _table(names, pde.coords, z, values, origin)
        return resolve(filled(condition, resolved)).rows(lambda _, name: table.value(name), z)

    return ResidualRows(names, count, at)


class _Zeros:
    """A table of derivatives that are all zero."""

    def __call__(self, name: str) -> Array:
        return jnp.zeros(())

    def laplacian(self, field: str) -> Array:
        return jnp.zeros(())


def _table(names: Sequence[str], coords, z, values, origin: Origin) -> DerivativeTable:
    values_by_name = dict(zip(names, values, strict=True)) | dict(zip(coords, z, strict=True))
    return DerivativeTable(values_by_name).counted_from(origin)


def orders(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...]
) -> tuple[int, list[tuple[int, ...]]]:
    """The field of a name, and the orders of differentiation along every axis, for each term of a
    Laplacian.

    >>> orders("lap(u)", ("x", "y", "t"), ("u",))
    (0, [(2, 0, 0), (0, 2, 0)])
    """
    if name.startswith(f"{LAPLACIAN}("):
        field, _ = parse_name(name[len(LAPLACIAN) + 1 : -1], coords, fields)
        return field, [tuple(2 * (c == axis) for c in coords) for axis in coords if axis != "t"]
    field, along = parse_name(name, coords, fields)
    return field, [tuple(along.count(k) for k in range(len(coords)))]


# ------------------------------------------------------------------------- the problem


class Face(NamedTuple):
    """A face of the box: the lower (0) or upper (1) end of an axis."""

    axis: str
    side: int


class OpenValue(NamedTuple):
    """A value on a face that no condition gives: of a field, or of its derivative of this order across
    the face."""

    face: Face
    field: int
    order: int


class FunctionValue(NamedTuple):
    """An unknown function of all coordinates in the equation, which is a field without an equation of its
    own."""

    field: int


class FaceCondition(NamedTuple):
    """A condition on a face, as rows."""

    face: Face
    rows: ResidualRows


@dataclass(frozen=True)
class Statement:
    """A problem in the form that the solver needs.

    Attributes
    ----------
    domain : counted from the origin, and extended to far ends; `inner` is the domain without extension.
    equation : the rows of the equation.
    orders : the highest order of differentiation, by field and axis.
    given, initial : the rows of the conditions on faces, and of the initial conditions.
    open : the values on faces that no condition gives.
    functions : the unknown functions of all coordinates.
    knots : times inside the domain at which slopes of tables change.
    """

    pde: AbstractPDE
    domain: Domain
    origin: Origin
    equation: ResidualRows
    orders: tuple[tuple[int, ...], ...]
    given: tuple[FaceCondition, ...]
    initial: tuple[ResidualRows, ...]
    open: tuple[OpenValue, ...]
    functions: tuple[FunctionValue, ...]
    inner: Domain
    knots: tuple[float, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return self.pde.fields

    @property
    def space(self) -> tuple[str, ...]:
        return self.domain.spatial_axes

    @cached_property
    def is_affine(self) -> bool:
        """Whether equation and conditions are affine in the fields, so that one Newton iteration solves
        them. It is tested by comparing their slopes at two random sets of values."""
        points = self.domain.even(PROBE_POINTS)
        random, raws = np.random.default_rng(0), raws_of(self.pde)
        for rows in (self.equation, *(given.rows for given in self.given)):
            values = random.normal(size=(2, len(points), len(rows.names)))
            first, second = (rows.slopes(raws, points, sample).by_name for sample in values)
            if not np.allclose(first, second, rtol=1e-12, atol=0.0):
                return False
        return True

    def order_in_time(self, field: int) -> int:
        return self.orders[field][-1] if self.domain.has_time else 0


def statement_of(
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
) -> Statement:
    """The statement of a problem; an `InputError` says why the solver cannot solve it."""
    with jax.enable_x64(True):  # the coefficients of a fitted equation are in double precision
        return _statement_of(pde, domain, conditions, scaling)


def _statement_of(pde: AbstractPDE, domain: Domain, conditions, scaling: Scaling) -> Statement:
    if domain.shape is not None:
        raise InputError(f"{REFUSAL}: the domain has a shape; it solves equations in boxes.")
    if len(domain.spatial_axes) > 2:
        raise InputError(f"{REFUSAL}: it solves in at most two coordinates of space, and time.")
    equation = equation_rows(pde, scaling.origin)
    functions = _functions_in(pde)
    solved = [name for f, name in enumerate(pde.fields) if f not in {q.field for q in functions}]
    if equation.count != len(solved):
        raise InputError(
            f"{REFUSAL}: {equation.count} equations for the fields {', '.join(solved)}; "
            "it needs as many equations as fields."
        )
    inner, domain = domain, _extended_to_far_ends(domain, conditions)
    highest = np.zeros((len(pde.fields), len(pde.coords)), int)
    for name in equation.names:
        field, terms = orders(name, pde.coords, pde.fields)
        highest[field] = np.maximum(highest[field], np.max(terms, axis=0))
    highest[[q.field for q in functions]] = 0  # the values of a function are given at every point
    given, initial = _rows_of_conditions(conditions, pde, scaling.origin)
    by_field = tuple(tuple(int(k) for k in row) for row in highest)
    problem = Statement(
        pde, domain, scaling.origin, equation, by_field, given, initial, (),
        functions, inner, _knots(pde, domain, conditions, scaling.origin),
    )  # fmt: skip
    _require_own_derivatives(problem)
    return replace(problem, open=tuple(_open_values(problem, scaling)))


def _rows_of_conditions(conditions: Sequence[AbstractCondition], pde: AbstractPDE, origin: Origin):
    """The rows of the conditions on faces, and those of the initial conditions."""
    given, initial = [], []
    for condition in conditions:
        region = getattr(condition, "region", None)
        if isinstance(condition, Periodic) or isinstance(region, Seam):
            raise InputError(
                f"{REFUSAL}: write Domain(..., periodic=...) in the place of Periodic."
            )
        if not isinstance(region, Faces) or condition.kind not in ("bc", "ic"):
            raise InputError(
                f"{REFUSAL}: {type(condition).__name__} does not hold on a whole face of the box."
            )
        rows = condition_rows(condition, pde, origin)
        if isinstance(condition, Initial):
            initial.append(rows)
        else:
            given += [FaceCondition(Face(axis, side), rows) for axis, side in region.pairs]
    return tuple(given), tuple(initial)


def with_more_terms(
    problem: Statement, pde: AbstractPDE, conditions: Sequence[AbstractCondition]
) -> Statement:
    """The problem with an equation that has more terms, whose coefficients are zero. Its orders and open
    values stay, so that derivatives of higher order may occur in these terms.

    The terms have slopes in their coefficients, but do not change the solution."""
    with jax.enable_x64(True):
        given, initial = _rows_of_conditions(conditions, pde, problem.origin)
        equation = equation_rows(pde, problem.origin)
    return replace(problem, pde=pde, equation=equation, given=given, initial=initial)


def _functions_in(pde: AbstractPDE) -> tuple[FunctionValue, ...]:
    """The unknown functions of all coordinates. Others are constant along an axis, which is an equation
    that is solved with the rest."""
    return tuple(
        FunctionValue(pde.fields.index(function.field(name)))
        for name, function in functions_of(pde).items()
        if set(function.axes) == set(pde.coords)
    )


def _require_own_derivatives(problem: Statement) -> None:
    """Raise an `InputError` where an equation in two coordinates has no highest derivative of any field,
    as conservation of mass in an incompressible flow: collocation then leaves the pressure open."""
    if len(problem.space) < 2:
        return
    names = [orders(n, problem.pde.coords, problem.fields) for n in problem.equation.names]
    has_highest = np.array(
        [
            not any(problem.orders[field])
            or any(
                0 < order == n
                for term in terms
                for order, n in zip(problem.orders[field], term, strict=True)
            )
            for field, terms in names
        ]
    )
    points, random = problem.domain.even(PROBE_POINTS), np.random.default_rng(0)
    values = random.uniform(0.5, 1.5, (len(points), len(names)))
    slopes = problem.equation.slopes(raws_of(problem.pde), points, values).by_name
    is_requested = np.any(slopes != 0, axis=0)  # by row and name
    for row in np.flatnonzero(~(is_requested & has_highest).any(axis=1)):
        raise InputError(
            f"{REFUSAL}: equation {row + 1} has no highest derivative of any field, as that of mass in "
            "an incompressible flow, so that it leaves a field such as the pressure open at every point; "
            'give readings and a network as model, such as model="pinn".'
        )


def _extended_to_far_ends(domain: Domain, conditions) -> Domain:
    """The domain, extended to the ends that lie far away."""
    ends = [c.region.pairs for c in conditions if is_far(c)]
    if not ends:
        return domain
    if not any(isinstance(condition, Initial) for condition in conditions) and domain.has_time:
        raise InputError(
            f"{REFUSAL}: with side='far' it needs the initial state; write Initial(...)."
        )
    limits = dict(zip(domain.axes, domain.box.limits, strict=True))
    for axis, side in itertools.chain.from_iterable(ends):
        low, high = limits[axis]
        reach = FAR_EXTENTS * (high - low)
        limits[axis] = (low, high + reach) if side else (low - reach, high)
    return with_limits(domain, **limits)


def with_limits(domain: Domain, **limits: tuple[float, float]) -> Domain:
    """The domain with other limits along some axes."""
    changed, limits = (
        copy.copy(domain),
        dict(zip(domain.axes, domain.box.limits, strict=True)) | limits,
    )
    object.__setattr__(changed, "box", replace(domain.box, limits=tuple(limits.values())))
    return changed


def _knots(pde: AbstractPDE, domain: Domain, conditions, origin: Origin) -> tuple[float, ...]:
    """The times inside the domain at which tables in the equation or its conditions have kinks."""
    if not domain.has_time:
        return ()
    kinds = Table | Expression
    leaves = jax.tree.leaves((pde, tuple(conditions)), is_leaf=lambda node: isinstance(node, kinds))
    times = [leaf.knots("t") for leaf in leaves if isinstance(leaf, kinds)]
    times += [switches(parse_equation(text), "t") for text in getattr(bare(pde), "texts", ())]
    moments = np.unique(np.concatenate([np.zeros(0), *times])) - origin.along(("t",))[0]
    low, high = domain.bounds("t")
    slack = 1e-9 * (high - low)
    return tuple(moments[(moments > low + slack) & (moments < high - slack)].tolist())


def is_solvable(
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
) -> bool:
    """Whether the solver can solve the problem."""
    try:
        statement_on(domain, pde, conditions, scaling)
    except InputError:
        return False
    return True


def statement_on(
    domain: Domain,
    pde: AbstractPDE,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
) -> Statement:
    """The statement of a problem whose domain is in physical coordinates and whose conditions are not
    bound to it yet."""
    local = scaling.origin.domain(domain)
    bound = [condition.bind(local, pde.fields) for condition in conditions]
    return statement_of(pde, local, bound, scaling)


# ------------------------------------------------------------------------- what is open at the ends


def _open_values(problem: Statement, scaling: Scaling) -> list[OpenValue]:
    """The values on faces that no condition gives. The equation needs as many conditions as it has
    derivatives along the axis: half of them at each end, and for an odd number one more at one end."""
    values = []
    for axis in problem.space:
        if axis in problem.domain.periodic:
            continue
        column = problem.domain.index(axis)
        rows = {side: _orders_on_face(problem, Face(axis, side)) for side in (0, 1)}
        if len(rows[0]) + len(rows[1]) == sum(by_axis[column] for by_axis in problem.orders):
            continue
        extra = {
            f: _end_of_odd(problem, scaling, f, column, rows)
            for f, by_axis in enumerate(problem.orders) if by_axis[column] % 2
        }  # fmt: skip
        for side in (0, 1):
            need = [
                by_axis[column] // 2 + (extra.get(f) == side)
                for f, by_axis in enumerate(problem.orders)
            ]
            values += _open_on(Face(axis, side), need, rows[side])
    return values


def _open_on(face: Face, need: list[int], rows: list[dict[int, int]]) -> list[OpenValue]:
    """The open values on a face where field f needs `need[f]` conditions and these rows are given. Each
    row counts for one of the fields that it asks for."""
    taken: list[set[int]] = [set() for _ in need]
    for by_field in rows:
        candidates = [f for f in by_field if need[f] > len(taken[f])]
        if not candidates:
            end = f"the {('lower', 'upper')[face.side]} end of {face.axis}"
            raise InputError(f"{REFUSAL}: more conditions at {end} than the equation can fulfil.")
        field = max(candidates, key=lambda f: need[f] - len(taken[f]))
        order = by_field[field]
        taken[field].add(order if order not in taken[field] else max(taken[field]) + 1)
    return [
        OpenValue(face, f, order)
        for f, used in enumerate(taken)
        for order in [k for k in range(need[f] + len(used)) if k not in used][: need[f] - len(used)]
    ]


def _orders_on_face(problem: Statement, face: Face) -> list[dict[int, int]]:
    """For every row of the conditions on a face, the fields on which it depends, and the highest order of
    differentiation of each across the face."""
    orders_by_row, column = [], problem.domain.index(face.axis)
    for given in problem.given:
        if given.face != face:
            continue
        names = [orders(n, problem.pde.coords, problem.fields) for n in given.rows.names]
        point = problem.domain.lower + 0.37 * problem.domain.extent
        point[column] = problem.domain.bounds(face.axis)[face.side]
        raws, values = raws_of(problem.pde), np.full((1, len(names)), 0.7)
        for row in given.rows.slopes(raws, point[None], values).by_name[0]:
            by_field: dict[int, int] = {}
            for (field, terms), slope in zip(names, row, strict=True):
                if slope:
                    by_field[field] = max(by_field.get(field, 0), *(term[column] for term in terms))
            orders_by_row.append(by_field)
    return orders_by_row


def _end_of_odd(problem: Statement, scaling: Scaling, field: int, column: int, rows) -> int:
    """The end at which a field of odd order has one condition more: where one more is given, else at the
    inflow."""
    order, fields = problem.orders[field][column], problem.fields
    sides = [k for k in (0, 1) if sum(field in by_field for by_field in rows[k]) > order // 2]
    names, in_time = problem.equation.names, f"{fields[field]}_t"
    name = f"{fields[field]}_{problem.pde.coords[column] * order}"
    if sides or in_time not in names or name not in names:
        return sides[0] if sides else 0
    means = dict(zip(fields, np.asarray(scaling.mean, float), strict=True))
    points = problem.domain.even(PROBE_POINTS)
    values = np.tile([means.get(n, 0.0) for n in names], (PROBE_POINTS, 1))
    slopes = problem.equation.slopes(raws_of(problem.pde), points, values).by_name
    # The sign of the ratio between the factor of the highest derivative and that of u_t.
    speed = float(np.sum(slopes[..., names.index(name)] * slopes[..., names.index(in_time)]))
    return int((speed < 0) != (order % 4 == 3))
