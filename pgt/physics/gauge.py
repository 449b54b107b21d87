"""`Gauge`: a condition that fixes the null space of a hidden field, such as the level of a pressure.

If the equations contain only derivatives of a field, and nobody measured it, then adding a constant to it
changes no residual. If they contain no time derivative of it either, a function of time may be added. A
`Gauge` selects one of these fields.

A gauge is a condition with rows that should be zero, and not a correction of the finished field. It
therefore holds in training, polish, ensembles and posterior samples alike, a reference reading may be
noisy, and the field stays as cheap to evaluate as any other. It does not make the fit worse, since no
other row changes.

>>> from pgt.data.domain import Domain
>>> box = Domain(x=(0, 1), y=(0, 1), t=(0, 2))
>>> Gauge("p").bind(box, fields=("u", "v", "p")).nodes(4).shape
(4, 3)
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.arguments import Number, Written
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point
from pgt.data.condition_regions import Instants
from pgt.data.domain import Domain
from pgt.physics.condition_values import (
    Value,
    Writable,
    as_value,
    bind_value,
    check_cover,
    check_fields,
    said_of,
    value_at,
    with_region,
)
from pgt.physics.conditions import AbstractCondition, Evaluate
from pgt.physics.derivatives import requested
from pgt.physics.interpolation_table import Table
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import wall_fields

Coordinate = Annotated[Any, Written(Number)]


@register("gauge")
class Gauge(AbstractCondition):
    """Fixes a field of which the equations contain only derivatives, such as a hidden pressure.

    Parameters
    ----------
    field
        The name of the field.
    at
        A position, such as {"x": 8.0, "y": 2.0}, where the field is known at all times. If it contains
        "t", the field is known at that time only, for fields whose time derivative is in the equations.
        None fixes the mean over space at all times, by Gauss–Legendre quadrature.
    value
        The value at that position, or of the mean, zero by default: a number, a formula in t, a function
        of t, a pair (times, readings) or an xarray.DataArray over t.

    >>> Gauge("p", at={"x": 8.0, "y": 2.0}, value="0.1*sin(t)").kind
    'gauge'
    """

    kind: ClassVar[str] = "gauge"
    field: str = eqx.field(static=True)
    at: tuple[tuple[str, float], ...] | None = eqx.field(static=True)
    value: Value
    region: Instants | None

    def __init__(
        self, field: str, at: Mapping[str, Coordinate] | None = None, value: Writable = 0.0
    ):
        self.field = field
        self.at = _as_place(at)
        self.value = as_value("Gauge(value=...)", value)
        self.region = None

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Gauge":
        check_fields(f"Gauge(field={self.field!r})", (self.field,), fields)
        _check_place(self.at, domain)
        with said_of("Gauge(at=...)"):
            region = domain.instants(None if self.at is None else dict(self.at))
        value = bind_value("Gauge(value=...)", self.value, region.free, region.free)
        if isinstance(value, Table):
            check_cover("Gauge(value=...)", value, region)
        return with_region(eqx.tree_at(lambda c: c.value, self, value), region)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        region = self._bound()
        points, weights = region.mean_nodes(z)
        values = jax.vmap(lambda y: evaluate(y, self.field))(points)
        named = region.box.named(z)
        moment = {axis: named[axis] for axis in region.free}
        return (jnp.dot(weights, values) - value_at(self.value, moment))[None]

    @property
    def is_local(self) -> bool:
        return False

    def fixes(self, field: str, freedom: str | None) -> bool:
        """True for the field of the gauge, whatever its freedom."""
        return field == self.field


# ------------------------------------------------------------------------------- null space


def freedom(pde: AbstractPDE, field: str) -> str | None:
    """The null space of a field, which may be added without changing any residual.

    It is "a constant" or "a function of time", or None if the field itself is in an equation.

    >>> from pgt.physics.equations.navier_stokes import NavierStokes2D
    >>> freedom(NavierStokes2D(0.01), "p"), freedom(NavierStokes2D(0.01), "u")
    ('a function of time', None)
    """
    with jax.enable_x64(True):  # a polished equation has coefficients in float64
        names = requested(pde)
    if field in names or field in wall_fields(pde):
        return None
    axes = [letters for name, _, letters in (n.rpartition("_") for n in names) if name == field]
    is_free_in_time = "t" in pde.coords and not any("t" in letters for letters in axes)
    return "a function of time" if is_free_in_time else "a constant"


def fixed_fields(conditions: Sequence[AbstractCondition], pde: AbstractPDE) -> tuple[str, ...]:
    """The fields whose null space is fixed by conditions."""
    free = {name: freedom(pde, name) for name in pde.fields}
    return tuple(name for name in free if any(c.fixes(name, free[name]) for c in conditions))


def check_gauges(
    conditions: Sequence[AbstractCondition], pde: AbstractPDE, measured: Collection[str]
) -> None:
    """Raise `InputError` if a gauge would contradict what already fixes its field."""
    for index, condition in enumerate(conditions):
        if isinstance(condition, Gauge):
            others = [*conditions[:index], *conditions[index + 1 :]]
            _check_gauge(condition, fixed_fields(others, pde), pde, measured)


def _check_gauge(gauge: Gauge, fixed: Collection[str], pde: AbstractPDE, measured) -> None:
    where, name = f"Gauge(field={gauge.field!r})", gauge.field
    drop = "; remove the gauge, which would contradict it."
    if name in measured:
        raise InputError(f"{where}: '{name}' was measured, which fixes it already{drop}")
    if name in fixed:
        raise InputError(f"{where}: another condition gives values of '{name}' already{drop}")
    free, moment = freedom(pde, name), "t" in dict(gauge.at or ())
    if free is None:
        raise InputError(
            f"{where}: '{name}' itself is in the equations, which fix it already{drop}"
        )
    if free == "a constant" and "t" in pde.coords and not moment:
        raise InputError(
            f"{where}: the equations hold '{name}_t', so only a constant is open, and not the value "
            "at every time; give `at` one moment, too, as in at={'x': 0.0, 't': 0.0}."
        )
    if free == "a function of time" and moment:
        raise InputError(
            f"{where}: the equations leave '{name}' open at every time, and `at` names one moment; "
            "leave the t out of it."
        )


def _as_place(at: Mapping[str, Coordinate] | None) -> tuple[tuple[str, float], ...] | None:
    if at is None:
        return None
    if not isinstance(at, Mapping) or not at:
        raise InputError(f"Gauge(at={at!r}): write the position by axis, as in {{'x': 8.0}}.")
    for axis, position in at.items():
        is_number = isinstance(position, int | float | np.number) and np.isfinite(position)
        if not is_number or isinstance(position, bool):
            raise InputError(f"Gauge(at=...): {axis} is {position!r}; write a finite number.")
    return tuple((axis, float(position)) for axis, position in at.items())


def _check_place(at: tuple[tuple[str, float], ...] | None, domain: Domain) -> None:
    if at is None:
        if not domain.spatial_axes:
            raise InputError(f"Gauge: {domain} has no spatial axis to take a mean over; give `at`.")
        return
    place = dict(at)
    wanted = domain.axes if "t" in place else domain.spatial_axes
    if set(place) != set(wanted):
        raise InputError(
            f"Gauge(at=...): the position names {', '.join(place)}; give exactly "
            f"{', '.join(domain.spatial_axes)}"
            + (", and t for one moment." if domain.has_time else ".")
        )
    for axis, position in place.items():
        lower, upper = domain.bounds(axis)
        if not lower <= domain.box.to_local(axis, position) <= upper:
            raise InputError(
                f"Gauge(at=...): {axis} = {position:g} lies outside the domain; write a position from "
                f"{lower:g} to {upper:g}."
            )
