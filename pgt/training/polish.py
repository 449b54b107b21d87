"""The finish: Levenberg–Marquardt in float64 on the decoder, the encoder frozen.

First-order optimisers stop where the loss is about 1e-6; a smooth field has many more digits to give.
With the encoder frozen the rows r of the loss (losses.py) depend on a few thousand numbers θ, and

    (JᵀJ + λ D) δ₁ = -Jᵀ r,        (JᵀJ + λ D) δ₂ = -½ Jᵀ r''[δ₁, δ₁],        θ ← θ + δ₁ + δ₂

can be solved exactly. D is the mean of diag JᵀJ times the identity. δ₂, the geodesic acceleration of
Transtrum & Sethna (2012), bends the step along the curved valley; a step whose δ₂ is not small beside
δ₁ is refused. λ falls after a success and rises after a failure.

Noisy readings need a prior on θ as well, which adds a|θ|² to the sum of squares: see evidence.py.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from pgt.data.observations import Observations
from pgt.data.sampling import gauss_legendre_grid
from pgt.models.base import AbstractFieldModel
from pgt.nn import frozen
from pgt.physics.conditions import Periodic
from pgt.physics.derivatives import expansion, highest_order
from pgt.physics.pde import AbstractPDE
from pgt.training import evidence
from pgt.training.losses import (
    Problem,
    condition_rows,
    equation_rows,
    reading_rows,
    reading_weights,
)
from pgt.training.settings import Polish
from pgt.training.step import split

START, EASE, STIFFEN = 1e-2, 3.0, 2.0  # damping at first, after a success, after a failure
MOST_BEND = 0.75  # of 2|δ₂| / |δ₁|
LEAST, GIVE_UP = 1e-15, 1e8
AHEAD = 0.1  # of the step, where the curvature of the rows is measured
NOISY = 0.01  # held-out readings missed by more of their spread than this are taken to be noisy
GUESS = 0.1  # of the noise, where it is unknown: too weak a prior at first, and noise is memorised
FAR = 3  # an order beyond what `Seen` holds: values away from its point are asked for
SETTLE = 30  # iterations before the prior's strength is first revised


class Block(NamedTuple):
    """Rows of one kind: a function of (θ, one item), the items, and the weight of each item."""

    function: Callable
    items: PyTree
    weights: Float[Array | np.ndarray, " n"]


class Normal(NamedTuple):
    """The system at θ: r, the cost |r|² + a|θ|², J, and the matrix and slope of the normal equations."""

    rows: Float[Array, " rows"]
    cost: Float[Array, ""]
    jacobian: Float[Array, "rows p"]
    matrix: Float[Array, "p p"]
    slope: Float[Array, " p"]


def polish(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    settings: Polish,
    held_out: Observations,
    report: Callable[[int, float], None] = lambda iteration, cost: None,
    *,
    noise: float | None = None,
) -> tuple[AbstractFieldModel, AbstractPDE, list[float]]:
    """The model and equation after the polish (float64), and the cost after each iteration.

    `noise` is σ of the readings in units of their spread, where it is known. Readings that are noisy,
    by `noise` or because held-out ones cannot be predicted, are fitted once more under a prior.
    """
    with jax.enable_x64(True):
        model, pde, problem = frozen.cast((model, pde, problem), jnp.float64)
        theta, rebuild = _parameters(model, pde)
        context = eqx.filter_jit(lambda m, o: m.encode(o))(model, problem.observations)
        blocks = _blocks(rebuild, model, pde, context, problem, settings)
        search = Search(blocks)
        judge = _judge(rebuild, context, held_out, problem)
        costs, began = [], time.monotonic()
        if settings.evidence is not True:
            theta, costs = search.minimise(theta, settings, judge, report)
        if _is_noisy(settings, noise, judge(theta)):
            prior = _prior(problem.observations, noise)
            left = _time_left(settings, time.monotonic() - began)
            theta, more = search.minimise(theta, left, None, report, prior)
            costs += more
        return *rebuild(theta), costs


def _prior(readings: Observations, noise: float | None) -> "Prior":
    """At first as if the weights were of order one."""
    mask = np.asarray(readings.mask)
    measured = float(mask.sum())
    return Prior((noise or GUESS) ** 2 / measured, mask.size, measured, noise or 0.0)


def _time_left(settings: Polish, spent: float) -> Polish:
    """The second fit has what the first one left of the seconds, and half of them at least."""
    if settings.seconds is None:
        return settings
    return replace(settings, seconds=max(settings.seconds - spent, settings.seconds / 2))


def _is_noisy(settings: Polish, noise: float | None, held_out_error: float) -> bool:
    if settings.evidence is not None:
        return settings.evidence
    return noise is not None or held_out_error > NOISY


def _judge(rebuild, context, held_out: Observations, problem: Problem):
    """θ ↦ root-mean-square misfit of the readings that are not fitted; 0 where there are none."""
    if not len(held_out):
        return lambda theta: 0.0
    measured = np.asarray(held_out.mask).sum()

    @jax.jit
    def error(theta):
        model, _ = rebuild(theta)
        field = partial(model.decode, context)
        rows = reading_rows(field, held_out, model.scaling, problem.averaged)
        return jnp.sqrt(jnp.sum(rows**2) / measured)

    return lambda theta: float(error(theta))


def _parameters(model, pde):
    """The polished numbers as one vector, and the way back."""
    trained, fixed = split(model, pde, None)
    theta, unravel = ravel_pytree((model.polished(), trained[1]))

    def rebuild(vector):
        part, unknowns = unravel(vector)
        polished = eqx.tree_at(lambda m: m.polished(), model, part)
        return polished, eqx.combine(unknowns, fixed[1])

    return theta, rebuild


# ------------------------------------------------------------------------------------- the rows


class Seen(NamedTuple):
    """What the frozen part of the model sees around a point, to second order.

    The polish never changes `look`, so it is evaluated once: at its own point the expansion has the
    same value, first and second derivatives, which is all that a second-order equation asks for.
    """

    point: Float[Array, " d"]
    value: Float[Array, " k"]
    slope: Float[Array, "k d"]
    curvature: Float[Array, "k d d"]

    def at(self, z: Float[Array, " d"]) -> Float[Array, " k"]:
        away = z - self.point
        return self.value + self.slope @ away + (self.curvature @ away) @ away / 2


def _blocks(rebuild, model, pde, context, problem: Problem, settings: Polish) -> list[Block]:
    """All rows of the loss. Weights are such that the sum of squares is a sum of mean squares."""
    domain, readings = problem.domain, problem.observations
    per_axis = [int(np.ceil(settings.points ** (1 / domain.dimension)))] * domain.dimension
    inside, volume = gauss_legendre_grid(domain.lower, domain.upper, per_axis)
    weights = settings.equation_weight * np.sqrt(volume / volume.sum())
    # Readings count as they do in the loss: in proportion to 1/σ² where their noise is given.
    trust = np.sqrt(reading_weights(readings, model.scaling))
    measured = np.full(len(readings), 1 / np.linalg.norm(trust))

    def reading(theta, item):
        model, _ = rebuild(theta)
        reading, root, place = item
        one = jax.tree.map(lambda leaf: leaf[None], reading)
        field, _ = _field_at(model, context, place)
        return root * reading_rows(field, one, model.scaling, problem.averaged)[0]

    def equation(theta, item):
        model, pde = rebuild(theta)
        field, z = _field_at(model, context, item)
        rows = equation_rows(field, pde, problem.equation_scales, z)
        return jnp.stack(list(rows.values()))

    # An average over a box asks for more than the neighbourhood of its centre.
    near = 2 if not problem.averaged else FAR
    places = _items(model, near, context, jnp.asarray(readings.points))
    blocks = [Block(reading, (readings, trust, places), measured)]
    if problem.equation_scales:
        items = _items(model, highest_order(pde), context, jnp.asarray(inside))
        blocks.append(Block(equation, items, weights))
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):

        def on_face(theta, item, condition=condition, scale=scale):
            model, pde = rebuild(theta)
            field, z = _field_at(model, context, item)
            return condition_rows(field, condition, scale, pde, z)

        face = condition.quadrature(2 * max(per_axis))
        # A periodic condition asks at the opposite face too.
        near = FAR if isinstance(condition, Periodic) else 2
        items = _items(model, near, context, jnp.asarray(face))
        blocks.append(Block(on_face, items, np.full(len(face), 1 / np.sqrt(len(face)))))
    return blocks


def _items(model, order: int, context, points):
    """The points, with what the model sees around them where no more than second order is asked."""
    if order > 2:
        return points

    def expand(z):
        return Seen(z, *expansion(lambda y: model.look(context, y).reshape(-1), z))

    return jax.jit(jax.vmap(expand))(points)


def _field_at(model, context, item):
    """The field near an item of `_items`, and the item's point."""
    if not isinstance(item, Seen):
        return partial(model.decode, context), item
    shape = jax.eval_shape(partial(model.look, context), item.point).shape
    return lambda z: model.answer(item.at(z).reshape(shape), z), item.point


def _all_rows(blocks: list[Block], theta) -> Float[Array, " rows"]:
    def weighted(block: Block):
        rows = jax.vmap(block.function, in_axes=(None, 0))(theta, block.items)
        return (rows * block.weights[:, None]).reshape(-1)

    return jnp.concatenate([weighted(block) for block in blocks])


def _rows_and_jacobian(blocks: list[Block], theta):
    """Rows and their gradients point by point: reverse mode, since θ is much longer than a row."""

    def weighted(block: Block):
        def with_gradient(item):
            rows, pull = jax.vjp(lambda t: block.function(t, item), theta)
            return rows, jax.vmap(lambda seed: pull(seed)[0])(jnp.eye(len(rows)))

        rows, jacobian = jax.vmap(with_gradient)(block.items)
        weights = block.weights[:, None]
        return (rows * weights).reshape(-1), (jacobian * weights[..., None]).reshape(-1, len(theta))

    parts = [weighted(block) for block in blocks]
    return jnp.concatenate([r for r, _ in parts]), jnp.concatenate([j for _, j in parts])


def _gram(jacobian: Float[Array, "rows p"]) -> Float[Array, "p p"]:
    """JᵀJ. On the CPU by numpy, whose BLAS knows that it is symmetric: a third of XLA's time."""
    if jax.default_backend() != "cpu":
        return jacobian.T @ jacobian
    host = np.asarray(jacobian)
    return jnp.asarray(host.T @ host)


# ------------------------------------------------------------------------------------- the search


class Prior(NamedTuple):
    """How far the weights are held back at first, and what the evidence needs to know: how many rows,
    the first ones, are readings; how many of these were measured; σ, or 0 where it is unknown."""

    hold: float
    rows: int
    count: float
    given: float


class Search:
    """Levenberg–Marquardt over the rows of some blocks, compiled once."""

    def __init__(self, blocks: list[Block]):
        self.rows_at = jax.jit(lambda theta: _all_rows(blocks, theta))
        self.jacobian_at = jax.jit(lambda theta: _rows_and_jacobian(blocks, theta))

    def normal_at(self, theta, hold: float) -> Normal:
        rows, jacobian = self.jacobian_at(theta)
        return Normal(
            rows,
            rows @ rows + hold * (theta @ theta),
            jacobian,
            _gram(jacobian) + hold * jnp.eye(len(theta)),
            jacobian.T @ rows + hold * theta,
        )

    def minimise(self, theta, settings: Polish, judge, report, prior: Prior | None = None):
        """The best θ and the cost after each iteration.

        `judge` is the held-out error at θ: readings can be memorised, so the best θ is the one that
        predicts what was not fitted. Under a prior nothing is memorised, and the last θ is the best.
        """
        began, damping = time.monotonic(), START
        hold = prior.hold if prior else 0.0
        normal = self.normal_at(theta, hold)
        costs, best, best_iteration = [float(normal.cost)], theta, 0
        best_error = judge(theta) if judge else 0.0
        for iteration in range(1, settings.iterations + 1):
            candidate = _step(self.rows_at, theta, normal, damping)
            cost = self._cost(candidate, hold)
            if cost < costs[-1]:
                theta, damping = candidate, max(damping / EASE, LEAST)
                normal = self.normal_at(theta, hold)
                if prior and iteration >= SETTLE:
                    hold, normal = self._revise(prior, theta, hold, normal)
                    cost = float(normal.cost)
                error = judge(theta) if judge else 0.0
                if error <= best_error:
                    best, best_error, best_iteration = theta, error, iteration
            else:
                damping *= STIFFEN
                cost = costs[-1]
            costs.append(cost)
            report(iteration, cost)
            over = settings.seconds is not None and time.monotonic() - began > settings.seconds
            if over or damping > GIVE_UP or iteration - best_iteration > settings.patience:
                break
        return best, costs

    def _cost(self, theta, hold: float) -> float:
        rows = self.rows_at(theta)
        return float(rows @ rows + hold * (theta @ theta))

    def _revise(self, prior: Prior, theta, hold: float, normal: Normal):
        """The prior's strength by the evidence at θ, and the system under it."""
        misfit = normal.rows[: prior.rows]
        new, _ = evidence.update(normal.jacobian, misfit, theta, hold, prior.count, prior.given)
        change = float(new) - hold
        return float(new), normal._replace(
            cost=normal.cost + change * (theta @ theta),
            matrix=normal.matrix + change * jnp.eye(len(theta)),
            slope=normal.slope + change * theta,
        )


def _step(rows_at, theta, normal: Normal, damping: float) -> Float[Array, " p"]:
    """θ + δ₁ + δ₂; not a number where the step bends too much to be trusted."""
    factor, step = _solve(normal, damping)
    # r''[δ, δ] from one more evaluation of the rows: cheaper to run and to compile than its jvp.
    ahead = rows_at(theta + AHEAD * step)
    return theta + _bent(normal, factor, step, ahead)


@jax.jit
def _solve(normal: Normal, damping):
    size = jnp.mean(jnp.diag(normal.matrix))
    # 1e-15 keeps parameters that no row depends on from making the matrix singular.
    shifted = normal.matrix + (damping + 1e-15) * size * jnp.eye(len(normal.matrix))
    factor = jnp.linalg.cholesky(shifted)
    return factor, -jax.scipy.linalg.cho_solve((factor, True), normal.slope)


@jax.jit
def _bent(normal: Normal, factor, step, ahead):
    linear = normal.rows + AHEAD * (normal.jacobian @ step)
    curvature = 2 * (ahead - linear) / AHEAD**2
    bend = -jax.scipy.linalg.cho_solve((factor, True), normal.jacobian.T @ curvature) / 2
    straight = 2 * jnp.linalg.norm(bend) <= MOST_BEND * jnp.linalg.norm(step)
    return jnp.where(straight, step + bend, jnp.nan)
