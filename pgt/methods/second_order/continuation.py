"""A restart from a fit of the readings, for a fit that is trapped in a local minimum.

A nonlinear equation has many solutions, and a newly initialized network is near none of them. On its way
it may be trapped where the equation holds almost everywhere and the readings are not fitted: a pendulum
that rests for one period. No step leads out of such a minimum, although the readings alone would be easy
to fit.

Therefore the fit is checked after a share of its budget. If it does not predict held-out readings, the
same network is fitted to the readings and conditions only, which is quick: there are few rows, and none
of them has derivatives. If this fit predicts held-out readings significantly better, the fit restarts
from there with the equation. Otherwise it continues unchanged: with noise, few readings or hidden fields
the equation is the better guide.

The readings say nothing about hidden fields. At its full weight the equation would therefore pull the
restarted fit away from the readings. So it starts with a small weight that grows in stages.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp

from pgt.core.stage import Stage
from pgt.inference.significance import is_less
from pgt.methods.second_order.descent import (
    DescentState,
    HeldOutError,
    IterationReport,
    descend,
    is_budget_spent,
    reopen,
    stage_of,
    why_ended,
)
from pgt.methods.second_order.least_squares import Residuals
from pgt.problem.checkpoint import StageStates
from pgt.training.settings import Polish

# The shares of the budget after which a fit may be checked, once it has made enough iterations.
# Earlier checks save time, later ones give slow fits a chance.
TRAP_CHECK_SHARES = (0.2, 0.3, 0.4)
# A fit with fewer iterations is not checked: compilation may take most of the first share.
MIN_ITERATIONS_TO_CHECK = 40
# No restart when more than this share of the budget is spent.
MAX_SPENT_SHARE = 0.5
# No restart with a budget of fewer iterations.
MIN_BUDGET_ITERATIONS = 100
# A fit with a smaller held-out error, as a share of the spread, is not trapped.
MIN_TRAPPED_ERROR = 0.1
# The budget of the fit of the readings: iterations, patience in iterations, and share of the seconds.
READINGS_ITERATIONS, READINGS_PATIENCE, READINGS_SECONDS_SHARE = 100, 30, 0.1
# The weights of the equation after a restart, before its full weight.
RAMP_WEIGHTS = (0.01, 0.03, 0.1, 0.3)
# The largest number of iterations with each weight, and the share of the budget for each.
RAMP_ITERATIONS, RAMP_BUDGET_SHARE = 80, 0.08
GAUSS_NEWTON = "Gauss-Newton"  # the name of the stage that fits readings and equation


class HeldOutCheck(NamedTuple):
    """What decides about a restart.

    `held_out_error` is a function of θ for `count` held-out readings; an error below `small` is small.
    `is_noise` says whether the residuals are noise, `should_yield` whether a fallback should take over.
    """

    held_out_error: HeldOutError
    count: int
    small: float
    is_noise: Callable[[DescentState], bool] = lambda state: False
    should_yield: Callable[[DescentState], bool] = lambda state: False

    def needs_no_restart(self, state: DescentState) -> bool:
        """Whether a restart cannot help."""
        if state.best_error <= self.small or self.is_noise(state):
            return True
        return state.best_error < MIN_TRAPPED_ERROR and self.should_yield(state)


def restart_if_trapped(
    residuals: Residuals,
    start: DescentState,
    settings: Polish,
    held_out: HeldOutCheck,
    report: IterationReport,
    states: StageStates,
) -> tuple[DescentState, list[Stage]]:
    """The state to continue from after a share of the budget, and the stages before a restart, if any."""
    is_short = settings.iterations < MIN_BUDGET_ITERATIONS
    if not residuals.row_blocks.has_equation or not held_out.count or is_short:
        return start, []
    first = _fit_first_share(residuals, start, settings, held_out, report, states)
    continued = reopen(first, settings)
    is_early = first.iteration < MIN_ITERATIONS_TO_CHECK
    is_late = is_budget_spent(first, settings, MAX_SPENT_SHARE)
    if is_early or is_late or held_out.needs_no_restart(first):
        return continued, []

    def report_same_iteration(_, cost):
        report(first.iteration, cost)

    error = held_out.held_out_error
    readings = _fit_readings(residuals, start, settings, error, report_same_iteration, states)
    spent = first.seconds + readings.seconds
    if not is_less(readings.best_error, first.best_error, held_out.count):
        return replace(continued, seconds=spent), []
    ramp = _ramp_equation(residuals, readings, settings, report_same_iteration, states)
    spent += sum(state.seconds for state, _ in ramp)
    # `best` is set, so that this θ is the result if no time is left for another step.
    last = ramp[-1][0].theta
    restarted = DescentState(
        last, iteration=first.iteration, seconds=spent, first_seconds=first.first_seconds, best=last,
        best_error=error(jnp.asarray(last)), best_iteration=first.iteration,
    )  # fmt: skip
    stages = [
        stage_of(GAUSS_NEWTON, first, "restart"),
        stage_of(
            "readings alone", readings, why_ended(readings, _readings_settings(settings), error)
        ),
    ]
    return restarted, stages + [stage for _, stage in ramp]


def _fit_first_share(
    residuals: Residuals,
    start: DescentState,
    settings: Polish,
    held_out: HeldOutCheck,
    report: IterationReport,
    states: StageStates,
) -> DescentState:
    """The state after the first share of the budget with enough iterations for a check."""
    state, keep = states.get("first share", start), partial(states.keep, "first share")
    for share in TRAP_CHECK_SHARES:
        state = reopen(state, settings, share)
        state = descend(
            residuals, state, settings, held_out.held_out_error, report, keep,
            share=share, skips_fixed_points=held_out.is_noise,
        )  # fmt: skip
        if state.iteration >= MIN_ITERATIONS_TO_CHECK:
            break
    return state


def _fit_readings(
    residuals: Residuals,
    start: DescentState,
    settings: Polish,
    held_out_error: HeldOutError,
    report: IterationReport,
    states: StageStates,
) -> DescentState:
    """The state after a fit of the readings and conditions without the equation."""
    state = states.get("readings", DescentState(jnp.asarray(start.theta)))
    return descend(
        residuals.without_equation(), state, _readings_settings(settings), held_out_error, report,
        partial(states.keep, "readings"),
    )  # fmt: skip


def _readings_settings(settings: Polish) -> Polish:
    """The settings of the fit of the readings."""
    seconds = None if settings.seconds is None else READINGS_SECONDS_SHARE * settings.seconds
    return replace(
        settings, iterations=READINGS_ITERATIONS, patience=READINGS_PATIENCE, seconds=seconds,
        fresh=0.0,
    )  # fmt: skip


def _ramp_equation(
    residuals: Residuals,
    readings: DescentState,
    settings: Polish,
    report: IterationReport,
    states: StageStates,
) -> list[tuple[DescentState, Stage]]:
    """The state and record of each stage in which the weight of the equation grows."""
    seconds = None if settings.seconds is None else RAMP_BUDGET_SHARE * settings.seconds
    iterations = min(RAMP_ITERATIONS, round(2 * RAMP_BUDGET_SHARE * settings.iterations))
    short = replace(settings, iterations=iterations, patience=RAMP_ITERATIONS, seconds=seconds)
    theta, stages = readings.theta if readings.best is None else readings.best, []
    for number, weight in enumerate(RAMP_WEIGHTS):
        name = f"ramp {number}"
        state, keep = states.get(name, DescentState(theta)), partial(states.keep, name)
        state = descend(residuals.stiffened(weight), state, short, None, report, keep)
        ended = why_ended(state, short, None)
        stages.append((state, stage_of(f"equation weight {weight:g}", state, ended)))
        theta = state.theta
    return stages
