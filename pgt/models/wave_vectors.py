"""The frequencies of random sines: those of a box, evenly filled.

On an ordinary axis any frequency will do. On a periodic one only whole waves do, and there every one of
them is needed: with several such axes a random draw would leave most of them out, or without enough
others beside them to follow what a wave does in time. So the whole waves within the band are listed, the
longest first, and each has an even share of the frequencies along the other axes.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from pgt.geometry.low_discrepancy import evenly

SPARE = 8  # nodes of a box for every wave that is wanted: half of them are another's negative


def wave_vectors(
    count: int, band: Sequence[float], periodic: Sequence[bool], seed: int = 0
) -> Float[np.ndarray, "m d"]:
    """`count` frequencies within ±band in unit coordinates, where an axis is 2 long; the first is zero.
    Fewer where all axes are periodic and there are no more.

    >>> wave_vectors(9, (7.0, 3.2), (True, True)).round(2).tolist()[:3]
    [[0.0, 0.0], [3.14, 0.0], [0.0, 3.14]]
    """
    wraps, reach = np.asarray(periodic, bool), np.asarray(band, float)
    whole = _whole_waves(np.round(reach[wraps] / np.pi), count)
    if wraps.all():
        return np.pi * whole
    turns, wave = np.divmod(np.arange(count), len(whole))
    unit = _filled(turns, wave, int((~wraps).sum()), seed)
    unit[0] = 0.0  # a constant
    vectors = np.zeros((count, len(reach)))
    vectors[:, wraps], vectors[:, ~wraps] = np.pi * whole[wave], unit * reach[~wraps]
    return vectors


def _whole_waves(most: Float[np.ndarray, " d"], count: int) -> Int[np.ndarray, "m d"]:
    """At most `count` whole waves along each axis, the longest first, each without its negative, which
    has the same sines."""
    if not len(most):
        return np.zeros((1, 0), int)
    share = (SPARE * count / np.prod(2 * most + 1)) ** (1 / len(most))
    nodes = [np.arange(-m, m + 1) for m in np.ceil(most * min(share, 1.0)).astype(int)]
    waves = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(most))
    waves = waves[len(waves) // 2 :]  # the first of them is zero, those before it are the negatives
    length = np.sum((waves / np.maximum(most, 1)) ** 2, axis=1)
    return waves[np.argsort(length, kind="stable")[:count]]


def _filled(
    turns: Int[np.ndarray, " m"], wave: Int[np.ndarray, " m"], dimension: int, seed: int
) -> Float[np.ndarray, "m d"]:
    """Points of the cube from -1 to 1, turn by turn: those of each wave fill it by themselves."""
    starts = evenly(int(wave.max()) + 1, dimension, seed + 1)
    starts[0] = 0.0
    return 2 * ((starts[wave] + evenly(int(turns[-1]) + 1, dimension, seed)[turns]) % 1.0) - 1
