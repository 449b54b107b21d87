"""Numbers with units of their own, "1.2e-5 m^2/s", in the units of a problem's coordinates and fields."""

import math
import re
from collections import Counter
from collections.abc import Mapping

from pgt.core.arguments import Powers, number_and_unit
from pgt.core.errors import InputError
from pgt.core.notation import AXES
from pgt.data.units import DEGREES, is_known_unit, parse_unit, require_same

_DEGREES = re.compile(r"[°º˚]C|degC|celsius|Celsius")  # of a difference: kelvin
DENSITY = {"g": 1, "m": -3}
Given = tuple[float, dict[str, int]]  # a factor, and powers of base symbols


def amount(text: str) -> tuple[float, str] | None:
    """The number and the unit that a text begins and ends with; None where it is none of the kind.

    >>> amount("1.2e-5 m^2/s"), amount("sin(x)"), amount("2")
    ((1.2e-05, 'm^2/s'), None, None)
    """
    found = number_and_unit(text)
    return found if found and is_known_unit(_plain(found[1])) else None


def in_units(text: str, units: Mapping[str, str], powers: Powers | None = None) -> float:
    """The number of an amount where coordinates and fields have these units, by name.

    `powers` are those of length and time that it has to have; None: any that the units can express. An
    axis whose unit nobody knows has the unit "".

    >>> in_units("0.12 cm^2/s", {"x": "mm", "t": "min"}, Powers(length=2, time=-1))
    720.0
    """
    found = amount(text)
    if found is None:
        raise InputError(f"{text!r} is no number with a unit; write for example '1.2e-5 m^2/s'.")
    value, unit = found
    scale, bases = _parsed(unit)
    bases = {base: power for base, power in bases.items() if base != "rad"}
    if powers is not None:
        _check_powers(text, unit, bases, units, powers)
    for base, power in bases.items():
        scale /= _size(base, unit, units) ** power
    return float(f"{value * scale:.15g}")


def _plain(unit: str) -> str:
    return _DEGREES.sub("K", unit)


def _parsed(unit: str) -> Given:
    found = parse_unit(_plain(unit))
    assert found is not None  # `amount` takes no other
    return found


def _check_powers(text: str, unit: str, bases: Mapping[str, int], units, powers: Powers) -> None:
    wanted = _wanted(units, powers)
    if dict(bases) == wanted:
        return
    needed = " ".join(base if n == 1 else f"{base}{n}" for base, n in wanted.items()) or "1"
    raise InputError(
        f"{text!r} is in {unit!r}, but this has to be in {needed!r} or a multiple of it; write "
        f"another unit, or the number alone.{_about_density(bases, wanted, powers)}"
    )


def _wanted(units: Mapping[str, str], powers: Powers) -> dict[str, int]:
    """The powers of base symbols; with a mass where that is how the pressure beside it is read."""
    found = Counter({"m": powers.length, "s": powers.time})
    if powers.pressure is not None and "g" in _powers_of(units.get(powers.pressure, "1")):
        found.update(DENSITY)
    return {base: n for base, n in found.items() if n}


def _about_density(bases: Mapping[str, int], wanted: Mapping[str, int], powers: Powers) -> str:
    apart = {base: bases.get(base, 0) - wanted.get(base, 0) for base in {*bases, *wanted}}
    apart = {base: n for base, n in apart.items() if n}
    if apart == DENSITY:
        return " Divided by the density it is: then a pressure is one over the density, too."
    if apart == {base: -n for base, n in DENSITY.items()}:
        return f" Times the density it is, as {powers.pressure!r} is read; or divide that by it."
    return ""


def _size(base: str, unit: str, units: Mapping[str, str]) -> float:
    """How many of a base symbol the problem's own unit of that kind is."""
    if base == "m":
        space = [axis for axis in AXES[:-1] if units.get(axis)]
        require_same(space[-1] if space else "", {f"the axis {a}": units[a] for a in space})
    known = _sizes(units)
    if base in known:
        return known[base]
    if base in ("m", "s"):
        axis = "t" if base == "s" else "x"
        raise InputError(
            f"to convert {unit!r} the unit of {axis} has to be known; write `units={{{axis!r}: "
            f"{base!r}}}` with the readings, or the number alone."
        )
    raise InputError(
        f"the unit {unit!r} holds {base!r}, but no field of the readings is in such a unit; give the "
        "number in the units of the problem."
    )


def _sizes(units: Mapping[str, str]) -> dict[str, float]:
    """By base symbol how many of it the unit of a problem is. Axes tell theirs; what else there is, each
    field may tell one of: where x is in mm, nothing hangs on t and u is in m/s, times are in ms."""
    degrees = [size[0] for unit in units.values() if (size := DEGREES.get(_degrees(unit)))]
    known = {"rad": 1.0} | ({"K": degrees[0]} if degrees else {})
    by_axes = {"m"} | ({"s"} if "t" in units else set())
    for name in sorted(units, key=lambda name: name not in AXES) * 2:  # one may need a later one's
        scale, powers = parse_unit(units[name]) or (1.0, {})
        new = [base for base in powers if base not in known]
        if len(new) == 1 and (name in AXES or new[0] not in by_axes):
            rest = math.prod(known[base] ** n for base, n in powers.items() if base != new[0])
            known[new[0]] = (scale / rest) ** (1 / powers[new[0]])
    return known


def _degrees(unit: str) -> str:
    return next((known for known in DEGREES if parse_unit(unit) == parse_unit(known)), "")


def _powers_of(unit: str) -> Mapping[str, int]:
    found = parse_unit(unit)
    return found[1] if found else {}
