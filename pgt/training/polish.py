"""The finish: Gauss–Newton in float64 on all weights, or on the decoder alone.

First-order optimisers stop where the loss is about 1e-6; a smooth field has many more digits to give.
The rows of the loss (rows.py) depend on the numbers θ; their derivative (jacobian.py) gives a damped
step (least_squares.py), and many steps make a descent (descent.py). Which of JᵀJ and JJᵀ is solved, and
whether J is ever whole, follows from the sizes: the same engine serves a thousand weights and a million.

Noisy readings are fitted under a prior on θ (evidence.py), at last with a stiff equation; posterior.py
then says how far θ may lie from the fit.
"""

import itertools
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pgt.data.observations import Observations
from pgt.ground.unknown import named_unknowns
from pgt.models.base import AbstractFieldModel
from pgt.nn.frozen import count_parameters
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
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
)
from pgt.training.least_squares import GIGABYTE, Prior, Search, revised
from pgt.training.likelihood import misfit_size
from pgt.training.losses import Problem, reading_rows
from pgt.training.overtaxed import is_overtaxed
from pgt.training.restart import HeldOut, begun
from pgt.training.rows import Tuned, reading_mask, rows_of, tuned
from pgt.training.settings import Polish, Training

# Weights that a least-squares polish can take in seconds.
POLISHABLE, POLISHABLE_ON_GPU = 4000, 10_000
NOISY = 0.01  # held-out readings missed by more of their spread than this are taken to be noisy
GUESS = 0.1  # of the noise, where it is unknown: too weak a prior at first, and noise is memorised
STIFF = 10.0  # the weight of the equation at last, where readings are noisy; more is hard to fit
STIFF_SHARE = 1 / 3  # of the iterations under a prior
PLAIN_SHARE = 0.6  # of the budget, then readings that cannot be predicted are taken to be noisy
GIVING_WAY = (0.2, 0.3, 0.45)  # of the budget: then a fit that goes nowhere may give way
UNFITTED = 0.5  # of the spread: a fit that misses readings by so much has not come far yet
MOST_UNDER_PRIOR = 120  # iterations: the fit before it is close
ROUNDS = 5  # of the evidence at one θ: its fixed point to a percent
# Error bars come after it: what they compile takes as long as the first iteration, and they factor once
# what has four times the rows of a step.
AFTER, AFTER_STEPS = 1.0, 25
A_MOMENT = 1e-3  # seconds: one iteration and no more
HOST_MEMORY = 2.0  # gigabytes
GPU_SHARE = 0.2  # of its memory: the compiler tries out every product on copies of its own


def polish_settings(model: AbstractFieldModel, training: Training) -> Polish | Literal[False]:
    """How the fit is polished: as asked for, else where the decoder is small enough."""
    if training.polish is not None:
        return training.polish
    return Polish() if is_small(model) else False


def is_small(model: AbstractFieldModel) -> bool:
    """Whether second-order steps on what is tuned of it, and the posterior after them, take seconds."""
    most = POLISHABLE if on_host() else POLISHABLE_ON_GPU
    return count_parameters(model.tunable()) <= most


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
) -> tuple[AbstractFieldModel, AbstractPDE, list[list[float]]]:
    """The model and equation after the polish (float64), and the cost after each iteration: a list for
    each stage, since each has an objective of its own.

    `noise` is σ of the readings in units of their spread, where it is known. Readings that are noisy,
    by `noise` or because held-out ones cannot be predicted, are fitted once more under a prior. Where
    it `gives_way`, and the model cannot follow them, the rest of the budget is left to another.
    `states` remembers how far it came.
    """
    deadline = Deadline(settings.seconds)
    with jax.enable_x64(True):
        numbers, search, judge = system(model, pde, problem, settings, held_out)
        states, settings = states or States(), _with_freshness(model, settings)
        theta, stages, left, damping = numbers.theta, [], settings, START

        def is_hopeless(theta: Vector) -> bool:
            known = gives_way and judge(jnp.asarray(theta)) > NOISY
            return known and is_overtaxed(numbers.rebuild(jnp.asarray(theta))[0], problem)

        if settings.evidence is not True:
            start, stages = State(theta), []
            if is_whole(model, settings):  # nothing was trained before
                asked = HeldOut(judge, int(np.asarray(held_out.mask).sum()), NOISY)
                start, stages = begun(search, start, settings, asked, report, states)
            known = judge, noise, is_hopeless, GIVING_WAY if gives_way else ()
            end = _fit_plain(search, start, settings, known, report, states)
            theta, stages = jnp.asarray(end.best), [*stages, list(end.costs)]
            damping = min(end.damping, START)
            left = _left(settings, end, deadline)
        if _is_noisy(settings, noise, judge(theta)) and not is_hopeless(theta):
            prior = prior_of(problem.observations, pde, noise)
            done = settings.iterations - left.iterations

            def continued(iteration, cost):
                report(done + iteration, cost)

            start, left = State(theta, prior, damping=damping), replace(left, fresh=0.0)
            theta, more = _fit_noisy(search, start, left, continued, states)
            stages += more
        return *numbers.rebuild(theta), stages


def _fit_plain(
    search: Search, start: State, settings: Polish, known, report: Report, states: States
):
    """The fit without a prior; where readings turn out to be noisy, no more than its share of it."""
    judge, noise, is_hopeless, _ = known
    # A start with steps behind it (restart.py) is past the first moment at which it would be asked.
    if states.get("plain", None) is None and goes_nowhere(start) and is_hopeless(start.best):
        return start
    start, keep = states.get("plain", start), partial(states.keep, "plain")
    start, is_last = _unless_hopeless(search, start, settings, known, report, keep)
    if is_last:
        return start
    # A stored state that is past its share without being over: the readings were not noisy then.
    beyond = is_spent(start, settings, PLAIN_SHARE) and not start.over
    if settings.evidence is not False and not beyond:
        end = descend(search, start, settings, judge, report, keep, share=PLAIN_SHARE)
        error = judge(jnp.asarray(end.best))
        unfitted = noise is None and error > UNFITTED
        if is_over(end, settings) or (_is_noisy(settings, noise, error) and not unfitted):
            return end
        if unfitted and is_hopeless(end.best):
            return end
        if settings.seconds is not None:
            settings = replace(settings, seconds=max(settings.seconds - _after(end), A_MOMENT))
        start = replace(end, over=is_spent(end, settings))
    return descend(search, start, settings, judge, report, keep)


def _unless_hopeless(search: Search, start: State, settings: Polish, known, report: Report, keep):
    """The state after the last of the moments at which a fit that goes nowhere is asked whether its model
    can follow the readings, and whether it ends there."""
    judge, _, is_hopeless, moments = known
    for share, following in itertools.pairwise((*moments, PLAIN_SHARE)):
        # A stored state that is past the moment was asked already.
        is_past = is_spent(start, settings, share) and not start.over
        if is_past or is_spent(start, settings, following):
            continue
        end = descend(search, start, settings, judge, report, keep, share=share)
        if is_over(end, settings) or (goes_nowhere(end) and is_hopeless(end.best)):
            return end, True
        start = replace(end, over=is_spent(end, settings))
    return start, False


def _fit_noisy(search: Search, start: State, settings: Polish, report: Report, states: States):
    """The fit under a prior, at last with a stiff equation.

    The equation is exact, the readings are not: with one weight for both, the field bends away from
    the equation after the noise, and a coefficient is known less well than the readings tell. At
    once stiff, the way to the fit would be a long and narrow valley.
    """
    settings = replace(settings, iterations=min(settings.iterations, MOST_UNDER_PRIOR))
    first, last = _shared(settings, 1 - STIFF_SHARE), _shared(settings, STIFF_SHARE)
    deadline, start = Deadline(settings.seconds), states.get("prior", start)
    keep = partial(states.keep, "prior")
    end = descend(search, start, first, None, report, keep, is_revised=True)
    theta, done = jnp.asarray(end.theta), end.iteration
    stiff = search.stiffened(max(STIFF / settings.equation_weight, 1.0)).refreshed(theta)
    start = states.get("stiff", None)
    if start is None:
        prior, _ = revised(end.prior, stiff.normal_at(theta), rounds=ROUNDS)
        start = State(end.theta, prior, damping=min(end.damping, START))

    def continued(iteration, cost):
        report(done + iteration, cost)

    if settings.seconds is not None:
        left = settings.seconds - max(deadline.spent, end.seconds)
        last = replace(last, seconds=max(left, A_MOMENT))
    keep = partial(states.keep, "stiff")
    more = descend(stiff, start, last, None, continued, keep, is_revised=True)
    return jnp.asarray(more.theta), [list(end.costs), list(more.costs)]


def _with_freshness(model: AbstractFieldModel, settings: Polish) -> Polish:
    """With a word on fresh points, where the user said none.

    All weights together can fulfil the equation at fixed points and not between them.
    """
    if settings.fresh is not None:
        return settings
    return replace(settings, fresh=1.0 if is_whole(model, settings) else 0.0)


def _shared(settings: Polish, share: float) -> Polish:
    """A share of the budget."""
    seconds = None if settings.seconds is None else share * settings.seconds
    iterations = max(round(share * settings.iterations), 1)
    return replace(settings, iterations=iterations, seconds=seconds)


class System(NamedTuple):
    """θ and the ways back from it, the rows to search with, and the judge."""

    numbers: Tuned
    search: Search
    judge: Judge


def system(model, pde, problem: Problem, settings: Polish, held_out: Observations) -> System:
    """What is to be solved, in float64."""
    model, pde, problem, held_out = cast((model, pde, problem, held_out), jnp.float64)
    numbers = tuned(model, pde, problem.observations, whole=is_whole(model, settings))
    rows = rows_of(model, pde, problem, numbers, settings)
    mask = reading_mask(problem.observations)
    search = Search(rows, problem.likelihood, mask, memory_of(settings))
    return System(numbers, search, _judge(numbers, held_out, problem))


def is_whole(model: AbstractFieldModel, settings: Polish) -> bool:
    """Whether all weights are tuned."""
    if settings.weights is not None:
        return settings.weights == "all"
    return count_parameters(model.tunable()) == count_parameters(model)


def memory_of(settings: Polish) -> float:
    """Bytes that the derivatives of the rows may take."""
    if settings.memory is not None:
        return settings.memory * GIGABYTE
    if on_host():
        return HOST_MEMORY * GIGABYTE
    limits = jax.devices()[0].memory_stats() or {}
    return limits.get("bytes_limit", HOST_MEMORY * GIGABYTE / GPU_SHARE) * GPU_SHARE


def prior_of(readings: Observations, pde: AbstractPDE, noise: float | None) -> Prior:
    """At first as if the weights were of order one."""
    mask = reading_mask(readings)
    measured, free = float(mask.sum()), len(named_unknowns(pde))
    return Prior((noise or GUESS) ** 2 / measured, mask.size, measured, noise or 0.0, free)


def _left(settings: Polish, end: State, deadline: Deadline) -> Polish:
    """What a descent left of the budget, less the seconds that error bars will need."""
    iterations = max(settings.iterations - end.iteration, 1)
    if settings.seconds is None:
        return replace(settings, iterations=iterations)
    # A run that was killed and goes on has spent more than this clock knows.
    spent = max(deadline.spent, end.seconds) + _after(end)
    return replace(settings, iterations=iterations, seconds=max(settings.seconds - spent, A_MOMENT))


def _after(end: State) -> float:
    """Seconds that error bars will need, by those of the steps before them."""
    each = (end.seconds - end.first) / max(end.iteration - 1, 1)
    return AFTER * end.first + AFTER_STEPS * each


def _is_noisy(settings: Polish, noise: float | None, held_out_error: float) -> bool:
    if settings.evidence is not None:
        return settings.evidence
    return noise is not None or held_out_error > NOISY


def _judge(numbers: Tuned, held_out: Observations, problem: Problem) -> Judge:
    """θ ↦ root-mean-square misfit of the readings that are not fitted; 0 where there are none."""
    if not len(held_out):
        return lambda theta: 0.0

    @jax.jit
    def error(theta):
        model, _, context = numbers.seen(theta)
        field = partial(model.decode, context)
        rows = reading_rows(field, held_out, model.scaling, problem.averaged)
        return misfit_size(problem.likelihood, rows, held_out.mask)

    return lambda theta: float(error(theta))
