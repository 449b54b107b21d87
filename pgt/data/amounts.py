"""Numbers with units of their own, "1.2e-5 m^2/s", in the units of a problem's coordinates and fields."""

import re
from collections.abc import Mapping

from pgt.data.units import DEGREES, is_known_unit, parse_unit, require_same
from pgt.ground.arguments import Powers, number_and_unit
from pgt.ground.errors import InputError

_DEGREES = re.compile(r"[°º˚]C|degC|celsius|Celsius")  # of a difference: kelvin
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

    `powers` are those of length and time that it has to have; None: any that the units can express.

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
        _check_powers(text, unit, bases, powers)
    for base, power in bases.items():
        scale /= _size(base, unit, units) ** power
    return float(f"{value * scale:.15g}")


def _plain(unit: str) -> str:
    return _DEGREES.sub("K", unit)


def _parsed(unit: str) -> Given:
    found = parse_unit(_plain(unit))
    assert found is not None  # `amount` takes no other
    return found


def _check_powers(text: str, unit: str, bases: Mapping[str, int], powers: Powers) -> None:
    wanted = {base: n for base, n in (("m", powers.length), ("s", powers.time)) if n}
    if dict(bases) != wanted:
        needed = " ".join(base if n == 1 else f"{base}{n}" for base, n in wanted.items()) or "1"
        raise InputError(
            f"{text!r} is in {unit!r}, but this has to be in {needed!r} or a multiple of it; write "
            "another unit, or the number alone."
        )


def _size(base: str, unit: str, units: Mapping[str, str]) -> float:
    """How many of a base symbol the problem's own unit of that kind is."""
    if base in ("m", "s"):
        return _of_axes(base, unit, units)
    for given in units.values():
        if base == "K" and (degrees := DEGREES.get(_degrees(given))):
            return degrees[0]
        found = parse_unit(given)
        if found is not None and found[1] == {base: 1}:
            return found[0]
    raise InputError(
        f"the unit {unit!r} holds {base!r}, but no field of the readings is in such a unit; give the "
        "number in the units of the problem."
    )


def _degrees(unit: str) -> str:
    return next((known for known in DEGREES if parse_unit(unit) == parse_unit(known)), "")


def _of_axes(base: str, unit: str, units: Mapping[str, str]) -> float:
    axes = [axis for axis in (("t",) if base == "s" else ("x", "y", "z")) if axis in units]
    require_same(axes[-1] if axes else "", {f"the axis {axis}": units[axis] for axis in axes})
    found = parse_unit(units[axes[0]]) if axes else None
    if found is None or found[1] != {base: 1}:
        axis = "t" if base == "s" else "x"
        raise InputError(
            f"to convert {unit!r} the unit of {axis} has to be known; write `units={{{axis!r}: "
            f"{base!r}}}` with the readings, or the number alone."
        )
    return found[0]
