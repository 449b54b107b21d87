"""What a fit lets expect of its own error over the domain: trust/field_error.py, asked for one fit, and
where that has no posterior trust/missed.py."""

from dataclasses import asdict

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.data.observations import Observations
from pgt.data.splits import sensors
from pgt.models.linearised import Apart
from pgt.nn.compiled import compiled
from pgt.nn.scaling import Scaling, is_same
from pgt.physics.gauge import fixed_fields, freedom
from pgt.reconstruction.evaluation import Evaluation
from pgt.training.assemble import Task
from pgt.training.fit import Outcome
from pgt.training.likelihood import cut_off
from pgt.training.overtaxed import are_alike, common_share
from pgt.trust.calibration import Predicted, leave_one_out
from pgt.trust.field_error import (
    Places,
    calibration,
    expected_errors,
    is_exact,
    least_calibration,
    near_readings,
    own_error,
    places,
    spread_of,
)
from pgt.trust.local_misses import excess, widened
from pgt.trust.missed import Missed, error_by_missed

SURE = 0.1  # of the mean variance: surer than that no posterior is believed to be at one place
# Times the mean square that a posterior states: what readings change is no more of that. A few that are
# followed wherever they go seem to change the field without bounds.
MOST_CHANGED = 9.0


def field_errors(outcome: Outcome, task: Task) -> dict | None:
    """By field, the error expected over the domain; None where nothing tells."""
    if outcome.deviate is None:
        return _by_missed(outcome, task)
    fit, pde, readings = outcome.fit, task.pde, task.problem.observations
    where = places(task.domain)
    local = task.problem.origin.local(where.points, pde.coords)
    judges = _judges(outcome, task)
    parts = [local, *(np.asarray(part.points, float) for part in judges)]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    deviations, *at_judges = np.split(outcome.deviate(np.concatenate(parts)), ends, axis=1)
    misses = outcome.misses
    if misses is None:
        misses = _misses(outcome, task, judges, at_judges)
    values = Evaluation(fit.model, fit.pde, readings, None, task.domain).values_at(where.points)
    fixed, hidden = fixed_fields(task.problem.conditions, pde), set(readings.hidden_fields)
    free = [n for n in pde.fields if n in hidden - set(fixed) and freedom(pde, n) is not None]
    misses = _without_outliers(misses, task)
    least = least_calibration(outcome.noise, solved=outcome.misses is not None)
    factor = _excess(outcome, task, local, misses, judges)
    noise = outcome.noise_by_field * np.asarray(fit.model.scaling.spread)
    # Of clean readings, all that they are missed by was counted in what the posterior leaves open.
    noise = noise * readings.mask.any(axis=0) * (not outcome.is_at_summit)
    deviations = widened(deviations, calibration(misses, least), factor, noise)
    deviations = _own_error(outcome, factor)[:, None] * deviations
    changed, opened = _changed(outcome, task, local), _left_open(outcome, local)
    if changed is not None:
        changed = _at_most(changed, MOST_CHANGED * _mean_square(deviations, where), where)
    for found in (changed, opened):
        deviations = deviations if found is None else _no_smaller(deviations, found)
    near = near_readings(local, readings, task.problem.domain)
    lost = np.array(list(unfollowed(outcome, task).values())) / np.asarray(fit.model.scaling.spread)
    least = np.maximum(np.maximum(outcome.at_least, lost), _untold(readings, values))
    shown = _shown(task, fit.model.scaling)
    found = expected_errors(deviations, values, where, pde.fields, free, near, least, shown)
    return {name: asdict(error) for name, error in found.items()}


def unfollowed(outcome: Outcome, task: Task) -> dict[str, float]:
    """By field, how far the fit is from it as far as that is no noise: nearest neighbours are missed
    alike, or a condition that readings contradict changes the field. A model that had no room or no time
    for the field takes what it misses for noise, and its posterior knows nothing of it. 0 where that may
    be chance."""
    fit, readings = outcome.fit, task.problem.observations
    asked = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    missed, mask, points = _missed_by(asked, readings, task), np.asarray(readings.mask), _unit(task)
    found = {}
    for column, name in enumerate(task.pde.fields):
        own = missed[:, [column]], mask[:, [column]], points
        share = common_share(*own) if mask[:, column].any() and are_alike(*own) else 0.0
        alike = float(np.sqrt(share * np.nanmean(own[0] ** 2))) if share else 0.0
        changes = [one.changes[column] for one in outcome.contradicted]
        found[name] = max([alike, *(float(fit.model.scaling.spread[column]) * c for c in changes)])
    return found


def _untold(readings: Observations, values: Float[np.ndarray, "n c"]) -> Float[np.ndarray, " c"]:
    """By field, all of its spread where a single reading is all that is known of it: one that is the same
    everywhere agrees with it, and nothing says that it is."""
    is_alone = np.asarray(readings.mask).sum(axis=0) == 1
    return np.where(is_alone & [is_same(column) for column in values.T], 1.0, 0.0)


def _excess(
    outcome: Outcome, task: Task, places, misses, judges: list[Observations]
) -> Float[np.ndarray, " n"]:
    """f² at places; where readings were left out by sensor, all of one are missed alike, and neighbours
    say no more than it does. Of a network, few readings tell but at its summit."""
    readings = task.problem.observations
    is_told = outcome.misses is not None or outcome.is_at_summit
    if not is_told or sensors(readings) is not None:
        return np.ones(len(places))
    asked = judges or [readings]
    rows = [
        np.asarray(part.points, float)[part.measured(name).rows]
        for part in asked for name in readings.fields
    ]  # fmt: skip
    extent = np.asarray(task.problem.domain.extent, float)
    return excess(places / extent, np.concatenate(rows) / extent, misses)


def _changed(outcome: Outcome, task: Task, local) -> Float[np.ndarray, "k n c"] | None:
    """What neighbouring readings change in the answer, or more where readings that were not fitted say
    so. That it is too much they cannot say: it is at edges without readings that it matters."""
    if outcome.change is None:
        return None
    held_out = np.asarray(task.held_out.points, float)
    found, judged = np.split(
        outcome.change(np.concatenate([local, held_out])), [len(local)], axis=1
    )
    misses = _misses(outcome, task, [task.held_out], [judged])
    return calibration(_without_outliers(misses, task)) * found


def _mean_square(deviations: Float[np.ndarray, "k n c"], where: Places) -> Float[np.ndarray, " c"]:
    """Over the domain, of every field."""
    return np.average(np.mean(deviations**2, axis=0), axis=0, weights=where.weights)


def _at_most(found: Float[np.ndarray, "k n c"], most: Float[np.ndarray, " c"], where: Places):
    """The same, with no greater mean square than that."""
    own = np.maximum(_mean_square(found, where), np.finfo(float).tiny)
    return np.sqrt(np.minimum(most / own, 1.0)) * found


def _left_open(outcome: Outcome, local) -> Float[np.ndarray, "k n c"] | None:
    """What draws from a posterior differ by besides, at places far from all readings that equation and
    conditions do not determine."""
    if outcome.apart is None:
        return None
    with jax.enable_x64(True):
        return np.asarray(_apart_at(outcome.apart, jnp.asarray(local)), float)


def _no_smaller(deviations: Float[np.ndarray, "k n c"], found: Float[np.ndarray, "m n c"]):
    """Deviations with so much added that they are as large everywhere as those found besides."""
    more = np.mean(found**2, axis=0) - np.mean(deviations**2, axis=0)
    signs = np.where(np.arange(len(deviations)) % 2, -1.0, 1.0)
    return deviations + signs[:, None, None] * np.sqrt(np.maximum(more, 0.0))


@compiled
def _apart_at(apart: Apart, points):
    return eqx.filter_vmap(lambda one: jax.vmap(one)(points))(apart)


def _shown(task: Task, scaling: Scaling) -> dict[str, float]:
    """By field that was read, the spread of its readings; of those that read the same everywhere, which
    have none, what they are counted in."""
    readings = task.problem.origin.physical(task.problem.observations)
    values = {name: readings.measured(name).values for name in readings.fields}
    units = dict(zip(readings.fields, np.asarray(scaling.spread, float), strict=True))
    return {
        name: float(max(np.std(read), units[name] if is_same(read) else 0.0))
        for name, read in values.items() if len(read)
    }  # fmt: skip


def _by_missed(outcome: Outcome, task: Task) -> dict | None:
    """By measured field, what the readings tell that were not fitted."""
    if not len(task.held_out):
        return None
    fit, readings = outcome.fit, task.problem.observations
    asked = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    where = places(task.domain)
    values, far = asked.values_at(where.points), _far(task, where)
    fitted, unfitted = (_missed_by(asked, part, task) for part in (readings, task.held_out))
    found, shown = {}, _shown(task, fit.model.scaling)
    for column, name in enumerate(task.pde.fields):
        at = slice(column, column + 1)
        common = common_share(fitted[:, at], np.asarray(readings.mask)[:, at], _unit(task))
        noise = readings.measured(name).typical_noise
        missed = Missed(unfitted[:, column], fitted[:, column], common, noise)
        spread = spread_of(values[:, column], where.weights, shown.get(name, 0.0))
        error = error_by_missed(missed, spread, far)
        if error is not None:
            found[name] = asdict(error)
    return found or None


def _missed_by(asked: Evaluation, readings: Observations, task: Task) -> Float[np.ndarray, "n c"]:
    """By how much readings are missed; NaN where none were made."""
    readings = task.problem.origin.physical(readings)
    missed = asked.of_readings(readings) - np.asarray(readings.values)
    missed = np.where(np.asarray(readings.mask), missed, np.nan)
    columns = [_without_outliers(column, task) for column in missed.T]
    return np.stack(columns, axis=1)


def _without_outliers(missed: Float[np.ndarray, " n"], task: Task) -> Float[np.ndarray, " n"]:
    """Where outliers are expected, what they are missed by is their error and not the field's."""
    with jax.enable_x64(True):
        return np.asarray(cut_off(task.problem.likelihood, missed, np.isfinite(missed)), float)


def _unit(task: Task) -> Float[np.ndarray, "n d"]:
    """Where was read, in units of the domain."""
    extent = np.asarray(task.problem.domain.extent, float)
    return np.asarray(task.problem.observations.points, float) / extent


def _far(task: Task, where: Places) -> float:
    """The share of the domain that lies farther from readings than those that judge the fit."""
    problem = task.problem
    local = problem.origin.local(where.points, task.pde.coords)
    near = near_readings(local, problem.observations, problem.domain)
    judges = near_readings(
        np.asarray(task.held_out.points, float), problem.observations, problem.domain
    )
    return max(float(where.weights[~near].sum()) - float(np.mean(~judges)), 0.0)


def _own_error(outcome: Outcome, factor: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """ε at places; where fields found with different sines were averaged, their difference has told
    already, but for places around which readings are missed by more than it."""
    is_solved = outcome.misses is not None
    found = 1.0 if outcome.shows_noise else own_error(outcome.noise, solved=is_solved)
    return np.where(factor > 1, found, 1.0) if outcome.is_average else np.full(len(factor), found)


def together(errors: dict, task: Task) -> dict[str, float]:
    """Value and interval over all measured fields: root mean squares."""
    hidden = task.problem.observations.hidden_fields
    measured = [error for name, error in errors.items() if name not in hidden]
    parts = measured or list(errors.values())
    return {
        name: float(np.sqrt(np.mean([part[name] ** 2 for part in parts])))
        for name in ("value", "low", "high")
    }


def _judges(outcome: Outcome, task: Task) -> list[Observations]:
    """The readings that tell how well a network knows its error: those held out, and at its summit those
    that were fitted as well, each as if it had not been."""
    if outcome.misses is not None:
        return []
    return [task.problem.observations, task.held_out] if outcome.is_at_summit else [task.held_out]


def _misses(
    outcome: Outcome, task: Task, judges: list[Observations], deviations: list[np.ndarray]
) -> Float[np.ndarray, " m"]:
    """Errors at readings, in units of what the posterior and the noise let expect, field by field of each
    part. What exact readings are missed by is no noise, much as the fit takes it for that: it is the
    field's error."""
    fit, readings = outcome.fit, task.problem.observations
    asked = Evaluation(fit.model, fit.pde, readings, None, task.domain)
    are_exact = outcome.is_at_summit or (is_exact(outcome.noise) and not outcome.shows_noise)
    noise = np.broadcast_to(
        outcome.noise_by_field * np.asarray(fit.model.scaling.spread), (len(task.pde.fields),)
    )
    found = [np.zeros(0)]
    for part, away in zip(judges, deviations, strict=True):
        physical, spread = task.problem.origin.physical(part), np.sqrt(np.mean(away**2, axis=0))
        said = asked.of_readings(physical) if len(part) else spread
        if not (np.isfinite(said).all() and np.isfinite(spread).all()):  # a fit that diverged
            return np.zeros(0)
        for column, name in enumerate(readings.fields):
            rows, _, values, _ = physical.measured(name)
            expected = said[rows, column], spread[rows, column], float(noise[column])
            own = Predicted(np.asarray(values, float), *expected)
            own = leave_one_out(own) if part is readings else own
            is_clean = len(own) > 0 and are_exact
            sure = np.sqrt(SURE * np.mean(own.spread**2)) if is_clean else own.sigma
            scale = np.maximum(np.hypot(own.spread, sure), np.finfo(float).tiny)
            found.append((own.mean - own.readings) / scale)
    return np.concatenate(found)
