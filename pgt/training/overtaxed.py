"""Whether what a fit misses at its readings is noise, or more than the network can follow.

Both look the same to readings that are held out: they are missed by a few per cent, and more steps do not
help. But noise knows nothing of its neighbours. Where readings near each other are missed alike, there is
a field left that the network has no room for. Where readings are too far from each other to tell, the
equation does: noise in the readings does not keep a network from fulfilling it, but one that is short of
room misses both.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.data.sampling import Sobol
from pgt.data.sight import nearest
from pgt.ground.unknown import resolve
from pgt.models.base import AbstractFieldModel
from pgt.nn.compiled import compiled
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.losses import Problem, equation_rows, reading_rows

ALIKE = 0.1  # of the variance of what is missed: what neighbours have in common
SIGNIFICANT = 4.0  # standard deviations of that share among so many readings of pure noise
USUAL = 1.5  # of them: noise seldom has more in common by chance
# Of what is missed at the readings: what a network that has room misses of the equation. Fits of noisy
# readings miss less than a tenth, networks that cannot follow a wake a third and more.
BENT = 0.2
ASKED = 512  # points at which the equation is asked


def is_overtaxed(model: AbstractFieldModel, problem: Problem) -> bool:
    """Whether neighbours are missed alike by a model in double precision."""
    return are_alike(*_misses(model, problem))


def misses_noise(model: AbstractFieldModel, problem: Problem) -> bool:
    """Whether neighbours are missed as if they knew nothing of each other. Where this is as wrong as
    `is_overtaxed`, there are too few readings to tell."""
    return are_unlike(*_misses(model, problem))


def bends_equation(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem) -> bool:
    """Whether a model in double precision misses the equation nearly as far as the readings: of a fit
    under a prior, which holds the equation stiff."""
    if not problem.equation_scales:
        return False
    missed, bent = mean_squares(model, pde, problem)
    return bent > BENT**2 * missed


def mean_squares(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem
) -> tuple[float, float]:
    """Of what a model in double precision misses the readings by, and all equations together."""
    with jax.enable_x64(True):
        pde, problem = cast((pde, problem), jnp.float64)
        points = Sobol().draw(jax.random.key(0), problem.domain, ASKED)
        missed, bent = _mean_squares(model, pde, problem, points)
    return float(missed), float(bent)


@compiled
def _mean_squares(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem, points):
    """Of the readings, and of all equations together."""
    readings = problem.observations
    field = partial(model.decode, model.encode(readings))
    missed = reading_rows(field, readings, model.scaling, problem.averaged)
    rows = jax.vmap(lambda z: equation_rows(field, resolve(pde), problem, z))(points)
    return jnp.sum(missed**2) / jnp.sum(readings.mask), sum(jnp.mean(r**2) for r in rows.values())


def _misses(model: AbstractFieldModel, problem: Problem):
    """What is missed, where something was read, and where that is in units of the domain."""
    with jax.enable_x64(True):
        readings = cast(problem.observations, jnp.float64)
        missed = _missed(model, readings, problem.averaged)
    points = np.asarray(readings.points) / np.asarray(problem.domain.extent, float)
    return np.asarray(missed), np.asarray(readings.mask), points


@compiled
def _missed(model: AbstractFieldModel, readings, averaged):
    field = partial(model.decode, model.encode(readings))
    return reading_rows(field, readings, model.scaling, averaged)


def are_alike(
    missed: Float[np.ndarray, "n c"],
    mask: Bool[np.ndarray, "n c"],
    points: Float[np.ndarray, "n d"],
) -> bool:
    """Whether nearest neighbours are missed alike, over all fields together.

    >>> line, still = np.linspace(0, 1, 200)[:, None], np.ones((200, 1), bool)
    >>> noise = np.random.default_rng(0).normal(size=(200, 1))
    >>> are_alike(np.sin(20 * line), still, line), are_alike(noise, still, line)
    (True, False)
    """
    share = common_share(missed, mask, points)
    return bool(share > max(ALIKE, SIGNIFICANT / np.sqrt(max(mask.sum(), 1))))


def are_unlike(
    missed: Float[np.ndarray, "n c"],
    mask: Bool[np.ndarray, "n c"],
    points: Float[np.ndarray, "n d"],
) -> bool:
    """Whether nearest neighbours are missed no more alike than noise would be.

    >>> line, still = np.linspace(0, 1, 200)[:, None], np.ones((200, 1), bool)
    >>> noise = np.random.default_rng(0).normal(size=(200, 1))
    >>> are_unlike(np.sin(20 * line), still, line), are_unlike(noise, still, line)
    (False, True)
    """
    share = common_share(missed, mask, points)
    return bool(share < max(ALIKE, USUAL / np.sqrt(max(mask.sum(), 1))))


def common_share(
    missed: Float[np.ndarray, "n c"],
    mask: Bool[np.ndarray, "n c"],
    points: Float[np.ndarray, "n d"],
) -> float:
    """What nearest neighbours are missed by alike: a share of the variance, 0 for noise."""
    common = [_common(missed[m, k], points[m]) for k, m in enumerate(mask.T) if m.sum() > 1]
    if not common:
        return 0.0
    products, squares = np.concatenate(common, axis=1)
    return float(products.sum() / max(squares.sum(), np.finfo(float).tiny))


def _common(
    missed: Float[np.ndarray, " n"], points: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "2 n"]:
    """What every reading has in common with its nearest neighbour, and with itself."""
    neighbour = nearest(points, points, 2)[1][:, 1]  # the nearest is the reading itself
    centred = missed - missed.mean()
    return np.stack([centred * centred[neighbour], centred**2])
