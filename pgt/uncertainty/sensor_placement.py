"""Where to measure next: the places at which one more reading most reduces the variance.

The members' deviations from their mean are samples of a Gaussian over the candidate places: with k
members the covariance is C = Aᵀ A, A (k, m) = deviations / √(k − 1). Places are chosen one by one::

    j = the place of the largest variance C_jj
    C ← C − C_j (C_jj + σ²)⁻¹ C_jᵀ        the covariance after a reading of noise σ there

so that a neighbor, which the reading already determines, is not chosen as well. All matrices have the k
dimensions of the members, C = Aᵀ P A with P (k, k), and no matrix over the places is ever formed.
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

# The default number of candidate places. More find better places and cost time.
CANDIDATE_COUNT = 2048


class Suggestion(NamedTuple):
    """The chosen places in order.

    `variance` is that at each place before its reading, summed over the fields; `remaining` is the mean
    variance over all places after it.
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
    """The n most informative of m places, the best first.

    Parameters
    ----------
    deviations
        (k, m, c) the deviation of each member from their mean, at each place, of each field. Variances of
        the fields are added, so divide each field by its size first.
    n
        The number of places.
    noise
        σ of a reading, one for all fields or one for each, in the units of `deviations`.
    read
        The fields (columns) that a sensor reads; all by default. The variance of the others still counts:
        readings of the velocity determine a hidden pressure.

    >>> left, right = np.array([1.0, 0.9, 0.0, 0.0]), np.array([0.0, 0.0, 0.8, 0.7])
    >>> members = np.stack([left, -left, right, -right])
    >>> choose_places(members[..., None], 2, noise=0.1).chosen.tolist()
    [0, 2]
    """
    scaled_deviations, noise = _checked_arguments(deviations, n, noise)
    columns = list(range(scaled_deviations.shape[2])) if read is None else list(read)
    covariance, is_free = np.eye(len(scaled_deviations)), np.ones(scaled_deviations.shape[1], bool)
    chosen, before, after = [], [], []
    for _ in range(n):
        variance = _remaining_variance(scaled_deviations, covariance)
        place = int(np.argmax(np.where(is_free, variance, -1.0)))
        covariance = _covariance_after_reading(
            covariance, scaled_deviations[:, place, columns], noise[columns]
        )
        is_free[place] = False
        chosen.append(place)
        before.append(variance[place])
        after.append(_remaining_variance(scaled_deviations, covariance).mean())
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
        The candidates, and the domain, whose axes name their columns.
    members
        The values of every member there, by field. Each field counts relative to its own variation.
    noise
        σ by field; a sensor reads only the fields that have an entry.

    Returns
    -------
    xarray.Dataset with the places as coordinates. `u_std` is the present standard deviation of a field
    there, and `remaining` is the share of the total variance that remains after this reading and those
    before it.
    """
    fields = list(members)
    values = np.stack([np.asarray(members[name], float) for name in fields], axis=-1)
    size = values.std(axis=(0, 1))
    size = np.where(size > 0, size, 1.0)
    sigma = np.array([noise.get(name, 0.0) for name in fields]) / size
    read = tuple(k for k, name in enumerate(fields) if name in noise) or None
    suggestion = choose_places((values - values.mean(axis=0)) / size, n, sigma, read)
    total = float((values.var(axis=0, ddof=1) / size**2).sum(axis=1).mean())
    spread = values.std(axis=0, ddof=1)[suggestion.chosen]
    data = {f"{name}_std": ("sensor", spread[:, k]) for k, name in enumerate(fields)}
    data["remaining"] = ("sensor", suggestion.remaining / (total or 1.0))
    places = {a: ("sensor", points[suggestion.chosen, i]) for i, a in enumerate(domain.axes)}
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
    """Points of a Sobol sequence, which fill a domain evenly.

    >>> candidates(Domain(x=(0, 1), t=(0, 2)), 4).shape
    (4, 2)
    """
    points = Sobol().draw(jax.random.key(seed), domain, count)
    return np.asarray(points, float)


def inside_shape(points: Float[np.ndarray, "m d"], domain: Domain) -> Float[np.ndarray, "some d"]:
    """The points inside the domain's shape, where a sensor can be placed.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 2), y=(-2, 2), shape=-Disk(radius=0.5))
    >>> inside_shape(np.array([[0.0, 0.0], [1.0, 0.0]]), channel).tolist()
    [[1.0, 0.0]]
    """
    return points if domain.shape is None else points[domain.contains(points)]


def _remaining_variance(
    deviations: Float[np.ndarray, "k m c"], covariance: Float[np.ndarray, "k k"]
):
    """(m,) the remaining variance at every place, summed over the fields."""
    return np.einsum("kmc,kmc->m", deviations, np.tensordot(covariance, deviations, axes=1))


def _covariance_after_reading(
    covariance: Float[np.ndarray, "k k"], columns_read: Float[np.ndarray, "k r"], noise: np.ndarray
):
    """P after a noisy reading of the columns `columns_read`."""
    gain = covariance @ columns_read
    # A billionth of the variance keeps a place without noise from being chosen twice.
    size = columns_read.T @ gain + np.diag(noise**2)
    size += 1e-9 * max(float(np.trace(size)), 1e-300) * np.eye(len(size))
    return covariance - gain @ np.linalg.solve(size, gain.T)


def _checked_arguments(deviations, n: int, noise):
    values = np.asarray(deviations, float)
    if len(values) < 2 or not np.isfinite(values).all():
        raise InputError("suggest(deviations=...): give finite numbers, of two members at least.")
    if not 1 <= n <= values.shape[1]:
        raise InputError(f"suggest(n={n}): write a number from 1 to {values.shape[1]} places.")
    noise = np.broadcast_to(np.asarray(noise, float), values.shape[2:])
    if not ((noise >= 0) & np.isfinite(noise)).all():
        raise InputError("suggest(noise=...): a standard deviation is 0 or more.")
    return (values - values.mean(axis=0)) / np.sqrt(len(values) - 1), noise
