"""The names that loggers and programs give to axes, fields and other columns, in lower case."""

import re
from collections.abc import Container, Mapping, Sequence

from pgt.core.errors import warn_of

AXES = ("x", "y", "z", "t")
SPACE_AXES = AXES[:3]
# In the form of `normalize_name`, the letter first.
AXIS_ALIASES = {
    "x": ("x", "position", "pos", "location", "distance", "easting", "ort", "abstand", "rechtswert"),
    "y": ("y", "northing", "hochwert"),
    "z": ("z", "depth", "height", "elevation", "tiefe", "höhe", "profondeur", "hauteur"),
    "t": ("t", "time", "timestamp", "time stamp", "datetime", "date time", "date", "elapsed",
          "elapsed time", "physical time", "flow time", "milliseconds", "seconds", "minutes", "hours",
          "days", "solutiontime", "zeit", "zeitstempel", "datum", "temps", "heure"),
}  # fmt: skip
for _number, _axis in enumerate(SPACE_AXES):
    _long = (f"{_axis} {word}" for word in ("coordinate", "location", "position", "pos"))
    AXIS_ALIASES[_axis] = (*AXIS_ALIASES[_axis], *_long, f"points:{_number}", f"points {_number}")
# Brackets behind a name that hold no known unit: a column "x [px]" is still an x.
_UNKNOWN_BRACKETS = re.compile(r"[\[(](?!.*(?:err|std|sigma|unc|set))[^\[\]()]*[\])]$")


def strip_brackets(name: str) -> str:
    """A name without brackets at its end that hold no known unit.

    >>> strip_brackets("u [px/frame]"), strip_brackets("T (std)")
    ('u', 'T (std)')
    """
    return _UNKNOWN_BRACKETS.sub("", name).strip() or name


def normalize_name(name: str) -> str:
    """A name in small letters with single blanks, as aliases are written.

    >>> normalize_name("Elapsed_Time"), normalize_name("Date/Time"), normalize_name("x [px]")
    ('elapsed time', 'date time', 'x')
    """
    return re.sub(r"[\s_./-]+", " ", strip_brackets(name).lower()).strip()


def is_axis_alias(name: str, axis: str) -> bool:
    """Whether a name is a usual alias of an axis; T alone is a temperature."""
    return name != "T" and normalize_name(name) in AXIS_ALIASES[axis]


# Numbers of rows, which are no readings; pandas writes its index without a heading.
COUNTER_NAMES = (
    "record", "index", "row", "number", "no", "no.", "nr", "nr.", "scan", "sample", "#", "",
    "unnamed: 0", "node", "node number", "pointid", "point id", "line", "cell id",
)  # fmt: skip
# Columns that are 1 where a row is a reading and 0 where it is none. What "mask", "flag" or "status"
# mean is known to the user alone, unless their cells are words.
VALIDITY_NAMES = ("valid", "isvalid", "is valid", "is_valid", "vtkvalidpointmask")
# Columns of quality flags, and the words in them that are clear; of bad ones the beginning decides.
FLAG_NAMES = (
    "qc",
    "qa",
    "flag",
    "flags",
    "quality",
    "status",
    "qc_flag",
    "qa_flag",
    "validity",
    "statuscode",
)
GOOD_WORDS = ("good", "ok", "valid", "true", "pass", "passed", "1")
BAD_WORDS = ("bad", "err", "fail", "fault", "invalid", "false", "missing", "no data", "nodata", "0")
# Columns of a part of a date or of a time of day.
DATE_PART_NAMES = (
    "year", "yyyy", "yy", "yr", "month", "mo", "mm", "day", "dd", "doy", "jday", "day of year",
    "julian day", "hour", "hh", "hr", "minute", "mn", "hhmm", "hhmmss", "hourminute", "yyyymmdd",
)  # fmt: skip
# Words in the headings of columns that name the quantity of each row, its unit, or its sensor.
UNIT_NAMES = ("unit", "units", "uom", "einheit")
QUANTITY_NAMES = (
    "parameter",
    "variable",
    "quantity",
    "measurement",
    "metric",
    "property",
    "_field",
)
SENSOR_NAMES = (
    "sensor",
    "name",
    "channel",
    "id",
    "tc",
    "probe",
    "label",
    "file",
    "column",
    "station",
)
VALUE_NAMES = ("value", "val", "result", "reading", "wert", "messwert", "valeur")
TEMPERATURE_NAMES = ("temp", "temperature", "temperatur", "température")
PRESSURE_NAMES = ("pressure", "druck", "pression")
ANGLE_NAMES = ("lat", "latitude", "lon", "long", "longitude")


def parse_flag(cell: str) -> bool | None:
    """Whether a quality flag in words is good (True) or bad (False); None if it is unclear.

    >>> parse_flag("Good"), parse_flag("Bad_NoData"), parse_flag("Uncertain")
    (True, False, None)
    """
    word = cell.strip().lower()
    return True if word in GOOD_WORDS else False if word.startswith(BAD_WORDS) else None


def explain_angles(names: Sequence[str]) -> str:
    """A hint that angles are no axes of space, where some names are angles."""
    angle = next((name for name in names if name.lower() in ANGLE_NAMES), None)
    if angle is None:
        return ""
    return f" Angles such as {angle!r} are no lengths: write distances from a point, in metres."


def warn_of_angles(coords: Sequence[str], names: Mapping[str, str]) -> None:
    """Warn where an axis of space is read from a column of angles, which equations take as lengths."""
    if hint := explain_angles([names.get(axis, axis) for axis in coords if axis != "t"]):
        warn_of(f"a degree of longitude and one of latitude differ in length.{hint}")


def letters_of(name: str) -> str:
    """The letters of a name in lower case; "U:0" becomes "ux", as ParaView counts components."""
    if component := re.fullmatch(r"(u|v|vel|velocity)[:_]([012])", name, re.IGNORECASE):
        return component[1].lower() + "xyz"[int(component[2])]
    return re.sub(r"[\W\d_]+", "", name).lower()


def field_aliases(name: str, measured: Sequence[str]) -> Container[str]:
    """Other names of a field, as `letters_of` gives them; `measured` are the fields of the equation.

    >>> "velocityx" in field_aliases("u", ("u", "v", "p"))
    True
    """
    if {"u", "v"} <= set(measured) and name in ("u", "v", "w"):
        axis, letter = "xyz"["uvw".index(name)], "ijk"["uvw".index(name)]
        by_axis = {f"{v}{axis}" for v in ("u", "v", "vel", "velocity")}
        by_name = {f"{v}{end}" for v in ("vel", "velocity") for end in (name, letter)}
        return by_axis | by_name | {f"{axis}velocity", f"{name}velocity"}
    return {"p": PRESSURE_NAMES, "T": TEMPERATURE_NAMES}.get(name, ())


def rename_axes_in_order(coords: Mapping[str, str]) -> dict[str, str]:
    """Headings by axis, with the axes of space renamed to x, y, z in order: a depth alone is x.

    >>> rename_axes_in_order({"z": "depth", "t": "time"})
    {'x': 'depth', 't': 'time'}
    """
    space = [axis for axis in SPACE_AXES if axis in coords]
    if not all(coords[axis] for axis in space):  # positions in headings keep their axes
        return dict(coords)
    found = {axis: coords[old] or old for axis, old in zip(AXES, space, strict=False)}
    return found | {axis: coords[axis] for axis in ("t",) if axis in coords}
