r"""The MAP estimate of a family's system, in a few steps of one compiled program.

For families of few unknowns. The derivatives of all fields by all unknowns are pushed through the coarse
solver together; each Gauss–Newton step averages over the levels of noise (field_posterior.py) and is
shortened where that lowers the cost. Nothing leaves the device between steps, and many systems can be
solved in one call.

At the end the law is compared with alternatives that extend it: other coefficients than those given, by δ
in their logarithms, or a smooth field b in addition to those of the law,

$$ d = W z + G\, \delta + e, \qquad d = W z + B\, b + e, $$

by the probability of the readings under each, averaged over all levels of noise. Noise cannot hide an
error: if the readings fit an alternative better than chance allows, it is the more probable law. The
answer remains that of the given law; its spread includes the distance to the alternatives, weighted by
their probabilities.
"""

import math
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.data.domain import Domain
from pgt.families.field_posterior import NoiseMixture
from pgt.families.laws.solved import AbstractSolved
from pgt.families.observation_operator import (
    CLEAN_NOISE,
    AssimilationProblem,
    ObservationOperator,
    PointEvaluator,
    double_precision,
    problem_of_batch,
)
from pgt.families.sensing import SensorBatch

# ------------------------------------------------------------------------------- laws compared

COEFFICIENT_SIGMA = 0.5  # The prior σ of the logarithm of a coefficient that may be wrong.
SMOOTH_SIGMAS = (0.01, 0.1)  # The prior σ of an additional smooth field, in units of the readings.
# The prior probabilities of the law, of other coefficients and of each smooth field.
LOG_PRIOR = np.log([0.9, 0.05, 0.025, 0.025])
DEGREES = {1: 8, 2: 3, 3: 2}  # The degree of a smooth field by the number of axes.
DOUBT_PROBABILITY = 0.95  # The probability of the alternatives above which a doubt is stated.
MIN_SHIFT = 1e-3  # The shift of the field, in units of its spread, that a coarse solver can show.
# Coefficients that move the field by less than this share of the largest move are not named.
NAMED_SHARE = 0.3


class LawComparison(NamedTuple):
    """The law beside its alternatives.

    Probabilities of the law, of other coefficients and of a smooth field; logarithmic deviations of the
    coefficients, their σ, and the move of the fields that each causes; the shift of the fields by the
    alternatives, and the spread that the law leaves, both in units of the fields' spread.
    """

    probabilities: Float[Array | np.ndarray, "*k 3"]
    logs: Float[Array | np.ndarray, "*k p"]
    log_sigmas: Float[Array | np.ndarray, "*k p"]
    moves: Float[Array | np.ndarray, "*k p"]
    shift: Float[Array | np.ndarray, "*k"]
    spread: Float[Array | np.ndarray, "*k"]

    def doubts(self, known: Mapping[str, float]) -> list[str]:
        """Sentences on how the readings contradict the law."""
        law, coefficients, smooth = np.asarray(self.probabilities)
        if law > 1 - DOUBT_PROBABILITY or self.shift < max(MIN_SHIFT, 0.5 * float(self.spread)):
            return []
        if coefficients < smooth:
            return [
                "the readings show something smooth that no system of the family has, "
                f"{100 * float(self.shift):.2g} % of the field: other boundaries, sources or forces?"
            ]
        return [self._coefficient_doubt(known)]

    def _coefficient_doubt(self, known: Mapping[str, float]) -> str:
        logs, sigmas, moves = map(np.asarray, (self.logs, self.log_sigmas, self.moves))
        names, found = sorted(known), []  # the order of JAX
        for k in np.flatnonzero(moves >= NAMED_SHARE * moves.max()):
            value = known[names[k]]
            # The interval counts noise and the error of the linearization.
            reach = np.hypot(1.645 * sigmas[k], np.max(logs**2) / 2)
            low, middle, high = value * np.exp(logs[k] + reach * np.array([-1, 0, 1]))
            found.append(
                f"{names[k]} is given as {value:g}, the readings speak for about {middle:.3g} "
                f"({low:.3g} to {high:.3g})"
            )
        return "; ".join(found)


class Effects(NamedTuple):
    """Derivatives by unknowns, by coefficients and by smooth fields, of readings or of fields."""

    unknowns: Float[Array, "..."]
    coefficients: Float[Array, "..."]
    smooth: Float[Array, "..."]


def compare_laws(
    rows: Effects,
    misses: Float[Array, " m"],
    fields: Effects,
    size: Float[Array, " c"],
    count,
    trust,
) -> tuple[LawComparison, Float[Array, "*g c"]]:
    """The comparison, and the standard deviation of the fields under all laws. `rows` are
    (m, unknowns) and in units of the noise; `fields` are (unknowns, *grid, c) with spreads `size`."""
    parameters = rows.coefficients.shape[1]

    def one(alternative):
        columns, shapes = alternative
        mixture = NoiseMixture.of(jnp.column_stack([rows.unknowns, columns]), misses, count, trust)
        moments = mixture.moments(jnp.concatenate([fields.unknowns, shapes]))
        return mixture.evidence, *moments, _last_moments(mixture, columns.shape[1])

    added = [(jnp.zeros_like(rows.smooth), jnp.zeros_like(fields.smooth))]
    if parameters:
        added.append(
            (COEFFICIENT_SIGMA * rows.coefficients, COEFFICIENT_SIGMA * fields.coefficients)
        )
    added += [(sigma * rows.smooth, sigma * fields.smooth) for sigma in SMOOTH_SIGMAS]
    # Sequentially: parallel decompositions of many matrices wait for each other's threads.
    evidence, means, variances, last = jax.lax.map(one, _stack(added))
    variance, shifts = variances[0], (means - means[0]) ** 2
    shares = jax.nn.softmax(evidence + jnp.asarray(LOG_PRIOR)[np.r_[0, 1 - len(added) : 0]])
    inner, shift = (jnp.tensordot(shares, part, 1) for part in (variances, shifts))
    by_kind = jnp.stack([shares[0], jnp.sum(shares[1:-2]), jnp.sum(shares[-2:])])
    logs, sigmas = (COEFFICIENT_SIGMA * part[1, :parameters] for part in last)
    apart = [jnp.sqrt(jnp.mean(part / (size**2 + 1e-300))) for part in (shift, variance)]
    axes = tuple(range(1, fields.coefficients.ndim))
    relative = (fields.coefficients / (size + 1e-300)) ** 2
    moves = jnp.abs(logs) * jnp.sqrt(jnp.mean(relative, axis=axes))
    found = LawComparison(by_kind, logs, sigmas, moves, *apart)
    return found, jnp.sqrt(inner + shift)


def _stack(added: list[tuple[Array, Array]]) -> tuple[Float[Array, "h m w"], Array]:
    """The additions of all laws as two arrays, padded with zeros to the widest."""
    wide = max(columns.shape[1] for columns, _ in added)

    def padded(part, axis: int):
        width = [(0, 0)] * part.ndim
        width[axis] = (0, wide - part.shape[axis])
        return jnp.pad(part, width)

    columns = jnp.stack([padded(columns, 1) for columns, _ in added])
    return columns, jnp.stack([padded(shapes, 0) for _, shapes in added])


def _last_moments(mixture: NoiseMixture, count: int):
    """Mean and standard deviation of the last unknowns."""
    rotated = mixture.rotated[:, -count:]
    means = (mixture.gains * mixture.along) @ rotated  # l w
    mean = mixture.weights @ means
    left = 1 - (mixture.weights @ mixture.gains) @ rotated**2
    variance = jnp.maximum(left, 0.0) + mixture.weights @ (means - mean) ** 2
    return mean, jnp.sqrt(variance)


def smooth_alternatives(problem: AssimilationProblem) -> Float[Array, "q *grid c"]:
    """Smooth fields for each field that is read, as large as its readings."""
    operator = problem.operator
    waves = jnp.asarray(smooth_fields(operator.family.domain, operator.family.axes))
    found = []
    for column, field in enumerate(operator.read_fields):
        own = (jnp.asarray(operator.columns) == column) & jnp.asarray(problem.is_real)
        size = jnp.max(jnp.where(own, problem.unit, 0.0))
        place = jnp.zeros(len(operator.family.fields)).at[field].set(size)
        found.append(waves[..., None] * place)
    return jnp.concatenate(found)


def smooth_fields(domain: Domain, axes: Mapping[str, np.ndarray]) -> Float[np.ndarray, "q *grid"]:
    """Products of slow cosines along the axes, up to a total degree, at the nodes.

    >>> domain = Domain(x=(0, 1), t=(0, 1))
    >>> smooth_fields(domain, {"x": np.linspace(0, 1, 5), "t": np.linspace(0, 1, 3)}).shape
    (10, 5, 3)
    """
    degree = DEGREES.get(len(axes), 2)
    lines = [_waves(domain, axis, nodes, degree) for axis, nodes in axes.items()]
    found = []
    for chosen in product(*lines):
        if sum(order for order, _ in chosen) <= degree:
            shape = np.ones(())
            for _, wave in chosen:
                shape = shape[..., None] * wave
            found.append(shape)
    return np.stack(found)


def _waves(domain: Domain, axis: str, nodes: np.ndarray, degree: int):
    """Waves along an axis, each with its number of half periods."""
    low, high = domain.bounds(axis)
    place = np.pi * (nodes - low) / (high - low)
    if axis not in domain.periodic:
        return [(k, np.cos(k * place)) for k in range(degree + 1)]
    around = [
        (2 * k, wave(2 * k * place)) for k in range(1, degree // 2 + 1) for wave in (np.cos, np.sin)
    ]
    return [(0, np.ones_like(place)), *around]


# ------------------------------------------------------------------------------- the search

STEP_LENGTHS = np.array([1.0, 0.5, 0.25, 0.125])
MAX_STEPS = 12
CONVERGED = 0.3  # The error of the linearization at the readings, in units of their noise.
ROUNDING = 1e-5  # The error, in units of the spread, that counts as converged in any case.
# A state whose norm exceeds its expectation by more standard deviations is not one of the family.
MAX_EXCESS = 5.0
MAX_NOISE = 0.3  # More noise than this, in units of the spread, contradicts the law.
MAX_NOISE_RATIO = 3.0  # So does noise that exceeds a given σ by this factor.
LARGEST_TANGENTS = 2**24  # numbers in the derivatives of all fields
# The number of systems in one batch: what the caches of a processor hold, and what a GPU has room for.
CPU_BATCH, MAX_BATCH, GPU_NUMBERS = 8, 256, 2**28


class SystemEstimate(NamedTuple):
    """The most probable unknowns, and the standard deviation of the fields at the family's nodes.

    `level` is the noise in units of the σ assumed, `missed` the error of the last linearization in units
    of the noise, `excess` that of the norm of the state over its expectation in standard deviations.
    `sigmas` are the standard deviations of unknown coefficients, 0 for the state.
    """

    unknowns: Float[Array | np.ndarray, "*k n"]
    spread: Float[Array | np.ndarray, "..."]
    level: Float[Array | np.ndarray, "*k"]
    missed: Float[Array | np.ndarray, "*k"]
    excess: Float[Array | np.ndarray, "*k"]
    steps: Array | np.ndarray
    sigmas: Float[Array | np.ndarray, "*k n"]
    comparison: LawComparison | None = None

    def is_lawful(self, has_given_noise: bool) -> Bool[np.ndarray, "*k"]:
        """Whether the search has converged and nothing contradicts the law."""
        most = MAX_NOISE_RATIO if has_given_noise else MAX_NOISE / CLEAN_NOISE
        usual = (np.asarray(self.excess) < MAX_EXCESS) & (np.asarray(self.level) <= most)
        return np.asarray((np.asarray(self.missed) < 1) & usual)

    def contradictions(self, has_given_noise: bool, noise: float) -> list[str]:
        """Sentences on why the law does not answer; empty where only the search failed."""
        found, level = [], float(self.level)
        if has_given_noise and level > MAX_NOISE_RATIO:
            found.append(
                f"the readings are {level:.1f} times as far from all systems of the family as their "
                "noise has it"
            )
        elif noise > MAX_NOISE:
            found.append(
                f"no system of the family comes nearer to the readings than {100 * noise:.0f} % of "
                "their spread"
            )
        if float(self.excess) >= MAX_EXCESS:
            found.append("the state behind the readings is not one that the family draws")
        return found


def is_small(family: AbstractSolved) -> bool:
    """Whether the derivatives of all fields by all unknowns fit into memory."""
    return _tangent_size(family) <= LARGEST_TANGENTS


def _tangent_size(family: AbstractSolved) -> int:
    nodes = math.prod(len(line) for line in family.axes.values()) * len(family.fields)
    return math.prod(family.noise_shape) * nodes


def batch_size(family: AbstractSolved, backend: str) -> int:
    """The number of systems that are solved together; on a GPU hundreds cost as much as one."""
    if backend == "cpu":
        return CPU_BATCH
    return int(np.clip(GPU_NUMBERS // _tangent_size(family), CPU_BATCH, MAX_BATCH))


# ------------------------------------------------------------------------------- the program


class _SearchState(NamedTuple):
    """An estimate without its spread, and the last linearization, which the spread is made of."""

    found: SystemEstimate
    rows: Float[Array, "m n"]
    misses: Float[Array, " m"]
    tangents: Float[Array, "n *grid c"]
    curvature: Float[Array, ""]  # the error of the linearization in units of the field


class _Setting(NamedTuple):
    """A problem, its coarse operator, and the strides to the family's own nodes."""

    problem: AssimilationProblem
    coarse: ObservationOperator
    strides: tuple[slice, ...]

    @staticmethod
    def of(problem: AssimilationProblem, family: AbstractSolved) -> "_Setting":
        coarse = problem.operator.coarse()
        strides = tuple(
            slice(None, None, max((len(many) - 1) // max(len(own) - 1, 1), 1))
            for many, own in zip(coarse.family.axes.values(), family.axes.values(), strict=True)
        )
        return _Setting(problem, coarse, strides)


def estimate(
    problem: AssimilationProblem, family: AbstractSolved, start: Float[Array, " n"]
) -> SystemEstimate:
    """The MAP estimate by steps from a start, with the spread at the nodes of `family`."""
    setting = _Setting.of(problem, family)

    def goes_on(state: _SearchState):
        return (state.found.missed > CONVERGED) & (state.found.steps < MAX_STEPS)

    def step(state: _SearchState) -> _SearchState:
        return _step(setting, jnp.asarray(state.found.unknowns), state.found.steps + 1)

    first = _step(setting, start, 1)
    state = jax.lax.while_loop(goes_on, step, first)
    comparison, spread = _compare(setting, state)
    return state.found._replace(spread=spread, comparison=comparison)


estimate_one = eqx.filter_jit(estimate)


def _step(setting: _Setting, z: Float[Array, " n"], number) -> _SearchState:
    """One Gauss–Newton step with the best of a few lengths."""
    problem, coarse, strides = setting
    fields, push = jax.linearize(coarse.fields, z)
    # The barrier keeps the compiler from folding the solver into constants, which takes minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size))
    tangents = jax.lax.map(push, units, batch_size=128)  # n *grid c
    here, rows = coarse.readings_of(fields), jax.vmap(coarse.readings_of)(tangents).T
    real, sigma = jnp.asarray(problem.is_real), jnp.asarray(problem.sigma)
    whitened = jnp.where(real[:, None], rows / sigma[:, None], 0.0)
    misses = jnp.where(real, (problem.values - here) / sigma, 0.0) + whitened @ z
    mixture = NoiseMixture.of(whitened, misses, jnp.sum(real), problem.trust)
    tried = z + jnp.asarray(STEP_LENGTHS)[:, None] * (mixture.mean - z)
    reached = jax.vmap(coarse)(tried)
    left = jnp.where(real, (problem.values - reached) / sigma, 0.0)
    cost = jnp.sum(tried**2, axis=1) + jnp.sum(left**2, axis=1) / mixture.square
    best = jnp.argmin(jnp.where(jnp.isfinite(cost), cost, jnp.inf))
    error = reached[best] - here - rows @ (tried[best] - z)
    level = jnp.sqrt(mixture.square)
    noise = level * sigma + ROUNDING / CONVERGED * problem.unit
    found = SystemEstimate(
        tried[best], jnp.zeros(()), level, _rms(error / noise, real), mixture.excess,
        jnp.asarray(number), _coefficient_sigmas(mixture, coarse),
    )  # fmt: skip
    curvature = _rms(error / jnp.asarray(problem.unit), real)
    return _SearchState(found, whitened, misses, tangents[:, *strides], curvature)


def _coefficient_sigmas(mixture: NoiseMixture, operator: ObservationOperator) -> Float[Array, " n"]:
    """Standard deviations of the unknown coefficients, which are the last unknowns."""
    state = math.prod(operator.family.noise_shape)
    unknown = operator.size - state
    if not unknown:
        return jnp.zeros(state)
    return jnp.concatenate([jnp.zeros(state), _last_moments(mixture, unknown)[1]])


def _compare(setting: _Setting, state: _SearchState):
    """The comparison of laws, and the spread that includes it."""
    problem, coarse, strides = setting
    z = jnp.asarray(state.found.unknowns)
    real, unit = jnp.asarray(problem.is_real), jnp.asarray(problem.unit)
    logs = jnp.zeros(len(coarse.known))
    here, push = jax.linearize(lambda logs: coarse.fields(z, logs), logs)
    # The accurate solver gets the unknowns with which the coarse one meets the readings.
    is_same = problem.operator.family is coarse.family
    left = jnp.zeros_like(here) if is_same else problem.operator.fields(z) - here
    error = jnp.hypot(state.curvature, _rms(coarse.readings_of(left) / unit, real))
    sigma = jnp.hypot(problem.sigma, error * unit)
    share = problem.sigma / sigma

    def whitened(fields):
        rows = jax.vmap(coarse.readings_of)(fields).T
        return jnp.where(real[:, None], rows / sigma[:, None], 0.0)

    moved, smooth = jax.vmap(push)(jnp.eye(logs.size)), smooth_alternatives(problem)
    comparison, spread = compare_laws(
        Effects(state.rows * share[:, None], whitened(moved), whitened(smooth)),
        state.misses * share,
        Effects(state.tangents, moved[:, *strides], smooth[:, *strides]),
        jnp.std(here, axis=tuple(range(here.ndim - 1))), jnp.sum(real), problem.trust,
    )  # fmt: skip
    return comparison, jnp.hypot(spread, left[strides])


def _rms(values: Float[Array, " m"], real) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(jnp.where(real, values, 0.0) ** 2) / jnp.sum(real))


# ------------------------------------------------------------------------------- many systems


class BatchEstimate(NamedTuple):
    """Fields and standard deviations of k systems at points, the noise of their readings in units of the
    spread, whether the law may answer, and sentences on what contradicts it."""

    mean: Float[np.ndarray, "k m c"]
    spread: Float[np.ndarray, "k m c"]
    noise: Float[np.ndarray, " k"]
    is_lawful: Bool[np.ndarray, " k"]
    doubts: list[list[str]]


def estimate_many(family: AbstractSolved, batch: SensorBatch) -> BatchEstimate:
    """The estimates of many systems of unknown noise."""
    with double_precision():
        points = PointEvaluator.of(family, batch.at)
        mean, spread, found = _estimate_batch(problem_of_batch(family, batch), family, points)
    found = jax.tree.map(np.asarray, found)
    noise, lawful, doubts = CLEAN_NOISE * found.level, found.is_lawful(False), []
    for k in range(len(mean)):
        one = jax.tree.map(lambda a, k=k: a[k], found)
        known = {name: float(of[k]) for name, of in batch.coefficients.items()}
        doubts.append(
            one.comparison.doubts(known) if lawful[k] else one.contradictions(False, noise[k])
        )
    return BatchEstimate(np.asarray(mean), np.asarray(spread), noise, lawful, doubts)


@eqx.filter_jit
def _estimate_batch(problem: AssimilationProblem, family: AbstractSolved, points: PointEvaluator):
    whole = problem.operator
    tables = whole.stencil, whole.columns, dict(whole.known)
    data = problem.values, problem.sigma, problem.unit, problem.is_real, problem.is_given

    def one(parts):
        (stencil, columns, known), (values, sigma, unit, real, given) = parts
        operator = ObservationOperator(
            whole.family, stencil, whole.boxes, columns, known, whole.read_fields
        )
        own = AssimilationProblem(operator, values, sigma, unit, real, given, problem.trust)
        found = estimate(own, family, jnp.zeros(operator.size))
        evaluated = points(found.unknowns, known, found.spread)
        return *evaluated, found._replace(spread=jnp.zeros(()))

    together = batch_size(whole.family, jax.default_backend())
    return jax.lax.map(one, jax.tree.map(jnp.asarray, (tables, data)), batch_size=together)
