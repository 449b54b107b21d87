"""The noise of the readings of each field, for a network fitted to readings of unknown noise.

Readings are in units of the spread of their field, and one σ for all of them is a first guess. If
residuals of one field are clearly larger than those of another, and are noise, each field gets a σ of its
own. Otherwise the more precise instrument would have too little weight.
"""

from copy import copy
from dataclasses import replace
from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.data.observations import Observations
from pgt.inference.linear_algebra import Vector
from pgt.methods.second_order.least_squares import Residuals
from pgt.methods.second_order.residual_correlation import has_uncorrelated_residuals
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.precision import cast
from pgt.problem.losses import Problem, reading_rows

# Fields share one σ unless the largest is more than this factor above the smallest.
MIN_NOISE_RATIO = 1.5
# The σ of a field is estimated from at least this many readings.
MIN_READINGS_PER_FIELD = 10
# No field has less noise than this share of its spread: such readings count as exact.
MIN_NOISE_SHARE = 1e-3


def weight_by_field_noise(
    residuals: Residuals,
    theta: Vector,
    model: AbstractFieldModel,
    problem: Problem,
    noise: float | None,
) -> tuple[Residuals, Float[np.ndarray, " c"]]:
    """The residuals with readings weighted by the noise of their field, and each field's σ relative to
    the common one.

    The noise is estimated from the residuals at θ, whose model is `model`. Nothing changes if the noise
    is given, if outliers are expected, or if residuals are not noise.
    """
    fields = len(problem.observations.fields)
    is_known = noise is not None or problem.likelihood != "gauss" or fields < 2
    if is_known or not has_uncorrelated_residuals(model, problem):
        return residuals, np.ones(fields)
    mask = np.asarray(problem.observations.mask)
    factors = _noise_factors(_reading_residuals(residuals, theta, mask), mask)
    return (residuals if np.all(factors == 1) else _reweight(residuals, factors)), factors


def weighted_held_out_error(
    model: AbstractFieldModel,
    problem: Problem,
    held_out: Observations,
    factors: Float[np.ndarray, " c"],
) -> float:
    """The root-mean-square residual of the held-out readings, relative to the noise of their field; 0 if
    there are none."""
    if not len(held_out):
        return 0.0
    readings, held_out = cast((problem.observations, held_out), jnp.float64)
    field = partial(model.decode, model.encode(readings))
    rows = np.asarray(reading_rows(field, held_out, model.scaling, problem.averaged)) / factors
    return float(np.sqrt(np.mean(rows[np.asarray(held_out.mask)] ** 2)))


def _noise_factors(
    residuals: Float[np.ndarray, "n c"], mask: Bool[np.ndarray, "n c"]
) -> Float[np.ndarray, " c"]:
    """σ of every field relative to the common one; 1 for all if they may be equal."""
    counts = mask.sum(axis=0)
    sizes = np.sqrt(np.sum(residuals**2, axis=0) / np.maximum(counts, 1))
    is_estimated = counts >= MIN_READINGS_PER_FIELD
    sigmas = np.maximum(sizes[is_estimated], MIN_NOISE_SHARE)
    if len(sigmas) < 2 or sigmas.max() < MIN_NOISE_RATIO * sigmas.min():
        return np.ones(len(counts))
    factors = np.ones(len(counts))
    factors[is_estimated] = sigmas / np.sqrt(np.mean(sigmas**2))
    # The common σ is that of all readings with these weights: n / σ² = Σ 1/σ_i².
    return factors * np.sqrt(counts @ factors**-2.0 / counts.sum())


def _reading_residuals(
    residuals: Residuals, theta: Vector, mask: Bool[np.ndarray, "n c"]
) -> Float[np.ndarray, "n c"]:
    """The residual of every reading in units of the spread; 0 if it was not measured."""
    (_, root_weights, _), weights = residuals.row_blocks.blocks[0][1:]
    measured = np.flatnonzero(mask.any(axis=0))
    rows = np.asarray(residuals.program.rows(theta, residuals.data))[: len(mask) * len(measured)]
    factors = np.asarray(weights)[:, None] * np.asarray(root_weights)[:, measured]
    table = np.zeros(mask.shape)
    table[:, measured] = rows.reshape(len(mask), -1) / np.where(mask[:, measured], factors, 1.0)
    return np.where(mask, table, 0.0)


def _reweight(residuals: Residuals, factors: Float[np.ndarray, " c"]) -> Residuals:
    """The same with readings of each field weighted by these noise factors."""
    block = residuals.row_blocks.blocks[0]
    readings, _, near = block.items
    root_weights = np.asarray(readings.mask, float) / factors
    weights = np.full(len(root_weights), 1 / np.linalg.norm(root_weights))
    first = block._replace(items=(readings, root_weights, near), weights=weights)
    other = copy(residuals)
    blocks = (first, *residuals.row_blocks.blocks[1:])
    other.row_blocks = replace(residuals.row_blocks, blocks=blocks)
    return other
