"""What a column heading says: a name, a unit, and where the sensor is.

"x [m]", "T (°C)", "p / kPa", "u, m/s" and "T_degC" have a unit, "T@x=0.1" and "TC1 (x=0.1 m)" a place.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pgt.data.units import WORDS, conversion, is_known_unit
from pgt.ground.errors import InputError

NUMBER = r"[+-]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
UNIT = r"[^\W\d_]+(?![^\W_]|\s*=)"
_PLACED = re.compile(
    rf"(?<![^\W_])(?P<axis>[xyzXYZt])\s*=\s*(?P<value>{NUMBER})\s*(?P<unit>{UNIT})?"
)
_POINT = re.compile(r"[(\[]\s*([+-]?[\d.][^()\[\]]*)[)\]]")
_COORDINATE = re.compile(rf"(?P<value>{NUMBER})\s*(?P<unit>[^\W\d_]+)?")
_LENGTH = re.compile(
    rf"(?<![^\W_])(?P<value>{NUMBER})\s?(?P<unit>[mcdkµμu]?m|inch|in|ft)(?![^\W_])|@\s*(?P<at>{NUMBER})$"
    rf"|\((?P<inside>{NUMBER})\)$|(?<=[^\W\d])_(?P<behind>\d+\.\d+)$"
    rf"|(?<=[^\W\d_])(?P<number>\d+(?:[.,]\d+)?)(?P<small>mm|cm|inch|ft)(?![^\W_])"
)
_NUMBERS = ("value", "at", "inside", "behind", "number")
# What stands in brackets, with those inside it: [W/(m K)], (kPa(g)).
_INSIDE = r"(?:[^\[\](){}<>]|\([^\[\](){}<>]*\))*"
_BRACKETS = re.compile(rf"[\[(<{{]({_INSIDE})[\])>}}]")
_TRAILING = re.compile(r"(?P<name>.*?\S)\s*(?:,|/|\bin\b)\s*(?P<unit>[^,]+)")
# Behind an underscore only what is no index: T_s may be a surface, T_degC and t_s are not.
_SUFFIX = re.compile(
    r"(?P<name>.+)_(?P<unit>degC|degF|Celsius|celsius|kelvin|mm|cm|km|Pa|kPa|hPa|MPa|mbar|bar|psi)"
)
_TIME, _LONG = (
    r"t|[Tt]ime|[Ee]lapsed|[Zz]eit",
    r"[xyzXYZ]|[Dd]epth|[Hh]eight|[Dd]istance|[Pp]osition",
)
_OF_AXES = re.compile(
    rf"(?P<name>(?:{_TIME})\w*?)_(?P<unit>ms|s|sec|seconds|min|minutes|h|hr|hours|d|days)"
    rf"|(?P<long>{_LONG})_(?P<of>m|ft|inch)"
)
_WARM = re.compile(r"(?P<name>.*[Tt]emp[^_]*)_(?P<unit>[CFK])")
# Of a time "min" is a unit, of these it is the least of all readings.
_LEAST = re.compile(r"T\d*|p|u|v|w|h|RH|([Tt]emp|[Pp]ress|[Ll]evel|[Hh]um|[Ss]peed|[Ww]ind).*")
_INCH = {"in": "inch"}
# The degree sign of other encodings, read as if it were of this one.
_DEGREE = re.compile(r"(?:Â?[°º˚]|[Â\ufffd?¡ø^]|\^?o|&deg;)\s?([CF])")
_WIDE = str.maketrans("（）［］：", "()[]:")  # as wide as the letters of China and Japan
_LETTER = {"C": "degC", "c": "degC"}  # coulombs are not what a sensor of a field reads
_FAHRENHEIT = re.compile(r"(T|[Tt]emp\S*)\s*[(\[]F[)\]]")  # of anything else F may be farads
# Headings that are the unit of what stands below them.
_OF_TIMES = {
    "milliseconds": "ms", "seconds": "s", "minutes": "min", "hours": "h", "days": "d", "day": "d",
    "doy": "d", "day of year": "d", "dayofyear": "d", "yearday": "d", "year day": "d",
    "decimal day": "d", "julian day": "d", "jday": "d",
}  # fmt: skip
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
    rest = text.translate(_WIDE)
    places = places_in(rest)
    if not places and (places := _point_in(rest)):
        rest = _POINT.sub("", rest)
    elif places:
        rest = re.sub(r"[(\[@][\s,;]*[)\]]|@\s*|[(\[]\s*$", " ", _PLACED.sub("", rest))
        rest = re.sub(r"\(\W*\)|\[\W*\]", " ", rest).strip(" ,;@_")
    name, unit = _name_and_unit(rest)
    if unit is None and (found := _FAHRENHEIT.fullmatch(name)):
        name, unit = found[1], "degF"
    return Heading(text, name or text, unit or _OF_TIMES.get(text.lower()), places)


def places_in(text: str) -> Places:
    """Positions in a text: "x=0.1 m, y=2"."""
    return {
        found["axis"].lower(): (float(found["value"].replace(",", ".")), _known(found["unit"]))
        for found in _PLACED.finditer(text)
    }


def _point_in(text: str) -> Places:
    """A position as a point: "Point: (0.1, 0)", "CH1(0.1,0.2)", "[10 mm; 2,5 mm]"; (1,2) may be 1.2."""
    found = _POINT.search(text)
    if found is None:
        return {}
    inside = found[1].strip()
    is_clear = "." in inside or inside.count(",") > 1 or re.search(r",\s", inside)
    is_apart = re.search(r"[;|]|\..*/", inside)  # 1/2 is one of two
    mark = r"[;|/]" if is_apart else "," if is_clear else "$^"
    parts = [_COORDINATE.fullmatch(part.strip()) for part in re.split(mark, inside)]
    if len(parts) not in (2, 3) or not all(part and _is_length(part["unit"]) for part in parts):
        return {}
    values = [(float(p["value"].replace(",", ".")), p["unit"]) for p in parts if p]
    return dict(zip("xyz", values, strict=False))


def _is_length(unit: str | None) -> bool:
    return unit is None or conversion(unit, "m") is not None


def placed_along(headings: Sequence[Heading], axis: str) -> list[Heading]:
    """The headings with places along an axis, where two or more differ in a length alone: T_5cm, T_10cm.

    >>> [heading.places for heading in placed_along(parse_headings(["5 cm", "10 cm"]), "z")]
    [{'z': (5.0, 'cm')}, {'z': (10.0, 'cm')}]
    """
    lengths = [None if h.places else _LENGTH.search(h.text) for h in headings]
    rests = [
        _LENGTH.sub(" ", h.text) if n else None for h, n in zip(headings, lengths, strict=True)
    ]
    times, found = Counter(rests), []
    whole = {rest for rest in rests if rest is not None} - {
        rest
        for rest, n in zip(rests, lengths, strict=True)
        if n and not (n["inside"] or "").isdigit()
    }  # T(1) and T(2) are channels
    for heading, length, rest in zip(headings, lengths, rests, strict=True):
        if length is None or rest is None or times[rest] < 2 or rest in whole:
            found.append(heading)
            continue
        number = next(length[part] for part in _NUMBERS if length[part])
        unit_of = length["unit"] or length["small"]
        name, unit = _name_and_unit(" ".join(rest.replace("_", " ").split()))
        places: Places = {axis: (float(number.replace(",", ".")), _INCH.get(unit_of, unit_of))}
        found.append(Heading(heading.text, name or heading.text, unit or heading.unit, places))
    return found


def _name_and_unit(text: str) -> tuple[str, str | None]:
    known = [found[0] for found in _BRACKETS.finditer(text) if as_unit(found[1])]
    if known:
        rest = text
        for bracket in known:
            rest = rest.replace(bracket, " ", 1)
        rest = " ".join(rest.split()).removesuffix("/").rstrip()
        return (text, None) if _is_least(rest, known[0]) else (rest, as_unit(known[0]))
    if found := _OF_AXES.fullmatch(text):
        return found["name"] or found["long"], found["unit"] or found["of"]
    if found := _WARM.fullmatch(text):
        return found["name"], {"C": "degC", "F": "degF", "K": "K"}[found["unit"]]
    for pattern in (_TRAILING, _SUFFIX):
        found = pattern.fullmatch(text)
        if found and _known(found["unit"]) and "_" not in found["unit"]:
            return _without_half(found["name"], text) or (found["name"], _known(found["unit"]))
    return _in_inches(text) or (text, _before_brackets(text))


def _is_least(name: str, bracket: str) -> bool:
    return bracket[1:-1].strip() == "min" and _LEAST.fullmatch(name) is not None


def _without_half(name: str, text: str) -> tuple[str, str] | None:
    """In u_m/s the unit begins at the underscore: m/s, not s."""
    first, line, last = name.rpartition("_")
    whole = text[len(first) + 1 :] if line else ""
    return (first, whole) if first and "/" in whole and last and _known(whole) else None


def _in_inches(text: str) -> tuple[str, str] | None:
    """Of a length "in" is a unit; of a temperature it is where the flow comes from."""
    found = re.fullmatch(r"(x|y|z|depth|height|position)\s*[(\[]in\.?[)\]]", text, re.IGNORECASE)
    return (found[1], "inch") if found else None


def _before_brackets(text: str) -> str | None:
    """The unit in "Temp, °C (logger 5)"."""
    found = _TRAILING.fullmatch(_BRACKETS.sub(" ", text).strip())
    return _known(found["unit"]) if found and _BRACKETS.search(text) else None


def as_unit(text: str) -> str | None:
    """The unit that a text in brackets or in a row of units is; None: it is none.

    >>> as_unit("C"), as_unit("minutes since 2024-03-12 10:00"), as_unit("inlet")
    ('degC', 'minutes since 2024-03-12 10:00', None)
    """
    found = _BRACKETS.fullmatch(text.strip())
    return _known(found[1] if found else text)


def _known(text: str | None) -> str | None:
    if not text:
        return None
    text = text.strip().removesuffix(".")
    if found := _DEGREE.fullmatch(text):
        text = text if text[0] in "°º˚" else f"deg{found[1]}"
    text = _LETTER.get(text, text if text.isascii() else WORDS.get(text, text))
    return text if is_known_unit(text) and text != "1" else None


def parse_headings(texts: Sequence[str], units: Sequence[str] | None = None) -> list[Heading]:
    """The headings of a table, with the units of the row below them where there is one."""
    headings = [parse_heading(text) for text in texts]
    if units is None:
        return headings
    below = [as_unit(unit) for unit in units] + [None] * len(headings)
    for heading, unit in zip(headings, below, strict=False):
        # In T_min there is no unit; of another kind than that of the row it shows.
        if heading.unit and unit and conversion(heading.unit, unit) not in (None, (1.0, 0.0)):
            raise InputError(
                f"the heading {heading.text!r} says {heading.unit!r}, and the row of units below it "
                f"{unit!r}; correct one of them."
            )
    return [
        Heading(h.text, h.name, unit or h.unit, h.places)
        for h, unit in zip(headings, below, strict=False)
    ]


def with_length_unit(headings: Sequence[Heading], before: Sequence[str]) -> list[Heading]:
    """The headings with the unit that a line above gives for all lengths: "Length unit: mm"."""
    found = (re.match(r"\W*Length unit\W+(\w+)", line, re.IGNORECASE) for line in before)
    unit = next((unit for match in found if match and (unit := _known(match[1]))), None)
    is_length = [h.name.lower() in ("x", "y", "z", "r") and h.unit is None for h in headings]
    return [
        replace(h, unit=unit) if unit and bare else h
        for h, bare in zip(headings, is_length, strict=True)
    ]
