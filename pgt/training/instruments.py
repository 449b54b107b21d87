"""How much noise the readings of each field have, where a network is fitted and nobody said it.

Values are in units of their spread, and one noise for all of them is a first guess. Where readings of one
field are plainly missed by more than those of another, and it is noise that they are missed by, each
field counts by its own: else the better instrument would count for too little.
"""

from copy import copy
from dataclasses import replace
from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.data.observations import Observations
from pgt.models.base import AbstractFieldModel
from pgt.nn.precision import cast
from pgt.training.dense import Vector
from pgt.training.least_squares import Search
from pgt.training.losses import Problem, reading_rows
from pgt.training.overtaxed import misses_noise

UNEQUAL = 1.5  # of the least noise: what is plainly more
FEWEST = 10  # readings of a field that tell its noise
CLEAN = 1e-3  # of the spread: readings missed by less are as good as exact


def by_instrument(
    search: Search,
    theta: Vector,
    model: AbstractFieldModel,
    problem: Problem,
    noise: float | None,
) -> tuple[Search, Float[np.ndarray, " c"]]:
    """The search with readings that count by what those of their field are missed by at θ, which `model`
    has, and by field how much more noise there is than on average. Nothing changes where noise is given,
    where outliers are expected, and where it is no noise that is missed."""
    fields = len(problem.observations.fields)
    is_known = noise is not None or problem.likelihood != "gauss" or fields < 2
    if is_known or not misses_noise(model, problem):
        return search, np.ones(fields)
    factors = _factors(_missed(search, theta, mask := np.asarray(problem.observations.mask)), mask)
    return (search if np.all(factors == 1) else _reweighted(search, factors)), factors


def judged_by_instrument(
    model: AbstractFieldModel,
    problem: Problem,
    held_out: Observations,
    factors: Float[np.ndarray, " c"],
) -> float:
    """The root mean square of what readings that were not fitted are missed by, in units of the noise of
    their field; 0 where there are none."""
    if not len(held_out):
        return 0.0
    readings, held_out = cast((problem.observations, held_out), jnp.float64)
    field = partial(model.decode, model.encode(readings))
    rows = np.asarray(reading_rows(field, held_out, model.scaling, problem.averaged)) / factors
    return float(np.sqrt(np.mean(rows[np.asarray(held_out.mask)] ** 2)))


def _factors(
    missed: Float[np.ndarray, "n c"], mask: Bool[np.ndarray, "n c"]
) -> Float[np.ndarray, " c"]:
    """σ of every field in units of the common one; 1 for all where they may be the same."""
    counts = mask.sum(axis=0)
    sizes, enough = np.sqrt(np.sum(missed**2, axis=0) / np.maximum(counts, 1)), counts >= FEWEST
    known = np.maximum(sizes[enough], CLEAN)
    if len(known) < 2 or known.max() < UNEQUAL * known.min():
        return np.ones(len(counts))
    factors = np.ones(len(counts))
    factors[enough] = known / np.sqrt(np.mean(known**2))
    # So that σ of a field is the common one, of all readings as they are weighted, times its factor.
    return factors * np.sqrt(counts @ factors**-2.0 / counts.sum())


def _missed(
    search: Search, theta: Vector, mask: Bool[np.ndarray, "n c"]
) -> Float[np.ndarray, "n c"]:
    """By how much readings are missed, in units of the spread; 0 where none were made."""
    (_, trust, _), weights = search.points.blocks[0][1:]
    read = np.flatnonzero(mask.any(axis=0))
    rows = np.asarray(search.program.rows(theta, search.data))[: len(mask) * len(read)]
    counted = np.asarray(weights)[:, None] * np.asarray(trust)[:, read]
    missed = np.zeros(mask.shape)
    missed[:, read] = rows.reshape(len(mask), -1) / np.where(mask[:, read], counted, 1.0)
    return np.where(mask, missed, 0.0)


def _reweighted(search: Search, factors: Float[np.ndarray, " c"]) -> Search:
    """The same with readings of each field that have so much more noise."""
    block = search.points.blocks[0]
    readings, _, around = block.items
    trust = np.asarray(readings.mask, float) / factors
    weights = np.full(len(trust), 1 / np.linalg.norm(trust))
    first = block._replace(items=(readings, trust, around), weights=weights)
    other = copy(search)
    other.points = replace(search.points, blocks=(first, *search.points.blocks[1:]))
    return other
