"""Initial and boundary conditions.

A condition is written without the domain and then bound to it, which sets the region where it holds. A
bound condition gives points of its region (`sample`, `nodes`) and, at such a point, the numbers that
should be zero (`rows`).

>>> from pgt.data.domain import Domain
>>> walls = Dirichlet("x", u=0.0).bind(Domain(x=(0, 1), t=(0, 2)), fields=("u",))
>>> walls.nodes(4).shape
(4, 2)
"""

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.arguments import AxisName, Limits, OneOf
from pgt.core.errors import InputError, warn_of
from pgt.core.registry import register
from pgt.core.types import Key, Point
from pgt.core.unknown import Unknown
from pgt.data.condition_regions import SIDES, AbstractRegion, Faces, Seam, Spread, walled_ends
from pgt.data.domain import Domain
from pgt.geometry.point_location import where_true
from pgt.geometry.shape import Boundary
from pgt.physics.condition_values import (
    Learnt,
    Value,
    Varying,
    Writable,
    as_axes,
    as_tuple,
    as_values,
    bound_to,
    check_fields,
    edges_and_nodes,
    said_of,
    value_at,
    value_beside,
    wall_of,
    with_region,
)
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_function import UnknownFunction

Evaluate = Callable[[Point, str], Float[Array, ""]]


UNKNOWN = Unknown | Learnt | UnknownFunction | Varying
Side = Annotated[str, OneOf(*SIDES)]
FAR = "far"  # the side of a condition far beyond the upper end of an axis


class AbstractCondition(eqx.Module):
    """Equations that hold in a region of the domain.

    `kind` names the loss term: "ic", "bc", or "gauge" for a condition inside the domain (gauge.py).

    >>> isinstance(Dirichlet("x", u=0.0), AbstractCondition)
    True
    """

    part: ClassVar[str] = "condition"
    names_fields: ClassVar[bool] = True  # whether a condition with values needs at least one
    kind: ClassVar[str]
    region: eqx.AbstractVar[AbstractRegion | None]

    @abc.abstractmethod
    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "AbstractCondition":
        """A checked copy of the condition with its region."""

    @abc.abstractmethod
    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        """The numbers that should be zero at a point z; `evaluate(z, "u_x")` gives derivatives."""

    @property
    @abc.abstractmethod
    def is_local(self) -> bool:
        """Whether `rows` uses only z itself and derivatives up to second order."""

    def fixes(self, field: str, freedom: str | None) -> bool:
        """Whether the condition fixes the null space `freedom` of a field (`gauge.freedom`)."""
        return False

    def beside(self, pde: AbstractPDE) -> "AbstractCondition":
        """A copy that knows the equation inside, whose unknowns have been replaced by numbers."""
        return self

    def check(self, domain: Domain, fields: tuple[str, ...]) -> None:
        """Raise `InputError` unless the condition makes sense for this domain and these fields."""
        self.bind(domain, fields)

    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """n random points of the region, or fewer if these determine the rows; works under jit."""
        return self._bound().sample(key, n)

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n fixed points of the region, or fewer if these determine the rows."""
        return self._bound().nodes(n)

    def _bound(self) -> Any:
        if self.region is None:
            name = type(self).__name__
            raise InputError(f"{name}: call .bind(domain, fields) before using its points or rows.")
        return self.region


@register("initial")
class Initial(AbstractCondition):
    """The state at the start of the time axis.

    Parameters
    ----------
    **values
        One entry per field (`u`) or derivative (`u_t`, for a wave): a number, a formula in the
        coordinates, a JAX function of them, a pair (coordinates, values) or an xarray.DataArray;
        an `Unknown` number or an `UnknownFunction` is learnt with the field.

    >>> Initial(u="sin(4*pi*x)").kind
    'ic'
    """

    kind: ClassVar[str] = "ic"
    values: dict[str, Value]
    region: Faces | Spread | None

    def __init__(self, **values: Writable | Unknown | UnknownFunction):
        self.values = as_values("Initial", values)
        self.region = None

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Initial":
        with said_of("Initial"):
            region = domain.start()
        check_fields("Initial", self.values, fields, derivatives=domain.axes)
        return bound_to(self, region)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        return _value_rows(evaluate, z, self.values, self._bound())

    @property
    def is_local(self) -> bool:
        return all(len(name.rpartition("_")[2]) <= 2 for name in self.values)

    def fixes(self, field: str, freedom: str | None) -> bool:
        """An initial value fixes a constant, but no function of time."""
        return field in self.values and freedom == "a constant"


def is_far(condition: AbstractCondition) -> bool:
    """Whether a condition holds far beyond the end of an axis."""
    return isinstance(condition, Dirichlet) and condition.is_far


class AbstractWallCondition(AbstractCondition):
    """A condition on the boundary: at the ends of axes, on a wall of the shape, or on a part of these.

    A subclass passes `axis`, `side`, `wall` and `where` to `_set_place` in its constructor.
    """

    kind: ClassVar[str] = "bc"
    axis: tuple[str, ...] | None = eqx.field(static=True)
    side: str = eqx.field(static=True)
    wall: str | None = eqx.field(static=True)
    where: str | None = eqx.field(static=True)
    region: Faces | Spread | None

    def _set_place(self, axis, side: str, wall: str | None, where: str | None) -> None:
        self.axis = as_axes(type(self).__name__, axis, side, wall)
        self.side, self.wall, self.where, self.region = side, wall, where, None

    @property
    def is_local(self) -> bool:
        return True


@register("dirichlet")
class Dirichlet(AbstractWallCondition):
    """Prescribed values on the boundary: u = g.

    Parameters
    ----------
    axis
        The axis at whose ends the condition holds, several axes, or None for all spatial axes that are
        not periodic.
    side
        "lower", "upper" or "both" ends, or "far": the field continues beyond the upper end and has
        these values far away. This is for the method "solver", which continues with growing elements.
    wall
        The name of a wall of the domain's shape, instead of an axis.
    where
        A part of the wall, given by an inequality in the spatial coordinates: "x < 0".
    **values
        One entry per field, written as in `Initial`.

    >>> Dirichlet("x", side="lower", u="sin(t)").kind
    'bc'
    """

    values: dict[str, Value]
    is_far: bool = eqx.field(static=True)

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Annotated[str, OneOf(*SIDES, FAR)] = "both",
        wall: str | None = None,
        where: str | None = None,
        **values: Writable | Unknown | UnknownFunction,
    ):
        self.is_far = side == FAR
        if self.is_far and (axis is None or where is not None):
            raise InputError(
                "Dirichlet(side='far'): name the axis along which the field goes on, alone."
            )
        self._set_place(axis, "upper" if self.is_far else side, wall, where)
        self.values = as_values("Dirichlet", values)

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Dirichlet":
        check_fields("Dirichlet", self.values, fields)
        return bound_to(self, wall_of(self, domain))

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        return _value_rows(evaluate, z, self.values, self._bound())

    def fixes(self, field: str, freedom: str | None) -> bool:
        """Known boundary values fix a field at all times."""
        return field in self.values and not isinstance(self.values[field], UNKNOWN)


@register("neumann")
class Neumann(AbstractWallCondition):
    """A prescribed normal derivative on the boundary: ∂u/∂n = g with n the outward normal.

    At the lower end of x this is -u_x = g, at the upper end u_x = g. The parameters are those of
    `Dirichlet`.

    >>> Neumann("x", u=0.0).kind
    'bc'
    """

    values: dict[str, Value]

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
        **values: Writable | Unknown | UnknownFunction,
    ):
        self._set_place(axis, side, wall, where)
        self.values = as_values("Neumann", values)

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Neumann":
        check_fields("Neumann", self.values, fields)
        return bound_to(self, wall_of(self, domain))

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        region = self._bound()
        point = region.box.named(z)

        def normal_slope(field):
            return region.normal_derivative(z, lambda axis: evaluate(z, f"{field}_{axis}"))

        values = {f: value_beside(g, evaluate, z, point) for f, g in self.values.items()}
        return jnp.stack([normal_slope(field) - value for field, value in values.items()])


@register("periodic")
class Periodic(AbstractCondition):
    """The field and its derivatives up to `order` agree at both ends of an axis.

    `fields=None` means all fields. A model that is periodic by construction does not need this condition.

    >>> Periodic("x").order
    1
    """

    kind: ClassVar[str] = "bc"
    axis: str = eqx.field(static=True)
    fields: tuple[str, ...] | None = eqx.field(static=True)
    order: int = eqx.field(static=True)
    region: Seam | None

    def __init__(
        self,
        axis: AxisName,
        fields: str | Sequence[str] | None = None,
        order: Annotated[int, Limits(at_least=0, at_most=3)] = 1,
    ):
        self.axis = axis
        self.fields = as_tuple(fields)
        self.order = order
        self.region = None

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Periodic":
        with said_of("Periodic"):
            region = domain.seam(self.axis)
        check_fields("Periodic", self.fields or (), fields)
        return with_region(Periodic(self.axis, self.fields or fields, self.order), region)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        start, end = self._bound().ends(z)
        suffixes = ["", *(f"_{self.axis * k}" for k in range(1, self.order + 1))]
        names = [field + suffix for field in self.fields or () for suffix in suffixes]
        return jnp.stack([evaluate(start, name) - evaluate(end, name) for name in names])

    @property
    def is_local(self) -> bool:
        return False


def _value_rows(evaluate, z, values, region):
    point = region.box.named(z)
    targets = {name: value_beside(g, evaluate, z, point) for name, g in values.items()}
    return jnp.stack([evaluate(z, name) - target for name, target in targets.items()])


def values_on(
    domain: Domain, conditions: Sequence[AbstractCondition]
) -> dict[str, Float[np.ndarray, " n"]]:
    """Some values of each field at the start or on walls, as far as conditions prescribe them."""
    values: dict[str, list[np.ndarray]] = {}
    for condition in conditions:
        if not isinstance(condition, Initial | Dirichlet):
            continue
        names = {name.partition("_")[0] for name in condition.values} | set(condition.values)
        bound = condition.bind(domain, tuple(names))
        points = edges_and_nodes(bound._bound())
        for name, value in bound.values.items():
            if not isinstance(value, UNKNOWN):
                places = (dict(zip(domain.axes, point, strict=True)) for point in points)
                values.setdefault(name, []).append(
                    np.array([float(value_at(value, place)) for place in places])
                )
    return {name: np.concatenate(parts) for name, parts in values.items()}


# ------------------------------------------------------------------------------- condition overlap

# A wall of the shape may lie on an end of the box. For example, the base of a polygon that fills its box
# is both a wall and an end. Conditions on the wall and on the end then both hold there, and they usually
# contradict each other.


# A point nearer than this share of the box's extent to an end lies on the end.
END_TOLERANCE = 1e-6
# The share of a wall above which an overlap is reported; a circle that touches an end overlaps by less.
MIN_SHARED_PART = 0.01


def warn_of_overlap(conditions: Sequence[AbstractCondition] | None, domain: Domain) -> None:
    """Warn if a condition on a wall also holds on an end of the box that has another condition."""
    if domain.shape is None:
        return
    for named, end in _overlap_candidates(conditions or ()):
        share, word = _overlap(domain, named, end)
        if share > MIN_SHARED_PART:
            warn_of(
                f"{share:.0%} of the wall {named.wall!r} lies on an end of the box that has a condition "
                f"of its own: {type(named).__name__} and {type(end).__name__} both hold there. If that "
                f"of the end is meant alone, write where={word!r} for the wall."
            )


def on_ends(domain: Domain, wall: str) -> float:
    """The share of a wall that lies on ends of the box.

    >>> import pgt
    >>> plate = pgt.shapes.Rectangle(x=(0, 1), y=(0, 1), name="plate")
    >>> on_ends(pgt.Domain(x=(0, 3), y=(0, 1), shape=plate), "plate")
    0.75
    """
    boundary = _wall_in_box(domain, wall)
    if boundary is None:
        return 0.0
    ends = [(axis, side) for axis in domain.spatial_axes for side in (0, 1)]
    is_on = np.any([_is_on_end(domain, boundary, axis, side) for axis, side in ends], axis=0)
    return float(boundary.weights[is_on].sum() / boundary.weights.sum())


def _overlap_candidates(
    conditions,
) -> Iterator[tuple[AbstractWallCondition, AbstractWallCondition]]:
    """Pairs of a condition on a wall and one on ends of the box that differ and share a field."""
    walls = [each for each in conditions if isinstance(each, AbstractWallCondition)]
    for named in (each for each in walls if each.wall is not None):
        for end in (each for each in walls if each.wall is None):
            first, second = (getattr(each, "values", None) for each in (named, end))
            is_disjoint = bool(first) and bool(second) and not set(first) & set(second)
            is_equal = type(named) is type(end) and str(first) == str(second)
            if not is_disjoint and not is_equal:
                yield named, end


def _overlap(domain: Domain, named, end) -> tuple[float, str]:
    """The share of a wall on the ends of a condition, and an inequality for the rest of the wall."""
    boundary = _wall_in_box(domain, named.wall, named.where)
    if boundary is None:
        return 0.0, ""
    origin = domain.box.along(domain.spatial_axes).origin or np.zeros(len(domain.spatial_axes))
    is_on_any, words = np.zeros(len(boundary.points), bool), [named.where] if named.where else []
    for axis, side in walled_ends(domain.box, domain.periodic, end.axis, end.side):
        is_on = _is_on_end(domain, boundary, axis, side)
        if end.where:
            is_on &= where_true(
                end.where, boundary.points + np.asarray(origin), domain.spatial_axes
            )
        if is_on.any():
            bound = domain.bounds(axis)[side] + origin[domain.spatial_axes.index(axis)]
            words.append(f"{axis} {'<' if side else '>'} {bound:g}")
            is_on_any |= is_on
    return float(boundary.weights[is_on_any].sum() / boundary.weights.sum()), " and ".join(words)


def _wall_in_box(domain: Domain, name: str, where: str | None = None) -> Boundary | None:
    """The part of a wall inside the box; None if there is none."""
    try:
        return Boundary.joined(domain.boundary(name, where=where))
    except InputError:
        return None


def _is_on_end(domain: Domain, boundary: Boundary, axis: str, side: int) -> Bool[np.ndarray, " n"]:
    """Whether each point of a wall lies on an end of the box."""
    bounds = domain.box.bounds(axis)
    coordinate: Float[np.ndarray, " n"] = boundary.points[:, domain.spatial_axes.index(axis)]
    return np.abs(coordinate - bounds[side]) < END_TOLERANCE * (bounds[1] - bounds[0])
