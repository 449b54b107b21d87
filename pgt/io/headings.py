"""What a column heading says: a name, a unit, and where the sensor is.

"x [m]", "T (°C)", "p / kPa", "u, m/s" and "T_degC" have a unit, "T@x=0.1" and "TC1 (x=0.1 m)" a place.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pgt.data.units import is_known_unit

NUMBER = r"[+-]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
UNIT = r"[^\W\d_]+(?![^\W_]|\s*=)"
_PLACED = re.compile(
    rf"(?<![^\W_])(?P<axis>[xyzXYZ])\s*=\s*(?P<value>{NUMBER})\s*(?P<unit>{UNIT})?"
)
_BRACKETS = re.compile(r"[\[(<{]([^\[\](){}<>]*)[\])>}]")
_TRAILING = re.compile(r"(?P<name>.*?\S)\s*(?:,|/|\bin\b)\s*(?P<unit>[^,]+)")
# Behind an underscore only what is no index: T_s may be a surface, T_degC is not.
_SUFFIX = re.compile(
    r"(?P<name>.+)_(?P<unit>degC|degF|Celsius|celsius|kelvin|mm|cm|km|ms|sec|min|Pa|kPa|hPa|MPa|mbar|bar)"
)
_LETTER = {"C": "degC", "c": "degC"}  # coulombs are not what a sensor of a field reads
Places = dict[str, tuple[float, str | None]]


@dataclass(frozen=True)
class Heading:
    """A heading as it stands in the file, and what it says."""

    text: str
    name: str
    unit: str | None = None
    places: Places = field(default_factory=dict)  # by axis: position, and its unit


def parse_heading(text: str) -> Heading:
    """The parts of a heading; what is not understood belongs to the name.

    >>> parse_heading("T (°C)")
    Heading(text='T (°C)', name='T', unit='°C', places={})
    >>> parse_heading("TC1 (x=0.1 m)").places
    {'x': (0.1, 'm')}
    """
    text = " ".join(text.split())
    rest, places = text, places_in(text)
    if places:
        rest = re.sub(r"[(\[@][\s,;]*[)\]]|@\s*|[(\[]\s*$", " ", _PLACED.sub("", text))
        rest = re.sub(r"\(\W*\)|\[\W*\]", " ", rest).strip(" ,;@_")
    name, unit = _name_and_unit(rest)
    return Heading(text, name or text, unit, places)


def places_in(text: str) -> Places:
    """Positions in a text: "x=0.1 m, y=2"."""
    return {
        found["axis"].lower(): (float(found["value"].replace(",", ".")), _known(found["unit"]))
        for found in _PLACED.finditer(text)
    }


def _name_and_unit(text: str) -> tuple[str, str | None]:
    for found in _BRACKETS.finditer(text):
        unit = as_unit(found[1])
        if unit:
            return " ".join((text[: found.start()] + text[found.end() :]).split()), unit
    for pattern in (_TRAILING, _SUFFIX):
        found = pattern.fullmatch(text)
        if found and _known(found["unit"]):
            return found["name"], _known(found["unit"])
    return text, None


def as_unit(text: str) -> str | None:
    """The unit that a text in brackets or in a row of units is; None: it is none.

    >>> as_unit("C"), as_unit("minutes since 2024-03-12 10:00"), as_unit("inlet")
    ('degC', 'minutes since 2024-03-12 10:00', None)
    """
    text = _BRACKETS.sub(r"\1", text.strip()).strip()
    return _known(text)


def _known(text: str | None) -> str | None:
    if not text:
        return None
    text = _LETTER.get(text.strip(), text.strip())
    return text if is_known_unit(text) and text != "1" else None


def parse_headings(texts: Sequence[str], units: Sequence[str] | None = None) -> list[Heading]:
    """The headings of a table, with the units of the row below them where there is one."""
    headings = [parse_heading(text) for text in texts]
    if units is None:
        return headings
    below = [as_unit(unit) for unit in units] + [None] * len(headings)
    return [
        Heading(h.text, h.name, unit or h.unit, h.places)
        for h, unit in zip(headings, below, strict=False)
    ]
