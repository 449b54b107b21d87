"""When the next candidate of a plan is fitted, and which of two answers is kept.

Sines solve a linear equation exactly where they can represent its field. Where they cannot, as for
a narrow pulse, they take their own misfit for noise, and their posterior does not show it. Readings
do, if there are enough. A small network reaches many digits of a field that it can represent, and
few of a rich one: there a larger network, trained by first-order steps, is better. A solution on a
mesh may be at a local optimum of its coefficients: then interpolation without the equation predicts
the readings better.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from pgt.inference.likelihood import is_less
from pgt.methods.closed_form.band_search import MAX_GOOD_ERROR, leaves_time_for_network
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST
from pgt.methods.plan import CLOSED_FORM, FIRST_ORDER, SECOND_ORDER, SOLVER
from pgt.methods.second_order.gauss_newton import MAX_CLEAN_ERROR
from pgt.methods.second_order.residual_noise import (
    has_correlated_residuals,
    violates_equation,
)
from pgt.problem.assembly import Task
from pgt.problem.budget import total_seconds
from pgt.reconstruction.stated_error import combined_error
from pgt.uncertainty.field_error import is_exact
from pgt.uncertainty.held_out import held_out_errors, left_out_as_held_out
from pgt.uncertainty.outcome import Outcome

# Another candidate needs this share of the seconds; the search for sines leaves a third
# (methods/closed_form/band_search.py).
MIN_SHARE_LEFT = 0.25
# The share of the seconds that is reserved for compiling a large network once more, to judge it.
JUDGING_SHARE = 0.05

NO_SOLUTION = "the equation has no solution on a mesh with the first guess of its coefficients"
NOT_CONVERGED = "its coefficients did not converge"
EXACT_READINGS = "the readings look exact, and a solution on a mesh has few digits"
WORSE_THAN_INTERPOLATION = "interpolation without the equation predicts the readings better"
LARGE_ERROR = f"its stated error is more than {MAX_GOOD_ERROR:.1g} of the spread"
CORRELATED_MISFIT = (
    "the residuals of neighboring readings are correlated, or those of the equation are as large"
)


def has_time_left(task: Task, spent: float) -> bool:
    """Whether enough of the seconds is left for another candidate."""
    seconds = total_seconds(task.training)
    return seconds is None or seconds - spent >= MIN_SHARE_LEFT * seconds


def why_poor(method: str, task: Task, outcome: Outcome, errors: dict | None) -> str:
    """Why another candidate may do better than this answer; empty where there is no reason.

    `errors` are the stated errors by field, where they are known.
    """
    return _WHY_POOR[method](task, outcome, errors)


def _why_poor_on_mesh(task: Task, outcome: Outcome, errors: dict | None) -> str:
    if outcome.fit.stopped == COEFFICIENT_NOT_AT_REST:
        return NOT_CONVERGED
    if outcome.discretization is None and is_exact(outcome.noise):
        return EXACT_READINGS
    if _is_worse_than_interpolation(task, outcome):
        return WORSE_THAN_INTERPOLATION
    fit = outcome.fit
    return CORRELATED_MISFIT if has_correlated_residuals(fit.model, task.problem) else ""


def _why_poor_in_closed_form(task: Task, outcome: Outcome, errors: dict | None) -> str:
    if errors is None or not leaves_time_for_network(task):
        return ""
    return LARGE_ERROR if combined_error(errors, task)["value"] > MAX_GOOD_ERROR else ""


def _why_poor_network(task: Task, outcome: Outcome, errors: dict | None) -> str:
    error, fit = outcome.held_out_error, outcome.fit
    if error is None or error <= MAX_CLEAN_ERROR:
        return ""
    is_poor = has_correlated_residuals(fit.model, task.problem) or violates_equation(
        fit.model, fit.pde, task.problem
    )
    return CORRELATED_MISFIT if is_poor else ""


_WHY_POOR: Mapping[str, Callable[[Task, Outcome, dict | None], str]] = {
    SOLVER: _why_poor_on_mesh,
    CLOSED_FORM: _why_poor_in_closed_form,
    SECOND_ORDER: _why_poor_network,
    FIRST_ORDER: _why_poor_network,
}


def _is_worse_than_interpolation(task: Task, outcome: Outcome) -> bool:
    """Whether interpolation without the equation predicts left-out readings significantly better:
    then converged coefficients may be those of a local optimum.
    """
    if outcome.left_out_predictions is None:
        return False
    readings = task.problem.origin.physical(task.problem.observations)
    held_out = left_out_as_held_out(readings, outcome.left_out_predictions, task.domain)
    spreads = {name: float(readings.measured(name).values.std()) for name in readings.fields}
    return any(
        found.is_significant and (found.of_spread or 0.0) > (found.interpolated_of_spread or 0.0)
        for found in held_out_errors(held_out, spreads).values()
    )


def predicts_better(other: Outcome, outcome: Outcome, task: Task) -> bool:
    """Whether the other outcome has a significantly smaller held-out error; `task` is that of the
    other.

    The closed form is judged by the same readings: leaving out each reading or each sensor would be
    another question.
    """
    error, rows = outcome.held_out_error, task.rows_held_out
    if outcome.held_out_error_without is not None and rows is not None and len(rows):
        error = outcome.held_out_error_without(rows)
    if other.held_out_error is None or error is None:
        return False
    judges = task.held_out if len(task.held_out) else task.problem.observations
    count = int(np.asarray(judges.mask).sum())
    return is_less(other.held_out_error, error, count)


def with_time_left(task: Task, spent: float, share: float = 1.0) -> Task:
    """The task with a share of the rest of the seconds, where there is a limit."""
    training, seconds = task.training, total_seconds(task.training)
    if seconds is None:
        return task
    if training.polish and training.seconds is None:
        left = share * max(seconds - spent, seconds / 3)
        shorter = replace(training, polish=replace(training.polish, seconds=left))
    else:
        left = share * max((1 - JUDGING_SHARE) * seconds - spent, seconds / 3)
        shorter = replace(training, seconds=left)
    # The time left depends on the machine, but a continued run has to be the same run.
    return replace(task, training=shorter, requested_training=training)
