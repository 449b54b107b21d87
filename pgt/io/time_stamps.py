"""Times as loggers write them become numbers with an origin: dates, clocks and elapsed times.

A date may be 2024-03-12, 20240312, 12.03.2024, 03/12/2024, 12-Mar-2024 or March 12, 2024; its time of
day 10:00, 10:00:00.5 or 10:00 PM, with Z, UTC or an offset such as +01:00 behind it. A date and a time of
day may stand in two columns. Clocks without a date start again at midnight.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.data.units import conversion
from pgt.io.number_format import MISSING_WORDS

_ZONE = r"(?:Z|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?|UTC|GMT)"
_CLOCK = r"\d{1,4}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s*[AaPp][Mm])?"
_AFTER_DATE = rf"(?:[T ,]+{_CLOCK}(?:\s*{_ZONE})?)?"
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}{_AFTER_DATE}")
_NUMERIC_DATE = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_AFTER_DATE}")
_TIME_OF_DAY = re.compile(rf"-?{_CLOCK}")
_COMPACT_DATE = re.compile(
    r"((?:1[789]|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
    r"(?:[T_-]?([01]\d|2[0-3])([0-5]\d)([0-5]\d)?(Z|[+-]\d{4})?)?"
)
# A year, month, day, hour and minute in columns of their own.
_DATE_IN_COLUMNS = re.compile(r"(\d{4}) (\d{1,2}) (\d{1,2})(?: ([\d:.]+))?(?: (\d{1,2}))?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"([A-Za-z]{3,9})\.?"
_DAY_MONTH_YEAR = re.compile(
    rf"(?P<day>\d{{1,2}})[- .]*{_MONTH}[- ,]*(?P<year>\d{{4}})(?P<rest>\D.*)?"
)
_MONTH_DAY_YEAR = re.compile(
    rf"{_MONTH}[- ]+(?P<day>\d{{1,2}}),?[- ]+(?P<year>\d{{4}})(?P<rest>\D.*)?"
)
# The formats that a heading gives for the times below it.
_DAY_FIRST = re.compile(r"\bdd?[/.-]mm?[/.-]yy", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"\bmm?[/.-]dd?[/.-]yy", re.IGNORECASE)
_TWO_PARTS = re.compile(r"\b(?P<hours>hh?:mm)\b(?!:)|(?<!:)\b(?P<minutes>mm?:ss)\b", re.IGNORECASE)
_END_OF_DAY = re.compile(r" 24(?=:00(?::00(?:\.0+)?)?$)")
_CLOCK_FORMATS = (
    "", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %I:%M:%S.%f %p",
)  # fmt: skip


def is_time_stamp(text: str) -> bool:
    """Whether a cell is a date or a time of day.

    >>> is_time_stamp("12.03.2024 10:00"), is_time_stamp("0:05:30"), is_time_stamp("12.5")
    (True, True, False)
    """
    if not text.removeprefix("-")[:1].isalnum() or not re.search(r"\d", text):
        return False
    text = _number_the_month(text)
    return any(kind.fullmatch(text) for kind in (_YEAR_FIRST, _NUMERIC_DATE, _TIME_OF_DAY))


def is_compact_date(text: str) -> bool:
    """Whether a number may be a date without marks: 20240312, 202403121000."""
    return text.isdigit() and _COMPACT_DATE.fullmatch(text) is not None


def _number_the_month(text: str) -> str:
    """A date with digits alone, or with the name of its month, as 2024-03-12; else the text itself."""
    if found := _DATE_IN_COLUMNS.fullmatch(text):
        year, month, day, hour, minute = found.groups()
        clock = hour if ":" in (hour or ":") else f"{hour}:{minute or 0:0>2}"
        return f"{year}-{month}-{day} {clock or ''}".rstrip()
    if found := _COMPACT_DATE.fullmatch(text):
        year, month, day, *clock, zone = found.groups()
        time = f" {':'.join(filter(None, clock))}{zone or ''}" if clock[0] else ""
        return f"{year}-{month}-{day}{time}"
    found = _DAY_MONTH_YEAR.fullmatch(text) or _MONTH_DAY_YEAR.fullmatch(text)
    month = found[1 if found.re is _MONTH_DAY_YEAR else 2][:3].lower() if found else ""
    if found is None or month not in _MONTHS:
        return text
    return f"{found['year']}-{_MONTHS.index(month) + 1:02d}-{found['day']}{found['rest'] or ''}"


def parse_time_stamps(
    cells: Sequence[str], lines: np.ndarray, name: str, dates: str | None, heading: str = ""
) -> np.ndarray:
    """Dates as datetime64, times without a date as seconds; NaT and NaN where a cell is empty.

    The `heading` may give the format: "Date (dd/mm/yyyy)", "Elapsed (mm:ss)".
    """
    if dates is None and _DAY_FIRST.search(heading):
        dates = "day first"
    elif dates is None and _MONTH_FIRST.search(heading):
        dates = "month first"
    texts: Any = pd.Series([_normalize_stamp(cell) for cell in cells], dtype=object)
    given: Any = texts[texts.str.lower().map(lambda text: text not in MISSING_WORDS)]
    if given.empty:
        return np.full(len(texts), np.nan)
    if all(map(_TIME_OF_DAY.fullmatch, given)):
        return _clock_seconds(given, name, heading).reindex(texts.index).to_numpy(float)
    _check_zones(given, lines, name)
    days = _date_format(given, name, dates)
    found: Any = pd.Series(pd.NaT, index=texts.index, dtype="datetime64[us]")
    for clock in _CLOCK_FORMATS:
        rest = given[found[given.index].isna()]
        found[rest.index] = _parse_format(rest, days + clock)
    if found[given.index].isna().any():
        row = found[given.index].isna().idxmax()
        raise InputError(
            f"line {lines[row]}, column {name!r}: {given[row][:40]!r} is not a time like the others; "
            "write all in one format, such as 2024-03-12 10:00:00."
        )
    return found.to_numpy()


def has_zone(text: str) -> bool:
    """Whether a time of day has a zone."""
    return isinstance(text, str) and re.search(rf":\d.*?\s*{_ZONE}$", text) is not None


def _check_zones(texts: pd.Series, lines: np.ndarray, name: str) -> None:
    """Refuse a column in which some times have a zone and some have none."""
    clocks: Any = texts[texts.str.contains(":")]
    zoned = clocks.map(has_zone).astype(bool)
    if zoned.any() and not zoned.all():
        one, other = zoned.idxmax(), (~zoned).idxmax()
        raise InputError(
            f"column {name!r}: {clocks[one][:40]!r} in line {lines[one]} has a zone, and "
            f"{clocks[other][:40]!r} in line {lines[other]} has none; write all in one format."
        )


def _normalize_stamp(cell: str) -> str:
    """One blank between date and time, a point in the seconds, AM or PM in capitals."""
    text = _number_the_month(" ".join(cell.split()))
    text = re.sub(r"(?<=\d)[T,]?\s+(?=\d)|(?<=\d)T(?=\d)", " ", text)
    text = re.sub(r"(:\d{2}),(\d+)", r"\1.\2", text)
    text = re.sub(r"(:\d{2}\.\d{6})\d+", r"\1", text)  # finer than microseconds is dropped
    return re.sub(r"(?<=\d)\s*([AaPp][Mm])$", lambda found: f" {found[1].upper()}", text)


def _parse_format(texts: pd.Series, layout: str) -> pd.Series:
    """The times that have this format, in UTC where they have a zone; NaT elsewhere."""
    parts = texts.str.extract(rf"(?P<time>.*?)\s*(?P<zone>{_ZONE})?$")
    is_zoned = parts["zone"].notna() & texts.str.contains(":")
    plain = texts.where(~is_zoned, parts["time"])
    at_end = plain.str.contains(_END_OF_DAY)
    plain = plain.str.replace(_END_OF_DAY, " 00", regex=True)
    found = pd.to_datetime(plain, format=layout, errors="coerce").astype("datetime64[us]")
    found[at_end] += np.timedelta64(1, "D")
    for zone in parts["zone"][is_zoned].unique():
        its = is_zoned & (parts["zone"] == zone)
        found[its] = found[its] - np.timedelta64(_zone_offset(zone), "s")
    return found


def _zone_offset(zone: str) -> int:
    """Seconds by which a zone is ahead of UTC."""
    found = re.search(r"([+-])(\d{1,2}):?(\d{2})?$", zone)
    size = 3600 * int(found[2]) + 60 * int(found[3] or 0) if found else 0
    return -size if found and found[1] == "-" else size


def _date_format(texts: pd.Series, name: str, dates: str | None) -> str:
    first = texts.iloc[0]
    if found := _YEAR_FIRST.fullmatch(first):
        return f"%Y{found[1]}%m{found[1]}%d"
    found = _NUMERIC_DATE.fullmatch(first)
    if found is None:
        raise InputError(
            f"column {name!r}: {first[:40]!r} is neither a number nor a time; write times as "
            "2024-03-12 10:00:00, with a zone as +01:00."
        )
    mark, year = found[2], "%Y" if len(found[4]) == 4 else "%y"
    order = _day_month_order(texts, found, name, dates)
    return f"%d{mark}%m{mark}{year}" if order == "day first" else f"%m{mark}%d{mark}{year}"


def _day_month_order(texts: pd.Series, first: re.Match, name: str, dates: str | None) -> str:
    """Whether the day or the month comes first: by the mark, a number above 12, or the dialect."""
    if dates is not None:
        return dates
    if first[2] == ".":
        return "day first"
    parts = texts.str.extract(r"^(\d{1,2})[-/](\d{1,2})[-/](\d{2})\b")
    largest = texts.str.extract(r"^(\d{1,2})[-/](\d{1,2})[-/]").astype(float).max()
    is_day = [bool(largest[column] > 12) for column in (0, 1)]
    has_two_digits = len(first[4]) == 2
    if is_day[0] != is_day[1] and not (first[2] == "-" and has_two_digits):
        # In 24/03/12, 24/03/13 the number that changes is rather the day than the year.
        if has_two_digits and parts[2].nunique() > parts[0].nunique():
            raise InputError(
                f"column {name!r}: {texts.iloc[0]!r} may have the year first. Write the year in full, as "
                'in 2024-03-12; if it is last, write `dialect=pgt.io.Dialect(dates="day first")`.'
            )
        return "day first" if is_day[0] else "month first"
    raise InputError(
        f"column {name!r}: {first[0]!r} may have the day or the month first. Say which: "
        '`dialect=pgt.io.Dialect(dates="day first")` or `dialect=pgt.io.Dialect(dates="month first")`.'
    )


def _clock_seconds(texts: pd.Series, name: str, heading: str) -> pd.Series:
    """Times without a date, in seconds."""
    given_format = _TWO_PARTS.search(heading)
    if given_format and given_format["hours"]:
        texts = texts.str.replace(r"^(-?\d+:\d{2})$", r"\1:00", regex=True)
    elif given_format:
        texts = texts.str.replace(r"^(-?)(\d{1,2}:\d{2}(?:\.\d+)?)$", r"\g<1>0:\2", regex=True)
    parts = texts.str.extract(r"^-?(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([AP]M)?$")
    if parts[2].isna().any():
        raise InputError(
            f"column {name!r}: {texts.iloc[0]!r} may be hours and minutes, or minutes and seconds. "
            "Write three parts, 0:05:30, or a number."
        )
    hours, minutes, seconds = (parts[column].astype(float) for column in (0, 1, 2))
    hours = hours.where(~((parts[3] == "AM") & (hours == 12)), 0.0)
    hours = hours + 12.0 * ((parts[3] == "PM") & (hours < 12))
    sign = 1.0 - 2.0 * texts.str.startswith("-")
    return sign * (3600.0 * hours + 60.0 * minutes + seconds)


def elapsed_since(times: np.ndarray, origin: np.datetime64, unit: str) -> np.ndarray:
    """Dates as numbers in a unit since an origin."""
    seconds = (times - origin) / np.timedelta64(1, "s")
    found = conversion(unit, "s")
    if found is None:
        raise InputError(f"'t' holds times, and {unit!r} is not a unit of time; write t = \"s\".")
    return np.where(np.isnat(times), np.nan, seconds / found[0])


def format_origin(origin: np.datetime64) -> str:
    """An origin as text, without digits that are zero.

    >>> format_origin(np.datetime64("2024-03-12T10:00:00.500000"))
    '2024-03-12T10:00:00.5'
    """
    text = str(origin.astype("datetime64[us]"))
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.removesuffix("T00:00:00")


def split_origin(unit: str) -> tuple[str, np.datetime64 | None]:
    """The unit and the origin of a time axis after the CF conventions.

    >>> split_origin("minutes since 2024-03-12 10:00")
    ('minutes', np.datetime64('2024-03-12T10:00:00.000000'))
    """
    plain, word, text = unit.partition(" since ")
    if not word:
        return unit, None
    try:
        text = re.sub(r":(\d)(?=[.:\s]|$)", r":0\1", text.strip())  # 00:00:0.0 of ERA5
        found = parse_time_stamps([text], np.zeros(1, int), "t", None)
    except InputError:
        return unit, None
    return (plain.strip(), found[0]) if found.dtype.kind == "M" else (unit, None)


SECONDS_PER_DAY = 86400.0
MIDNIGHT_NOTE = "midnight passed: later times are of the next day"


def unwrap_midnights(
    times: Float[np.ndarray, " n"],
    others: Sequence[np.ndarray],
    lines: np.ndarray,
) -> Float[np.ndarray, " n"]:
    """Clock times in seconds, one day later from every midnight on; `others` are the other coordinates.

    Readings that are sorted by position also go back in time, where those of the next position begin.
    If the midnights per position differ from those of all rows together, the times are ambiguous.

    >>> unwrap_midnights(np.array([86340.0, 0.0, 60.0]), [], np.arange(3))
    array([86340., 86400., 86460.])
    """
    found = _unwrap(times)
    if np.array_equal(found, times, equal_nan=True):
        return times
    positions = np.stack([np.zeros(len(times)), *others], axis=1)
    _, group = np.unique(positions, axis=0, return_inverse=True)
    by_position = np.empty_like(times)
    for index in range(group.max() + 1):
        by_position[group == index] = _unwrap(times[group == index])
    is_moving = len(np.unique(group)) == len(times)  # a probe that is never twice at one position
    is_agreed = is_moving or np.array_equal(found, by_position, equal_nan=True)
    if np.nanmax(times) >= SECONDS_PER_DAY or not is_agreed:
        line = lines[int(np.argmax(found != times))]
        raise InputError(
            f"column 't' goes back in time at line {line}, as a clock does at midnight, or where the "
            "readings of another sensor begin. Add the date to the times, or write a column of seconds."
        )
    return found


def _unwrap(times: np.ndarray) -> np.ndarray:
    """The times with a day added at each step back by more than half a day."""
    given = np.flatnonzero(np.isfinite(times))
    steps = np.diff(times[given], prepend=times[given[:1]])
    found = times.copy()
    found[given] += SECONDS_PER_DAY * np.cumsum(steps < -0.5 * SECONDS_PER_DAY)
    return found
