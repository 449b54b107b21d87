"""The MAP estimate of a network that is linearized in its weights.

Second-order steps follow a curved valley of the cost, and the time limit often ends long before its
minimum. The linearized field u = u_θ + J δ can move much farther than the weights θ themselves
(models/linearised.py). Readings and equation are linear in δ, so one solve gives the most probable δ:

    δ = argmin |r_d + J_d δ|² + w² |r_e + J_e δ|² + a |θ + δ|²

The noise σ, the stiffness w = σ / |r_e + J_e δ| of the equation and the strength a of the prior are
found iteratively, as in laplace.py. For a small network with exact readings of a smooth field, this
step removes most of the error.

The solution also shows whether the readings have noise, however little. A network that cannot
represent the field misses equation and readings alike. Noise affects the readings only: then the
equation, if its stiffness is free, is fulfilled many times better than the readings.

With noisy readings the posterior of so stiff an equation is too narrow, since the equation has
solutions that no δ represents closely. So the stiffness of the posterior is limited.
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

# The lower limit of 1 − leverage of a reading. The leave-one-out error is the residual over that number.
MIN_RESIDUAL_SHARE = 1e-3
# The upper limit of w for exact readings. It is large enough to distinguish noise from a field that the
# network cannot represent.
MAX_STIFFNESS = 20.0
# The upper limit of w for the posterior of noisy readings, and if only the decoder is sampled. A small
# limit admits fields that fulfill the equation less closely than the network does.
SOFT_STIFFNESS = 3.0
# The readings are noisy if the equation is fulfilled better than they are by this factor.
MIN_STIFFNESS_WITH_NOISE = 5.0
# A smaller misfit, in units of the spread, does not count as noise. Few instruments have less noise,
# and small networks have misfits of that size.
MIN_DETECTABLE_NOISE = 1e-4


class MapEstimate(NamedTuple):
    """The linearized MAP estimate next to θ, and its posterior.

    Attributes
    ----------
    step : δ, from θ to the MAP estimate.
    factor : the upper triangular R of the posterior.
    sigma, stiffness : σ of the readings, and w.
    misfit_before, left_out_misfit : the misfit of the readings at θ, and that of their leave-one-out
        predictions at the MAP estimate.
    determined : the effective number of parameters that the readings determine.
    reading_change : the change of the readings' predictions by the step, in σ.
    cost : the sum of the mean squares of readings and equation at the MAP estimate.
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
        """This step with the posterior of `other`, whose stiffness suits noisy readings."""
        return self._replace(
            factor=other.factor, sigma=other.sigma, stiffness=other.stiffness,
            determined=other.determined, has_noise=True,
        )  # fmt: skip


def map_estimate(
    normal: NormalEquations, prior: WeightPrior, coefficient_sigma: float
) -> MapEstimate | None:
    """The linearized MAP estimate from the rows at θ, in which equation and readings have weight 1.

    `coefficient_sigma` is the standard deviation of the prior of each coefficient; the coefficients come
    last in θ. The result is None if rows are not finite, or if a solve would take long.
    """
    theta = np.asarray(normal.jacobian.theta)
    is_finite = np.isfinite(normal.rows).all() and np.isfinite(normal.gradient).all()
    max_weights = MAX_POLISHED_WEIGHTS if linear_algebra.on_host() else MAX_POLISHED_WEIGHTS_ON_GPU
    if not is_finite or len(theta) > max_weights or not theta.any():
        return None
    rows = np.column_stack([normal.jacobian.dense(), normal.rows])
    split_rows = rows[: prior.reading_rows], linear_algebra.triangle(rows[prior.reading_rows :])
    initial = _first_hyperparameters(*split_rows, theta, prior)
    estimate, final = _solve(*split_rows, theta, prior, MAX_STIFFNESS, coefficient_sigma, initial)
    if estimate.stiffness < MIN_STIFFNESS_WITH_NOISE or estimate.sigma < MIN_DETECTABLE_NOISE:
        return estimate
    softer, _ = _solve(*split_rows, theta, prior, SOFT_STIFFNESS, coefficient_sigma, final)
    return estimate.with_posterior_of(softer)


class Hyperparameters(NamedTuple):
    """σ, the strength a of the prior, and the misfit of the equation."""

    sigma: float
    prior_strength: float
    equation_misfit: float


def _first_hyperparameters(readings, equation_rows, theta, prior: WeightPrior) -> Hyperparameters:
    """The first values, as if the readings determined all weights and the misfit at θ were noise."""
    weights, weight_count = prior.weights(theta), prior.mask(len(theta)).sum()
    sigma = max(float(np.linalg.norm(readings[:, -1])), SMALLEST_SIGMA)
    prior_strength = sigma**2 / prior.reading_count * weight_count / float(weights @ weights)
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

    The last column of `readings` and `equation_rows` has the residuals.
    """
    weights, is_weight = prior.weights(theta), prior.mask(len(theta))
    sigma, prior_strength, equation_misfit = initial
    for _ in range(EVIDENCE_ROUNDS):
        stiffness = float(np.clip(sigma / max(equation_misfit, SMALLEST_SIGMA), 1.0, stiffest))
        precision = np.where(
            is_weight > 0, prior_strength, sigma**2 / prior.reading_count / coefficient_sigma**2
        )
        prior_rows = np.column_stack(
            [np.diag(np.sqrt(precision)), np.sqrt(prior_strength) * weights]
        )
        stacked_factor = linear_algebra.triangle(
            np.concatenate([readings, stiffness * equation_rows, prior_rows])
        )
        factor = stacked_factor[:-1, :-1]
        step = -linear_algebra.back(factor, stacked_factor[:-1, -1])
        sigma, prior_strength = _update_hyperparameters(
            readings, factor, step, prior_strength, weights, is_weight, prior
        )
        equation_misfit = float(np.linalg.norm(equation_rows @ np.append(step, 1.0)))
    inverse = linear_algebra.back(factor, readings[:, :-1].T, transposed=True)
    residual_shares = np.maximum(1 - np.sum(inverse**2, axis=0), MIN_RESIDUAL_SHARE)
    residuals = readings @ np.append(step, 1.0)
    estimate = MapEstimate(
        step, factor, sigma, stiffness,
        misfit_before=float(np.linalg.norm(readings[:, -1])),
        left_out_misfit=float(np.linalg.norm(residuals / residual_shares)),
        determined=float(np.sum(inverse**2)),
        reading_change=float(np.linalg.norm(readings[:, :-1] @ step)) / sigma,
        cost=float(residuals @ residuals) + equation_misfit**2,
        reading_rows=readings,
    )  # fmt: skip
    return estimate, Hyperparameters(sigma, prior_strength, equation_misfit)


def _update_hyperparameters(
    readings, factor, step, prior_strength: float, prior_weights, is_weight, prior: WeightPrior
):
    """(σ, a) of greatest evidence at the MAP estimate (least_squares.py).

    σ is the given noise, or an estimate from the misfit of the readings.
    """
    inverse = linear_algebra.back(factor, np.eye(len(step)))
    by_readings = float(np.sum((readings[:, :-1] @ inverse) ** 2))
    misfit = float(np.sum((readings @ np.append(step, 1.0)) ** 2))
    free = max(prior.reading_count - by_readings, MIN_FREE_READINGS_SHARE * prior.reading_count)
    sigma = max(float(np.sqrt(prior.reading_count * misfit / free)), SMALLEST_SIGMA)
    sigma = prior.noise if sigma < MAX_NOISE_RATIO * prior.noise else sigma
    determined_weights = is_weight.sum() - prior_strength * float(
        is_weight @ np.sum(inverse**2, axis=1)
    )
    return sigma, sigma**2 / prior.reading_count * max(
        determined_weights, MIN_DETERMINED_WEIGHTS
    ) / float(prior_weights @ prior_weights)


# ------------------------------------------------------------------------------- left-out readings


def left_out_residuals(
    estimate: MapEstimate,
    points: Float[np.ndarray, "n d"],
    groups: list[Int[np.ndarray, " _"]],
    *,
    are_exact: bool,
) -> Float[np.ndarray, " m"]:
    """The errors of all readings, each predicted without its group, divided by their predicted σ.

    `points` are those of the readings. A reading has one row per field; the result is NaN if the field
    was not read. Let G be a group with residuals r and rows J. Without G,

        error = (1 - H_GG)⁻¹ r_G,   variance = σ²/n (1 - H_GG)⁻¹,   H = J (RᵀR)⁻¹ Jᵀ

    If readings `are_exact`, the variance is that of the field alone, averaged over the group.
    """
    rows_per_reading = len(estimate.reading_rows) // len(points)
    jacobian = estimate.reading_rows[:, :-1]
    rows = linear_algebra.back(estimate.factor, jacobian.T, transposed=True).T
    residuals = estimate.reading_rows @ np.append(estimate.step, 1.0)
    is_read = (jacobian != 0).any(axis=1)
    sigma = estimate.sigma / np.sqrt(max(is_read.sum(), 1))
    standardized = np.full(len(rows), np.nan)
    for group in groups:
        group_rows = (rows_per_reading * group[:, None] + np.arange(rows_per_reading)).ravel()
        group_rows = group_rows[is_read[group_rows]]
        eigenvalues, vectors = np.linalg.eigh(
            np.eye(len(group_rows)) - rows[group_rows] @ rows[group_rows].T
        )
        inverse = (vectors / np.maximum(eigenvalues, MIN_RESIDUAL_SHARE)) @ vectors.T
        variance = np.diag(inverse)
        if are_exact and len(group_rows):
            variance = np.full(len(group_rows), np.mean(variance - 1))
        scale = sigma * np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        standardized[group_rows] = (inverse @ residuals[group_rows]) / scale
    return standardized
