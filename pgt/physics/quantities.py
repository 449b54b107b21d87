"""Derived quantities by name: any field, any derivative, and a few that have names of their own."""

from collections.abc import Mapping

from jaxtyping import Array, Float

from pgt.physics.derivatives import DerivativeTable, parse_name
from pgt.physics.pde import Quantity

Named = Mapping[str, Quantity]


def _length(*parts):
    return sum(part**2 for part in parts) ** 0.5


def _curl(w_y, v_z, u_z, w_x, v_x, u_y):
    return _length(w_y - v_z, u_z - w_x, v_x - u_y)


# Of a flow (u, v) in the plane, and of one (u, v, w) in space, whose vorticity is a vector: its length.
NAMED: Named = {
    "vorticity": Quantity(("v_x", "u_y"), lambda v_x, u_y: v_x - u_y),
    "divergence": Quantity(("u_x", "v_y"), lambda u_x, v_y: u_x + v_y),
    "speed": Quantity(("u", "v"), _length),
}
IN_SPACE: Named = {
    "vorticity": Quantity(("w_y", "v_z", "u_z", "w_x", "v_x", "u_y"), _curl),
    "vorticity_x": Quantity(("w_y", "v_z"), lambda w_y, v_z: w_y - v_z),
    "vorticity_y": Quantity(("u_z", "w_x"), lambda u_z, w_x: u_z - w_x),
    "vorticity_z": NAMED["vorticity"],
    "divergence": Quantity(("u_x", "v_y", "w_z"), lambda *parts: sum(parts)),
    "speed": Quantity(("u", "v", "w"), _length),
}


def parts_of(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...], own: Named | None = None
) -> tuple[str, ...]:
    """The fields and derivatives a quantity is made of; an error for a name that means nothing.

    `own` are quantities that an equation has names for.

    >>> parts_of("vorticity", ("x", "y", "t"), ("u", "v", "p"))
    ('v_x', 'u_y')
    >>> parts_of("speed", ("x", "y", "z"), ("u", "v", "w"))
    ('u', 'v', 'w')
    """
    defined = _named(name, coords, fields, own)
    parts = defined.parts if defined else (name,)
    for part in parts:
        parse_name(part, coords, fields)
    return parts


def quantity(
    name: str,
    table: DerivativeTable,
    coords: tuple[str, ...],
    fields: tuple[str, ...],
    own: Named | None = None,
) -> Float[Array, ""]:
    """The value of a quantity at one point."""
    if defined := _named(name, coords, fields, own):
        return defined.formula(*(table(part) for part in defined.parts))
    return table(name)


def units_of(
    name: str, units: dict[str, str], coords: tuple[str, ...], fields: tuple[str, ...]
) -> str | None:
    """The unit of a field or derivative, where the units of its parts are known.

    >>> units_of("u_xx", {"u": "K", "x": "m"}, ("x", "t"), ("u",))
    'K m-2'
    """
    if defined := _named(name, coords, fields):
        return units_of(defined.parts[0], units, coords, fields)
    field, _, letters = (name, "", "") if name in fields else name.rpartition("_")
    if field not in units or any(letter not in units for letter in letters):
        return None
    powers = {axis: letters.count(axis) for axis in dict.fromkeys(letters)}
    # A derivative in time does not know since when time is counted.
    per = {axis: units[axis].partition(" since ")[0] for axis in powers}
    parts = [units[field], *(f"{per[axis]}-{n}" for axis, n in powers.items())]
    # "1" is the unit of a pure number: it needs no power and no factor.
    return " ".join(p for p in parts if p != "1" and not p.startswith("1-")) or "1"


def _named(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...], own: Named | None = None
) -> Quantity | None:
    """How a quantity is defined; None for fields and derivatives, which go first."""
    if name in fields or name.rpartition("_")[0] in fields:
        return None
    if own and name in own:
        return own[name]
    return (IN_SPACE if "z" in coords and "w" in fields else NAMED).get(name)
