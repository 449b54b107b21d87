"""Spellings of dates and times: names of months, dates without marks, zones, days before a time."""

import datetime
import re
from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pgt.core.errors import InputError

# Hours ahead of UTC of abbreviations that mean one zone only.
_ZONE_HOURS = {
    "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "EST": -5, "EDT": -4, "MDT": -6, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
    "HKT": 8, "SGT": 8, "JST": 9, "KST": 9, "AWST": 8, "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11,
    "NZST": 12, "NZDT": 13,
}  # fmt: skip
# Abbreviations of several zones (CST: Chicago, China, Cuba), with a place that an error suggests.
_AMBIGUOUS_ZONES = {
    "CST": "America/Chicago", "CDT": "America/Chicago", "MST": "America/Denver",
    "PST": "America/Vancouver", "AST": "America/Halifax", "IST": "Asia/Kolkata", "BST": "Europe/London",
}  # fmt: skip
# Ambiguous abbreviations that are clear beside that of their summer time, and their offset.
_SUMMER_ZONES = {"MST": ("MDT", "-07:00"), "PST": ("PDT", "-08:00")}
_ZONE_LETTERS = "|".join(sorted({*_ZONE_HOURS, *_AMBIGUOUS_ZONES}, key=len, reverse=True))
SUNDAY = 6  # as pandas counts the days of a week
_ZONE_AREAS = (
    "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|"
    "Mexico|Pacific|US"
)
_ZONE_PLACE = rf"(?:{_ZONE_AREAS})(?:/[A-Z][A-Za-z_+\d-]+)+"  # but not "Date/Time"
ZONE = rf"(?:Z|(?:UTC|GMT)?[+-]\d{{1,2}}(?::?\d{{2}})?|UTC|GMT|{_ZONE_PLACE}|(?:{_ZONE_LETTERS}))"
_ZONE_IN_HEADING = re.compile(
    rf"\b(?:(?:UTC|GMT)\s*[+-]\d{{1,2}}(?::?\d{{2}})?(?!\d)|{_ZONE_PLACE}\b|(?:{'|'.join(_ZONE_HOURS)})\b)"
)


def zone_offset(zone: str) -> float | None:
    """Seconds by which a zone is ahead of UTC; None for a place, where they depend on the season.

    >>> zone_offset("+01:00"), zone_offset("GMT-3"), zone_offset("CEST"), zone_offset("Z")
    (3600.0, -10800.0, 7200.0, 0.0)
    """
    if zone in _AMBIGUOUS_ZONES:
        raise InputError(
            f"{zone!r} is the name of several zones; write it as +01:00, or by a place such as "
            f"{_AMBIGUOUS_ZONES[zone]}."
        )
    if zone in _ZONE_HOURS:
        return 3600.0 * _ZONE_HOURS[zone]
    found = re.search(r"([+-])(\d{1,2}):?(\d{2})?$", zone)
    if not found:
        return None if "/" in zone else 0.0
    size = 3600.0 * int(found[2]) + 60.0 * int(found[3] or 0)
    return -size if found[1] == "-" else size


def to_utc(times: Any, zone: str) -> Any:
    """Local times of a zone as times of UTC.

    >>> to_utc(pd.Series(pd.to_datetime(["2024-07-01 12:00"])), "Europe/Berlin")[0]
    Timestamp('2024-07-01 10:00:00')
    """
    seconds = zone_offset(zone)
    if seconds is not None:
        return times - np.timedelta64(int(seconds), "s")
    local = pd.DatetimeIndex(times)
    try:
        found = local.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    except (KeyError, ValueError, OSError):  # which of them depends on the version of pandas
        raise InputError(f"{zone!r} is not the name of a zone; write it as +01:00.") from None
    if (lost := found.isna() & ~local.isna()).any():
        raise InputError(
            f"the clocks of {zone} showed {local[lost][0]} twice or never, since they were put back "
            "or forward then; write the zone as +01:00."
        )
    return pd.Series(found.tz_convert("UTC").tz_localize(None), index=times.index)


def find_clock_change(times: Any) -> Any:
    """The time at which clocks without a zone were put back by an hour; None if they were not.

    >>> find_clock_change(np.array(["2024-10-27T02:50", "2024-10-27T02:10"], "M8[us]"))
    np.datetime64('2024-10-27T02:50:00.000000')
    """
    given = times[~np.isnat(times)]
    steps = np.diff(given) / np.timedelta64(1, "s")
    back = np.flatnonzero(steps < 0)
    if len(back) != 1 or steps[back[0]] < -3600:  # several steps back: readings sorted by sensor
        return None
    at = pd.Timestamp(given[back[0]])
    is_change = at.month in (4, 9, 10, 11) and at.day_of_week == SUNDAY and at.hour < 4
    return given[back[0]] if is_change else None


def resolve_zone(zone: str, others: Container[str]) -> str:
    """A zone as an offset from UTC, where only the other zones of its column tell which it is.

    >>> resolve_zone("MST", ["MDT", "MST"]), resolve_zone("MST", ["MST"])
    ('-07:00', 'MST')
    """
    summer, difference = _SUMMER_ZONES.get(zone, ("", zone))
    return difference if summer in others else zone


def is_zone_name(text: str) -> bool:
    """Whether a cell is the name of a zone."""
    return re.fullmatch(rf"UTC|GMT|{_ZONE_PLACE}|{_ZONE_LETTERS}", text) is not None


def is_unambiguous_zone(text: str) -> bool:
    """Whether an abbreviation means one zone only."""
    return text not in _AMBIGUOUS_ZONES


def has_zone(text: str) -> bool:
    """Whether a time of day has a zone."""
    return isinstance(text, str) and re.search(rf":\d.*?\s*{ZONE}$", text) is not None


def find_zone(heading: str) -> str | None:
    """The zone that a heading names: "Date Time, GMT+01:00", "Time (CET)"."""
    found = _ZONE_IN_HEADING.search(heading)
    return found[0].replace(" ", "") if found else None


# Months in full and abbreviated, in several languages.
_MONTH_NAMES = """
jan january januar janvier janv ene enero gen gennaio janeiro januari sty styczeń stycznia янв января
feb february februar février févr fév febrero febbraio fevereiro fev februari lut luty lutego фев февраля
mar march märz mär mrz mars marzo março maart mrt marzec marca мар марта
apr april avril avr abr abril aprile kwi kwiecień kwietnia апр апреля
may mai mayo mag maggio maio mei maj maja май мая
jun june juni juin junio giu giugno junho cze czerwiec czerwca июн июня
jul july juli juillet juil julio lug luglio julho lip lipiec lipca июл июля
aug august août aout ago agosto augustus sie sierpień sierpnia авг августа
sep sept september septembre septiembre set settembre setembro wrz wrzesień września сен сентября
oct october okt oktober octobre octubre ott ottobre out outubro paź październik października окт октября
nov november novembre noviembre novembro lis listopad listopada ноя ноября
dec december dez dezember déc décembre dic diciembre dicembre dezembro gru grudzień grudnia дек декабря
"""
_MONTH_NUMBERS = {
    word: n for n, line in enumerate(_MONTH_NAMES.strip().splitlines(), 1) for word in line.split()
}
_DAY_PATTERN, _YEAR_PATTERN, _REST_PATTERN = (
    r"(?P<day>\d{1,2})",
    r"(?P<year>\d{4})",
    r"(?:[T ,:]+(?P<rest>\d.*))?",
)
_MONTH_WORD, _WEEKDAY = r"(?P<month>[^\W\d_]{3,12})\.?", r"(?:[^\W\d_]{2,12}[.,]{0,2}\s+)?"
_CLOCK_BEFORE_YEAR = rf"(?P<rest>\d+:\d\d:\d\d)(?:\s+(?P<zone>{ZONE}))?\s+{_YEAR_PATTERN}"
_NAMED_MONTH_FORMATS = [
    # "12 Mar 10:00:00 2024" of `date` in some countries; first, since 10:00 is no year.
    re.compile(rf"{_WEEKDAY}{_DAY_PATTERN}\s+{_MONTH_WORD}\s+{_CLOCK_BEFORE_YEAR}"),
    re.compile(
        rf"{_WEEKDAY}{_DAY_PATTERN}\.?[- ]?{_MONTH_WORD}[- ,]*(?P<year>\d{{4}}|\d{{2}}){_REST_PATTERN}"
    ),
    re.compile(rf"{_WEEKDAY}{_MONTH_WORD}[- ]+{_DAY_PATTERN},?[- ]+{_YEAR_PATTERN}{_REST_PATTERN}"),
    # "Tue Mar 12 10:00:00 CET 2024" of C and Unix.
    re.compile(rf"{_WEEKDAY}{_MONTH_WORD}\s+{_DAY_PATTERN}\s+{_CLOCK_BEFORE_YEAR}"),
]
# A year, a month and a day in columns of their own before a time of day.
_DATE_BEFORE_CLOCK = re.compile(r"(\d{4}) (\d{1,2}) (\d{1,2}) (?=\d{1,2}:\d)")
_ORDINAL_DATE = re.compile(r"(?P<year>(?:19|20)\d\d)-(?P<day>[0-3]\d\d)(?P<rest>[T ]\d.*)?")
# After an offset from UTC the name of a place adds nothing: +01:00[Europe/Berlin].
_PLACE_AFTER_OFFSET = re.compile(r"(?P<zone>Z|[+-]\d\d:?\d\d)?\[(?P<place>[A-Z][\w/+-]*)\]$")
_CHINESE_DATE = re.compile(r"^(\d{4})年(\d{1,2})月(\d{1,2})日 ?")
_CHINESE_CLOCK = re.compile(r"(\d{1,2})[时時点](\d{1,2})分(?:(\d{1,2})秒)?$")
# "2024-03-12_10:00", and "12.03.2024 10.00" with points in the time.
_JOINED_DATE_AND_CLOCK = re.compile(r"^(\d{1,4}([-/.])\d{1,2}\2\d{1,4})[-_](?=\d{1,2}:\d)")
_CLOCK_WITH_POINTS = re.compile(
    r"^(\d{1,4}([-/.])\d{1,2}\2\d{1,4}) (\d{1,2})\.([0-5]\d)(?:\.([0-5]\d))?$"
)
_HOURS_AND_MINUTES = re.compile(
    r"(?<=\d[ T])(\d{1,2}) ?[hH] ?([0-5]\d)(?: ?(?:m|min) ?([0-5]\d)s?)?$"
)
_MONTH_PATTERN, _CLOCK_PATTERN = (
    r"(?P<month>0[1-9]|1[0-2])",
    r"(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)(?P<s>[0-5]\d)?",
)
_COMPACT_DATE = re.compile(
    rf"(?P<year>(?:1[789]|20)\d\d){_MONTH_PATTERN}(?P<day>0[1-9]|[12]\d|3[01])"
    rf"(?:[T_-]?{_CLOCK_PATTERN}(?P<zone>Z|[+-]\d{{4}})?)?"
)
_DATE_IN_PARTS = re.compile(
    r"(?P<year>\d{4}) (?P<month>\d{1,2}) (?P<day>\d{1,2})"
    r"(?: (?P<h>\d{1,2}))?(?: (?P<m>\d{1,2}))?(?: (?P<s>\d{1,2}(?:\.\d+)?))?"
)
# A date, then a column of its own for the clock: 0930, 93000, or three columns 9 30 0.
_DATE_PATTERN = r"(?P<date>\d{8}|\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{2,4})"
_UNMARKED_CLOCK = re.compile(rf"{_DATE_PATTERN} (?P<h>\d{{1,2}})(?P<m>[0-5]\d)(?P<s>[0-5]\d)?")
_CLOCK_IN_PARTS = re.compile(
    rf"{_DATE_PATTERN} (?P<h>\d{{1,2}})(?: (?P<m>\d{{1,2}}))?(?: (?P<s>\d{{1,2}}(?:\.\d+)?))?"
)
_CLOCK_DIGITS = re.compile(r"([01]?\d|2[0-3])[0-5]\d([0-5]\d)?")
# A duration of ISO 8601: PT1H30M.
_DURATION = re.compile(
    r"P(?:(?P<d>\d+)D)?T(?=\d)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)(?P<rest>\.\d+)?S)?"
)
_DAYS = re.compile(
    r"(?P<days>\d+) ?d(?:ays?)?,? (?P<hours>\d{1,2})(?P<rest>:\d{2}:\d{2}(?:\.\d+)?)"
)


def normalize_moment(text: str) -> str:
    """A date and time as 2024-03-12 10:00 where it has a known spelling; else the text itself.

    >>> normalize_moment("Mar 12, 2024 10:00"), normalize_moment("20240312T1000Z")
    ('2024-03-12 10:00', '2024-03-12 10:00Z')
    >>> normalize_moment("12.03.2024 0930"), normalize_moment("20240312 9 30")
    ('12.03.2024 09:30', '2024-03-12 09:30')
    >>> normalize_moment("1 day 02:00:00"), normalize_moment("10:05:01:250")
    ('26:00:00', '10:05:01.250')
    >>> normalize_moment("Tue Mar 12 10:00:00 CET 2024"), normalize_moment("2024-072T10:00")
    ('2024-03-12 10:00:00 CET', '2024-03-12T10:00')
    """
    text = re.sub(r"(:\d\d):(\d{1,6})$", r"\1.\2", text) if text.count(":") == 3 else text
    text = _CHINESE_CLOCK.sub(_join_by_colons, _CHINESE_DATE.sub(r"\1-\2-\3 ", text)).strip()
    text = _DATE_BEFORE_CLOCK.sub(r"\1-\2-\3 ", _JOINED_DATE_AND_CLOCK.sub(r"\1 ", text))
    text = _CLOCK_WITH_POINTS.sub(
        lambda found: f"{found[1]} {':'.join(filter(None, found.groups()[2:]))}", text
    )
    text = _PLACE_AFTER_OFFSET.sub(
        lambda found: found["zone"] or f" {found['place']}", text.removesuffix(" Uhr")
    )
    text = _HOURS_AND_MINUTES.sub(_join_by_colons, text)
    if found := _UNMARKED_CLOCK.fullmatch(text) or _CLOCK_IN_PARTS.fullmatch(text):
        clock = f"{int(found['h']):02d}:{int(found['m'] or 0):02d}"
        clock += f":{found['s']:0>2}" if found["s"] else ""
        return f"{normalize_moment(found['date'])} {clock}"
    if text[:4].isdigit():
        return _from_digits(text)
    if found := _DURATION.fullmatch(text):
        return _duration_to_clock(found)
    if found := _DAYS.fullmatch(text):
        return f"{24 * int(found['days']) + int(found['hours'])}{found['rest']}"
    text = re.sub(r" de ", " ", text)  # 12 de enero de 2024
    for pattern in _NAMED_MONTH_FORMATS:
        found = pattern.fullmatch(text)
        month = _MONTH_NUMBERS.get(found["month"].lower()) if found else None
        if found and month:
            day, parts = (
                f"{_full_year(found['year'])}-{month:02d}-{found['day']}",
                found.groupdict(),
            )
            return f"{day} {found['rest'] or ''} {parts.get('zone') or ''}".strip()
    return text


def are_unmarked_clocks(cells: Sequence[str], is_sure: bool) -> bool:
    """Whether numbers beside a date are times of day, 0930 or 093000.

    Where it `is_sure` that they are no seconds, 930 and 93000 are times as well.

    >>> are_unmarked_clocks(["0930", "1015"], False), are_unmarked_clocks(["0", "60", "120"], False)
    (True, False)
    """
    cells = pad_clocks(cells, is_sure)
    widths = {len(cell) for cell in cells}
    is_even = (
        widths in ({4}, {6}) or (is_sure and widths <= {3, 4}) or (is_sure and widths <= {5, 6})
    )
    return is_even and all(_CLOCK_DIGITS.fullmatch(cell) for cell in cells)


def pad_clocks(cells: Sequence[str], is_time: bool) -> list[str]:
    """Times of day beside a date with leading zeros: 5 becomes 0005 where 930 is another.

    >>> pad_clocks(["5", "930"], True), pad_clocks(["5", "23"], True)
    (['0005', '0930'], ['5', '23'])
    """
    widths = {len(cell) for cell in cells if cell}
    is_short = is_time and bool(widths) and min(widths) < 3 <= max(widths) <= 4
    is_short = is_short and all(cell.isdigit() for cell in cells if cell)
    return [f"{cell:0>4}" if cell else cell for cell in cells] if is_short else list(cells)


def is_compact_date(text: str) -> bool:
    """Whether a number may be a date without marks: 20240312, 202403121000."""
    return text.isdigit() and _COMPACT_DATE.fullmatch(text) is not None


def _from_digits(text: str) -> str:
    if found := _ORDINAL_DATE.fullmatch(text):
        return _ordinal_to_date(found) or text
    found = _COMPACT_DATE.fullmatch(text) or _DATE_IN_PARTS.fullmatch(text)
    if not found:
        return text
    day = f"{found['year']}-{int(found['month']):02d}-{int(found['day']):02d}"
    if not found["h"]:
        return day
    clock = f" {int(found['h']):02d}:{int(found['m'] or 0):02d}"
    clock += f":{found['s']:0>2}" if found["s"] else ""
    return day + clock + (found.groupdict().get("zone") or "")


def _ordinal_to_date(found: re.Match) -> str | None:
    """The date of a day of the year; None where the year has no such day."""
    first, count = datetime.date(int(found["year"]), 1, 1), int(found["day"])
    date = first + datetime.timedelta(days=count - 1)
    return f"{date}{found['rest'] or ''}" if count and date.year == first.year else None


def _duration_to_clock(found: re.Match) -> str:
    """A duration of ISO 8601 in hours, minutes and seconds."""
    sizes = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    seconds = sum(size * int(found[part] or 0) for part, size in sizes.items())
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}{found['rest'] or ''}"


def _join_by_colons(found: re.Match) -> str:
    return ":".join(f"{part:0>2}" for part in found.groups() if part)


def _full_year(year: str) -> str:
    """A year of two digits lies from 1969 to 2068, as in POSIX."""
    return year if len(year) == 4 else f"{'19' if int(year) > 68 else '20'}{year}"
