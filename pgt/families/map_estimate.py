r"""The MAP estimate of a family's system by Gauss–Newton steps, as one compiled program.

It is meant for families of few unknowns. The derivatives of all fields by all unknowns are pushed through
the coarse solver together. Each Gauss–Newton step averages over noise levels (field_posterior.py) and is
shortened where that lowers the cost. Nothing leaves the device between steps, and many systems can be
solved in one call.

At the end the law is compared with alternatives that extend it: either the given coefficients are wrong
by δ in their logarithms, or there is a smooth field b in addition to the field of the law,

$$ d = W z + G\, \delta + e, \qquad d = W z + B\, b + e, $$

The comparison uses the evidence of each law, averaged over all noise levels. So noise cannot hide an
error: if the readings fit an alternative better than chance allows, the alternative is more probable. The
answer remains that of the given law, and its spread includes the distance to the alternatives, weighted
by their probabilities.
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

COEFFICIENT_SIGMA = 0.5  # The prior σ of δ, the error of the logarithm of a given coefficient.
SMOOTH_SIGMAS = (0.01, 0.1)  # The prior σ of an additional smooth field, in units of the readings.
# The prior probabilities of the law, of wrong coefficients, and of a smooth field with each prior σ.
LOG_PRIOR = np.log([0.9, 0.05, 0.025, 0.025])
DEGREES = {1: 8, 2: 3, 3: 2}  # The total degree of the smooth fields, by the number of axes.
# A doubt is stated if the alternatives together have more than this probability.
DOUBT_PROBABILITY = 0.95
# Smaller shifts of the field, in units of its spread, are within the error of the coarse solver.
MIN_SHIFT = 1e-3
# A doubt leaves out coefficients that move the field by less than this share of the largest move.
NAMED_SHARE = 0.3


class LawComparison(NamedTuple):
    """The law compared with its alternatives; moves, shift and spread are relative to the fields'."""

    # The probabilities of the law, of other coefficients and of a smooth field.
    probabilities: Float[Array | np.ndarray, "*k 3"]
    logs: Float[Array | np.ndarray, "*k p"]  # the mean of δ
    log_sigmas: Float[Array | np.ndarray, "*k p"]  # the standard deviation of δ
    moves: Float[Array | np.ndarray, "*k p"]  # of the fields, by the δ of each coefficient
    shift: Float[Array | np.ndarray, "*k"]  # of the fields, by the alternatives
    spread: Float[Array | np.ndarray, "*k"]  # the standard deviation of the fields under the law

    def doubts(self, known: Mapping[str, float]) -> list[str]:
        """Sentences that say how the readings contradict the law, given the `known` coefficients."""
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
        names, sentences = sorted(known), []  # JAX sorts the keys of dictionaries
        for k in np.flatnonzero(moves >= NAMED_SHARE * moves.max()):
            value = known[names[k]]
            # The half-width combines the noise with the error of the linearization.
            half_width = np.hypot(1.645 * sigmas[k], np.max(logs**2) / 2)
            low, middle, high = value * np.exp(logs[k] + half_width * np.array([-1, 0, 1]))
            sentences.append(
                f"{names[k]} is given as {value:g}, the readings speak for about {middle:.3g} "
                f"({low:.3g} to {high:.3g})"
            )
        return "; ".join(sentences)


class Effects(NamedTuple):
    """The derivatives of readings, or of fields, by unknowns, coefficients and smooth fields."""

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
    """The comparison of laws, and the standard deviation of the fields averaged over all laws.

    `rows` holds the derivatives of the readings, of shape (m, unknowns) and in units of the noise;
    `fields` those of the fields, of shape (unknowns, *grid, c). `size` is the spread of each field.
    """
    parameters = rows.coefficients.shape[1]

    def evidence_and_moments(alternative):
        columns, shapes = alternative
        mixture = NoiseMixture.of(jnp.column_stack([rows.unknowns, columns]), misses, count, trust)
        moments = mixture.moments(jnp.concatenate([fields.unknowns, shapes]))
        return mixture.evidence, *moments, _last_moments(mixture, columns.shape[1])

    extensions = [(jnp.zeros_like(rows.smooth), jnp.zeros_like(fields.smooth))]
    if parameters:
        extensions.append(
            (COEFFICIENT_SIGMA * rows.coefficients, COEFFICIENT_SIGMA * fields.coefficients)
        )
    extensions += [(sigma * rows.smooth, sigma * fields.smooth) for sigma in SMOOTH_SIGMAS]
    # `map`, not `vmap`: parallel decompositions of many matrices wait for each other's threads.
    evidence, means, variances, extension_moments = jax.lax.map(
        evidence_and_moments, _stack(extensions)
    )
    variance, shifts = variances[0], (means - means[0]) ** 2
    probabilities = jax.nn.softmax(
        evidence + jnp.asarray(LOG_PRIOR)[np.r_[0, 1 - len(extensions) : 0]]
    )
    mean_variance, shift = (
        jnp.tensordot(probabilities, moment, 1) for moment in (variances, shifts)
    )
    probability_by_kind = jnp.stack(
        [probabilities[0], jnp.sum(probabilities[1:-2]), jnp.sum(probabilities[-2:])]
    )
    logs, sigmas = (COEFFICIENT_SIGMA * moment[1, :parameters] for moment in extension_moments)
    shift_and_spread = [
        jnp.sqrt(jnp.mean(moment / (size**2 + 1e-300))) for moment in (shift, variance)
    ]
    axes = tuple(range(1, fields.coefficients.ndim))
    relative_squares = (fields.coefficients / (size + 1e-300)) ** 2
    moves = jnp.abs(logs) * jnp.sqrt(jnp.mean(relative_squares, axis=axes))
    comparison = LawComparison(probability_by_kind, logs, sigmas, moves, *shift_and_spread)
    return comparison, jnp.sqrt(mean_variance + shift)


def _stack(extensions: list[tuple[Array, Array]]) -> tuple[Float[Array, "h m w"], Array]:
    """The additional columns and fields of all laws as two arrays, padded with zeros to equal widths."""
    widest = max(columns.shape[1] for columns, _ in extensions)

    def padded(part, axis: int):
        padding = [(0, 0)] * part.ndim
        padding[axis] = (0, widest - part.shape[axis])
        return jnp.pad(part, padding)

    columns = jnp.stack([padded(columns, 1) for columns, _ in extensions])
    return columns, jnp.stack([padded(shapes, 0) for _, shapes in extensions])


def _last_moments(mixture: NoiseMixture, count: int):
    """The mean and standard deviation of the last `count` unknowns."""
    rotated = mixture.rotated[:, -count:]
    means = (mixture.gains * mixture.along) @ rotated  # l w
    mean = mixture.weights @ means
    mean_variance = 1 - (mixture.weights @ mixture.gains) @ rotated**2
    variance = jnp.maximum(mean_variance, 0.0) + mixture.weights @ (means - mean) ** 2
    return mean, jnp.sqrt(variance)


def smooth_alternatives(problem: AssimilationProblem) -> Float[Array, "q *grid c"]:
    """The smooth fields that may be added to each measured field, scaled to the size of its readings."""
    operator = problem.operator
    waves = jnp.asarray(smooth_fields(operator.family.domain, operator.family.axes))
    alternatives = []
    for column, field in enumerate(operator.read_fields):
        is_of_field = (jnp.asarray(operator.columns) == column) & jnp.asarray(problem.is_real)
        size = jnp.max(jnp.where(is_of_field, problem.unit, 0.0))
        amplitude = jnp.zeros(len(operator.family.fields)).at[field].set(size)
        alternatives.append(waves[..., None] * amplitude)
    return jnp.concatenate(alternatives)


def smooth_fields(domain: Domain, axes: Mapping[str, np.ndarray]) -> Float[np.ndarray, "q *grid"]:
    """Products of low-order cosines along the axes, up to a total degree, at the nodes.

    >>> domain = Domain(x=(0, 1), t=(0, 1))
    >>> smooth_fields(domain, {"x": np.linspace(0, 1, 5), "t": np.linspace(0, 1, 3)}).shape
    (10, 5, 3)
    """
    degree = DEGREES.get(len(axes), 2)
    waves_by_axis = [_waves(domain, axis, nodes, degree) for axis, nodes in axes.items()]
    fields = []
    for combination in product(*waves_by_axis):
        if sum(order for order, _ in combination) <= degree:
            shape = np.ones(())
            for _, wave in combination:
                shape = shape[..., None] * wave
            fields.append(shape)
    return np.stack(fields)


def _waves(domain: Domain, axis: str, nodes: np.ndarray, degree: int):
    """The waves along one axis, as pairs of the number of half periods and the values at the nodes."""
    low, high = domain.bounds(axis)
    angle = np.pi * (nodes - low) / (high - low)
    if axis not in domain.periodic:
        return [(k, np.cos(k * angle)) for k in range(degree + 1)]
    periodic_waves = [
        (2 * k, wave(2 * k * angle)) for k in range(1, degree // 2 + 1) for wave in (np.cos, np.sin)
    ]
    return [(0, np.ones_like(angle)), *periodic_waves]


# ------------------------------------------------------------------------------- the search

STEP_LENGTHS = np.array([1.0, 0.5, 0.25, 0.125])
MAX_STEPS = 12
# The search ends when the error of the linearization at the readings, in units of their noise, is below
# this limit. A smaller limit takes more steps; a larger one leaves a larger error in the fields.
CONVERGED = 0.3
ROUNDING = 1e-5  # An error this small, in units of the spread, counts as converged in any case.
# The squared norm of a state may exceed its expectation by this many standard deviations.
MAX_EXCESS = 5.0
MAX_NOISE = 0.3  # More noise than this, in units of the spread, contradicts the law.
MAX_NOISE_RATIO = 3.0  # So does a noise level of more than this factor times the given σ.
# The derivatives of all fields by all unknowns may have this many entries; more take too much memory.
LARGEST_TANGENTS = 2**24
# The number of systems in one batch: on a CPU what its caches hold; on a GPU what keeps the entries of
# all derivatives below GPU_NUMBERS, and at most MAX_BATCH.
CPU_BATCH, MAX_BATCH, GPU_NUMBERS = 8, 256, 2**28


class SystemEstimate(NamedTuple):
    """The most probable unknowns, and the standard deviation of the fields at the family's nodes.

    `level` is the noise level in units of the assumed σ. `missed` is the error of the last linearization
    in units of the noise, relative to which the search has failed above 1. `excess` says by how many
    standard deviations the squared norm of the state exceeds its expectation. `sigmas` holds the standard
    deviations of the unknown coefficients, and 0 for the state.
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
        """Whether the search has converged and neither the noise nor the state contradicts the law."""
        max_level = MAX_NOISE_RATIO if has_given_noise else MAX_NOISE / CLEAN_NOISE
        is_plausible = (np.asarray(self.excess) < MAX_EXCESS) & (
            np.asarray(self.level) <= max_level
        )
        return np.asarray((np.asarray(self.missed) < 1) & is_plausible)

    def contradictions(self, has_given_noise: bool, noise: float) -> list[str]:
        """Sentences on why the law cannot explain the readings; none where only the search failed."""
        sentences, level = [], float(self.level)
        if has_given_noise and level > MAX_NOISE_RATIO:
            sentences.append(
                f"the readings are {level:.1f} times as far from all systems of the family as their "
                "noise has it"
            )
        elif noise > MAX_NOISE:
            sentences.append(
                f"no system of the family comes nearer to the readings than {100 * noise:.0f} % of "
                "their spread"
            )
        if float(self.excess) >= MAX_EXCESS:
            sentences.append("the state behind the readings is not one that the family draws")
        return sentences


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
    """An estimate without its spread, and the last linearization, from which the spread is computed."""

    estimate: SystemEstimate
    rows: Float[Array, "m n"]  # derivatives of the readings, in units of the noise
    misses: Float[Array, " m"]  # the right-hand side of the linearized readings: rows · z = misses
    tangents: Float[Array, "n *grid c"]  # derivatives of the fields at the family's nodes
    curvature: Float[Array, ""]  # the error of the linearization in units of the field


class _Setting(NamedTuple):
    """A problem, its coarse operator, and the strides from that operator's nodes to the family's."""

    problem: AssimilationProblem
    coarse: ObservationOperator
    strides: tuple[slice, ...]

    @staticmethod
    def of(problem: AssimilationProblem, family: AbstractSolved) -> "_Setting":
        coarse = problem.operator.coarse()
        strides = tuple(
            slice(None, None, max((len(coarse_nodes) - 1) // max(len(nodes) - 1, 1), 1))
            for coarse_nodes, nodes in zip(
                coarse.family.axes.values(), family.axes.values(), strict=True
            )
        )
        return _Setting(problem, coarse, strides)


def estimate(
    problem: AssimilationProblem, family: AbstractSolved, start: Float[Array, " n"]
) -> SystemEstimate:
    """The MAP estimate, searched from `start`, with the spread at the nodes of `family`."""
    setting = _Setting.of(problem, family)

    def goes_on(state: _SearchState):
        return (state.estimate.missed > CONVERGED) & (state.estimate.steps < MAX_STEPS)

    def step(state: _SearchState) -> _SearchState:
        return _step(setting, jnp.asarray(state.estimate.unknowns), state.estimate.steps + 1)

    first = _step(setting, start, 1)
    state = jax.lax.while_loop(goes_on, step, first)
    comparison, spread = _compare(setting, state)
    return state.estimate._replace(spread=spread, comparison=comparison)


estimate_one = eqx.filter_jit(estimate)


def _step(setting: _Setting, z: Float[Array, " n"], number) -> _SearchState:
    """One Gauss–Newton step from z, with the length of least cost among STEP_LENGTHS."""
    problem, coarse, strides = setting
    fields, push = jax.linearize(coarse.fields, z)
    # The barrier keeps the compiler from folding the solver into constants, which takes minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size))
    tangents = jax.lax.map(push, units, batch_size=128)  # n *grid c
    readings, rows = coarse.readings_of(fields), jax.vmap(coarse.readings_of)(tangents).T
    real, sigma = jnp.asarray(problem.is_real), jnp.asarray(problem.sigma)
    whitened = jnp.where(real[:, None], rows / sigma[:, None], 0.0)
    misses = jnp.where(real, (problem.values - readings) / sigma, 0.0) + whitened @ z
    mixture = NoiseMixture.of(whitened, misses, jnp.sum(real), problem.trust)
    trial_points = z + jnp.asarray(STEP_LENGTHS)[:, None] * (mixture.mean - z)
    trial_readings = jax.vmap(coarse)(trial_points)
    trial_misses = jnp.where(real, (problem.values - trial_readings) / sigma, 0.0)
    cost = jnp.sum(trial_points**2, axis=1) + jnp.sum(trial_misses**2, axis=1) / mixture.square
    best = jnp.argmin(jnp.where(jnp.isfinite(cost), cost, jnp.inf))
    error = trial_readings[best] - readings - rows @ (trial_points[best] - z)
    level = jnp.sqrt(mixture.square)
    noise = level * sigma + ROUNDING / CONVERGED * problem.unit
    current = SystemEstimate(
        trial_points[best], jnp.zeros(()), level, _rms(error / noise, real), mixture.excess,
        jnp.asarray(number), _coefficient_sigmas(mixture, coarse),
    )  # fmt: skip
    curvature = _rms(error / jnp.asarray(problem.unit), real)
    return _SearchState(current, whitened, misses, tangents[:, *strides], curvature)


def _coefficient_sigmas(mixture: NoiseMixture, operator: ObservationOperator) -> Float[Array, " n"]:
    """The standard deviations of the unknown coefficients (the last unknowns), and 0 for the state."""
    n_state = math.prod(operator.family.noise_shape)
    n_unknown = operator.size - n_state
    if not n_unknown:
        return jnp.zeros(n_state)
    return jnp.concatenate([jnp.zeros(n_state), _last_moments(mixture, n_unknown)[1]])


def _compare(setting: _Setting, state: _SearchState):
    """The comparison of laws, and the spread of the fields with the distance to alternatives."""
    problem, coarse, strides = setting
    z = jnp.asarray(state.estimate.unknowns)
    real, unit = jnp.asarray(problem.is_real), jnp.asarray(problem.unit)
    logs = jnp.zeros(len(coarse.known))
    coarse_fields, push = jax.linearize(lambda logs: coarse.fields(z, logs), logs)
    # The unknowns were fitted with the coarse solver, and the answer comes from the accurate one. Their
    # difference counts as an error of readings and fields.
    has_one_solver = problem.operator.family is coarse.family
    solver_error = (
        jnp.zeros_like(coarse_fields)
        if has_one_solver
        else problem.operator.fields(z) - coarse_fields
    )
    model_error = jnp.hypot(state.curvature, _rms(coarse.readings_of(solver_error) / unit, real))
    sigma = jnp.hypot(problem.sigma, model_error * unit)
    shrinkage = problem.sigma / sigma

    def whitened(fields):
        rows = jax.vmap(coarse.readings_of)(fields).T
        return jnp.where(real[:, None], rows / sigma[:, None], 0.0)

    coefficient_fields, smooth = jax.vmap(push)(jnp.eye(logs.size)), smooth_alternatives(problem)
    comparison, spread = compare_laws(
        Effects(state.rows * shrinkage[:, None], whitened(coefficient_fields), whitened(smooth)),
        state.misses * shrinkage,
        Effects(state.tangents, coefficient_fields[:, *strides], smooth[:, *strides]),
        jnp.std(coarse_fields, axis=tuple(range(coarse_fields.ndim - 1))), jnp.sum(real), problem.trust,
    )  # fmt: skip
    return comparison, jnp.hypot(spread, solver_error[strides])


def _rms(values: Float[Array, " m"], real) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(jnp.where(real, values, 0.0) ** 2) / jnp.sum(real))


# ------------------------------------------------------------------------------- many systems


class BatchEstimate(NamedTuple):
    """The fields of k systems at points, with standard deviations and checks.

    `noise` is that of the readings in units of the spread, `is_lawful` is true where the answer may be
    used, and `doubts` lists for each system what contradicts the law.
    """

    mean: Float[np.ndarray, "k m c"]
    spread: Float[np.ndarray, "k m c"]
    noise: Float[np.ndarray, " k"]
    is_lawful: Bool[np.ndarray, " k"]
    doubts: list[list[str]]


def estimate_many(family: AbstractSolved, batch: SensorBatch) -> BatchEstimate:
    """The estimates of many systems whose noise is unknown."""
    with double_precision():
        points = PointEvaluator.of(family, batch.at)
        mean, spread, estimates = _estimate_batch(problem_of_batch(family, batch), family, points)
    estimates = jax.tree.map(np.asarray, estimates)
    noise, is_lawful, doubts = CLEAN_NOISE * estimates.level, estimates.is_lawful(False), []
    for k in range(len(mean)):
        estimated = jax.tree.map(lambda a, k=k: a[k], estimates)
        known = {name: float(of[k]) for name, of in batch.coefficients.items()}
        doubts.append(
            estimated.comparison.doubts(known)
            if is_lawful[k]
            else estimated.contradictions(False, noise[k])
        )
    return BatchEstimate(np.asarray(mean), np.asarray(spread), noise, is_lawful, doubts)


@eqx.filter_jit
def _estimate_batch(problem: AssimilationProblem, family: AbstractSolved, points: PointEvaluator):
    operators = problem.operator
    operator_tables = operators.stencil, operators.columns, dict(operators.known)
    data = problem.values, problem.sigma, problem.unit, problem.is_real, problem.is_given

    def solve_one(parts):
        (stencil, columns, known), (values, sigma, unit, real, given) = parts
        operator = ObservationOperator(
            operators.family, stencil, operators.boxes, columns, known, operators.read_fields
        )
        one_problem = AssimilationProblem(operator, values, sigma, unit, real, given, problem.trust)
        estimated = estimate(one_problem, family, jnp.zeros(operator.size))
        evaluated = points(estimated.unknowns, known, estimated.spread)
        return *evaluated, estimated._replace(spread=jnp.zeros(()))

    systems_at_once = batch_size(operators.family, jax.default_backend())
    return jax.lax.map(
        solve_one, jax.tree.map(jnp.asarray, (operator_tables, data)), batch_size=systems_at_once
    )
