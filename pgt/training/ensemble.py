"""k members trained at once: one compiled program, mapped over what differs between them."""

import time
from collections.abc import Sequence
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, PyTree

from pgt.data.observations import Observations
from pgt.ground.types import Scalar
from pgt.models.base import AbstractFieldModel
from pgt.nn import batched
from pgt.physics.pde import AbstractPDE
from pgt.training.checkpoint import load_checkpoint, save_checkpoint
from pgt.training.course import Course
from pgt.training.likelihood import misfit_size
from pgt.training.loop import (
    NO_LONGER_FALLING,
    Fit,
    Record,
    estimates_noise,
    identity_of,
    next_run,
    share_spent,
)
from pgt.training.losses import Problem, reading_rows
from pgt.training.progress import ProgressBar
from pgt.training.settings import Training
from pgt.training.step import OPTIONS, Clock, Report, State, advance, start


def member_seeds(seed: int, count: int) -> list[int]:
    """A seed for each member. The first is `seed` itself; ensembles of different seeds share none.

    >>> seeds = member_seeds(0, 3)
    >>> seeds[0], len(set(seeds) | set(member_seeds(1, 3)))
    (0, 6)
    """
    others = np.random.SeedSequence(seed).generate_state(count - 1)
    return [seed, *(int(other) >> 1 for other in others)]  # 31 bits: a seed of JAX's without x64


def resampled(problem: Problem, seed: int) -> Problem:
    """The problem with as many readings, drawn from its own with replacement."""
    count = len(problem.observations)
    rows = np.random.default_rng(seed).integers(0, count, count)
    return eqx.tree_at(lambda p: p.observations, problem, problem.observations.take(rows))


def train_members(
    models: Sequence[AbstractFieldModel],
    pde: AbstractPDE,
    problems: Sequence[Problem],
    held_out: Observations,
    training: Training,
    *,
    seeds: Sequence[int],
    noise: float | None,
    checkpoint: Path | None,
    progress: ProgressBar,
) -> tuple[list[Fit], Record]:
    """As `train` for each model, problem and seed; and the median course of all.

    A member whose loss turns non-finite loses the steps of that run and half its rate, alone.
    """
    step = training.of_a_step()
    starts = [
        start(model, pde, problem, step, noise or 0.0)
        for model, problem in zip(models, problems, strict=True)
    ]
    fixed = [part for _, part in starts]
    rest = batched.share(batched.stack(list(zip(fixed, problems, strict=True))))
    state = _together([state for state, _ in starts])
    keys = jnp.stack([jax.random.key(seed) for seed in seeds])
    best, course = state.trained, Course(len(seeds))
    identity = identity_of(pde, problems[0], held_out, training, seeds[0]) | {"members": len(seeds)}
    if checkpoint is not None:
        content = load_checkpoint(checkpoint, identity, (state, best, course.plain()))
        state, best = content[:2]
        course = Course.from_plain(content[2])
    record = course.all
    began = time.monotonic() - record.seconds
    while not record.stopped:
        clock, count = next_run(record, state, training)
        following, report = run_members(state, rest, held_out, keys, clock, count, step)
        state = _accept(state, following, report.finite)
        record.seconds = time.monotonic() - began
        record.first_step_seconds = record.first_step_seconds or record.seconds
        share = share_spent(record, state, training)
        improved = course.take_stock(state, report, share, len(held_out))
        best = _where(improved, state.trained, best)
        if estimates_noise(noise, len(held_out)):
            state = _with_floors(state, [member.best for member in course.members])
        record.stopped = course.verdict(state.rate, training, share)
        progress.update("train", share, course.losses(report))
        if checkpoint is not None:
            save_checkpoint(checkpoint, identity, (state, best, course.plain()))
    trained = best if record.stopped == NO_LONGER_FALLING else state.trained
    return course.fits(trained, fixed, state), course.median()


# --------------------------------------------------------------------------------- compiled


def advance_members(
    state: State,
    rest: tuple[PyTree, PyTree],
    held_out: Observations,
    keys: Key[Array, " k"],
    clock: Clock,
    count,
    training: Training,
) -> tuple[State, Report]:
    """`count` steps of every member. `rest` is `batched.share` of (what stays fixed, problem).

    The counters of steps are whole numbers and belong to all: were there one per member, what SOAP
    does every tenth step (a branch on its counter) would be computed in every step.
    """
    own_state, counters = _own(state)
    own_rest, common_rest = rest

    def one(own_state, own_rest, key):
        fixed, problem = eqx.combine(own_rest, common_rest)
        state = eqx.combine(own_state, counters)
        following, report = advance(state, fixed, problem, held_out, key, clock, count, training)
        return *_own(following), report

    own, counters, report = jax.vmap(one, out_axes=(0, None, 0))(own_state, own_rest, keys)
    return eqx.combine(own, counters), report


run_members = eqx.filter_jit(advance_members, compiler_options=OPTIONS)  # pyright: ignore[reportCallIssue]


@eqx.filter_jit
def held_out_errors(
    stacked: PyTree, problem: Problem, held_out: Observations
) -> tuple[Float[Array, " k"], Scalar]:
    """`held_out_error` of every member, and of their mean; `stacked`: (models, equations, readings)."""

    def rows(part):
        model, _, observations = part
        context = model.encode(observations)

        def field(z):
            return model.decode(context, z)

        return reading_rows(field, held_out, model.scaling, problem.averaged)

    misfits = eqx.filter_vmap(rows)(stacked)

    def error(misfit):
        return misfit_size(problem.likelihood, misfit, held_out.mask)

    return jnp.asarray(jax.vmap(error)(misfits)), error(jnp.mean(misfits, axis=0))


# --------------------------------------------------------------------------------- states


def _own(state: State) -> tuple[State, State]:
    """(what each member has of its own, the counters)."""
    return eqx.partition(state, eqx.is_inexact_array)


def _together(states: list[State]) -> State:
    own, _ = _own(batched.stack(states))
    return eqx.combine(own, _own(states[0])[1])


def _where(chosen: Bool[Array | np.ndarray, " k"], new, old):
    """Member by member, the new tree or the old one."""

    def leaf(a, b):
        return jnp.where(chosen.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(leaf, new, old)


def _accept(old: State, new: State, finite: Bool[Array, " k"]) -> State:
    """The new state; members that turned non-finite have their old one, with half the rate."""
    (own_new, counters), (own_old, before) = _own(new), _own(old)
    slower = eqx.tree_at(lambda s: s.rate, own_old, old.rate / 2)
    counters = counters if finite.any() else before  # nobody has made a step
    return eqx.combine(_where(finite, own_new, slower), counters)


def _with_floors(state: State, errors: list[float]) -> State:
    """The noise floor of each member at its best held-out error so far, where it has one."""
    known = np.asarray(errors, state.noise_floor.dtype)
    floors = jnp.where(np.isfinite(known), known, state.noise_floor)
    return eqx.tree_at(lambda s: s.noise_floor, state, floors)
