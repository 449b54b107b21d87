"""The walls of a shape of the plane as lines, for those who draw it."""

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.data.domain import Domain

APART = 3.0  # times the usual step: a wall is drawn in pieces where its points are that far apart


def outlines(domain: Domain, most: int = 1024) -> dict[str, list[Float[np.ndarray, "m 2"]]]:
    """By name of the wall, the lines it is made of, of about `most` points in all; those that lie in the
    box, and none in space.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 8), y=(-2, 2), shape=-Disk(name="cylinder"))
    >>> {name: len(lines) for name, lines in outlines(channel).items()}
    {'cylinder': 1}
    """
    if len(domain.spatial_axes) != 2:
        return {}
    places = {name: places_of(domain, name) for name in domain.wall_names}
    return {name: lines(at, most) for name, at in places.items() if len(at)}


def places_of(domain: Domain, name: str) -> Float[np.ndarray, "n k"]:
    """Places of a wall in their order; none where nothing of it is in the box."""
    try:
        return np.asarray(domain.wall(name).places, float)
    except InputError:
        return np.zeros((0, len(domain.spatial_axes)))


def lines(places: Float[np.ndarray, "n 2"], most: int) -> list[Float[np.ndarray, "m 2"]]:
    """Through places in their order, broken where the next one is far; a ring is closed."""
    ring = np.concatenate([places, places[:1]])
    step = np.linalg.norm(np.diff(ring, axis=0), axis=1)
    ends = np.flatnonzero(step > APART * np.median(step)) + 1
    pieces = [piece for piece in np.split(ring, ends) if len(piece) > 1]
    every = max(len(ring) // most, 1)
    return [_thinned(piece, every) for piece in pieces]


def _thinned(line: Float[np.ndarray, "n 2"], every: int) -> Float[np.ndarray, "m 2"]:
    """Every so many of its points, the last one among them."""
    return line[np.unique([*range(0, len(line), every), len(line) - 1])]
