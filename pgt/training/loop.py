"""The host's part of training: budget, early stop, recovery, checkpoints, progress."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from pgt.ground.stage import Stage
from pgt.ground.unknown import named_unknowns
from pgt.models.base import AbstractFieldModel
from pgt.nn import batched
from pgt.physics.pde import AbstractPDE
from pgt.training.assemble import Task
from pgt.training.checkpoint import load_checkpoint, save_checkpoint
from pgt.training.coefficients import Learnt
from pgt.training.ensemble import Program, accept, choose, each, together, with_floors
from pgt.training.history import History, Logbook
from pgt.training.identity import identity_of
from pgt.training.progress import ProgressBar
from pgt.training.settings import Training
from pgt.training.step import Clock, State, Tally, join, start

MINIMUM_HELD_OUT = 5  # fewer readings say too little about the noise
SMALLEST_RATE = 1e-3  # ten failures
SPENT, NO_LONGER_FALLING = "budget spent", "held-out error stopped falling"
SOLVED = "solved in closed form"
ON_MESH = "solved on a mesh"
UNSETTLED = "a coefficient had not come to rest"
DIVERGED = "diverged: the loss stayed non-finite at a thousandth of the learning rate"


@dataclass(frozen=True)
class Fit:
    """A finished training: the model, the equation with its coefficients, and how it went."""

    model: AbstractFieldModel
    pde: AbstractPDE
    noise_floor: float
    history: History = field(default_factory=History)
    seconds: float = 0.0
    first_step_seconds: float = 0.0
    stopped: str = ""
    stages: tuple[Stage, ...] = ()  # of the polish
    polish_seconds: float = 0.0
    learnt: Mapping[str, Learnt] = field(default_factory=dict)  # where it is known


def train(task: Task, *, checkpoint: Path | None, progress: ProgressBar) -> list[Fit]:
    """Fit every network of the task, and the unknown coefficients with it, all at once.

    A network whose loss turns non-finite loses the steps of that run and half its rate, alone.
    """
    training, held_out, seeds = task.training, task.held_out, task.seeds
    if training.steps == 0:
        batched.stack(task.networks)  # which are alike, or refused before they are fitted
        return [_untrained(model, task) for model in task.networks]
    step, problems = training.of_a_step(), task.problems
    starts = [
        start(model, task.pde, problem, step, task.noise or 0.0)
        for model, problem in zip(task.networks, problems, strict=True)
    ]
    fixed = [part for _, part in starts]
    program = Program.of(fixed, problems, task.held_outs, seeds, step)
    state = together([state for state, _ in starts])
    unknowns = [name for name, _ in named_unknowns(task.pde)]
    best, logbook = state.trained, Logbook.empty(len(seeds), task.problem.term_names(), unknowns)
    identity = {}
    if checkpoint is not None:
        identity = identity_of(task)
        content = load_checkpoint(checkpoint, identity, (state, best, logbook.plain()))
        state, best, logbook = *content[:2], Logbook.from_plain(content[2])
    began = time.monotonic() - logbook.seconds
    while not logbook.stopped:
        clock, count = _next_run(logbook, state, training)
        following, tally = program.run(state, clock, count)
        state = accept(state, following, tally.finite)
        logbook.seconds = time.monotonic() - began
        logbook.first_step_seconds = logbook.first_step_seconds or logbook.seconds
        share = _share_spent(logbook, state, training)
        improved = _write_down(logbook, state, tally, share, len(held_out))
        best = choose(improved, state.trained, best)
        if _estimates_noise(task):
            state = with_floors(state, [history.noise for history in logbook.histories])
        logbook.stopped = why_to_stop(logbook, np.atleast_1d(state.rate), training, share)
        progress.update("train", share, {n: float(np.median(v)) for n, v in tally.losses.items()})
        if checkpoint is not None:
            save_checkpoint(checkpoint, identity, (state, best, logbook.plain()))
    trained = best if logbook.stopped == NO_LONGER_FALLING else state.trained
    if _estimates_noise(task):  # all of the error may be noise, now that nothing more is learnt
        state = with_floors(state, [history.best for history in logbook.histories])
    return _fits(trained, fixed, state, logbook)


def _untrained(model: AbstractFieldModel, task: Task) -> Fit:
    """A network as it was drawn, for a polish that starts there."""
    unknowns = [name for name, _ in named_unknowns(task.pde)]
    history = History.empty(task.problem.term_names(), unknowns)
    return Fit(model, task.pde, task.noise or 0.0, history, stopped=SPENT)


def _next_run(logbook: Logbook, state: State, training: Training):
    """The first run is one step, so that the user sees the compiler finish."""
    done = int(state.step)
    count = training.check_every - done % training.check_every if done else 1
    if training.seconds is None:
        steps = training.steps or 1
        count = min(count, steps - done)
        clock = (0.0, 1 / steps)
    else:
        running = max(logbook.seconds - logbook.first_step_seconds, 1e-9)
        rate = running / max(done - 1, 1) if done > 1 else 0.0
        left = training.seconds - logbook.seconds
        count = min(count, max(1, int(left / rate))) if rate else count
        clock = ((logbook.seconds - done * rate) / training.seconds, rate / training.seconds)
    return Clock(*(jnp.asarray(c, jnp.float32) for c in clock)), jnp.asarray(count, jnp.int32)


def _share_spent(logbook: Logbook, state: State, training: Training) -> float:
    if training.seconds is None:
        return int(state.step) / (training.steps or 1)
    return logbook.seconds / training.seconds


def _write_down(
    logbook: Logbook, state: State, tally: Tally, share: float, held_out: int
) -> Bool[np.ndarray, " k"]:
    """Add to the history of the networks that went on; which of them are better than ever."""
    equations = each(jax.device_get(state.trained[1]), len(logbook.histories))
    improved = np.zeros(len(equations), bool)
    for k in np.flatnonzero(tally.finite).tolist():
        own = batched.member(tally, k)
        error = own.held_out if held_out else nan
        coefficients = {name: unknown.value for name, unknown in named_unknowns(equations[k])}
        improved[k] = logbook.histories[k].add(
            int(state.step), error, own.losses, own.weights, coefficients
        )
        if improved[k]:
            logbook.best_shares[k] = share
    return improved


def _estimates_noise(task: Task) -> bool:
    """Readings can be memorised, held-out ones cannot: their error bounds the noise from above."""
    return task.noise is None and len(task.held_out) >= MINIMUM_HELD_OUT


def why_to_stop(logbook: Logbook, rates: np.ndarray, training: Training, share: float) -> str:
    """Why training is over; empty while it is not."""
    going = [k for k, rate in enumerate(rates) if rate >= SMALLEST_RATE]
    if not going:
        return DIVERGED
    if share >= 1:
        return SPENT
    over = all(
        isfinite(logbook.histories[k].best) and share - logbook.best_shares[k] > training.patience
        for k in going
    )
    return NO_LONGER_FALLING if over else ""


def _fits(trained, fixed: list, state: State, logbook: Logbook) -> list[Fit]:
    """Every network as a finished training of its own."""
    floors, rates = np.atleast_1d(state.noise_floor), np.atleast_1d(state.rate)
    fits = []
    for k, part in enumerate(each(trained, len(fixed))):
        model, pde, _ = join(part, fixed[k])
        stopped = DIVERGED if rates[k] < SMALLEST_RATE else logbook.stopped
        spent = logbook.seconds, logbook.first_step_seconds
        fits.append(Fit(model, pde, float(floors[k]), logbook.histories[k], *spent, stopped))
    return fits
