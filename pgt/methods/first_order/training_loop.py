"""The training loop on the host: budget, early stopping, recovery, checkpoints, progress.

The loop calls a compiled program of many steps (training_step.py). After each run of steps it records the
losses and the held-out error of every network, and decides whether the training continues.
"""

import time
from collections.abc import Generator
from math import isfinite, nan
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from pgt.core.devices import on_every_device, on_this_host, rows_of_hosts
from pgt.core.progress import ProgressBar
from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.methods.finished_fit import BUDGET_SPENT, DIVERGED, HELD_OUT_ERROR_STALLED, Fit
from pgt.methods.first_order.training_step import (
    BudgetClock,
    RunSummary,
    TrainingProgram,
    TrainingState,
    accept_finite,
    initialize,
    join,
    select,
    stack_states,
    unstack,
    with_noise_floors,
)
from pgt.methods.history import History, Logbook
from pgt.models.field_model import AbstractFieldModel
from pgt.nn import batched
from pgt.problem.assembly import Task
from pgt.problem.checkpoint import identity_of, load_checkpoint, save_checkpoint
from pgt.training.settings import Training

# The smallest number of held-out readings whose error is an estimate of the noise.
MIN_HELD_OUT_READINGS = 5
# A network whose learning rate falls below this share, after ten halvings, has diverged.
MIN_RATE = 1e-3


def train(task: Task, *, checkpoint: Path | None, progress: ProgressBar) -> list[Fit]:
    """One fit for every network of the task, with its unknown coefficients, all trained at once.

    A network whose loss turns non-finite loses the steps of that run and half of its learning rate. The
    others are not affected.
    """
    training, held_out, seeds = task.training, task.held_out, task.seeds
    if training.steps == 0:
        batched.stack(task.networks)  # raises unless all networks have the same structure
        return [_untrained(model, task) for model in task.networks]
    step, problems = training.of_a_step(), task.problems
    starts = [
        initialize(model, task.pde, problem, step, task.noise or 0.0)
        for model, problem in zip(task.networks, problems, strict=True)
    ]
    fixed = [part for _, part in starts]
    program = TrainingProgram.of(fixed, problems, task.held_outs, seeds, step)
    sharding = task.problem.sharding
    state = on_every_device(stack_states([state for state, _ in starts]), sharding)
    unknowns = [name for name, _ in named_unknowns(task.pde)]
    best, logbook = state.trained, Logbook.empty(len(seeds), task.problem.term_names(), unknowns)
    identity = {}
    if checkpoint is not None:
        identity = identity_of(task)
        content = load_checkpoint(checkpoint, identity, (state, best, logbook.plain()))
        state, best, logbook = *content[:2], Logbook.from_plain(content[2])
    began = time.monotonic() - logbook.seconds
    pools = _pools(task, int(state.step))
    while not logbook.stopped:
        clock, count = _next_run(logbook, state, training)
        if pools is not None:
            program = program.with_pool(rows_of_hosts(next(pools), sharding))
        next_state, summary = program.run(state, clock, count)
        state = accept_finite(state, next_state, summary.finite)
        logbook.seconds = time.monotonic() - began
        logbook.first_step_seconds = logbook.first_step_seconds or logbook.seconds
        share = _share_spent(logbook, state, training)
        improved = _record(logbook, state, summary, share, len(held_out))
        best = select(improved, state.trained, best)
        if _estimates_noise(task):
            state = with_noise_floors(state, [history.noise for history in logbook.histories])
        logbook.stopped = stopping_reason(logbook, np.atleast_1d(state.rate), training, share)
        progress.update("train", share, {n: float(np.median(v)) for n, v in summary.losses.items()})
        if checkpoint is not None:
            save_checkpoint(checkpoint, identity, (state, best, logbook.plain()))
    if pools is not None:
        pools.close()
    best, state = (on_this_host(part, sharding) for part in (best, state))
    trained = best if logbook.stopped == HELD_OUT_ERROR_STALLED else state.trained
    if _estimates_noise(task):  # training has ended, so all of the error may be noise
        state = with_noise_floors(state, [history.best for history in logbook.histories])
    return _fits(trained, fixed, state, logbook)


def _pools(task: Task, steps_done: int) -> Generator[Observations] | None:
    """Shuffled readings for the batches of each run of steps; None where all readings are in memory."""
    if task.stream is None:
        return None
    hosts, sharding = jax.process_count(), task.problem.sharding
    devices = 1 if sharding is None else sharding.mesh.size
    size = min(task.training.batch * task.training.check_every, len(task.stream)) // hosts
    size = max(size // devices, 1) * devices
    seed = task.seeds[0] + hosts * steps_done + jax.process_index()
    return task.stream.of_this_host().shuffled(size, seed)


def _untrained(model: AbstractFieldModel, task: Task) -> Fit:
    """The fit of an untrained network, which second-order steps start from."""
    unknowns = [name for name, _ in named_unknowns(task.pde)]
    history = History.empty(task.problem.term_names(), unknowns)
    return Fit(model, task.pde, task.noise or 0.0, history, stopped=BUDGET_SPENT)


def _next_run(logbook: Logbook, state: TrainingState, training: Training):
    """(clock, number of steps) of the next run.

    The first run is a single step, so that progress is shown as soon as compilation ends.
    """
    steps_done = int(state.step)
    count = training.check_every - steps_done % training.check_every if steps_done else 1
    if training.seconds is None:
        steps = training.steps or 1
        count = min(count, steps - steps_done)
        clock = (0.0, 1 / steps)
    else:
        seconds = max(logbook.seconds - logbook.first_step_seconds, 1e-9)
        rate = seconds / max(steps_done - 1, 1) if steps_done > 1 else 0.0
        seconds_left = training.seconds - logbook.seconds
        count = min(count, max(1, int(seconds_left / rate))) if rate else count
        clock = ((logbook.seconds - steps_done * rate) / training.seconds, rate / training.seconds)
    return BudgetClock(*(jnp.asarray(c, jnp.float32) for c in clock)), jnp.asarray(count, jnp.int32)


def _share_spent(logbook: Logbook, state: TrainingState, training: Training) -> float:
    if training.seconds is None:
        return int(state.step) / (training.steps or 1)
    return logbook.seconds / training.seconds


def _record(
    logbook: Logbook, state: TrainingState, summary: RunSummary, share: float, held_out: int
) -> Bool[np.ndarray, " k"]:
    """Whether each network has its smallest held-out error so far.

    An entry is added to the history of every network whose steps were finite.
    """
    equations = unstack(jax.device_get(state.trained[1]), len(logbook.histories))
    improved = np.zeros(len(equations), bool)
    for k in np.flatnonzero(summary.finite).tolist():
        summary_of_network = batched.member(summary, k)
        error = summary_of_network.held_out if held_out else nan
        coefficients = {name: unknown.value for name, unknown in named_unknowns(equations[k])}
        improved[k] = logbook.histories[k].add(
            int(state.step),
            error,
            summary_of_network.losses,
            summary_of_network.weights,
            coefficients,
        )
        if improved[k]:
            logbook.best_shares[k] = share
    return improved


def _estimates_noise(task: Task) -> bool:
    """Whether the noise floor follows the held-out error, which is an upper bound of the noise."""
    return task.noise is None and len(task.held_out) >= MIN_HELD_OUT_READINGS


def stopping_reason(logbook: Logbook, rates: np.ndarray, training: Training, share: float) -> str:
    """Why training ends here; empty if it continues."""
    running = [k for k, rate in enumerate(rates) if rate >= MIN_RATE]
    if not running:
        return DIVERGED
    if share >= 1:
        return BUDGET_SPENT
    is_stalled = all(
        isfinite(logbook.histories[k].best) and share - logbook.best_shares[k] > training.patience
        for k in running
    )
    return HELD_OUT_ERROR_STALLED if is_stalled else ""


def _fits(trained, fixed: list, state: TrainingState, logbook: Logbook) -> list[Fit]:
    """The finished fit of every network."""
    floors, rates = np.atleast_1d(state.noise_floor), np.atleast_1d(state.rate)
    fits = []
    for k, part in enumerate(unstack(trained, len(fixed))):
        model, pde, _ = join(part, fixed[k])
        stopped = DIVERGED if rates[k] < MIN_RATE else logbook.stopped
        times = logbook.seconds, logbook.first_step_seconds
        fits.append(Fit(model, pde, float(floors[k]), logbook.histories[k], *times, stopped))
    return fits
