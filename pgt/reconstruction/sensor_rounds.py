"""Rounds of a fit in which the errors of sensors are found and taken out of the readings.

Every method fits normal readings of sensors without errors. `fit_with_sensors` fits them once, estimates
offset, gain, drift and clock of the sensors from the posterior of that fit (inference/sensor_effects.py),
and fits the readings less these effects, until they no longer change. Counts, readings with log-normal or
relative noise and readings beyond a detection limit are linearized in the same rounds
(data/sensors.py). Without fixed sensors and with normal noise there is one round.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.data.observations import Observations, typical
from pgt.data.sensors import working_readings
from pgt.data.splits import sensors as sensors_of
from pgt.inference.sensor_effects import (
    MIN_SENSORS,
    Effect,
    SensorFit,
    candidates,
    estimate,
    shift_of,
)
from pgt.models.linearised import network_of
from pgt.problem.assembly import Task
from pgt.problem.budget import total_seconds
from pgt.reconstruction.evaluation import Evaluation
from pgt.reconstruction.held_out_predictions import ShiftedField
from pgt.reconstruction.race import with_seconds_left
from pgt.uncertainty.outcome import Outcome

# The limit on rounds. Offsets take two or three, detection limits up to five.
MAX_ROUNDS = 6
# A root mean square change of the readings by less than this, in units of the noise, ends the rounds.
NEGLIGIBLE_CHANGE = 0.05
# The share of the seconds that the first round of a network may take where a second one is likely.
FIRST_SHARE = 0.7

FitTask = Callable[..., Outcome]


def fit_with_sensors(fit: FitTask, task: Task) -> tuple[Task, Outcome]:
    """The task with the readings that were fitted last, and its outcome.

    `fit` is `fit_task` with its settings."""
    check_sensors(task)
    began, first = time.monotonic(), task
    origin, sensors = task.problem.origin, task.problem.observations.sensors
    parts = origin.physical(task.problem.observations), origin.physical(task.held_out)
    if not sensors.is_normal:
        task = _with_readings(task, [_started(part) for part in parts])
    if needs_rounds(task):
        task = with_seconds_left(task, 0.0, FIRST_SHARE)
    effects: tuple[Effect, ...] = ()
    settings: dict = {}
    for turn in range(MAX_ROUNDS):
        round_began, taken_out = time.monotonic(), effects
        outcome = fit(task, **settings)
        round_seconds = time.monotonic() - round_began
        field = ShiftedField(_evaluation(outcome, task))
        found = _found_effects(outcome, task, parts[0], field, effects)
        effects = found.effects
        sigma = _constant_noise(outcome, task, parts[0], field, effects)
        new = [_normal_readings(part, effects, field, sigma) for part in parts]
        change = _change(new[0], origin.physical(task.problem.observations), sigma)
        if change < NEGLIGIBLE_CHANGE or turn == MAX_ROUNDS - 1:
            return task, replace(outcome, effects=effects)
        spent = time.monotonic() - began
        seconds = total_seconds(first.training)
        if seconds is not None and spent + round_seconds > seconds:
            return task, replace(outcome, effects=_as_taken_out(effects, taken_out))
        limited = with_seconds_left(first, spent)
        warm = {"networks": (network_of(outcome.fit.model),)} if task.model.is_trained else {}
        task = _with_readings(
            replace(limited, **warm), new, found.errors if found.errors.size else None
        )
        settings = {"checkpoint": None, "is_kept": lambda outcome: True}
    raise AssertionError


def _as_taken_out(found: tuple[Effect, ...], taken_out: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects with the values that were taken out of the readings before the last round, which are 0
    where they are new: there is no time to fit the readings without them."""
    values = {(one.place, one.field, one.kind): one.value for one in taken_out}
    return tuple(
        replace(one, value=values.get((one.place, one.field, one.kind), 0.0)) for one in found
    )


def check_sensors(task: Task) -> None:
    """Raise where effects are stated of sensors that the readings do not show."""
    readings = task.problem.observations
    stated = [kind for kind, size in readings.sensors.stated.items() if size > 0]
    if stated and len(readings) and sensors_of(readings, at_least=1) is None:
        raise InputError(
            f"Sensors({stated[0]}=...): no sensor stands still and reads many times, so that its "
            "errors cannot be told from noise; leave it out.",
            about="sensors",
        )


def needs_rounds(task: Task) -> bool:
    """Whether a second round is likely enough for a network to leave time for it."""
    readings = task.problem.observations
    if not task.model.is_trained:
        return False
    which = sensors_of(readings)
    has_sensors = which is not None and len(np.unique(which)) >= MIN_SENSORS
    return has_sensors or not readings.sensors.is_normal


def _evaluation(outcome: Outcome, task: Task) -> Evaluation:
    fit = outcome.fit
    return Evaluation(fit.model, fit.pde, task.problem.observations, None, task.domain)


def _found_effects(
    outcome: Outcome,
    task: Task,
    readings: Observations,
    field: ShiftedField,
    known: tuple[Effect, ...],
) -> SensorFit:
    """The effects of the sensors under the posteriors of the outcome; without time there are no fixed
    sensors."""
    if not outcome.posteriors or not task.domain.has_time:
        return SensorFit(known, np.zeros((0, 0)))
    by_key = {(effect.place, effect.field, effect.kind): effect for effect in known}
    spread = np.asarray(outcome.fit.model.scaling.spread, float)
    low, high = task.domain.bounds("t")
    found = list(candidates(readings, field, spread, high - low, by_key))
    return estimate(outcome.posteriors, found)


def _started(readings: Observations) -> Observations:
    """The readings of the first round, linearized around themselves."""
    values, noise = np.array(readings.values, float), np.array(readings.noise, float)
    sensors = replace(readings.sensors, below=None, above=None)
    if sensors.noise == "lognormal" and not sensors.relative:
        sensors = replace(sensors, relative=0.1)
    if not sensors.is_normal:
        level = np.maximum(values, 0.0) if sensors.noise == "counts" else values
        noise = working_readings(sensors, values, level, noise).sigma
        smallest = 1e-3 * np.max(noise, axis=0, initial=0.0)
        noise = np.where(np.asarray(readings.mask), np.maximum(noise, smallest), 0.0)
    return replace(readings, noise=noise)


def _constant_noise(
    outcome: Outcome, task: Task, readings: Observations, field: ShiftedField, effects
) -> Float[np.ndarray, " c"]:
    """σ of the readings of each field as far as it does not grow with the field, in physical units.

    For log-normal noise it is that of the logarithm. Readings beyond a limit do not count."""
    sensors = readings.sensors
    spread = np.asarray(outcome.fit.model.scaling.spread, float)
    if sensors.is_normal:
        return np.ones(len(spread)) * outcome.noise_by_field * spread
    predicted = field(readings, 0.0)[0] + shift_of(effects, readings, field)
    sigma = np.zeros(len(spread))
    for column, name in enumerate(readings.fields):
        rows, _, values, given = readings.measured(name)
        inside = np.ones(len(rows), bool)
        if sensors.below is not None:
            inside &= values > sensors.below
        if sensors.above is not None:
            inside &= values < sensors.above
        if typical(given) or not inside.any():
            sigma[column] = typical(given)
            continue
        misfit = (values - predicted[rows, column])[inside]
        if sensors.noise == "lognormal":
            level = np.maximum(predicted[rows, column], 0.1 * values)[inside]
            misfit = np.log(values[inside] / level)
        determined = outcome.posteriors[0].determined if outcome.posteriors else 0.0
        free = max(len(misfit) - determined, 0.5 * len(misfit))
        sigma[column] = float(np.sqrt(misfit @ misfit / free))
    return sigma


def _normal_readings(
    readings: Observations, effects: tuple[Effect, ...], field: ShiftedField, sigma
) -> Observations:
    """The readings less the effects of their sensors, linearized around the predictions."""
    sensors, mask = readings.sensors, np.asarray(readings.mask)
    shift = shift_of(effects, readings, field)
    values, noise = np.array(readings.values, float), np.array(readings.noise, float)
    if not sensors.is_normal and len(readings):
        predicted = field(readings, 0.0)[0] + shift
        for column in range(len(readings.fields)):
            model, constant = sensors, noise[:, column]
            if sensors.noise == "lognormal" and not sensors.relative:
                model = replace(sensors, relative=float(sigma[column]))
            constant = np.where(constant > 0, constant, 0.0 if sensors.relative else sigma[column])
            values[:, column], noise[:, column] = working_readings(
                model,
                np.where(mask[:, column], values[:, column], 1.0),
                predicted[:, column],
                constant,
            )
    return replace(
        readings, values=np.where(mask, values - shift, 0.0), noise=np.where(mask, noise, 0.0)
    )


def _change(new: Observations, old: Observations, sigma: Float[np.ndarray, " c"]) -> float:
    """The root mean square change of readings and their σ, in units of σ."""
    mask, old_noise = np.asarray(new.mask), np.asarray(old.noise, float)
    noise = np.where(np.asarray(new.noise) > 0, new.noise, sigma)
    noise = np.where(noise > 0, noise, np.finfo(float).tiny)
    moved = (np.asarray(new.values, float) - np.asarray(old.values, float)) / noise
    weighed = np.where(
        old_noise > 0,
        np.log(np.where(old_noise > 0, noise / np.where(old_noise > 0, old_noise, 1.0), 1.0)),
        0.0,
    )
    squares = np.minimum(moved**2 + weighed**2, 1e6)[mask]
    return float(np.sqrt(np.mean(squares))) if squares.size else 0.0


def _with_readings(task: Task, parts: list[Observations], errors=None) -> Task:
    """The task with other values and noise of its readings, which are in physical units, and with the
    errors that are left in them."""
    fitted, held_out = (task.problem.origin.readings(part) for part in parts)
    scaled = (np.asarray(fitted.noise) / task.model.scaling.spread)[np.asarray(fitted.mask)]
    return replace(
        task, held_out=held_out,
        problem=replace(task.problem, observations=fitted, sensor_errors=errors),
        noise=typical(scaled) or None,
    )  # fmt: skip
