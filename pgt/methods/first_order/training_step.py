"""The compiled steps of first-order training, of which one call makes many.

A `TrainingState` has everything that changes. `advance` makes steps of one network, `advance_networks` of
several at once by `vmap`, and `TrainingProgram` chooses between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from pgt.core.types import Key, Scalar
from pgt.core.unknown import is_unknown
from pgt.data.observations import Observations
from pgt.inference.likelihood import misfit_size
from pgt.models.field_model import AbstractFieldModel
from pgt.nn import batched, trees
from pgt.nn.trees import compiled
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem, draw_batch, equation_rows, losses, reading_rows
from pgt.training.optimisers import direction, schedule
from pgt.training.settings import Training


class TrainingState(eqx.Module):
    """Everything that changes during training. A restored state continues bit for bit."""

    trained: PyTree  # parts of (model, pde, learned weights of the losses)
    optimiser: PyTree
    memory: PyTree
    step: Int[Array, ""]
    rate: Float[Array, ""]  # factor on the learning rate; halved after a non-finite loss
    noise_floor: Float[Array, ""]  # smallest σ of the data term, in units of the spread


class BudgetClock(NamedTuple):
    """The share of the budget spent besides steps, such as on compilation, and the share of one step.

    The share spent depends on the number of steps only, however they are divided into runs.
    """

    overhead: Float[Array, ""]
    per_step: Float[Array, ""]

    def spent(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """The share that is spent when a step begins."""
        return self.overhead + step * self.per_step


class RunSummary(NamedTuple):
    """The mean losses, the weights and the held-out error of a run, and whether all steps were finite."""

    losses: dict[str, Scalar]
    weights: dict[str, Scalar]
    held_out: Scalar
    finite: Bool[Array, ""]


def split(model: AbstractFieldModel, pde: AbstractPDE, learned):
    """(trained arrays, fixed rest) of (model, equation, learned weights).

    In an equation only `Unknown` coefficients are trained.
    """
    model_trained, model_fixed = trees.partition(model)
    unknowns = jax.tree.map(is_unknown, pde, is_leaf=is_unknown)
    pde_trained, pde_fixed = eqx.partition(pde, unknowns)
    return (model_trained, pde_trained, learned), (model_fixed, pde_fixed)


def join(trained, fixed):
    """(model, equation, learned weights): the inverse of `split`."""
    model = trees.combine(trained[0], fixed[0])
    return model, eqx.combine(trained[1], fixed[1]), trained[2]


@compiled
def initialize(model, pde, problem: Problem, training: Training, noise_floor: float):
    """(first state, part that stays fixed)."""
    learned, memory = training.weighting.init(problem.term_names())
    trained, fixed = split(model, pde, learned)
    state = TrainingState(
        trained=trained,
        optimiser=direction(training.optimiser).init(trained),
        memory=memory,
        step=jnp.zeros((), jnp.int32),
        rate=jnp.ones(()),
        noise_floor=jnp.asarray(noise_floor, jnp.result_type(float)),
    )
    return state, fixed


def advance(
    state: TrainingState,
    fixed,
    problem: Problem,
    held_out: Observations,
    key: Key,
    clock: BudgetClock,
    count: Int[Array, ""],
    training: Training,
) -> tuple[TrainingState, RunSummary]:
    """(state, summary) after `count` optimizer steps.

    `count` is an argument of the compiled program, so that one program serves any number.
    """
    floors = {"data": state.noise_floor}
    names = problem.term_names()
    state = _update_weighting(state, fixed, problem, key, training)

    def body(_, carry):
        state, sums, finite = carry
        progress = clock.spent(state.step)
        state, terms, ok = _one_step(state, fixed, problem, key, progress, floors, training)
        return state, {n: sums[n] + terms[n] for n in names}, finite & ok

    zero = {n: jnp.zeros(()) for n in names}
    state, sums, finite = jax.lax.fori_loop(0, count, body, (state, zero, jnp.array(True)))
    model, _, learned = join(state.trained, fixed)
    summary = RunSummary(
        {n: s / count for n, s in sums.items()},
        training.weighting.weights(learned, state.memory, floors, clock.spent(state.step)),
        held_out_error(model, problem, held_out),
        finite,
    )
    return state, summary


run_steps = compiled(advance)


def _one_step(state: TrainingState, fixed, problem, key, progress, floors, training: Training):
    def objective(trained, batch):
        model, pde, learned = join(trained, fixed)
        terms = losses(model, pde, problem, batch, state.noise_floor)
        weighted = {name: terms[name] for name in problem.term_names()}
        total = training.weighting.total(learned, state.memory, weighted, floors, progress)
        # The variance does not change the field, so its loss needs no weight.
        return total + terms["variance"] / 2 if model.predicts_variance else total, terms

    batch = _draw_points(state, fixed, problem, key, training)
    (total, terms), gradient = jax.value_and_grad(objective, has_aux=True)(state.trained, batch)
    updates, optimiser = direction(training.optimiser).update(
        gradient, state.optimiser, state.trained
    )
    rate = -training.learning_rate * schedule(progress) * state.rate
    trained = optax.apply_updates(state.trained, jax.tree.map(lambda u: rate * u, updates))
    next_state = TrainingState(
        trained, optimiser, state.memory, state.step + 1, state.rate, state.noise_floor
    )
    is_finite = jnp.isfinite(total) & jnp.isfinite(optax.tree.norm(gradient))
    return next_state, terms, is_finite


def _draw_points(state: TrainingState, fixed, problem: Problem, key, training: Training):
    sizes = (training.batch, training.collocation, training.condition_points)

    def residual_size(points):
        model, pde, _ = join(jax.lax.stop_gradient(state.trained), fixed)
        context = model.encode(problem.observations)

        def size(z):
            rows = equation_rows(lambda y: model.decode(context, y), pde, problem, z)
            return jnp.sqrt(sum(r**2 for r in rows.values()))

        return jax.vmap(size)(points)

    step_key = jax.random.fold_in(key, state.step)
    return draw_batch(step_key, problem, training.sampler, sizes, residual_size)


def _update_weighting(
    state: TrainingState, fixed, problem, key, training: Training
) -> TrainingState:
    """The state after the weighting has used the gradient norm of each loss, if it needs them."""
    if not training.weighting.needs_gradient_norms:
        return state
    batch = _draw_points(state, fixed, problem, key, training)

    def terms(trained):
        model, pde, _ = join(trained, fixed)
        values = losses(model, pde, problem, batch, state.noise_floor)
        return {name: values[name] for name in problem.term_names()}

    values, pull = jax.vjp(terms, state.trained)
    norms = {}
    for name in values:
        seed = {n: jnp.ones_like(v) if n == name else jnp.zeros_like(v) for n, v in values.items()}
        norms[name] = optax.tree.norm(pull(seed)[0])
    memory = training.weighting.update(state.memory, norms, values)
    return eqx.tree_at(lambda s: s.memory, state, memory)


def held_out_error(model, problem: Problem, held_out: Observations) -> Scalar:
    """The root-mean-square misfit of held-out readings in units of the spread, without outliers if the
    likelihood expects them.
    """
    context = model.encode(problem.observations)
    rows = reading_rows(
        lambda z: model.decode(context, z), held_out, model.scaling, problem.averaged
    )
    return misfit_size(problem.likelihood, rows, held_out.mask)


# --------------------------------------------------------------------------------- compiled


@dataclass(frozen=True)
class TrainingProgram:
    """The compiled steps of one network, or of several mapped over what differs between them.

    A map over a single network would make its step at least a third slower, and longer to compile. So the
    state of a single network has no leading axis. Only `stack_states`, `run` and `unstack` distinguish
    the two cases. `rest` is (fixed part, problem, held-out readings), or `batched.share` of these for
    several networks.
    """

    rest: tuple
    keys: jaxtyping.Key[Array, "..."]
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

    def with_pool(self, pool: Observations) -> "TrainingProgram":
        """The program with batches from these readings, which all networks share."""

        def put(parts, readings):
            problem = eqx.tree_at(lambda p: p.pool, parts[1], readings, is_leaf=lambda n: n is None)
            return parts[0], problem, parts[2]

        if not self.keys.ndim:
            return replace(self, rest=put(self.rest, pool))
        own, common = self.rest
        return replace(
            self, rest=(put(own, jax.tree.map(lambda leaf: None, pool)), put(common, pool))
        )

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
        """(state after `count` steps, summary on the host with a row for every network)."""
        next_state, summary = self.compiled(*self.arguments(state), clock, count, self.training)
        return next_state, jax.tree.map(np.atleast_1d, jax.device_get(summary))


def advance_networks(
    state: TrainingState,
    rest: tuple[PyTree, PyTree],
    keys: jaxtyping.Key[Array, " k"],
    clock: BudgetClock,
    count,
    training: Training,
) -> tuple[TrainingState, RunSummary]:
    """(state, summary) after `count` steps of every network.

    `rest` is `batched.share` of (fixed part, problem, held-out readings). All networks share the
    integer step counters. With one counter per network, the branch that SOAP takes every tenth step
    would be computed in every step.
    """
    own_state, counters = _per_network(state)
    own_rest, common_rest = rest

    def one(own_state, own_rest, key):
        fixed, problem, held_out = eqx.combine(own_rest, common_rest)
        state = eqx.combine(own_state, counters)
        following, summary = advance(state, fixed, problem, held_out, key, clock, count, training)
        return *_per_network(following), summary

    arrays, counters, summary = jax.vmap(one, out_axes=(0, None, 0))(own_state, own_rest, keys)
    return eqx.combine(arrays, counters), summary


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
    arrays, _ = _per_network(batched.stack(states))
    return eqx.combine(arrays, _per_network(states[0])[1])


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
    """The state with the given error of each network as its noise floor, if that is finite."""
    before = np.asarray(state.noise_floor)
    new_floors = np.asarray(errors, before.dtype).reshape(before.shape)
    floors = jnp.asarray(np.where(np.isfinite(new_floors), new_floors, before))
    return eqx.tree_at(lambda s: s.noise_floor, state, floors)


def _per_network(state: TrainingState) -> tuple[TrainingState, TrainingState]:
    """(floating-point arrays of each network, shared integer counters)."""
    return eqx.partition(state, eqx.is_inexact_array)
