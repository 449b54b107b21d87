"""Levenberg–Marquardt with geodesic acceleration, optionally under a prior.

    (JᵀJ + λ D) δ₁ = -Jᵀ r,        (JᵀJ + λ D) δ₂ = -½ Jᵀ r''[δ₁, δ₁],        θ ← θ + δ₁ + δ₂

D is the mean of diag JᵀJ times the identity. δ₂, the geodesic acceleration of Transtrum & Sethna
(2012), bends the step along the curved valley; a step whose δ₂ is not small beside δ₁ is refused. λ
falls after a success and rises after a failure. A prior adds a|θ|² to the sum of squares (evidence.py).
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.training import evidence
from pgt.training.settings import Polish

START, EASE, STIFFEN = 1e-2, 3.0, 2.0  # damping at first, after a success, after a failure
MOST_BEND = 0.75  # of 2|δ₂| / |δ₁|
LEAST, GIVE_UP = 1e-15, 1e8
AHEAD = 0.1  # of the step, where the curvature of the rows is measured
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
