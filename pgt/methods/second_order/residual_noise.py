"""Whether the residuals of a fit at its readings are noise, or show that the network is too small.

Held-out readings do not distinguish the two: the error is a few percent, and more steps do not reduce it.
But the noise of one reading is independent of that of its neighbor. If residuals of neighboring readings
are correlated, there is a part of the field that the network cannot represent.

Nor is noise concentrated at a front or a kink. If readings are too far apart for these tests, the
residual of the equation decides: noise in the readings does not keep a network from fulfilling the
equation, but a network that is too small misses both.
"""

from copy import copy
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.core.unknown import resolve
from pgt.data.observations import Observations
from pgt.data.sampling import Sobol
from pgt.data.visibility import nearest
from pgt.inference.likelihood import SMALLEST_SIGMA
from pgt.inference.linear_algebra import Vector
from pgt.methods.second_order.least_squares import Residuals
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.trees import cast, compiled
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem, equation_rows, reading_rows

# A smaller correlation between neighbors, as a share of the residuals' variance, does not matter.
MIN_CORRELATION = 0.1
# Residuals are not noise if their correlation or their fourth moment is this many standard deviations
# from that of white normal noise. A larger number mistakes a poor model for noise, a smaller one wastes
# time.
SIGNIFICANT_DEVIATIONS = 3.0
# The largest ratio of the equation's residual to that of the readings, both relative to their typical
# size, for a network that is large enough. Fits of noisy readings have less than 0.1, networks that
# cannot follow a cylinder wake 0.33 and more.
MAX_EQUATION_TO_READING_RATIO = 0.2
# The number of points at which the residual of the equation is evaluated.
EQUATION_POINTS = 512


def has_correlated_residuals(model: AbstractFieldModel, problem: Problem) -> bool:
    """Whether the residuals of neighboring readings are correlated, for a model in double precision."""
    return is_correlated(*_residuals_at_readings(model, problem))


def resembles_noise(model: AbstractFieldModel, problem: Problem) -> bool:
    """Whether the residuals of the readings resemble white normal noise, for a model in double precision.

    They must not be correlated between neighbors, nor concentrated at a few places, such as a front
    that the model cannot represent. If outliers are expected, residuals may be concentrated.
    """
    residuals, mask, points = _residuals_at_readings(model, problem)
    if is_correlated(residuals, mask, points):
        return False
    return problem.likelihood != "gauss" or not is_heavy_tailed(residuals, mask)


def mean_square_residuals(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem
) -> tuple[float, float]:
    """(mean square residual of the readings, sum of those of the equations).

    The second is 0 if the equations are not fitted. The model is in double precision.
    """
    with jax.enable_x64(True):
        pde, problem = cast((pde, problem), jnp.float64)
        points = Sobol().draw(jax.random.key(0), problem.domain, EQUATION_POINTS)
        of_readings, of_equation = _mean_square_residuals(model, pde, problem, points)
    return float(of_readings), float(of_equation)


@compiled
def _mean_square_residuals(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem, points):
    readings = problem.observations
    field = partial(model.decode, model.encode(readings))
    misfit = reading_rows(field, readings, model.scaling, problem.averaged)
    of_readings = jnp.sum(misfit**2) / jnp.sum(readings.mask)
    if not problem.equation_scales:
        return of_readings, 0.0
    rows = jax.vmap(lambda z: equation_rows(field, resolve(pde), problem, z))(points)
    return of_readings, sum(jnp.mean(r**2) for r in rows.values())


def _residuals_at_readings(model: AbstractFieldModel, problem: Problem):
    """(residuals, mask, points in units of the domain's extent)."""
    with jax.enable_x64(True):
        readings = cast(problem.observations, jnp.float64)
        residuals = _compiled_residuals(model, readings, problem.averaged)
    points = np.asarray(readings.points) / np.asarray(problem.domain.extent, float)
    return np.asarray(residuals), np.asarray(readings.mask), points


@compiled
def _compiled_residuals(model: AbstractFieldModel, readings, averaged):
    field = partial(model.decode, model.encode(readings))
    return reading_rows(field, readings, model.scaling, averaged)


def is_correlated(
    residuals: Float[np.ndarray, "n c"],
    mask: Bool[np.ndarray, "n c"],
    points: Float[np.ndarray, "n d"],
) -> bool:
    """Whether residuals of nearest neighbors are significantly correlated, over all fields together.

    >>> line, mask = np.linspace(0, 1, 200)[:, None], np.ones((200, 1), bool)
    >>> noise = np.random.default_rng(0).normal(size=(200, 1))
    >>> is_correlated(np.sin(20 * line), mask, line), is_correlated(noise, mask, line)
    (True, False)
    """
    chance = SIGNIFICANT_DEVIATIONS / np.sqrt(max(mask.sum(), 1))
    return bool(neighbor_correlation(residuals, mask, points) > max(MIN_CORRELATION, chance))


def is_heavy_tailed(residuals: Float[np.ndarray, "n c"], mask: Bool[np.ndarray, "n c"]) -> bool:
    """Whether the residuals of a field have a significantly larger fourth moment than normal noise.

    The excess kurtosis of normal noise has the mean 0 and the variance 24/n.

    >>> random, mask = np.random.default_rng(0), np.ones((200, 1), bool)
    >>> is_heavy_tailed(random.normal(size=(200, 1)), mask)
    False
    >>> is_heavy_tailed(np.exp(-np.linspace(-20, 20, 200)[:, None] ** 2), mask)
    True
    """
    return any(
        _excess_kurtosis(residuals[is_measured, k])
        > SIGNIFICANT_DEVIATIONS * np.sqrt(24 / is_measured.sum())
        for k, is_measured in enumerate(mask.T)
        if is_measured.any()
    )


def _excess_kurtosis(residuals: Float[np.ndarray, " n"]) -> float:
    centered = residuals - residuals.mean()
    variance = max(float(np.mean(centered**2)), np.finfo(float).tiny)
    return float(np.mean((centered / np.sqrt(variance)) ** 4)) - 3


def neighbor_correlation(
    residuals: Float[np.ndarray, "n c"],
    mask: Bool[np.ndarray, "n c"],
    points: Float[np.ndarray, "n d"],
) -> float:
    """The correlation of residuals of nearest neighbors, over all fields together; 0 for noise."""
    products = [
        _neighbor_products(residuals[m, k], points[m]) for k, m in enumerate(mask.T) if m.sum() > 1
    ]
    if not products:
        return 0.0
    with_neighbor, with_itself = np.concatenate(products, axis=1)
    return float(with_neighbor.sum() / max(with_itself.sum(), np.finfo(float).tiny))


def _neighbor_products(
    residuals: Float[np.ndarray, " n"], points: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "2 n"]:
    """Every residual times that of its nearest neighbor, and times itself, less the mean residual."""
    neighbor = nearest(points, points, 2)[1][:, 1]  # the nearest point is the reading itself
    centered = residuals - residuals.mean()
    return np.stack([centered * centered[neighbor], centered**2])


# ------------------------------------------------------------------------------- noise of each field

# This part estimates the noise of the readings of each field, for a network fitted to readings of unknown
# noise.
#
# Readings are in units of the spread of their field, and one σ for all of them is a first guess. If
# residuals of one field are clearly larger than those of another, and are noise, each field gets a
# σ of its own. Otherwise the more precise instrument would have too little weight.

# Fields share one σ unless the largest exceeds the smallest by this factor.
MIN_NOISE_RATIO = 1.5
# The smallest number of readings from which the σ of a field is estimated.
MIN_READINGS_PER_FIELD = 10


def weight_by_field_noise(
    residuals: Residuals,
    theta: Vector,
    model: AbstractFieldModel,
    problem: Problem,
    noise: float | None,
) -> tuple[Residuals, Float[np.ndarray, " c"]]:
    """(residuals with readings weighted by the noise of their field, relative σ of each field).

    The σ are relative to the common one.

    The noise is estimated from the residuals at θ, whose model is `model`. Nothing changes if the noise
    is given, if outliers are expected, or if residuals are not noise.
    """
    fields = len(problem.observations.fields)
    is_known = noise is not None or problem.likelihood != "gauss" or fields < 2
    if is_known or has_correlated_residuals(model, problem):
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
    """The root-mean-square residual of the held-out readings, relative to the noise of their field.

    It is 0 without held-out readings.
    """
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
    sigmas = np.maximum(sizes[is_estimated], SMALLEST_SIGMA)
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
    """These residuals with the readings of each field weighted by its noise factor."""
    block = residuals.row_blocks.blocks[0]
    readings, _, near = block.items
    root_weights = np.asarray(readings.mask, float) / factors
    weights = np.full(len(root_weights), 1 / np.linalg.norm(root_weights))
    reading_block = block._replace(items=(readings, root_weights, near), weights=weights)
    reweighted = copy(residuals)
    blocks = (reading_block, *residuals.row_blocks.blocks[1:])
    reweighted.row_blocks = replace(residuals.row_blocks, blocks=blocks)
    return reweighted
