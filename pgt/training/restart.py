"""Another beginning, from the readings alone, where a fit was caught.

A nonlinear equation has many solutions, and a network that was just drawn is near none of them. On its
way it may settle where the equation holds nearly everywhere and the readings are missed: a pendulum that
rests for a swing. No step leads out of there, though the readings themselves would be easy to follow.

So a fit is looked at after a share of its budget. Where it does not predict readings that were held out,
the same network is fitted to the readings and conditions alone, which takes a moment: few rows, and none
with derivatives. Where that predicts them better, and by more than chance explains, the fit begins again
from there, with the equation. Else it goes on as if nothing had been: noise, few readings and fields that
are hidden leave the equation the better guide.

With all its weight at once, an equation that the readings alone know nothing of would tear the field away
from them again: hidden fields are anything yet. So it comes in softly, and becomes stiffer in stages.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp

from pgt.ground.stage import Stage
from pgt.training.chance import is_less
from pgt.training.checkpoint import States
from pgt.training.descent import (
    Judge,
    Report,
    State,
    descend,
    is_spent,
    opened,
    stage_of,
    why_ended,
)
from pgt.training.least_squares import Search
from pgt.training.settings import Polish

LOOKS = (0.2, 0.3, 0.4)  # of the budget: then a fit is looked at, once it has come so far
SEEN = 40  # iterations; what is compiled may take most of the first share
LATE = 0.5  # of the budget: with less left, nothing is begun again
FEWEST = 100  # iterations of a budget
ITERATIONS, PATIENCE = 100, 30  # on the readings alone
ALONE = 0.1  # of the seconds
CAUGHT = 0.1  # of the spread: what a fit that was caught misses at least
# Weights of the equation on its way back; iterations with each of them, and shares of the budget.
RAMP = (0.01, 0.03, 0.1, 0.3)
RAMPED, RAMPED_SHARE = 80, 0.08
GAUSS_NEWTON = "Gauss-Newton"  # on readings and equation


class HeldOut(NamedTuple):
    """Readings that are not fitted: θ ↦ their error, how many they are, an error that is small, whether
    what a fit misses is noise, and whether it will have to give way to another network."""

    judge: Judge
    count: int
    small: float
    is_noise: Callable[[State], bool] = lambda state: False
    gives_way: Callable[[State], bool] = lambda state: False

    def tell_to_go_on(self, state: State) -> bool:
        """Whether nothing is to be gained by another beginning."""
        if state.best_error <= self.small or self.is_noise(state):
            return True
        return state.best_error < CAUGHT and self.gives_way(state)


def begun(
    search: Search,
    start: State,
    settings: Polish,
    held_out: HeldOut,
    report: Report,
    states: States,
) -> tuple[State, list[Stage]]:
    """Where to go on from after a share of the budget, and the stages before a restart."""
    if not search.points.has_equation or not held_out.count or settings.iterations < FEWEST:
        return start, []
    first = _first(search, start, settings, held_out, report, states)
    going_on = opened(first, settings)
    is_late = first.iteration < SEEN or is_spent(first, settings, LATE)
    if is_late or held_out.tell_to_go_on(first):
        return going_on, []

    def standing(_, cost):
        report(first.iteration, cost)

    alone = _alone(search, start, settings, held_out.judge, standing, states)
    spent = first.seconds + alone.seconds
    if not is_less(alone.best_error, first.best_error, held_out.count):
        return replace(going_on, seconds=spent), []
    ramped = _stiffer_and_stiffer(search, alone, settings, standing, states)
    spent += sum(state.seconds for state, _ in ramped)
    # Where the clock allows no further step, this is what there is.
    last = ramped[-1][0].theta
    again = State(
        last, iteration=first.iteration, seconds=spent, first=first.first, best=last,
        best_error=held_out.judge(jnp.asarray(last)), best_iteration=first.iteration,
    )  # fmt: skip
    short = _short(settings)
    stages = [
        stage_of(GAUSS_NEWTON, first, "restart"),
        stage_of("readings alone", alone, why_ended(alone, short, held_out.judge)),
    ]
    return again, stages + [stage for _, stage in ramped]


def _first(
    search: Search,
    start: State,
    settings: Polish,
    held_out: HeldOut,
    report: Report,
    states: States,
) -> State:
    """After the first share of the budget at which there is something to be seen."""
    state, keep = states.get("first", start), partial(states.keep, "first")
    for share in LOOKS:
        state = opened(state, settings, share)
        state = descend(
            search, state, settings, held_out.judge, report, keep,
            share=share, is_enough=held_out.is_noise,
        )  # fmt: skip
        if state.iteration >= SEEN:
            break
    return state


def _alone(
    search: Search, start: State, settings: Polish, judge: Judge, report: Report, states: States
) -> State:
    """After a fit of the readings and conditions, which knows no equation."""
    state = states.get("alone", State(jnp.asarray(start.theta)))
    return descend(
        search.without_equation(), state, _short(settings), judge, report,
        partial(states.keep, "alone"),
    )  # fmt: skip


def _short(settings: Polish) -> Polish:
    """The budget of a fit of the readings alone."""
    seconds = None if settings.seconds is None else ALONE * settings.seconds
    return replace(settings, iterations=ITERATIONS, patience=PATIENCE, seconds=seconds, fresh=0.0)


def _stiffer_and_stiffer(
    search: Search, alone: State, settings: Polish, report: Report, states: States
) -> list[tuple[State, Stage]]:
    """The states after each stage in which the equation comes in, from the readings alone on."""
    seconds = None if settings.seconds is None else RAMPED_SHARE * settings.seconds
    iterations = min(RAMPED, round(2 * RAMPED_SHARE * settings.iterations))
    short = replace(settings, iterations=iterations, patience=RAMPED, seconds=seconds)
    theta, found = alone.theta if alone.best is None else alone.best, []
    for number, stiffness in enumerate(RAMP):
        name = f"ramp-{number}"
        state, keep = states.get(name, State(theta)), partial(states.keep, name)
        state = descend(search.stiffened(stiffness), state, short, None, report, keep)
        ended = why_ended(state, short, None)
        found.append((state, stage_of(f"equation weight {stiffness:g}", state, ended)))
        theta = state.theta
    return found
