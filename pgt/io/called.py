"""What loggers call axes and fields, and columns that are neither."""

import re
from collections.abc import Container, Mapping, Sequence

from pgt.ground.errors import warn_of

AXES = ("x", "y", "z", "t")
# What loggers call an axis, in small letters; the letter itself first of all, other languages last.
CALLED = {
    "x": ("x", "position", "pos", "location", "ort", "distance", "abstand", "easting", "rechtswert"),
    "y": ("y", "northing", "hochwert"),
    "z": ("z", "depth", "height", "tiefe", "höhe"),
    "t": ("t", "time", "timestamp", "time stamp", "t stamp", "datetime", "date time", "elapsed",
          "elapsed time", "elapsedtime", "physical time", "flow time", "milliseconds", "seconds",
          "minutes", "hours", "days", "zeit", "zeitstempel", "temps", "date", "datum", "solutiontime",
          "jd", "mjd", "decimal year"),
}  # fmt: skip
for _number, _axis in enumerate(("x", "y", "z")):
    _long = (f"{_axis} {word}" for word in ("coordinate", "location", "position", "pos"))
    CALLED[_axis] = (*CALLED[_axis], *_long, f"points:{_number}", f"points {_number}")
_ELSEWHERE = {
    "x": "posición posicion distancia posizione distanza posição distância positie afstand läge avstånd "
    "położenie odległość poloha vzdálenost координата расстояние положение 位置 距离 距離 위치 거리 "
    "konum mesafe lage stelle length länge longueur",
    "y": "",
    "z": "profondeur hauteur profundidad altura profondità altezza profundidade diepte hoogte djup höjd "
    "głębokość wysokość hloubka výška глубина высота 深度 高度 深さ 高さ 깊이 높이 derinlik yükseklik",
    "t": "heure horodatage tiempo fecha hora tempo ora tijd tid czas čas время дата 时间 時間 时刻 時刻 "
    "日期 日時 日付 経過時間 시간 시각 일시 날짜 zaman tarih saat",
}
CALLED = {axis: (*words, *_ELSEWHERE[axis].split()) for axis, words in CALLED.items()}
# Behind a name, in brackets that are no unit: nobody knows pixels, but x [px] is an x.
_BEHIND = re.compile(r"[\[(](?!.*(?:err|std|sigma|unc|set))[^\[\]()]*[\])]$")


def bare(name: str) -> str:
    """A name without brackets behind it that nobody knows for a unit.

    >>> bare("u [px/frame]"), bare("T (std)")
    ('u', 'T (std)')
    """
    return _BEHIND.sub("", name).strip() or name


def spelt(name: str) -> str:
    """A name as the words of `CALLED` are spelt: small letters, single blanks between its words.

    >>> spelt("Elapsed_Time"), spelt("Date/Time"), spelt("x [px]")
    ('elapsed time', 'date time', 'x')
    """
    return re.sub(r"[\s_./-]+", " ", bare(name).lower()).strip()


def is_called(name: str, axis: str) -> bool:
    """Whether a column of that name is usually an axis."""
    return spelt(name) in CALLED[axis]


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
    "line#",
    "line",
    "cellnumber",
    "cell id",
    "global_index",
    "entry_id",
    "scan number",
)
# 1 beside readings and 0 beside none; what "mask", "flag" or "status" means, only the user knows.
VALID = ("valid", "isvalid", "is valid", "is_valid", "vtkvalidpointmask")
# Beside readings of several quantities in one column: which each is.
KINDS = (
    "parameter", "param", "variable", "quantity", "measurand", "measurement", "analyte", "metric",
    "sensor_type", "sensortype", "_field", "observedproperty", "observed_property", "characteristicname",
    "observable", "property", "measure", "messgröße", "messgrösse", "messgroesse", "größe", "grandeur",
    "paramètre", "magnitud", "parámetro", "grandezza", "parametro", "parâmetro", "величина", "параметр",
    "参数", "パラメータ",
)  # fmt: skip
# What archives call a reading, whatever it is of.
VALUES = (
    "value", "val", "result", "reading", "payload", "varvalue", "wert", "messwert", "valeur", "valor",
)  # fmt: skip
# Of a column of names of sensors.
SENSORS = ("sensor", "name", "channel", "id", "tc", "probe", "label", "file", "column", "station")
UNITS = ("unit", "units", "uom", "einheit", "unité")
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
    "statuscode",
    "status code",
    "status_code",
    "quality code",
    "validity",
)
# What such a column says of a row, where nobody can doubt it; the first letters of the bad ones tell.
GOOD = ("good", "ok", "valid", "true", "pass", "passed", "gut", "1")
BAD = (
    "bad",
    "err",
    "fail",
    "fault",
    "invalid",
    "false",
    "missing",
    "no data",
    "nodata",
    "schlecht",
    "0",
)
TEMPERATURES = (
    "temp", "temperature", "temperatur", "température", "temperatura", "temperatuur", "температура",
    "温度", "溫度", "온도", "teplota", "sıcaklık",
)  # fmt: skip
PRESSURES = (
    "pressure", "druck", "pression", "presión", "presion", "pressione", "pressão", "druk", "tryck",
    "ciśnienie", "tlak", "давление", "压力", "壓力", "圧力", "압력", "basınç",
)  # fmt: skip
ANGLES = ("lat", "latitude", "lon", "long", "longitude")


def is_milliseconds(name: str) -> bool:
    """Whether a column is what is left of a second, beside a time."""
    return spelt(name) in ("ms", "msec", "millisecond", "milliseconds", "millis")


def is_good(cell: str) -> bool | None:
    """Whether a row is a reading, by what stands in a column of such words; None: nobody can tell.

    >>> is_good("Good"), is_good("Bad_NoData"), is_good("Uncertain")
    (True, False, None)
    """
    word = cell.strip().lower()
    return True if word in GOOD else False if word.startswith(BAD) else None


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
    return {"p": PRESSURES, "T": TEMPERATURES}.get(name, ())


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
