r"""Offset, gain, drift and clock shift of sensors, estimated together with the field.

To first order, an effect b of a sensor adds the column c b to the readings: ones for an offset, the time
for a drift, the field for a gain, its derivative in time for a clock shift, each at the readings of that
sensor. With the normal prior b ~ N(0, T²) and the covariance K of the readings without effects
(linear_gaussian.py),

$$ S = C^T K^{-1} C, \quad Q = C^T K^{-1} r, \quad M = 1 + T S T, \qquad
   b \mid y \sim N(T M^{-1} T Q,\; T M^{-1} T), \\
   \Delta \log p(y) = \tfrac12 Q^T T M^{-1} T Q - \tfrac12 \log\det M $$

The estimate is that of readings and field together, although the field is integrated out. A method that
is fitted to the readings less their effects therefore finds the field that belongs to it.

Effects whose prior is given belong to all sensors. Others are found one after the other, the one that
raises the evidence most first, while the gain is very strong. The evidence is the greatest over a common
factor of K: before a wrong sensor is known, its errors count as noise.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pgt.data.observations import Observations
from pgt.data.sensors import Kind
from pgt.data.splits import sensors as sensors_of
from pgt.inference.linear_gaussian import GaussianPosterior

# An effect is accepted where the gain in log-evidence is very strong (Kass and Raftery 1995).
MIN_GAIN = 5.0
# An offset is the usual error: others are accepted only where they have so much more log-evidence.
UNUSUAL = 5.0
# The prior standard deviation of an effect that nobody stated: as a share of the spread of the field, of
# its spread over the time of the readings, of the field, or of the time axis.
USUAL_SIZE = 0.1
# Effects that nobody stated are looked for only among at least this many sensors of a field. With fewer,
# they could absorb what an equation with unknown coefficients leaves unexplained. With more than the
# second number, the products of all columns take too long.
MIN_SENSORS, MAX_SENSORS = 5, 60
# Smaller effects, relative to the spread, may be errors of the method.
MIN_VISIBLE = 1e-3
# The number of rounds in which the common factor of K is found.
SCALE_ROUNDS = 5
# A smaller σ, in units of the spread, is a rounding error.
MIN_SIGMA = 1e-7
TINY = 1e-12


@dataclass(frozen=True)
class Effect:
    """One error of one sensor.

    Attributes
    ----------
    place : the position of the sensor.
    field : the field that it reads.
    kind : "offset", "gain", "drift" or "clock".
    value, deviation : the estimate and its posterior standard deviation, in physical units.
    middle : of a drift the time, and of a gain the value, at which it has no effect.
    stated : the prior standard deviation that was given for it; 0 where none was.
    """

    place: tuple[float, ...]
    field: str
    kind: Kind
    value: float
    deviation: float
    middle: float
    stated: float = 0.0


class EffectColumn(NamedTuple):
    """An effect that a sensor may have: its name, its column for all measured values, in units of their
    spread, and its prior standard deviation."""

    effect: Effect
    column: Float[np.ndarray, " n"]
    deviation: float
    is_stated: bool

    @property
    def key(self) -> tuple:
        """What the effect is, without its size."""
        return self.effect.place, self.effect.field, self.effect.kind


class SensorFit(NamedTuple):
    """The estimated effects, and the columns of the errors that they leave in the readings: the posterior
    covariance of the effects, as a sum of squares, in units of the spread."""

    effects: tuple[Effect, ...]
    errors: Float[np.ndarray, "n k"]


def shift_of(effects: Sequence[Effect], readings: Observations, predict) -> np.ndarray:
    """What effects add to readings, in physical units.

    `predict` maps readings and a shift of their times to predictions and the actual shifts."""
    shift = np.zeros(np.shape(readings.values))
    if not effects or not len(readings):
        return shift
    places, times = places_of(readings), np.asarray(readings.points, float)[:, -1]
    for effect in effects:
        rows = np.flatnonzero((places == np.asarray(effect.place)).all(axis=1))
        column = readings.fields.index(effect.field)
        if effect.kind == "offset":
            shift[rows, column] += effect.value
        elif effect.kind == "drift":
            shift[rows, column] += effect.value * (times[rows] - effect.middle)
        elif len(rows):
            here, _ = predict(readings.take(rows), 0.0)
            if effect.kind == "gain":
                shift[rows, column] += effect.value * (here[:, column] - effect.middle)
            else:
                moved, _ = predict(readings.take(rows), effect.value)
                shift[rows, column] += moved[:, column] - here[:, column]
    return np.where(np.asarray(readings.mask), shift, 0.0)


def places_of(readings: Observations) -> Float[np.ndarray, "n d"]:
    """The positions of readings in space."""
    space = [k for k, axis in enumerate(readings.coords) if axis != "t"]
    return np.asarray(readings.points, float)[:, space]


def measured_in_order(
    readings: Observations,
) -> tuple[Int[np.ndarray, " m"], Int[np.ndarray, " m"]]:
    """The rows and the columns of all measured values, field by field, as all methods count them."""
    rows = [readings.measured(name).rows for name in readings.fields]
    columns = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    return np.concatenate(rows), columns


def candidates(
    readings: Observations,
    predict,
    spread: Float[np.ndarray, " c"],
    extent: float,
    known: Mapping[tuple, Effect],
) -> Iterator[EffectColumn]:
    """All effects that the sensors of these readings may have.

    `predict` maps readings and a shift of their times to predictions and the actual shifts. `extent` is
    the length of the time axis, and `known` are the estimates so far."""
    sensor_of = sensors_of(readings, at_least=1)
    if sensor_of is None:
        return
    rows, columns = measured_in_order(readings)
    places, times = places_of(readings), np.asarray(readings.points, float)[:, -1]
    stated = readings.sensors.stated
    here, _ = predict(readings, 0.0)
    step = 1e-3 * extent
    (after, ahead), (before, back) = predict(readings, step), predict(readings, -step)
    slopes = (after - before) / (ahead - back)[:, None]
    for column, name in enumerate(readings.fields):
        is_field = columns == column
        numbers = np.unique(sensor_of[rows[is_field]])
        is_searched = MIN_SENSORS <= len(numbers) <= MAX_SENSORS
        for number in numbers:
            inside = np.flatnonzero(is_field & (sensor_of[rows] == number))
            at = rows[inside]
            middle, half = np.mean([times[at].min(), times[at].max()]), np.ptp(times[at]) / 2
            size, mean = USUAL_SIZE * float(spread[column]), float(np.mean(here[at, column]))
            shapes: dict[Kind, tuple[Any, float, float]] = {
                "offset": (np.ones(len(at)), size, 0.0),
                "gain": (here[at, column] - mean, USUAL_SIZE, mean),
                "drift": (times[at] - middle, size / half if half else 0.0, float(middle)),
                "clock": (slopes[at, column], USUAL_SIZE * extent, 0.0),
            }
            for kind, (shape, usual, zero) in shapes.items():
                deviation = stated.get(kind, usual if is_searched else 0.0)
                if deviation == 0:
                    continue
                if kind == "gain" and kind in stated:
                    shape, zero = here[at, column], 0.0
                place = tuple(places[at[0]].tolist())
                effect = Effect(place, name, kind, 0.0, 0.0, zero, stated.get(kind, 0.0))
                full = np.zeros(len(rows))
                full[inside] = shape / spread[column]
                candidate = EffectColumn(effect, full, deviation, kind in stated)
                if candidate.key in known:
                    effect = replace(effect, value=known[candidate.key].value)
                    candidate = candidate._replace(effect=effect)
                yield candidate


def estimate(posteriors: Sequence[GaussianPosterior], found: Sequence[EffectColumn]) -> SensorFit:
    """The effects out of the candidates that were `found`, with all scales of greatest evidence.

    The readings of the posteriors are those less the effects that the candidates have so far."""
    if not found:
        return SensorFit((), np.zeros((posteriors[0].reduced.count, 0)))
    columns = np.stack([one.column for one in found], axis=1)
    added = columns @ np.array([one.effect.value for one in found])
    deviations = np.array([one.deviation for one in found])
    searches = [list(_scales_of(p, columns, added, deviations)) for p in posteriors]
    selections = [_selected(scales, found) for scales in searches if scales]
    if not selections:
        return SensorFit((), np.zeros((len(columns), 0)))
    _, chosen, scale = max(selections, key=lambda selection: selection[0])
    mean, covariance, _ = scale.conditioned(chosen)
    sizes = np.abs(mean) * np.abs(columns[:, chosen]).max(axis=0, initial=0.0)
    kept = [k for k, j in enumerate(chosen) if found[j].is_stated or sizes[k] > MIN_VISIBLE]
    effects = tuple(
        replace(
            found[chosen[k]].effect,
            value=float(mean[k]),
            deviation=float(np.sqrt(covariance[k, k])),
        )
        for k in kept
    )
    values, vectors = np.linalg.eigh(covariance[np.ix_(kept, kept)])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return SensorFit(effects, columns[:, [chosen[k] for k in kept]] @ root)


def _scales_of(posterior: GaussianPosterior, columns, added, deviations) -> Iterator["_Scale"]:
    """The model at one ρ with all s² and σ of its grid that are not rounding errors."""
    components, rest = posterior.split_columns(columns, added)
    given = posterior.reduced.given
    squares = posterior.singular_values[:, None] ** 2
    for evidence, variance, sigma in zip(*posterior.scales[:3], strict=True):
        if sigma > MIN_SIGMA:
            products = (components / (variance * squares + sigma**2)).T @ components
            is_known = given is not None and bool(sigma <= given * (1 + 1e-9))
            yield _Scale(
                float(evidence), products + rest / sigma**2, deviations,
                posterior.reduced.count, is_known,
            )  # fmt: skip


def _selected(
    scales: "Sequence[_Scale]", found: Sequence[EffectColumn]
) -> tuple[float, list[int], "_Scale"]:
    """The log-evidence at one ρ, less what its effects have to gain; the numbers of the effects that are
    accepted; and the scales under which they are most probable.

    The search ends before comparing ρ, because the equation may have to be soft as long as only one of
    several wrong sensors is known."""
    chosen = [k for k, one in enumerate(found) if one.is_stated]
    counts = Counter(name for _, name in {one.key[:2] for one in found})
    needed = np.array([MIN_GAIN + UNUSUAL * (one.effect.kind != "offset") for one in found])
    total_needed = 0.0
    while True:
        faulty = {found[k].key[:2] for k in chosen if not found[k].is_stated}
        of_field = Counter(name for _, name in faulty)
        is_minority = {name: 2 * of_field[name] + 2 < count for name, count in counts.items()}
        is_open = [
            k not in chosen and (one.key[:2] in faulty or is_minority[one.effect.field])
            for k, one in enumerate(found)
        ]
        evidence, best = max(
            ((scale.evidence(chosen), scale) for scale in scales), key=lambda pair: pair[0]
        )
        gains = np.max([scale.evidences_with_one(chosen) for scale in scales], axis=0) - evidence
        excess = np.where(is_open, gains - needed, -np.inf)
        next_one = int(np.argmax(excess))
        if excess[next_one] < 0:
            return evidence - total_needed, chosen, best
        total_needed += float(needed[next_one])
        chosen.append(next_one)


@dataclass(frozen=True)
class _Scale:
    """The readings without effects at one ρ, s² and σ.

    `products` are those of all columns and, last, the misfit with K⁻¹; `deviations` are the T of all
    candidates."""

    base: float
    products: Float[np.ndarray, "q q"]
    deviations: Float[np.ndarray, " k"]
    count: int
    is_known: bool

    def conditioned(self, chosen: Sequence[int]):
        """The mean and the covariance of the chosen effects, and the common factor of K."""
        factor, prior = 1.0, self.deviations[list(chosen)]
        squares, products = self.products[np.ix_(chosen, chosen)], self.products[list(chosen), -1]
        for _ in range(SCALE_ROUNDS):
            inverse = np.linalg.inv(
                np.eye(len(chosen)) + prior[:, None] * (squares / factor) * prior
            )
            covariance = prior[:, None] * inverse * prior
            mean = covariance @ products / factor
            if self.is_known:
                break
            factor = max((self.products[-1, -1] - products @ mean) / self.count, TINY)
        return mean, covariance, factor

    def evidence(self, chosen: Sequence[int]) -> float:
        """The log-evidence with the chosen effects."""
        _, covariance, factor = self.conditioned(chosen)
        return self.base + self._gain(chosen, covariance, factor, self._rest(chosen)[2])

    def evidences_with_one(self, chosen: Sequence[int]) -> Float[np.ndarray, " k"]:
        """The log-evidence with the chosen effects and one more, for each candidate."""
        _, covariance, factor = self.conditioned(chosen)
        squares, products, total = self._rest(chosen)
        variance, more = self.deviations**2, np.ones(len(self.deviations))
        for _ in range(1 if self.is_known else SCALE_ROUNDS):
            growth = 1 + variance * squares / more
            rest = total / more - variance * (products / more) ** 2 / growth
            if not self.is_known:
                more = np.maximum(more * rest / self.count, TINY)
        growth = 1 + variance * squares / more
        rest = total / more - variance * (products / more) ** 2 / growth
        return (
            self.base + self._gain(chosen, covariance, factor * more, rest) - 0.5 * np.log(growth)
        )

    def _rest(self, chosen: Sequence[int]):
        """CᵀK⁻¹C (its diagonal), CᵀK⁻¹r and rᵀK⁻¹r with the chosen effects as part of K."""
        mean, covariance, factor = self.conditioned(chosen)
        cross = self.products[:-1, list(chosen)] / factor
        squares = np.diag(self.products)[:-1] / factor - np.sum(
            (cross @ covariance) * cross, axis=1
        )
        products = self.products[:-1, -1] / factor - cross @ mean
        total = (self.products[-1, -1] - self.products[list(chosen), -1] @ mean) / factor
        return np.maximum(squares, 0.0), products, max(float(total), TINY)

    def _gain(self, chosen: Sequence[int], covariance, factor, rest):
        """The change of the log-evidence by effects and the common factor."""
        prior = self.deviations[list(chosen)]
        shrunk = covariance / (prior[:, None] * prior)
        growth = -np.linalg.slogdet(shrunk)[1]
        unchanged = self.products[-1, -1]
        return -0.5 * (growth + self.count * np.log(factor) + rest - unchanged)
