"""The least-squares problem of a second-order fit: its parameters, its rows, its held-out error, and the
prior on its weights if readings are noisy."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.inference.likelihood import misfit_size
from pgt.inference.linear_algebra import on_host
from pgt.methods.second_order.descent import HeldOutError
from pgt.methods.second_order.least_squares import GIGABYTE, Residuals, WeightPrior
from pgt.methods.second_order.residual_rows import (
    TunedParameters,
    build_rows,
    flatten_parameters,
    reading_mask,
)
from pgt.nn.precision import cast
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE
from pgt.problem.budget import tunes_all_weights
from pgt.problem.losses import Problem, reading_rows, reading_weights
from pgt.training.settings import Polish

# The first guess of an unknown noise, as a share of the spread, is never larger. A larger guess holds the
# weights back too much at first; a much smaller one lets them memorize the noise.
MAX_NOISE_GUESS = 0.1
# The memory for derivatives without a setting: gigabytes on the host, a share of the memory on a GPU,
# where the compiler tries out products on copies of its own.
HOST_MEMORY_GIGABYTES, GPU_MEMORY_SHARE = 2.0, 0.2


class LeastSquaresSystem(NamedTuple):
    """The parameters θ, the residuals as a function of θ, and the held-out error as a function of θ."""

    parameters: TunedParameters
    residuals: Residuals
    held_out_error: HeldOutError


def build_system(
    model, pde, problem: Problem, settings: Polish, held_out: Observations
) -> LeastSquaresSystem:
    """The least-squares problem, in float64."""
    model, pde, problem, held_out = cast((model, pde, problem, held_out), jnp.float64)
    is_whole = tunes_all_weights(model, settings)
    parameters = flatten_parameters(model, pde, problem.observations, whole=is_whole)
    rows = build_rows(model, pde, problem, parameters, settings)
    mask = reading_mask(problem.observations)
    residuals = Residuals(rows, problem.likelihood, mask, memory_limit(settings))
    return LeastSquaresSystem(parameters, residuals, _held_out_error(parameters, held_out, problem))


def memory_limit(settings: Polish) -> float:
    """The number of bytes that the derivatives of the rows may take."""
    if settings.memory is not None:
        return settings.memory * GIGABYTE
    host_memory = HOST_MEMORY_GIGABYTES * GIGABYTE
    if on_host():
        return host_memory
    limits = jax.devices()[0].memory_stats() or {}
    return limits.get("bytes_limit", host_memory / GPU_MEMORY_SHARE) * GPU_MEMORY_SHARE


def _held_out_error(
    parameters: TunedParameters, held_out: Observations, problem: Problem
) -> HeldOutError:
    """θ ↦ root-mean-square misfit of the held-out readings; 0 if there are none."""
    if not len(held_out):
        return lambda theta: 0.0

    @jax.jit
    def error(theta):
        model, _, context = parameters.rebuild_with_context(theta)
        field = partial(model.decode, context)
        rows = reading_rows(field, held_out, model.scaling, problem.averaged)
        return misfit_size(problem.likelihood, rows, held_out.mask)

    return lambda theta: float(error(theta))


def initial_prior(
    readings: Observations, pde: AbstractPDE, noise: float | None, held_out_error: float = 0.0
) -> WeightPrior:
    """The prior before the evidence revises it, with weights of order one.

    Unknown noise is assumed to be as large as the held-out error, if there is one, within the largest
    guess.
    """
    mask = reading_mask(readings)
    measured, coefficients = float(mask.sum()), len(named_unknowns(pde))
    sigma = noise or min(held_out_error or MAX_NOISE_GUESS, MAX_NOISE_GUESS)
    return WeightPrior(sigma**2 / measured, mask.size, measured, noise or 0.0, coefficients)


def common_noise(problem: Problem, scaling: Scaling, noise: float | None) -> float | None:
    """The σ that all readings would have if they had equal weights: n / σ² = Σ 1/σ_i². None if no noise
    is given."""
    if noise is None:
        return None
    readings = problem.observations
    given = np.asarray(readings.noise) / np.asarray(scaling.spread)
    given = given[np.asarray(readings.mask) & (given > 0)]
    weights = float(jnp.sum(reading_weights(readings, scaling)))
    return float(given.mean() * np.sqrt(np.asarray(readings.mask).sum() / weights))
