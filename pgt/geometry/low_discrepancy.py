"""Low-discrepancy points, which fill the unit cube evenly."""

import numpy as np
from jaxtyping import Float

from pgt.core.machine import require_memory

# The number of copies of the points that are in memory at the same time.
POINT_COPIES = 3
# Fewer points fit into any memory and are not checked.
MIN_COUNT_CHECKED = 1_000_000


def evenly(count: int, dimension: int, seed: int = 0) -> Float[np.ndarray, "count d"]:
    """Points that fill the unit cube evenly, from a random start.

    They are multiples of powers of the generalized golden ratio, modulo 1 (Roberts 2018).

    >>> evenly(3, 1).shape
    (3, 1)
    """
    if count > MIN_COUNT_CHECKED:
        require_memory(8.0 * POINT_COPIES * count * dimension, f"{count} points", "ask for fewer")
    ratio = 2.0
    for _ in range(64):  # the root of x^(d+1) = x + 1
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = ratio ** -np.arange(1.0, dimension + 1)
    start = np.random.default_rng(seed).uniform(size=dimension)
    return (start + np.arange(count)[:, None] * steps) % 1.0
