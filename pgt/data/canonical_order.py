"""Readings in an order of their own, that of their content: how a file was sorted decides nothing."""

import numpy as np
from jaxtyping import Int

from pgt.data.observations import Observations


def order(observations: Observations) -> Int[np.ndarray, " n"]:
    """The rows by position, along the first axis first; readings at one place by what they say.

    Other units, or another origin, of coordinates and values change nothing about it.

    >>> readings = Observations.from_arrays({"x": [0.7, 0.2, 0.4]}, {"u": [1.0, 2.0, 3.0]})
    >>> order(readings).tolist()
    [1, 2, 0]
    """
    boxes = [] if observations.half_width is None else [observations.half_width]
    parts = [
        observations.points,
        *boxes,
        observations.mask,
        observations.values,
        observations.noise,
    ]
    columns = np.hstack([np.asarray(part, float) for part in parts])
    return np.lexsort(columns.T[::-1])


def ordered(observations: Observations) -> Observations:
    """The same readings in their order."""
    rows = order(observations)
    return observations if (np.diff(rows) > 0).all() else observations.take(rows)
