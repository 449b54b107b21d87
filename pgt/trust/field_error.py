"""The error of the field over the whole domain, as far as it can be known without the truth.

Fields drawn from the posterior differ from the fit by what readings and equation leave open, at places
without readings as well. How well the posterior knows its own error, the readings tell: each of them is
predicted from the others, and missed by z of the σ that the posterior gives it. With deviations d_k of
the draws,

    expected error = κ √(mean d_k²) / spread of the field,       κ² = mean z², within limits

Relative to the spread of the field over the domain: an error of 1 is as good as a constant.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import cKDTree

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground.verdict import FieldError

INSTANTS, PLACES = 8, 128
TRUSTED = (0.01, 30.0)  # of κ: more than the readings can say of places where there are none
UNSURE = 1.5  # a factor either way, for what no posterior knows: that of κ itself, and of the model
NEAR = 1.2  # of the distance between readings that fill the domain evenly
SMALLEST = 1e-15


def places(domain: Domain) -> Float[np.ndarray, "n d"]:
    """Points that fill the domain: the same places at some instants, so that what is open at each
    instant can be taken out."""
    space = len(domain.spatial_axes)
    count = PLACES if domain.has_time else PLACES * INSTANTS
    steps = np.modf(np.arange(1, count + 1)[:, None] * _irrational(space))[0]
    if not domain.has_time:
        return np.asarray(domain.from_unit(steps), float)
    moments = (np.arange(INSTANTS) + 0.5) / INSTANTS
    grid = np.concatenate([np.column_stack([steps, np.full(count, t)]) for t in moments])
    return np.asarray(domain.from_unit(grid), float)


def _irrational(dimension: int) -> np.ndarray:
    """Steps whose multiples fill the unit cube evenly (roots of primes)."""
    return np.sqrt(np.array([2.0, 3.0, 5.0, 7.0][:dimension])) % 1.0


def expected_errors(
    deviations: Float[np.ndarray, "k n c"],
    values: Float[np.ndarray, "n c"],
    misses: Float[np.ndarray, " m"],
    fields: Sequence[str],
    free: Sequence[str] = (),
    near: Bool[np.ndarray, " n"] | None = None,
) -> dict[str, FieldError]:
    """By field: what `deviations` of draws at `places` say, calibrated by `misses`, the errors z of
    readings predicted from the others in units of their predicted σ.

    `free` are fields that the equations leave open at each instant: there the mean does not count.
    `near` are the places that have readings around them.
    """
    kappa = calibration(misses)
    found = {}
    for column, name in enumerate(fields):
        own, truth = kappa * deviations[..., column], values[:, column]
        if name in free:
            own, truth = _without_mean(own), _without_mean(truth)
        found[name] = _of_field(own, float(np.std(truth)), near)
    return found


def calibration(misses: Float[np.ndarray, " m"]) -> float:
    """κ: by how much the posterior's σ is too small, as far as the readings say."""
    finite = misses[np.isfinite(misses)]
    if not len(finite):
        return 1.0
    return float(np.clip(np.sqrt(np.mean(finite**2)), *TRUSTED))


def _of_field(own: Float[np.ndarray, "k n"], spread: float, near) -> FieldError:
    spread = max(spread, SMALLEST)
    sizes = np.sqrt(np.mean(own**2, axis=1)) / spread
    value = float(np.sqrt(np.mean(sizes**2)))
    low, high = np.quantile(sizes, (0.05, 0.95))
    parts: list[float | None] = [None, None]
    if near is not None and 0 < near.sum() < len(near):
        parts = [float(np.sqrt(np.mean(own[:, part] ** 2)) / spread) for part in (near, ~near)]
    bounds = min(float(low), value) / UNSURE, max(float(high), value) * UNSURE
    return FieldError(value, *bounds, *parts)


def _without_mean(values: np.ndarray) -> np.ndarray:
    """The mean over the places of every instant taken out."""
    per_instant = values.reshape(*values.shape[:-1], -1, min(PLACES, values.shape[-1]))
    return (per_instant - per_instant.mean(axis=-1, keepdims=True)).reshape(values.shape)


def near_readings(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Bool[np.ndarray, " n"]:
    """Which points have a reading about as near as they would have if readings filled the domain
    evenly; distances are in units of the domain."""
    extent = np.asarray(domain.extent, float)
    own = np.asarray(readings.points, float) / extent
    even = len(own) ** (-1 / domain.dimension)
    return np.asarray(cKDTree(own).query(points / extent)[0] <= NEAR * even)
