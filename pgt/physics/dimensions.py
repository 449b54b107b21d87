"""Whether units fit an equation: what it adds up must be alike.

Which powers of length and time a coefficient or a field has, the class of the equation says.
"""

import inspect
from collections.abc import Mapping

from pgt.data.units import parse_unit, require_same
from pgt.ground.arguments import Powers, powers_of
from pgt.physics.names import own_names
from pgt.physics.pde import AbstractPDE


def check_dimensions(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise where axes or fields have units that the equation cannot add up; "1" fits everything."""
    about = pde.about
    if about is None or _has_factors(pde):
        return  # a text may hold factors between units
    length, *others = [axis for axis in pde.coords if axis != "t"] or [""]
    given = {key: unit for key, unit in units.items() if unit.strip() != "1"}
    for axis in others:
        known = {"the readings": given.get(axis), f"the axis {length}": given.get(length)}
        require_same(axis, known)
    named = dict(zip(own_names(pde), pde.fields, strict=True))
    for own, powers in about.units.items():
        field = named.get(own, own)
        needed = _unit(given, length, powers)
        what = f"the equation ({length} in {given.get(length)!r}, t in {given.get('t')!r})"
        require_same(field, {"the readings": given.get(field), what: needed})


def coefficient_units(pde: AbstractPDE, units: Mapping[str, str]) -> dict[str, str]:
    """The unit in which each coefficient of the equation is to be given, where it is known.

    >>> import pgt
    >>> coefficient_units(pgt.Heat(0.01), {"x": "mm", "t": "s"})
    {'diffusivity': 'mm2 s-1'}
    """
    length = next((axis for axis in pde.coords if axis != "t"), "")
    needed = {name: _unit(units, length, powers) for name, powers in powers_of(type(pde)).items()}
    return {name: unit for name, unit in needed.items() if unit}


def _has_factors(pde: AbstractPDE) -> bool:
    """Whether a pure number is not what it is by default: it may stand between two units."""
    arguments = inspect.signature(type(pde)).parameters
    pure = [name for name, powers in powers_of(type(pde)).items() if powers == Powers()]
    return any(getattr(pde, name) != arguments[name].default for name in pure)


def _unit(units: Mapping[str, str], length: str, powers: Powers) -> str | None:
    """A unit such as "m2 s-1"; None where those of length and time are not both plain symbols."""
    parts = []
    for axis, power in ((length, powers.length), ("t", powers.time)):
        if not power:
            continue
        symbol = units.get(axis, "").partition(" since ")[0].strip()
        if not symbol.isalpha() or parse_unit(symbol) is None:
            return None
        parts.append(symbol if power == 1 else f"{symbol}{power}")
    return " ".join(parts)
