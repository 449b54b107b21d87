"""What a column heading says: a name, a unit, and the position of the sensor.

"x [m]", "T (°C)", "p / kPa", "u, m/s" and "T_degC" have a unit, "T@x=0.1" and "TC1 (x=0.1 m)" a position.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pgt.core.errors import InputError
from pgt.data.units import WORDS, conversion, is_known_unit
from pgt.io.column_aliases import AXIS_ALIASES, SPACE_AXES, normalize_name

NUMBER_PATTERN = r"[+-]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
UNIT_PATTERN = r"[^\W\d_]+(?![^\W_]|\s*=)"
_AXIS_POSITION = re.compile(
    rf"(?<![^\W_])(?P<axis>[xyzXYZt])\s*=\s*(?P<value>{NUMBER_PATTERN})\s*(?P<unit>{UNIT_PATTERN})?"
)
_POINT = re.compile(r"[(\[]\s*([+-]?[\d.][^()\[\]]*)[)\]]")
_COORDINATE = re.compile(rf"(?P<value>{NUMBER_PATTERN})\s*(?P<unit>[^\W\d_]+)?")
_LENGTH = re.compile(
    rf"(?<![^\W_])(?P<value>{NUMBER_PATTERN})\s?(?P<unit>[mcdkµμu]?m|inch|in|ft)(?![^\W_])|@\s*(?P<at>{NUMBER_PATTERN})$"
    rf"|\((?P<inside>{NUMBER_PATTERN})\)$|(?<=[^\W\d])_(?P<behind>\d+\.\d+)$"
    rf"|(?<=[^\W\d_])(?P<number>\d+(?:[.,]\d+)?)(?P<small>mm|cm|inch|ft)(?![^\W_])"
)
_LENGTH_GROUPS = ("value", "at", "inside", "behind", "number")
# The inside of brackets may hold brackets: [W/(m K)], (kPa(g)).
_BRACKETED = r"(?:[^\[\](){}<>]|\([^\[\](){}<>]*\))*"
_BRACKETS = re.compile(rf"[\[(<{{]({_BRACKETED})[\])>}}]")
_TRAILING = re.compile(r"(?P<name>.*?\S)\s*(?:,|/|\bin\b)\s*(?P<unit>[^,]+)")
# Units behind an underscore that cannot be an index; T_s may be the temperature of a surface.
_SUFFIX = re.compile(
    r"(?P<name>.+)_(?P<unit>degC|degF|Celsius|celsius|kelvin|mm|cm|km|Pa|kPa|hPa|MPa|mbar|bar|psi)"
)
_TIME_NAMES, _LENGTH_NAMES = (
    r"t|[Tt]ime|[Ee]lapsed|[Zz]eit",
    r"[xyzXYZ]|[Dd]epth|[Hh]eight|[Dd]istance|[Pp]osition",
)
_AXIS_WITH_UNIT = re.compile(
    rf"(?P<name>(?:{_TIME_NAMES})\w*?)_(?P<unit>ms|s|sec|seconds|min|minutes|h|hr|hours|d|days)"
    rf"|(?P<long>{_LENGTH_NAMES})_(?P<of>m|ft|inch)"
)
_TEMPERATURE_WITH_UNIT = re.compile(r"(?P<name>.*[Tt]emp[^_]*)_(?P<unit>[CFK])")
# "min" is a unit behind a time, and the minimum behind these names.
_MINIMUM_NAMES = re.compile(
    r"T\d*|p|u|v|w|h|RH|([Tt]emp|[Pp]ress|[Ll]evel|[Hh]um|[Ss]peed|[Ww]ind).*"
)
_LENGTH_UNITS = {"in": "inch"}
# The degree sign, also as other encodings garble it.
_DEGREE_SIGN = re.compile(r"(?:Â?[°º˚]|[Â\ufffd?¡ø^]|\^?o|&deg;)\s?([CF])")
_FULL_WIDTH = str.maketrans("（）［］：", "()[]:")  # full-width signs of Chinese and Japanese
_UNIT_LETTERS = {"C": "degC", "c": "degC"}  # degrees Celsius, not coulombs
_FAHRENHEIT = re.compile(r"(T|[Tt]emp\S*)\s*[(\[]F[)\]]")  # elsewhere F may mean farads
# Headings that are the unit of their column.
_UNIT_HEADINGS = {
    "milliseconds": "ms", "seconds": "s", "minutes": "min", "hours": "h", "days": "d", "day": "d",
    "doy": "d", "day of year": "d", "dayofyear": "d", "yearday": "d", "year day": "d",
    "decimal day": "d", "julian day": "d", "jday": "d",
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
    text = " ".join(text.split())
    rest = text.translate(_FULL_WIDTH)
    places = parse_positions(rest)
    if not places and (places := _parse_point(rest)):
        rest = _POINT.sub("", rest)
    elif places:
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


def _parse_point(text: str) -> Positions:
    """The position that a point gives: "(0.1, 0)", "CH1(0.1,0.2)", "[10 mm; 2,5 mm]", but not "(1,2)"."""
    found = _POINT.search(text)
    if found is None:
        return {}
    inside = found[1].strip()
    is_clear = "." in inside or inside.count(",") > 1 or re.search(r",\s", inside)
    is_apart = re.search(r"[;|]|\..*/", inside)  # 1/2 counts parts
    mark = r"[;|/]" if is_apart else "," if is_clear else "$^"
    parts = [_COORDINATE.fullmatch(part.strip()) for part in re.split(mark, inside)]
    if len(parts) not in (2, 3) or not all(part and _is_length(part["unit"]) for part in parts):
        return {}
    values = [(float(p["value"].replace(",", ".")), p["unit"]) for p in parts if p]
    return dict(zip("xyz", values, strict=False))


def _is_length(unit: str | None) -> bool:
    return unit is None or conversion(unit, "m") is not None


def place_by_lengths(headings: Sequence[Heading], axis: str) -> list[Heading]:
    """The headings with positions along an axis, where two or more differ in a length only.

    >>> [heading.positions for heading in place_by_lengths(parse_headings(["5 cm", "10 cm"]), "z")]
    [{'z': (5.0, 'cm')}, {'z': (10.0, 'cm')}]
    """
    lengths = [None if h.positions else _LENGTH.search(h.text) for h in headings]
    pairs = [*zip(headings, lengths, strict=True)]
    rests = [_LENGTH.sub(" ", h.text) if length else None for h, length in pairs]
    # In T(1) and T(2) the numbers are those of channels.
    is_length = [n is not None and not (n["inside"] or "").isdigit() for n in lengths]
    known = {rest for rest, is_it in zip(rests, is_length, strict=True) if is_it}
    times, found = Counter(rests), []
    for (heading, length), rest in zip(pairs, rests, strict=True):
        if length is None or rest is None or times[rest] < 2 or rest not in known:
            found.append(heading)
            continue
        number = next(length[part] for part in _LENGTH_GROUPS if length[part])
        unit_of = length["unit"] or length["small"]
        name, unit = _split_unit(" ".join(rest.replace("_", " ").split()))
        at = (float(number.replace(",", ".")), _LENGTH_UNITS.get(unit_of, unit_of))
        found.append(Heading(heading.text, name or heading.text, unit or heading.unit, {axis: at}))
    return found


def _split_unit(text: str) -> tuple[str, str | None]:
    known = [found[0] for found in _BRACKETS.finditer(text) if parse_unit(found[1])]
    if known:
        rest = text
        for bracket in known:
            rest = rest.replace(bracket, " ", 1)
        rest = " ".join(rest.split()).removesuffix("/").rstrip()
        return (text, None) if _is_minimum(rest, known[0]) else (rest, parse_unit(known[0]))
    if found := _AXIS_WITH_UNIT.fullmatch(text):
        return found["name"] or found["long"], found["unit"] or found["of"]
    if found := _TEMPERATURE_WITH_UNIT.fullmatch(text):
        return found["name"], {"C": "degC", "F": "degF", "K": "K"}[found["unit"]]
    for pattern in (_TRAILING, _SUFFIX):
        found = pattern.fullmatch(text)
        if found and _known_unit(found["unit"]) and "_" not in found["unit"]:
            return _split_fraction_unit(found["name"], text) or (
                found["name"],
                _known_unit(found["unit"]),
            )
    return _split_inches(text) or (text, _unit_before_brackets(text))


def _is_minimum(name: str, bracket: str) -> bool:
    return bracket[1:-1].strip() == "min" and _MINIMUM_NAMES.fullmatch(name) is not None


def _split_fraction_unit(name: str, text: str) -> tuple[str, str] | None:
    """In u_m/s the unit begins at the underscore: m/s, not s."""
    first, line, last = name.rpartition("_")
    whole = text[len(first) + 1 :] if line else ""
    return (first, whole) if first and "/" in whole and last and _known_unit(whole) else None


def _split_inches(text: str) -> tuple[str, str] | None:
    """Behind a length "in" is a unit; behind a temperature it means an inlet."""
    found = re.fullmatch(r"(x|y|z|depth|height|position)\s*[(\[]in\.?[)\]]", text, re.IGNORECASE)
    return (found[1], "inch") if found else None


def _unit_before_brackets(text: str) -> str | None:
    """The unit in "Temp, °C (logger 5)"."""
    found = _TRAILING.fullmatch(_BRACKETS.sub(" ", text).strip())
    return _known_unit(found["unit"]) if found and _BRACKETS.search(text) else None


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
    if found := _DEGREE_SIGN.fullmatch(text):
        text = text if text[0] in "°º˚" else f"deg{found[1]}"
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
    return [Heading(h.text, h.name, unit or h.unit, h.positions) for h, unit in pairs]


def apply_length_unit(headings: Sequence[Heading], before: Sequence[str]) -> list[Heading]:
    """The headings with the unit that a line above gives for all lengths: "Length unit: mm"."""
    found = (re.match(r"\W*Length unit\W+(\w+)", line, re.IGNORECASE) for line in before)
    unit = next((unit for match in found if match and (unit := _known_unit(match[1]))), None)
    is_length = [h.name.lower() in ("x", "y", "z", "r") and h.unit is None for h in headings]
    return [
        replace(h, unit=unit) if unit and bare else h
        for h, bare in zip(headings, is_length, strict=True)
    ]


def find_length_axis(heading: Heading) -> str | None:
    """The axis along which a column of lengths is a depth, a position, ...; None for other columns.

    >>> find_length_axis(Heading("Soil depth [cm]", "Soil depth", "cm"))
    'z'
    """
    words = normalize_name(heading.name).split()
    is_length = heading.unit is not None and conversion(heading.unit, "m") is not None
    axes = [a for a in SPACE_AXES if any(w in AXIS_ALIASES[a] and len(w) > 1 for w in words)]
    return axes[0] if is_length and len(axes) == 1 else None
