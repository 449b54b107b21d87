"""A second-order fit: Gauss-Newton in float64 on all weights, or on the decoder only.

First-order optimizers stop at a loss of about 1e-6, although a smooth field could be fitted to many more
digits. The rows of the loss (residual_rows.py) depend on the parameters θ. Their Jacobian J (jacobian.py)
gives a damped step (least_squares.py), and many steps make a descent (descent.py). The numbers of rows
and parameters decide whether JᵀJ or JJᵀ is factorized and whether J is ever stored as a whole, so the
same code serves a thousand weights and a million.

Noisy readings are fitted under a prior on the weights. The posterior around the fit
(uncertainty/laplace.py) then gives the error bars.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.stage import Ended, Stage
from pgt.data.observations import Observations
from pgt.inference.likelihood import is_less
from pgt.inference.linear_algebra import Vector
from pgt.methods.second_order.descent import (
    INITIAL_DAMPING,
    ITERATIONS_TO_STALL,
    DescentState,
    HeldOutError,
    IterationReport,
    build_system,
    common_noise,
    descend,
    has_stalled,
    has_stopped_improving,
    initial_prior,
    is_budget_spent,
    reopen,
    stage_of,
    why_ended,
)
from pgt.methods.second_order.least_squares import Residuals
from pgt.methods.second_order.residual_noise import (
    has_correlated_residuals,
    resembles_noise,
    weight_by_field_noise,
)
from pgt.methods.second_order.residual_rows import TunedParameters
from pgt.models.field_model import AbstractFieldModel
from pgt.physics.pde import AbstractPDE
from pgt.problem.budget import Deadline, tunes_all_weights
from pgt.problem.checkpoint import StageStates
from pgt.problem.losses import Problem
from pgt.training.settings import Polish

# The name of the stage without a prior.
GAUSS_NEWTON = "Gauss-Newton"

# ------------------------------------------------------------------ when readings count as noisy

# Readings count as clean up to this held-out error, as a share of the spread. With a larger error, the
# fit is repeated under a prior.
MAX_CLEAN_ERROR = 0.01
# A larger held-out error, as a share of the spread, is not taken for noise, since such a fit may only
# need more time.
MAX_PRESUMED_NOISE = 0.3

# ------------------------------------------------------------------------------------ the budget

# A fit that has stalled may end early after this share of the budget, because of noise or because the
# model is too small.
STALL_SHARE = 0.2
# The share of the budget after which readings that are not predicted count as noisy. The rest is left for
# the fit under a prior.
NO_PRIOR_BUDGET_SHARE = 0.6
# The fit under a prior takes at most this many iterations, as it starts close to the solution, and at
# least this share of the seconds, as error bars need it.
MAX_PRIOR_ITERATIONS, MIN_PRIOR_SHARE = 120, 0.1
# The number of rounds of the evidence at one θ, which reach its fixed point to a percent.
EVIDENCE_ROUNDS = 5
# Error bars follow the fit. Their time is estimated as so many times the first iteration (compilation)
# plus so many times a later one (factorizations with many more rows than a step has).
ERROR_BAR_FIRST_ITERATIONS, ERROR_BAR_ITERATIONS = 1.5, 70
# The largest share of the seconds that is reserved for error bars, since the fit needs the rest. If they
# need more, they use fewer points, but at least the second share of them.
MAX_ERROR_BAR_SHARE, MIN_ERROR_BAR_POINTS = 0.45, 0.25


class Polished(NamedTuple):
    """The fitted model and equation, in float64, and the stages of the fit.

    `first_seconds` is the time of the first iteration, including compilation.
    """

    model: AbstractFieldModel
    pde: AbstractPDE
    stages: list[Stage]
    first_seconds: float = 0.0


def polish(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    settings: Polish,
    held_out: Observations,
    report: IterationReport = lambda iteration, cost: None,
    *,
    noise: float | None = None,
    states: StageStates | None = None,
    has_fallback: bool = False,
) -> Polished:
    """The model and equation after second-order steps.

    `noise` is σ of the readings in units of their spread, if it is known. Readings that are noisy,
    because of `noise` or because held-out ones are not predicted, are fitted once more under a prior. If
    the model cannot represent the readings and there `has_fallback`, the rest of the budget is left to
    the fallback. `states` stores the progress of each stage.
    """
    deadline = Deadline(settings.seconds)
    with jax.enable_x64(True):
        parameters, residuals, held_out_error = build_system(
            model, pde, problem, settings, held_out
        )
        states, settings = states or StageStates(), _with_fresh_share(model, settings)
        count = int(np.asarray(held_out.mask).sum())
        rule = StoppingRule(
            held_out_error, count, noise, settings, problem, parameters, has_fallback
        )
        # `theta` is the best θ of the descent; the fit under a prior starts from `prior_start`.
        prior_start = theta = parameters.theta
        stages, remaining, damping, first_seconds = [], settings, INITIAL_DAMPING, 0.0
        if settings.evidence is not True:
            final = _fit_without_prior(
                residuals, DescentState(theta), settings, rule, report, states
            )
            theta, damping = jnp.asarray(final.best), min(final.damping, INITIAL_DAMPING)
            first_seconds = final.first_seconds
            remaining, prior_start = (
                remaining_budget(settings, final, deadline),
                rule.choose_theta(final),
            )
        error = held_out_error(prior_start)
        needs_prior = _is_noisy(settings, noise, error) and not rule.is_too_small(theta)
        if settings.evidence is not True:
            stages.append(stage_of(GAUSS_NEWTON, final, rule.why_ended(final, needs_prior)))
        if needs_prior:
            common_sigma = common_noise(problem, model.scaling, noise)
            prior = initial_prior(problem.observations, pde, common_sigma, error)
            start = DescentState(prior_start, prior, damping=damping)
            counting_report = _count_from(settings.iterations - remaining.iterations, report)
            under_prior, stage = _fit_under_prior(
                residuals, start, remaining, counting_report, states, rule.reweight
            )
            stages.append(stage)
            # Zero weights fulfill a prior best, and many an equation, too: such a fit predicts worse.
            is_worse = count and is_less(error, held_out_error(under_prior), count)
            theta = prior_start if is_worse else under_prior
        fitted_model, equation = parameters.rebuild(theta)
        return Polished(fitted_model, equation, stages, first_seconds)


class StoppingRule(NamedTuple):
    """Decides whether a fit without a prior ends early.

    `held_out_error` is a function of θ for `count` held-out readings; `noise` is the given σ, if any.
    `parameters` turn a θ into a model.
    """

    held_out_error: HeldOutError
    count: int
    noise: float | None
    settings: Polish
    problem: Problem
    parameters: TunedParameters
    has_fallback: bool

    def ends_fit(self, state: DescentState) -> bool:
        """Whether the fit without a prior ends early.

        It does if it has stalled at the noise, or if another candidate should get the rest of the budget.
        """
        is_due = state.iteration % ITERATIONS_TO_STALL == 0 and is_budget_spent(
            state, self.settings, STALL_SHARE
        )
        if not is_due or not (self.noise or has_stalled(state)):
            return False
        return self.is_noise(state) or (has_stalled(state) and self.is_too_small(state.best))

    def is_too_small(self, theta: Vector | None) -> bool:
        """Whether the model at θ cannot represent the readings while a fallback may."""
        if not self.has_fallback or theta is None:
            return False
        is_missed = self.held_out_error(jnp.asarray(theta)) > MAX_CLEAN_ERROR
        return is_missed and has_correlated_residuals(self._model(theta), self.problem)

    def is_noise(self, state: DescentState) -> bool:
        """Whether the residuals are noise, so that the fit cannot improve without a prior."""
        error, noise = state.best_error, self.noise
        if state.best is None or error == 0:
            return False
        if noise:
            is_reached = not (self.count and is_less(noise, error, self.count))
        else:
            is_reached = error < MAX_PRESUMED_NOISE and has_stalled(state)
        if not is_reached:
            return False
        is_noisy = _is_noisy(self.settings, noise, self.held_out_error(self.choose_theta(state)))
        return is_noisy and resembles_noise(self._model(state.theta), self.problem)

    def choose_theta(self, end: DescentState) -> Vector:
        """The last θ of a descent, or its best θ if that predicts significantly better.

        With few noisy readings, some early θ may predict best by chance.
        """
        last = jnp.asarray(end.theta)
        is_better = self.count > 0 and is_less(
            end.best_error, self.held_out_error(last), self.count
        )
        return jnp.asarray(end.best) if is_better else last

    def why_ended(self, end: DescentState, needs_prior: bool) -> Ended:
        """Why a fit without a prior ended: by itself, or for a prior or a fallback."""
        ended = why_ended(end, self.settings, self.held_out_error)
        if has_stopped_improving(end, self.settings) or ended == "diverged":
            return ended
        if needs_prior:
            return "noise"
        return "model" if self.is_too_small(end.best) else ended

    def reweight(self, residuals: Residuals, theta: Vector) -> Residuals:
        """The residuals with readings weighted by the noise of their field."""
        model = self._model(theta)
        return weight_by_field_noise(residuals, theta, model, self.problem, self.noise)[0]

    def _model(self, theta: Vector) -> AbstractFieldModel:
        return self.parameters.rebuild(jnp.asarray(theta))[0]


def _count_from(done: int, report: IterationReport) -> IterationReport:
    """The report of a stage whose iterations follow those already done."""
    return lambda iteration, cost: report(done + iteration, cost)


def _fit_without_prior(
    residuals: Residuals,
    start: DescentState,
    settings: Polish,
    rule: StoppingRule,
    report: IterationReport,
    states: StageStates,
) -> DescentState:
    """The state after the fit without a prior.

    It takes only its share of the budget if the readings turn out to be noisy.
    """
    keep = partial(states.keep, "without prior")
    start = states.get("without prior", start)

    def is_over(state: DescentState) -> bool:
        return is_budget_spent(state, settings, _no_prior_share(settings, state))

    # A stored state that is past its share without being finished had readings without noise.
    if settings.evidence is not False and (start.is_finished or not is_over(start)):
        end = start
        if not start.is_finished:
            end = descend(
                residuals, start, settings, rule.held_out_error, report, keep,
                is_over=lambda state: is_over(state) or rule.ends_fit(state),
                skips_fixed_points=rule.is_noise,
            )  # fmt: skip
        if has_stopped_improving(end, settings) or not is_over(end):
            return end
        error = rule.held_out_error(rule.choose_theta(end))
        is_unfitted = rule.noise is None and error > MAX_PRESUMED_NOISE
        is_noisy = _is_noisy(settings, rule.noise, error)
        if rule.is_too_small(end.best) if is_unfitted else is_noisy:
            return end
        if settings.seconds is not None:
            reserved = reserved_seconds(end, settings.seconds)
            settings = replace(settings, seconds=settings.seconds - reserved)
        start = reopen(end, settings)
    return descend(residuals, start, settings, rule.held_out_error, report, keep)


def _no_prior_share(settings: Polish, state: DescentState) -> float:
    """The share of the budget that a fit without a prior may take if readings are noisy.

    It is a share of the seconds that remain after those reserved for error bars.
    """
    if settings.seconds is None or not state.first_seconds:
        return NO_PRIOR_BUDGET_SHARE
    reserved = reserved_seconds(state, settings.seconds) / settings.seconds
    return NO_PRIOR_BUDGET_SHARE * (1 - reserved)


def _fit_under_prior(
    residuals: Residuals,
    start: DescentState,
    settings: Polish,
    report: IterationReport,
    states: StageStates,
    reweight: Callable[[Residuals, Vector], Residuals],
) -> tuple[Vector, Stage]:
    """(θ, stage) of the fit under a prior, whose strength follows the evidence.

    `reweight` weights the readings of every field by their noise.
    """
    settings = replace(settings, iterations=min(settings.iterations, MAX_PRIOR_ITERATIONS))
    start, keep = states.get("under prior", start), partial(states.keep, "under prior")
    residuals = reweight(residuals, jnp.asarray(start.theta))
    end = descend(residuals, start, settings, None, report, keep, is_revised=True)
    stage = stage_of("under a prior", end, why_ended(end, settings, None))
    return jnp.asarray(end.theta), stage


def _with_fresh_share(model: AbstractFieldModel, settings: Polish) -> Polish:
    """The settings with a share of fresh points, if the user gave none.

    All weights together can fulfill the equation at fixed points and not between them.
    """
    if settings.fresh is not None:
        return settings
    return replace(settings, fresh=1.0 if tunes_all_weights(model, settings) else 0.0)


def _is_noisy(settings: Polish, noise: float | None, error: float) -> bool:
    """Whether the readings count as noisy at this held-out error."""
    if settings.evidence is not None:
        return settings.evidence
    return noise is not None or error > MAX_CLEAN_ERROR


def remaining_budget(settings: Polish, end: DescentState, deadline: Deadline) -> Polish:
    """The settings with the budget that remains after a descent, less the seconds for error bars."""
    iterations = max(settings.iterations - end.iteration, 1)
    if settings.seconds is None:
        return replace(settings, iterations=iterations)
    # A run that was killed and continues has spent more than this deadline knows.
    spent = max(deadline.spent, end.seconds) + reserved_seconds(end, settings.seconds)
    seconds_left = max(settings.seconds - spent, MIN_PRIOR_SHARE * settings.seconds)
    return replace(settings, iterations=iterations, seconds=seconds_left)


def reserved_seconds(end: DescentState, seconds: float) -> float:
    """The seconds that are reserved for error bars after a descent."""
    needed = error_bar_seconds(end.first_seconds, end.seconds, end.iteration)
    return min(needed, MAX_ERROR_BAR_SHARE * seconds)


def error_bar_seconds(first: float, total: float, iterations: int, points: float = 1.0) -> float:
    """The seconds that error bars need after a descent of `iterations` steps in `total` seconds.

    The first iteration, with its compilation, took `first` seconds. `points` is the share of the usual
    points of the error bars.
    """
    per_iteration = (total - first) / max(iterations - 1, 1)
    return ERROR_BAR_FIRST_ITERATIONS * first + points * ERROR_BAR_ITERATIONS * per_iteration
