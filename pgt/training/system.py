"""What second-order steps solve: the numbers to tune, the rows to search with, the judge, and the prior
that holds the numbers where readings are noisy."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pgt.data.observations import Observations
from pgt.ground.unknown import named_unknowns
from pgt.models.base import AbstractFieldModel
from pgt.nn.frozen import count_parameters
from pgt.nn.precision import cast
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE
from pgt.training.dense import on_host
from pgt.training.descent import Judge
from pgt.training.least_squares import GIGABYTE, Prior, Search
from pgt.training.likelihood import misfit_size
from pgt.training.losses import Problem, reading_rows, reading_weights
from pgt.training.rows import Tuned, reading_mask, rows_of, tuned
from pgt.training.settings import Polish

GUESS = 0.1  # of the noise, where it is unknown: too weak a prior at first, and noise is memorised
HOST_MEMORY = 2.0  # gigabytes
GPU_SHARE = 0.2  # of its memory: the compiler tries out every product on copies of its own


class System(NamedTuple):
    """θ and the ways back from it, the rows to search with, and the judge."""

    numbers: Tuned
    search: Search
    judge: Judge


def system(model, pde, problem: Problem, settings: Polish, held_out: Observations) -> System:
    """What is to be solved, in float64."""
    model, pde, problem, held_out = cast((model, pde, problem, held_out), jnp.float64)
    numbers = tuned(model, pde, problem.observations, whole=is_whole(model, settings))
    rows = rows_of(model, pde, problem, numbers, settings)
    mask = reading_mask(problem.observations)
    search = Search(rows, problem.likelihood, mask, memory_of(settings))
    return System(numbers, search, _judge(numbers, held_out, problem))


def is_whole(model: AbstractFieldModel, settings: Polish) -> bool:
    """Whether all weights are tuned."""
    if settings.weights is not None:
        return settings.weights == "all"
    return count_parameters(model.tunable()) == count_parameters(model)


def memory_of(settings: Polish) -> float:
    """Bytes that the derivatives of the rows may take."""
    if settings.memory is not None:
        return settings.memory * GIGABYTE
    if on_host():
        return HOST_MEMORY * GIGABYTE
    limits = jax.devices()[0].memory_stats() or {}
    return limits.get("bytes_limit", HOST_MEMORY * GIGABYTE / GPU_SHARE) * GPU_SHARE


def _judge(numbers: Tuned, held_out: Observations, problem: Problem) -> Judge:
    """θ ↦ root-mean-square misfit of the readings that are not fitted; 0 where there are none."""
    if not len(held_out):
        return lambda theta: 0.0

    @jax.jit
    def error(theta):
        model, _, context = numbers.seen(theta)
        field = partial(model.decode, context)
        rows = reading_rows(field, held_out, model.scaling, problem.averaged)
        return misfit_size(problem.likelihood, rows, held_out.mask)

    return lambda theta: float(error(theta))


def prior_of(
    readings: Observations, pde: AbstractPDE, noise: float | None, held_out_error: float = 0.0
) -> Prior:
    """At first as if the weights were of order one. Unknown noise is taken to be as large as the error of
    readings that were not fitted, where there are any, and no larger than a guess."""
    mask = reading_mask(readings)
    measured, free = float(mask.sum()), len(named_unknowns(pde))
    size = noise or min(held_out_error or GUESS, GUESS)
    return Prior(size**2 / measured, mask.size, measured, noise or 0.0, free)


def common_noise(problem: Problem, scaling: Scaling, noise: float | None) -> float | None:
    """The σ that all readings of one weight would have, where `noise` is given: n / σ² = Σ 1/σ_i²."""
    if noise is None:
        return None
    readings = problem.observations
    given = np.asarray(readings.noise) / np.asarray(scaling.spread)
    given = given[np.asarray(readings.mask) & (given > 0)]
    weights = float(jnp.sum(reading_weights(readings, scaling)))
    return float(given.mean() * np.sqrt(np.asarray(readings.mask).sum() / weights))
