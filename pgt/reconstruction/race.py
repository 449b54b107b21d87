"""The score of an answer, and the rule by which the candidates of a plan race.

methods/plan.py states the rule. With the root mean square error e at readings that the candidate was not
given, in units of their spread, and the residual r of the equation at fresh points, in units of its
typical size,

    score = √(e² + r²)

Networks hold readings out; the closed form and the solver predict the same readings without another fit.
The error e alone would favor a model that follows the readings and violates the equation, and it says
little about hidden fields.

A score does not distinguish a poor model from a good one with noisy readings, but the residuals do. A
poor model has residuals that are correlated between neighbors or concentrated at a front, or it
violates the equation as much as it misses the readings, or interpolation without the equation predicts
better.
"""

from dataclasses import replace
from math import hypot

import numpy as np

from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.inference.likelihood import is_less
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST
from pgt.methods.plan import CLOSED_FORM, Candidate
from pgt.methods.second_order.residual_noise import (
    MAX_EQUATION_TO_READING_RATIO,
    mean_square_residuals,
    resembles_noise,
)
from pgt.models.mesh_solution import Solver
from pgt.problem.assembly import Task
from pgt.problem.budget import total_seconds
from pgt.reconstruction.candidates import posterior_seconds
from pgt.reconstruction.evaluation import Evaluation
from pgt.uncertainty.field_error import is_exact
from pgt.uncertainty.held_out import (
    HeldOutPredictions,
    held_out_errors,
    interpolate_held_out,
    left_out_as_held_out,
)
from pgt.uncertainty.outcome import Outcome

# Another candidate is fitted only if at least this share of the seconds is left. With less, most of the
# time of a network is compilation.
MIN_SHARE_LEFT = 0.25
# The share of the seconds that is reserved for the errors and the record of a candidate.
JUDGING_SHARE = 0.05

NO_SOLUTION = "the equation has no solution on a mesh with the first guess of its coefficients"
NOT_CONVERGED = "its coefficients did not converge"
WORSE_THAN_INTERPOLATION = "interpolation without the equation predicts the readings better"
LOCAL_OPTIMUM = (
    "its coefficients may be those of a local optimum, and another method finds them quickly"
)
ABOVE_NOISE = (
    "it misses readings that it was not given by {:.1g} of their spread, and not by noise alone"
)


def why_next(outcome: Outcome, task: Task, following: Candidate, spent: float) -> str:
    """Why the following candidate is fitted after this outcome; empty if it is not.

    `spent` is the number of seconds since the beginning of the call.
    """
    seconds = total_seconds(task.requested_training or task.training)
    if seconds is not None:
        seconds_left = seconds - spent - posterior_seconds(outcome.fit)
        if seconds_left < MIN_SHARE_LEFT * seconds:
            return ""
    if outcome.fit.stopped == COEFFICIENT_NOT_AT_REST:
        return NOT_CONVERGED
    if outcome.held_out_error is None:
        return ""
    error = score(outcome, task)
    if error <= following.min_error:
        return ""
    if is_worse_than_interpolation(outcome, task):
        return WORSE_THAN_INTERPOLATION
    if not is_noise(outcome, task):
        return ABOVE_NOISE.format(error)
    is_quick = following.method == CLOSED_FORM
    return LOCAL_OPTIMUM if is_quick and named_unknowns(task.pde) else ""


def score(outcome: Outcome, task: Task, rows: np.ndarray | None = None) -> float:
    """√(e² + r²) with the error e at readings that were not fitted and the residual r of the equation.

    With `rows`, the error is that at these readings, as if they had been held out, if the method knows
    it.
    """
    error = outcome.held_out_error
    if rows is not None and len(rows) and outcome.held_out_error_without is not None:
        error = outcome.held_out_error_without(rows)
    return np.inf if error is None else hypot(error, equation_residual(outcome, task))


def equation_residual(outcome: Outcome, task: Task) -> float:
    """The root mean square residual of the equation at fresh points, relative to its typical size.

    It is 0 for a solution on a mesh, which fulfills the equation to its tolerance.
    """
    if isinstance(task.model, Solver) or not task.problem.equation_scales:
        return 0.0
    return mean_square_residuals(outcome.fit.model, outcome.fit.pde, task.problem)[1] ** 0.5


def is_better(other: Outcome, task: Task, best: Outcome, task_of_best: Task) -> bool:
    """Whether the outcome `other` of `task` has a significantly smaller score than `best`.

    A smaller score is enough where only `best` is known to be poor. Both are judged by the readings that
    `other` was not given.
    """
    if other.held_out_error is None:
        return False
    judging_readings = task.held_out if len(task.held_out) else task.problem.observations
    count = int(np.asarray(judging_readings.mask).sum())
    best_score = score(best, task_of_best, task.rows_held_out)
    if is_known_poor(best, task_of_best) and not is_known_poor(other, task):
        return score(other, task) < best_score
    return np.isfinite(best_score) and is_less(score(other, task), best_score, count)


def is_known_poor(outcome: Outcome, task: Task) -> bool:
    """Whether an answer is known to be poor: its coefficients did not converge, or interpolation without
    the equation predicts readings significantly better."""
    has_converged = outcome.fit.stopped != COEFFICIENT_NOT_AT_REST
    return not has_converged or is_worse_than_interpolation(outcome, task)


def is_noise(outcome: Outcome, task: Task) -> bool:
    """Whether the misfit of the readings is noise, so that no other candidate can do better."""
    error, fit = outcome.held_out_error, outcome.fit
    assert error is not None
    if is_exact(error) and not task.noise:
        return False  # so small a misfit may be the model's own
    if outcome.held_out_error_without is None and len(task.held_out):
        # A network that has memorized its readings has a larger error at others.
        count = int(np.asarray(task.held_out.mask).sum())
        noise = task.noise or mean_square_residuals(fit.model, fit.pde, task.problem)[0] ** 0.5
        if is_less(noise, error, count):
            return False
    violation = equation_residual(outcome, task)
    return violation <= MAX_EQUATION_TO_READING_RATIO * error and resembles_noise(
        fit.model, task.problem
    )


def is_worse_than_interpolation(outcome: Outcome, task: Task) -> bool:
    """Whether interpolation without the equation predicts significantly better.

    Then the coefficients may be those of a local optimum, or a network may be too small for the field.
    """
    predictions = _predictions(outcome, task)
    if predictions is None:
        return False
    readings = task.problem.origin.physical(task.problem.observations)
    measured = [name for name in readings.fields if name not in readings.hidden_fields]
    spreads = {name: float(readings.measured(name).values.std()) for name in measured}
    return any(
        error.is_significant and (error.of_spread or 0.0) > (error.interpolated_of_spread or np.inf)
        for error in held_out_errors(predictions, spreads).values()
    )


def _predictions(outcome: Outcome, task: Task) -> HeldOutPredictions | None:
    """The readings that were not fitted, with predictions by the outcome and by interpolation."""
    origin, domain = task.problem.origin, task.domain
    readings = origin.physical(task.problem.observations)
    if outcome.left_out_predictions is not None:
        return left_out_as_held_out(readings, outcome.left_out_predictions, domain)
    if not len(task.held_out):
        return None
    held_out: Observations = origin.physical(task.held_out)
    field = Evaluation(outcome.fit.model, outcome.fit.pde, readings, None, domain)
    return HeldOutPredictions(
        held_out, field.predict_readings(held_out), interpolate_held_out(readings, held_out, domain)
    )


def with_seconds_left(task: Task, spent: float, share: float = 1.0) -> Task:
    """The task with a share of the remaining seconds, or unchanged without a limit.

    >>> import pgt
    >>> readings, domain = pgt.sample(pgt.datasets.heat(), n=40), pgt.Domain(x=(0, 1), t=(0, 1))
    >>> task = pgt.methods.plan.choose(
    ...     readings, pgt.Heat(0.01), domain, training=pgt.Training(seconds=10.0)
    ... ).first
    >>> with_seconds_left(task, 5.5, 0.5).training.seconds
    2.0
    """
    training, seconds = task.training, total_seconds(task.training)
    if seconds is None:
        return task
    seconds_left = share * max((1 - JUDGING_SHARE) * seconds - spent, JUDGING_SHARE * seconds)
    if training.polish and training.seconds is None:
        shorter = replace(training, polish=replace(training.polish, seconds=seconds_left))
    elif training.polish and training.polish.seconds is not None:
        factor = seconds_left / seconds
        polish = replace(training.polish, seconds=factor * training.polish.seconds)
        shorter = replace(training, seconds=factor * (training.seconds or 0.0), polish=polish)
    else:
        shorter = replace(training, seconds=seconds_left)
    # The time left depends on the machine, but a continued run has to be the same run.
    return replace(task, training=shorter, requested_training=training)
