"""Whether so many readings tell two errors apart, or one from noise."""

from math import sqrt

import numpy as np
from jaxtyping import Float

from pgt.data.splits import Groups

SIGNIFICANT = 2.0  # standard deviations of the error of so many readings
NO_CHANCE = 1.64  # standard deviations of a mean square over so many sensors


def is_less(error: float, other: float, count: int) -> bool:
    """Whether an error is less than another by more than chance explains; both of so many readings.

    >>> is_less(0.4, 1.0, 8), is_less(0.6, 1.0, 8), is_less(0.6, 1.0, 100)
    (True, False, True)
    """
    return error < (1 - SIGNIFICANT / sqrt(2 * count)) * other


def beyond_noise(
    missed: Float[np.ndarray, " m"], sigmas: Float[np.ndarray, " m"], which: Groups
) -> float:
    """What is wrong with a field whose readings are missed by so much: beyond their noise, and beyond
    what chance among so many sensors explains, `which` of them took each.

    >>> round(beyond_noise(np.full(40, 0.5), np.full(40, 0.3), np.arange(40) // 4), 9)
    0.4
    >>> few = np.where(np.arange(40) < 2, 2.0, 0.2)  # noise that is larger where values are
    >>> beyond_noise(few, np.full(40, 0.3), np.arange(40) // 2)
    0.0
    """
    beyond = missed**2 - sigmas**2
    count = np.bincount(which)
    by_sensor = np.bincount(which, beyond)[count > 0] / count[count > 0]
    chance = NO_CHANCE * np.std(by_sensor) / sqrt(len(by_sensor))
    return float(np.sqrt(max(np.mean(beyond) - chance, 0.0)))
