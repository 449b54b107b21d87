"""What a fit lets expect of its own error over the domain: trust/field_error.py, asked for one fit."""

from dataclasses import asdict

import numpy as np

from pgt.physics.gauge import fixed_fields, freedom
from pgt.reconstruction.evaluation import Evaluation
from pgt.training.assemble import Task
from pgt.training.fit import Outcome
from pgt.trust.field_error import (
    expected_errors,
    is_exact,
    least_calibration,
    near_readings,
    own_error,
    places,
)

SURE = 0.1  # of the mean variance: surer than that no posterior is believed to be at one place


def field_errors(outcome: Outcome, task: Task) -> dict | None:
    """By field, the error expected over the domain; None where nothing tells."""
    if outcome.deviate is None:
        return None
    fit, pde, readings = outcome.fit, task.pde, task.problem.observations
    where, held_out = places(task.domain), np.asarray(task.held_out.points, float)
    local = task.problem.origin.local(where.points, pde.coords)
    deviations = outcome.deviate(np.concatenate([local, held_out]))
    deviations, at_held_out = np.split(deviations, [len(where.points)], axis=1)
    misses = outcome.misses
    if misses is None:
        misses = _misses(outcome, task, at_held_out)
    values = Evaluation(fit.model, fit.pde, readings, None, task.domain).values_at(where.points)
    fixed, hidden = fixed_fields(task.problem.conditions, pde), set(readings.hidden_fields)
    free = [n for n in pde.fields if n in hidden - set(fixed) and freedom(pde, n) is not None]
    solved = outcome.misses is not None
    found = expected_errors(
        deviations, values, where, misses, pde.fields, free,
        near_readings(local, readings, task.problem.domain), _own_error(outcome),
        outcome.at_least, least_calibration(outcome.noise, solved=solved),
    )  # fmt: skip
    return {name: asdict(error) for name, error in found.items()}


def _own_error(outcome: Outcome) -> float:
    """ε; where fields found with different sines were averaged, their difference has told already."""
    if outcome.is_average:
        return 1.0
    return own_error(outcome.noise, solved=outcome.misses is not None)


def together(errors: dict, task: Task) -> dict[str, float]:
    """Value and interval over all measured fields: root mean squares."""
    hidden = task.problem.observations.hidden_fields
    measured = [error for name, error in errors.items() if name not in hidden]
    parts = measured or list(errors.values())
    return {
        name: float(np.sqrt(np.mean([part[name] ** 2 for part in parts])))
        for name in ("value", "low", "high")
    }


def _misses(outcome: Outcome, task: Task, deviations) -> np.ndarray:
    """Errors at readings held out, in units of what the posterior and the noise let expect. What exact
    readings are missed by is no noise, much as the fit takes it for that: it is the field's error."""
    held_out, fit = task.held_out, outcome.fit
    if not len(held_out):
        return np.zeros(0)
    readings, held_out = task.problem.observations, task.problem.origin.physical(held_out)
    said = Evaluation(fit.model, fit.pde, readings, None, task.domain).of_readings(held_out)
    variance = np.mean(deviations**2, axis=0)
    noise = (outcome.noise * np.asarray(fit.model.scaling.spread)) ** 2
    if is_exact(outcome.noise):
        noise = SURE * np.mean(variance, axis=0)
    expected = np.sqrt(np.maximum(variance + noise, np.finfo(float).tiny))
    return ((said - np.asarray(held_out.values)) / expected)[np.asarray(held_out.mask)]
