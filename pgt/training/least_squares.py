"""Levenberg–Marquardt with geodesic acceleration, optionally under a prior.

    (JᵀJ + λ D) δ₁ = -Jᵀ r,        (JᵀJ + λ D) δ₂ = -½ Jᵀ r''[δ₁, δ₁],        θ ← θ + δ₁ + δ₂

D is the mean of diag JᵀJ times the identity. δ₂, the geodesic acceleration of Transtrum & Sethna
(2012), bends the step along the curved valley; a step whose δ₂ is not small beside δ₁ is refused. λ
falls after a success and rises after a failure. A prior adds a|w|² to the sum of squares (evidence.py),
where w are the weights among θ: coefficients, which come last, are not held back.
"""

import time
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.training import evidence
from pgt.training.likelihood import SMALLEST_SIGMA, Likelihood, likely_rows, noise_scale
from pgt.training.settings import Polish

START, EASE, STIFFEN = 1e-2, 2.0, 1.5  # damping at first, after a success, after a failure
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
    """The system at θ: r, the cost |r|² + a|w|², J, and the matrix and slope of the normal equations."""

    rows: Float[Array, " rows"]
    cost: Float[Array, ""]
    jacobian: Float[Array, "rows p"]
    matrix: Float[Array, "p p"]
    slope: Float[Array, " p"]


class Prior(NamedTuple):
    """How far the weights are held back at first, and what the evidence needs to know: how many rows,
    the first ones, are readings; how many of these were measured; σ, or 0 where it is unknown. The
    last `free` of θ are coefficients: what they are near to is for the readings to say."""

    hold: float
    rows: int
    count: float
    given: float
    free: int = 0

    def held(self, theta: Float[Array, " p"]) -> Float[Array, " p"]:
        """The weights among θ, 0 in the place of coefficients."""
        return theta.at[len(theta) - self.free :].set(0.0)


NO_PRIOR = Prior(0.0, 0, 0.0, 0.0)


class Search:
    """Levenberg–Marquardt over the rows of some blocks, compiled once.

    With a likelihood that knows of outliers the rows of the first block, the readings (`mask`: those
    that were measured), count as it says (likelihood.py); their σ follows the fit.
    """

    def __init__(
        self, blocks: list[Block], likelihood: Likelihood = "gauss", mask: np.ndarray | None = None
    ):
        self.stiffness, self.likelihood = 1.0, likelihood
        self.mask = np.ones(0, bool) if mask is None else mask.reshape(-1)
        self.sigma, self.smallest = np.inf, SMALLEST_SIGMA * float(np.max(blocks[0].weights))
        self._rows = jax.jit(partial(_all_rows, blocks))
        self._jacobian = jax.jit(partial(_rows_and_jacobian, blocks))

    def stiffened(self, factor: float) -> "Search":
        """The same with all rows but the readings, those of the first block, times a factor."""
        stiff = copy(self)
        stiff.stiffness = factor
        return stiff

    def refreshed(self, theta) -> "Search":
        """The same with σ of the readings as they are missed at θ."""
        if self.likelihood == "gauss":
            return self
        refreshed = copy(self)
        rows = self._rows(theta, self.stiffness)[: len(self.mask)]
        refreshed.sigma = max(float(noise_scale(rows, self.mask)), self.smallest)
        return refreshed

    def rows_at(self, theta) -> Float[Array, " rows"]:
        return self._likely(self._rows(theta, self.stiffness))[0]

    def jacobian_at(self, theta) -> tuple[Float[Array, " rows"], Float[Array, "rows p"]]:
        rows, jacobian = self._jacobian(theta, self.stiffness)
        rows, slope = self._likely(rows)
        return rows, jacobian if slope is None else slope[:, None] * jacobian

    def _likely(self, rows):
        """Rows under the likelihood, and their slope; None where it is 1 everywhere."""
        if self.likelihood == "gauss":
            return rows, None
        head, slope = _likely_with_slope(self.likelihood, rows[: len(self.mask)], self.sigma)
        return (
            rows.at[: len(head)].set(head),
            jnp.ones_like(rows).at[: len(head)].set(slope),
        )

    def normal_at(self, theta, prior: Prior) -> Normal:
        rows, jacobian = self.jacobian_at(theta)
        plain = Normal(rows, rows @ rows, jacobian, _gram(jacobian), jacobian.T @ rows)
        return _under(prior, prior.hold, theta, plain)

    def minimise(self, theta, settings: Polish, judge, report, prior: Prior | None = None):
        """The best θ and the cost after each iteration.

        `judge` is the held-out error at θ: readings can be memorised, so the best θ is the one that
        predicts what was not fitted. Under a prior nothing is memorised, and the last θ is the best.
        """
        began, damping, search = time.monotonic(), START, self.refreshed(theta)
        is_revised = prior is not None
        prior = prior or NO_PRIOR
        normal = search.normal_at(theta, prior)
        costs, best, best_iteration = [float(normal.cost)], theta, 0
        best_error = judge(theta) if judge else 0.0
        for iteration in range(1, settings.iterations + 1):
            candidate = _step(search.rows_at, theta, normal, damping)
            cost = search._cost(candidate, prior)
            is_better = cost < costs[-1]
            if is_better:
                theta, damping = candidate, max(damping / EASE, LEAST)
                search = search.refreshed(theta)
                normal = search.normal_at(theta, prior)
                error = judge(theta) if judge else 0.0
                if error <= best_error:
                    best, best_error, best_iteration = theta, error, iteration
            else:
                damping *= STIFFEN
            # Once it must be, however well the first prior is fulfilled; then whenever θ has moved.
            if is_revised and (iteration == SETTLE or (is_better and iteration > SETTLE)):
                prior, normal = _revise(prior, theta, normal)
            cost = float(normal.cost)
            costs.append(cost)
            report(iteration, cost)
            over = settings.seconds is not None and time.monotonic() - began > settings.seconds
            if over or damping > GIVE_UP or iteration - best_iteration > settings.patience:
                break
        return best, costs

    def _cost(self, theta, prior: Prior) -> float:
        rows, held = self.rows_at(theta), prior.held(theta)
        return float(rows @ rows + prior.hold * (held @ held))


@partial(jax.jit, static_argnums=0)
def _likely_with_slope(likelihood: Likelihood, rows, sigma):
    return jax.jvp(lambda r: likely_rows(likelihood, r, sigma), (rows,), (jnp.ones_like(rows),))


def _revise(prior: Prior, theta, normal: Normal) -> tuple[Prior, Normal]:
    """The prior with the strength that the evidence at θ gives it, and the system under it."""
    new, _ = revised(prior, theta, normal.rows, normal.jacobian)
    return new, _under(prior, new.hold - prior.hold, theta, normal)


def revised(prior: Prior, theta, rows, jacobian, rounds: int = 1) -> tuple[Prior, float]:
    """The prior with the strength that the evidence at θ gives it after some rounds, and σ."""
    sigma = prior.given
    for _ in range(rounds):
        hold, sigma = evidence.update(
            jacobian, rows[: prior.rows], theta,
            prior.hold, prior.count, prior.given, prior.free,
        )  # fmt: skip
        prior = prior._replace(hold=float(hold))
    return prior, float(sigma)


def _under(prior: Prior, hold: float, theta, normal: Normal) -> Normal:
    """The system with `hold` times the square of the weights added to the cost."""
    held = prior.held(theta)
    return normal._replace(
        cost=normal.cost + hold * (held @ held),
        matrix=normal.matrix + hold * jnp.diag(prior.held(jnp.ones_like(theta))),
        slope=normal.slope + hold * held,
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


def _all_rows(blocks: list[Block], theta, stiffness) -> Float[Array, " rows"]:
    def weighted(block: Block, factor):
        rows = jax.vmap(block.function, in_axes=(None, 0))(theta, block.items)
        return (rows * (factor * block.weights[:, None])).reshape(-1)

    return jnp.concatenate([weighted(*pair) for pair in _with_factors(blocks, stiffness)])


def _rows_and_jacobian(blocks: list[Block], theta, stiffness):
    """Rows and their gradients point by point: reverse mode, since θ is much longer than a row."""

    def weighted(block: Block, factor):
        def with_gradient(item):
            rows, pull = jax.vjp(lambda t: block.function(t, item), theta)
            return rows, jax.vmap(lambda seed: pull(seed)[0])(jnp.eye(len(rows)))

        rows, jacobian = jax.vmap(with_gradient)(block.items)
        weights = factor * block.weights[:, None]
        return (rows * weights).reshape(-1), (jacobian * weights[..., None]).reshape(-1, len(theta))

    parts = [weighted(*pair) for pair in _with_factors(blocks, stiffness)]
    return jnp.concatenate([r for r, _ in parts]), jnp.concatenate([j for _, j in parts])


def _with_factors(blocks: list[Block], stiffness) -> list[tuple[Block, Float[Array, ""] | float]]:
    return [(block, stiffness if k else 1.0) for k, block in enumerate(blocks)]


def _gram(jacobian: Float[Array, "rows p"]) -> Float[Array, "p p"]:
    """JᵀJ. On the CPU by numpy, whose BLAS knows that it is symmetric: a third of XLA's time."""
    if jax.default_backend() != "cpu":
        return jacobian.T @ jacobian
    host = np.asarray(jacobian)
    return jnp.asarray(host.T @ host)
