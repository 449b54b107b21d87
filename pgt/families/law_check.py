r"""Whether readings contradict the law that answers them.

The law is compared with alternatives that extend it: other coefficients than those given, by δ in their
logarithms, or a smooth field b in addition to those of the law,

$$ d = W z + G\, \delta + e, \qquad d = W z + B\, b + e, $$

by the probability of the readings under each, averaged over all levels of noise. Noise cannot hide an
error: if the readings fit an alternative better than chance allows, it is the more probable law. The
answer remains that of the given law; its spread includes the distance to the alternatives, weighted by
their probabilities.
"""

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.families.field_posterior import NoiseMixture
from pgt.families.observation_operator import AssimilationProblem

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
) -> tuple[LawComparison, Float[Array, "*g c"], Float[Array, "*g c"]]:
    """The comparison, the standard deviation of the fields under all laws, and the part of it that is
    the distance between laws. `rows` are (m, unknowns) and in units of the noise; `fields` are
    (unknowns, *grid, c) with spreads `size`."""
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
    return found, jnp.sqrt(inner + shift), jnp.sqrt(shift)


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
