"""Conditions named after physical walls: exchange, no slip, symmetry, outflow, wells and traction."""

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.arguments import AxisName, Positive
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point
from pgt.core.unknown import Unknown
from pgt.data.coordinate_systems import CARTESIAN, SPHERICAL, area_factor
from pgt.data.domain import Domain
from pgt.physics.condition_values import (
    Value,
    Writable,
    as_values,
    bind_value,
    bound_to,
    check_fields,
    free_axes,
    value_beside,
    wall_of,
    with_region,
    with_static,
)
from pgt.physics.conditions import AbstractWallCondition, Evaluate, Side
from pgt.physics.equations.elasticity import Elasticity
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_function import UnknownFunction
from pgt.physics.vectors import space_of

VELOCITY = ("u", "v", "w")  # along x, y and z
PRESSURE = "p"


@register("robin")
class Robin(AbstractWallCondition):
    """Exchange with the medium beyond the wall: ∂u/∂n + h u = g with n the outward normal.

    For heat carried away by a fluid of temperature T, h = convection / conductivity and g = h T.

    Parameters
    ----------
    axis, side, wall, where
        The place, as in `Dirichlet`.
    coefficient
        h, in the form of the values; an `Unknown` or `UnknownFunction` is fitted with the field.
    relative
        Whether the values are those of u beyond the wall, T instead of g: ∂u/∂n + h (u − T) = 0.
    **values
        The value g for each field.

    >>> Robin(wall="hole", coefficient=2.0, u=40.0).kind
    'bc'
    """

    coefficient: Value
    relative: bool = eqx.field(static=True)
    values: dict[str, Value]

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
        coefficient: Writable | Unknown | UnknownFunction = 1.0,
        relative: bool = False,
        **values: Writable | Unknown | UnknownFunction,
    ):
        self._set_place(axis, side, wall, where)
        self.relative = relative
        self.coefficient = as_values("Robin", {"coefficient": coefficient})["coefficient"]
        self.values = as_values("Robin", values)

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Robin":
        check_fields("Robin", self.values, fields)
        bound = bound_to(self, wall_of(self, domain))
        free = free_axes(bound._bound())
        h = bind_value("Robin(coefficient=...)", self.coefficient, domain.axes, free)
        return eqx.tree_at(lambda c: c.coefficient, bound, h)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        region = self._bound()
        point = region.box.named(z)
        h = value_beside(self.coefficient, evaluate, z, point)

        def row(field, g):
            slope = region.normal_derivative(z, lambda axis: evaluate(z, f"{field}_{axis}"))
            target = value_beside(g, evaluate, z, point) * (h if self.relative else 1.0)
            return slope + h * evaluate(z, field) - target

        return jnp.stack([row(field, g) for field, g in self.values.items()])

    def fixes(self, field: str, freedom: str | None) -> bool:
        """The condition contains the value itself, at all times."""
        return field in self.values


@register("no_slip")
class NoSlip(AbstractWallCondition):
    """The fluid rests at the wall: u = v = 0, and w = 0 in space.

    The parameters are those of `Dirichlet`; the fields are those of the equation named u, v and w.

    >>> NoSlip(wall="cylinder").kind
    'bc'
    """

    velocity: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
    ):
        self._set_place(axis, side, wall, where)
        self.velocity = ()

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "NoSlip":
        return _bind_to_flow(self, domain, fields)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        return _velocity_at(self, evaluate, z)

    def fixes(self, field: str, freedom: str | None) -> bool:
        """The velocity is prescribed at all times."""
        return field in self.velocity


@register("symmetry")
class Symmetry(AbstractWallCondition):
    """The field is mirrored at the wall.

    The normal velocity is zero. The tangential velocity and all other fields have no normal derivative.
    The parameters are those of `Dirichlet`.

    >>> Symmetry("y", side="lower").kind
    'bc'
    """

    velocity: tuple[str, ...] = eqx.field(static=True)
    others: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
    ):
        self._set_place(axis, side, wall, where)
        self.velocity, self.others = (), ()

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Symmetry":
        velocity = velocity_in(fields, domain)
        others = tuple(field for field in fields if field not in velocity)
        return with_region(
            with_static(self, velocity=velocity, others=others), wall_of(self, domain)
        )

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        rows = [_normal_slope(self, evaluate, z, field) for field in self.others]
        if self.velocity:
            normal = self._bound().normal(z)[: len(self.velocity)]
            velocity = _velocity_at(self, evaluate, z)
            slopes = jnp.stack([_normal_slope(self, evaluate, z, name) for name in self.velocity])
            tangential = slopes - normal * jnp.dot(normal, slopes)
            rows += [jnp.dot(normal, velocity), *tangential]
        return jnp.stack(rows)


@register("outflow")
class Outflow(AbstractWallCondition):
    """The fluid leaves undisturbed: ν ∂(u, v)/∂n = p n.

    Parameters
    ----------
    axis, side, wall, where
        The place, as in `Dirichlet`.
    viscosity
        ν of the equation, kinematic if p is divided by the density. Without a viscosity the velocity has
        no normal derivative at the wall.

    >>> Outflow("x", side="upper", viscosity=0.01).kind
    'bc'
    """

    viscosity: float | None = eqx.field(static=True)
    velocity: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
        viscosity: Positive | None = None,
    ):
        self._set_place(axis, side, wall, where)
        self.viscosity, self.velocity = viscosity, ()

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Outflow":
        if self.viscosity is not None and PRESSURE not in fields:
            raise InputError(
                f"Outflow(viscosity={self.viscosity:g}): the equation has no field p; leave the "
                "viscosity out."
            )
        return _bind_to_flow(self, domain, fields)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        slopes = jnp.stack([_normal_slope(self, evaluate, z, name) for name in self.velocity])
        if self.viscosity is None:
            return slopes
        normal = self._bound().normal(z)[: len(self.velocity)]
        return self.viscosity * slopes - normal * evaluate(z, PRESSURE)

    def fixes(self, field: str, freedom: str | None) -> bool:
        """With a viscosity, the condition contains the pressure at all times."""
        return field == PRESSURE and self.viscosity is not None


def velocity_in(fields: Sequence[str], domain: Domain) -> tuple[str, ...]:
    """The fields of the velocity along the spatial axes; () if one of them is missing."""
    names = VELOCITY[: len(domain.spatial_axes)]
    has_velocity = len(names) > 1 and set(names) <= set(fields)
    return names if has_velocity else ()


def _bind_to_flow(condition, domain: Domain, fields: tuple[str, ...]):
    """The condition with its region and the names of the velocity."""
    velocity = velocity_in(fields, domain)
    name = type(condition).__name__
    if not velocity:
        wanted = ", ".join(VELOCITY[: max(len(domain.spatial_axes), 2)])
        raise InputError(
            f"{name}: it is about a velocity {wanted}, but the fields are {', '.join(fields)}; write "
            f"Dirichlet or Neumann with the names of the fields."
        )
    return with_region(with_static(condition, velocity=velocity), wall_of(condition, domain))


def _velocity_at(condition, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
    """The velocity at a point of the wall."""
    return jnp.stack([evaluate(z, name) for name in condition.velocity])


def _normal_slope(condition, evaluate: Evaluate, z: Point, field: str):
    """The derivative of a field along the outward normal."""
    region = condition._bound()
    return region.normal_derivative(z, lambda axis: evaluate(z, f"{field}_{axis}"))


# ------------------------------------------------------------------------------- wells


@register("well")
class Well(AbstractWallCondition):
    r"""A source of known rate at an end of an axis, such as a pumped well at a small radius.

    The rate is the integral of a source q in the equation as it is written:

    $$ c\, u_t = \nabla \cdot (k \nabla u) + q, \qquad \int q\, dV = \text{rate} $$

    so that the rate is $k\, \partial u/\partial n$ times the area of the end, with k from the equation,
    unknown or not. In cylindrical coordinates the area is 2 pi r per length of the axis, or times the
    length of the domain if z is an axis. In spherical coordinates it is 4 pi r².

    Parameters
    ----------
    axis, side
        The end of an axis; by default the lower end of r.
    **values
        The rate for each field, in the forms of `Initial`. A switched rate is a formula with `step`:
        s="788/7*step(0.34 - t)". Where water is pumped, a drawdown has a positive rate and a head a
        negative one.

    >>> Well(s=788 / 7).axis
    ('r',)
    """

    values: dict[str, Value]
    coordinates: str = eqx.field(static=True)
    equation: Any  # None until `beside` sets it

    def __init__(
        self,
        axis: AxisName = "r",
        side: Side = "lower",
        **values: Writable | Unknown | UnknownFunction,
    ):
        self._set_place(axis, side, None, None)
        self.values = as_values("Well", values)
        self.coordinates, self.equation = CARTESIAN, None

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Well":
        check_fields("Well", self.values, fields)
        axis, coordinates = (self.axis or ("r",))[0], domain.coordinates
        bound = bound_to(with_static(self, coordinates=coordinates), wall_of(self, domain))
        low = domain.bounds(axis)[0]
        if coordinates != CARTESIAN and axis == "r" and self.side != "upper" and low <= 0:
            raise InputError(
                "Well: a well has a radius; begin the domain there, r=(0.1, ...). Far from it, the field "
                "hardly depends on how small that is."
            )
        if coordinates == SPHERICAL and "θ" in domain.axes:
            raise InputError("Well: in spherical coordinates with an angle its area is not known.")
        return bound

    def beside(self, pde: AbstractPDE) -> "Well":
        """A copy of the condition that knows the equation."""
        return with_static(self, equation=pde)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        region, (axis,) = self._bound(), self.axis or ("r",)
        point = region.box.named(z)
        area = area_factor(self.coordinates, point, axis)
        for other in region.box.spatial_axes:
            area = area * (1.0 if other == axis else region.box.extent[region.box.index(other)])

        def row(field, rate):
            slope = region.normal_derivative(z, lambda a: evaluate(z, f"{field}_{a}"))
            flow = value_beside(rate, evaluate, z, point)
            return slope - flow / (area * self._conductivity(field, axis, evaluate, z, point))

        return jnp.stack([row(field, rate) for field, rate in self.values.items()])

    def _conductivity(self, field: str, axis: str, evaluate: Evaluate, z: Point, point):
        """The factor k of the second derivative across the end in the equation."""

        def residuals(shift):
            d = _Shifted(evaluate, z, point, f"{field}_{axis}{axis}", shift)
            return jnp.stack([jnp.asarray(r, float) for r in self.equation.residual(d).values()])

        _, slopes = jax.jvp(residuals, (jnp.zeros(()),), (jnp.ones(()),))
        return jnp.sum(jnp.abs(slopes))


class _Shifted:
    """The derivatives at a point, with `shift` added to the derivative `name`."""

    def __init__(self, evaluate: Evaluate, z: Point, point, name: str, shift):
        self.evaluate, self.z, self.point, self.name, self.shift = evaluate, z, point, name, shift

    def __call__(self, name: str) -> Float[Array, ""]:
        if name in self.point:
            return self.point[name]
        return self.evaluate(self.z, name) + (self.shift if name == self.name else 0.0)

    def laplacian(self, field: str) -> Float[Array, ""]:
        space = [axis for axis in self.point if axis != "t"]
        return jnp.sum(jnp.stack([self(f"{field}_{axis}{axis}") for axis in space]))


# ------------------------------------------------------------------------------- traction


@register("traction")
class Traction(AbstractWallCondition):
    r"""The force per area at the wall of an elastic solid: σ n = g with n the outward normal.

    $$ \sigma = \lambda (\nabla \cdot \mathbf{u}) + \mu (\nabla \mathbf{u} + \nabla \mathbf{u}^T) $$

    with λ and μ from the `Elasticity` of the problem; they may be unknown.

    Parameters
    ----------
    axis, side, wall, where
        The place, as in `Dirichlet`.
    **values
        The component g of the force along each displacement, in the forms of `Initial`. v=-2.0 is a
        force per area against y, and the other components are left open. Without values the wall is free.

    >>> Traction(wall="hole").kind, Traction("x", side="upper", u=1e6, v=0.0).side
    ('bc', 'upper')
    """

    names_fields: ClassVar[bool] = False
    values: dict[str, Value]
    solid: Any  # an Elasticity; None until `beside` sets it

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
        **values: Writable | Unknown | UnknownFunction,
    ):
        self._set_place(axis, side, wall, where)
        self.values = as_values("Traction", values) if values else {}
        self.solid = None

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Traction":
        check_fields("Traction", self.values, fields)
        every = self.values or as_values("Traction", dict.fromkeys(fields, 0.0))
        return bound_to(with_static(self, values=every), wall_of(self, domain))

    def beside(self, pde: AbstractPDE) -> "Traction":
        """A copy of the condition that knows the elastic solid."""
        if not isinstance(pde, Elasticity):
            raise InputError(
                f"Traction: it stands at the wall of an elastic solid, but the equation is "
                f"{type(pde).__name__}; write pgt.Elasticity(...), or Neumann for a slope."
            )
        return with_static(self, solid=pde)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        assert isinstance(self.solid, Elasticity)  # `beside` has been called
        fields, space = self.solid.fields, space_of(self.solid.coords)
        shear, dilation = self.solid.moduli()
        slopes = jnp.stack([jnp.stack([evaluate(z, f"{f}_{a}") for a in space]) for f in fields])
        normal = self._bound().normal(z)[: len(space)]
        traction = dilation * jnp.trace(slopes) * normal + shear * (slopes + slopes.T) @ normal
        point = self._bound().box.named(z)
        targets = [
            (fields.index(f), value_beside(g, evaluate, z, point)) for f, g in self.values.items()
        ]
        return jnp.stack([traction[k] - g for k, g in targets])
