"""Whether the residuals of a fit at its readings are noise, or show that the network is too small.

Both look the same in held-out readings: the error is a few percent, and more steps do not reduce it. But
the noise of one reading is independent of that of its neighbor. If residuals of neighboring readings are
correlated, a part of the field is left that the network cannot represent.

If readings are too far apart to tell, the residual of the equation decides: noise in the readings does
not keep a network from fulfilling the equation, but a network that is too small misses both.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.core.unknown import resolve
from pgt.data.sampling import Sobol
from pgt.data.visibility import nearest
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.compiled import compiled
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem, equation_rows, reading_rows

# A smaller correlation of neighbors, as a share of the residuals' variance, does not matter.
MIN_CORRELATION = 0.1
# A correlation is significant if noise would have to reach this many standard deviations of it.
SIGNIFICANT_DEVIATIONS = 4.0
# Residuals are accepted as noise if their correlation is within this many standard deviations of zero.
CHANCE_DEVIATIONS = 1.5
# The largest ratio of the equation's residual to that of the readings, both relative to their typical
# size, for a network that is large enough. Fits of noisy readings have less than 0.1, networks that
# cannot follow a cylinder wake 0.33 and more.
MAX_EQUATION_TO_READING_RATIO = 0.2
# The number of points at which the residual of the equation is evaluated.
EQUATION_POINTS = 512


def has_correlated_residuals(model: AbstractFieldModel, problem: Problem) -> bool:
    """Whether the residuals of neighboring readings are correlated, for a model in double precision."""
    return is_correlated(*_residuals_at_readings(model, problem))


def has_uncorrelated_residuals(model: AbstractFieldModel, problem: Problem) -> bool:
    """Whether the residuals are no more correlated than noise. If this and `has_correlated_residuals` are
    both false, there are too few readings to tell."""
    return is_uncorrelated(*_residuals_at_readings(model, problem))


def violates_equation(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem) -> bool:
    """Whether a model in double precision has a large residual of the equation compared with that of the
    readings. It is meant for a fit under a prior, in which the equation has a large weight."""
    if not problem.equation_scales:
        return False
    of_readings, of_equation = mean_square_residuals(model, pde, problem)
    return of_equation > MAX_EQUATION_TO_READING_RATIO**2 * of_readings


def mean_square_residuals(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem
) -> tuple[float, float]:
    """(mean square of the readings' residuals, of all equations together), for a model in double
    precision."""
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
    rows = jax.vmap(lambda z: equation_rows(field, resolve(pde), problem, z))(points)
    of_equation = sum(jnp.mean(r**2) for r in rows.values())
    return jnp.sum(misfit**2) / jnp.sum(readings.mask), of_equation


def _residuals_at_readings(model: AbstractFieldModel, problem: Problem):
    """(residuals, mask, points in units of the domain's extent)."""
    with jax.enable_x64(True):
        readings = cast(problem.observations, jnp.float64)
        residuals = _reading_residuals(model, readings, problem.averaged)
    points = np.asarray(readings.points) / np.asarray(problem.domain.extent, float)
    return np.asarray(residuals), np.asarray(readings.mask), points


@compiled
def _reading_residuals(model: AbstractFieldModel, readings, averaged):
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
    correlation = neighbor_correlation(residuals, mask, points)
    return bool(correlation > _threshold(mask, SIGNIFICANT_DEVIATIONS))


def is_uncorrelated(
    residuals: Float[np.ndarray, "n c"],
    mask: Bool[np.ndarray, "n c"],
    points: Float[np.ndarray, "n d"],
) -> bool:
    """Whether residuals of nearest neighbors are no more correlated than noise would be.

    >>> line, mask = np.linspace(0, 1, 200)[:, None], np.ones((200, 1), bool)
    >>> noise = np.random.default_rng(0).normal(size=(200, 1))
    >>> is_uncorrelated(np.sin(20 * line), mask, line), is_uncorrelated(noise, mask, line)
    (False, True)
    """
    correlation = neighbor_correlation(residuals, mask, points)
    return bool(correlation < _threshold(mask, CHANCE_DEVIATIONS))


def _threshold(mask: Bool[np.ndarray, "n c"], deviations: float) -> float:
    """A correlation of this many standard deviations for noise at as many readings, or the smallest that
    matters."""
    return max(MIN_CORRELATION, deviations / np.sqrt(max(mask.sum(), 1)))


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
    """Every residual times that of its nearest neighbor, and times itself."""
    neighbor = nearest(points, points, 2)[1][:, 1]  # the nearest point is the reading itself
    centered = residuals - residuals.mean()
    return np.stack([centered * centered[neighbor], centered**2])
