"""Names of fields: those that an equation is written with, and those that a user gives them."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgt.core.errors import InputError
from pgt.data.domain import AXES
from pgt.physics.pde import AbstractPDE, Derivatives
from pgt.physics.vectors import COMPONENTS, space_of

if TYPE_CHECKING:
    from jaxtyping import Array, Float

_DERIVATIVE = re.compile(r"(?P<field>\w+)_(?P<axes>[xyzt]+)")


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
        if not name.isidentifier() or name in AXES or _DERIVATIVE.fullmatch(name):
            raise InputError(
                f"{where}(fields={names}): {name!r} cannot be the name of a field; write a word, no axis "
                "(x, y, z, t) and no derivative (u_x), such as 'T'."
            )
    return names


def by_own_names(d: Derivatives, own: tuple[str, ...], fields: tuple[str, ...]) -> Derivatives:
    """Derivatives asked for by the names `own`, of fields that the user calls otherwise."""
    return d if own == fields else _Renamed(d, dict(zip(own, fields, strict=True)))


def own_names(pde: AbstractPDE) -> tuple[str, ...]:
    """The names that the fields of an equation have in what it says of itself; where it says nothing,
    those that it has. Its text is that of all dimensions: components along axes that it lacks are left
    out.

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
    """The text of an equation in the names of the user.

    >>> rewritten("u_t = diffusivity*lap(u) + source", ("u",), ("T",))
    'T_t = diffusivity*lap(T) + source'
    """
    names = dict(zip(own, fields, strict=True))
    found = rf"\b({'|'.join(own)})(?=_[xyzt]+\b|\b)"
    return re.sub(found, lambda match: names[match[1]], text)


class _Renamed:
    """Derivatives by other names."""

    def __init__(self, d: Derivatives, names: dict[str, str]):
        self.d, self.names = d, names

    def __call__(self, name: str) -> "Float[Array, '']":
        if name in self.names:
            return self.d(self.names[name])
        derivative = _DERIVATIVE.fullmatch(name)
        if derivative is None:  # a coordinate
            return self.d(name)
        return self.d(f"{self.names[derivative['field']]}_{derivative['axes']}")

    def laplacian(self, field: str) -> "Float[Array, '']":
        return self.d.laplacian(self.names[field])
