"""The error of the field over the whole domain, as far as it can be known without the truth.

Fields drawn from the posterior differ from the fit by what readings and equation leave open, at places
without readings as well. How well the posterior knows its own error, the readings tell: each of them is
predicted from the others, and missed by z of the σ that the posterior gives it. With deviations d_k of
the draws,

    stated error = ε κ √mean |d_k|² / spread_k²,       κ² = mean z², within limits

where |d_k| is the root mean square over the domain. Relative to the spread of the field over the domain,
that of the fit or of the draw, which may be the true field, whichever is larger: an error of 1 is as good
as a constant. A field that came out as a constant has no spread; there it is that of its readings that
counts, or of what is drawn where there are none.

Where readings are as good as exact, what is left is the model's own error, which no posterior knows: it
takes the model for able to fulfil all rows. ε is by how much that was too small on the problems of the
zoo that defaults are tuned on, where nothing but such errors is left; it is 1 where noise is what limits
a field, and where fields found with different sines were averaged: what these differ by is drawn, too.
Around readings that are missed by far more than others are, both are larger (local_misses.py). No less is
stated of a network anywhere than what a few neighbouring readings change there (training/jackknife.py),
as far as that raises the whole by no more than three times.

A network stops where its seconds end, not at the summit of its posterior. Where the field there is the
better answer, each clean reading tells as if it had not been fitted (training/summit.py). Elsewhere the
deviations of its draws are those from where it stands, a Newton step away from the summit, which for
clean readings is most of the error (training/posterior.py). What a model had no room or no time for it
takes for noise: no less is stated than neighbours are missed by alike (reconstruction/expected_error.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from pgt.data.domain import Domain
from pgt.data.evenly import evenly
from pgt.data.observations import Observations
from pgt.data.sight import in_sight, nearest
from pgt.ground.verdict import FieldError
from pgt.training.gaussian import SMALLEST_SIGMA

INSTANTS, PLACES = 9, 128
INSIDE = 1e-4  # of the time: terms such as u/t have no value at its very beginning
TRUSTED = (1.0, 30.0)  # of κ: readings say little of places where there are none, and nothing good
EXACT = 1e-3  # of the spread: readings with less noise than that are as good as exact
OWN_ERROR_SOLVED, OWN_ERROR_FITTED = 2.0, 1.25  # ε of a sum of sines, and of a network
UNSURE = 1.5  # a factor either way, for what no posterior knows: that of κ itself, and of the model
NEAR = 1.2  # of the distance between readings that fill the domain evenly
ASKED = 8  # of the nearest readings, whether a wall is between
SMALLEST = 1e-15
FLAT = 0.1  # of the spread that readings show: with less, a field is not what was read
ROUNDED, LEAST_ROUNDED = 2 * SMALLEST_SIGMA, 0.1  # σ that is rounding alone, and κ at least there


class Places(NamedTuple):
    """Points that fill the domain, how much of it each stands for, and how many instants they share:
    those of one instant stand together."""

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, " n"]
    instants: int


def places(domain: Domain) -> Places:
    """The same places at some instants, so that what is open at each instant can be taken out.

    They lie closer towards the ends of every axis, where fields are known worst, and count less there;
    the first and the last instant are among them.
    """
    if domain.shape is not None:
        return _places_in_shape(domain)
    has_instants = domain.has_time and len(domain.spatial_axes) > 0
    instants = INSTANTS if has_instants else 1
    even = evenly(PLACES * INSTANTS // instants, domain.dimension - has_instants)
    unit, weights = (1 - np.cos(np.pi * even)) / 2, np.prod(np.sin(np.pi * even), axis=1)
    if has_instants:
        moments, shares = _moments()
        unit = np.concatenate([np.column_stack([unit, np.full(PLACES, t)]) for t in moments])
        weights = np.outer(shares, weights).ravel()
    points = np.asarray(domain.from_unit(unit), float)
    return Places(points, weights / weights.sum(), instants)


def _moments() -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """Instants from 0 to 1, both as good as among them, and how much each counts (the trapezoidal rule).
    The first and the last are asked about as any others, and one of them is often known worst."""
    moments = (1 - np.cos(np.pi * np.linspace(0, 1, INSTANTS))) / 2
    gaps = np.pad(np.diff(moments), 1)
    return np.clip(moments, INSIDE, 1 - INSIDE), (gaps[1:] + gaps[:-1]) / 2


def _places_in_shape(domain: Domain) -> Places:
    """Spread evenly inside the shape."""
    if not domain.has_time:
        count = PLACES * INSTANTS
        return Places(domain.even(count), np.full(count, 1 / count), 1)
    low, high = domain.bounds("t")
    unit, shares = _moments()
    moments = low + (high - low) * unit
    still = None if domain.moves else domain.even(PLACES)[:, :-1]
    there = [domain.at(t).even(PLACES) if still is None else still for t in moments]
    points = np.concatenate(
        [np.column_stack([at, np.full(PLACES, t)]) for at, t in zip(there, moments, strict=True)]
    )
    return Places(points, np.repeat(shares / PLACES, PLACES), INSTANTS)


def expected_errors(
    deviations: Float[np.ndarray, "k n c"],
    values: Float[np.ndarray, "n c"],
    where: Places,
    fields: Sequence[str],
    free: Sequence[str] = (),
    near: Bool[np.ndarray, " n"] | None = None,
    at_least: Float[np.ndarray, " c"] | float = 0.0,
    shown: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, FieldError]:
    """By field: what `deviations` of draws from `values`, times ε κ, say at the places `where`.

    `free` are fields that the equations leave open at each instant: there the mean does not count.
    `near` are the places that have readings around them, `at_least` is the error at sensors that stand
    still, each predicted from the others: of all fields, or of each. `shown` is the spread of the
    readings of those fields that were read.
    """
    found, least = {}, np.broadcast_to(at_least, len(fields))
    for column, name in enumerate(fields):
        away, truth = deviations[..., column], values[:, column]
        if name in free:
            away, truth = _without_mean(away, where), _without_mean(truth, where)
        size = shown.get(name, float(np.sqrt(np.mean(away**2 @ where.weights))))
        flattest = spread_of(truth, where.weights, size)
        spreads = [spread_of(truth + part, where.weights, size) for part in away]
        spreads = np.maximum(spreads, flattest)
        found[name] = _no_less_than(
            float(least[column]), _of_field(away, spreads, where.weights, near)
        )
    return found


def _no_less_than(least: float, found: FieldError) -> FieldError:
    """Between two sensors a field is known no better than at one that its neighbours predict."""
    if found.value >= least:
        return found
    return replace(found, value=least, low=least / UNSURE, high=max(found.high, least * UNSURE))


def own_error(noise: float, *, solved: bool) -> float:
    """ε, from the noise of the readings in units of their spread."""
    if not is_exact(noise):
        return 1.0
    return OWN_ERROR_SOLVED if solved else OWN_ERROR_FITTED


def is_exact(noise: float) -> bool:
    """Whether readings with that noise, in units of their spread, are as good as exact."""
    return noise <= EXACT


def calibration(misses: Float[np.ndarray, " m"], least: float = TRUSTED[0]) -> float:
    """κ: by how much the posterior's σ is too small, as far as the errors z of readings predicted from
    others say, in units of their predicted σ; `least` of it.

    That it is too large they are believed by half, the root of it: of places without readings they cannot
    say so.
    """
    finite = misses[np.isfinite(misses)]
    if not len(finite):
        return 1.0
    size = float(np.sqrt(np.mean(finite**2)))
    return float(np.clip(size if size > 1 else np.sqrt(size), least, TRUSTED[1]))


def least_calibration(noise: float, *, solved: bool) -> float:
    """Below what κ is not believed. The evidence makes σ of a sum of sines as small as readings are
    missed by, but no smaller than their digits: held up there, it is too large, as κ says."""
    return LEAST_ROUNDED if solved and noise < ROUNDED else TRUSTED[0]


def _of_field(away: Float[np.ndarray, "k n"], spreads, weights, near) -> FieldError:
    """What draws deviate by, each relative to its own spread."""
    away = away / spreads[:, None]
    sizes = np.sqrt(away**2 @ weights)
    value = float(np.sqrt(np.mean(sizes**2)))
    low, high = (float(size) for size in np.quantile(sizes, (0.05, 0.95)))
    bounds = min(low, value) / UNSURE, max(high, value) * UNSURE
    if near is None or near.all() or not near.any():
        return FieldError(value, *bounds)
    inside, outside = (_over(part, away, weights) for part in (near, ~near))
    # Draws that differ more near readings than far from them tell of chance, and nothing of the places.
    if outside < inside:
        return FieldError(value, *bounds)
    return FieldError(value, *bounds, inside, outside)


def spread_of(
    values: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"], shown: float
) -> float:
    """The standard deviation of a field over the domain, and no less than what divides; that which is
    `shown` elsewhere, where the field is next to flat beside it: then it is not the true one's.

    >>> half, weights = np.array([1.0, -1.0]), np.full(2, 0.5)
    >>> spread_of(half, weights, 3.0), spread_of(1e-9 * half, weights, 3.0)
    (1.0, 3.0)
    """
    own = float(np.sqrt((values - values @ weights) ** 2 @ weights))
    return max(own if own >= FLAT * shown else shown, SMALLEST)


def _over(part: Bool[np.ndarray, " n"], away, weights) -> float:
    """The root mean square over some of the places."""
    return float(np.sqrt(np.mean(away[:, part] ** 2 @ weights[part]) / weights[part].sum()))


def _without_mean(values: np.ndarray, where: Places) -> np.ndarray:
    """The mean over the places of every instant taken out."""
    by_instant, own = (
        a.reshape(*a.shape[:-1], where.instants, -1) for a in (values, where.weights)
    )
    mean = np.sum(by_instant * own, axis=-1, keepdims=True) / own.sum(axis=-1, keepdims=True)
    return (by_instant - mean).reshape(values.shape)


def near_readings(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Bool[np.ndarray, " n"]:
    """Which points have a reading about as near as they would have if readings filled the domain
    evenly, and in sight, where it has a shape; distances are in units of the domain. All points are
    counted from where the domain is."""
    extent = np.asarray(domain.extent, float)
    own = np.asarray(readings.points, float) / extent
    share = 1.0 if domain.shape is None else domain.volume / float(np.prod(extent))
    even = (len(own) / share) ** (-1 / domain.dimension)
    count = 1 if domain.shape is None else min(ASKED, len(own))
    away, which = nearest(own, points / extent, count)
    near = away <= NEAR * even
    if domain.shape is not None:
        place, turn = np.nonzero(near)
        there = np.asarray(readings.points, float)[which[place, turn]]
        near[place, turn] = in_sight(domain, points[place], there)
    return np.asarray(near.any(axis=1))
