"""Derived quantities by name: any field, any derivative, and a few that have names of their own."""

from collections.abc import Mapping

from jaxtyping import Array, Float

from pgt.physics.derivatives import DerivativeTable, parse_name
from pgt.physics.pde import Quantity

NAMED: Mapping[str, Quantity] = {
    "vorticity": Quantity(("v_x", "u_y"), lambda v_x, u_y: v_x - u_y),
    "divergence": Quantity(("u_x", "v_y"), lambda u_x, v_y: u_x + v_y),
    "speed": Quantity(("u", "v"), lambda u, v: (u**2 + v**2) ** 0.5),
}


Own = Mapping[str, Quantity]  # quantities that an equation has names for


def parts_of(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...], own: Own | None = None
) -> tuple[str, ...]:
    """The fields and derivatives a quantity is made of; an error for a name that means nothing.

    >>> parts_of("vorticity", ("x", "y", "t"), ("u", "v", "p"))
    ('v_x', 'u_y')
    """
    named = _named(name, fields, own)
    parts = (name,) if named is None else named.parts
    for part in parts:
        parse_name(part, coords, fields)
    return parts


def quantity(
    name: str, table: DerivativeTable, fields: tuple[str, ...], own: Own | None = None
) -> Float[Array, ""]:
    """The value of a quantity at one point."""
    named = _named(name, fields, own)
    return table(name) if named is None else named.formula(*(table(part) for part in named.parts))


def _named(name: str, fields: tuple[str, ...], own: Own | None) -> Quantity | None:
    """The formula behind a name; None for a field or a derivative."""
    return None if name in fields else (own or {}).get(name) or NAMED.get(name)


def units_of(name: str, units: dict[str, str], fields: tuple[str, ...]) -> str | None:
    """The unit of a field or derivative, where the units of its parts are known.

    >>> units_of("u_xx", {"u": "K", "x": "m"}, ("u",))
    'K m-2'
    """
    if name in NAMED and name not in fields:
        return units_of(NAMED[name][0][0], units, fields)
    field, _, letters = (name, "", "") if name in fields else name.rpartition("_")
    if field not in units or any(letter not in units for letter in letters):
        return None
    powers = {axis: letters.count(axis) for axis in dict.fromkeys(letters)}
    parts = [units[field], *(f"{units[axis]}-{n}" for axis, n in powers.items())]
    # "1" is the unit of a pure number: it needs no power and no factor.
    return " ".join(p for p in parts if p != "1" and not p.startswith("1-")) or "1"
