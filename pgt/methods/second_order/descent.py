"""Levenberg-Marquardt iterations until the budget is spent or they no longer help.

The damping λ falls after a step that lowers the cost and rises after one that does not. At first every
step uses fresh residual points: a network with many weights could otherwise fulfill the equation at fixed
points and not between them. A step is accepted if it lowers the cost at the points it was computed for.
When fresh points no longer lower the held-out error, and at the latest near the end of the budget, the
points stay fixed. Steps at fixed points converge, while steps at fresh points only fluctuate around the
minimum.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.stage import Ended, Stage
from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.inference.likelihood import misfit_size
from pgt.inference.linear_algebra import Vector, on_host
from pgt.methods.second_order.least_squares import (
    GIGABYTE,
    MIN_DAMPING,
    NO_PRIOR,
    DampedEquations,
    NormalEquations,
    Residuals,
    WeightPrior,
    revise_prior,
)
from pgt.methods.second_order.residual_rows import (
    TunedParameters,
    build_rows,
    flatten_parameters,
    reading_mask,
)
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE
from pgt.problem.budget import tunes_all_weights
from pgt.problem.losses import Problem, reading_rows, reading_weights
from pgt.training.settings import Polish

# The damping before the first step, in units of the mean eigenvalue of JᵀJ.
INITIAL_DAMPING = 1e-2
# The damping is divided by the first factor after a successful step, and multiplied by the second after a
# rejected or partial one.
DAMPING_DECREASE, DAMPING_INCREASE = 2.0, 1.5
# The descent ends if the damping exceeds this limit, since steps then vanish.
MAX_DAMPING = 1e8
# The smallest damping at fresh points. With less, a step fits the few fresh points that it sees and
# forgets all earlier ones.
MIN_DAMPING_AT_FRESH_POINTS = 1e-8
# The number of iterations between revisions of the strength of the prior. Each takes longer than a step.
REVISION_INTERVAL = 5
# A descent has stalled if its error exceeds this share of the error after half of its iterations. That is
# tested every `ITERATIONS_TO_STALL` iterations.
STALLED_ERROR_SHARE, ITERATIONS_TO_STALL = 0.5, 30
# The share of the last step from which the next one starts at fresh points. A larger share averages over
# more draws.
MOMENTUM = 0.9

HeldOutError = Callable[[Vector], float]
IterationReport = Callable[[int, float], None]


@dataclass(frozen=True)
class DescentState:
    """Everything a descent needs to continue bit for bit."""

    theta: Vector
    prior: WeightPrior = NO_PRIOR
    momentum: Vector | float = 0.0
    damping: float = INITIAL_DAMPING
    iteration: int = 0
    has_stepped: bool = False  # at least one whole step was accepted
    draw: int = 0  # number of the draw of residual points; 0 stands for the fixed ones
    is_fixed: bool = False  # the residual points stay fixed from here on
    costs: tuple[float, ...] = ()
    best_errors: tuple[float, ...] = ()  # smallest held-out error after each iteration
    best: Vector | None = None
    best_error: float = np.inf
    best_iteration: int = 0
    seconds: float = 0.0
    first_seconds: float = 0.0  # until the end of the first iteration, including compilation
    is_finished: bool = False


def descend(
    residuals: Residuals,
    state: DescentState,
    settings: Polish,
    held_out_error: HeldOutError | None,
    report: IterationReport = lambda iteration, cost: None,
    keep: Callable[[DescentState], None] = lambda state: None,
    *,
    is_revised: bool = False,
    is_over: Callable[[DescentState], bool] = lambda state: False,
    skips_fixed_points: Callable[[DescentState], bool] = lambda state: False,
) -> DescentState:
    """The state after the last iteration, or as soon as `is_over(state)`.

    Readings can be memorized, so the best θ is the one with the smallest held-out error. Without
    `held_out_error` the last θ is the best one, as under a prior, which prevents memorizing. If
    `is_revised`, the strength of the prior follows the evidence. When fresh points no longer lower the
    error, the descent continues at fixed points, which takes far longer, unless it `skips_fixed_points`.
    """
    if state.is_finished:
        return state
    began = time.monotonic() - state.seconds
    if not state.costs:
        state = replace(state, draw=_next_draw(state, settings))
    drawn, normal = _linearize(residuals, state)
    if not state.costs:
        state = _update_best(replace(state, costs=(normal.cost(state.prior),)), held_out_error)
    while not state.is_finished:
        accepted = _try_step(drawn, normal, state)
        state = replace(state, iteration=state.iteration + 1)
        if accepted is not None:
            state = _update_best(_accept(state, *accepted, settings), held_out_error)
            drawn, normal = _linearize(residuals, state)
        else:
            state = _reject(state)
        # Even if the step was rejected: θ may be the minimum for the present strength while another
        # strength is more probable.
        if is_revised and state.iteration % REVISION_INTERVAL == 0:
            state = replace(state, prior=revise_prior(state.prior, normal)[0])
        cost = normal.cost(state.prior)
        seconds = time.monotonic() - began
        state = replace(
            state, costs=(*state.costs, cost), best_errors=(*state.best_errors, state.best_error),
            seconds=seconds, first_seconds=state.first_seconds or seconds,
        )  # fmt: skip
        if state.draw and has_stopped_improving(state, settings) and not skips_fixed_points(state):
            state = _fix_points(state)
            drawn, normal = _linearize(residuals, state)
        state = reopen(state, settings)
        if not state.is_finished and is_over(state):
            state = replace(state, is_finished=True)
        report(state.iteration, cost)
        keep(state)
    return state


def _linearize(residuals: Residuals, state: DescentState) -> tuple[Residuals, NormalEquations]:
    """The residuals at the current draw of points, and their normal equations at θ."""
    theta = jnp.asarray(state.theta)
    drawn = residuals.at_draw(state.draw).with_noise_at(theta)
    return drawn, drawn.normal_at(theta)


def _try_step(
    residuals: Residuals, normal: NormalEquations, state: DescentState
) -> tuple[Vector, float] | None:
    """A θ of lower cost and the share of the full step that leads to it; None if the step fails.

    Before the first whole step a partial step is accepted, so that a wrong damping costs no iteration.
    """
    damped = DampedEquations(normal, state.prior, state.damping)
    if damped.factor is None:
        return None
    accelerated = damped.accelerated(residuals, damped.step(state.momentum))
    if accelerated is None or (accelerated.share < 1 and state.has_stepped):
        return None
    theta = np.asarray(state.theta) + accelerated.step
    cost = residuals.cost(jnp.asarray(theta), state.prior)
    return (theta, accelerated.share) if cost < normal.cost(state.prior) else None


def _accept(state: DescentState, theta: Vector, share: float, settings: Polish) -> DescentState:
    min_damping = MIN_DAMPING_AT_FRESH_POINTS if state.draw else MIN_DAMPING
    is_whole = share == 1.0
    factor = 1 / DAMPING_DECREASE if is_whole else DAMPING_INCREASE
    next_state = replace(
        state,
        theta=theta,
        damping=max(state.damping * factor, min_damping),
        has_stepped=state.has_stepped or is_whole,
        draw=_next_draw(state, settings),
    )
    if not next_state.draw:
        return replace(next_state, momentum=0.0)
    return replace(next_state, momentum=MOMENTUM * (theta - np.asarray(state.theta)))


def _fix_points(state: DescentState) -> DescentState:
    """The best state so far at the fixed points, with its patience restored."""
    best = state.theta if state.best is None else state.best
    return replace(
        state, theta=best, momentum=0.0, damping=min(state.damping, INITIAL_DAMPING), draw=0,
        is_fixed=True, best_iteration=state.iteration,
    )  # fmt: skip


def _reject(state: DescentState) -> DescentState:
    """The same θ with more damping."""
    return replace(state, damping=state.damping * DAMPING_INCREASE, momentum=0.0)


def _next_draw(state: DescentState, settings: Polish) -> int:
    """The number of the draw of residual points that the next step uses."""
    shares = [state.iteration / settings.iterations]
    if settings.seconds is not None:
        shares.append(state.seconds / settings.seconds)
    fresh = settings.fresh or 0.0
    # With fresh=1 not even the last step uses fixed points, for which a program would be compiled.
    is_fresh = fresh == 1.0 or max(shares) < fresh
    return state.draw + 1 if is_fresh and not state.is_fixed else 0


def _update_best(state: DescentState, held_out_error: HeldOutError | None) -> DescentState:
    error = held_out_error(jnp.asarray(state.theta)) if held_out_error else 0.0
    if error > state.best_error:
        return state
    return replace(state, best=state.theta, best_error=error, best_iteration=state.iteration)


def has_stopped_improving(state: DescentState, settings: Polish) -> bool:
    """Whether the patience is spent or the damping has reached its limit."""
    return _is_patience_spent(state, settings) or state.damping > MAX_DAMPING


def _is_patience_spent(state: DescentState, settings: Polish) -> bool:
    return state.iteration - state.best_iteration > settings.patience


def has_stalled(state: DescentState) -> bool:
    """Whether the second half of the iterations so far hardly lowered the held-out error.

    >>> def after(errors):
    ...     return DescentState(np.zeros(1), best_errors=tuple(errors))
    >>> has_stalled(after(0.9**k for k in range(60))), has_stalled(after([0.5] * 60))
    (False, True)
    >>> has_stalled(after([0.5] * 9))  # too early to tell
    False
    """
    errors = state.best_errors
    is_late = len(errors) >= ITERATIONS_TO_STALL
    return is_late and errors[-1] > STALLED_ERROR_SHARE * errors[len(errors) // 2]


def is_budget_spent(state: DescentState, settings: Polish, share: float = 1.0) -> bool:
    """Whether a share of the iterations or seconds is spent."""
    is_late = settings.seconds is not None and state.seconds > share * settings.seconds
    return is_late or state.iteration >= round(share * settings.iterations)


def reopen(state: DescentState, settings: Polish) -> DescentState:
    """The same state, finished only if it no longer improves or the budget is spent."""
    is_finished = has_stopped_improving(state, settings) or is_budget_spent(state, settings)
    return replace(state, is_finished=is_finished)


def why_ended(state: DescentState, settings: Polish, held_out_error: HeldOutError | None) -> Ended:
    """Why a descent ended by itself.

    Without held-out readings, spent patience means that no step lowered the cost: it has converged.

    >>> ended = DescentState(np.zeros(1), costs=(2.0, 1.0), iteration=50, best_iteration=5)
    >>> why_ended(ended, Polish(), lambda theta: 0.1), why_ended(ended, Polish(), None)
    ('patience', 'converged')
    """
    if not np.isfinite(state.costs[-1:]).all():
        return "diverged"
    if state.damping > MAX_DAMPING:
        return "converged"
    if _is_patience_spent(state, settings):
        return "patience" if held_out_error else "converged"
    is_late = settings.seconds is not None and state.iteration < settings.iterations
    return "seconds" if is_late else "iterations"


def stage_of(name: str, state: DescentState, ended: Ended) -> Stage:
    """The record of a descent."""
    return Stage(name, state.costs, state.seconds, ended)


# ------------------------------------------------------------------------------- the system of one fit

# The upper limit of the first guess of an unknown noise, as a share of the spread. A larger guess
# restrains the weights too much at first; a much smaller one lets them memorize the noise.
MAX_NOISE_GUESS = 0.1
# The default memory for derivatives: gigabytes on the host, and a share of the memory on a GPU, where the
# compiler tests products on copies of its own.
HOST_MEMORY_GIGABYTES, GPU_MEMORY_SHARE = 2.0, 0.2


class LeastSquaresSystem(NamedTuple):
    """The parameters θ, the residuals as a function of θ, and the held-out error as a function of θ."""

    parameters: TunedParameters
    residuals: Residuals
    held_out_error: HeldOutError


def build_system(
    model, pde, problem: Problem, settings: Polish, held_out: Observations
) -> LeastSquaresSystem:
    """The least-squares problem, in float64."""
    model, pde, problem, held_out = cast((model, pde, problem, held_out), jnp.float64)
    is_whole = tunes_all_weights(model, settings)
    parameters = flatten_parameters(model, pde, problem.observations, whole=is_whole)
    rows = build_rows(model, pde, problem, parameters, settings)
    mask = reading_mask(problem.observations)
    residuals = Residuals(rows, problem.likelihood, mask, memory_limit(settings))
    return LeastSquaresSystem(parameters, residuals, _held_out_error(parameters, held_out, problem))


def memory_limit(settings: Polish) -> float:
    """The number of bytes that the derivatives of the rows may take."""
    if settings.memory is not None:
        return settings.memory * GIGABYTE
    host_memory = HOST_MEMORY_GIGABYTES * GIGABYTE
    if on_host():
        return host_memory
    limits = jax.devices()[0].memory_stats() or {}
    return limits.get("bytes_limit", host_memory / GPU_MEMORY_SHARE) * GPU_MEMORY_SHARE


def _held_out_error(
    parameters: TunedParameters, held_out: Observations, problem: Problem
) -> HeldOutError:
    """θ ↦ root-mean-square misfit of the held-out readings; 0 if there are none."""
    if not len(held_out):
        return lambda theta: 0.0

    @jax.jit
    def error(theta):
        model, _, context = parameters.rebuild_with_context(theta)
        field = partial(model.decode, context)
        rows = reading_rows(field, held_out, model.scaling, problem.averaged)
        return misfit_size(problem.likelihood, rows, held_out.mask)

    return lambda theta: float(error(theta))


def initial_prior(
    readings: Observations, pde: AbstractPDE, noise: float | None, held_out_error: float = 0.0
) -> WeightPrior:
    """The prior before the evidence revises it, with weights of order one.

    Unknown noise is assumed to be as large as the held-out error, if that is known, up to
    `MAX_NOISE_GUESS`.
    """
    mask = reading_mask(readings)
    measured, coefficients = float(mask.sum()), len(named_unknowns(pde))
    sigma = noise or min(held_out_error or MAX_NOISE_GUESS, MAX_NOISE_GUESS)
    return WeightPrior(sigma**2 / measured, mask.size, measured, noise or 0.0, coefficients)


def common_noise(problem: Problem, scaling: Scaling, noise: float | None) -> float | None:
    """The common σ of all readings with equal weights, n / σ² = Σ 1/σ_i²; None if no noise is given."""
    if noise is None:
        return None
    readings = problem.observations
    sigmas = np.asarray(readings.noise) / np.asarray(scaling.spread)
    sigmas = sigmas[np.asarray(readings.mask) & (sigmas > 0)]
    weights = float(jnp.sum(reading_weights(readings, scaling)))
    return float(sigmas.mean() * np.sqrt(np.asarray(readings.mask).sum() / weights))
