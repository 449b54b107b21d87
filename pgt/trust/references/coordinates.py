"""Where readings lie, as methods that know no physics see it."""

import numpy as np
from jaxtyping import Bool, Float

from pgt.data import Domain, Observations


def unit(points: Float[np.ndarray, "n d"], domain: Domain) -> Float[np.ndarray, "n e"]:
    """Coordinates from 0 to 1; a periodic axis becomes a circle of circumference 1."""
    columns = []
    for axis, along in zip(domain.axes, ((points - domain.lower) / domain.extent).T, strict=True):
        angle, radius = 2 * np.pi * along, 1 / (2 * np.pi)
        circle = [radius * np.cos(angle), radius * np.sin(angle)]
        columns += circle if axis in domain.periodic else [along]
    return np.stack(columns, axis=1)


def readings(observations: Observations) -> Float[np.ndarray, "n c"]:
    """Values in float64, NaN where hidden."""
    return np.where(observations.mask, np.asarray(observations.values, np.float64), np.nan)


def first_at_each_place(
    coordinates: Float[np.ndarray, "n e"], mask: Bool[np.ndarray, "n c"]
) -> Bool[np.ndarray, "n c"]:
    """The mask less every value whose field was already read at that place, or a period away."""
    group = np.unique(np.round(coordinates, 9) + 0.0, axis=0, return_inverse=True)[1].reshape(-1)
    kept = np.zeros_like(mask)
    for column in range(mask.shape[1]):
        rows = np.flatnonzero(mask[:, column])
        kept[rows[np.unique(group[rows], return_index=True)[1]], column] = True
    return kept
