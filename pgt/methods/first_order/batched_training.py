"""Training of one or several networks at once: the compiled program, and their stacked state."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, PyTree

from pgt.core.types import Scalar
from pgt.data.observations import Observations
from pgt.inference.likelihood import misfit_size
from pgt.methods.first_order.training_step import (
    BudgetClock,
    RunSummary,
    TrainingState,
    advance,
    run_steps,
)
from pgt.nn import batched
from pgt.nn.compiled import compiled
from pgt.problem.losses import Problem, reading_rows
from pgt.training.settings import Training

# --------------------------------------------------------------------------------- compiled


@dataclass(frozen=True)
class TrainingProgram:
    """The compiled steps of one network, or of several mapped over what differs between them.

    A map over a single network would make its step at least a third slower, and longer to compile. So a
    single network has no leading axis in its state. Only `stack_states`, `run` and `unstack` distinguish
    the two cases. `rest` is (what stays fixed, problem, held-out readings), or `batched.share` of these
    for several networks.
    """

    rest: tuple
    keys: Key[Array, "..."]
    training: Training

    @staticmethod
    def of(
        fixed: Sequence[PyTree],
        problems: Sequence[Problem],
        held_outs: Sequence[Observations],
        seeds: Sequence[int],
        training: Training,
    ) -> "TrainingProgram":
        """The program for networks with these fixed parts."""
        parts = list(zip(fixed, problems, held_outs, strict=True))
        if len(parts) == 1:
            return TrainingProgram(parts[0], jax.random.key(seeds[0]), training)
        keys = jnp.stack([jax.random.key(seed) for seed in seeds])
        return TrainingProgram(batched.share(batched.stack(parts)), keys, training)

    @property
    def compiled(self):
        """The compiled function of (*`arguments`, clock, number of steps, settings)."""
        return run_network_steps if self.keys.ndim else run_steps

    def arguments(self, state: TrainingState) -> tuple:
        """The first arguments of `compiled`."""
        return (state, *((self.rest,) if self.keys.ndim else self.rest), self.keys)

    def run(
        self, state: TrainingState, clock: BudgetClock, count
    ) -> tuple[TrainingState, RunSummary]:
        """The state after `count` steps, and their summary on the host, with a row for every network."""
        following, summary = self.compiled(*self.arguments(state), clock, count, self.training)
        return following, jax.tree.map(np.atleast_1d, jax.device_get(summary))


def advance_networks(
    state: TrainingState,
    rest: tuple[PyTree, PyTree],
    keys: Key[Array, " k"],
    clock: BudgetClock,
    count,
    training: Training,
) -> tuple[TrainingState, RunSummary]:
    """The state and summary after `count` steps of every network. `rest` is `batched.share` of (what
    stays fixed, problem, held-out readings).

    All networks share the integer step counters. With one counter per network, the branch that SOAP takes
    every tenth step would be computed in every step.
    """
    own_state, counters = _per_network(state)
    own_rest, common_rest = rest

    def one(own_state, own_rest, key):
        fixed, problem, held_out = eqx.combine(own_rest, common_rest)
        state = eqx.combine(own_state, counters)
        following, summary = advance(state, fixed, problem, held_out, key, clock, count, training)
        return *_per_network(following), summary

    own, counters, summary = jax.vmap(one, out_axes=(0, None, 0))(own_state, own_rest, keys)
    return eqx.combine(own, counters), summary


run_network_steps = compiled(advance_networks)


@compiled
def held_out_errors(
    stacked: PyTree, problem: Problem, held_out: Observations
) -> tuple[Float[Array, " k"], Scalar]:
    """The held-out error of each network and of their mean; `stacked` = (models, equations, readings)."""

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


def stack_states(states: Sequence[TrainingState]) -> TrainingState:
    """One state with a leading axis for several networks, or without it for a single one."""
    if len(states) == 1:
        return states[0]
    own, _ = _per_network(batched.stack(states))
    return eqx.combine(own, _per_network(states[0])[1])


def unstack(tree, count: int) -> list:
    """A list with the part of each network."""
    return [tree] if count == 1 else [batched.member(tree, k) for k in range(count)]


def select(chosen: Bool[Array | np.ndarray, " k"], new, old):
    """For each network the new tree if it is chosen, otherwise the old one."""
    if chosen.all() or not chosen.any():
        return new if chosen.all() else old

    def leaf(a, b):
        return jnp.where(chosen.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(leaf, new, old)


def accept_finite(
    old: TrainingState, new: TrainingState, finite: Bool[Array | np.ndarray, " k"]
) -> TrainingState:
    """The new state; networks with a non-finite loss keep the old one, with half the learning rate."""
    if finite.all():
        return new
    slower = eqx.tree_at(lambda s: s.rate, old, old.rate / 2)
    (own_new, counters), (own_old, before) = _per_network(new), _per_network(slower)
    counters = counters if finite.any() else before  # no network has made a step
    return eqx.combine(select(finite, own_new, own_old), counters)


def with_noise_floors(state: TrainingState, errors: Sequence[float]) -> TrainingState:
    """The state with the held-out error of each network as its noise floor, if it is known."""
    before = np.asarray(state.noise_floor)
    known = np.asarray(errors, before.dtype).reshape(before.shape)
    floors = jnp.asarray(np.where(np.isfinite(known), known, before))
    return eqx.tree_at(lambda s: s.noise_floor, state, floors)


def _per_network(state: TrainingState) -> tuple[TrainingState, TrainingState]:
    """(floating-point arrays of each network, shared integer counters)."""
    return eqx.partition(state, eqx.is_inexact_array)
