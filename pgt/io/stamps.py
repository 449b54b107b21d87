"""Times as loggers write them: dates, clocks and elapsed times become numbers with an origin."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pgt.data.units import conversion
from pgt.ground.errors import InputError
from pgt.io.marks import MISSING
from pgt.io.spellings import with_year_first
from pgt.io.zones import ZONE, beside, has_zone, to_utc

_CLOCK = r"\d{1,4}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s*[AaPp](?:\.?\s?[Mm]\.?)?)?"
_ZONE = rf"(?:\s*{ZONE})?"
_YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}(?:[T ,]+{_CLOCK}{_ZONE})?")
_NUMBERS = re.compile(
    rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}})(?:[T ,]+{_CLOCK}{_ZONE})?"
)
_TIME = re.compile(rf"-?{_CLOCK}")
# What a heading says of the times below it.
_DAY_FIRST = re.compile(r"\bdd?[/.-]mm?[/.-]yy", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"\bmm?[/.-]dd?[/.-]yy", re.IGNORECASE)
_TWO_PARTS = re.compile(r"\b(?P<hours>hh?:mm)\b(?!:)|(?<!:)\b(?P<minutes>mm?:ss)\b", re.IGNORECASE)
_END_OF_DAY = re.compile(r" 24(?=:00(?::00(?:\.0+)?)?$)")
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %I:%M:%S.%f %p")


def is_stamp(text: str) -> bool:
    """Whether a cell is a date or a time of day.

    >>> is_stamp("12.03.2024 10:00"), is_stamp("0:05:30"), is_stamp("12.5")
    (True, True, False)
    """
    if not text.removeprefix("-")[:1].isalnum() or not re.search(r"\d", text):
        return False
    text = with_year_first(text)
    return any(kind.fullmatch(text) for kind in (_YEAR_FIRST, _NUMBERS, _TIME))


def parse_stamps(
    cells: Sequence[str], lines: np.ndarray, name: str, dates: str | None, heading: str = ""
) -> np.ndarray:
    """Dates as datetime64, times without a date as seconds; NaT and NaN where a cell is empty.

    The `heading` may say how they are written: "Date (dd/mm/yyyy)", "Elapsed (mm:ss)".
    """
    if dates is None and _DAY_FIRST.search(heading):
        dates = "day first"
    elif dates is None and _MONTH_FIRST.search(heading):
        dates = "month first"
    texts: Any = pd.Series([_tidy(cell) for cell in cells], dtype=object)
    given: Any = texts[texts.str.lower().map(lambda text: text not in MISSING)]
    if given.empty:
        return np.full(len(texts), np.nan)
    if all(map(_TIME.fullmatch, given)):
        return _seconds(given, name, heading).reindex(texts.index).to_numpy(float)
    _check_zones(given, lines, name)
    days = _date_format(given, name, dates)
    found: Any = pd.Series(pd.NaT, index=texts.index, dtype="datetime64[us]")
    for clock in CLOCKS:
        rest = given[found[given.index].isna()]
        found[rest.index] = _parsed(rest, days + clock)
    if found[given.index].isna().any():
        row = found[given.index].isna().idxmax()
        raise InputError(
            f"line {lines[row]}, column {name!r}: {given[row][:40]!r} is not a time like the others; "
            "write them all alike, such as 2024-03-12 10:00:00."
        )
    return found.to_numpy()


def _check_zones(texts: pd.Series, lines: np.ndarray, name: str) -> None:
    """Refuse times of which some say their zone: the others may be of any."""
    clocks: Any = texts[texts.str.contains(":")]
    zoned = clocks.map(has_zone).astype(bool)
    if zoned.any() and not zoned.all():
        one, other = zoned.idxmax(), (~zoned).idxmax()
        raise InputError(
            f"column {name!r}: {clocks[one][:40]!r} in line {lines[one]} says its zone, and "
            f"{clocks[other][:40]!r} in line {lines[other]} does not; write them all alike."
        )


def _tidy(cell: str) -> str:
    """One blank between date and time, points in the seconds, no zone that is zero."""
    text = with_year_first(" ".join(cell.split()))
    text = re.sub(r"(?<=\d)[T,]?\s+(?=\d)|(?<=\d)T(?=\d)", " ", text)
    text = re.sub(r"(:\d{2}),(\d+)", r"\1.\2", text)
    text = re.sub(r"(:\d{2}\.\d{6})\d+", r"\1", text)  # beyond microseconds nobody measures a field
    text = re.sub(
        r"(?<=\d)(\s*)([AaPp])(\.?\s?[Mm]\.?)?$", lambda f: f"{f[1]}{f[2].upper()}M", text
    )
    return re.sub(r"(?<=\d)(?=[AP]M$)", " ", text)


def _parsed(texts: pd.Series, layout: str) -> pd.Series:
    """What fits the layout, in UTC where there is a zone."""
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
        found[its] = to_utc(found[its], beside(name, names)).astype("datetime64[us]")
    return found


def _date_format(texts: pd.Series, name: str, dates: str | None) -> str:
    first = texts.iloc[0]
    if found := _YEAR_FIRST.fullmatch(first):
        return f"%Y{found[1]}%m{found[1]}%d"
    found = _NUMBERS.fullmatch(first)
    if found is None:
        raise InputError(
            f"column {name!r}: {first[:40]!r} is neither a number nor a time; write times as "
            "2024-03-12 10:00:00."
        )
    mark, year = found[2], "%Y" if len(found[4]) == 4 else "%y"
    return {
        "day first": f"%d{mark}%m{mark}{year}",
        "month first": f"%m{mark}%d{mark}{year}",
    }[_order(texts, found, name, dates)]


def _order(texts: pd.Series, first: re.Match, name: str, dates: str | None) -> str:
    """Whether the day or the month comes first: by the mark, by a number above 12, or as was said."""
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
    """Refuse 24/03/12, 24/03/13: what changes from row to row is rather the day than the year."""
    parts = texts.str.extract(r"^(\d{1,2})[-/]\d{1,2}[-/](\d{2})\b").nunique()
    if digits == 2 and parts[1] > parts[0]:
        raise InputError(
            f"column {name!r}: {texts.iloc[0]!r} may have the year first. Write the year in full, as in "
            '2024-03-12; if it is last, say so: `dialect=pgt.io.Dialect(dates="day first")`.'
        )


def _seconds(texts: pd.Series, name: str, heading: str) -> pd.Series:
    """Times without a date, as seconds."""
    texts = _in_three_parts(texts, heading)
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


def _in_three_parts(texts: pd.Series, heading: str) -> pd.Series:
    """Minutes and seconds, as a fraction or the heading tells, or hours and minutes, with all parts."""
    told = _TWO_PARTS.search(heading)
    if told and told["hours"]:
        return texts.str.replace(r"^(-?\d+:\d{2})$", r"\1:00", regex=True)
    least = r"(?:\.\d+)?" if told else r"\.\d+"
    return texts.str.replace(rf"^(-?)(\d{{1,2}}:\d{{2}}{least})$", r"\g<1>0:\2", regex=True)


def since(times: np.ndarray, origin: np.datetime64, unit: str) -> np.ndarray:
    """Dates as numbers in a unit since an origin."""
    seconds = (times - origin) / np.timedelta64(1, "s")
    found = conversion(unit, "s")
    if found is None:
        raise InputError(
            f"'t' is a column of times, which {unit!r} is no unit of; write t = \"s\"."
        )
    return np.where(np.isnat(times), np.nan, seconds / found[0])


def spoken(origin: np.datetime64) -> str:
    """The origin as it is said: no more digits than it has.

    >>> spoken(np.datetime64("2024-03-12T10:00:00.500000"))
    '2024-03-12T10:00:00.5'
    """
    text = str(origin.astype("datetime64[us]"))
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.removesuffix("T00:00:00")


def split_origin(unit: str) -> tuple[str, np.datetime64 | None]:
    """The unit of a CF time axis, and its origin.

    >>> split_origin("minutes since 2024-03-12 10:00")
    ('minutes', np.datetime64('2024-03-12T10:00:00.000000'))
    """
    plain, word, text = unit.partition(" since ")
    if not word:
        return unit, None
    try:
        text = re.sub(r":(\d)(?=[.:\s]|$)", r":0\1", text.strip())  # 00:00:0.0 of ERA5
        found = parse_stamps([text], np.zeros(1, int), "t", None)
    except InputError:
        return unit, None
    return (plain.strip(), found[0]) if found.dtype.kind == "M" else (unit, None)
