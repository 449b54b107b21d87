"""Numbers that stand for "no reading": -9999 and its relatives."""

import numpy as np

from pgt.ground.errors import InputError

# What loggers, archives and meters write; each counts where it lies far from all other readings.
NUMBERS = (
    -99.99, -999.0, -999.9, -999.99, -6999.0, -7999.0, -9999.0, -9999.9, -9999.99, -32768.0,
    -99999.0, -999999.0, 9999.0, 9999.9, 9999.99, 32767.0, 99999.0, 999999.0,
)  # fmt: skip
# Fill values of archives, overflow of meters, the largest of float32: they count in any company.
HUGE = (
    1e20,
    *(10.0**power for power in range(30, 39)),
    9.9e37,
    9.91e37,
    9.969209968e36,
    3.4028235e38,
)


def hide(
    name: str, values: np.ndarray, missing: tuple[float, ...] | None
) -> tuple[np.ndarray, dict[float, int]]:
    """The readings with NaN for every sentinel, and how many of which there were.

    >>> hide("T", np.array([20.5, -9999.0, 21.0]), None)
    (array([20.5,  nan, 21. ]), {-9999.0: 1})
    """
    found = np.isin(values, missing) if missing is not None else _suspected(name, values)
    if not found.any():
        return values, {}
    numbers, counts = np.unique(values[found], return_counts=True)
    counted = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    return np.where(found, np.nan, values), counted


def _suspected(name: str, values: np.ndarray) -> np.ndarray:
    finite = np.isfinite(values)
    huge = finite & (np.abs(values) >= 0.99 * min(HUGE))
    huge[huge] = np.isclose(np.abs(values[huge])[:, None], HUGE, rtol=1e-6, atol=0).any(axis=1)
    if huge[finite].all():  # all readings are of that size: they are readings
        huge = np.zeros_like(huge)
    candidates = np.isin(values, NUMBERS)
    plain = values[finite & ~huge & ~candidates]
    if not candidates.any() or not plain.size:
        return huge
    low, high = plain.min(), plain.max()
    for number in np.unique(values[candidates]):
        candidates &= (values != number) | _is_far(name, number, low, high)
    return huge | candidates


def _is_far(name: str, number: float, low: float, high: float) -> bool:
    """Whether a number is a sentinel beside readings between two others; an error where it is open."""
    gap = max(low - number, number - high)
    if gap <= 0.1 * (high - low):
        return False
    if gap > high - low and gap > 0.5 * abs(number):
        return True
    raise InputError(
        f"field {name!r}: {number:g} may be a reading, or stand for none; the others lie between "
        f"{low:g} and {high:g}. Say which: `dialect=pgt.io.Dialect(missing=[{number:g}])`, or "
        "`dialect=pgt.io.Dialect(missing=[])`."
    )
