"""What loggers call axes and fields, and columns that are neither."""

import re
from collections.abc import Container, Mapping, Sequence

from pgt.ground.errors import warn_of

AXES = ("x", "y", "z", "t")
# What loggers call an axis, in small letters; the letter itself first of all.
CALLED = {
    "x": ("x", "position", "pos", "location", "ort", "distance", "abstand", "easting", "rechtswert"),
    "y": ("y", "northing", "hochwert"),
    "z": ("z", "depth", "height", "tiefe", "höhe"),
    "t": ("t", "time", "timestamp", "time stamp", "datetime", "date time", "date/time", "date_time",
          "elapsed", "elapsed time", "milliseconds", "seconds", "minutes", "hours", "days", "zeit",
          "zeitstempel", "temps", "date", "datum", "solutiontime"),
}  # fmt: skip
for _number, _axis in enumerate(("x", "y", "z")):
    _long = (
        f"{_axis}{mark}{word}"
        for mark in "- _"
        for word in ("coordinate", "location", "position", "pos")
    )
    CALLED[_axis] = (*CALLED[_axis], *_long, f"points:{_number}", f"points_{_number}")
# The parts of a date and a time of day that are columns of their own; MM is a month, mm a minute.
PARTS = (
    ("year", "yyyy", "yy", "yr", "jahr"),
    ("month", "MM", "mo", "monat"),
    ("day", "dd", "dy", "tag"),
    ("hour", "hh", "hr", "stunde"),
    ("minute", "mm", "mn", "min"),
    ("second", "ss", "sec"),
)
# Numbers of days with a fraction: a time by themselves, but not beside an hour of its own.
DAYS = (
    "day",
    "doy",
    "day of year",
    "dayofyear",
    "yearday",
    "year day",
    "decimal day",
    "julian day",
    "jday",
)
# What is no reading but a number of the row; pandas writes its index without a heading.
COUNTERS = (
    "record",
    "index",
    "row",
    "number",
    "sweep #",
    "row#",
    "no",
    "no.",
    "nr",
    "nr.",
    "scan",
    "sample",
    "#",
    "",
    "unnamed: 0",
    "node",
    "node number",
    "nodenumber",
    "pointid",
    "point id",
)
# 1 beside readings and 0 beside none; what "mask", "flag" or "status" means, only the user knows.
VALID = ("valid", "isvalid", "is valid", "is_valid", "vtkvalidpointmask")
# Beside readings of several quantities in one column: which each is.
KINDS = ("parameter", "param", "variable", "quantity", "measurand", "measurement", "analyte")
# The same in words: good, bad.
FLAGS = (
    "qc",
    "qa",
    "flag",
    "flags",
    "quality",
    "status",
    "qc_flag",
    "qa_flag",
    "quality flag",
    "code",
)
ANGLES = ("lat", "latitude", "lon", "long", "longitude")


def parts_of_a_date(names: Sequence[str]) -> list[str]:
    """Those of some names that are the year, the month, the day, ... of the times of a table.

    >>> parts_of_a_date(["YY", "MM", "DD", "hh", "mm", "WSPD"])
    ['YY', 'MM', 'DD', 'hh', 'mm']
    """
    found = []
    for words in PARTS:
        exact = [name for name in names if name in words and name not in found]
        alike = [n for n in names if n.lower() in words and n not in ("MM", "mm", *found)]
        if not (exact or alike):
            break
        found.append((exact or alike)[0])
    return found if len(found) >= len(PARTS[:3]) else []


def decimal_days(names: Sequence[str]) -> str | None:
    """That of some names which is a time in days, where no other is a part of a date.

    >>> decimal_days(["DOY", "T"]), decimal_days(["year", "DOY", "hour", "T"])
    ('DOY', None)
    """
    days = [name for name in names if name.lower() in DAYS]
    words = {word for part in PARTS for word in part}
    others = [name for name in names if name.lower() in words and name not in days]
    return days[0] if len(days) == 1 and not others else None


def no_lengths(names: Sequence[str]) -> str:
    """That angles are no axes of space, where there are some."""
    angles = [name for name in names if name.lower() in ANGLES]
    return (
        f" Angles such as {angles[0]!r} are no lengths: write distances from a point, in metres."
        if angles
        else ""
    )


def warn_of_angles(coords: Sequence[str], own: Mapping[str, str]) -> None:
    """Warn where an axis of space is read from a column of angles: an equation takes them for lengths."""
    said = no_lengths([own.get(axis, axis) for axis in coords if axis != "t"])
    if said:
        warn_of(f"a degree of longitude and one of latitude differ in length.{said}")


def letters(name: str) -> str:
    """A name without anything but its letters, small; U:0 is Ux, as ParaView counts components."""
    if component := re.fullmatch(r"(u|v|vel|velocity)[:_]([012])", name, re.IGNORECASE):
        return component[1].lower() + "xyz"[int(component[2])]
    return re.sub(r"[\W\d_]+", "", name).lower()


def also_called(name: str, measured: Sequence[str]) -> Container[str]:
    """What else a field is called, in small letters: of a velocity, by its component.

    >>> "velocityx" in also_called("u", ("u", "v", "p"))
    True
    """
    if {"u", "v"} <= set(measured) and name in ("u", "v", "w"):
        axis = "xyz"["uvw".index(name)]
        of_axis = (f"{v}{axis}" for v in ("u", "v", "vel", "velocity"))
        by_letter = (
            f"{v}{n}" for v in ("vel", "velocity") for n in (name, "ijk"["uvw".index(name)])
        )
        return {*of_axis, *by_letter, f"{axis}velocity", f"{name}velocity"}
    return {
        "p": ("pressure", "druck"),
        "T": ("temp", "temperature", "temperatur", "température"),
    }.get(name, ())


def as_the_equation(
    coords: Mapping[str, str], axes: Sequence[str], is_free: bool
) -> dict[str, str]:
    """Headings by the axis of the equation: a depth is its x where it has no other axis of space.

    An equation that `is_free` has as many axes as there are, x, y and z in this order.

    >>> as_the_equation({"z": "depth"}, ("x",), False), as_the_equation({"z": "depth"}, ("z",), False)
    ({'x': 'depth'}, {'z': 'depth'})
    """
    space = [axis for axis in AXES[:3] if axis in coords]
    if is_free or (axes and len(space) == 1 and [a for a in axes if a != "t"] == ["x"]):
        return in_order(coords)
    return dict(coords)


def in_order(coords: Mapping[str, str]) -> dict[str, str]:
    """Headings by axis, where the axes of space are to be x, then y, then z: a depth alone is x.

    >>> in_order({"z": "depth", "t": "time"})
    {'x': 'depth', 't': 'time'}
    """
    space = [axis for axis in AXES[:3] if axis in coords]
    if not all(coords[axis] for axis in space):  # positions beside the columns have their own names
        return dict(coords)
    renamed = dict(zip(AXES, space, strict=False))
    found = {axis: coords[old] or old for axis, old in renamed.items()}
    return found | {axis: coords[axis] for axis in ("t",) if axis in coords}
