"""Initial and boundary conditions.

A condition is written without knowing the domain, then bound to it: it asks the domain for the region
where it holds. A bound condition gives points there (`sample`, `nodes`) and, at one such point, numbers
that should be zero (`rows`).

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
FAR = "far"  # beyond the upper end


class AbstractCondition(eqx.Module):
    """Equations that hold in some region of the domain. `kind` names the loss term: "ic" or "bc", or
    "gauge" for what holds inside (gauge.py).

    >>> isinstance(Dirichlet("x", u=0.0), AbstractCondition)
    True
    """

    part: ClassVar[str] = "condition"
    names_fields: ClassVar[bool] = True  # whether one that takes values says nothing without them
    kind: ClassVar[str]
    region: eqx.AbstractVar[AbstractRegion | None]

    @abc.abstractmethod
    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "AbstractCondition":
        """The same condition, checked, and knowing its region."""

    @abc.abstractmethod
    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        """What should be zero at a point z of the region; `evaluate(z, "u_x")` gives derivatives."""

    @property
    @abc.abstractmethod
    def is_local(self) -> bool:
        """Whether `rows` asks at z itself only, and for no more than second derivatives there."""

    def fixes(self, field: str, freedom: str | None) -> bool:
        """Whether it takes a freedom from a field ("a constant", "a function of time"; gauge.py)."""
        return False

    def beside(self, pde: AbstractPDE) -> "AbstractCondition":
        """The same, knowing the equation that holds inside, whose unknowns are numbers by now."""
        return self

    def check(self, domain: Domain, fields: tuple[str, ...]) -> None:
        """Raise `InputError` unless the condition makes sense for this domain and these fields."""
        self.bind(domain, fields)

    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """n random points of the region, unless fewer say as much; works under jit."""
        return self._bound().sample(key, n)

    def nodes(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n fixed points of the region, unless fewer say as much."""
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
        """What is given at the start fixes a constant, but no function of time."""
        return field in self.values and freedom == "a constant"


def is_far(condition: AbstractCondition) -> bool:
    """Whether it holds far beyond an end."""
    return isinstance(condition, Dirichlet) and condition.is_far


class AbstractWallCondition(AbstractCondition):
    """One on the boundary: at the ends of axes, on a wall of the shape, or on a part of these.

    A subclass takes `axis`, `side`, `wall` and `where`, and gives them to `_stand` when it is made.
    """

    kind: ClassVar[str] = "bc"
    axis: tuple[str, ...] | None = eqx.field(static=True)
    side: str = eqx.field(static=True)
    wall: str | None = eqx.field(static=True)
    where: str | None = eqx.field(static=True)
    region: Faces | Spread | None

    def _stand(self, axis, side: str, wall: str | None, where: str | None) -> None:
        self.axis = as_axes(type(self).__name__, axis, side, wall)
        self.side, self.wall, self.where, self.region = side, wall, where, None

    @property
    def is_local(self) -> bool:
        return True


@register("dirichlet")
class Dirichlet(AbstractWallCondition):
    """Given values on the boundary: u = g.

    Parameters
    ----------
    axis
        The axis whose ends are meant, several of them, or None for every spatial axis that is not
        periodic.
    side
        "lower", "upper" or "both" ends; or "far": the field goes on beyond the upper end, and has
        these values far away. That is for the method "solver", which goes on with elements that grow.
    wall
        The wall of the domain's shape that is meant, by its name, in the place of an axis.
    where
        The part of the wall, by a condition in the coordinates of space: "x < 0".
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
        self._stand(axis, "upper" if self.is_far else side, wall, where)
        self.values = as_values("Dirichlet", values)

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Dirichlet":
        check_fields("Dirichlet", self.values, fields)
        return bound_to(self, wall_of(self, domain))

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        return _value_rows(evaluate, z, self.values, self._bound())

    def fixes(self, field: str, freedom: str | None) -> bool:
        """Its values are given at every time, where they are known at all."""
        return field in self.values and not isinstance(self.values[field], UNKNOWN)


@register("neumann")
class Neumann(AbstractWallCondition):
    """Given slope across the boundary: ∂u/∂n = g with n the outward normal.

    At the lower end of x that is -u_x = g, at the upper end u_x = g. Parameters as in `Dirichlet`.

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
        self._stand(axis, side, wall, where)
        self.values = as_values("Neumann", values)

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Neumann":
        check_fields("Neumann", self.values, fields)
        return bound_to(self, wall_of(self, domain))

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        region = self._bound()
        point = region.box.named(z)

        def outward(field):
            return region.normal_derivative(z, lambda axis: evaluate(z, f"{field}_{axis}"))

        given = {f: value_beside(g, evaluate, z, point) for f, g in self.values.items()}
        return jnp.stack([outward(field) - value for field, value in given.items()])


@register("periodic")
class Periodic(AbstractCondition):
    """The field and its derivatives up to `order` agree at both ends of an axis.

    `fields=None` means every field. A model that is periodic by construction does not need it.

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
    given = {name: value_beside(g, evaluate, z, point) for name, g in values.items()}
    return jnp.stack([evaluate(z, name) - value for name, value in given.items()])


def values_on(
    domain: Domain, conditions: Sequence[AbstractCondition]
) -> dict[str, Float[np.ndarray, " n"]]:
    """By field, some values that it has at the start or on walls, as far as conditions give them."""
    found: dict[str, list[np.ndarray]] = {}
    for condition in conditions:
        if not isinstance(condition, Initial | Dirichlet):
            continue
        names = {name.partition("_")[0] for name in condition.values} | set(condition.values)
        bound = condition.bind(domain, tuple(names))
        points = edges_and_nodes(bound._bound())
        for name, value in bound.values.items():
            if not isinstance(value, UNKNOWN):
                places = (dict(zip(domain.axes, point, strict=True)) for point in points)
                found.setdefault(name, []).append(
                    np.array([float(value_at(value, place)) for place in places])
                )
    return {name: np.concatenate(parts) for name, parts in found.items()}


# ------------------------------------------------------------------------------- condition overlap

# Whether a wall of the shape, and an end of the box with a condition of its own, are one place.
#
# A polygon that fills its box to the base has a base that is a wall and an end at once. A condition
# on the wall then holds there, too, beside that of the end, and both can seldom be true.


ON_IT = 1e-6  # of the box: as near as that a place is on its end
TOUCHED = 0.01  # of a wall: a circle touches an end in less


def warn_of_overlap(conditions: Sequence[AbstractCondition] | None, domain: Domain) -> None:
    """Warn where a condition on a wall holds on an end of the box that has one of its own."""
    if domain.shape is None:
        return
    for named, end in _pairs(conditions or ()):
        share, word = _shared(domain, named, end)
        if share > TOUCHED:
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
    found = _wall(domain, wall)
    if found is None:
        return 0.0
    ends = [(axis, side) for axis in domain.spatial_axes for side in (0, 1)]
    on = np.any([_on(domain, found, axis, side) for axis, side in ends], axis=0)
    return float(found.weights[on].sum() / found.weights.sum())


def _pairs(conditions) -> Iterator[tuple[AbstractWallCondition, AbstractWallCondition]]:
    """A condition on a wall and one on ends of the box that speak of one field, and differently."""
    walls = [each for each in conditions if isinstance(each, AbstractWallCondition)]
    for named in (each for each in walls if each.wall is not None):
        for end in (each for each in walls if each.wall is None):
            first, second = (getattr(each, "values", None) for each in (named, end))
            apart = bool(first) and bool(second) and not set(first) & set(second)
            alike = type(named) is type(end) and str(first) == str(second)
            if not apart and not alike:
                yield named, end


def _shared(domain: Domain, named, end) -> tuple[float, str]:
    """The share of a wall on ends that a condition names, and the words for the rest of the wall."""
    found = _wall(domain, named.wall, named.where)
    if found is None:
        return 0.0, ""
    origin = domain.box.along(domain.spatial_axes).origin or np.zeros(len(domain.spatial_axes))
    there, words = np.zeros(len(found.points), bool), [named.where] if named.where else []
    for axis, side in walled_ends(domain.box, domain.periodic, end.axis, end.side):
        on = _on(domain, found, axis, side)
        if end.where:
            on &= where_true(end.where, found.points + np.asarray(origin), domain.spatial_axes)
        if on.any():
            bound = domain.bounds(axis)[side] + origin[domain.spatial_axes.index(axis)]
            words.append(f"{axis} {'<' if side else '>'} {bound:g}")
            there |= on
    return float(found.weights[there].sum() / found.weights.sum()), " and ".join(words)


def _wall(domain: Domain, name: str, where: str | None = None) -> Boundary | None:
    """What of a wall is in the box; None where nothing is."""
    try:
        return Boundary.joined(domain.boundary(name, where=where))
    except InputError:
        return None


def _on(domain: Domain, found: Boundary, axis: str, side: int) -> Bool[np.ndarray, " n"]:
    bounds = domain.box.bounds(axis)
    along: Float[np.ndarray, " n"] = found.points[:, domain.spatial_axes.index(axis)]
    return np.abs(along - bounds[side]) < ON_IT * (bounds[1] - bounds[0])
