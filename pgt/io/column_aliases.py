"""The names that loggers and programs give to axes, fields and other columns."""

import re
from collections.abc import Container, Mapping, Sequence

from pgt.core.errors import warn_of

AXES = ("x", "y", "z", "t")
SPACE_AXES = AXES[:3]
# Aliases of axes in the form of `normalize_name`: the letter first, other languages last.
AXIS_ALIASES = {
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
    AXIS_ALIASES[_axis] = (*AXIS_ALIASES[_axis], *_long, f"points:{_number}", f"points {_number}")
_FOREIGN_ALIASES = {
    "x": "posición posicion distancia posizione distanza posição distância positie afstand läge avstånd "
    "położenie odległość poloha vzdálenost координата расстояние положение 位置 距离 距離 위치 거리 "
    "konum mesafe lage stelle length länge longueur",
    "y": "",
    "z": "profondeur hauteur profundidad altura profondità altezza profundidade diepte hoogte djup höjd "
    "głębokość wysokość hloubka výška глубина высота 深度 高度 深さ 高さ 깊이 높이 derinlik yükseklik",
    "t": "heure horodatage tiempo fecha hora tempo ora tijd tid czas čas время дата 时间 時間 时刻 時刻 "
    "日期 日時 日付 経過時間 시간 시각 일시 날짜 zaman tarih saat",
}
AXIS_ALIASES = {
    axis: (*words, *_FOREIGN_ALIASES[axis].split()) for axis, words in AXIS_ALIASES.items()
}
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
    """Whether a name is a usual alias of an axis."""
    return normalize_name(name) in AXIS_ALIASES[axis]


# The parts of a date and a time of day in columns of their own; MM is a month, mm a minute.
DATE_PARTS = (
    ("year", "yyyy", "yy", "yr", "jahr"), ("month", "MM", "mo", "monat"), ("day", "dd", "dy", "tag"),
    ("hour", "hh", "hr", "stunde"), ("minute", "mm", "mn", "min"), ("second", "ss", "sec"),
)  # fmt: skip
# Days with a fraction: a time by themselves, but not beside a column of hours.
DAY_COUNT_NAMES = (
    "day", "doy", "day of year", "dayofyear", "yearday", "year day", "decimal day", "julian day", "jday",
)  # fmt: skip
# Numbers of rows, which are no readings; pandas writes its index without a heading.
COUNTER_NAMES = (
    "record", "index", "row", "number", "sweep #", "row#", "no", "no.", "nr", "nr.", "scan", "sample",
    "#", "", "unnamed: 0", "node", "node number", "nodenumber", "pointid", "point id", "line#", "line",
    "cellnumber", "cell id", "global_index", "entry_id", "scan number",
)  # fmt: skip
# Columns that are 1 where a row is a reading and 0 where it is none. What "mask", "flag" or "status"
# mean is known to the user alone.
VALIDITY_NAMES = ("valid", "isvalid", "is valid", "is_valid", "vtkvalidpointmask")
# Columns that name the quantity of each row, where one column holds several quantities.
QUANTITY_NAMES = (
    "parameter", "param", "variable", "quantity", "measurand", "measurement", "analyte", "metric",
    "sensor_type", "sensortype", "_field", "observedproperty", "observed_property", "characteristicname",
    "observable", "property", "measure", "messgröße", "messgrösse", "messgroesse", "größe", "grandeur",
    "paramètre", "magnitud", "parámetro", "grandezza", "parametro", "parâmetro", "величина", "параметр",
    "参数", "パラメータ",
)  # fmt: skip
# Columns of readings of any quantity, as archives name them.
VALUE_NAMES = (
    "value", "val", "result", "reading", "payload", "varvalue", "wert", "messwert", "valeur", "valor",
)  # fmt: skip
# Words in the headings of columns that name sensors.
SENSOR_NAMES = (
    "sensor", "name", "channel", "id", "tc", "probe", "label", "file", "column", "station",
)  # fmt: skip
UNIT_NAMES = ("unit", "units", "uom", "einheit", "unité")
# Columns of quality flags, and the words in them that are clear; of bad ones the beginning decides.
FLAG_NAMES = (
    "qc", "qa", "flag", "flags", "quality", "status", "qc_flag", "qa_flag", "quality flag", "code",
    "statuscode", "status code", "status_code", "quality code", "validity",
)  # fmt: skip
GOOD_WORDS = ("good", "ok", "valid", "true", "pass", "passed", "gut", "1")
BAD_WORDS = (
    "bad", "err", "fail", "fault", "invalid", "false", "missing", "no data", "nodata", "schlecht", "0",
)  # fmt: skip
TEMPERATURE_NAMES = (
    "temp", "temperature", "temperatur", "température", "temperatura", "temperatuur", "температура",
    "温度", "溫度", "온도", "teplota", "sıcaklık",
)  # fmt: skip
PRESSURE_NAMES = (
    "pressure", "druck", "pression", "presión", "presion", "pressione", "pressão", "druk", "tryck",
    "ciśnienie", "tlak", "давление", "压力", "壓力", "圧力", "압력", "basınç",
)  # fmt: skip
ANGLE_NAMES = ("lat", "latitude", "lon", "long", "longitude")


def is_milliseconds(name: str) -> bool:
    """Whether a column holds the milliseconds that belong to times in another column."""
    return normalize_name(name) in ("ms", "msec", "millisecond", "milliseconds", "millis")


def parse_flag(cell: str) -> bool | None:
    """Whether a quality flag in words is good (True) or bad (False); None if it is unclear.

    >>> parse_flag("Good"), parse_flag("Bad_NoData"), parse_flag("Uncertain")
    (True, False, None)
    """
    word = cell.strip().lower()
    return True if word in GOOD_WORDS else False if word.startswith(BAD_WORDS) else None


def find_date_parts(names: Sequence[str]) -> list[str]:
    """The names that are the year, month, day, ... of times; none if a date is incomplete.

    >>> find_date_parts(["YY", "MM", "DD", "hh", "mm", "WSPD"])
    ['YY', 'MM', 'DD', 'hh', 'mm']
    """
    found = []
    for words in DATE_PARTS:
        exact = [name for name in names if name in words and name not in found]
        alike = [n for n in names if n.lower() in words and n not in ("MM", "mm", *found)]
        if not (exact or alike):
            break
        found.append((exact or alike)[0])
    return found if len(found) >= len(DATE_PARTS[:3]) else []


def find_day_count(names: Sequence[str]) -> str | None:
    """The name of the only column that counts days, where no other name is a part of a date.

    >>> find_day_count(["DOY", "T"]), find_day_count(["year", "DOY", "hour", "T"])
    ('DOY', None)
    """
    days = [name for name in names if name.lower() in DAY_COUNT_NAMES]
    words = {word for part in DATE_PARTS for word in part}
    others = [name for name in names if name.lower() in words and name not in days]
    return days[0] if len(days) == 1 and not others else None


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


def rename_axes_for_equation(
    coords: Mapping[str, str], axes: Sequence[str], is_free: bool
) -> dict[str, str]:
    """Headings by axis of the equation: a depth is its x where x is its only axis of space.

    An equation that `is_free` has as many axes as there are in the file, in the order x, y, z.

    >>> rename_axes_for_equation({"z": "depth"}, ("x",), False)
    {'x': 'depth'}
    """
    space = [axis for axis in SPACE_AXES if axis in coords]
    is_single = len(space) == 1 and bool(axes) and [a for a in axes if a != "t"] == ["x"]
    return rename_axes_in_order(coords) if is_free or is_single else dict(coords)


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
