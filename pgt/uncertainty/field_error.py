"""The stated error of a field over the whole domain, without knowing the truth.

**By a posterior.** Fields drawn from the posterior differ from the fit by what readings and
equation leave undetermined, also at places without readings. How well the posterior knows its error
is seen at the readings: each is predicted from the others, with a residual z in units of its
predicted σ. With the deviations d_k of the draws,

    stated error = ε κ √mean |d_k|² / spread_k²,       κ² = mean z², within limits

where |d_k| is the root mean square over the domain. The error is relative to the spread of the
field over the domain, of the fit or of the draw (which may be the true field), whichever is larger:
an error of 1 is as good as a constant. A field that came out constant has no spread; then the
spread of its readings counts, or of the draws where it has none.

Where readings are exact, the model's own error remains, which no posterior knows: it assumes that
the model can fulfill all rows. ε is the factor by which the stated error was too small on the
problems of the zoo that are used for tuning, where only such errors remain. It is 1 where noise
limits a field, and where fields found with different sines were averaged, since the draws contain
their difference.

**By place.** One κ for the whole domain is not enough where the field is less smooth at some
places: at a kink, in a corner where boundary and initial values contradict each other, near the
instant of a jump. There some readings are missed by many σ and all others by nearly nothing; the
mean of z² is 1, and the error is that of the few. With f² the mean of z² over some readings around
a place, and v the variance of the draws there,

    v ← v max(κ², f²) + (f² − 1) σ²          where f² is significantly more than 1

The whole excess is error of the field, since noise is the same everywhere.

**By held-out readings.** Without a posterior, readings that were not fitted show the error. Their
misfit is the error of the field and their own noise. The noise is given, or estimated at the fitted
readings: from their misfit without the share ρ that neighbors have in common, which is error of the
field. With m the misfits,

    error² = mean m² of held-out readings - σ²,    σ² ≈ (1 - ρ) mean m² of those fitted

A fit that memorizes its readings residuals them by less than their noise, and the error is stated too
large. In the part of the domain that is farther from readings than the held-out ones, the error is
taken to be larger by a constant factor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import chdtri

from pgt.core.doubt import FieldError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.visibility import in_sight, nearest
from pgt.geometry.low_discrepancy import evenly
from pgt.inference.evidence import MAX_EXACT_SIGMA
from pgt.inference.linear_gaussian import SMALLEST_SIGMA

# The number of instants at which the error is evaluated where the domain has a time axis.
INSTANT_COUNT = 9
# The number of points in space at each of them: more cost time, fewer miss small regions.
POINTS_PER_INSTANT = 128
# The first and last instants lie inside by this share of the time axis, since terms such as u/t
# have no value at the very beginning.
MIN_RELATIVE_TIME = 1e-4
# The limits of κ. It is at least 1, since readings say little about places without readings.
KAPPA_RANGE = (1.0, 30.0)
# ε of a solution in closed form, and of a network: larger values cover more of the unknown truths
# and make every stated error larger. Set on the tuning problems of the zoo.
MODEL_ERROR_CLOSED_FORM = 2.0
MODEL_ERROR_NETWORK = 1.25
# The stated interval is wider by this factor on both sides, for the unknown errors of κ and of the
# model itself.
INTERVAL_FACTOR = 1.5
# A place is near readings within this multiple of the distance between readings that fill the
# domain evenly.
MAX_NEAR_DISTANCE = 1.2
# The number of nearest readings that are tested for a wall in between.
VISIBILITY_NEIGHBORS = 8
# Smaller spreads are not divided by.
MIN_SPREAD = 1e-15
# A fitted field whose spread is a smaller share of that of its readings is not the field that was
# measured; then the spread of the readings counts.
MIN_RELATIVE_SPREAD = 0.1
# A noise below this, in units of the spread, is rounding alone.
ROUNDING_NOISE = 2 * SMALLEST_SIGMA
# The lower limit of κ where the noise is rounding alone.
MIN_KAPPA_AT_ROUNDING = 0.1


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
    still = None if domain.moves else domain.even(POINTS_PER_INSTANT)[:, :-1]
    there = [domain.at(t).even(POINTS_PER_INSTANT) if still is None else still for t in moments]
    points = np.concatenate(
        [
            np.column_stack([at, np.full(POINTS_PER_INSTANT, t)])
            for at, t in zip(there, moments, strict=True)
        ]
    )
    return DomainPoints(
        points, np.repeat(shares / POINTS_PER_INSTANT, POINTS_PER_INSTANT), INSTANT_COUNT
    )


def stated_errors(
    deviations: Float[np.ndarray, "k n c"],
    values: Float[np.ndarray, "n c"],
    where: DomainPoints,
    fields: Sequence[str],
    undetermined: Sequence[str] = (),
    near: Bool[np.ndarray, " n"] | None = None,
    floor: Float[np.ndarray, " c"] | float = 0.0,
    reading_spreads: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, FieldError]:
    """By field, the stated error from the `deviations` of draws from the `values` at the points
    `where`.

    The deviations contain the factors ε and κ already. `undetermined` are fields that the equations
    determine up to a function of time: there the mean over each instant does not count. `near` are
    the points with readings around them; `floor` is an error that is known otherwise, of all fields
    or of each; `reading_spreads` are the spreads of the readings of measured fields.
    """
    found, floors = {}, np.broadcast_to(floor, len(fields))
    for column, name in enumerate(fields):
        deviation, truth = deviations[..., column], values[:, column]
        if name in undetermined:
            deviation, truth = (
                _without_instant_means(deviation, where),
                _without_instant_means(truth, where),
            )
        size = reading_spreads.get(name, float(np.sqrt(np.mean(deviation**2 @ where.weights))))
        flattest = spread_over_domain(truth, where.weights, size)
        spreads = [spread_over_domain(truth + part, where.weights, size) for part in deviation]
        spreads = np.maximum(spreads, flattest)
        found[name] = _with_floor(
            float(floors[column]), _stated_error(deviation, spreads, where.weights, near)
        )
    return found


def _with_floor(floor: float, found: FieldError) -> FieldError:
    """The error, and at least the floor."""
    if found.value >= floor:
        return found
    return replace(
        found,
        value=floor,
        low=floor / INTERVAL_FACTOR,
        high=max(found.high, floor * INTERVAL_FACTOR),
    )


def model_error_factor(noise: float, *, is_closed_form: bool) -> float:
    """ε, from the noise of the readings in units of their spread."""
    if not is_exact(noise):
        return 1.0
    return MODEL_ERROR_CLOSED_FORM if is_closed_form else MODEL_ERROR_NETWORK


def is_exact(noise: float) -> bool:
    """Whether readings with that noise, in units of their spread, count as exact: what they are
    missed by is then error of the model.
    """
    return noise <= MAX_EXACT_SIGMA


def calibration_factor(
    residuals: Float[np.ndarray, " m"], minimum: float = KAPPA_RANGE[0]
) -> float:
    """κ: the factor by which the posterior's σ is too small.

    `residuals` are those of readings predicted from others, in units of their predicted σ. Where
    they say that the posterior's σ is too large, κ is the square root of that factor, since they
    say nothing of places without readings; it is at least `minimum`.
    """
    finite = residuals[np.isfinite(residuals)]
    if not len(finite):
        return 1.0
    size = float(np.sqrt(np.mean(finite**2)))
    return float(np.clip(size if size > 1 else np.sqrt(size), minimum, KAPPA_RANGE[1]))


def min_calibration_factor(noise: float, *, is_closed_form: bool) -> float:
    """The lower limit of κ.

    The evidence cannot make σ of a closed-form solution smaller than the digits of the readings. At
    that limit σ is too large, and a κ below 1 is right.
    """
    return MIN_KAPPA_AT_ROUNDING if is_closed_form and noise < ROUNDING_NOISE else KAPPA_RANGE[0]


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
    """The standard deviation of a field over the domain, at least `MIN_SPREAD`.

    It is that of its readings where the field is nearly constant beside them.

    >>> half, weights = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> spread_over_domain(half, weights, 3.0), spread_over_domain(1e-9 * half, weights, 3.0)
    (1.0, 3.0)
    """
    own = float(np.sqrt((values - values @ weights) ** 2 @ weights))
    return max(own if own >= MIN_RELATIVE_SPREAD * reading_spread else reading_spread, MIN_SPREAD)


def _rms_over(part: Bool[np.ndarray, " n"], deviation, weights) -> float:
    """The root mean square over some of the points."""
    return float(np.sqrt(np.mean(deviation[:, part] ** 2 @ weights[part]) / weights[part].sum()))


def _without_instant_means(values: np.ndarray, where: DomainPoints) -> np.ndarray:
    """The values without their mean over the points of each instant."""
    by_instant, own = (
        a.reshape(*a.shape[:-1], where.instants, -1) for a in (values, where.weights)
    )
    mean = np.sum(by_instant * own, axis=-1, keepdims=True) / own.sum(axis=-1, keepdims=True)
    return (by_instant - mean).reshape(values.shape)


def near_readings(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Bool[np.ndarray, " n"]:
    """Which points are near readings and in their sight.

    Near means about as near as if the readings filled the domain evenly; distances are in units of
    the domain. All points are counted from the domain's origin.
    """
    extent = np.asarray(domain.extent, float)
    own = np.asarray(readings.points, float) / extent
    share = 1.0 if domain.shape is None else domain.volume / float(np.prod(extent))
    even = (len(own) / share) ** (-1 / domain.dimension)
    count = 1 if domain.shape is None else min(VISIBILITY_NEIGHBORS, len(own))
    distances, which = nearest(own, points / extent, count)
    near = distances <= MAX_NEAR_DISTANCE * even
    if domain.shape is not None:
        place, turn = np.nonzero(near)
        there = np.asarray(readings.points, float)[which[place, turn]]
        near[place, turn] = in_sight(domain, points[place], there)
    return np.asarray(near.any(axis=1))


# The number of readings around a place whose residuals are averaged: fewer are noisier, more are
# less local.
LOCAL_READINGS = 6
# The probability that noise alone causes a local excess anywhere.
FALSE_ALARM_RATE = 0.01
# The upper limit of f², since it is known from few readings.
MAX_LOCAL_EXCESS = 30.0**2


def local_excess(
    points: Float[np.ndarray, "n d"],
    reading_points: Float[np.ndarray, "m d"],
    residuals: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " n"]:
    """f² at points, and 1 where it is not significant.

    `residuals` are z of the values read at `reading_points`.

    >>> line = np.linspace(0, 1, 50)[:, None]
    >>> local_excess(np.array([[0.1], [0.9]]), line, np.where(line[:, 0] < 0.2, 5.0, 0.1)).tolist()
    [25.0, 1.0]
    """
    known = np.isfinite(residuals)
    if known.sum() <= LOCAL_READINGS:
        return np.ones(len(points))
    which = nearest(reading_points[known], points, LOCAL_READINGS)[1]
    found = np.mean(residuals[known][which] ** 2, axis=1)
    by_chance = chdtri(LOCAL_READINGS, FALSE_ALARM_RATE / known.sum()) / LOCAL_READINGS
    return np.where(found > by_chance, np.minimum(found, MAX_LOCAL_EXCESS), 1.0)


def widen(
    deviations: Float[np.ndarray, "k n c"],
    kappa: float,
    excess: Float[np.ndarray, " n"],
    noise: Float[np.ndarray, " c"],
) -> Float[np.ndarray, "k n c"]:
    """The deviations of draws, times κ, and more where f², the `excess`, is larger.

    `noise` is σ of the readings of each field, 0 for fields without readings.
    """
    variance = np.mean(deviations**2, axis=0)
    more = np.where(excess > 1, excess - 1, 0.0)[:, None] * noise**2
    wanted = variance * np.maximum(kappa**2, np.where(excess > 1, excess, 0.0))[:, None] + more
    return deviations * np.sqrt(wanted / np.maximum(variance, np.finfo(float).tiny))


# Far from readings the error is this many times that near them: the median outside the hull of the
# readings of 36 fits of six equations.
EXTRAPOLATION_FACTOR = 12.0
# The interval of an error from held-out readings is this many standard errors of their mean square.
INTERVAL_SIGMAS = 2.0


class Misfits(NamedTuple):
    """The misfits of the readings of one field, the share of the variance at fitted ones that
    neighbors have in common, and σ of the noise where it was given (else 0).
    """

    held_out: Float[np.ndarray, " m"]
    fitted: Float[np.ndarray, " n"]
    common_share: float = 0.0
    noise: float = 0.0


def error_from_held_out(
    misfits: Misfits, spread: float, far_share: float = 0.0
) -> FieldError | None:
    """The error of a field with that spread, from its misfits at held-out readings.

    `far_share` is the share of the domain that has no readings near. None where no reading is held
    out.

    >>> noise = np.random.default_rng(0).normal(size=4000)
    >>> noisy = Misfits(np.hypot(0.03, 0.04) * noise[:2000], 0.04 * noise[2000:])
    >>> round(error_from_held_out(noisy, 1.0).value, 2)
    0.03
    """
    squares = misfits.held_out[np.isfinite(misfits.held_out)] ** 2
    if not len(squares):
        return None
    whole = float(np.mean(squares))
    chance = whole * np.sqrt(2 / len(squares))
    # The error is at least the standard error of the mean square.
    square = min(max(whole - _noise_variance(misfits), chance), whole)
    scale = np.sqrt(1 - far_share + far_share * EXTRAPOLATION_FACTOR**2) / spread
    low = (
        np.sqrt(max(square - INTERVAL_SIGMAS * chance, square / INTERVAL_SIGMAS**2))
        * scale
        / INTERVAL_FACTOR
    )
    high = np.sqrt(square + INTERVAL_SIGMAS * chance) * scale * INTERVAL_FACTOR
    found = FieldError(float(np.sqrt(square) * scale), float(low), float(high))
    if not 0 < far_share < 1:
        return found
    near = float(np.sqrt(square) / spread)
    return replace(found, inside=near, outside=EXTRAPOLATION_FACTOR * near)


def _noise_variance(misfits: Misfits) -> float:
    """The variance of the noise of the readings."""
    if misfits.noise > 0:
        return misfits.noise**2
    squares = misfits.fitted[np.isfinite(misfits.fitted)] ** 2
    return (
        (1 - np.clip(misfits.common_share, 0, 1)) * float(np.mean(squares)) if len(squares) else 0.0
    )
