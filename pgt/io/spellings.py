"""Moments in other spellings: months by name, dates without marks, days before a time."""

import datetime
import re
from collections.abc import Sequence

from pgt.io.zones import ZONE

# In full and short, in the languages that loggers speak.
_MONTHS = """
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
_NUMBERS = {w: n for n, line in enumerate(_MONTHS.strip().splitlines(), 1) for w in line.split()}
_DAY, _YEAR, _REST = r"(?P<day>\d{1,2})", r"(?P<year>\d{4})", r"(?:[T ,:]+(?P<rest>\d.*))?"
_WORD, _WEEKDAY = r"(?P<month>[^\W\d_]{3,12})\.?", r"(?:[^\W\d_]{2,12}[.,]{0,2}\s+)?"
_NAMED = [
    re.compile(  # of `date` in some places; first, since 10:00 is no year
        rf"{_WEEKDAY}{_DAY}\s+{_WORD}\s+(?P<rest>\d+:\d\d:\d\d)(?:\s+(?P<zone>{ZONE}))?\s+{_YEAR}"
    ),
    re.compile(rf"{_WEEKDAY}{_DAY}\.?[- ]?{_WORD}[- ,]*(?P<year>\d{{4}}|\d{{2}}){_REST}"),
    re.compile(rf"{_WEEKDAY}{_WORD}[- ]+{_DAY},?[- ]+{_YEAR}{_REST}"),
    re.compile(  # of C, and with a zone that of Unix
        rf"{_WEEKDAY}{_WORD}\s+{_DAY}\s+(?P<rest>\d+:\d\d:\d\d)(?:\s+(?P<zone>{ZONE}))?\s+{_YEAR}"
    ),
]
# A year, a month and a day in columns of their own, and a time of day.
_BEFORE_CLOCK = re.compile(r"(\d{4}) (\d{1,2}) (\d{1,2}) (?=\d{1,2}:\d)")
_ORDINAL = re.compile(r"(?P<year>(?:19|20)\d\d)-(?P<day>[0-3]\d\d)(?P<rest>[T ]\d.*)?")
# Behind a difference from UTC the place says nothing more: +01:00[Europe/Berlin].
_PLACE = re.compile(r"(?P<zone>Z|[+-]\d\d:?\d\d)?\[(?P<place>[A-Z][\w/+-]*)\]$")
_CHINESE = re.compile(r"^(\d{4})年(\d{1,2})月(\d{1,2})日 ?")
_CHINESE_CLOCK = re.compile(r"(\d{1,2})[时時点](\d{1,2})分(?:(\d{1,2})秒)?$")
# Between a date and a time of day other marks than a blank, and points in the time.
_BOUND = re.compile(r"^(\d{1,4}([-/.])\d{1,2}\2\d{1,4})[-_](?=\d{1,2}:\d)")
_POINTS = re.compile(r"^(\d{1,4}([-/.])\d{1,2}\2\d{1,4}) (\d{1,2})\.([0-5]\d)(?:\.([0-5]\d))?$")
_HOURS = re.compile(r"(?<=\d[ T])(\d{1,2}) ?[hH] ?([0-5]\d)(?: ?(?:m|min) ?([0-5]\d)s?)?$")
_MONTH, _CLOCK = r"(?P<month>0[1-9]|1[0-2])", r"(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)(?P<s>[0-5]\d)?"
_DIGITS = re.compile(
    rf"(?P<year>(?:1[789]|20)\d\d){_MONTH}(?P<day>0[1-9]|[12]\d|3[01])"
    rf"(?:[T_-]?{_CLOCK}(?P<zone>Z|[+-]\d{{4}})?)?"
)
_PARTS = re.compile(
    r"(?P<year>\d{4}) (?P<month>\d{1,2}) (?P<day>\d{1,2})"
    r"(?: (?P<h>\d{1,2}))?(?: (?P<m>\d{1,2}))?(?: (?P<s>\d{1,2}(?:\.\d+)?))?"
)
# Behind a date, in a column of its own: 0930, 93000, or 9 30 of three columns.
_DATE = r"(?P<date>\d{8}|\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{2,4})"
_UNMARKED = re.compile(rf"{_DATE} (?P<h>\d{{1,2}})(?P<m>[0-5]\d)(?P<s>[0-5]\d)?")
_APART = re.compile(
    rf"{_DATE} (?P<h>\d{{1,2}})(?: (?P<m>\d{{1,2}}))?(?: (?P<s>\d{{1,2}}(?:\.\d+)?))?"
)
_TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3])[0-5]\d([0-5]\d)?")
# Of ISO 8601: PT1H30M.
_DURATION = re.compile(
    r"P(?:(?P<d>\d+)D)?T(?=\d)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)(?P<rest>\.\d+)?S)?"
)
_DAYS = re.compile(
    r"(?P<days>\d+) ?d(?:ays?)?,? (?P<hours>\d{1,2})(?P<rest>:\d{2}:\d{2}(?:\.\d+)?)"
)


def with_year_first(text: str) -> str:
    """A moment as 2024-03-12 10:00, where it is spelt in one of these ways; else the text itself.

    >>> with_year_first("Mar 12, 2024 10:00"), with_year_first("20240312T1000Z")
    ('2024-03-12 10:00', '2024-03-12 10:00Z')
    >>> with_year_first("12.03.2024 0930"), with_year_first("20240312 9 30")
    ('12.03.2024 09:30', '2024-03-12 09:30')
    >>> with_year_first("1 day 02:00:00"), with_year_first("10:05:01:250")
    ('26:00:00', '10:05:01.250')
    >>> with_year_first("Tue Mar 12 10:00:00 CET 2024"), with_year_first("2024-072T10:00")
    ('2024-03-12 10:00:00 CET', '2024-03-12T10:00')
    """
    text = re.sub(r"(:\d\d):(\d{1,6})$", r"\1.\2", text) if text.count(":") == 3 else text
    text = _CHINESE_CLOCK.sub(_with_colons, _CHINESE.sub(r"\1-\2-\3 ", text)).strip()
    text = _BEFORE_CLOCK.sub(r"\1-\2-\3 ", _BOUND.sub(r"\1 ", text))
    text = _POINTS.sub(
        lambda found: f"{found[1]} {':'.join(filter(None, found.groups()[2:]))}", text
    )
    text = _PLACE.sub(
        lambda found: found["zone"] or f" {found['place']}", text.removesuffix(" Uhr")
    )
    text = _HOURS.sub(_with_colons, text)
    if found := _UNMARKED.fullmatch(text) or _APART.fullmatch(text):
        clock = f"{int(found['h']):02d}:{int(found['m'] or 0):02d}"
        clock += f":{found['s']:0>2}" if found["s"] else ""
        return f"{with_year_first(found['date'])} {clock}"
    if text[:4].isdigit():
        return _from_digits(text)
    if found := _DURATION.fullmatch(text):
        return _as_clock(found)
    if found := _DAYS.fullmatch(text):
        return f"{24 * int(found['days']) + int(found['hours'])}{found['rest']}"
    text = re.sub(r" de ", " ", text)  # 12 de enero de 2024
    for pattern in _NAMED:
        found = pattern.fullmatch(text)
        month = _NUMBERS.get(found["month"].lower()) if found else None
        if found and month:
            day, parts = f"{_whole(found['year'])}-{month:02d}-{found['day']}", found.groupdict()
            return f"{day} {found['rest'] or ''} {parts.get('zone') or ''}".strip()
    return text


def is_unmarked(cells: Sequence[str], is_sure: bool) -> bool:
    """Whether numbers beside a date are times of day: 0930 or 093000; where it `is_sure` that they are no
    seconds, also 930 and 93000.

    >>> is_unmarked(["0930", "1015"], False), is_unmarked(["0", "60", "120"], False)
    (True, False)
    """
    cells = in_four_digits(cells, is_sure)
    widths = {len(cell) for cell in cells}
    is_even = (
        widths in ({4}, {6}) or (is_sure and widths <= {3, 4}) or (is_sure and widths <= {5, 6})
    )
    return is_even and all(_TIME_OF_DAY.fullmatch(cell) for cell in cells)


def in_four_digits(cells: Sequence[str], is_time: bool) -> list[str]:
    """Times of day beside a date that are written without zeros in front: 5 is 0005 where 930 is one.

    >>> in_four_digits(["5", "930"], True), in_four_digits(["5", "23"], True)
    (['0005', '0930'], ['5', '23'])
    """
    widths = {len(cell) for cell in cells if cell}
    is_short = is_time and bool(widths) and min(widths) < 3 <= max(widths) <= 4
    is_short = is_short and all(cell.isdigit() for cell in cells if cell)
    return [f"{cell:0>4}" if cell else cell for cell in cells] if is_short else list(cells)


def is_compact(text: str) -> bool:
    """Whether a number may be a date without marks: 20240312, 202403121000."""
    return text.isdigit() and _DIGITS.fullmatch(text) is not None


def _from_digits(text: str) -> str:
    if found := _ORDINAL.fullmatch(text):
        return _of_the_year(found) or text
    found = _DIGITS.fullmatch(text) or _PARTS.fullmatch(text)
    if not found:
        return text
    day = f"{found['year']}-{int(found['month']):02d}-{int(found['day']):02d}"
    if not found["h"]:
        return day
    clock = f" {int(found['h']):02d}:{int(found['m'] or 0):02d}"
    clock += f":{found['s']:0>2}" if found["s"] else ""
    return day + clock + (found.groupdict().get("zone") or "")


def _of_the_year(found: re.Match) -> str | None:
    """The date of a day that is counted from the first of January; None: the year has none such."""
    first, count = datetime.date(int(found["year"]), 1, 1), int(found["day"])
    date = first + datetime.timedelta(days=count - 1)
    return f"{date}{found['rest'] or ''}" if count and date.year == first.year else None


def _as_clock(found: re.Match) -> str:
    """A length of time of ISO 8601 in hours, minutes and seconds."""
    sizes = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    seconds = sum(size * int(found[part] or 0) for part, size in sizes.items())
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}{found['rest'] or ''}"


def _with_colons(found: re.Match) -> str:
    return ":".join(f"{part:0>2}" for part in found.groups() if part)


def _whole(year: str) -> str:
    """A year of two digits is one since 1969, as everywhere."""
    return year if len(year) == 4 else f"{'19' if int(year) > 68 else '20'}{year}"
