"""The host's part of training: budget, early stop, recovery, checkpoints, progress."""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp

from pgt.data.observations import Observations
from pgt.ground.unknown import is_unknown
from pgt.models.base import AbstractFieldModel
from pgt.physics.pde import AbstractPDE
from pgt.training.checkpoint import fingerprint, load_checkpoint, save_checkpoint
from pgt.training.losses import Problem
from pgt.training.progress import ProgressBar
from pgt.training.settings import Training
from pgt.training.step import Clock, Report, State, join, run_steps, start

MINIMUM_HELD_OUT = 5  # fewer readings say too little about the noise
SMALLEST_RATE = 1e-3  # ten failures
SPENT, NO_LONGER_FALLING = "budget spent", "held-out error stopped falling"
DIVERGED = "diverged: the loss stayed non-finite at a thousandth of the learning rate"


@dataclass
class Record:
    """What the loop remembers between runs of steps."""

    rows: list[dict[str, float]] = field(default_factory=list)
    best: float = float("inf")
    best_step: int = 0
    best_share: float = 0.0
    seconds: float = 0.0
    first_step_seconds: float = 0.0
    stopped: str = ""


@dataclass(frozen=True)
class Fit:
    """A finished training: the model, the equation with its coefficients, and how it went."""

    model: AbstractFieldModel
    pde: AbstractPDE
    noise_floor: float
    record: Record
    polish_costs: tuple[float, ...] = ()
    polish_seconds: float = 0.0


def train(
    model,
    pde,
    problem: Problem,
    held_out: Observations,
    training: Training,
    *,
    seed: int,
    noise: float | None,
    checkpoint: Path | None,
    progress: ProgressBar,
) -> Fit:
    """Fit the model and the unknown coefficients. `noise` is σ of the readings where it is known."""
    step = training.of_a_step()
    state, fixed = start(model, pde, problem, step, noise or 0.0)
    best, record, key = state.trained, Record(), jax.random.key(seed)
    identity = identity_of(pde, problem, held_out, training, seed)
    if checkpoint is not None:
        state, best, saved = load_checkpoint(checkpoint, identity, (state, best, asdict(record)))
        record = Record(**saved)
    began = time.monotonic() - record.seconds
    while not record.stopped:
        clock, count = next_run(record, state, training)
        following, report = run_steps(state, fixed, problem, held_out, key, clock, count, step)
        if not bool(report.finite):
            state = _recover(state, record)
            continue
        state = following
        take_stock(record, int(state.step), report, join(state.trained, fixed)[1], len(held_out))
        if estimates_noise(noise, len(held_out)):
            floor = jnp.asarray(record.best, state.noise_floor.dtype)
            state = eqx.tree_at(lambda s: s.noise_floor, state, floor)
        record.seconds = time.monotonic() - began
        record.first_step_seconds = record.first_step_seconds or record.seconds
        share = share_spent(record, state, training)
        if record.best_step == int(state.step):
            best, record.best_share = state.trained, share
        _decide(record, training, share)
        progress.update("train", share, {n: float(v) for n, v in report.losses.items()})
        if checkpoint is not None:
            save_checkpoint(checkpoint, identity, (state, best, asdict(record)))
    trained = best if record.stopped == NO_LONGER_FALLING else state.trained
    model, pde, _ = join(trained, fixed)
    return Fit(model, pde, float(state.noise_floor), record)


def identity_of(pde, problem: Problem, held_out, training: Training, seed: int) -> dict:
    """What a checkpoint must agree with to be continued."""
    described = (problem.domain, pde, problem.conditions)
    return {
        "seed": seed,
        "training": training.describe(),
        "problem": fingerprint(described, (problem.observations, held_out)),
    }


def next_run(record: Record, state: State, training: Training):
    """The first run is one step, so that the user sees the compiler finish."""
    done = int(state.step)
    count = training.check_every - done % training.check_every if done else 1
    if training.seconds is None:
        count = min(count, training.steps - done)
        clock = (0.0, 1 / training.steps)
    else:
        running = max(record.seconds - record.first_step_seconds, 1e-9)
        rate = running / max(done - 1, 1) if done > 1 else 0.0
        left = training.seconds - record.seconds
        count = min(count, max(1, int(left / rate))) if rate else count
        clock = ((record.seconds - done * rate) / training.seconds, rate / training.seconds)
    return Clock(*(jnp.asarray(c, jnp.float32) for c in clock)), jnp.asarray(count, jnp.int32)


def share_spent(record: Record, state: State, training: Training) -> float:
    if training.seconds is None:
        return int(state.step) / training.steps
    return record.seconds / training.seconds


def take_stock(record: Record, step: int, report: Report, pde: AbstractPDE, held_out: int):
    """Write the history."""
    error = float(report.held_out)
    unknowns = [n for n in jax.tree.leaves(pde, is_leaf=is_unknown) if is_unknown(n)]
    record.rows.append(
        {"step": step, "held_out": error}
        | {name: float(v) for name, v in report.losses.items()}
        | {f"weight_{name}": float(v) for name, v in report.weights.items()}
        | {f"unknown_{k}": float(n.value) for k, n in enumerate(unknowns)}
    )
    if held_out and error < record.best:
        record.best, record.best_step = error, step


def estimates_noise(noise: float | None, held_out: int) -> bool:
    """Readings can be memorised, held-out ones cannot: their error bounds the noise from above."""
    return noise is None and held_out >= MINIMUM_HELD_OUT


def _decide(record: Record, training: Training, share: float):
    if share >= 1:
        record.stopped = SPENT
    elif record.best_step and share - record.best_share > training.patience:
        record.stopped = NO_LONGER_FALLING


def _recover(state: State, record: Record) -> State:
    """A loss turned non-finite: start again from the last good state with half the rate."""
    rate = state.rate / 2
    if float(rate) < SMALLEST_RATE:
        record.stopped = DIVERGED
    return eqx.tree_at(lambda s: s.rate, state, rate)
