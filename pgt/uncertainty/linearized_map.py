"""The MAP estimate of a network, to first order in its weights.

Second-order steps follow a curved valley of the posterior, and the time limit ends long before its
minimum. But the field itself is linear in a step δ of the weights to first order: u = u_θ + J δ can
move much farther than θ itself could (models/linearised.py). In that space equation and readings
are rows that are linear in δ, and the most probable δ is one solve away:

    δ = argmin |r_d + J_d δ|² + w² |r_e + J_e δ|² + a |θ + δ|²

with σ, the stiffness w = σ / |r_e + J_e δ| of the equation and the strength a of the prior found
iteratively, as in laplace.py. Where a small network follows exact readings of a smooth field, this
removes most of its error.

The solution also shows whether readings have noise, however little. A network that cannot follow
the field misses equation and readings alike. Noise is in the readings alone: then an equation whose
stiffness is free is fulfilled many times better than the readings.

With noisy readings the posterior of so stiff an equation is too sure, since the equation has
solutions that no δ follows closely. So the stiffness of the posterior is limited.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pgt.inference import linear_algebra
from pgt.inference.linear_gaussian import SMALLEST_SIGMA
from pgt.methods.second_order.gauss_newton import EVIDENCE_ROUNDS
from pgt.methods.second_order.least_squares import (
    MAX_NOISE_RATIO,
    MIN_DETERMINED_WEIGHTS,
    MIN_FREE_READINGS_SHARE,
    NormalEquations,
    WeightPrior,
)
from pgt.problem.budget import MAX_POLISHED_WEIGHTS, MAX_POLISHED_WEIGHTS_ON_GPU

# The lower limit of 1 − leverage of a reading, by which its residual is divided.
MIN_RESIDUAL_SHARE = 1e-3
# The upper limit of w of exact readings. It is large enough to tell noise from a field that the
# network cannot follow.
MAX_STIFFNESS = 20.0
# The upper limit of w of the posterior of noisy readings, and where the decoder alone is sampled:
# fields that fulfill the equation less closely than the network can count as possible.
SOFT_STIFFNESS = 3.0
# The readings have noise where the equation is fulfilled better than they are by this factor.
MIN_STIFFNESS_WITH_NOISE = 5.0
# A smaller misfit, in units of the spread, is not taken for noise: few instruments have less noise,
# and small networks have misfits of that size.
MIN_DETECTABLE_NOISE = 1e-4


class MapEstimate(NamedTuple):
    """The linearized MAP estimate next to θ, and its posterior.

    Attributes
    ----------
    step : δ, from θ to the MAP estimate.
    factor : R of the posterior, upper triangular.
    sigma, stiffness : σ of the readings and w.
    misfit_before, left_out_misfit : the misfit of the readings at θ, and of their leave-one-out
        predictions at the MAP estimate.
    determined : the effective number of parameters that the readings determine.
    reading_change : by how many σ the step moves the predictions of the readings.
    cost : the mean square of readings and equation at the MAP estimate.
    reading_rows : the rows of the readings at θ, with their residuals in the last column.
    has_noise : whether the misfit of the readings is noise.
    """

    step: Float[np.ndarray, " p"]
    factor: Float[np.ndarray, "p p"]
    sigma: float
    stiffness: float
    misfit_before: float
    left_out_misfit: float
    determined: float
    reading_change: float
    cost: float
    reading_rows: Float[np.ndarray, "n q"]
    has_noise: bool = False

    def with_posterior_of(self, other: "MapEstimate") -> "MapEstimate":
        """The same step with the posterior of another stiffness, of noisy readings."""
        return self._replace(
            factor=other.factor, sigma=other.sigma, stiffness=other.stiffness,
            determined=other.determined, has_noise=True,
        )  # fmt: skip


def map_estimate(
    normal: NormalEquations, prior: WeightPrior, coefficient_sigma: float
) -> MapEstimate | None:
    """The linearized MAP estimate from the rows at θ, in which equation and readings have weight 1.

    `coefficient_sigma` is the standard deviation of the prior of each coefficient, among the last
    of θ. None where rows are not finite, or a solve would take long.
    """
    theta = np.asarray(normal.jacobian.theta)
    is_finite = np.isfinite(normal.rows).all() and np.isfinite(normal.gradient).all()
    most = MAX_POLISHED_WEIGHTS if linear_algebra.on_host() else MAX_POLISHED_WEIGHTS_ON_GPU
    if not is_finite or len(theta) > most or not theta.any():
        return None
    rows = np.column_stack([normal.jacobian.dense(), normal.rows])
    parts = rows[: prior.reading_rows], linear_algebra.triangle(rows[prior.reading_rows :])
    initial = _first_hyperparameters(*parts, theta, prior)
    found, final = _solve(*parts, theta, prior, MAX_STIFFNESS, coefficient_sigma, initial)
    if found.stiffness < MIN_STIFFNESS_WITH_NOISE or found.sigma < MIN_DETECTABLE_NOISE:
        return found
    softer, _ = _solve(*parts, theta, prior, SOFT_STIFFNESS, coefficient_sigma, final)
    return found.with_posterior_of(softer)


class Hyperparameters(NamedTuple):
    """σ, the strength a of the prior, and the misfit of the equation."""

    sigma: float
    prior_strength: float
    equation_misfit: float


def _first_hyperparameters(readings, equation_rows, theta, prior: WeightPrior) -> Hyperparameters:
    """First values: as if the readings determined all weights, with the misfit at θ as noise."""
    held, count = prior.weights(theta), prior.mask(len(theta)).sum()
    sigma = max(float(np.linalg.norm(readings[:, -1])), SMALLEST_SIGMA)
    prior_strength = sigma**2 / prior.reading_count * count / float(held @ held)
    return Hyperparameters(sigma, prior_strength, float(np.linalg.norm(equation_rows[:, -1])))


def _solve(
    readings,
    equation_rows,
    theta,
    prior: WeightPrior,
    stiffest: float,
    coefficient_sigma: float,
    initial: Hyperparameters,
) -> tuple[MapEstimate, Hyperparameters]:
    """The MAP estimate with a stiffness of at most `stiffest`, and its hyperparameters.

    The rows of readings and equation have their residuals in the last column.
    """
    held, is_weight = prior.weights(theta), prior.mask(len(theta))
    sigma, prior_strength, equation_misfit = initial
    for _ in range(EVIDENCE_ROUNDS):
        stiffness = float(np.clip(sigma / max(equation_misfit, SMALLEST_SIGMA), 1.0, stiffest))
        precision = np.where(
            is_weight > 0, prior_strength, sigma**2 / prior.reading_count / coefficient_sigma**2
        )
        prior_rows = np.column_stack([np.diag(np.sqrt(precision)), np.sqrt(prior_strength) * held])
        whole = linear_algebra.triangle(
            np.concatenate([readings, stiffness * equation_rows, prior_rows])
        )
        factor = whole[:-1, :-1]
        step = -linear_algebra.back(factor, whole[:-1, -1])
        sigma, prior_strength = _updated(
            readings, factor, step, prior_strength, held, is_weight, prior
        )
        equation_misfit = float(np.linalg.norm(equation_rows @ np.append(step, 1.0)))
    inverse = linear_algebra.back(factor, readings[:, :-1].T, transposed=True)
    residual_shares = np.maximum(1 - np.sum(inverse**2, axis=0), MIN_RESIDUAL_SHARE)
    residuals = readings @ np.append(step, 1.0)
    found = MapEstimate(
        step, factor, sigma, stiffness,
        misfit_before=float(np.linalg.norm(readings[:, -1])),
        left_out_misfit=float(np.linalg.norm(residuals / residual_shares)),
        determined=float(np.sum(inverse**2)),
        reading_change=float(np.linalg.norm(readings[:, :-1] @ step)) / sigma,
        cost=float(residuals @ residuals) + equation_misfit**2,
        reading_rows=readings,
    )  # fmt: skip
    return found, Hyperparameters(sigma, prior_strength, equation_misfit)


def _updated(readings, factor, step, prior_strength: float, held, is_weight, prior: WeightPrior):
    """σ, as given or from the misfit of the readings at the MAP estimate, and a, by the evidence
    (least_squares.py).
    """
    inverse = linear_algebra.back(factor, np.eye(len(step)))
    by_readings = float(np.sum((readings[:, :-1] @ inverse) ** 2))
    misfit = float(np.sum((readings @ np.append(step, 1.0)) ** 2))
    free = max(prior.reading_count - by_readings, MIN_FREE_READINGS_SHARE * prior.reading_count)
    sigma = max(float(np.sqrt(prior.reading_count * misfit / free)), SMALLEST_SIGMA)
    sigma = prior.noise if sigma < MAX_NOISE_RATIO * prior.noise else sigma
    weights = is_weight.sum() - prior_strength * float(is_weight @ np.sum(inverse**2, axis=1))
    return sigma, sigma**2 / prior.reading_count * max(weights, MIN_DETERMINED_WEIGHTS) / float(
        held @ held
    )


# ------------------------------------------------------------------------------- left-out readings


def left_out_residuals(
    estimate: MapEstimate,
    points: Float[np.ndarray, "n d"],
    groups: list[Int[np.ndarray, " _"]],
    *,
    are_exact: bool,
) -> Float[np.ndarray, " m"]:
    """The errors of all readings, each predicted without its group, over the σ predicted for them.

    `points` are those of the readings; a reading has one row per field, which is NaN in the answer
    where the field was not read. Without the group G, with its residuals r and its rows J,

        error = (1 - H_GG)⁻¹ r_G,   variance = σ²/n (1 - H_GG)⁻¹,   H = J (RᵀR)⁻¹ Jᵀ

    Where readings `are_exact` the variance is that of the field alone, on average over the group.
    """
    each = len(estimate.reading_rows) // len(points)
    jacobian = estimate.reading_rows[:, :-1]
    rows = linear_algebra.back(estimate.factor, jacobian.T, transposed=True).T
    residuals = estimate.reading_rows @ np.append(estimate.step, 1.0)
    is_read = (jacobian != 0).any(axis=1)
    sigma = estimate.sigma / np.sqrt(max(is_read.sum(), 1))
    found = np.full(len(rows), np.nan)
    for group in groups:
        own = (each * group[:, None] + np.arange(each)).ravel()
        own = own[is_read[own]]
        shares, vectors = np.linalg.eigh(np.eye(len(own)) - rows[own] @ rows[own].T)
        inverse = (vectors / np.maximum(shares, MIN_RESIDUAL_SHARE)) @ vectors.T
        variance = np.diag(inverse)
        if are_exact and len(own):
            variance = np.full(len(own), np.mean(variance - 1))
        scale = sigma * np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        found[own] = (inverse @ residuals[own]) / scale
    return found
