"""Helpers for equations of vector fields: names of components, their common terms, and renamed fields.

The components along x, y and z are called u, v and w.
"""

import functools
import operator
import re
from collections.abc import Iterable, Sequence
from typing import Any

from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.parser import CARTESIAN, DERIVATIVE, LETTERS
from pgt.data.coordinate_systems import CARTESIAN as X_Y_Z
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.curved_coordinates import CurvedDerivatives
from pgt.physics.pde import AbstractPDE, Derivatives

COMPONENTS = ("u", "v", "w")

# The body forces that a user may give: one per spatial axis, or None for an absent one.
Forces = Sequence[Source | None]


def space_of(coords: tuple[str, ...]) -> tuple[str, ...]:
    """The spatial axes among the coordinates.

    >>> space_of(("x", "y", "t"))
    ('x', 'y')
    """
    return tuple(axis for axis in coords if axis != "t")


def components(coords: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the components of a vector, one per spatial axis."""
    return COMPONENTS[: len(space_of(coords))]


def as_forces(where: str, source: Any, coords: tuple[str, ...]) -> tuple[Value | None, ...]:
    """The body forces along each spatial axis in the form that is kept; errors name them by `where`."""
    axes = space_of(coords)
    if source is None:
        return (None,) * len(axes)
    if not isinstance(source, (tuple, list)) or len(source) != len(axes):
        names = ", ".join(f"f_{axis}" for axis in axes)
        absent = ", ".join(["None"] * (len(axes) - 1))
        raise InputError(
            f"{where} must be {len(axes)} body forces ({names}); write None for one that is absent, "
            f'e.g. source=("0.1*sin(y)", {absent}).'
        )
    return tuple(as_source(f"{where[:-1]}[{k}])", f, coords) for k, f in enumerate(source))


def forces_at(forces: tuple[Value | None, ...], d: Derivatives, coords: tuple[str, ...]) -> list:
    """The body forces at the point of the derivatives `d`."""
    return [source_at(force, d, coords) for force in forces]


def change(d: Derivatives, field: str, coords: tuple[str, ...]) -> Float[Array, ""] | float:
    """The time derivative of a field; 0.0 if there is no time."""
    return d(f"{field}_t") if "t" in coords else 0.0


def carried(d: Derivatives, field: str, coords: tuple[str, ...]) -> Float[Array, ""]:
    """The advection term (u·∇) field of the flow (u, v, w)."""
    flow = [d(name) for name in components(coords)]
    pairs = zip(flow, space_of(coords), strict=True)
    return _sum(speed * d(f"{field}_{axis}") for speed, axis in pairs)


def divergence(d: Derivatives, coords: tuple[str, ...]) -> Float[Array, ""]:
    """The divergence u_x + v_y + w_z."""
    pairs = zip(components(coords), space_of(coords), strict=True)
    return _sum(d(f"{name}_{axis}") for name, axis in pairs)


def _sum(terms: Iterable[Float[Array, ""]]) -> Float[Array, ""]:
    return functools.reduce(operator.add, terms)


# ------------------------------------------------------------------------------- names

# The formula of an equation uses its own names of fields, which a user may rename.


def as_fields(where: str, fields: str | Sequence[str], own: tuple[str, ...]) -> tuple[str, ...]:
    """The names that a user gives to the fields `own` of an equation.

    >>> as_fields("Heat", "T", ("u",))
    ('T',)
    """
    names = (fields,) if isinstance(fields, str) else tuple(fields)
    if len(names) != len(own) or len(set(names)) != len(names):
        raise InputError(
            f"{where}(fields={names}): the equation has the fields {', '.join(own)}; write {len(own)} "
            "different name(s), in that order."
        )
    for name in names:
        if not name.isidentifier() or name in CARTESIAN or DERIVATIVE.fullmatch(name):
            raise InputError(
                f"{where}(fields={names}): {name!r} cannot be the name of a field; write a word, no axis "
                "(x, y, z, t) and no derivative (u_x), such as 'T'."
            )
    return names


def by_own_names(d: Derivatives, pde: AbstractPDE, own: tuple[str, ...]) -> Derivatives:
    """The derivatives under the equation's own names of fields, in the coordinates of the equation."""
    if pde.coordinates != X_Y_Z:
        d = CurvedDerivatives(d, pde.coordinates, pde.coords)
    return d if own == pde.fields else _Renamed(d, dict(zip(own, pde.fields, strict=True)))


def own_names(pde: AbstractPDE) -> tuple[str, ...]:
    """The names of fields in the description of an equation; without a description, the user's names.

    The description covers all dimensions; components along axes that the equation lacks are left out.

    >>> import pgt
    >>> own_names(pgt.Stokes(1.0, fields=("a", "b", "q")))
    ('u', 'v', 'p')
    """
    own = () if pde.about is None else pde.about.fields
    if len(own) > len(pde.fields):
        absent = COMPONENTS[len(space_of(pde.coords)) :]
        own = tuple(name for name in own if name not in absent)[: len(pde.fields)]
    return own if len(own) == len(pde.fields) else pde.fields


def rewritten(text: str, own: tuple[str, ...], fields: tuple[str, ...]) -> str:
    """The text of an equation with the user's names of fields.

    >>> rewritten("u_t = diffusivity*lap(u) + source", ("u",), ("T",))
    'T_t = diffusivity*lap(T) + source'
    """
    names = dict(zip(own, fields, strict=True))
    pattern = rf"\b({'|'.join(own)})(?=_[{LETTERS}]+\b|\b)"
    return re.sub(pattern, lambda match: names[match[1]], text)


class _Renamed:
    """Derivatives looked up by the equation's own names of fields."""

    def __init__(self, d: Derivatives, names: dict[str, str]):
        self.d, self.names = d, names

    def __call__(self, name: str) -> "Float[Array, '']":
        if name in self.names:
            return self.d(self.names[name])
        derivative = DERIVATIVE.fullmatch(name)
        if derivative is None:  # a coordinate
            return self.d(name)
        return self.d(f"{self.names[derivative['field']]}_{derivative['axes']}")

    def laplacian(self, field: str) -> "Float[Array, '']":
        return self.d.laplacian(self.names[field])
