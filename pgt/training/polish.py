"""The finish: Gauss–Newton in float64 on all weights, or on the decoder alone.

First-order optimisers stop where the loss is about 1e-6; a smooth field has many more digits to give.
The rows of the loss (rows.py) depend on the numbers θ; their derivative (jacobian.py) gives a damped
step (least_squares.py), and many steps make a descent (descent.py). Which of JᵀJ and JJᵀ is solved, and
whether J is ever whole, follows from the sizes: the same engine serves a thousand weights and a million.

Noisy readings are fitted under a prior on θ (evidence.py), at last with a stiff equation; posterior.py
then says how far θ may lie from the fit.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pgt.data.observations import Observations
from pgt.ground.stage import Ended, Stage
from pgt.models.base import AbstractFieldModel
from pgt.nn.frozen import count_parameters
from pgt.physics.pde import AbstractPDE
from pgt.training.chance import is_less
from pgt.training.checkpoint import States
from pgt.training.deadline import Deadline
from pgt.training.dense import Vector, on_host
from pgt.training.descent import (
    START,
    Judge,
    Report,
    State,
    descend,
    goes_nowhere,
    is_over,
    is_spent,
    opened,
    stage_of,
    why_ended,
)
from pgt.training.instruments import by_instrument
from pgt.training.least_squares import Search, revised
from pgt.training.losses import Problem
from pgt.training.overtaxed import is_overtaxed, misses_noise
from pgt.training.restart import GAUSS_NEWTON, HeldOut, begun
from pgt.training.rows import Tuned
from pgt.training.settings import Polish, Training
from pgt.training.shares import left_of, seconds_after, shared
from pgt.training.system import common_noise, is_whole, prior_of, system

# Weights that a least-squares polish can take in seconds.
POLISHABLE, POLISHABLE_ON_GPU = 4000, 10_000
NOISY = 0.01  # held-out readings missed by more of their spread than this are taken to be noisy
STIFF = 10.0  # the weight of the equation at last, where readings are noisy; more is hard to fit
STIFF_SHARE = 1 / 3  # of the iterations under a prior
PLAIN_SHARE = 0.6  # of the budget, then readings that cannot be predicted are taken to be noisy
# Of the budget: then a fit that goes nowhere is asked whether it misses noise, or is to give way.
MOMENTS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
# Of the spread: more noise than that is not taken for granted before the share of a plain fit ends.
SURELY = 0.2
FOLLOWED = 1.5  # of σ, where it is known: a fit that misses no more than that has come far enough
UNFITTED = 0.5  # of the spread: a fit that misses readings by so much has not come far yet
MOST_UNDER_PRIOR = 120  # iterations: the fit before it is close
# Of the budget with a stiff equation: fewer points make quick steps, and nothing is compiled for them.
FRESH_WHILE_STIFF = 0.4
ROUNDS = 5  # of the evidence at one θ: its fixed point to a percent
A_MOMENT = 1e-3  # seconds: one iteration and no more


def polish_settings(model: AbstractFieldModel, training: Training) -> Polish | Literal[False]:
    """How the fit is polished: as asked for, else where the decoder is small enough."""
    if training.polish is not None:
        return training.polish
    return Polish() if is_small(model) else False


def is_small(model: AbstractFieldModel) -> bool:
    """Whether second-order steps on what is tuned of it, and the posterior after them, take seconds."""
    most = POLISHABLE if on_host() else POLISHABLE_ON_GPU
    return count_parameters(model.tunable()) <= most


class Polished(NamedTuple):
    """What came of a polish: the model and equation (float64), and its stages."""

    model: AbstractFieldModel
    pde: AbstractPDE
    stages: list[Stage]


def polish(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    settings: Polish,
    held_out: Observations,
    report: Report = lambda iteration, cost: None,
    *,
    noise: float | None = None,
    states: States | None = None,
    gives_way: bool = False,
) -> Polished:
    """The model and equation after second-order steps.

    `noise` is σ of the readings in units of their spread, where it is known. Readings that are noisy,
    by `noise` or because held-out ones cannot be predicted, are fitted once more under a prior. Where
    it `gives_way`, and the model cannot follow them, the rest of the budget is left to another.
    `states` remembers how far it came.
    """
    deadline = Deadline(settings.seconds)
    with jax.enable_x64(True):
        numbers, search, judge = system(model, pde, problem, settings, held_out)
        states, settings = states or States(), _with_freshness(model, settings)
        count = int(np.asarray(held_out.mask).sum())
        known = Known(judge, count, noise, settings, problem, numbers, gives_way)
        standing = theta = numbers.theta
        stages, left, damping = [], settings, START
        if settings.evidence is not True:
            start = State(theta)
            if is_whole(model, settings):  # nothing was trained before
                asked = HeldOut(judge, count, NOISY, known.is_noise, known.gives_way)
                start, stages = begun(search, start, settings, asked, report, states)
            end = _fit_plain(search, start, settings, known, report, states)
            theta, damping = jnp.asarray(end.best), min(end.damping, START)
            left, standing = left_of(settings, end, deadline), known.standing(end)
        error = judge(standing)
        is_next_under_prior = _is_noisy(settings, noise, error) and not known.is_hopeless(theta)
        if settings.evidence is not True and end.costs:  # no time may be left after a restart
            name = f"{GAUSS_NEWTON} after restart" if stages else GAUSS_NEWTON
            stage = stage_of(name, end, known.why_ended(end, is_next_under_prior))
            before = 0.0 if start.costs else start.seconds
            stages = [*stages, replace(stage, seconds=stage.seconds - before)]
        if is_next_under_prior:
            common = common_noise(problem, model.scaling, noise)
            prior = prior_of(problem.observations, pde, common, error)
            start = State(standing, prior, damping=damping)
            counted = _counted_from(settings.iterations - left.iterations, report)
            under, more = _fit_noisy(search, start, left, counted, states, known.weighed)
            stages += more
            # A prior is fulfilled best where nothing happens; an equation may be fulfilled there, too.
            theta = standing if count and is_less(error, judge(under), count) else under
        fitted, equation = numbers.rebuild(theta)
        return Polished(fitted, equation, stages)


class Known(NamedTuple):
    """What tells whether to go on without a prior: the error at θ of readings held out, how many, σ where
    it is given, how the fit is polished, to what, which model a θ is, and whether another waits."""

    judge: Judge
    count: int
    noise: float | None
    settings: Polish
    problem: Problem
    numbers: Tuned
    has_successor: bool

    def is_enough(self, state: State) -> bool:
        """Whether the state is that of a fit which comes no further so."""
        return self.is_noise(state) or self.gives_way(state)

    def gives_way(self, state: State) -> bool:
        """Whether another network is to have the rest of the budget."""
        return goes_nowhere(state) and self.is_hopeless(state.best)

    def is_hopeless(self, theta: Vector | None) -> bool:
        """Whether the model cannot follow the readings at θ, and another may."""
        if not self.has_successor or theta is None:
            return False
        is_missed = self.judge(jnp.asarray(theta)) > NOISY
        return is_missed and is_overtaxed(self._model(theta), self.problem)

    def is_noise(self, state: State) -> bool:
        """Whether the fit is as far as noise lets it come."""
        error, noise = state.best_error, self.noise
        follows = error < FOLLOWED * noise if noise else error < SURELY and goes_nowhere(state)
        if state.best is None or error == 0 or not follows:
            return False
        is_noisy = _is_noisy(self.settings, noise, self.judge(self.standing(state)))
        return is_noisy and misses_noise(self._model(state.theta), self.problem)

    def standing(self, end: State) -> Vector:
        """Where a descent ended, or its best θ where that predicts better, by more than chance explains:
        of few noisy readings some early θ may predict most."""
        stands = jnp.asarray(end.theta)
        is_better = self.count > 0 and is_less(end.best_error, self.judge(stands), self.count)
        return jnp.asarray(end.best) if is_better else stands

    def why_ended(self, end: State, is_next_under_prior: bool) -> Ended:
        """Why a fit without a prior ended: of a share of its budget where something else came next."""
        ended = why_ended(end, self.settings, self.judge)
        if is_over(end, self.settings) or ended == "diverged":
            return ended
        if is_next_under_prior:
            return "noise"
        return "model" if self.is_hopeless(end.best) else ended

    def weighed(self, search: Search, theta: Vector) -> Search:
        """Every field counts by its own noise."""
        return by_instrument(search, theta, self._model(theta), self.problem, self.noise)[0]

    def _model(self, theta: Vector) -> AbstractFieldModel:
        return self.numbers.rebuild(jnp.asarray(theta))[0]


def _counted_from(done: int, report: Report) -> Report:
    """Iterations that follow others go on with their count."""
    return lambda iteration, cost: report(done + iteration, cost)


def _fit_plain(
    search: Search, start: State, settings: Polish, known: Known, report: Report, states: States
):
    """The fit without a prior; where readings turn out to be noisy, no more than its share of it."""
    judge, noise = known.judge, known.noise
    # A start with steps behind it (restart.py) is past the first moment at which it would be asked.
    if states.get("plain", None) is None and known.is_enough(start):
        return start
    start, keep = states.get("plain", start), partial(states.keep, "plain")
    start, is_last = _until_enough(search, start, settings, known, report, keep)
    if is_last:
        return start
    # A stored state that is past its share without being over: the readings were not noisy then.
    share = _plain_share(settings, start)
    beyond = is_spent(start, settings, share) and not start.over
    if settings.evidence is not False and not beyond:
        end = start
        if not start.over:
            end = descend(
                search, start, settings, judge, report, keep, share=share, is_enough=known.is_noise
            )
        error = judge(known.standing(end))
        if is_over(end, settings):
            return end
        unfitted = noise is None and error > UNFITTED
        is_last = known.is_hopeless(end.best) if unfitted else _is_noisy(settings, noise, error)
        if is_last:
            return end
        if settings.seconds is not None:
            seconds = settings.seconds - seconds_after(end, settings.seconds)
            settings = replace(settings, seconds=max(seconds, A_MOMENT))
        start = end
    return descend(search, opened(start, settings), settings, judge, report, keep)


def _until_enough(
    search: Search, start: State, settings: Polish, known: Known, report: Report, keep
):
    """The state after the last of the moments at which a fit is asked whether it comes further, and
    whether it ends there."""
    for share, following in itertools.pairwise((*MOMENTS, PLAIN_SHARE)):
        # A stored state that is past the moment was asked already.
        is_past = is_spent(start, settings, share) and not start.over
        if is_past or is_spent(start, settings, following):
            continue
        share = min(share, _plain_share(settings, start))
        end = descend(
            search, start, settings, known.judge, report, keep,
            share=share, is_enough=known.is_noise,
        )  # fmt: skip
        if is_over(end, settings) or known.is_enough(end):
            return end, True
        if is_spent(end, settings, _plain_share(settings, end)):
            return end, False
        start = opened(end, settings)
    return start, False


def _plain_share(settings: Polish, state: State) -> float:
    """The share of the budget that a fit without a prior may take of noisy readings: of the seconds, of
    those that error bars leave."""
    if settings.seconds is None or not state.first:
        return PLAIN_SHARE
    return PLAIN_SHARE * (1 - seconds_after(state, settings.seconds) / settings.seconds)


def _fit_noisy(
    search: Search,
    start: State,
    settings: Polish,
    report: Report,
    states: States,
    weighed: Callable[[Search, Vector], Search] = lambda search, theta: search,
):
    """The fit under a prior, at last with a stiff equation; `weighed` lets every field count by its own
    noise.

    The equation is exact, the readings are not: with one weight for both, the field bends away from
    the equation after the noise, and a coefficient is known less well than the readings tell. At
    once stiff, the way to the fit would be a long and narrow valley.
    """
    iterations = min(settings.iterations, MOST_UNDER_PRIOR)
    settings = replace(settings, iterations=iterations, fresh=1.0 if settings.fresh else 0.0)
    first, last = shared(settings, 1 - STIFF_SHARE), shared(settings, STIFF_SHARE)
    deadline, search = Deadline(settings.seconds), weighed(search, jnp.asarray(start.theta))
    start, keep = states.get("prior", start), partial(states.keep, "prior")
    end = descend(search, start, first, None, report, keep, is_revised=True)
    theta, done = jnp.asarray(end.theta), end.iteration
    search = weighed(search, theta)
    stiff = search.stiffened(max(STIFF / settings.equation_weight, 1.0)).refreshed(theta)
    here = stiff.anew(end.draw)  # the points for which all is compiled already
    start = states.get("stiff", None)
    if start is None:
        prior, _ = revised(end.prior, here.normal_at(theta), rounds=ROUNDS)
        start = State(end.theta, prior, damping=min(end.damping, START))

    if settings.seconds is not None:
        left = settings.seconds - max(deadline.spent, end.seconds)
        last = replace(last, seconds=max(left, A_MOMENT))
    last = replace(last, fresh=min(settings.fresh or 0.0, FRESH_WHILE_STIFF))
    keep = partial(states.keep, "stiff")
    counted = _counted_from(done, report)
    more = descend(stiff, start, last, None, counted, keep, is_revised=True)
    stages = [
        stage_of("under a prior", end, why_ended(end, first, None)),
        stage_of("stiffer equation", more, why_ended(more, last, None)),
    ]
    return jnp.asarray(more.theta), stages


def _with_freshness(model: AbstractFieldModel, settings: Polish) -> Polish:
    """With a word on fresh points, where the user said none.

    All weights together can fulfil the equation at fixed points and not between them.
    """
    if settings.fresh is not None:
        return settings
    return replace(settings, fresh=1.0 if is_whole(model, settings) else 0.0)


def _is_noisy(settings: Polish, noise: float | None, held_out_error: float) -> bool:
    if settings.evidence is not None:
        return settings.evidence
    return noise is not None or held_out_error > NOISY
