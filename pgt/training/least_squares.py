"""One step of Levenberg and Marquardt, with geodesic acceleration, momentum and a prior.

    (JᵀJ + Λ) δ₁ = λ D φ - Jᵀ r - a P θ,        (JᵀJ + Λ) δ₂ = -½ Jᵀ r''[δ₁, δ₁],        Λ = a P + λ D

D is the mean eigenvalue of JᵀJ times the identity. φ is what is left of the step before: damping then
pulls towards it and not towards no step at all, so that what the residual points of many steps tell
adds up (SPRING, Goldshlager et al. 2024). δ₂, the geodesic acceleration of Transtrum & Sethna (2012),
bends the step along the curved valley; of a step whose δ₂ is not small beside δ₁ no more than a share
t is trusted, t δ₁ + t² δ₂, which bends as much less. The prior
adds a|w|² to the sum of squares (evidence.py), where w are the weights among θ, P = 1: coefficients,
which come last, are not held back.

With fewer rows than numbers in θ the same step comes from the smaller matrix JJᵀ (ENGD-W),

    (JᵀJ + Λ)⁻¹ Jᵀ x = Λ⁻¹ Jᵀ (1 + J Λ⁻¹ Jᵀ)⁻¹ x,        δ₁ = ψ - (JᵀJ + Λ)⁻¹ Jᵀ (r + Jψ),

with Λψ = λ D φ - a P θ.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.training import dense, evidence
from pgt.training.dense import Square, Vector
from pgt.training.jacobian import Data, Jacobian, Plan, Program
from pgt.training.likelihood import SMALLEST_SIGMA, Likelihood, likely_rows, noise_scale
from pgt.training.rows import Block, Rows

MOST_BEND = 0.75  # of 2|δ₂| / |δ₁|
LEAST_SHARE = 0.1  # of a step that bends too much as a whole
SMALLEST_STEP = 1e-300
AHEAD = 0.1  # of the step, where the curvature of the rows is measured
UNSEEN = 1e-15  # of the mean: keeps numbers that no row depends on from making a matrix singular
FIRM = 1e-11  # of all eigenvalues together: of a weight held by so much, four digits are known
SETTLED = 0.01  # of the prior's strength: a round that changes it by less is the last
GIGABYTE = 1e9


class Prior(NamedTuple):
    """How far the weights are held back at first, and what the evidence needs to know: how many rows,
    the first ones, are readings; how many of these were measured; σ, or 0 where it is unknown. The
    last `free` of θ are coefficients: what they are near to is for the readings to say."""

    hold: float
    rows: int
    count: float
    given: float
    free: int = 0

    def mask(self, size: int) -> Float[np.ndarray, " p"]:
        """1 for weights, 0 for coefficients."""
        return np.where(np.arange(size) < size - self.free, 1.0, 0.0)

    def held(self, theta: Vector) -> Float[np.ndarray, " p"]:
        """The weights among θ, 0 in the place of coefficients."""
        return self.mask(len(theta)) * np.asarray(theta)

    def cost(self, theta: Vector) -> float:
        """a|w|²."""
        held = self.held(theta)
        return self.hold * float(held @ held)


NO_PRIOR = Prior(0.0, 0, 0.0, 0.0)


class Search:
    """The rows of some blocks under a likelihood, compiled once.

    With a likelihood that knows of outliers the rows of the first block, the readings (`mask`: those
    that were measured), count as it says (likelihood.py); their σ follows the fit. `memory` are the
    bytes that J may take.
    """

    def __init__(
        self,
        rows: Rows | list[Block],
        likelihood: Likelihood = "gauss",
        mask: np.ndarray | None = None,
        memory: float = GIGABYTE,
    ):
        self.points = rows if isinstance(rows, Rows) else Rows(tuple(rows))
        self.stiffness, self.likelihood, self.memory = 1.0, likelihood, memory
        self.mask = np.ones(0, bool) if mask is None else mask.reshape(-1)
        weights = self.points.blocks[0].weights
        self.sigma, self.smallest = np.inf, SMALLEST_SIGMA * float(np.max(weights))
        self.program = Program(self.points.blocks, self.points.at_once)

    def stiffened(self, factor: float) -> "Search":
        """The same with all rows but the readings, those of the first block, times a factor."""
        stiff = copy(self)
        stiff.stiffness = factor
        return stiff

    def anew(self, number: int) -> "Search":
        """The same at the residual points of draw `number`."""
        drawn = copy(self)
        drawn.points = self.points.anew(number)
        return drawn

    def without_equation(self) -> "Search":
        """The same for the readings and conditions alone."""
        alone = copy(self)
        alone.points = self.points.without_equation()
        alone.program = Program(alone.points.blocks)
        return alone

    def refreshed(self, theta) -> "Search":
        """The same with σ of the readings as they are missed at θ."""
        if self.likelihood == "gauss":
            return self
        refreshed = copy(self)
        rows = self.program.rows(theta, self.data)[: len(self.mask)]
        refreshed.sigma = max(float(noise_scale(rows, self.mask)), self.smallest)
        return refreshed

    @property
    def data(self) -> Data:
        """Items and weights of every block."""
        factors = [1.0] + [self.stiffness] * (len(self.points.blocks) - 1)
        return tuple(
            (block.items, factor * np.asarray(block.weights))
            for factor, block in zip(factors, self.points.blocks, strict=True)
        )

    def rows_at(self, theta) -> Vector:
        return self._likely(dense.local(self.program.rows(theta, self.data)))[0]

    def jacobian_at(self, theta) -> Jacobian:
        """J with the rows at θ."""
        data = self.data
        count = self.program.count(theta, data)
        plan = Plan.of(count, len(theta), self.memory)
        jacobian = Jacobian(self.program, theta, data, plan)
        jacobian.rows, slope = self._likely(jacobian.rows)
        return jacobian.scaled(slope)

    def normal_at(self, theta) -> "Normal":
        return Normal.of(self.jacobian_at(theta))

    def cost(self, theta, prior: Prior) -> float:
        """|r|² + a|w|²."""
        rows = self.rows_at(theta)
        return float(rows @ rows) + prior.cost(theta)

    def _likely(self, rows):
        """Rows under the likelihood, and their slope; None where it is 1 everywhere."""
        if self.likelihood == "gauss":
            return rows, None
        count = len(self.mask)
        head, slope = _likely_with_slope(self.likelihood, rows[:count], self.sigma)
        rest = jnp.asarray(rows)[count:]
        return (
            dense.local(jnp.concatenate([head, rest])),
            dense.local(jnp.concatenate([slope, jnp.ones_like(rest)])),
        )


@dataclass(frozen=True)
class Normal:
    """The system at θ: J with r, its Gram matrix (JᵀJ, or JJᵀ where that is smaller), and Jᵀr."""

    jacobian: Jacobian
    gram: Square
    slope: Vector

    @staticmethod
    def of(jacobian: Jacobian) -> "Normal":
        return Normal(jacobian, jacobian.gram(), jacobian.transposed(jacobian.rows))

    @property
    def rows(self) -> Vector:
        return self.jacobian.rows

    @property
    def size(self) -> float:
        """The mean of the eigenvalues of JᵀJ, of those that are not 0 because rows are few."""
        return float(self.gram.trace()) / min(self.jacobian.shape)

    def cost(self, prior: Prior) -> float:
        """|r|² + a|w|²."""
        return float(self.rows @ self.rows) + prior.cost(self.jacobian.theta)

    def weighted(self, shift: Vector, free: int) -> Square:
        """J diag(1/shift) Jᵀ, where `shift` is one number for weights and one for coefficients."""
        if not free:
            return self.gram / shift[0]
        last = self.jacobian.last(free)
        return self.gram / shift[0] + (1 / shift[-1] - 1 / shift[0]) * (last @ last.T)


class Bent(NamedTuple):
    """A step along the valley, and t: the share of δ₁ that it is."""

    step: Vector
    share: float


class Damped:
    """(JᵀJ + Λ)⁻¹ at θ, factorised; `factor` is None where that cannot be done."""

    def __init__(self, normal: Normal, prior: Prior, damping: float):
        self.normal, self.prior = normal, prior
        self.damping = (damping + UNSEEN) * normal.size
        self.shift = prior.hold * prior.mask(len(normal.slope)) + self.damping
        if normal.jacobian.plan.dual:
            ones = np.ones(len(normal.rows))
            self.factor = dense.factorised(normal.weighted(self.shift, prior.free), ones)
        else:
            self.factor = dense.factorised(normal.gram, self.shift)

    def step(self, momentum: Vector | float = 0.0) -> Vector:
        """δ₁."""
        theta = self.normal.jacobian.theta
        towards = self.damping * momentum - self.prior.hold * self.prior.held(theta)
        if not self.normal.jacobian.plan.dual:
            return self._solve(towards - self.normal.slope)
        start = towards / self.shift
        return start - self.pull(self.normal.rows + self.normal.jacobian.times(start))

    def pull(self, rows: Vector) -> Vector:
        """(JᵀJ + Λ)⁻¹ Jᵀ x."""
        jacobian = self.normal.jacobian
        if jacobian.plan.dual:
            return jacobian.transposed(self._solve(rows)) / self.shift
        return self._solve(jacobian.transposed(rows))

    def _solve(self, right: Vector) -> Vector:
        assert self.factor is not None  # asked for by whoever steps
        return np.asarray(dense.solved(self.factor, right))

    def bent(self, search: Search, step: Vector) -> "Bent | None":
        """As much of the step as does not bend too much to be trusted: t δ₁ + t² δ₂. None where next to
        nothing is left of it."""
        jacobian, theta = self.normal.jacobian, self.normal.jacobian.theta
        # r''[δ, δ] from one more evaluation of the rows: cheaper to run and to compile than its jvp.
        ahead = search.rows_at(theta + AHEAD * step)
        curvature = 2 * (ahead - self.normal.rows - AHEAD * jacobian.times(step)) / AHEAD**2
        bend = -self.pull(curvature) / 2
        turn = 2 * np.linalg.norm(bend) / max(float(np.linalg.norm(step)), SMALLEST_STEP)
        share = min(1.0, MOST_BEND / max(float(turn), MOST_BEND))
        return Bent(share * step + share**2 * bend, share) if share >= LEAST_SHARE else None


@partial(jax.jit, static_argnums=0)
def _likely_with_slope(likelihood: Likelihood, rows, sigma):
    return jax.jvp(lambda r: likely_rows(likelihood, r, sigma), (rows,), (jnp.ones_like(rows),))


def revised(prior: Prior, normal: Normal, rounds: int = 1) -> tuple[Prior, float]:
    """The prior with the strength that the evidence at θ gives it after some rounds, and σ; after fewer
    where they change it no more."""
    sigma, weights = prior.given, prior.held(normal.jacobian.theta)
    for _ in range(rounds):
        found = determined(normal, prior)
        misfit, before = normal.rows[: prior.rows], prior.hold
        hold, sigma = evidence.update(found, misfit, weights, prior.count, prior.given)
        prior = prior._replace(hold=float(hold))
        if abs(prior.hold - before) <= SETTLED * before:
            break
    return prior, float(sigma)


def determined(normal: Normal, prior: Prior) -> evidence.Determined:
    """How many numbers the rows determine under the prior."""
    jacobian, free = normal.jacobian, prior.free
    hold = prior.hold * evidence.held_back(len(normal.slope), free)
    if jacobian.plan.dual:
        kernel = normal.weighted(np.asarray(hold), free)
        last = jacobian.last(free) / np.sqrt(hold[-1]) if free else np.zeros((len(kernel), 1))
        return evidence.determined_dual(kernel, last, prior.rows)
    if jacobian.matrix is not None:
        readings, root = jacobian.first(prior.rows), root_of(normal, hold, prior.hold)
    else:
        readings = jacobian.triangle(prior.rows)  # which stands for the rows that it is made of
        factor = dense.factorised(normal.gram, hold)
        root = np.full_like(normal.gram, np.nan) if factor is None else factor.T
    return evidence.determined(root, readings, prior.hold, free)


def root_of(normal: Normal, held: Vector, hold: float) -> Square:
    """R, upper triangular, with RᵀR = JᵀJ + diag(held), where weights are held by `hold`.

    From JᵀJ where they are held so firmly that it has the digits: in a twentieth of the time. A matrix
    loses as many of them as its largest eigenvalue is above what holds the weights.
    """
    if not normal.jacobian.plan.dual and hold > FIRM * float(normal.gram.trace()):
        factor = dense.factorised(normal.gram, held)
        if factor is not None:
            return factor.T
    return evidence.root(normal.jacobian.condensed(), jnp.asarray(held))
