"""Equations in cylindrical and spherical coordinates (data/coordinate_systems.py).

The domain says which coordinates are meant, and the equation takes them from it: `lap`, `div` and `grad`
of a text and the Laplacian of a class are those of the coordinates. Where r = 0 is inside, a smooth field
has no slope there, and u_r/r is the limit u_rr.
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

# In the place of r = 0, where u_r is this times u_rr: so small that quotients are limits to rounding, so
# large that its powers are numbers in single precision.
AXIS = 1e-12


class CurvedDerivatives:
    """Derivatives of fields in curved coordinates, for the residual of an equation.

    `regular` are the names of derivatives u_rr: of their fields u_r is known where r = 0.
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
            return jnp.maximum(self.d("r"), AXIS)
        twice = f"{name}r"
        if name.endswith("_r") and twice in self.regular:
            return self._slope(name, twice)
        return self.d(name)

    def laplacian(self, field: str) -> Float[Array, ""]:
        total = jnp.zeros(())
        for axis in self.coords:
            if axis == "t":
                continue
            first, second = f"{field}_{axis}", f"{field}_{axis}{axis}"
            slope = self._slope(first, second) if axis == "r" else self.d(first)
            scale = self._formula(SCALES, axis, 1.0)
            total = (
                total + self.d(second) / scale**2 + self._formula(TURNS, axis, 0.0) * slope / scale
            )
        return total

    def _slope(self, first: str, second: str) -> Float[Array, ""]:
        return jnp.where(self.d("r") > AXIS, self.d(first), AXIS * self.d(second))

    def _formula(self, table, axis: str, default: float):
        formula = table[self.coordinates].get(axis)
        if formula is None:
            return default
        return evaluate(parse(formula), lambda n: CONSTANTS[n] if n in CONSTANTS else self(n))


def in_domain(pde: AbstractPDE, domain: Domain) -> AbstractPDE:
    """The equation in the coordinates of a domain.

    >>> import pgt
    >>> rod = pgt.Domain(r=(0, 1), t=(0, 1), coordinates="polar")
    >>> in_domain(pgt.Heat(0.01), rod).coords
    ('r', 't')
    """
    space = domain.spatial_axes
    own = tuple(axis for axis in pde.coords if axis != "t")
    if getattr(pde, "takes_axes", False):  # a text that names no axis of space
        coords = (*space, *(("t",) if "t" in domain.axes else ()))
        return with_attributes(pde, coords=coords, coordinates=domain.coordinates)
    if domain.coordinates == pde.coordinates:
        return pde
    if hasattr(pde, "texts"):
        return with_attributes(pde, coordinates=domain.coordinates)
    if len(own) != len(space):
        return pde  # the caller says that the axes are others
    coords = (*space, *(("t",) if "t" in pde.coords else ()))
    try:
        moved = with_attributes(pde, coords=coords, coordinates=domain.coordinates)
        names = [name for name in requested(moved) if name not in coords]
    except (KeyError, InputError):  # a source in the axes it was written for
        names = ["source"]
    if len(pde.fields) > 1 or not all(_is_along(name, coords, pde.fields) for name in names):
        raise InputError(
            f"{type(pde).__name__}: it is written for x, y and z, and its terms in "
            f"{domain.coordinates} coordinates are not known. Write the equation as text, in "
            f"{', '.join(domain.axes)}: lap, div and grad follow the coordinates of the domain."
        )
    return moved


def _is_along(name: str, coords: Sequence[str], fields: Sequence[str]) -> bool:
    """Whether it is a field, or a derivative along these coordinates."""
    found = DERIVATIVE.fullmatch(name)
    return name in fields or (found is not None and set(found["axes"]) <= set(coords))


def at_axis(
    conditions: Sequence[AbstractCondition], pde: AbstractPDE, domain: Domain
) -> tuple[AbstractCondition, ...]:
    """The conditions, and that fields have no slope where r = 0, of which nothing is said there."""
    given = tuple(conditions)
    if domain.coordinates == CARTESIAN or domain.bounds("r")[0] > 0:
        return given
    there = [c for c in given if _is_at_axis(c)]
    said = {name for c in there for name in getattr(c, "values", {})}
    names = requested(pde)
    free: dict[str, Any] = {f: 0.0 for f in pde.fields if f"{f}_rr" in names and f not in said}
    return (*given, Neumann("r", side="lower", **free)) if free else given


def _is_at_axis(condition: AbstractCondition) -> bool:
    axis, side = getattr(condition, "axis", ()), getattr(condition, "side", "")
    return getattr(condition, "wall", None) is None and side != "upper" and (
        axis is None or "r" in axis
    )  # fmt: skip


def with_attributes(pde: AbstractPDE, **values) -> AbstractPDE:
    """The same equation with other static attributes."""
    other = object.__new__(type(pde))
    for attribute in attributes(pde):
        if attribute.name in values or hasattr(pde, attribute.name):
            value = values.get(attribute.name, getattr(pde, attribute.name, None))
            object.__setattr__(other, attribute.name, value)
    return other
