"""Derived quantities by name: any field, any derivative, and a few that have names of their own."""

from collections.abc import Callable

from jaxtyping import Array, Float

from pgt.physics.derivatives import DerivativeTable, parse_name

Named = dict[str, tuple[tuple[str, ...], Callable]]


def _length(*parts):
    return sum(part**2 for part in parts) ** 0.5


def _curl(w_y, v_z, u_z, w_x, v_x, u_y):
    return _length(w_y - v_z, u_z - w_x, v_x - u_y)


# Of a flow (u, v) in the plane, and of one (u, v, w) in space, whose vorticity is a vector: its length.
NAMED: Named = {
    "vorticity": (("v_x", "u_y"), lambda v_x, u_y: v_x - u_y),
    "divergence": (("u_x", "v_y"), lambda u_x, v_y: u_x + v_y),
    "speed": (("u", "v"), _length),
}
IN_SPACE: Named = {
    "vorticity": (("w_y", "v_z", "u_z", "w_x", "v_x", "u_y"), _curl),
    "vorticity_x": (("w_y", "v_z"), lambda w_y, v_z: w_y - v_z),
    "vorticity_y": (("u_z", "w_x"), lambda u_z, w_x: u_z - w_x),
    "vorticity_z": NAMED["vorticity"],
    "divergence": (("u_x", "v_y", "w_z"), lambda *parts: sum(parts)),
    "speed": (("u", "v", "w"), _length),
}


def parts_of(name: str, coords: tuple[str, ...], fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields and derivatives a quantity is made of; an error for a name that means nothing.

    >>> parts_of("vorticity", ("x", "y", "t"), ("u", "v", "p"))
    ('v_x', 'u_y')
    >>> parts_of("speed", ("x", "y", "z"), ("u", "v", "w"))
    ('u', 'v', 'w')
    """
    defined = _named(name, coords, fields)
    parts = defined[0] if defined else (name,)
    for part in parts:
        parse_name(part, coords, fields)
    return parts


def quantity(
    name: str, table: DerivativeTable, coords: tuple[str, ...], fields: tuple[str, ...]
) -> Float[Array, ""]:
    """The value of a quantity at one point."""
    if defined := _named(name, coords, fields):
        parts, formula = defined
        return formula(*(table(part) for part in parts))
    return table(name)


def units_of(
    name: str, units: dict[str, str], coords: tuple[str, ...], fields: tuple[str, ...]
) -> str | None:
    """The unit of a field or derivative, where the units of its parts are known.

    >>> units_of("u_xx", {"u": "K", "x": "m"}, ("x", "t"), ("u",))
    'K m-2'
    """
    if defined := _named(name, coords, fields):
        return units_of(defined[0][0], units, coords, fields)
    field, letters = (name, "") if name in fields else name.rsplit("_", 1)
    if field not in units or any(letter not in units for letter in letters):
        return None
    powers = {axis: letters.count(axis) for axis in dict.fromkeys(letters)}
    parts = [units[field], *(f"{units[axis]}-{n}" for axis, n in powers.items())]
    # "1" is the unit of a pure number: it needs no power and no factor.
    return " ".join(p for p in parts if p != "1" and not p.startswith("1-")) or "1"


def _named(name: str, coords: tuple[str, ...], fields: tuple[str, ...]):
    """How a quantity is defined; None for fields and derivatives, which go first."""
    if name in fields or name.rpartition("_")[0] in fields:
        return None
    return (IN_SPACE if "z" in coords and "w" in fields else NAMED).get(name)
