"""Times that are numbers since a moment which nobody says."""

import numpy as np

DAY = 86400.0
FIRST, LAST = 20 * 365.25, 80 * 365.25  # of the days since 1970 in which loggers have logged
COUNTED = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
EXCEL, MATLAB = 25569, 719529  # their numbers of 1970-01-01
JULIAN, MODIFIED = 2440587.5, 40587  # those of astronomers
LABVIEW = 2082844800  # seconds from 1904 to 1970


def doubt(times: np.ndarray, unit: str | None = None) -> str | None:
    """What a column of numbers may count, in words; None: it counts from zero, as it should.

    >>> doubt(np.array([1.7e9, 1.7e9 + 60]))
    "t may count from 1970: if so, write units = {t = 'seconds since 1970-01-01'}"
    >>> doubt(np.array([0.0, 60.0]))
    """
    finite = times[np.isfinite(times)]
    if not finite.size:
        return None
    low, high = finite.min(), finite.max()
    if unit is None and _are_dates(finite):
        return "t may be dates without a century, as in 240312: if so, write them as 2024-03-12"
    for counted, seconds in COUNTED.items():
        if low * seconds / DAY > FIRST and high * seconds / DAY < LAST:
            return (
                f"t may count from 1970: if so, write units = {{t = '{counted} since 1970-01-01'}}"
            )
    if low - LABVIEW > FIRST * DAY and high - LABVIEW < LAST * DAY and unit in (None, "s"):
        return (
            "t may count from 1904 (LabVIEW): if so, write units = {t = 'seconds since 1904-01-01'}"
        )
    if unit is not None:  # neither of the following counts anything but days
        return None
    if low - MATLAB > FIRST and high - MATLAB < LAST:
        return f"t may be MATLAB's number of the day: if so, t - {MATLAB} are days since 1970-01-01"
    if low - EXCEL > FIRST and high - EXCEL < LAST and high - low < 0.05 * low:
        return (
            "t may be Excel's number of the day: if so, write units = {t = 'days since 1899-12-30'}"
        )
    for name, zero in (("Julian", JULIAN), ("modified Julian", MODIFIED)):
        if low - zero > FIRST and high - zero < LAST:
            return f"t may be the {name} number of the day: if so, t - {zero} are days since 1970-01-01"
    return None


def _are_dates(times: np.ndarray) -> bool:
    """Whether numbers are all of six digits, a month and a day in the middle and at the end or begin."""
    if (
        (times % 1).any()
        or times.min() < 10_101
        or times.max() > 991_231
        or len(np.unique(times)) < 2
    ):
        return False
    first, month, last = times // 10_000, times // 100 % 100, times % 100
    are_days = all(((part >= 1) & (part <= 31)).all() for part in (first, last))
    return bool(((month >= 1) & (month <= 12)).all() and are_days)
