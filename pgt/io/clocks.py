"""Times of day without a date, which begin anew at midnight."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pgt.ground.errors import InputError

DAY, HALF_A_DAY = 86400.0, 43200.0
SAID = "midnight passed: later times are of the next day"


def past_midnight(
    times: Float[np.ndarray, " n"],
    others: Sequence[np.ndarray],
    lines: np.ndarray,
) -> Float[np.ndarray, " n"]:
    """Seconds of a clock, a day later from every midnight on. `others` are the other coordinates.

    Readings that are sorted by place go back in time, too, where those of the next place begin: if by
    place it is another midnight than in all rows together, nobody can tell, unless all have the same
    times.

    >>> past_midnight(np.array([86340.0, 0.0, 60.0]), [], np.arange(3))
    array([86340., 86400., 86460.])
    """
    found = _unwrapped(times)
    if np.array_equal(found, times, equal_nan=True):
        return times
    places = np.stack([np.zeros(len(times)), *others], axis=1)
    _, group = np.unique(places, axis=0, return_inverse=True)
    by_place = np.empty_like(times)
    for place in range(group.max() + 1):
        by_place[group == place] = _unwrapped(times[group == place])
    if _are_alike(times, group):
        return by_place
    is_moving = len(np.unique(group)) == len(times)  # a probe that is never twice at one place
    is_clock = np.nanmax(times) < DAY and (
        is_moving or np.array_equal(found, by_place, equal_nan=True)
    )
    if not is_clock:
        line = lines[int(np.argmax(found != times))]
        raise InputError(
            f"column 't' goes back in time at line {line}, as a clock does at midnight, or where the "
            "readings of another sensor begin. Add the date to the times, or write a column of seconds."
        )
    return found


def _are_alike(times: np.ndarray, group: np.ndarray) -> bool:
    """Whether rows are sorted by place, and all places have the same three times or more."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    is_sorted = bool(1 < len(starts) == group.max() + 1)
    parts = np.split(times, starts[1:])
    return is_sorted and len(parts[0]) > 2 and all(np.array_equal(parts[0], p) for p in parts)


def _unwrapped(times: np.ndarray) -> np.ndarray:
    given = np.flatnonzero(np.isfinite(times))
    days = np.cumsum(np.diff(times[given], prepend=times[given[:1]]) < -HALF_A_DAY)
    found = times.copy()
    found[given] += DAY * days
    return found
