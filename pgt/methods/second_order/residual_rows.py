"""The rows of the loss (problem/losses.py) as functions of θ, the parameters of a second-order fit.

θ holds all trained weights of the model, or those of its decoder only, followed by the unknown
coefficients. Rows come in blocks of one kind each: first the readings, then the equations at points of
the domain, then the conditions. They are weighted so that the sum of squares is a sum of mean squares.

If only the decoder is tuned, the readings are encoded once, and so is what the model computes at each
point before it uses the decoder's weights. If all weights are tuned, `encode` depends on θ and is part of
every row.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import NamedSharding
from jaxtyping import Array, Bool, Float, PyTree

from pgt.core.types import Points
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.sampling import Sobol
from pgt.methods.first_order.training_step import split
from pgt.nn import trees
from pgt.nn.trees import compiled
from pgt.physics.derivatives import expansion, highest_order
from pgt.problem.losses import Problem, condition_rows, equation_rows, reading_rows, reading_weights
from pgt.training.settings import Polish


class PointRule(NamedTuple):
    """Rows of the equations for every number in θ, and the limits of the number of residual points."""

    rows_per_parameter: float
    minimum: int
    maximum: int

    def points(self, parameters: int, equations: int) -> int:
        """The number of points for so many numbers in θ."""
        return int(np.clip(self.rows_per_parameter * parameters / equations, *self[1:]))


# The rule for fixed points. With fewer rows than parameters, θ could fulfill the equation at these points
# only.
FIXED_POINTS = PointRule(1.0, 1600, 8000)
# The rule for fresh points, which may be fewer, since the next step uses other ones.
FRESH_POINTS = PointRule(0.4, 300, 4000)
# The largest number of coordinates with a tensor grid. With more, a grid of as many nodes is too coarse.
MAX_TENSOR_AXES = 2
# An order beyond that of a `TaylorExpansion`, for rows that evaluate the field away from their point.
UNSUPPORTED_ORDER = 3


class RowBlock(NamedTuple):
    """Rows of one kind: a function of (θ, one item), the items, and the weight of each item."""

    function: Callable
    items: PyTree
    weights: Float[Array | np.ndarray, " n"]


@dataclass(frozen=True)
class RowBlocks:
    """All rows of a problem, at residual points that can be drawn repeatedly.

    `equation_block` is a function from the number of a draw to the block of the equations, which is at
    `equation_index`. `chunk` is the number of residual points that are computed at once, so that one
    compiled program serves any number of them. `sharding` divides the items over devices.
    """

    blocks: tuple[RowBlock, ...]
    equation_index: int = 0
    equation_block: Callable[[int], RowBlock] | None = None
    chunk: int | None = None
    sharding: NamedSharding | None = None

    def at_draw(self, number: int) -> "RowBlocks":
        """These blocks at the residual points of a draw; 0 stands for the fixed points."""
        if self.equation_block is None:
            return self
        blocks = list(self.blocks)
        blocks[self.equation_index] = self.equation_block(number)
        return replace(self, blocks=tuple(blocks))

    @property
    def chunk_sizes(self) -> tuple[int | None, ...]:
        """The number of items of each block that are computed at once; None stands for all of them."""
        chunk = self.chunk if self.has_equation else None
        positions = range(len(self.blocks))
        return tuple((chunk or None) if k == self.equation_index else None for k in positions)

    @property
    def has_equation(self) -> bool:
        """Whether there are rows of equations."""
        return self.equation_block is not None


class TunedParameters(NamedTuple):
    """θ with the functions that turn it back into (model, equation) and (model, equation, context).

    `fixed_context` is the context if θ does not change it.
    """

    theta: Float[Array, " p"]
    rebuild: Callable
    rebuild_with_context: Callable
    fixed_context: PyTree | None


def flatten_parameters(model, pde, readings, *, whole: bool) -> TunedParameters:
    """The parameters to tune: all trained weights if `whole`, otherwise those of the decoder."""
    trained, fixed = split(model, pde, None)
    part = trained[0] if whole else model.tunable()
    theta, unravel = _ravel((part, trained[1]))

    def rebuild(vector):
        part, unknowns = unravel(vector)
        if whole:
            return trees.combine(part, fixed[0]), eqx.combine(unknowns, fixed[1])
        tuned = eqx.tree_at(lambda m: m.tunable(), model, part)
        return tuned, eqx.combine(unknowns, fixed[1])

    context = None if whole else compiled(lambda m, o: m.encode(o))(model, readings)

    def rebuild_with_context(vector):
        model, pde = rebuild(vector)
        return model, pde, model.encode(readings) if whole else context

    return TunedParameters(theta, rebuild, rebuild_with_context, context)


def _ravel(tree) -> tuple[Float[Array, " p"], Callable]:
    """The result of `ravel_pytree`, as one compiled program instead of one per shape of an array."""
    inverses = []

    def flat(tree):
        vector, inverse = ravel_pytree(tree)
        inverses.append(inverse)  # it depends on shapes and types only
        return vector

    theta = jax.jit(flat)(tree)
    return theta, inverses[0]


def build_rows(
    model, pde, problem: Problem, parameters: TunedParameters, settings: Polish
) -> RowBlocks:
    """All rows of the loss; `model` and `pde` are those at the start."""
    items = _item_builder(model, parameters.fixed_context)
    size = len(parameters.theta)
    fixed, fresh = (point_count(settings, problem, size, fresh=fresh) for fresh in (False, True))
    blocks, equation = [_reading_block(model, problem, parameters, items)], None
    if problem.equation_scales:
        at_points = partial(items, highest_order(pde))
        counts = fixed, fresh
        equation = _equation_block_at(
            problem, parameters, at_points, counts, settings.equation_weight
        )
        blocks.append(equation(0))
    per_axis = round(fixed ** (1 / problem.domain.dimension))
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):
        rows = partial(condition_rows, condition=condition, scale=scale, origin=problem.origin)
        blocks.append(_condition_block(condition, rows, parameters, items, 2 * per_axis))
    # Most steps use fresh points, so their number is the size of a chunk. There are more fixed points and
    # more points of the posterior.
    usual = point_count(replace(settings, points=None), problem, size, fresh=True)
    return RowBlocks(tuple(blocks), 1, equation, min(usual, fixed, fresh), problem.sharding)


def point_count(settings: Polish, problem: Problem, parameters: int, *, fresh: bool) -> int:
    """The number of residual points, from the settings or by the rule for the number of parameters."""
    if settings.points is not None:
        return settings.points
    rule = FRESH_POINTS if fresh else FIXED_POINTS
    return rule.points(parameters, max(len(problem.equation_scales), 1))


def _residual_points(
    domain: Domain, count: int, number: int
) -> tuple[Points, Float[np.ndarray, " n"]]:
    """(points of a draw, share of the domain that each represents); draw 0 is always the same.

    In up to two coordinates the fixed points are Gauss-Legendre nodes. All others are evenly spread
    (Sobol), with a different shift in every draw.
    """
    if number == 0 and domain.dimension <= MAX_TENSOR_AXES:
        points, volume = domain.quadrature(count)
        return jnp.asarray(points), volume / volume.sum()
    return _sobol_points(domain, count, number), np.full(count, 1 / count)


@partial(jax.jit, static_argnums=(0, 1))
def _sobol_points(domain: Domain, count: int, number) -> Points:
    return Sobol().draw(jax.random.key(number), domain, count)


def reading_mask(readings: Observations) -> Bool[np.ndarray, "n measured"]:
    """The mask of measured values in the rows of the readings, which have no fields without readings."""
    mask = np.asarray(readings.mask)
    return mask[:, mask.any(axis=0)]


def _reading_block(model, problem: Problem, parameters: TunedParameters, items) -> RowBlock:
    """The rows of the readings, weighted as in the loss: by 1/σ² if their noise is given."""
    readings = problem.observations
    root_weights = np.sqrt(compiled(reading_weights)(readings, model.scaling))
    weights = np.full(len(readings), 1 / np.linalg.norm(root_weights))
    fields = np.flatnonzero(np.asarray(readings.mask).any(axis=0))

    def function(theta, item):
        model, _, context = parameters.rebuild_with_context(theta)
        reading, root_weight, near = item
        one = jax.tree.map(lambda leaf: leaf[None], reading)
        field, _ = _field_at(model, context, near)
        rows = reading_rows(field, one, model.scaling, problem.averaged)[0]
        return (root_weight * rows)[fields]

    # An average over a box needs the field beyond a neighborhood of its center.
    order = 2 if not problem.averaged else UNSUPPORTED_ORDER
    near = items(order, jnp.asarray(readings.points))
    return RowBlock(function, (readings, root_weights, near), weights)


def _equation_block_at(
    problem: Problem,
    parameters: TunedParameters,
    at_points,
    counts: tuple[int, int],
    weight: float,
) -> Callable[[int], RowBlock]:
    """The function from the number of a draw to the block of the equations; `counts` = (fixed, fresh)."""

    def function(theta, item):
        model, pde, context = parameters.rebuild_with_context(theta)
        field, z = _field_at(model, context, item)
        rows = equation_rows(field, pde, problem, z)
        return jnp.stack(list(rows.values()))

    def block(number: int) -> RowBlock:
        points, share = _residual_points(problem.domain, counts[number > 0], number)
        return RowBlock(function, at_points(points), weight * np.sqrt(share))

    return block


def _condition_block(
    condition, rows, parameters: TunedParameters, items, per_axis: int
) -> RowBlock:
    """The rows of a condition at nodes of its face."""

    def function(theta, item):
        model, pde, context = parameters.rebuild_with_context(theta)
        field, z = _field_at(model, context, item)
        return rows(field, pde=pde, z=z)

    nodes = condition.nodes(per_axis)
    order = 2 if condition.is_local else UNSUPPORTED_ORDER
    weights = np.full(len(nodes), 1 / np.sqrt(len(nodes)))
    return RowBlock(function, items(order, jnp.asarray(nodes)), weights)


# ------------------------------------------------------------- models that attend before they decode


class TaylorExpansion(NamedTuple):
    """The output of the first stage of a two-stage model around a point, to second order.

    If only the decoder is tuned, the first stage `look` never changes, so it is evaluated once. At its
    own point the expansion has the same value and the same first and second derivatives, which is all
    that a second-order equation uses.
    """

    point: Float[Array, " d"]
    value: Float[Array, " k"]
    slope: Float[Array, "k d"]
    curvature: Float[Array, "k d d"]

    def at(self, z: Float[Array, " d"]) -> Float[Array, " k"]:
        """The value at a point nearby."""
        offset = z - self.point
        return self.value + self.slope @ offset + (self.curvature @ offset) @ offset / 2


def _item_builder(model, context: PyTree | None) -> Callable[[int, Points], PyTree]:
    """The function from (order, points) to items of a block.

    An item is a `TaylorExpansion` if the model has two stages, the context is fixed, and rows use
    derivatives up to second order only. Otherwise it is the point.
    """
    halves = model.halves()
    if context is None or halves is None:
        return lambda order, points: points

    def expand(z):
        return TaylorExpansion(z, *expansion(lambda y: halves.look(context, y).reshape(-1), z))

    expanded = jax.jit(jax.vmap(expand))
    return lambda order, points: points if order > 2 else expanded(points)


def _field_at(model, context, item):
    """The field near an item, and the point of the item."""
    if not isinstance(item, TaylorExpansion):
        return partial(model.decode, context), item
    look, answer = model.halves()
    shape = jax.eval_shape(partial(look, context), item.point).shape
    return lambda z: answer(item.at(z).reshape(shape), z), item.point
