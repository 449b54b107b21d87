"""The stated error of an outcome over its domain; uncertainty/field_error.py says what the model is."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.core.doubt import FieldError
from pgt.data.observations import Observations
from pgt.inference.likelihood import cut_off
from pgt.methods.second_order.gauss_newton import MAX_CLEAN_ERROR
from pgt.methods.second_order.residual_noise import is_correlated, neighbor_correlation
from pgt.models.linearised import NullSpaceField
from pgt.nn.scaling import Scaling, is_same
from pgt.nn.trees import compiled
from pgt.physics.gauge import fixed_fields, freedom
from pgt.problem.assembly import Task
from pgt.reconstruction.evaluation import Evaluation
from pgt.uncertainty.field_error import (
    INTERVAL_FACTOR,
    calibration_factor,
    domain_points,
    near_readings,
    raised,
    stated_errors,
    without_instant_means,
)
from pgt.uncertainty.outcome import Outcome, deviations_of


def field_errors(outcome: Outcome, task: Task) -> dict | None:
    """By field, the stated error over the domain; None where it is not known."""
    if outcome.discretization is not None:
        return _errors_of_solution(outcome.discretization, outcome, task)
    deviations_at = deviations_of(outcome, task)
    if deviations_at is None:
        return None
    fit, pde, readings = outcome.fit, task.pde, task.problem.observations
    where = domain_points(task.domain)
    local = task.problem.origin.local(where.points, pde.coords)
    held_out = np.asarray(task.held_out.points, float)
    found = deviations_at(np.concatenate([local, held_out]))
    deviations, at_held_out = np.split(found, [len(local)], axis=1)
    residuals = _standardized_residuals(outcome, task, at_held_out)
    residuals = [_without_outliers(z, task) for z in (*outcome.left_out_residuals, residuals)]
    deviations = calibration_factor(*residuals) * deviations
    fixed, hidden = fixed_fields(task.problem.conditions, pde), set(readings.hidden_fields)
    free = [n for n in pde.fields if n in hidden - set(fixed) and freedom(pde, n) is not None]
    is_hidden = np.array([name in hidden for name in pde.fields])
    for others in _other_deviations(outcome, local, is_hidden):
        for column in (pde.fields.index(name) for name in free):
            for part in (deviations, others):
                part[..., column] = without_instant_means(part[..., column], where)
        deviations = _at_least_as_large(deviations, others)

    values = Evaluation(fit.model, fit.pde, readings, None, task.domain).values_at(where.points)
    near = near_readings(local, readings, task.problem.domain)
    spreads = _reading_spreads(task, fit.model.scaling)
    floors = _floors(outcome, task, values)
    errors = stated_errors(deviations, values, where, pde.fields, free, near, floors, spreads)
    return {name: asdict(error) for name, error in errors.items()}


def _errors_of_solution(errors: Mapping[str, float], outcome: Outcome, task: Task) -> dict:
    """The errors of an equation that was solved: that of the mesh, or what readings contradict."""
    found = {
        name: FieldError(float(e), float(e / INTERVAL_FACTOR), float(e * INTERVAL_FACTOR))
        for name, e in errors.items()
    }
    floors = _floors(outcome, task) if len(task.problem.observations) else {}
    return {name: asdict(error) for name, error in raised(found, floors).items()}


def _floors(
    outcome: Outcome, task: Task, values: Float[np.ndarray, "n c"] | None = None
) -> dict[str, float]:
    """By measured field, an error that readings show and the posterior does not contain.

    It is 1 where the field, with these `values`, is constant and has a single reading: the constant
    agrees with the reading, but nothing shows that the field is constant.
    """
    readings, spreads = task.problem.observations, np.asarray(outcome.fit.model.scaling.spread)
    counts = dict(zip(readings.fields, np.asarray(readings.mask).sum(axis=0), strict=True))
    found = {}
    for column, (name, size) in enumerate(correlated_misfits(outcome, task).items()):
        if counts[name] == 1 and values is not None and is_same(values[:, column]):
            found[name] = 1.0
        elif counts[name]:
            found[name] = size / float(spreads[column])
    return found


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


def _standardized_residuals(
    outcome: Outcome, task: Task, deviations: Float[np.ndarray, "k n c"]
) -> Float[np.ndarray, " m"]:
    """The errors at held-out readings over the σ that draws and noise predict, field by field.

    The σ of the draws is its root mean square over the readings: no posterior knows one place so
    much better than the others.
    """
    fit, held_out = outcome.fit, task.problem.origin.physical(task.held_out)
    field = Evaluation(fit.model, fit.pde, task.problem.observations, None, task.domain)
    spread, noise = np.sqrt(np.mean(deviations**2, axis=0)), _noise(outcome, task, field)
    found = [np.zeros(0)]
    predictions = field.predict_readings(held_out) if len(held_out) else spread
    for column, name in enumerate(held_out.fields):
        rows, _, values, _ = held_out.measured(name)
        if len(rows):
            own = np.sqrt(np.mean(spread[rows, column] ** 2))
            scale = max(float(np.hypot(own, noise[column])), np.finfo(float).tiny)
            found.append((predictions[rows, column] - np.asarray(values, float)) / scale)
    return np.concatenate(found)


def _noise(outcome: Outcome, task: Task, field: Evaluation) -> Float[np.ndarray, " c"]:
    """σ of the readings of each field.

    Exact readings have none, whatever the fit estimates: their whole misfit is error of the field.
    Without a posterior it is the given one, or that of the fitted readings without what neighbors
    have in common.
    """
    readings, spread = task.problem.observations, np.asarray(outcome.fit.model.scaling.spread)
    if outcome.deviations_at is not None:
        are_exact = outcome.noise <= MAX_CLEAN_ERROR and not outcome.has_noise
        return np.zeros(len(spread)) if are_exact else outcome.noise_by_field * spread
    misfits, mask, points = (
        _misfits(field, readings, task),
        readings.mask,
        _scaled_reading_points(task),
    )
    found = np.zeros(len(spread))
    for column, name in enumerate(readings.fields):
        given, own = readings.measured(name).typical_noise, misfits[:, [column]]
        if given > 0 or not np.isfinite(own).any():
            found[column] = given
            continue
        share = neighbor_correlation(own, np.asarray(mask)[:, [column]], points)
        found[column] = np.sqrt((1 - np.clip(share, 0, 1)) * np.nanmean(own**2))
    return found


def _other_deviations(
    outcome: Outcome, local: Float[np.ndarray, "n d"], is_hidden: Bool[np.ndarray, " c"]
) -> Iterator[Float[np.ndarray, "k n c"]]:
    """Deviations that the posterior of the fit does not contain: of hidden fields, and in the null
    space.
    """
    if outcome.hidden_deviations_at is not None:
        yield np.where(is_hidden, outcome.hidden_deviations_at(local), 0.0)
    if outcome.null_space is not None:
        with jax.enable_x64(True):
            yield np.array(_null_space_values(outcome.null_space, jnp.asarray(local)), float)


@compiled
def _null_space_values(null_space: NullSpaceField, points):
    return eqx.filter_vmap(lambda one: jax.vmap(one)(points))(null_space)


def _at_least_as_large(deviations: Float[np.ndarray, "k n c"], others: Float[np.ndarray, "m n c"]):
    """The deviations, with so much added that they are everywhere at least as large as the others."""
    more = np.mean(others**2, axis=0) - np.mean(deviations**2, axis=0)
    signs = np.where(np.arange(len(deviations)) % 2, -1.0, 1.0)
    return deviations + signs[:, None, None] * np.sqrt(np.maximum(more, 0.0))


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


def combined_error(errors: dict, task: Task) -> dict[str, float]:
    """Value and interval over all measured fields: root mean squares."""
    hidden = task.problem.observations.hidden_fields
    measured = [error for name, error in errors.items() if name not in hidden]
    parts = measured or list(errors.values())
    return {
        name: float(np.sqrt(np.mean([part[name] ** 2 for part in parts])))
        for name in ("value", "low", "high")
    }
