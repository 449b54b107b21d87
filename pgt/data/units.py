"""Units as text: comparison, conversion factors, and numbers with units such as "1.2e-5 m^2/s".

A unit is a product of symbols with powers: "m/s", "m s-1", "m s**-1" and "m·s⁻¹" are one unit. Text
that is no such product, and an unknown symbol, is a unit of its own. So are degrees Celsius and
Fahrenheit, which are not multiples of a kelvin; `conversion` converts them.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping

from pgt.core.arguments import Powers, number_and_unit
from pgt.core.errors import InputError
from pgt.core.parser import AXES

SymbolPowers = dict[str, int]

PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2,
    "da": 1e1, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9,
    "p": 1e-12, "f": 1e-15, "a": 1e-18,
}  # fmt: skip
BASES = ("m", "g", "s", "A", "K", "mol", "cd", "rad")
# Derived units as (factor, powers of base symbols). The base of mass is the gram, since kg has a prefix.
DERIVED: dict[str, tuple[float, SymbolPowers]] = {
    "Hz": (1, {"s": -1}),
    "N": (1e3, {"g": 1, "m": 1, "s": -2}),
    "Pa": (1e3, {"g": 1, "m": -1, "s": -2}),
    "bar": (1e8, {"g": 1, "m": -1, "s": -2}),
    "J": (1e3, {"g": 1, "m": 2, "s": -2}),
    "W": (1e3, {"g": 1, "m": 2, "s": -3}),
    "V": (1e3, {"g": 1, "m": 2, "s": -3, "A": -1}),
    "L": (1e-3, {"m": 3}),
    "l": (1e-3, {"m": 3}),
}
# The heights of a water column, as pressure.
_WATER = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254}
# Symbols that take no prefix, and words.
WHOLE: dict[str, tuple[float, SymbolPowers]] = {
    "min": (60, {"s": 1}),
    "h": (3600, {"s": 1}),
    "d": (86400, {"s": 1}),
    "t": (1e6, {"g": 1}),
    "%": (1e-2, {}),
    "inch": (0.0254, {"m": 1}),
    "ft": (0.3048, {"m": 1}),
    "psi": (6894757.293168361, {"g": 1, "m": -1, "s": -2}),
    "atm": (101325e3, {"g": 1, "m": -1, "s": -2}),
    "mmHg": (133322.387415, {"g": 1, "m": -1, "s": -2}),
    "Torr": (101325e3 / 760, {"g": 1, "m": -1, "s": -2}),
    "cP": (1, {"g": 1, "m": -1, "s": -1}),
    "cSt": (1e-6, {"m": 2, "s": -1}),
    "yd": (0.9144, {"m": 1}),
    "mph": (0.44704, {"m": 1, "s": -1}),
    "knots": (1852 / 3600, {"m": 1, "s": -1}),
    "fpm": (0.3048 / 60, {"m": 1, "s": -1}),
    "cfs": (0.3048**3, {"m": 3, "s": -1}),
    "inHg": (25.4 * 133322.387415, {"g": 1, "m": -1, "s": -2}),
    **{f"{u}Aq": (9806650 * size, {"g": 1, "m": -1, "s": -2}) for u, size in _WATER.items()},
    "1": (1, {}),
}
WORDS = {
    "meter": "m", "meters": "m", "metre": "m", "metres": "m", "sec": "s", "second": "s",
    "seconds": "s", "minute": "min", "minutes": "min", "hr": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d", "gram": "g", "grams": "g", "kelvin": "K", "pascal": "Pa",
    "volt": "V", "volts": "V", "Volts": "V", "feet": "ft", "inches": "inch", "decibar": "dbar",
    "micron": "um", "microns": "um", "usec": "us", "msec": "ms", "secs": "s", "mins": "min", "hrs": "h",
    "Kelvin": "K", "dimensionless": "1", "radian": "rad", "radians": "rad", "Sec": "s", "SEC": "s",
    "Seconds": "s", "Minutes": "min", "Hours": "h", "Days": "d", "PSI": "psi", "Psi": "psi",
    "psia": "psi", "kt": "knots", "kts": "knots", "kn": "knots", "DBAR": "dbar",
    "Sekunden": "s", "Minuten": "min", "Stunden": "h", "Tage": "d",
}  # fmt: skip
# kelvin = scale × degrees + offset
DEGREES = {"K": (1.0, 0.0), "degC": (1.0, 273.15), "degF": (5 / 9, 459.67 * 5 / 9)}
_CELSIUS = re.compile(
    r"(?:[°º˚]\s*|[Dd]eg(?:ree)?s?[ _.]{0,2}|DEG ?|Grad )C\b|℃"
    r"|(?:[Dd]eg(?:ree)?s?[ _])?[Cc]elsius"
)
_FAHRENHEIT = re.compile(
    r"(?:[°º˚]\s*|[Dd]eg(?:ree)?s?[ _.]{0,2})F\b|℉|(?:[Dd]eg(?:ree)?s?[ _])?[Ff]ahrenheit"
)
_RAISED = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")
_FACTOR = re.compile(r"(?P<symbol>%|[^\W\d_]+|1(?!\d))(?:\^?(?P<power>[+-]?\d{1,2}))?")
HIGHEST = 12  # the highest power of a symbol
_JOINED = re.compile(r"\s*(?P<sign>[*·⋅./]|)\s*")
_BELOW = re.compile(r"/\s*\(([^()/]*)\)")  # W/(m K)


def same_unit(first: str, second: str) -> bool:
    """Whether two texts mean one unit.

    >>> same_unit("m/s", "m s**-1"), same_unit("mbar", "hPa"), same_unit("mm", "m")
    (True, True, False)
    """
    found = factor(first, second)
    return first.strip() == second.strip() or (found is not None and math.isclose(found, 1.0))


def factor(first: str, second: str) -> float | None:
    """The factor that converts numbers in the first unit to the second; None where it is unknown.

    >>> factor("mm", "m"), factor("km/h", "m/s"), factor("K", "m")
    (0.001, 0.2777777777777778, None)
    """
    one, other = parse_unit(first), parse_unit(second)
    if one is None or other is None or one[1] != other[1]:
        return None
    return float(f"{one[0] / other[0]:.16g}")


def conversion(first: str, second: str) -> tuple[float, float] | None:
    """The scale and offset that convert numbers in the first unit to the second; None where unknown.

    >>> conversion("mm", "m"), conversion("°C", "K"), conversion("K", "m")
    ((0.001, 0.0), (1.0, 273.15), None)
    """
    one, other = DEGREES.get(_plain(first)), DEGREES.get(_plain(second))
    if one and other:
        return one[0] / other[0], (one[1] - other[1]) / other[0]
    if first.strip() == second.strip():
        return 1.0, 0.0
    scale = factor(first, second)
    return None if scale is None else (scale, 0.0)


def is_known_unit(text: str) -> bool:
    """Whether every symbol of a unit is known.

    >>> is_known_unit("m/s"), is_known_unit("°C"), is_known_unit("inlet")
    (True, True, False)
    """
    found = parse_unit(text)
    return found is not None and set(found[1]) <= {*BASES, *DEGREES}


def parse_unit(text: str) -> tuple[float, SymbolPowers] | None:
    """A unit as a factor and powers of base symbols; None where the text is no product of symbols.

    >>> parse_unit("kPa")
    (1000000.0, {'g': 1, 'm': -1, 's': -2})
    """
    text, at, sign = _plain(text), 0, 1
    scale, powers = 1.0, Counter()
    while at < len(text):
        found = _FACTOR.match(text, at)
        symbol = found and _symbol(found["symbol"])
        if not found or symbol is None:
            return None
        power = sign * int(found["power"] or 1)
        if abs(power) > HIGHEST:
            return None
        scale *= symbol[0] ** power
        for base, times in symbol[1].items():
            powers[base] += times * power
        joint = _JOINED.match(text, found.end())
        at = joint.end() if joint else found.end()
        if joint and joint["sign"] and at == len(text):
            return None  # a sign with nothing behind it
        sign = -1 if joint and joint["sign"] == "/" else 1
    is_unit = bool(text) and 1e-150 < scale < 1e150  # larger factors overflow in computations
    return (scale, {base: n for base, n in powers.items() if n}) if is_unit else None


def _plain(text: str) -> str:
    """The text with one notation of powers and quotients, and without the origin of a time axis."""
    text = text.translate(_RAISED).replace("**", "^").partition(" since ")[0].strip()
    text = _FAHRENHEIT.sub("degF", _CELSIUS.sub("degC", text)).replace("°K", "K")
    text = text.replace("H2O", "Aq").replace("%RH", "%")
    return _BELOW.sub(lambda found: "/" + "/".join(re.split(r"[\s*·⋅.]+", found[1].strip())), text)


def _symbol(name: str) -> tuple[float, SymbolPowers] | None:
    """The factor and base symbols of one symbol; an unknown symbol is a base of its own."""
    name = WORDS.get(name, name)
    known = WHOLE | DERIVED | {base: (1.0, {base: 1}) for base in BASES}
    if name in known:
        return known[name]
    for prefix, size in PREFIXES.items():
        rest = name.removeprefix(prefix)
        if rest != name and rest in known and rest not in WHOLE:
            return size * known[rest][0], known[rest][1]
    return 1.0, {name: 1}


def require_same(name: str, places: dict[str, str | None]) -> None:
    """Raise where one name has different units in different places.

    `places` maps each place to the unit that it gives, or None.
    """
    given = [(place, unit) for place, unit in places.items() if unit is not None]
    for place, unit in given[1:]:
        first, its_unit = given[0]
        if same_unit(its_unit, unit):
            continue
        times = factor(its_unit, unit)
        how = (
            f"To have {unit!r}, multiply the numbers by {times:.6g}; then give"
            if times
            else "One is no multiple of the other; give"
        )
        raise InputError(
            f"{name!r} is in {its_unit!r} by {first}, but in {unit!r} by {place}. {how} "
            "one unit in both places, or leave one of them out."
        )


# ------------------------------------------------------------------------------- amounts

# Numbers with units as text, such as "1.2e-5 m^2/s", in the units of a run.

_DEGREES = re.compile(r"[°º˚]C|degC|celsius|Celsius")  # of a difference: kelvin
DENSITY = {"g": 1, "m": -3}
Given = tuple[float, dict[str, int]]  # a factor, and powers of base symbols


def amount(text: str) -> tuple[float, str] | None:
    """The number and the unit of a text such as "1.2e-5 m^2/s"; None where it is something else.

    >>> amount("1.2e-5 m^2/s"), amount("sin(x)"), amount("2")
    ((1.2e-05, 'm^2/s'), None, None)
    """
    found = number_and_unit(text)
    return found if found and is_known_unit(_with_kelvin(found[1])) else None


def in_units(text: str, units: Mapping[str, str], powers: Powers | None = None) -> float:
    """The number of an amount, converted to the units of a problem, which are those of its names.

    `powers` are the required powers of length and time; with None any unit is accepted that `units` can
    express. An axis of unknown unit has the unit "".

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


def _with_kelvin(unit: str) -> str:
    return _DEGREES.sub("K", unit)


def _parsed(unit: str) -> Given:
    found = parse_unit(_with_kelvin(unit))
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
    """The required powers of base symbols, times a density where the pressure field includes a mass."""
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
    """The size of the problem's unit of a base symbol, in that symbol: 1e-3 for m where x is in mm."""
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
    """The size of the problem's unit of each base symbol, by symbol.

    Axes determine their own units, and each field may determine one more base unit: where x is in mm,
    there is no t, and u is in m/s, times are in ms.
    """
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
