"""Several readings of the same field at exactly the same place."""

import equinox as eqx
import numpy as np

from pgt.core.errors import InputError


def settle(readings, duplicates: str):
    """The readings with repeated ones refused ("error") or averaged ("mean")."""
    if duplicates not in ("error", "mean"):
        raise InputError(f'`duplicates` is {duplicates!r}; write "error" or "mean".')
    boxes = () if readings.half_width is None else (readings.half_width,)
    first = groups(np.hstack([readings.points, *boxes]))
    if duplicates == "error":
        check(first, readings.mask, readings.fields)
        return readings
    kept, values, mask, noise = mean(first, readings.values, readings.mask, readings.noise)
    return eqx.tree_at(
        lambda r: (r.values, r.mask, r.noise), readings.take(kept), (values, mask, noise)
    )


def groups(places: np.ndarray) -> np.ndarray:
    """For each row, the first row that equals it: (n,) integers."""
    places = places + 0.0  # -0.0 and 0.0 are the same place
    order = np.lexsort(places.T)  # stable, so the first of each run is the earliest row
    is_new = np.ones(len(places), bool)
    is_new[1:] = np.any(places[order[1:]] != places[order[:-1]], axis=1)
    first = np.empty(len(places), int)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first


def check(first: np.ndarray, mask: np.ndarray, fields: tuple[str, ...]) -> None:
    """Refuse two readings of one field at one place, naming both rows."""
    for column, field in enumerate(fields):
        rows = np.flatnonzero(mask[:, column])
        _, earliest = np.unique(first[rows], return_index=True)
        repeated = np.delete(rows, earliest)
        if repeated.size:
            row = repeated.min()
            twin = rows[first[rows] == first[row]][0]
            raise InputError(
                f"rows {twin} and {row} both measure {field!r} at the same point. Average them, or "
                'have it done: `duplicates="mean"`, an argument of pgt.Observations.from_table and '
                "from_arrays, and a key of [observations] in a run file."
            )


def mean(first: np.ndarray, values: np.ndarray, mask: np.ndarray, noise: np.ndarray):
    """One row per place: the mean reading, its σ (0 where one was not given), and the rows kept.

    The mean of m independent readings has σ = sqrt(Σ σᵢ²) / m.
    """
    kept, group = np.unique(first, return_inverse=True)
    shape = (len(kept), values.shape[1])
    count, given = np.zeros(shape), np.ones(shape, bool)
    np.add.at(count, group, mask)
    share = 1.0 / np.maximum(count, 1.0)[group]  # divided before summing: huge readings stay finite
    total, sigma = np.zeros(shape), np.zeros(shape)
    np.add.at(total, group, values * share)
    np.hypot.at(sigma, group, noise * share)
    np.logical_and.at(given, group, ~mask | (noise > 0))
    return kept, total, count > 0, np.where(given, sigma, 0.0)
