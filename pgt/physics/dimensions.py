"""Whether units fit an equation: what it adds up must be alike.

Which powers of length and time a coefficient or a field has, the class of the equation says.
"""

import inspect
from collections.abc import Mapping, Sequence

from pgt.core.arguments import Powers, powers_of
from pgt.data.units import WORDS, parse_unit, require_same
from pgt.physics.names import own_names
from pgt.physics.pde import AbstractPDE
from pgt.physics.signature import About


def check_dimensions(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise where axes or fields have units that the equation cannot add up; "1" fits everything."""
    if pde.about is None or _has_factors(pde):
        return  # a text may hold factors between units
    given = {key: unit for key, unit in units.items() if unit.strip() != "1"}
    for name, (needed, whose) in fitting_units(pde.about, pde.coords, given, _named(pde)).items():
        require_same(name, {"the readings": given.get(name), whose: needed})


def fitting_units(
    about: About, coords: Sequence[str], units: Mapping[str, str], named: Mapping[str, str]
) -> dict[str, tuple[str | None, str]]:
    """By name the unit that an axis or a field has to have beside the others, and by whom.

    `named` are the names of fields by those in what the equation says of itself.

    >>> import pgt
    >>> given = {"x": "mm", "y": "cm", "u": "m/s"}
    >>> found = fitting_units(pgt.Stokes.about, ("x", "y"), given, {"u": "u", "v": "v"})
    >>> {name: unit for name, (unit, _) in found.items()}
    {'y': 'mm', 'u': 'm/s', 'v': 'm/s'}
    """
    length, *others = [axis for axis in coords if axis != "t"] or [""]
    found = {axis: (units.get(length), f"the axis {length}") for axis in others}
    speed = None if "t" in coords else _speed(about, units, named)
    clock = f"t in {units.get('t')!r}" if speed is None else f"{speed} in {units[speed]!r}"
    whose = f"the equation ({length} in {units.get(length)!r}, {clock})"
    for own, powers in about.units.items():
        needed = _unit(units, length, powers, speed)
        found[named.get(own, own)] = (needed, whose)
    return found


def coefficient_units(pde: AbstractPDE, units: Mapping[str, str]) -> dict[str, str]:
    """The unit in which each coefficient of the equation is to be given, where it is known.

    >>> import pgt
    >>> coefficient_units(pgt.Heat(0.01), {"x": "mm", "t": "s"})
    {'diffusivity': 'mm2 s-1'}
    >>> coefficient_units(pgt.Stokes(0.01), {"x": "mm", "u": "m/s"})
    {'viscosity': 'mm m/s'}
    """
    return units_of_arguments(type(pde), pde.coords, units, _named(pde))


def units_of_arguments(
    kind: type[AbstractPDE], coords: Sequence[str], units: Mapping[str, str], named=None
) -> dict[str, str]:
    """The same for a kind of equation, as long as there is none."""
    length = next((axis for axis in coords if axis != "t"), "")
    steady = kind.about if "t" not in coords else None
    speed = None if steady is None else _speed(steady, units, named or {})
    needed = {
        name: _unit(units, length, powers, speed)
        for name, powers in powers_of(kind).items()
        if not _is_heavy(units.get(powers.pressure or ""))
    }
    return {name: unit for name, unit in needed.items() if unit}


def _named(pde: AbstractPDE) -> dict[str, str]:
    return dict(zip(own_names(pde), pde.fields, strict=True))


def _is_heavy(unit: str | None) -> bool:
    """Whether there is a mass in a unit."""
    found = parse_unit(unit) if unit else None
    return found is not None and "g" in found[1]


def _speed(about: About, units: Mapping[str, str], named: Mapping[str, str]) -> str | None:
    """The first field that is a velocity, and whose unit is known: it tells how times are counted."""
    speeds = [named.get(own, own) for own, n in about.units.items() if n == Powers(1, -1)]
    return next((name for name in speeds if parse_unit(units.get(name, ""))), None)


def _has_factors(pde: AbstractPDE) -> bool:
    """Whether a pure number is not what it is by default: it may stand between two units."""
    arguments = inspect.signature(type(pde)).parameters
    pure = [name for name, powers in powers_of(type(pde)).items() if powers == Powers()]
    return any(getattr(pde, name) != arguments[name].default for name in pure)


def _unit(
    units: Mapping[str, str], length: str, powers: Powers, speed: str | None = None
) -> str | None:
    """A unit such as "m2 s-1"; None where those of length and time are not both plain symbols. Of a
    steady flow, whose velocity is `speed`, "m m/s"."""
    if speed is not None:  # a time is a length over it
        lengths = _power(units, length, powers.length + powers.time)
        if lengths is None or powers.time > 0:
            return None
        return " ".join([lengths, *([units[speed]] * -powers.time)]).strip()
    parts = [_power(units, length, powers.length), _power(units, "t", powers.time)]
    return None if None in parts else " ".join(part for part in parts if part)


def _power(units: Mapping[str, str], axis: str, power: int) -> str | None:
    symbol = units.get(axis, "").partition(" since ")[0].strip()
    symbol = WORDS.get(symbol, symbol)  # seconds, as dates count them, are s
    if power and (not symbol.isalpha() or parse_unit(symbol) is None):
        return None
    return {0: "", 1: symbol}.get(power, f"{symbol}{power}")
