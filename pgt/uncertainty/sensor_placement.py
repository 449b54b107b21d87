"""Where to measure next: the places at which one more reading reduces the variance most.

The members' deviations from their mean are samples of a Gaussian over the candidate places: with k
members the covariance is C = Aᵀ A, A (k, m) = deviations / √(k − 1). Places are chosen one by one::

    j = the place of the largest variance C_jj
    C ← C − C_j (C_jj + σ²)⁻¹ C_jᵀ        the covariance after a reading of noise σ there

so that a neighbor, which the reading already determines, is not chosen as well. Everything is done
in the k dimensions of the members, C = Aᵀ P A with P (k, k): no matrix over the places is ever
formed.
"""

from collections.abc import Mapping
from typing import NamedTuple

import jax
import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from pgt.core.errors import InputError
from pgt.data.dates import are_counted, dates
from pgt.data.domain import Domain
from pgt.data.sampling import Sobol

# The number of candidate places, when none are given.
CANDIDATE_COUNT = 2048


class Suggestion(NamedTuple):
    """The chosen places in order; the variance at each before its reading, summed over the fields;
    and the mean variance over all places after it.
    """

    chosen: Int[np.ndarray, " n"]
    variance: Float[np.ndarray, " n"]
    remaining: Float[np.ndarray, " n"]


def choose_places(
    deviations: Float[np.ndarray, "k m c"],
    n: int,
    noise: float | Float[np.ndarray, " c"] = 0.0,
    read: tuple[int, ...] | None = None,
) -> Suggestion:
    """n places out of m, the most informative first.

    Parameters
    ----------
    deviations
        (k, m, c) of each member from their mean, at each place, of each field. Fields are added up, so
        divide each by its own size first.
    n
        How many places.
    noise
        σ of a reading, one for all fields or one for each, in the units of `deviations`.
    read
        The fields (columns) that a sensor reads; all by default. The variance of the
        others still counts: readings of the velocity determine a hidden pressure.

    >>> left, right = np.array([1.0, 0.9, 0.0, 0.0]), np.array([0.0, 0.0, 0.8, 0.7])
    >>> members = np.stack([left, -left, right, -right])
    >>> choose_places(members[..., None], 2, noise=0.1).chosen.tolist()
    [0, 2]
    """
    parts, noise = _checked_arguments(deviations, n, noise)
    columns = list(range(parts.shape[2])) if read is None else list(read)
    covariance, is_free = np.eye(len(parts)), np.ones(parts.shape[1], bool)
    chosen, before, after = [], [], []
    for _ in range(n):
        variance = _remaining_variance(parts, covariance)
        place = int(np.argmax(np.where(is_free, variance, -1.0)))
        covariance = _covariance_after_reading(covariance, parts[:, place, columns], noise[columns])
        is_free[place] = False
        chosen.append(place)
        before.append(variance[place])
        after.append(_remaining_variance(parts, covariance).mean())
    return Suggestion(np.array(chosen), np.array(before), np.array(after))


def suggest_sensors(
    points: Float[np.ndarray, "m d"],
    domain: Domain,
    members: Mapping[str, Float[np.ndarray, "k m"]],
    n: int,
    noise: Mapping[str, float],
) -> xr.Dataset:
    """The chosen places as a table over `sensor`, the most informative first.

    Parameters
    ----------
    points, domain
        The candidates, and what their columns are called.
    members
        The values of every member there, by field. Each field counts relative to its own variation.
    noise
        σ by field; only fields that stand here are read by a sensor.

    Returns
    -------
    xarray.Dataset with the places as coordinates, the standard deviation of every field there today
    (`u_std`), and `remaining`: the share of the total variance that remains after this reading and
    those before it.
    """
    fields = list(members)
    values = np.stack([np.asarray(members[name], float) for name in fields], axis=-1)
    size = values.std(axis=(0, 1))
    size = np.where(size > 0, size, 1.0)
    sigma = np.array([noise.get(name, 0.0) for name in fields]) / size
    read = tuple(k for k, name in enumerate(fields) if name in noise) or None
    found = choose_places((values - values.mean(axis=0)) / size, n, sigma, read)
    total = float((values.var(axis=0, ddof=1) / size**2).sum(axis=1).mean())
    spread = values.std(axis=0, ddof=1)[found.chosen]
    data = {f"{name}_std": ("sensor", spread[:, k]) for k, name in enumerate(fields)}
    data["remaining"] = ("sensor", found.remaining / (total or 1.0))
    places = {a: ("sensor", points[found.chosen, i]) for i, a in enumerate(domain.axes)}
    if are_counted(domain.units):
        places["t"] = ("sensor", dates(places["t"][1]))
    table = xr.Dataset(data, places)
    if n < len(values):
        return table
    return table.assign_attrs(
        note=f"{len(values)} members distinguish at most {len(values) - 1} places; the others follow "
        "the small remaining variance. More members distinguish more."
    )


def candidates(
    domain: Domain, count: int = CANDIDATE_COUNT, seed: int = 0
) -> Float[np.ndarray, "m d"]:
    """Points that fill a domain evenly (Sobol).

    >>> candidates(Domain(x=(0, 1), t=(0, 2)), 4).shape
    (4, 2)
    """
    points = Sobol().draw(jax.random.key(seed), domain, count)
    return np.asarray(points, float)


def inside_shape(points: Float[np.ndarray, "m d"], domain: Domain) -> Float[np.ndarray, "some d"]:
    """The points where a sensor can stand: none in an obstacle.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 2), y=(-2, 2), shape=-Disk(radius=0.5))
    >>> inside_shape(np.array([[0.0, 0.0], [1.0, 0.0]]), channel).tolist()
    [[1.0, 0.0]]
    """
    return points if domain.shape is None else points[domain.contains(points)]


def _remaining_variance(parts: Float[np.ndarray, "k m c"], covariance: Float[np.ndarray, "k k"]):
    """(m,) the remaining variance at every place, summed over the fields."""
    return np.einsum("kmc,kmc->m", parts, np.tensordot(covariance, parts, axes=1))


def _covariance_after_reading(
    covariance: Float[np.ndarray, "k k"], columns_read: Float[np.ndarray, "k r"], noise: np.ndarray
):
    """P after a reading of the columns `columns_read`, with noise."""
    gain = covariance @ columns_read
    # A billionth of the variance keeps a place without noise from being chosen twice.
    size = columns_read.T @ gain + np.diag(noise**2)
    size += 1e-9 * max(float(np.trace(size)), 1e-300) * np.eye(len(size))
    return covariance - gain @ np.linalg.solve(size, gain.T)


def _checked_arguments(deviations, n: int, noise):
    parts = np.asarray(deviations, float)
    if len(parts) < 2 or not np.isfinite(parts).all():
        raise InputError("suggest(deviations=...): give finite numbers, of two members at least.")
    if not 1 <= n <= parts.shape[1]:
        raise InputError(f"suggest(n={n}): write a number from 1 to {parts.shape[1]} places.")
    noise = np.broadcast_to(np.asarray(noise, float), parts.shape[2:])
    if not ((noise >= 0) & np.isfinite(noise)).all():
        raise InputError("suggest(noise=...): a standard deviation is 0 or more.")
    return (parts - parts.mean(axis=0)) / np.sqrt(len(parts) - 1), noise
