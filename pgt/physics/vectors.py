"""What equations of vector fields share: the names of components, and the terms they are made of.

The component along x is called u, those along y and z are v and w.
"""

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import Derivatives

COMPONENTS = ("u", "v", "w")

# What may be given for body forces: one per spatial axis, None for one that is absent.
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
    """Body forces along each spatial axis, of what a user gives; `where` names them in errors."""
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
    """The body forces at the point where `d` stands."""
    return [source_at(force, d, coords) for force in forces]


def change(d: Derivatives, field: str, coords: tuple[str, ...]) -> Float[Array, ""] | float:
    """∂field/∂t; 0.0 where there is no time."""
    return d(f"{field}_t") if "t" in coords else 0.0


def carried(d: Derivatives, field: str, coords: tuple[str, ...]) -> Float[Array, ""]:
    """(u·∇) field: what the flow (u, v, w) carries along."""
    flow = [d(name) for name in components(coords)]
    pairs = zip(flow, space_of(coords), strict=True)
    return _sum(speed * d(f"{field}_{axis}") for speed, axis in pairs)


def divergence(d: Derivatives, coords: tuple[str, ...]) -> Float[Array, ""]:
    """u_x + v_y + w_z."""
    pairs = zip(components(coords), space_of(coords), strict=True)
    return _sum(d(f"{name}_{axis}") for name, axis in pairs)


def _sum(terms: Iterable[Float[Array, ""]]) -> Float[Array, ""]:
    return functools.reduce(operator.add, terms)
