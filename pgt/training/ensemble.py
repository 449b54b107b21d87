"""Networks that are trained at once, one or many: their compiled program, and their states as one."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key, PyTree

from pgt.data.observations import Observations
from pgt.ground.types import Scalar
from pgt.nn import batched
from pgt.nn.compiled import compiled
from pgt.training.likelihood import misfit_size
from pgt.training.losses import Problem, reading_rows
from pgt.training.settings import Training
from pgt.training.step import Clock, State, Tally, advance, run_steps


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


# --------------------------------------------------------------------------------- compiled


@dataclass(frozen=True)
class Program:
    """The compiled steps of one network, or of several mapped over what differs between them.

    A map over a single network would make its step a third slower or more, and longer to compile. So one
    runs as it is: no array of its state has a leading axis. Only `together`, `run` and `each`
    know the difference.
    """

    # (what stays fixed, problem, readings held out); of several, `batched.share` of these.
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
    ) -> "Program":
        """Of the networks whose trained parts are in the state."""
        parts = list(zip(fixed, problems, held_outs, strict=True))
        if len(parts) == 1:
            return Program(parts[0], jax.random.key(seeds[0]), training)
        keys = jnp.stack([jax.random.key(seed) for seed in seeds])
        return Program(batched.share(batched.stack(parts)), keys, training)

    @property
    def compiled(self):
        """The function of `arguments`, a clock, the number of steps and the settings."""
        return run_members if self.keys.ndim else run_steps

    def arguments(self, state: State) -> tuple:
        """What it is given first."""
        return (state, *((self.rest,) if self.keys.ndim else self.rest), self.keys)

    def run(self, state: State, clock: Clock, count) -> tuple[State, Tally]:
        """The state after `count` steps, and on the host a tally with a row for every network."""
        following, tally = self.compiled(*self.arguments(state), clock, count, self.training)
        return following, jax.tree.map(np.atleast_1d, jax.device_get(tally))


def advance_members(
    state: State,
    rest: tuple[PyTree, PyTree],
    keys: Key[Array, " k"],
    clock: Clock,
    count,
    training: Training,
) -> tuple[State, Tally]:
    """`count` steps of every member. `rest` is `batched.share` of (what stays fixed, problem, readings
    held out).

    The counters of steps are whole numbers and belong to all: were there one per member, what SOAP
    does every tenth step (a branch on its counter) would be computed in every step.
    """
    own_state, counters = _own(state)
    own_rest, common_rest = rest

    def one(own_state, own_rest, key):
        fixed, problem, held_out = eqx.combine(own_rest, common_rest)
        state = eqx.combine(own_state, counters)
        following, tally = advance(state, fixed, problem, held_out, key, clock, count, training)
        return *_own(following), tally

    own, counters, tally = jax.vmap(one, out_axes=(0, None, 0))(own_state, own_rest, keys)
    return eqx.combine(own, counters), tally


run_members = compiled(advance_members)


@compiled
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


def together(states: Sequence[State]) -> State:
    """States of several networks as one; that of a single one as it is."""
    if len(states) == 1:
        return states[0]
    own, _ = _own(batched.stack(states))
    return eqx.combine(own, _own(states[0])[1])


def each(tree, count: int) -> list:
    """What belongs to every single network."""
    return [tree] if count == 1 else [batched.member(tree, k) for k in range(count)]


def choose(chosen: Bool[Array | np.ndarray, " k"], new, old):
    """Network by network, the new tree or the old one."""
    if chosen.all() or not chosen.any():
        return new if chosen.all() else old

    def leaf(a, b):
        return jnp.where(chosen.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(leaf, new, old)


def accept(old: State, new: State, finite: Bool[Array | np.ndarray, " k"]) -> State:
    """The new state; networks that turned non-finite have their old one, with half the rate."""
    if finite.all():
        return new
    slower = eqx.tree_at(lambda s: s.rate, old, old.rate / 2)
    (own_new, counters), (own_old, before) = _own(new), _own(slower)
    counters = counters if finite.any() else before  # nobody has made a step
    return eqx.combine(choose(finite, own_new, own_old), counters)


def with_floors(state: State, errors: Sequence[float]) -> State:
    """The noise floor of each network at a held-out error of its own, where it has one."""
    before = np.asarray(state.noise_floor)
    known = np.asarray(errors, before.dtype).reshape(before.shape)
    floors = jnp.asarray(np.where(np.isfinite(known), known, before))
    return eqx.tree_at(lambda s: s.noise_floor, state, floors)


def _own(state: State) -> tuple[State, State]:
    """(what each network has of its own, the counters)."""
    return eqx.partition(state, eqx.is_inexact_array)
