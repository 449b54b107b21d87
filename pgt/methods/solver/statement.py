"""A problem as the solver sees it: its equation and conditions as rows at points, and what is left open.

The residual of an equation is a function of coordinates, coefficients and the derivatives it asks for.
At a point it is differentiated in the derivatives and in the coefficients; where a field is linear in its
numbers, that is all that Newton's method needs. The same functions serve every other method.

As many conditions hold along an axis as the equation has derivatives there. Where fewer are given, values
on a face are unknown functions.
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
from pgt.physics.unknown_conditions import bare, filled

PROBE_POINTS = (
    33  # along an axis, where velocities, slopes of rows and values on faces are looked at
)
# Extents of an axis from its end to one that lies far away: a mesh that refines itself pays ten elements
# for it, and a wave or front must not get there.
FAR_EXTENTS = 1000.0
REFUSAL = "the method solver cannot be used here"
MIN_BATCH = 64  # points are padded to powers of two from here on, so that few programs are compiled


def with_raws(pde: AbstractPDE, raws: Float[Array | np.ndarray, " p"]) -> AbstractPDE:
    """The equation with its unknowns at other values, in the order of `named_unknowns`."""
    left = list(raws)

    def moved(node):
        return eqx.tree_at(lambda n: n.raw, node, left.pop(0)) if is_unknown(node) else node

    return jax.tree.map(moved, pde, is_leaf=is_unknown) if left else pde


def raws_of(pde: AbstractPDE) -> Float[np.ndarray, " p"]:
    """The numbers that are learnt for its unknowns."""
    return np.array([float(node.raw) for _, node in named_unknowns(pde)])


@dataclass(frozen=True)
class Slopes:
    """Rows at points, and their derivatives in what they ask for and in the coefficients."""

    values: Float[np.ndarray, "n k"]
    by_name: Float[np.ndarray, "n k names"]
    by_raw: Float[np.ndarray, "n k p"]


@dataclass(frozen=True)
class ResidualRows:
    """Some rows that should be zero: those of the equation, or of one condition.

    `names` are the derivatives and fields that they ask for, `at(raws, z, values)` the rows at one point.
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
            found = self._compiled(raws, *padded)
        return Slopes(*(np.asarray(part)[:count] for part in found))

    @cached_property
    def _compiled(self) -> Callable:
        def both(raws, z, values):
            slopes = jax.jacfwd(self.at, argnums=(2, 0))(raws, z, values)
            return self.at(raws, z, values), *slopes

        return jax.jit(jax.vmap(both, in_axes=(None, 0, 0)))


def equation_rows(pde: AbstractPDE, origin: Origin) -> ResidualRows:
    """Those of the equation, in the order of its residuals. Points and values are counted from
    `origin`."""
    names = tuple(name for name in requested(pde) if name not in pde.coords)
    count = len(jax.eval_shape(lambda: resolve(pde).residual(_Zeros())))

    def at(raws, z, values):
        known = resolve(with_raws(pde, raws))
        table = _table(names, pde.coords, z, values, origin)
        return jnp.stack([jnp.asarray(row, float) for row in known.residual(table).values()])

    return ResidualRows(names, count, at)


def condition_rows(condition: AbstractCondition, pde: AbstractPDE, origin: Origin) -> ResidualRows:
    """Those of a condition on a face, which is bound to the domain as it is counted from `origin`."""
    asked: dict[str, None] = {}

    def ask(z, name):
        asked[name] = None
        return jnp.zeros(())

    point = jnp.asarray(condition.nodes(1)[0])
    known = filled(condition, pde)
    count = jax.eval_shape(lambda: known.rows(ask, point)).shape[0]
    names = tuple(name for name in asked if name not in pde.coords)

    def at(raws, z, values):
        moved = resolve(with_raws(pde, raws))
        table = _table(names, pde.coords, z, values, origin)
        return resolve(filled(condition, moved)).rows(lambda _, name: table.value(name), z)

    return ResidualRows(names, count, at)


class _Zeros:
    """Answers every question with zero."""

    def __call__(self, name: str) -> Array:
        return jnp.zeros(())

    def laplacian(self, field: str) -> Array:
        return jnp.zeros(())


def _table(names: Sequence[str], coords, z, values, origin: Origin) -> DerivativeTable:
    known = dict(zip(names, values, strict=True)) | dict(zip(coords, z, strict=True))
    return DerivativeTable(known).counted_from(origin)


def orders(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...]
) -> tuple[int, list[tuple[int, ...]]]:
    """The field of a name, and how often it is differentiated along every axis; of a Laplacian once for
    each of its terms.

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
    """An end of an axis."""

    axis: str
    side: int


class OpenValue(NamedTuple):
    """A value on a face that nobody gave: of a field, or of a derivative across the face."""

    face: Face
    field: int
    order: int


class FaceCondition(NamedTuple):
    """A condition on a face, as rows."""

    face: Face
    rows: ResidualRows


@dataclass(frozen=True)
class Statement:
    """A problem as this method sees it: the order of every field along every axis, the conditions by
    face, and what is unknown."""

    pde: AbstractPDE
    domain: Domain  # counted from the origin
    origin: Origin
    equation: ResidualRows
    orders: tuple[tuple[int, ...], ...]  # by field and axis
    given: tuple[FaceCondition, ...]
    initial: tuple[ResidualRows, ...]
    open: tuple[OpenValue, ...]
    inner: Domain  # without what lies beyond it, up to an end far away
    knots: tuple[float, ...] = ()  # times inside at which slopes of tables change

    @property
    def fields(self) -> tuple[str, ...]:
        return self.pde.fields

    @property
    def space(self) -> tuple[str, ...]:
        return self.domain.spatial_axes

    @cached_property
    def is_affine(self) -> bool:
        """Whether equation and conditions are affine in the fields, so that one iteration of Newton's
        method solves them: whether their slopes are the same with other values."""
        points = self.domain.even(PROBE_POINTS)
        random, raws = np.random.default_rng(0), raws_of(self.pde)
        for rows in (self.equation, *(given.rows for given in self.given)):
            values = random.normal(size=(2, len(points), len(rows.names)))
            first, second = (rows.slopes(raws, points, own).by_name for own in values)
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
    """The problem, or an `InputError` that says why this method cannot solve it."""
    with jax.enable_x64(True):  # a fitted equation has coefficients in double precision
        return _statement_of(pde, domain, conditions, scaling)


def _statement_of(pde: AbstractPDE, domain: Domain, conditions, scaling: Scaling) -> Statement:
    if domain.shape is not None:
        raise InputError(f"{REFUSAL}: the domain has a shape; it solves equations in boxes.")
    if len(domain.spatial_axes) > 2:
        raise InputError(f"{REFUSAL}: it solves in at most two coordinates of space, and time.")
    equation = equation_rows(pde, scaling.origin)
    if equation.count != len(pde.fields):
        raise InputError(
            f"{REFUSAL}: {equation.count} equations for the fields {', '.join(pde.fields)}; "
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
                f"{REFUSAL}: write Domain(..., periodic=...) in the place of Periodic."
            )
        if not isinstance(region, Faces) or condition.kind not in ("bc", "ic"):
            raise InputError(
                f"{REFUSAL}: {type(condition).__name__} does not hold on a whole face of the box."
            )
        rows = condition_rows(condition, pde, scaling.origin)
        if isinstance(condition, Initial):
            initial.append(rows)
        else:
            given += [FaceCondition(Face(axis, side), rows) for axis, side in region.pairs]
    by_field = tuple(tuple(int(k) for k in row) for row in highest)
    problem = Statement(
        pde, domain, scaling.origin, equation, by_field, tuple(given), tuple(initial), (),
        inner, _knots(pde, domain, conditions, scaling.origin),
    )  # fmt: skip
    _require_own_derivatives(problem)
    return replace(problem, open=tuple(_open_values(problem, scaling)))


def _require_own_derivatives(problem: Statement) -> None:
    """An `InputError` where an equation in two coordinates has no highest derivative of any field, as
    that of mass in an incompressible flow: nothing at one point then tells the pressure."""
    if len(problem.space) < 2:
        return
    names = [orders(n, problem.pde.coords, problem.fields) for n in problem.equation.names]
    has_highest = np.array(
        [
            not any(problem.orders[field])
            or any(
                0 < own == n
                for term in terms
                for own, n in zip(problem.orders[field], term, strict=True)
            )
            for field, terms in names
        ]
    )
    points, random = problem.domain.even(PROBE_POINTS), np.random.default_rng(0)
    values = random.uniform(0.5, 1.5, (len(points), len(names)))
    slopes = problem.equation.slopes(raws_of(problem.pde), points, values).by_name
    asked = np.any(slopes != 0, axis=0)  # by row and name
    for row in np.flatnonzero(~(asked & has_highest).any(axis=1)):
        raise InputError(
            f"{REFUSAL}: equation {row + 1} has no highest derivative of any field, as that of mass in "
            "an incompressible flow, so that it leaves a field such as the pressure open at every point; "
            'give readings and a network as model, such as model="pinn".'
        )


def _extended(domain: Domain, conditions) -> Domain:
    """The domain out to where its ends are that lie far away."""
    ends = [c.region.pairs for c in conditions if is_far(c)]
    if not ends:
        return domain
    if not any(isinstance(condition, Initial) for condition in conditions) and domain.has_time:
        raise InputError(
            f"{REFUSAL}: with side='far' it needs the initial state; write Initial(...)."
        )
    other, limits = copy.copy(domain), dict(zip(domain.axes, domain.box.limits, strict=True))
    for axis, side in itertools.chain.from_iterable(ends):
        low, high = limits[axis]
        reach = FAR_EXTENTS * (high - low)
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
    """The same of a domain in physical numbers, and of conditions that are not bound to it yet."""
    local = scaling.origin.domain(domain)
    bound = [condition.bind(local, pde.fields) for condition in conditions]
    return statement_of(pde, local, bound, scaling)


# ------------------------------------------------------------------------- what is open at the ends


def _open_values(problem: Statement, scaling: Scaling) -> list[OpenValue]:
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


def _open_on(face: Face, need: list[int], rows: list[dict[int, int]]) -> list[OpenValue]:
    """What is open on a face where each field needs so many conditions and these rows are given: each of
    them counts for a field that it asks for."""
    taken: list[set[int]] = [set() for _ in need]
    for asked in rows:
        able = [f for f in asked if need[f] > len(taken[f])]
        if not able:
            end = f"the {('lower', 'upper')[face.side]} end of {face.axis}"
            raise InputError(f"{REFUSAL}: more conditions at {end} than the equation can fulfil.")
        field = max(able, key=lambda f: need[f] - len(taken[f]))
        order = asked[field]
        taken[field].add(order if order not in taken[field] else max(taken[field]) + 1)
    return [
        OpenValue(face, f, order)
        for f, own in enumerate(taken)
        for order in [k for k in range(need[f] + len(own)) if k not in own][: need[f] - len(own)]
    ]


def _asked_by_rows(problem: Statement, face: Face) -> list[dict[int, int]]:
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


def _end_of_odd(problem: Statement, scaling: Scaling, field: int, column: int, rows) -> int:
    """The end at which a field of odd order has one condition more: where one is given, else where
    what it carries comes in."""
    order, fields = problem.orders[field][column], problem.fields
    more = [side for side in (0, 1) if sum(field in asked for asked in rows[side]) > order // 2]
    names, in_time = problem.equation.names, f"{fields[field]}_t"
    name = f"{fields[field]}_{problem.pde.coords[column] * order}"
    if more or in_time not in names or name not in names:
        return more[0] if more else 0
    means = dict(zip(fields, np.asarray(scaling.mean, float), strict=True))
    points = problem.domain.even(PROBE_POINTS)
    values = np.tile([means.get(n, 0.0) for n in names], (PROBE_POINTS, 1))
    slopes = problem.equation.slopes(raws_of(problem.pde), points, values).by_name
    # Of the sign of what multiplies the derivative, over that of what multiplies u_t.
    speed = float(np.sum(slopes[..., names.index(name)] * slopes[..., names.index(in_time)]))
    return int((speed < 0) != (order % 4 == 3))
