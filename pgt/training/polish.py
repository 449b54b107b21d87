"""The finish: Levenberg–Marquardt in float64 on the decoder, the encoder frozen.

First-order optimisers stop where the loss is about 1e-6; a smooth field has many more digits to give.
With the encoder frozen the rows of the loss (losses.py) depend on a few thousand numbers θ, and

    (JᵀJ + λ diag JᵀJ) δ = -Jᵀ r

can be solved exactly. λ falls after a success and rises after a failure (Marquardt 1963).
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from pgt.data.sampling import gauss_legendre_grid
from pgt.models.base import AbstractFieldModel
from pgt.nn import frozen
from pgt.physics.pde import AbstractPDE
from pgt.training.losses import (
    Problem,
    condition_rows,
    equation_rows,
    reading_rows,
)
from pgt.training.settings import Polish
from pgt.training.step import split

START, EASE, STIFFEN = 1e-3, 5.0, 4.0
GIVE_UP = 1e8


class Block(NamedTuple):
    """Rows of one kind: a function of (θ, one item), the items, and the weight of each item's rows."""

    function: Callable
    items: PyTree
    weights: Float[Array | np.ndarray, " n"]


class Normal(NamedTuple):
    """The normal equations at θ: sum of squares, JᵀJ and Jᵀr."""

    cost: Float[Array, ""]
    matrix: Float[Array, "p p"]
    slope: Float[Array, " p"]


def polish(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    settings: Polish,
    report: Callable[[int, float], None] = lambda iteration, cost: None,
) -> tuple[AbstractFieldModel, AbstractPDE, list[float]]:
    """The model and equation after the polish (float64), and the cost after each iteration."""
    with jax.enable_x64(True):
        model, pde, problem = frozen.cast((model, pde, problem), jnp.float64)
        theta, rebuild = _parameters(model, pde)
        blocks = _blocks(rebuild, model.encode(problem.observations), problem, settings)
        theta, costs = _minimise(blocks, theta, settings, report)
        return *rebuild(theta), costs


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


def _blocks(rebuild, context, problem: Problem, settings: Polish) -> list[Block]:
    """All rows of the loss. Weights are such that the sum of squares is a sum of mean squares."""
    domain, readings = problem.domain, problem.observations

    def reading(theta, item):
        model, _ = rebuild(theta)
        one = jax.tree.map(lambda leaf: leaf[None], item)
        return reading_rows(
            lambda z: model.decode(context, z), one, model.scaling, problem.averaged
        )[0]

    def equation(theta, z):
        model, pde = rebuild(theta)
        rows = equation_rows(lambda y: model.decode(context, y), pde, problem.equation_scales, z)
        return jnp.stack(list(rows.values()))

    per_axis = [int(np.ceil(settings.points ** (1 / domain.dimension)))] * domain.dimension
    inside, volume = gauss_legendre_grid(domain.lower, domain.upper, per_axis)
    measured = np.full(len(readings), 1 / np.sqrt(np.asarray(readings.mask).sum()))
    blocks = [
        Block(reading, readings, measured),
        Block(equation, inside, settings.equation_weight * np.sqrt(volume / volume.sum())),
    ]
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):

        def on_face(theta, z, condition=condition, scale=scale):
            model, pde = rebuild(theta)
            return condition_rows(lambda y: model.decode(context, y), condition, scale, pde, z)

        face = condition.quadrature(2 * max(per_axis))
        blocks.append(Block(on_face, face, np.full(len(face), 1 / np.sqrt(len(face)))))
    return blocks


def _all_rows(blocks: list[Block], theta) -> Float[Array, " rows"]:
    def weighted(block: Block):
        rows = jax.vmap(block.function, in_axes=(None, 0))(theta, block.items)
        return (rows * block.weights[:, None]).reshape(-1)

    return jnp.concatenate([weighted(block) for block in blocks])


def _normal_equations(blocks: list[Block], theta) -> Normal:
    """Rows and their gradients point by point: reverse mode, since θ is much longer than a row."""

    def weighted(block: Block):
        def with_gradient(item):
            rows, pull = jax.vjp(lambda t: block.function(t, item), theta)
            return rows, jax.vmap(lambda seed: pull(seed)[0])(jnp.eye(len(rows)))

        rows, jacobian = jax.vmap(with_gradient)(block.items)
        weights = block.weights[:, None]
        return (rows * weights).reshape(-1), (jacobian * weights[..., None]).reshape(-1, len(theta))

    parts = [weighted(block) for block in blocks]
    rows = jnp.concatenate([r for r, _ in parts])
    jacobian = jnp.concatenate([j for _, j in parts])
    return Normal(rows @ rows, jacobian.T @ jacobian, jacobian.T @ rows)


# ------------------------------------------------------------------------------------- the search


def _minimise(blocks: list[Block], theta, settings: Polish, report):
    normal_at = jax.jit(lambda t: _normal_equations(blocks, t))
    attempt = jax.jit(lambda t, normal, damping: _attempt(blocks, t, normal, damping))
    began, damping = time.monotonic(), START
    normal = normal_at(theta)
    costs = [float(normal.cost)]
    for iteration in range(settings.iterations):
        candidate, cost = attempt(theta, normal, damping)
        if float(cost) < costs[-1]:
            theta, damping = candidate, damping / EASE
            normal = normal_at(theta)
        else:
            damping *= STIFFEN
        costs.append(min(float(cost), costs[-1]) if np.isfinite(cost) else costs[-1])
        report(iteration + 1, costs[-1])
        over = settings.seconds is not None and time.monotonic() - began > settings.seconds
        if over or damping > GIVE_UP:
            break
    return theta, costs


def _attempt(blocks: list[Block], theta, normal: Normal, damping):
    """One damped Gauss–Newton step and the cost where it leads (not a number if unsolvable)."""
    diagonal = jnp.diag(normal.matrix)
    # The second term keeps parameters that no row depends on from making the matrix singular.
    ridge = damping * diagonal + 1e-15 * jnp.mean(diagonal)
    factor = jax.scipy.linalg.cho_factor(normal.matrix + jnp.diag(ridge))
    candidate = theta - jax.scipy.linalg.cho_solve(factor, normal.slope)
    rows = _all_rows(blocks, candidate)
    return candidate, rows @ rows
