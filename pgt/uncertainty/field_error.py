"""The stated error of a field over the whole domain, without knowing the truth.

**What the model is.** Whichever method answered, the statement rests on draws of the posterior,
linearized at the fit: fields that differ from it by what readings, conditions and equation leave
undetermined. With their deviations d_k, the root mean square |d_k| over the domain, and one factor κ,

    stated error = κ √mean |d_k|² / spread_k²,       κ² = mean z², at least 1

1. The draws: of the exact posterior of a closed form or of a solution on a mesh (averaged over the
   candidates that are about as probable, so that their disagreement counts); of the Laplace
   approximation of a network (laplace.py); of sums of sines linearized at a network that is too large
   for one (null_space.py); the members of an ensemble.
2. The calibration: z is the error of a reading predicted without it, in units of the σ that draws and
   noise predict. Readings are left out one by one or by sensor, and in blocks of neighbors, which are
   farther from other readings; the larger mean z² counts. Of exact readings the whole misfit is error.
   κ is at least 1, since readings say little of places without readings.
3. What the posterior does not know is a lower limit: the null space, at places without readings and for
   hidden fields; the misfit that neighboring readings have in common, which is no noise; the change of
   the field by a condition that readings contradict. A hidden field has no readings that would show
   the second: where measured fields are raised, it is raised by the same factor.

The error is relative to the spread of the field over the domain, of the fit or of the draw (which may
be the true field), whichever is larger: an error of 1 is as good as a constant. A field that came out
constant has no spread; then the spread of its readings counts, or of the draws where it has none.
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

# The number of instants at which the error is evaluated where the domain has a time axis, and of
# points in space at each of them: more cost time, fewer miss small regions.
INSTANT_COUNT, POINTS_PER_INSTANT = 9, 128
# The first and last instants lie inside by this share of the time axis, since terms such as u/t
# have no value at the very beginning.
MIN_RELATIVE_TIME = 1e-4
# The number of blocks of neighbors that are left out in turn: fewer are farther from the readings
# that remain, more leave enough readings to fit.
BLOCKS = 10
# The stated interval is wider by this factor on both sides, for the unknown errors of κ and of the
# model itself.
INTERVAL_FACTOR = 1.5
# A place is near readings within this multiple of the distance between readings that fill the
# domain evenly.
NEAR_DISTANCE = 1.5
# The number of nearest readings that are tested for a wall in between.
VISIBILITY_NEIGHBORS = 8
# A fitted field whose spread is a smaller share of that of its readings is not the field that was
# measured; then the spread of the readings counts.
MIN_RELATIVE_SPREAD = 0.1
TINY = np.finfo(float).tiny


def is_exact(noise: float) -> bool:
    """Whether readings with that noise, in units of their spread, count as exact: what they are
    missed by is then error of the model.
    """
    return noise <= MAX_EXACT_SIGMA


# ------------------------------------------------------------------------------- calibration


def calibration_factor(*residuals: Float[np.ndarray, " _"]) -> float:
    """κ: the factor by which the posterior's σ is too small.

    Each of the `residuals` are errors of readings predicted from others, in units of their predicted
    σ; the largest of their root mean squares counts.

    >>> calibration_factor(np.array([0.1, -0.1]), np.array([2.0, -2.0, np.nan]))
    2.0
    """
    finite = [part[np.isfinite(part)] for part in residuals]
    return max([1.0, *(float(np.sqrt(np.mean(part**2))) for part in finite if len(part))])


def neighbor_groups(
    points: Float[np.ndarray, "n d"], count: int = BLOCKS
) -> list[Int[np.ndarray, " _"]]:
    """The numbers of the points in at least `count` groups of neighbors, where there are as many.

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
    """Points that fill the domain, their weights (which sum to 1), and how many instants they
    share: the points of one instant are contiguous.
    """

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, " n"]
    instants: int


def domain_points(domain: Domain) -> DomainPoints:
    """The points at which the error of a field is evaluated; the same places at each instant.

    They are denser toward the ends of every axis, where fields are known worst, and weigh less
    there. The first and the last instant are among them.
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

    Both ends are included, since one of them is often known worst.
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
    """By field, the stated error from the `deviations` of draws from the `values` at the points
    `where`.

    The deviations contain κ already. `undetermined` are fields that the equations determine up to a
    function of time: there the mean over each instant does not count. `near` are the points with
    readings around them; `floors` are errors that are known otherwise, and `reading_spreads` the
    spreads of the readings, of measured fields.
    """
    found = {}
    for column, name in enumerate(fields):
        deviation, truth = deviations[..., column], values[:, column]
        if name in undetermined:
            deviation = without_instant_means(deviation, where)
            truth = without_instant_means(truth, where)
        size = reading_spreads.get(name, float(np.sqrt(np.mean(deviation**2 @ where.weights))))
        flattest = spread_over_domain(truth, where.weights, size)
        spreads = [spread_over_domain(truth + part, where.weights, size) for part in deviation]
        spreads = np.maximum(spreads, flattest)
        found[name] = _stated_error(deviation, spreads, where.weights, near)
    return raised(found, floors)


def raised(errors: Mapping[str, FieldError], floors: Mapping[str, float]) -> dict[str, FieldError]:
    """The errors, each at least its floor, and those without a floor raised by the same factor.

    An error that no floor limits is raised to 1 at most: no field is worse than a constant.

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
    """The error, and at least the floor, near readings and far from them."""
    if error.value >= floor:
        return error
    high = max(error.high, floor * INTERVAL_FACTOR)
    found = replace(error, value=floor, low=floor / INTERVAL_FACTOR, high=high)
    if error.inside is None or error.outside is None or error.outside <= floor:
        return replace(found, inside=None, outside=None)
    return replace(found, inside=max(error.inside, floor))


def _stated_error(deviation: Float[np.ndarray, "k n"], spreads, weights, near) -> FieldError:
    """The stated error of one field from deviations, each relative to its own spread."""
    deviation = deviation / spreads[:, None]
    sizes = np.sqrt(deviation**2 @ weights)
    value = float(np.sqrt(np.mean(sizes**2)))
    low, high = (float(size) for size in np.quantile(sizes, (0.05, 0.95)))
    bounds = min(low, value) / INTERVAL_FACTOR, max(high, value) * INTERVAL_FACTOR
    if near is None or near.all() or not near.any():
        return FieldError(value, *bounds)
    inside, outside = (_rms_over(part, deviation, weights) for part in (near, ~near))
    # Draws that differ more near readings than far from them do so by chance.
    if outside < inside:
        return FieldError(value, *bounds)
    return FieldError(value, *bounds, inside, outside)


def spread_over_domain(
    values: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"], reading_spread: float
) -> float:
    """The standard deviation of a field over the domain, never zero.

    It is that of its readings where the field is nearly constant beside them.

    >>> half, weights = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> spread_over_domain(half, weights, 3.0), spread_over_domain(1e-9 * half, weights, 3.0)
    (1.0, 3.0)
    """
    own = float(np.sqrt((values - values @ weights) ** 2 @ weights))
    return max(own if own >= MIN_RELATIVE_SPREAD * reading_spread else reading_spread, TINY)


def _rms_over(part: Bool[np.ndarray, " n"], deviation, weights) -> float:
    """The root mean square over some of the points."""
    return float(np.sqrt(np.mean(deviation[:, part] ** 2 @ weights[part]) / weights[part].sum()))


def without_instant_means(values: np.ndarray, where: DomainPoints) -> np.ndarray:
    """The values without their mean over the points of each instant."""
    by_instant, own = (
        a.reshape(*a.shape[:-1], where.instants, -1) for a in (values, where.weights)
    )
    mean = np.sum(by_instant * own, axis=-1, keepdims=True) / own.sum(axis=-1, keepdims=True)
    return (by_instant - mean).reshape(values.shape)


def mean_distance(readings: Observations, domain: Domain) -> float:
    """The distance between readings if they filled the domain evenly, in units of the domain."""
    whole = float(np.prod(np.asarray(domain.extent, float)))
    share = 1.0 if domain.shape is None else domain.volume / whole
    return (len(readings) / share) ** (-1 / domain.dimension)


def near_readings(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Bool[np.ndarray, " n"]:
    """Which points are near readings and in their sight.

    Near means about as near as if the readings filled the domain evenly; distances are in units of
    the domain. All points are counted from the domain's origin.
    """
    extent = np.asarray(domain.extent, float)
    own = np.asarray(readings.points, float) / extent
    count = 1 if domain.shape is None else min(VISIBILITY_NEIGHBORS, len(own))
    distances, which = nearest(own, points / extent, count)
    near = distances <= NEAR_DISTANCE * mean_distance(readings, domain)
    if domain.shape is not None:
        place, turn = np.nonzero(near)
        there = np.asarray(readings.points, float)[which[place, turn]]
        near[place, turn] = are_visible(domain, points[place], there)
    return np.asarray(near.any(axis=1))
