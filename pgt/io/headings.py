"""The parts of a column heading: a name, a unit, and the position of the sensor.

"x [m]", "T (°C)", "p / kPa", "u, m/s" and "T_degC" have a unit, "T@x=0.1" and "TC1 (x=0.1 m)" a position.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pgt.core.errors import InputError
from pgt.data.units import WORDS, conversion, is_known_unit
from pgt.io.column_aliases import AXES, AXIS_ALIASES, SPACE_AXES, is_axis_alias, normalize_name
from pgt.io.number_format import normalize_number

_NUMBER = r"[+-]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
_AXIS_POSITION = re.compile(
    rf"(?<![^\W_])(?P<axis>[xyzXYZt])\s*=\s*(?P<value>{_NUMBER})\s*(?P<unit>[^\W\d_]+(?![^\W_]|\s*=))?"
)
# The inside of brackets may hold brackets: [W/(m K)], (kPa(g)).
_BRACKETED = r"(?:[^\[\](){}<>]|\([^\[\](){}<>]*\))*"
_BRACKETS = re.compile(rf"[\[(<{{]({_BRACKETED})[\])>}}]")
_TRAILING = re.compile(r"(?P<name>.*?\S)\s*(?:,|/|\bin\b)\s*(?P<unit>[^,]+)")
# Units behind an underscore that cannot be an index; T_s may be the temperature of a surface.
_SUFFIX = re.compile(
    r"(?P<name>.+)_(?P<unit>degC|degF|Celsius|celsius|kelvin|mm|cm|km|Pa|kPa|hPa|MPa|mbar|bar|psi)"
)
_AXIS_WITH_UNIT = re.compile(
    r"(?P<name>(?:t|[Tt]ime|[Ee]lapsed|[Zz]eit)\w*?)_(?P<unit>ms|s|sec|min|h|hours|d|days)"
    r"|(?P<long>[xyzXYZ]|[Dd]epth|[Hh]eight|[Dd]istance|[Pp]osition)_(?P<of>m|ft|inch)"
)
_TEMPERATURE_WITH_UNIT = re.compile(r"(?P<name>.*[Tt]emp[^_]*)_(?P<unit>[CFK])")
_TEMPERATURE_UNITS = {"C": "degC", "F": "degF", "K": "K"}
_FAHRENHEIT = re.compile(r"(T|[Tt]emp\S*)\s*[(\[]F[)\]]")  # elsewhere F may mean farads
_UNIT_LETTERS = {"C": "degC", "c": "degC"}  # degrees Celsius, not coulombs
# Headings that are the unit of their column.
_UNIT_HEADINGS = {
    "milliseconds": "ms", "seconds": "s", "minutes": "min", "hours": "h", "days": "d", "day": "d",
    "doy": "d", "day of year": "d",
}  # fmt: skip
Positions = dict[str, tuple[float, str | None]]  # by axis: the position, and its unit


@dataclass(frozen=True)
class Heading:
    """A heading as it stands in the file, and its parts."""

    text: str
    name: str
    unit: str | None = None
    positions: Positions = field(default_factory=dict)


def parse_heading(text: str) -> Heading:
    """The parts of a heading; what is not understood belongs to the name.

    >>> parse_heading("T (°C)")
    Heading(text='T (°C)', name='T', unit='°C', positions={})
    >>> parse_heading("TC1 (x=0.1 m)").positions
    {'x': (0.1, 'm')}
    """
    text = rest = " ".join(text.split())
    if places := parse_positions(rest):
        rest = re.sub(r"[(\[@][\s,;]*[)\]]|@\s*|[(\[]\s*$", " ", _AXIS_POSITION.sub("", rest))
        rest = re.sub(r"\(\W*\)|\[\W*\]", " ", rest).strip(" ,;@_")
    name, unit = _split_unit(rest)
    if unit is None and (found := _FAHRENHEIT.fullmatch(name)):
        name, unit = found[1], "degF"
    return Heading(text, name or text, unit or _UNIT_HEADINGS.get(text.lower()), places)


def parse_positions(text: str) -> Positions:
    """The positions in a text: "x=0.1 m, y=2"."""
    return {
        found["axis"].lower(): (float(found["value"].replace(",", ".")), _known_unit(found["unit"]))
        for found in _AXIS_POSITION.finditer(text)
    }


def _split_unit(text: str) -> tuple[str, str | None]:
    """The name and the unit in a heading without positions."""
    known = next((b for b in _BRACKETS.finditer(text) if parse_unit(b[1])), None)
    if known:
        rest = " ".join(text.replace(known[0], " ", 1).split()).removesuffix("/").rstrip()
        return rest, parse_unit(known[0])
    if found := _AXIS_WITH_UNIT.fullmatch(text):
        return found["name"] or found["long"], found["unit"] or found["of"]
    if found := _TEMPERATURE_WITH_UNIT.fullmatch(text):
        return found["name"], _TEMPERATURE_UNITS[found["unit"]]
    for pattern in (_TRAILING, _SUFFIX):
        found = pattern.fullmatch(text)
        if found and (unit := _known_unit(found["unit"])) and "_" not in found["unit"]:
            first, line, last = found["name"].rpartition("_")
            whole = f"{last}/{found['unit']}"  # in u_m/s the unit is m/s, not s
            return (first, whole) if line and _known_unit(whole) else (found["name"], unit)
    # "Temp, °C (logger 5)"
    found = (
        _TRAILING.fullmatch(_BRACKETS.sub(" ", text).strip()) if _BRACKETS.search(text) else None
    )
    return text, _known_unit(found["unit"]) if found else None


def parse_unit(text: str) -> str | None:
    """The unit that a text in brackets, or in a row of units, stands for; None if it is none.

    >>> parse_unit("C"), parse_unit("minutes since 2024-03-12 10:00"), parse_unit("inlet")
    ('degC', 'minutes since 2024-03-12 10:00', None)
    """
    found = _BRACKETS.fullmatch(text.strip())
    return _known_unit(found[1] if found else text)


def _known_unit(text: str | None) -> str | None:
    if not text:
        return None
    text = text.strip().removesuffix(".")
    text = _UNIT_LETTERS.get(text, text if text.isascii() else WORDS.get(text, text))
    return text if is_known_unit(text) and text != "1" else None


def parse_headings(texts: Sequence[str], units: Sequence[str] | None = None) -> list[Heading]:
    """The headings of a table, with the units of the row below them where there is one."""
    headings = [parse_heading(text) for text in texts]
    if units is None:
        return headings
    below = [parse_unit(unit) for unit in units] + [None] * len(headings)
    pairs = [*zip(headings, below, strict=False)]
    for heading, unit in pairs:
        # T_min is no temperature in minutes: a row of units of another kind shows it.
        if heading.unit and unit and conversion(heading.unit, unit) not in (None, (1.0, 0.0)):
            raise InputError(
                f"the heading {heading.text!r} has the unit {heading.unit!r}, and the row of units below "
                f"it {unit!r}; correct one of them."
            )
    return [replace(heading, unit=unit or heading.unit) for heading, unit in pairs]


def find_length_axis(heading: Heading) -> str | None:
    """The axis along which a column of lengths is a depth, a position, ...; None for other columns.

    >>> find_length_axis(Heading("Soil depth [cm]", "Soil depth", "cm"))
    'z'
    """
    words = normalize_name(heading.name).split()
    is_length = heading.unit is not None and conversion(heading.unit, "m") is not None
    axes = [a for a in SPACE_AXES if any(w in AXIS_ALIASES[a] and len(w) > 1 for w in words)]
    return axes[0] if is_length and len(axes) == 1 else None


def place_by_grid(headings: Sequence[Heading], axes: Sequence[str]) -> list[Heading]:
    """The headings as positions along the only one of `axes` that is not the axis of the first column.

    >>> headings = [parse_heading(name) for name in ("t", "0.1", "0.5")]
    >>> [heading.positions for heading in place_by_grid(headings, ("x", "t"))[1:]]
    [{'x': (0.1, None)}, {'x': (0.5, None)}]
    """
    first, others = headings[0], headings[1:]
    rows = next((a for a in AXES if is_axis_alias(first.name, a)), find_length_axis(first))
    left = [axis for axis in axes if axis != rows]
    try:
        values = [float(normalize_number(h.text).replace(",", ".")) for h in others]
    except ValueError:
        return list(headings)
    # Successive whole numbers are rather channels than positions: 1, 2, 3, or 101, 102.
    is_distinct = len({*values}) == len(values) > 1 and bool(np.isfinite(values).all())
    is_counted = is_distinct and values[0].is_integer() and bool((np.diff(values) == 1).all())
    if rows is None or len(left) != 1 or not is_distinct or is_counted:
        return list(headings)
    placed = [
        replace(heading, positions={left[0]: (value, None)})
        for heading, value in zip(others, values, strict=True)
    ]
    return [first, *placed]
