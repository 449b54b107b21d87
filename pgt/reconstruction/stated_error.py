"""The stated error of an outcome over its domain (uncertainty/field_error.py)."""

from collections.abc import Mapping
from dataclasses import asdict

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.core.doubt import FieldError
from pgt.data.observations import Observations
from pgt.data.splits import sensors
from pgt.inference.likelihood import cut_off
from pgt.methods.second_order.residual_noise import is_correlated, neighbor_correlation
from pgt.models.linearised import NullSpaceField
from pgt.nn.scaling import Scaling, is_same
from pgt.nn.trees import compiled
from pgt.physics.gauge import fixed_fields, freedom
from pgt.problem.assembly import Task
from pgt.reconstruction.evaluation import Evaluation
from pgt.uncertainty.calibration import Predicted, leave_one_out
from pgt.uncertainty.field_error import (
    INTERVAL_FACTOR,
    DomainPoints,
    Misfits,
    calibration_factor,
    domain_points,
    error_from_held_out,
    is_exact,
    local_excess,
    min_calibration_factor,
    model_error_factor,
    near_readings,
    spread_over_domain,
    stated_errors,
    widen,
)
from pgt.uncertainty.outcome import Outcome

# At a reading the variance of a posterior counts as at least this share of its mean over the
# readings: no posterior is so much surer at one place.
MIN_RELATIVE_VARIANCE = 0.1
# The jackknife adds at most this multiple of the mean square that the posterior states: a few
# readings with a leverage near 1 seem to change the field without bounds.
MAX_JACKKNIFE_RATIO = 9.0


def field_errors(outcome: Outcome, task: Task) -> dict | None:
    """By field, the stated error over the domain; None where it is not known."""
    if outcome.discretization is not None:
        return _of_solution(outcome.discretization, outcome, task)
    if outcome.deviations_at is None:
        return _errors_from_held_out(outcome, task)
    fit, pde, readings = outcome.fit, task.pde, task.problem.observations
    where = domain_points(task.domain)
    local = task.problem.origin.local(where.points, pde.coords)
    judges = _judges(outcome, task)
    parts = [local, *(np.asarray(part.points, float) for part in judges)]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    deviations, *at_judges = np.split(outcome.deviations_at(np.concatenate(parts)), ends, axis=1)
    residuals = outcome.standardized_residuals
    is_closed_form = residuals is not None
    if residuals is None:
        residuals = _standardized_residuals(outcome, task, judges, at_judges)
    residuals = _without_outliers(residuals, task)

    # The deviations of the posterior, scaled by κ, by the local excess and by ε.
    minimum = min_calibration_factor(outcome.noise, is_closed_form=is_closed_form)
    excess = _local_excess(outcome, task, local, residuals, judges)
    noise = outcome.noise_by_field * np.asarray(fit.model.scaling.spread)
    # The whole misfit of exact readings is in the deviations at the MAP estimate already.
    noise = noise * readings.mask.any(axis=0) * (not outcome.is_exact_map_estimate)
    deviations = widen(deviations, calibration_factor(residuals, minimum), excess, noise)
    deviations = _model_error_factors(outcome, excess)[:, None] * deviations

    # The error is at least that of the jackknife, of the null space, and a floor for each field.
    jackknife = _jackknife_deviations(outcome, task, local)
    if jackknife is not None:
        limit = MAX_JACKKNIFE_RATIO * _mean_square(deviations, where)
        deviations = _at_least_as_large(deviations, _limited(jackknife, limit, where))
    null_space = _null_space_deviations(outcome, local)
    if null_space is not None:
        deviations = _at_least_as_large(deviations, null_space)
    values = Evaluation(fit.model, fit.pde, readings, None, task.domain).values_at(where.points)
    misfits = np.array(list(correlated_misfits(outcome, task).values()))
    misfits = misfits / np.asarray(fit.model.scaling.spread)
    floor = np.maximum(outcome.sensor_error, misfits)
    floor = np.maximum(floor, _single_reading_floor(readings, values))

    fixed, hidden = fixed_fields(task.problem.conditions, pde), set(readings.hidden_fields)
    free = [n for n in pde.fields if n in hidden - set(fixed) and freedom(pde, n) is not None]
    near = near_readings(local, readings, task.problem.domain)
    spreads = _reading_spreads(task, fit.model.scaling)
    found = stated_errors(deviations, values, where, pde.fields, free, near, floor, spreads)
    return {name: asdict(error) for name, error in found.items()}


def _of_solution(errors: Mapping[str, float], outcome: Outcome, task: Task) -> dict:
    """The errors of an equation that was solved: that of the mesh, or what readings contradict."""
    spreads = dict(zip(task.pde.fields, np.asarray(outcome.fit.model.scaling.spread), strict=True))
    misfits = correlated_misfits(outcome, task) if len(task.problem.observations) else {}
    found = {name: max(e, misfits.get(name, 0.0) / spreads[name]) for name, e in errors.items()}
    return {
        name: asdict(FieldError(float(e), float(e / INTERVAL_FACTOR), float(e * INTERVAL_FACTOR)))
        for name, e in found.items()
    }


def correlated_misfits(outcome: Outcome, task: Task) -> dict[str, float]:
    """By field, the part of its misfit that is not noise; 0 where it may be chance.

    It is the larger of the misfit that nearest neighbors have in common, and the change of the
    field by a condition that readings contradict. A model without the capacity or the time for the
    field takes its misfit for noise, and its posterior does not contain it.
    """
    fit, readings = outcome.fit, task.problem.observations
    field = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    misfits, mask = _misfits(field, readings, task), np.asarray(readings.mask)
    points = _scaled_reading_points(task)
    found = {}
    for column, name in enumerate(task.pde.fields):
        own = misfits[:, [column]], mask[:, [column]], points
        share = neighbor_correlation(*own) if mask[:, column].any() and is_correlated(*own) else 0.0
        common = float(np.sqrt(share * np.nanmean(own[0] ** 2))) if share else 0.0
        changes = [one.changes[column] for one in outcome.contradicted_conditions]
        found[name] = max([common, *(float(fit.model.scaling.spread[column]) * c for c in changes)])
    return found


def _single_reading_floor(
    readings: Observations, values: Float[np.ndarray, "n c"]
) -> Float[np.ndarray, " c"]:
    """By field, 1 where it is constant and has a single reading: the constant agrees with the
    reading, but nothing shows that the field is constant.
    """
    has_one_reading = np.asarray(readings.mask).sum(axis=0) == 1
    return np.where(has_one_reading & [is_same(column) for column in values.T], 1.0, 0.0)


def _local_excess(
    outcome: Outcome, task: Task, places, residuals, judges: list[Observations]
) -> Float[np.ndarray, " n"]:
    """f² at points.

    It is 1 where readings were left out by sensor, since all readings of a sensor have a common
    residual, and for a network, whose few judging readings show nothing local, except at the MAP
    estimate.
    """
    readings = task.problem.observations
    has_residuals = outcome.standardized_residuals is not None or outcome.is_exact_map_estimate
    if not has_residuals or sensors(readings) is not None:
        return np.ones(len(places))
    parts = judges or [readings]
    rows = [
        np.asarray(part.points, float)[part.measured(name).rows]
        for part in parts for name in readings.fields
    ]  # fmt: skip
    extent = np.asarray(task.problem.domain.extent, float)
    return local_excess(places / extent, np.concatenate(rows) / extent, residuals)


def _jackknife_deviations(outcome: Outcome, task: Task, local) -> Float[np.ndarray, "k n c"] | None:
    """The changes of the answer by neighboring readings, scaled up where held-out readings demand
    it.

    They are not scaled down, since they matter at edges without readings.
    """
    if outcome.jackknife_at is None:
        return None
    held_out = np.asarray(task.held_out.points, float)
    found, judged = np.split(
        outcome.jackknife_at(np.concatenate([local, held_out])), [len(local)], axis=1
    )
    residuals = _standardized_residuals(outcome, task, [task.held_out], [judged])
    return calibration_factor(_without_outliers(residuals, task)) * found


def _mean_square(
    deviations: Float[np.ndarray, "k n c"], where: DomainPoints
) -> Float[np.ndarray, " c"]:
    """The mean square over draws and domain, of every field."""
    return np.average(np.mean(deviations**2, axis=0), axis=0, weights=where.weights)


def _limited(
    found: Float[np.ndarray, "k n c"], limit: Float[np.ndarray, " c"], where: DomainPoints
):
    """The deviations, with a mean square of at most the limit."""
    own = np.maximum(_mean_square(found, where), np.finfo(float).tiny)
    return np.sqrt(np.minimum(limit / own, 1.0)) * found


def _null_space_deviations(outcome: Outcome, local) -> Float[np.ndarray, "k n c"] | None:
    """The samples of the null space: deviations far from all readings that equation and conditions
    do not determine.
    """
    if outcome.null_space is None:
        return None
    with jax.enable_x64(True):
        return np.asarray(_null_space_values(outcome.null_space, jnp.asarray(local)), float)


def _at_least_as_large(deviations: Float[np.ndarray, "k n c"], others: Float[np.ndarray, "m n c"]):
    """The deviations, with so much added that they are everywhere at least as large as the others."""
    more = np.mean(others**2, axis=0) - np.mean(deviations**2, axis=0)
    signs = np.where(np.arange(len(deviations)) % 2, -1.0, 1.0)
    return deviations + signs[:, None, None] * np.sqrt(np.maximum(more, 0.0))


@compiled
def _null_space_values(null_space: NullSpaceField, points):
    return eqx.filter_vmap(lambda one: jax.vmap(one)(points))(null_space)


def _reading_spreads(task: Task, scaling: Scaling) -> dict[str, float]:
    """By measured field, the spread of its readings; where they are all equal, the unit that they
    are scaled by.
    """
    readings = task.problem.origin.physical(task.problem.observations)
    values = {name: readings.measured(name).values for name in readings.fields}
    units = dict(zip(readings.fields, np.asarray(scaling.spread, float), strict=True))
    return {
        name: float(max(np.std(read), units[name] if is_same(read) else 0.0))
        for name, read in values.items() if len(read)
    }  # fmt: skip


def _errors_from_held_out(outcome: Outcome, task: Task) -> dict | None:
    """By measured field, the error from held-out readings."""
    if not len(task.held_out):
        return None
    fit, readings = outcome.fit, task.problem.observations
    field = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    where = domain_points(task.domain)
    values, far = field.values_at(where.points), _far_share(task, where)
    fitted, held_out = (_misfits(field, part, task) for part in (readings, task.held_out))
    found, spreads = {}, _reading_spreads(task, fit.model.scaling)
    for column, name in enumerate(task.pde.fields):
        at = slice(column, column + 1)
        common = neighbor_correlation(
            fitted[:, at], np.asarray(readings.mask)[:, at], _scaled_reading_points(task)
        )
        noise = readings.measured(name).typical_noise
        misfits = Misfits(held_out[:, column], fitted[:, column], common, noise)
        spread = spread_over_domain(values[:, column], where.weights, spreads.get(name, 0.0))
        error = error_from_held_out(misfits, spread, far)
        if error is not None:
            found[name] = asdict(error)
    return found or None


def _misfits(field: Evaluation, readings: Observations, task: Task) -> Float[np.ndarray, "n c"]:
    """The misfits of readings, (n, c); NaN where a field has no reading."""
    readings = task.problem.origin.physical(readings)
    misfits = field.predict_readings(readings) - np.asarray(readings.values)
    misfits = np.where(np.asarray(readings.mask), misfits, np.nan)
    columns = [_without_outliers(column, task) for column in misfits.T]
    return np.stack(columns, axis=1)


def _without_outliers(misfits: Float[np.ndarray, " n"], task: Task) -> Float[np.ndarray, " n"]:
    """The misfits; where outliers are expected, those of outliers are cut off, since they are
    errors of the readings.
    """
    with jax.enable_x64(True):
        return np.asarray(cut_off(task.problem.likelihood, misfits, np.isfinite(misfits)), float)


def _scaled_reading_points(task: Task) -> Float[np.ndarray, "n d"]:
    """The places of the readings, in units of the domain."""
    extent = np.asarray(task.problem.domain.extent, float)
    return np.asarray(task.problem.observations.points, float) / extent


def _far_share(task: Task, where: DomainPoints) -> float:
    """The share of the domain that is farther from fitted readings than the held-out ones are."""
    problem = task.problem
    local = problem.origin.local(where.points, task.pde.coords)
    near = near_readings(local, problem.observations, problem.domain)
    judges = near_readings(
        np.asarray(task.held_out.points, float), problem.observations, problem.domain
    )
    return max(float(where.weights[~near].sum()) - float(np.mean(~judges)), 0.0)


def _model_error_factors(
    outcome: Outcome, excess: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """ε at points.

    Where fields found with different sines were averaged, the draws contain their difference, and ε
    counts only at places with a local excess.
    """
    is_closed_form = outcome.standardized_residuals is not None
    found = (
        1.0
        if outcome.has_noise
        else model_error_factor(outcome.noise, is_closed_form=is_closed_form)
    )
    return np.where(excess > 1, found, 1.0) if outcome.is_average else np.full(len(excess), found)


def combined_error(errors: dict, task: Task) -> dict[str, float]:
    """Value and interval over all measured fields: root mean squares."""
    hidden = task.problem.observations.hidden_fields
    measured = [error for name, error in errors.items() if name not in hidden]
    parts = measured or list(errors.values())
    return {
        name: float(np.sqrt(np.mean([part[name] ** 2 for part in parts])))
        for name in ("value", "low", "high")
    }


def _judges(outcome: Outcome, task: Task) -> list[Observations]:
    """The readings that judge the posterior of a network: those held out, and at the MAP estimate
    also the fitted ones, each left out in turn.
    """
    if outcome.standardized_residuals is not None:
        return []
    return (
        [task.problem.observations, task.held_out]
        if outcome.is_exact_map_estimate
        else [task.held_out]
    )


def _standardized_residuals(
    outcome: Outcome, task: Task, judges: list[Observations], deviations: list[np.ndarray]
) -> Float[np.ndarray, " m"]:
    """The errors of predictions, over the σ that posterior and noise predict, field by field of
    each part.

    Exact readings have no noise, whatever the fit estimates: their whole misfit is error of the
    field.
    """
    fit, readings = outcome.fit, task.problem.observations
    field = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    are_exact = outcome.is_exact_map_estimate or (is_exact(outcome.noise) and not outcome.has_noise)
    noise = np.broadcast_to(
        outcome.noise_by_field * np.asarray(fit.model.scaling.spread), (len(task.pde.fields),)
    )
    found = [np.zeros(0)]
    for part, deviation in zip(judges, deviations, strict=True):
        physical = task.problem.origin.physical(part)
        spread = np.sqrt(np.mean(deviation**2, axis=0))
        predictions = field.predict_readings(physical) if len(part) else spread
        if not (np.isfinite(predictions).all() and np.isfinite(spread).all()):
            return np.zeros(0)  # a fit that diverged
        for column, name in enumerate(readings.fields):
            rows, _, values, _ = physical.measured(name)
            expected = predictions[rows, column], spread[rows, column], float(noise[column])
            own = Predicted(np.asarray(values, float), *expected)
            own = leave_one_out(own) if part is readings else own
            is_clean = len(own) > 0 and are_exact
            sigma = (
                np.sqrt(MIN_RELATIVE_VARIANCE * np.mean(own.spread**2)) if is_clean else own.sigma
            )
            scale = np.maximum(np.hypot(own.spread, sigma), np.finfo(float).tiny)
            found.append((own.mean - own.readings) / scale)
    return np.concatenate(found)
