"""Derived quantities by name: any field, any derivative, and a few that have names of their own."""

from collections.abc import Callable

from jaxtyping import Array, Float

from pgt.physics.derivatives import DerivativeTable, parse_name

NAMED: dict[str, tuple[tuple[str, ...], Callable]] = {
    "vorticity": (("v_x", "u_y"), lambda v_x, u_y: v_x - u_y),
    "divergence": (("u_x", "v_y"), lambda u_x, v_y: u_x + v_y),
    "speed": (("u", "v"), lambda u, v: (u**2 + v**2) ** 0.5),
}


def parts_of(name: str, coords: tuple[str, ...], fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields and derivatives a quantity is made of; an error for a name that means nothing.

    >>> parts_of("vorticity", ("x", "y", "t"), ("u", "v", "p"))
    ('v_x', 'u_y')
    """
    parts = NAMED[name][0] if name in NAMED and name not in fields else (name,)
    for part in parts:
        parse_name(part, coords, fields)
    return parts


def quantity(name: str, table: DerivativeTable, fields: tuple[str, ...]) -> Float[Array, ""]:
    """The value of a quantity at one point."""
    if name in NAMED and name not in fields:
        parts, formula = NAMED[name]
        return formula(*(table(part) for part in parts))
    return table(name)


def units_of(name: str, units: dict[str, str], fields: tuple[str, ...]) -> str | None:
    """The unit of a field or derivative, where the units of its parts are known.

    >>> units_of("u_xx", {"u": "K", "x": "m"}, ("u",))
    'K m-2'
    """
    if name in NAMED and name not in fields:
        return units_of(NAMED[name][0][0], units, fields)
    field, letters = (name, "") if name in fields else name.rsplit("_", 1)
    if field not in units or any(letter not in units for letter in letters):
        return None
    powers = {axis: letters.count(axis) for axis in dict.fromkeys(letters)}
    # A derivative in time does not know since when time is counted.
    per = {axis: units[axis].partition(" since ")[0] for axis in powers}
    parts = [units[field], *(f"{per[axis]}-{n}" for axis, n in powers.items())]
    # "1" is the unit of a pure number: it needs no power and no factor.
    return " ".join(p for p in parts if p != "1" and not p.startswith("1-")) or "1"
