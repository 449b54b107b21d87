"""Equations in cylindrical and spherical coordinates (data/coordinate_systems.py).

The equation takes its coordinates from the domain, which determines `lap`, `div` and `grad` in a text and
the Laplacian of a class. If r = 0 is in the domain, a smooth field has u_r = 0 there, and the limit of
u_r/r is u_rr.
"""

from collections.abc import Container, Sequence
from dataclasses import fields as attributes
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, evaluate
from pgt.core.parser import DERIVATIVE, parse
from pgt.data.coordinate_systems import CARTESIAN, SCALES, TURNS
from pgt.data.domain import Domain
from pgt.physics.conditions import AbstractCondition, Neumann
from pgt.physics.derivatives import requested
from pgt.physics.pde import AbstractPDE, Derivatives

# The radius that replaces r = 0, where u_r is this times u_rr. It is so small that quotients equal their
# limits up to rounding, and so large that its powers do not underflow in single precision.
MIN_RADIUS = 1e-12


class CurvedDerivatives:
    """The derivatives of fields in curved coordinates, for the residual of an equation.

    `regular` are the names u_rr of derivatives whose fields have a known u_r at r = 0.
    """

    def __init__(
        self,
        d: Derivatives,
        coordinates: str,
        coords: tuple[str, ...],
        regular: Container[str] = (),
    ):
        self.d, self.coordinates, self.coords, self.regular = d, coordinates, coords, regular

    def __call__(self, name: str) -> Float[Array, ""]:
        if name == "r":
            return jnp.maximum(self.d("r"), MIN_RADIUS)
        twice = f"{name}r"
        if name.endswith("_r") and twice in self.regular:
            return self._radial_derivative(name, twice)
        return self.d(name)

    def laplacian(self, field: str) -> Float[Array, ""]:
        total = jnp.zeros(())
        for axis in self.coords:
            if axis == "t":
                continue
            first, second = f"{field}_{axis}", f"{field}_{axis}{axis}"
            slope = self._radial_derivative(first, second) if axis == "r" else self.d(first)
            scale = self._metric_factor(SCALES, axis, 1.0)
            total = (
                total
                + self.d(second) / scale**2
                + self._metric_factor(TURNS, axis, 0.0) * slope / scale
            )
        return total

    def _radial_derivative(self, first: str, second: str) -> Float[Array, ""]:
        return jnp.where(self.d("r") > MIN_RADIUS, self.d(first), MIN_RADIUS * self.d(second))

    def _metric_factor(self, table, axis: str, default: float):
        formula = table[self.coordinates].get(axis)
        if formula is None:
            return default
        return evaluate(parse(formula), lambda n: CONSTANTS[n] if n in CONSTANTS else self(n))


def in_domain(pde: AbstractPDE, domain: Domain) -> AbstractPDE:
    """The equation in the coordinates of the domain.

    >>> import pgt
    >>> rod = pgt.Domain(r=(0, 1), t=(0, 1), coordinates="polar")
    >>> in_domain(pgt.Heat(0.01), rod).coords
    ('r', 't')
    """
    space = domain.spatial_axes
    pde_space = tuple(axis for axis in pde.coords if axis != "t")
    if getattr(pde, "takes_axes", False):  # a text without a spatial axis
        coords = (*space, *(("t",) if "t" in domain.axes else ()))
        return with_attributes(pde, coords=coords, coordinates=domain.coordinates)
    if domain.coordinates == pde.coordinates:
        return pde
    if hasattr(pde, "texts"):
        return with_attributes(pde, coordinates=domain.coordinates)
    if len(pde_space) != len(space):
        return pde  # the caller reports that the axes differ
    coords = (*space, *(("t",) if "t" in pde.coords else ()))
    try:
        moved = with_attributes(pde, coords=coords, coordinates=domain.coordinates)
        names = [name for name in requested(moved) if name not in coords]
    except (KeyError, InputError):  # a source that names other axes
        names = ["source"]
    if len(pde.fields) > 1 or not all(
        _is_field_or_derivative(name, coords, pde.fields) for name in names
    ):
        raise InputError(
            f"{type(pde).__name__}: it is written for x, y and z, and its terms in "
            f"{domain.coordinates} coordinates are not known. Write the equation as text, in "
            f"{', '.join(domain.axes)}: lap, div and grad follow the coordinates of the domain."
        )
    return moved


def _is_field_or_derivative(name: str, coords: Sequence[str], fields: Sequence[str]) -> bool:
    """Whether a name is a field, or a derivative along these coordinates."""
    match = DERIVATIVE.fullmatch(name)
    return name in fields or (match is not None and set(match["axes"]) <= set(coords))


def at_axis(
    conditions: Sequence[AbstractCondition], pde: AbstractPDE, domain: Domain
) -> tuple[AbstractCondition, ...]:
    """The conditions, with u_r = 0 at r = 0 for fields that have no condition there."""
    conditions = tuple(conditions)
    if domain.coordinates == CARTESIAN or domain.bounds("r")[0] > 0:
        return conditions
    at_zero = [c for c in conditions if _is_at_axis(c)]
    fixed = {name for c in at_zero for name in getattr(c, "values", {})}
    names = requested(pde)
    free: dict[str, Any] = {f: 0.0 for f in pde.fields if f"{f}_rr" in names and f not in fixed}
    return (*conditions, Neumann("r", side="lower", **free)) if free else conditions


def _is_at_axis(condition: AbstractCondition) -> bool:
    """Whether a condition holds at the lower end of r."""
    axis, side = getattr(condition, "axis", ()), getattr(condition, "side", "")
    return getattr(condition, "wall", None) is None and side != "upper" and (
        axis is None or "r" in axis
    )  # fmt: skip


def with_attributes(pde: AbstractPDE, **values) -> AbstractPDE:
    """A copy of the equation with other static attributes."""
    copy = object.__new__(type(pde))
    for attribute in attributes(pde):
        if attribute.name in values or hasattr(pde, attribute.name):
            value = values.get(attribute.name, getattr(pde, attribute.name, None))
            object.__setattr__(copy, attribute.name, value)
    return copy
