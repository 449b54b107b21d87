"""Zones of times: as a difference from UTC, by the name of a place, or in a few letters."""

import re
from collections.abc import Container
from typing import Any

import numpy as np
import pandas as pd

from pgt.ground.errors import InputError

# Hours ahead of UTC, where the letters mean one zone only.
_HOURS = {
    "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "EST": -5, "EDT": -4, "MDT": -6, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
    "HKT": 8, "SGT": 8, "JST": 9, "KST": 9, "AWST": 8, "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11,
    "NZST": 12, "NZDT": 13,
}  # fmt: skip
# Of several zones: Chicago, China and Cuba; India, Israel and Ireland; Britain and Bangladesh; ...
_SEVERAL = {
    "CST": "America/Chicago", "CDT": "America/Chicago", "MST": "America/Denver",
    "PST": "America/Vancouver", "AST": "America/Halifax", "IST": "Asia/Kolkata", "BST": "Europe/London",
}  # fmt: skip
# Letters of several zones mean one where those of its summer stand beside them.
_WITH_SUMMER = {"MST": ("MDT", "-07:00"), "PST": ("PDT", "-08:00")}
_LETTERS = "|".join(sorted({*_HOURS, *_SEVERAL}, key=len, reverse=True))
SUNDAY = 6  # counted from Monday
_AREAS = (
    "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|"
    "Mexico|Pacific|US"
)
_PLACE = rf"(?:{_AREAS})(?:/[A-Z][A-Za-z_+\d-]+)+"  # Date/Time is none
ZONE = rf"(?:Z|(?:UTC|GMT)?[+-]\d{{1,2}}(?::?\d{{2}})?|UTC|GMT|{_PLACE}|(?:{_LETTERS}))"
_IN_HEADING = re.compile(
    rf"\b(?:(?:UTC|GMT)\s*[+-]\d{{1,2}}(?::?\d{{2}})?(?!\d)|{_PLACE}\b|(?:{'|'.join(_HOURS)})\b)"
)


def seconds_of(zone: str) -> float | None:
    """By how much a zone is ahead of UTC; None: it is a place, where that depends on the season.

    >>> seconds_of("+01:00"), seconds_of("GMT-3"), seconds_of("CEST"), seconds_of("Z")
    (3600.0, -10800.0, 7200.0, 0.0)
    """
    if zone in _SEVERAL:
        raise InputError(
            f"{zone!r} is the name of several zones; write it as +01:00, or by a place such as "
            f"{_SEVERAL[zone]}."
        )
    if zone in _HOURS:
        return 3600.0 * _HOURS[zone]
    found = re.search(r"([+-])(\d{1,2}):?(\d{2})?$", zone)
    if not found:
        return None if "/" in zone else 0.0
    size = 3600.0 * int(found[2]) + 60.0 * int(found[3] or 0)
    return -size if found[1] == "-" else size


def to_utc(times: Any, zone: str) -> Any:
    """Moments by the clocks of a zone as moments of UTC.

    >>> to_utc(pd.Series(pd.to_datetime(["2024-07-01 12:00"])), "Europe/Berlin")[0]
    Timestamp('2024-07-01 10:00:00')
    """
    seconds = seconds_of(zone)
    if seconds is not None:
        return times - np.timedelta64(int(seconds), "s")
    moments = pd.DatetimeIndex(times)
    try:
        found = moments.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    except (KeyError, ValueError, OSError):  # which of them depends on the version of pandas
        raise InputError(f"{zone!r} is the name of no zone; write it as +01:00.") from None
    if (lost := found.isna() & ~moments.isna()).any():
        raise InputError(
            f"the clocks of {zone} showed {moments[lost][0]} twice or never, since they were put back "
            "or forward then; write the zone as +01:00."
        )
    return pd.Series(found.tz_convert("UTC").tz_localize(None), index=times.index)


def put_back(times: Any) -> Any:
    """The moment from which clocks without a zone were put back by an hour; None: they were not.

    >>> put_back(np.array(["2024-10-27T02:50", "2024-10-27T02:10", "2024-10-27T03:10"], "M8[us]"))
    np.datetime64('2024-10-27T02:50:00.000000')
    """
    given = times[~np.isnat(times)]
    steps = np.diff(given) / np.timedelta64(1, "s")
    back = np.flatnonzero(steps < 0)
    if len(back) != 1 or steps[back[0]] < -3600:  # of sensors one below the other there are more
        return None
    moment = pd.Timestamp(given[back[0]])
    is_then = moment.month in (4, 9, 10, 11) and moment.day_of_week == SUNDAY and moment.hour < 4
    return given[back[0]] if is_then else None


def beside(zone: str, others: Container[str]) -> str:
    """A zone as a difference from UTC, where only the others of a column tell which it is.

    >>> beside("MST", ["MDT", "MST"]), beside("MST", ["MST"])
    ('-07:00', 'MST')
    """
    summer, difference = _WITH_SUMMER.get(zone, ("", zone))
    return difference if summer in others else zone


def is_zone(text: str) -> bool:
    """Whether a cell is a zone in letters."""
    return re.fullmatch(rf"UTC|GMT|{_PLACE}|{_LETTERS}", text) is not None


def is_one_zone(text: str) -> bool:
    """Whether the letters mean one zone only."""
    return text not in _SEVERAL


def has_zone(text: str) -> bool:
    """Whether a time of day says its zone."""
    return isinstance(text, str) and re.search(rf":\d.*?\s*{ZONE}$", text) is not None


def zone_in(heading: str) -> str | None:
    """The zone that a heading names: "Date Time, GMT+01:00", "Time (CET)"."""
    found = _IN_HEADING.search(heading)
    return found[0].replace(" ", "") if found else None
