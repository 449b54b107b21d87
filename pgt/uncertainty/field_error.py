"""The stated error of a field over the whole domain, whose truth is unknown.

**The error model.** For every method, the stated error rests on draws of the posterior, linearized at
the fit. They differ from the fit by what readings, conditions and equation leave undetermined. Let |d_k|
be the root mean square over the domain of the deviation of draw k, and κ the calibration factor. Then

    stated error = κ √mean |d_k|² / spread_k²,       κ² = mean z², at least 1

1. **Draws.** They come from the exact posterior of a closed form or of a solution on a mesh (averaged
   over candidates of similar probability, so that their disagreement counts), from the Laplace
   approximation of a network (laplace.py), from sums of sines linearized at a network that is too large
   for one (null_space.py), or they are the members of an ensemble.
2. **Calibration.** z is the error of a reading that was predicted without it, in units of the σ that
   draws and noise predict. Readings are left out one by one or by sensor, and in blocks of neighbors,
   which are farther from other readings; the larger mean z² counts. The whole misfit of exact readings
   is error. κ is at least 1, since readings say little about places without readings.
3. **Lower limits.** Three errors are not part of the posterior: the null space, at places without
   readings and in hidden fields; the misfit that neighboring readings have in common, which is no
   noise; and the change of the field by a condition that the readings contradict. A hidden field has no
   readings that would show the second, so it is raised by the same factor as the measured fields.

The error is relative to the spread over the domain of the fit or of the draw (which may be the true
field), whichever is larger. An error of 1 is as good as a constant. If the fitted field is constant, the
spread of its readings counts, or that of the draws if it has no readings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from pgt.core.doubt import FieldError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.visibility import are_visible, nearest
from pgt.geometry.low_discrepancy import evenly
from pgt.inference.evidence import MAX_EXACT_SIGMA

# The number of instants at which the error is evaluated if the domain has a time axis, and the number of
# points in space at each of them. More cost time, fewer miss small regions.
INSTANT_COUNT, POINTS_PER_INSTANT = 9, 128
# The distance of the first and last instants from the ends, as a share of the time axis. Terms such as
# u/t have no value at the very beginning.
MIN_RELATIVE_TIME = 1e-4
# The number of blocks of neighbors that are left out in turn. Fewer blocks are farther from the remaining
# readings; with more blocks, more readings remain to fit.
BLOCKS = 10
# The factor by which the stated interval is wider on both sides, because of the unknown errors of κ and
# of the model itself.
INTERVAL_FACTOR = 1.5
# A place is near readings if one lies within this multiple of the distance between readings that fill
# the domain evenly.
NEAR_DISTANCE = 1.5
# The number of nearest readings that are tested for a wall in between.
VISIBILITY_NEIGHBORS = 8
# If the spread of a fitted field is a smaller share of that of its readings, the spread of the readings
# counts instead.
MIN_RELATIVE_SPREAD = 0.1
TINY = np.finfo(float).tiny


def is_exact(noise: float) -> bool:
    """Whether readings with this noise, in units of their spread, count as exact.

    The misfit of exact readings is an error of the model.
    """
    return noise <= MAX_EXACT_SIGMA


# ------------------------------------------------------------------------------- calibration


def calibration_factor(*residuals: Float[np.ndarray, " _"]) -> float:
    """κ: the factor by which the posterior's σ is too small.

    Each of the `residuals` has errors of left-out readings in units of their predicted σ. The largest of
    their root mean squares counts.

    >>> calibration_factor(np.array([0.1, -0.1]), np.array([2.0, -2.0, np.nan]))
    2.0
    """
    finite = [part[np.isfinite(part)] for part in residuals]
    return max([1.0, *(float(np.sqrt(np.mean(part**2))) for part in finite if len(part))])


def neighbor_groups(
    points: Float[np.ndarray, "n d"], count: int = BLOCKS
) -> list[Int[np.ndarray, " _"]]:
    """The row numbers of the points in each group of neighbors; there are at least `count` groups, if
    there are as many points.

    The points are halved repeatedly along the axis in which they differ most.

    >>> [group.tolist() for group in neighbor_groups(np.array([[0.0], [0.9], [0.1], [1.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    parts = [np.arange(len(points))]
    while len(parts) < min(count, len(points)):
        largest = max(range(len(parts)), key=lambda k: len(parts[k]))
        part = parts.pop(largest)
        axis = int(np.argmax(np.ptp(points[part], axis=0)))
        ordered = part[np.argsort(points[part, axis], kind="stable")]
        parts += np.array_split(ordered, 2)
    return parts


# ------------------------------------------------------------------------------- the domain


class DomainPoints(NamedTuple):
    """Points that fill the domain, their quadrature weights with the sum 1, and the number of instants.

    The points of one instant are contiguous.
    """

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, " n"]
    instants: int


def domain_points(domain: Domain) -> DomainPoints:
    """The points at which the error of a field is evaluated, with the same places at each instant.

    They are denser toward the ends of every axis, where fields are least determined, and have smaller
    weights there. The first and the last instant are among them.
    """
    if domain.shape is not None:
        return _points_in_shape(domain)
    has_instants = domain.has_time and len(domain.spatial_axes) > 0
    instants = INSTANT_COUNT if has_instants else 1
    even = evenly(POINTS_PER_INSTANT * INSTANT_COUNT // instants, domain.dimension - has_instants)
    unit, weights = (1 - np.cos(np.pi * even)) / 2, np.prod(np.sin(np.pi * even), axis=1)
    if has_instants:
        moments, shares = _instants()
        unit = np.concatenate(
            [np.column_stack([unit, np.full(POINTS_PER_INSTANT, t)]) for t in moments]
        )
        weights = np.outer(shares, weights).ravel()
    points = np.asarray(domain.from_unit(unit), float)
    return DomainPoints(points, weights / weights.sum(), instants)


def _instants() -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Instants from nearly 0 to nearly 1, and their weights by the trapezoidal rule.

    Both ends are included, since the field is often least determined at one of them.
    """
    moments = (1 - np.cos(np.pi * np.linspace(0, 1, INSTANT_COUNT))) / 2
    gaps = np.pad(np.diff(moments), 1)
    return np.clip(moments, MIN_RELATIVE_TIME, 1 - MIN_RELATIVE_TIME), (gaps[1:] + gaps[:-1]) / 2


def _points_in_shape(domain: Domain) -> DomainPoints:
    """Points spread evenly inside the shape."""
    if not domain.has_time:
        count = POINTS_PER_INSTANT * INSTANT_COUNT
        return DomainPoints(domain.even(count), np.full(count, 1 / count), 1)
    low, high = domain.bounds("t")
    unit, shares = _instants()
    moments = low + (high - low) * unit
    places = domain.even(POINTS_PER_INSTANT)[:, :-1]
    points = np.concatenate(
        [np.column_stack([places, np.full(POINTS_PER_INSTANT, t)]) for t in moments]
    )
    return DomainPoints(
        points, np.repeat(shares / POINTS_PER_INSTANT, POINTS_PER_INSTANT), INSTANT_COUNT
    )


# ------------------------------------------------------------------------------- the error


def stated_errors(
    deviations: Float[np.ndarray, "k n c"],
    values: Float[np.ndarray, "n c"],
    where: DomainPoints,
    fields: Sequence[str],
    undetermined: Sequence[str] = (),
    near: Bool[np.ndarray, " n"] | None = None,
    floors: Mapping[str, float] = MappingProxyType({}),
    reading_spreads: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, FieldError]:
    """The stated error of each field, from the `deviations` of draws from the `values` at `where`.

    The deviations contain κ already. The equations determine the `undetermined` fields up to a function
    of time, so that their mean over each instant does not count. `near` marks the points with readings
    around them. `floors` are lower limits of the errors, and `reading_spreads` are the spreads of the
    readings of measured fields.
    """
    errors = {}
    for column, name in enumerate(fields):
        deviation, truth = deviations[..., column], values[:, column]
        if name in undetermined:
            deviation = without_instant_means(deviation, where)
            truth = without_instant_means(truth, where)
        reading_spread = reading_spreads.get(
            name, float(np.sqrt(np.mean(deviation**2 @ where.weights)))
        )
        spread_of_fit = spread_over_domain(truth, where.weights, reading_spread)
        spreads = [
            spread_over_domain(truth + part, where.weights, reading_spread) for part in deviation
        ]
        spreads = np.maximum(spreads, spread_of_fit)
        errors[name] = _stated_error(deviation, spreads, where.weights, near)
    return raised(errors, floors)


def raised(errors: Mapping[str, FieldError], floors: Mapping[str, float]) -> dict[str, FieldError]:
    """The errors, each at least its floor; those without a floor are raised by the same factor.

    An error without a floor is raised to 1 at most, since no field is worse than a constant.

    >>> found = {name: FieldError(0.02, 0.01, 0.03) for name in "up"}
    >>> [error.value for error in raised(found, {"u": 0.1}).values()]
    [0.1, 0.1]
    """
    measured = [name for name in errors if name in floors]
    before = np.array([errors[name].value for name in measured])
    after = np.maximum(before, [floors[name] for name in measured])
    factor = float(np.linalg.norm(after) / max(np.linalg.norm(before), TINY)) if measured else 1.0
    return {
        name: _at_least(error, floors.get(name, max(min(factor * error.value, 1.0), error.value)))
        for name, error in errors.items()
    }


def _at_least(error: FieldError, floor: float) -> FieldError:
    """The error, raised to the floor near readings and far from them."""
    if error.value >= floor:
        return error
    high = max(error.high, floor * INTERVAL_FACTOR)
    at_floor = replace(error, value=floor, low=floor / INTERVAL_FACTOR, high=high)
    if error.inside is None or error.outside is None or error.outside <= floor:
        return replace(at_floor, inside=None, outside=None)
    return replace(at_floor, inside=max(error.inside, floor))


def _stated_error(deviation: Float[np.ndarray, "k n"], spreads, weights, near) -> FieldError:
    """The stated error of one field, from deviations that are divided by the spread of each draw."""
    deviation = deviation / spreads[:, None]
    sizes = np.sqrt(deviation**2 @ weights)
    value = float(np.sqrt(np.mean(sizes**2)))
    low, high = (float(size) for size in np.quantile(sizes, (0.05, 0.95)))
    bounds = min(low, value) / INTERVAL_FACTOR, max(high, value) * INTERVAL_FACTOR
    if near is None or near.all() or not near.any():
        return FieldError(value, *bounds)
    inside, outside = (_rms_over(part, deviation, weights) for part in (near, ~near))
    # If draws differ more near readings than far from them, that is by chance.
    if outside < inside:
        return FieldError(value, *bounds)
    return FieldError(value, *bounds, inside, outside)


def spread_over_domain(
    values: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"], reading_spread: float
) -> float:
    """The standard deviation of a field over the domain, which is never zero.

    It is the spread of the readings if the field is nearly constant beside them.

    >>> half, weights = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> spread_over_domain(half, weights, 3.0), spread_over_domain(1e-9 * half, weights, 3.0)
    (1.0, 3.0)
    """
    spread = float(np.sqrt((values - values @ weights) ** 2 @ weights))
    return max(spread if spread >= MIN_RELATIVE_SPREAD * reading_spread else reading_spread, TINY)


def _rms_over(part: Bool[np.ndarray, " n"], deviation, weights) -> float:
    """The root mean square of the deviations over the points that `part` selects."""
    return float(np.sqrt(np.mean(deviation[:, part] ** 2 @ weights[part]) / weights[part].sum()))


def without_instant_means(values: np.ndarray, where: DomainPoints) -> np.ndarray:
    """The values without their mean over the points of each instant."""
    by_instant, weights = (
        a.reshape(*a.shape[:-1], where.instants, -1) for a in (values, where.weights)
    )
    mean = np.sum(by_instant * weights, axis=-1, keepdims=True) / weights.sum(
        axis=-1, keepdims=True
    )
    return (by_instant - mean).reshape(values.shape)


def mean_distance(readings: Observations, domain: Domain) -> float:
    """The distance between readings if they filled the domain evenly, in units of the domain's extent."""
    whole = float(np.prod(np.asarray(domain.extent, float)))
    share = 1.0 if domain.shape is None else domain.volume / whole
    return (len(readings) / share) ** (-1 / domain.dimension)


def near_readings(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Bool[np.ndarray, " n"]:
    """Which points are near readings, without a wall in between.

    The limit follows from the distance between readings that fill the domain evenly. Distances are in
    units of the domain's extent. All points are counted from the domain's origin.
    """
    extent = np.asarray(domain.extent, float)
    scaled_readings = np.asarray(readings.points, float) / extent
    count = 1 if domain.shape is None else min(VISIBILITY_NEIGHBORS, len(scaled_readings))
    distances, indices = nearest(scaled_readings, points / extent, count)
    near = distances <= NEAR_DISTANCE * mean_distance(readings, domain)
    if domain.shape is not None:
        place, rank = np.nonzero(near)
        reading_points = np.asarray(readings.points, float)[indices[place, rank]]
        near[place, rank] = are_visible(domain, points[place], reading_points)
    return np.asarray(near.any(axis=1))
