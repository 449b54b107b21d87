"""Where a posterior is surer than the readings around let it be.

One κ for all of the domain (field_error.py) says how well a posterior knows its error on the whole. But a
field may be less smooth at one place than it is elsewhere: at a kink, in a corner where boundary and
initial values contradict each other, towards the instant of a jump. Some readings are then missed by
many of their σ and all others by next to nothing: the mean of z² is 1, and the error is that of the few.
With f² the mean of z² over some values read around a place, and v the variance of the draws there,

    v ← v max(κ², f²) + (f² − 1) σ²          where f² is more than chance

All of the excess is the field's, as noise is the same everywhere.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import chdtri

from pgt.data.sight import nearest

NEIGHBOURS = 6  # values around a place
CHANCE = 0.01  # how often noise alone comes to more anywhere
LARGEST = 30.0**2  # of f²: what so few readings are believed


def excess(
    places: Float[np.ndarray, "n d"],
    read: Float[np.ndarray, "m d"],
    misses: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " n"]:
    """f² at places, and 1 where it may be chance: `misses` are z of the values read at the points `read`.

    >>> line = np.linspace(0, 1, 50)[:, None]
    >>> excess(np.array([[0.1], [0.9]]), line, np.where(line[:, 0] < 0.2, 5.0, 0.1)).tolist()
    [25.0, 1.0]
    """
    known = np.isfinite(misses)
    if known.sum() <= NEIGHBOURS:
        return np.ones(len(places))
    which = nearest(read[known], places, NEIGHBOURS)[1]
    found = np.mean(misses[known][which] ** 2, axis=1)
    by_chance = chdtri(NEIGHBOURS, CHANCE / known.sum()) / NEIGHBOURS
    return np.where(found > by_chance, np.minimum(found, LARGEST), 1.0)


def widened(
    deviations: Float[np.ndarray, "k n c"],
    kappa: float,
    factor: Float[np.ndarray, " n"],
    noise: Float[np.ndarray, " c"],
) -> Float[np.ndarray, "k n c"]:
    """What draws deviate by from the fit, times κ, and more where f², the `factor`, says so; `noise` is σ
    of what was read, 0 of what was not."""
    variance = np.mean(deviations**2, axis=0)
    more = np.where(factor > 1, factor - 1, 0.0)[:, None] * noise**2
    wanted = variance * np.maximum(kappa**2, np.where(factor > 1, factor, 0.0))[:, None] + more
    return deviations * np.sqrt(wanted / np.maximum(variance, np.finfo(float).tiny))
