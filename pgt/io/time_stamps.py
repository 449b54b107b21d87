"""Times as loggers write them become numbers with an origin: dates, clocks and elapsed times.

A time may stand in several columns: a date and a clock, or a year and a day of the year. Clocks
without a date start again at midnight.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.data.units import conversion
from pgt.io.column_aliases import DATE_PARTS, DAY_COUNT_NAMES, is_milliseconds
from pgt.io.headings import Heading
from pgt.io.number_format import MISSING_WORDS, is_plain_number
from pgt.io.time_spellings import ZONE, has_zone, normalize_moment, pad_clocks, resolve_zone, to_utc

_CLOCK = r"\d{1,4}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s*[AaPp](?:\.?\s?[Mm]\.?)?)?"
_OPTIONAL_ZONE = rf"(?:\s*{ZONE})?"
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}(?:[T ,]+{_CLOCK}{_OPTIONAL_ZONE})?")
_NUMERIC_DATE = re.compile(
    rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}})(?:[T ,]+{_CLOCK}{_OPTIONAL_ZONE})?"
)
_TIME_OF_DAY = re.compile(rf"-?{_CLOCK}")
# The formats that a heading gives for the times below it.
_DAY_FIRST = re.compile(r"\bdd?[/.-]mm?[/.-]yy", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"\bmm?[/.-]dd?[/.-]yy", re.IGNORECASE)
_TWO_PARTS = re.compile(r"\b(?P<hours>hh?:mm)\b(?!:)|(?<!:)\b(?P<minutes>mm?:ss)\b", re.IGNORECASE)
_END_OF_DAY = re.compile(r" 24(?=:00(?::00(?:\.0+)?)?$)")
CLOCK_FORMATS = (
    "", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %I:%M:%S.%f %p",
)  # fmt: skip


def is_time_stamp(text: str) -> bool:
    """Whether a cell is a date or a time of day.

    >>> is_time_stamp("12.03.2024 10:00"), is_time_stamp("0:05:30"), is_time_stamp("12.5")
    (True, True, False)
    """
    if not text.removeprefix("-")[:1].isalnum() or not re.search(r"\d", text):
        return False
    text = normalize_moment(text)
    return any(kind.fullmatch(text) for kind in (_YEAR_FIRST, _NUMERIC_DATE, _TIME_OF_DAY))


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
    for clock in CLOCK_FORMATS:
        rest = given[found[given.index].isna()]
        found[rest.index] = _parse_format(rest, days + clock)
    if found[given.index].isna().any():
        row = found[given.index].isna().idxmax()
        raise InputError(
            f"line {lines[row]}, column {name!r}: {given[row][:40]!r} is not a time like the others; "
            "write all in one format, such as 2024-03-12 10:00:00."
        )
    return found.to_numpy()


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
    text = normalize_moment(" ".join(cell.split()))
    text = re.sub(r"(?<=\d)[T,]?\s+(?=\d)|(?<=\d)T(?=\d)", " ", text)
    text = re.sub(r"(:\d{2}),(\d+)", r"\1.\2", text)
    text = re.sub(r"(:\d{2}\.\d{6})\d+", r"\1", text)  # finer than microseconds is dropped
    text = re.sub(
        r"(?<=\d)(\s*)([AaPp])(\.?\s?[Mm]\.?)?$", lambda f: f"{f[1]}{f[2].upper()}M", text
    )
    return re.sub(r"(?<=\d)(?=[AP]M$)", " ", text)


def _parse_format(texts: pd.Series, layout: str) -> pd.Series:
    """The times that have this format, in UTC where they have a zone; NaT elsewhere."""
    zone = texts.str.extract(rf"(?P<time>.*?)\s*(?P<zone>{ZONE})?$")
    is_zoned = zone["zone"].notna() & texts.str.contains(":")
    plain = texts.where(~is_zoned, zone["time"])
    at_end = plain.str.contains(_END_OF_DAY)
    plain = plain.str.replace(_END_OF_DAY, " 00", regex=True)
    options: dict[str, Any] = {"format": layout, "errors": "coerce"}
    found = pd.to_datetime(plain, **options).astype("datetime64[us]")
    found[at_end] += np.timedelta64(1, "D")
    names = zone["zone"][is_zoned].unique()
    for name in names:
        its = is_zoned & (zone["zone"] == name)
        found[its] = to_utc(found[its], resolve_zone(name, names)).astype("datetime64[us]")
    return found


def _date_format(texts: pd.Series, name: str, dates: str | None) -> str:
    first = texts.iloc[0]
    if found := _YEAR_FIRST.fullmatch(first):
        return f"%Y{found[1]}%m{found[1]}%d"
    found = _NUMERIC_DATE.fullmatch(first)
    if found is None:
        raise InputError(
            f"column {name!r}: {first[:40]!r} is neither a number nor a time; write times as "
            "2024-03-12 10:00:00."
        )
    mark, year = found[2], "%Y" if len(found[4]) == 4 else "%y"
    return {"day first": f"%d{mark}%m{mark}{year}", "month first": f"%m{mark}%d{mark}{year}"}[
        _day_month_order(texts, found, name, dates)
    ]


def _day_month_order(texts: pd.Series, first: re.Match, name: str, dates: str | None) -> str:
    """Whether the day or the month comes first: by the mark, a number above 12, or the dialect."""
    if dates is not None:
        return dates
    if first[2] == ".":
        return "day first"
    parts = texts.str.extract(r"^(\d{1,2})[-/](\d{1,2})[-/]").astype(float).max()
    is_day = [bool(parts[column] > 12) for column in (0, 1)]
    if is_day[0] != is_day[1] and not (first[2] == "-" and len(first[4]) == 2):
        _check_year_last(texts, name, len(first[4]))
        return "day first" if is_day[0] else "month first"
    raise InputError(
        f"column {name!r}: {first[0]!r} may have the day or the month first. Say which: "
        '`dialect=pgt.io.Dialect(dates="day first")` or `dialect=pgt.io.Dialect(dates="month first")`.'
    )


def _check_year_last(texts: pd.Series, name: str, digits: int) -> None:
    """Refuse 24/03/12, 24/03/13: the number that changes is rather the day than the year."""
    parts = texts.str.extract(r"^(\d{1,2})[-/]\d{1,2}[-/](\d{2})\b").nunique()
    if digits == 2 and parts[1] > parts[0]:
        raise InputError(
            f"column {name!r}: {texts.iloc[0]!r} may have the year first. Write the year in full, as in "
            '2024-03-12; if it is last, write `dialect=pgt.io.Dialect(dates="day first")`.'
        )


def _clock_seconds(texts: pd.Series, name: str, heading: str) -> pd.Series:
    """Times without a date, in seconds."""
    texts = _complete_clock(texts, heading)
    parts = texts.str.extract(r"^-?(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([AP]M)?$")
    if parts[2].isna().any():
        raise InputError(
            f"column {name!r}: {texts.iloc[0]!r} may be hours and minutes, or minutes and seconds. "
            "Write three parts, 0:05:30, or a number."
        )
    hours, minutes, seconds = (parts[column].astype(float) for column in (0, 1, 2))
    after = (parts[3] == "PM") & (hours < 12)
    hours = hours.where(~((parts[3] == "AM") & (hours == 12)), 0.0) + 12.0 * after
    sign = 1.0 - 2.0 * texts.str.startswith("-")
    return sign * (3600.0 * hours + 60.0 * minutes + seconds)


def _complete_clock(texts: pd.Series, heading: str) -> pd.Series:
    """Clocks of two parts with a third, where a fraction or the heading tells what the two are."""
    told = _TWO_PARTS.search(heading)
    if told and told["hours"]:
        return texts.str.replace(r"^(-?\d+:\d{2})$", r"\1:00", regex=True)
    least = r"(?:\.\d+)?" if told else r"\.\d+"
    return texts.str.replace(rf"^(-?)(\d{{1,2}}:\d{{2}}{least})$", r"\g<1>0:\2", regex=True)


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


# Columns of times of day without marks: 930 is 09:30.
CLOCK_NAMES = (
    "hourminute", "hour_minute", "hour minute", "hour/minute", "hour/min", "hhmm", "hhmmss", "hrmn",
    "time",
)  # fmt: skip
DAY_OF_YEAR_NAMES = tuple(word for word in DAY_COUNT_NAMES if word != "day")  # "day" is of a month


def find_ordinal_parts(names: Sequence[str]) -> list[str]:
    """The names that are a year, a day of the year and a time of day; none without the first two.

    >>> find_ordinal_parts(["T", "Year", "DOY", "Hour"]), find_ordinal_parts(["DOY", "T"])
    (['Year', 'DOY', 'Hour'], [])
    """
    by_word = {name.lower(): name for name in reversed(names)}

    def first(words: Sequence[str]) -> str | None:
        return next((by_word[word] for word in words if word in by_word), None)

    found = [first(words) for words in (DATE_PARTS[0], DAY_OF_YEAR_NAMES)]
    if not all(found) or first(DATE_PARTS[1]):
        return []
    clock = (first(words) for words in ((*DATE_PARTS[3], *CLOCK_NAMES), *DATE_PARTS[4:]))
    return [name for name in (*found, *itertools.takewhile(bool, clock)) if name]


def is_ordinal(names: Sequence[str]) -> bool:
    """Whether columns of these names are a year and a day of the year, with or without a clock."""
    return (
        len(names) > 1
        and names[0].lower() in DATE_PARTS[0]
        and names[1].lower() in DAY_OF_YEAR_NAMES
    )


def format_ordinal_date(parts: Sequence[str], line: int) -> str:
    """A year, a day of the year and a time of day as a date; a fraction of a day becomes its time.

    >>> format_ordinal_date(("2024", "72", "10"), 2), format_ordinal_date(("2024", "72.5"), 2)
    ('2024-03-12 10', '2024-03-12 12:00:00')
    """
    year, day, *clock = (part.removesuffix(".0") for part in parts)
    if not any(parts):
        return ""
    if not (year.isdecimal() and len(year) == 4 and is_plain_number(day) and 1 <= float(day) < 367):
        raise InputError(
            f"line {line}: {' '.join(parts)!r} is not a year and a day of the year; write them as 2024 "
            "and 72."
        )
    date = np.datetime64(year, "D") + np.timedelta64(int(float(day)) - 1, "D")
    if (fraction := float(day) % 1.0) and not clock:
        seconds = np.timedelta64(round(86400 * fraction), "s")
        return str(date.astype("datetime64[s]") + seconds).replace("T", " ")
    return " ".join([str(date), *clock])


def join_time_columns(
    parts: Sequence[tuple[Heading, np.ndarray]], lines: np.ndarray, dates: str | None
) -> np.ndarray:
    """The times in one or several columns of text; a column of numbers is returned as it is."""
    if len(parts) == 1 and parts[0][1].dtype != object:
        return parts[0][1]
    columns, names = [column.tolist() for _, column in parts], [h.name for h, _ in parts]
    fractions = columns.pop() if len(columns) > 1 and is_milliseconds(names[-1]) else None
    if len(columns) == 2:
        columns[1] = pad_clocks(columns[1], names[1].lower() not in DATE_PARTS[3])
    rows = zip(*columns, strict=True)
    if is_ordinal(names):
        texts = [
            format_ordinal_date(row, line) for row, line in zip(rows, lines.tolist(), strict=True)
        ]
    else:
        texts = [" ".join(row) for row in rows]
    if fractions is not None:
        texts = [f"{text}.{ms:0>3}" for text, ms in zip(texts, fractions, strict=True)]
    return parse_time_stamps(texts, lines, "t", dates, " ".join(h.text for h, _ in parts))


SECONDS_PER_DAY = 86400.0
MIDNIGHT_NOTE = "midnight passed: later times are of the next day"


def unwrap_midnights(
    times: Float[np.ndarray, " n"],
    others: Sequence[np.ndarray],
    lines: np.ndarray,
) -> Float[np.ndarray, " n"]:
    """Clock times in seconds, one day later from every midnight on; `others` are the other coordinates.

    Readings that are sorted by position also go back in time, where those of the next position begin.
    If the midnights per position differ from those of all rows together, the times are ambiguous,
    unless all positions have the same times.

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
    if _have_same_times(times, group):
        return by_position
    is_moving = len(np.unique(group)) == len(times)  # a probe that is never twice at one position
    is_agreed = is_moving or np.array_equal(found, by_position, equal_nan=True)
    if np.nanmax(times) >= SECONDS_PER_DAY or not is_agreed:
        line = lines[int(np.argmax(found != times))]
        raise InputError(
            f"column 't' goes back in time at line {line}, as a clock does at midnight, or where the "
            "readings of another sensor begin. Add the date to the times, or write a column of seconds."
        )
    return found


def _have_same_times(times: np.ndarray, group: np.ndarray) -> bool:
    """Whether rows are sorted by position, and all positions have the same three times or more."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    is_sorted = bool(1 < len(starts) == group.max() + 1)
    parts = np.split(times, starts[1:])
    return is_sorted and len(parts[0]) > 2 and all(np.array_equal(parts[0], p) for p in parts)


def _unwrap(times: np.ndarray) -> np.ndarray:
    """The times with a day added at each step back by more than half a day."""
    given = np.flatnonzero(np.isfinite(times))
    steps = np.diff(times[given], prepend=times[given[:1]])
    found = times.copy()
    found[given] += SECONDS_PER_DAY * np.cumsum(steps < -0.5 * SECONDS_PER_DAY)
    return found
