"""Numbers that stand for "no reading": -9999 and its relatives."""

from functools import partial

import numpy as np

from pgt.data.units import conversion
from pgt.ground.errors import InputError

# What loggers, archives and meters write; each counts where it lies far from all other readings.
NUMBERS = (
    -99.99, -999.0, -999.9, -999.99, -6999.0, -7999.0, -9999.0, -9999.9, -9999.99, -32768.0,
    -99999.0, -999999.0, -8999.0, -32767.0, 65535.0, 2147483647.0, -2147483647.0, -2147483648.0,
    4294967295.0, -9.99e8, 9999.0, 9999.9, 9999.99, 32767.0, 99999.0, 999999.0,
)  # fmt: skip
# The same where no reading can be meant: a pressure may be 999 hPa. Well logs write -999.25, thermometers
# on a wire -127, and tenths of 16 bits end at 3276.7.
PLAIN = (
    999.0, 999.9, 999.99, 888.8, 888.88, 8888.0, -888.0, -888.8, -888.88, -8888.0, -999.25, -127.0,
    -99.0, -99.9, 3276.7, -3276.8, 6999.0, 7999.0,
)  # fmt: skip
# Of buoys and archives, but percentages may be so: they are asked for.
ASKED = (99.0, 99.9, 99.99)
# Of an axis, which may reach as far as it likes to the other side.
OF_AXES = tuple(number for number in NUMBERS if number < -900)
# Fill values of archives, overflow of meters, the largest of float32: they count in any company.
HUGE = (
    1e20,
    *(10.0**power for power in range(30, 39)),
    9.9e37,
    9.91e37,
    9.969209968e36,
    3.4028235e38,
    9.99e33,
    9.999e20,
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
    candidates = np.isin(values, NUMBERS + PLAIN + ASKED)
    plain = values[finite & ~huge & ~candidates]
    if not candidates.any() or not plain.size:
        return huge
    low, high = plain.min(), plain.max()
    for number in np.unique(values[candidates]):
        is_none = _is_plainly_far if number in PLAIN + ASKED else partial(_is_far, name)
        candidates &= (values != number) | is_none(number, low, high)
    for number in np.unique(values[candidates & np.isin(values, ASKED)]):
        raise _open(name, number, low, high)
    return huge | candidates


def check_axis(name: str, values: np.ndarray) -> None:
    """Refuse a position that stands for none: it cannot be hidden, and would widen the domain."""
    candidates = np.isin(values, OF_AXES)
    plain = values[np.isfinite(values) & ~candidates]
    for number in np.unique(values[candidates]) if plain.size else ():
        if _is_plainly_far(number, plain.min(), plain.max()):
            row = int(np.argmax(values == number))
            raise InputError(
                f"coordinate {name!r}, row {row}, is {number:g}, which stands for no value; the others "
                f"lie between {plain.min():g} and {plain.max():g}. Correct or remove the row; if it is "
                "one, say so: `dialect=pgt.io.Dialect(missing=[])`."
            )


def check_cold(name: str, values: np.ndarray, unit: str | None) -> None:
    """Refuse degrees below absolute zero: nobody measured them."""
    kelvin = conversion(unit, "K") if unit else None
    if kelvin is None or not kelvin[1]:  # differences in kelvin may be below zero
        return
    cold = values[np.isfinite(values) & (values * kelvin[0] + kelvin[1] < -1e-6)]
    if cold.size:
        raise InputError(
            f"field {name!r}: {cold[0]:g} {unit} is below absolute zero. Correct it; if it stands for no "
            f"reading, say so: `dialect=pgt.io.Dialect(missing=[{cold[0]:g}])`."
        )


def power_on(name: str, values: np.ndarray, unit: str | None) -> str | None:
    """That a few readings are the 85 °C which digital thermometers give before they have measured.

    >>> power_on("T", np.array([85.0, 21.0, 21.5, 22.0]), "degC")
    'T: 1 reading of exactly 85 °C, which a DS18B20 gives before it has measured: if so, write ...'
    """
    to = conversion("degC", unit or ("degC" if name == "T" else ""))
    number = 0.0 if to is None else 85.0 * to[0] + to[1]
    found = np.isclose(values, number, rtol=1e-12, atol=1e-9)
    rest = values[np.isfinite(values) & ~found]
    if to is None or not found.any() or len(rest) < found.sum():
        return None
    if number - rest.max() < 10.0 * to[0]:  # others are as warm
        return None
    count = int(found.sum())
    return (
        f"{name}: {count} reading{'s' if count > 1 else ''} of exactly 85 °C, which a DS18B20 gives "
        f"before it has measured: if so, write dialect = {{missing = [{number:g}]}}"
    )


def _is_plainly_far(number: float, low: float, high: float) -> bool:
    gap = max(low - number, number - high)
    return bool(gap > high - low and gap > 0.5 * abs(number))


def _is_far(name: str, number: float, low: float, high: float) -> bool:
    """Whether a number is a sentinel beside readings between two others; an error where it is open."""
    gap = max(low - number, number - high)
    if gap <= 0.1 * (high - low):
        return False
    if _is_plainly_far(number, low, high):
        return True
    raise _open(name, number, low, high)


def _open(name: str, number: float, low: float, high: float) -> InputError:
    return InputError(
        f"field {name!r}: {number:g} may be a reading, or stand for none; the others lie between "
        f"{low:g} and {high:g}. Say which: `dialect=pgt.io.Dialect(missing=[{number:g}])`, or "
        "`dialect=pgt.io.Dialect(missing=[])`."
    )
