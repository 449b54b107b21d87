"""Least-squares steps, one after the other, until they no longer help.

λ falls after a step that lowers the cost and rises after one that does not. Far from the goal every
step sees residual points of its own: a network with many weights would else fulfil the equation at the
points, and not between them. Whether a step is better is judged at the points it was made for. Once
that no longer helps, and at the latest near the end of the budget, the points stay as they are: steps
that all see the same go on where those that see ever others only wander.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from pgt.ground.stage import Ended, Stage
from pgt.training.dense import Vector
from pgt.training.least_squares import NO_PRIOR, Damped, Normal, Prior, Search, revised
from pgt.training.settings import Polish

START, EASE, STIFFEN = 1e-2, 2.0, 1.5  # damping at first, after a success, after a failure
GROWTH, MOST_GROWTH = 1.5, 10.0  # of the latter, with every failure before the first success
LEAST, GIVE_UP = 1e-15, 1e8
LEAST_FRESH = 1e-8  # with less, a step fits the few points that it sees and forgets all others
SETTLE = 10  # iterations before the prior's strength is first revised
SETTLE_SHARE = 3  # a third of a stage's iterations, where these are fewer
REVISED, REVISED_ROUNDS = 5, 2  # every so many iterations after that: it takes longer than a step
# Iterations of a descent, and what is left of an error that hardly fell.
FEWEST_TO_JUDGE, HARDLY = 40, 0.5
MOMENTUM = 0.9  # of the step before, on fresh points

Judge = Callable[[Vector], float]
Report = Callable[[int, float], None]


@dataclass(frozen=True)
class State:
    """All that a descent goes on from, bit for bit."""

    theta: Vector
    prior: Prior = NO_PRIOR
    momentum: Vector | float = 0.0
    damping: float = START
    iteration: int = 0
    moved: bool = False  # at least once, by a whole step
    draw: int = 0  # of the residual points; 0: the fixed ones
    settled: bool = False  # on the fixed ones, for good
    costs: tuple[float, ...] = ()
    errors: tuple[float, ...] = ()  # the least held-out error after each iteration
    best: Vector | None = None
    best_error: float = np.inf
    best_iteration: int = 0
    seconds: float = 0.0
    first: float = 0.0  # of them, until the first iteration had ended: what was compiled counts
    over: bool = False


def descend(
    search: Search,
    state: State,
    settings: Polish,
    judge: Judge | None,
    report: Report = lambda iteration, cost: None,
    keep: Callable[[State], None] = lambda state: None,
    *,
    is_revised: bool = False,
    share: float = 1.0,
    is_enough: Callable[[State], bool] = lambda state: False,
) -> State:
    """The state after the last iteration, or when a `share` of the budget is spent.

    `judge` is the held-out error at θ: readings can be memorised, so the best θ is the one that
    predicts what was not fitted. Without a judge the last θ is the best: under a prior nothing is
    memorised. Where the prior `is_revised`, its strength follows the evidence. Once fresh points no
    longer help, it `is_enough`, or the descent goes on at fixed ones, which takes far longer.
    """
    if state.over:
        return state
    began = time.monotonic() - state.seconds
    if not state.costs:
        state = replace(state, draw=_next_draw(state, settings))
    here, normal = _system(search, state)
    if not state.costs:
        state = _judged(replace(state, costs=(normal.cost(state.prior),)), judge)
    while not state.over:
        found = _tried(here, normal, state)
        is_better = found is not None
        state = replace(state, iteration=state.iteration + 1)
        if is_better:
            state = _judged(_moved(state, *found, settings), judge)
            here, normal = _system(search, state)
        else:
            state = _refused(state)
        if is_revised and _is_due(state, settings):
            state = replace(state, prior=revised(state.prior, normal, REVISED_ROUNDS)[0])
        cost = normal.cost(state.prior)
        seconds = time.monotonic() - began
        errors = (*state.errors, state.best_error)
        state = replace(state, costs=(*state.costs, cost), errors=errors, seconds=seconds)
        state = replace(state, first=state.first or seconds)
        if state.draw and is_over(state, settings) and not is_enough(state):
            state = _settled(state)
            here, normal = _system(search, state)
        state = replace(state, over=is_over(state, settings) or is_spent(state, settings, share))
        report(state.iteration, cost)
        keep(state)
    return state


def _is_due(state: State, settings: Polish) -> bool:
    """Whether the prior's strength is to be revised: now and again, also where θ rests under the last
    one, which need not be the most probable."""
    settle = min(SETTLE, max(settings.iterations // SETTLE_SHARE, 1))
    since = state.iteration - settle
    return since >= 0 and since % REVISED == 0


def _system(search: Search, state: State) -> tuple[Search, Normal]:
    theta = jnp.asarray(state.theta)
    here = search.anew(state.draw).refreshed(theta)
    return here, here.normal_at(theta)


def _tried(search: Search, normal: Normal, state: State) -> tuple[Vector, float] | None:
    """A better θ by one step, and the share of it that was gone; None where the step leads to none.

    Before the first whole step a share is better than nothing: a wrong damping costs no iteration then.
    """
    damped = Damped(normal, state.prior, state.damping)
    if damped.factor is None:
        return None
    found = damped.bent(search, damped.step(state.momentum))
    if found is None or (found.share < 1 and state.moved):
        return None
    theta = np.asarray(state.theta) + found.step
    cost = search.cost(jnp.asarray(theta), state.prior)
    return (theta, found.share) if cost < normal.cost(state.prior) else None


def _moved(state: State, theta: Vector, share: float, settings: Polish) -> State:
    least, whole = LEAST_FRESH if state.draw else LEAST, share == 1.0
    moved = replace(
        state,
        theta=theta,
        damping=max(state.damping / EASE if whole else state.damping * STIFFEN, least),
        moved=state.moved or whole,
        draw=_next_draw(state, settings),
    )
    if not moved.draw:
        return replace(moved, momentum=0.0)
    return replace(moved, momentum=MOMENTUM * (theta - np.asarray(state.theta)))


def _settled(state: State) -> State:
    """From the best θ on, with all patience, at the fixed points."""
    best = state.theta if state.best is None else state.best
    return replace(
        state, theta=best, momentum=0.0, damping=min(state.damping, START), draw=0, settled=True,
        best_iteration=state.iteration,
    )  # fmt: skip


def _refused(state: State) -> State:
    """Before the first success every failure raises the damping by more than the one before: nobody
    knows yet how large it has to be."""
    growth = min(GROWTH**state.iteration, MOST_GROWTH) if not state.moved else 1.0
    return replace(state, damping=state.damping * STIFFEN * growth, momentum=0.0)


def _next_draw(state: State, settings: Polish) -> int:
    """Which residual points the next step is to see."""
    shares = [state.iteration / settings.iterations]
    if settings.seconds is not None:
        shares.append(state.seconds / settings.seconds)
    fresh = settings.fresh or 0.0
    # With all of the budget, not even the last step asks for fixed points: they are compiled anew.
    is_fresh = fresh == 1.0 or max(shares) < fresh
    return state.draw + 1 if is_fresh and not state.settled else 0


def _judged(state: State, judge: Judge | None) -> State:
    error = judge(jnp.asarray(state.theta)) if judge else 0.0
    if error > state.best_error:
        return state
    return replace(state, best=state.theta, best_error=error, best_iteration=state.iteration)


def is_over(state: State, settings: Polish) -> bool:
    """Whether a descent no longer helps."""
    return _has_waited(state, settings) or state.damping > GIVE_UP


def _has_waited(state: State, settings: Polish) -> bool:
    return state.iteration - state.best_iteration > settings.patience


def goes_nowhere(state: State) -> bool:
    """Whether the second half of the iterations so far hardly lowered the held-out error.

    >>> ended = [replace(State(np.zeros(1)), errors=tuple(0.9**k for k in range(n))) for n in (60, 9)]
    >>> [goes_nowhere(state) for state in ended], goes_nowhere(replace(ended[0], errors=(0.5,) * 60))
    ([False, False], True)
    """
    count = len(state.errors)
    return count >= FEWEST_TO_JUDGE and state.errors[-1] > HARDLY * state.errors[count // 2]


def is_spent(state: State, settings: Polish, share: float = 1.0) -> bool:
    """Whether a share of the budget is spent."""
    late = settings.seconds is not None and state.seconds > share * settings.seconds
    return late or state.iteration >= round(share * settings.iterations)


def opened(state: State, settings: Polish, share: float = 1.0) -> State:
    """The same, to go on until a share of the budget is spent."""
    return replace(state, over=is_over(state, settings) or is_spent(state, settings, share))


def why_ended(state: State, settings: Polish, judge: Judge | None) -> Ended:
    """Why a descent ended that its callers did not end before.

    Without a judge the patience is that with steps that do not lower the cost.

    >>> ended = State(np.zeros(1), costs=(2.0, 1.0), iteration=50, best_iteration=5)
    >>> why_ended(ended, Polish(), lambda theta: 0.1), why_ended(ended, Polish(), None)
    ('patience', 'converged')
    """
    if not np.isfinite(state.costs[-1:]).all():
        return "diverged"
    if state.damping > GIVE_UP:
        return "converged"
    if _has_waited(state, settings):
        return "patience" if judge else "converged"
    is_late = settings.seconds is not None and state.iteration < settings.iterations
    return "seconds" if is_late else "iterations"


def stage_of(name: str, state: State, ended: Ended) -> Stage:
    """The record of a descent."""
    return Stage(name, state.costs, state.seconds, ended)
