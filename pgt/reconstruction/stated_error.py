"""The stated error of an outcome over its domain, by the error model of uncertainty/field_error.py.

`field_errors` evaluates the draws of an outcome over the domain, calibrates them at left-out readings,
adds deviations that the posterior does not contain, and raises the errors to their lower limits.
"""

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
    """The stated error of each field over the domain, as plain data; None if it is not known."""
    if outcome.discretization is not None:
        return _errors_of_solution(outcome.discretization, outcome, task)
    deviations_at = deviations_of(outcome, task)
    if deviations_at is None:
        return None
    fit, pde, readings = outcome.fit, task.pde, task.problem.observations
    where = domain_points(task.domain)
    local = task.problem.origin.local(where.points, pde.coords)
    held_out = np.asarray(task.held_out.points, float)
    all_deviations = deviations_at(np.concatenate([local, held_out]))
    deviations, at_held_out = np.split(all_deviations, [len(local)], axis=1)
    residuals = _standardized_residuals(outcome, task, at_held_out)
    residuals = [_without_outliers(z, task) for z in (*outcome.left_out_residuals, residuals)]
    deviations = calibration_factor(*residuals) * deviations
    fixed, hidden = fixed_fields(task.problem.conditions, pde), set(readings.hidden_fields)
    undetermined = [
        n for n in pde.fields if n in hidden - set(fixed) and freedom(pde, n) is not None
    ]
    is_hidden = np.array([name in hidden for name in pde.fields])
    for others in _other_deviations(outcome, local, is_hidden):
        for column in (pde.fields.index(name) for name in undetermined):
            for part in (deviations, others):
                part[..., column] = without_instant_means(part[..., column], where)
        deviations = _at_least_as_large(deviations, others)

    values = Evaluation(fit.model, fit.pde, readings, None, task.domain).values_at(where.points)
    near = near_readings(local, readings, task.problem.domain)
    spreads = _reading_spreads(task, fit.model.scaling)
    floors = _floors(outcome, task, values)
    errors = stated_errors(
        deviations, values, where, pde.fields, undetermined, near, floors, spreads
    )
    return {name: asdict(error) for name, error in errors.items()}


def _errors_of_solution(errors: Mapping[str, float], outcome: Outcome, task: Task) -> dict:
    """The errors of a solution without unknowns: those of the mesh, raised by misfits of readings."""
    mesh_errors = {
        name: FieldError(float(e), float(e / INTERVAL_FACTOR), float(e * INTERVAL_FACTOR))
        for name, e in errors.items()
    }
    floors = _floors(outcome, task) if len(task.problem.observations) else {}
    return {name: asdict(error) for name, error in raised(mesh_errors, floors).items()}


def _floors(
    outcome: Outcome, task: Task, values: Float[np.ndarray, "n c"] | None = None
) -> dict[str, float]:
    """The lower limit of the error of each measured field, which readings show and the posterior lacks.

    It is 1 if the field, with these `values`, is constant and has a single reading. The constant agrees
    with the reading, but nothing shows that the field is constant.
    """
    readings, spreads = task.problem.observations, np.asarray(outcome.fit.model.scaling.spread)
    counts = dict(zip(readings.fields, np.asarray(readings.mask).sum(axis=0), strict=True))
    floors = {}
    for column, (name, size) in enumerate(correlated_misfits(outcome, task).items()):
        if counts[name] == 1 and values is not None and is_same(values[:, column]):
            floors[name] = 1.0
        elif counts[name]:
            floors[name] = size / float(spreads[column])
    return floors


def correlated_misfits(outcome: Outcome, task: Task) -> dict[str, float]:
    """The part of the misfit of each field that is not noise; 0 if it may be chance.

    It is the larger of the misfit that nearest neighbors have in common and the change of the field by a
    condition that the readings contradict. A model without the capacity or the time for the field takes
    its misfit for noise, so that its posterior does not contain it.
    """
    fit, readings = outcome.fit, task.problem.observations
    field = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    misfits, mask = _misfits(field, readings, task), np.asarray(readings.mask)
    points = _scaled_reading_points(task)
    correlated = {}
    for column, name in enumerate(task.pde.fields):
        column_data = misfits[:, [column]], mask[:, [column]], points
        share = (
            neighbor_correlation(*column_data)
            if mask[:, column].any() and is_correlated(*column_data)
            else 0.0
        )
        common = float(np.sqrt(share * np.nanmean(column_data[0] ** 2))) if share else 0.0
        changes = [contradicted.changes[column] for contradicted in outcome.contradicted_conditions]
        correlated[name] = max(
            [common, *(float(fit.model.scaling.spread[column]) * c for c in changes)]
        )
    return correlated


def _standardized_residuals(
    outcome: Outcome, task: Task, deviations: Float[np.ndarray, "k n c"]
) -> Float[np.ndarray, " m"]:
    """The errors at held-out readings divided by the σ that draws and noise predict, field by field.

    The σ of the draws is averaged over the readings, since no posterior is so much more precise at one
    place than at the others.
    """
    fit, held_out = outcome.fit, task.problem.origin.physical(task.held_out)
    field = Evaluation(fit.model, fit.pde, task.problem.observations, None, task.domain)
    spread, noise = np.sqrt(np.mean(deviations**2, axis=0)), _noise(outcome, task, field)
    residuals = [np.zeros(0)]
    predictions = field.predict_readings(held_out) if len(held_out) else spread
    for column, name in enumerate(held_out.fields):
        rows, _, values, _ = held_out.measured(name)
        if len(rows):
            deviation = np.sqrt(np.mean(spread[rows, column] ** 2))
            scale = max(float(np.hypot(deviation, noise[column])), np.finfo(float).tiny)
            residuals.append((predictions[rows, column] - np.asarray(values, float)) / scale)
    return np.concatenate(residuals)


def _noise(outcome: Outcome, task: Task, field: Evaluation) -> Float[np.ndarray, " c"]:
    """σ of the readings of each field.

    It is 0 for exact readings, whose whole misfit is an error of the field. Without a posterior it is the
    given σ, or the misfit of the fitted readings without the part that neighbors have in common.
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
    sigmas = np.zeros(len(spread))
    for column, name in enumerate(readings.fields):
        given_sigma, column_misfits = readings.measured(name).typical_noise, misfits[:, [column]]
        if given_sigma > 0 or not np.isfinite(column_misfits).any():
            sigmas[column] = given_sigma
            continue
        share = neighbor_correlation(column_misfits, np.asarray(mask)[:, [column]], points)
        sigmas[column] = np.sqrt((1 - np.clip(share, 0, 1)) * np.nanmean(column_misfits**2))
    return sigmas


def _other_deviations(
    outcome: Outcome, local: Float[np.ndarray, "n d"], is_hidden: Bool[np.ndarray, " c"]
) -> Iterator[Float[np.ndarray, "k n c"]]:
    """Yield deviations outside the posterior of the fit: of hidden fields, and in the null space."""
    if outcome.hidden_deviations_at is not None:
        yield np.where(is_hidden, outcome.hidden_deviations_at(local), 0.0)
    if outcome.null_space is not None:
        with jax.enable_x64(True):
            yield np.array(_null_space_values(outcome.null_space, jnp.asarray(local)), float)


@compiled
def _null_space_values(null_space: NullSpaceField, points):
    return eqx.filter_vmap(lambda one: jax.vmap(one)(points))(null_space)


def _at_least_as_large(deviations: Float[np.ndarray, "k n c"], others: Float[np.ndarray, "m n c"]):
    """The deviations, enlarged so that their variance is everywhere at least that of the others."""
    missing_variance = np.mean(others**2, axis=0) - np.mean(deviations**2, axis=0)
    signs = np.where(np.arange(len(deviations)) % 2, -1.0, 1.0)
    return deviations + signs[:, None, None] * np.sqrt(np.maximum(missing_variance, 0.0))


def _reading_spreads(task: Task, scaling: Scaling) -> dict[str, float]:
    """The spread of the readings of each measured field, or their scaling unit if they are all equal."""
    readings = task.problem.origin.physical(task.problem.observations)
    values = {name: readings.measured(name).values for name in readings.fields}
    units = dict(zip(readings.fields, np.asarray(scaling.spread, float), strict=True))
    return {
        name: float(max(np.std(readings_of_field), units[name] if is_same(readings_of_field) else 0.0))
        for name, readings_of_field in values.items() if len(readings_of_field)
    }  # fmt: skip


def _misfits(field: Evaluation, readings: Observations, task: Task) -> Float[np.ndarray, "n c"]:
    """(n, c) the misfits of readings; NaN if a field was not read."""
    readings = task.problem.origin.physical(readings)
    misfits = field.predict_readings(readings) - np.asarray(readings.values)
    misfits = np.where(np.asarray(readings.mask), misfits, np.nan)
    columns = [_without_outliers(column, task) for column in misfits.T]
    return np.stack(columns, axis=1)


def _without_outliers(misfits: Float[np.ndarray, " n"], task: Task) -> Float[np.ndarray, " n"]:
    """The misfits, with those of outliers cut off if the likelihood expects them.

    Outliers are errors of the readings, not of the field.
    """
    with jax.enable_x64(True):
        return np.asarray(cut_off(task.problem.likelihood, misfits, np.isfinite(misfits)), float)


def _scaled_reading_points(task: Task) -> Float[np.ndarray, "n d"]:
    """The places of the readings, in units of the domain's extent."""
    extent = np.asarray(task.problem.domain.extent, float)
    return np.asarray(task.problem.observations.points, float) / extent


def combined_error(errors: dict, task: Task) -> dict[str, float]:
    """The root mean squares of value, low and high over all measured fields."""
    hidden = task.problem.observations.hidden_fields
    measured = [error for name, error in errors.items() if name not in hidden]
    parts = measured or list(errors.values())
    return {
        name: float(np.sqrt(np.mean([part[name] ** 2 for part in parts])))
        for name in ("value", "low", "high")
    }
