"""Whether so many readings tell two errors apart."""

from math import sqrt

SIGNIFICANT = 2.0  # standard deviations of the error of so many readings


def is_less(error: float, other: float, count: int) -> bool:
    """Whether an error is less than another by more than chance explains; both of so many readings.

    >>> is_less(0.4, 1.0, 8), is_less(0.6, 1.0, 8), is_less(0.6, 1.0, 100)
    (True, False, True)
    """
    return error < (1 - SIGNIFICANT / sqrt(2 * count)) * other
