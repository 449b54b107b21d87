"""The rows of the loss (losses.py) as functions of θ, the numbers that a least-squares step tunes.

θ is all that is trained of the model, or its decoder alone, and the unknown coefficients, which come
last. Rows come in blocks of one kind each: readings first, then the equations at points of the domain,
then the conditions. Weights are such that the sum of squares is a sum of mean squares.

With the decoder alone the readings are encoded once, and so is what the model sees around each point.
With all weights `encode` depends on θ and stands inside every row.
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
from jaxtyping import Array, Bool, Float, PyTree

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.sampling import Sobol
from pgt.ground.types import Points
from pgt.nn import frozen
from pgt.nn.compiled import compiled
from pgt.physics.derivatives import expansion, highest_order
from pgt.training.losses import (
    Problem,
    condition_rows,
    equation_rows,
    reading_rows,
    reading_weights,
)
from pgt.training.settings import Polish
from pgt.training.step import split

BEYOND_EXPANSION = 3  # an order that an `Expansion` lacks: values away from its point are asked for
# Rows of the equations for every number in θ, and the fewest and most points. Fixed points are to be so
# many that θ cannot fulfil the equation at them alone; of fresh ones the next step has others.
FIXED = (1.0, 1600, 8000)
FRESH = (0.4, 300, 4000)
TENSOR_AXES = 2  # with more, a grid with as many nodes along each axis is coarse along every one


class Block(NamedTuple):
    """Rows of one kind: a function of (θ, one item), the items, and the weight of each item."""

    function: Callable
    items: PyTree
    weights: Float[Array | np.ndarray, " n"]


@dataclass(frozen=True)
class Rows:
    """All rows of a problem. The residual points may be drawn anew, as often as one likes."""

    blocks: tuple[Block, ...]
    placed: int = 0  # the position of the block of the equations
    place: Callable[[int], Block] | None = None
    together: int | None = None  # residual points for which one program serves any number of them

    def anew(self, number: int) -> "Rows":
        """The same at the residual points of draw `number`; 0: the fixed ones."""
        if self.place is None:
            return self
        blocks = list(self.blocks)
        blocks[self.placed] = self.place(number)
        return replace(self, blocks=tuple(blocks))

    @property
    def at_once(self) -> tuple[int | None, ...]:
        """How many items of each block are computed at once; None: all of them."""
        placed = self.has_equation and self.together
        return tuple(
            self.together if placed and k == self.placed else None for k in range(len(self.blocks))
        )

    @property
    def has_equation(self) -> bool:
        return self.place is not None

    def without_equation(self) -> "Rows":
        """Readings and conditions alone."""
        if not self.has_equation:
            return self
        return Rows(tuple(block for n, block in enumerate(self.blocks) if n != self.placed))


class Tuned(NamedTuple):
    """θ; the way back from it to (model, equation), and to (model, equation, context).

    `fixed` is the context where θ does not change it.
    """

    theta: Float[Array, " p"]
    rebuild: Callable
    seen: Callable
    fixed: PyTree | None


def tuned(model, pde, readings, *, whole: bool) -> Tuned:
    """The numbers to tune: all that is trained of the model where `whole`, else its decoder's."""
    trained, fixed = split(model, pde, None)
    part = trained[0] if whole else model.tunable()
    theta, unravel = _flattened((part, trained[1]))

    def rebuild(vector):
        part, unknowns = unravel(vector)
        if whole:
            return frozen.combine(part, fixed[0]), eqx.combine(unknowns, fixed[1])
        tuned = eqx.tree_at(lambda m: m.tunable(), model, part)
        return tuned, eqx.combine(unknowns, fixed[1])

    context = None if whole else compiled(lambda m, o: m.encode(o))(model, readings)

    def seen(vector):
        model, pde = rebuild(vector)
        return model, pde, model.encode(readings) if whole else context

    return Tuned(theta, rebuild, seen, context)


def _flattened(tree) -> tuple[Float[Array, " p"], Callable]:
    """As `ravel_pytree`, in one program in the place of one for every shape of an array."""
    ways_back = []

    def flat(tree):
        vector, back = ravel_pytree(tree)
        ways_back.append(back)  # it knows shapes and types only
        return vector

    theta = jax.jit(flat)(tree)
    return theta, ways_back[0]


def rows_of(model, pde, problem: Problem, numbers: Tuned, settings: Polish) -> Rows:
    """All rows of the loss; `model` and `pde` are those at the start."""
    items = _expander(model, numbers.fixed)
    fixed, fresh = (
        point_count(settings, problem, len(numbers.theta), fresh=fresh) for fresh in (False, True)
    )
    blocks, place = [_readings(model, problem, numbers, items)], None
    if problem.equation_scales:
        at_points = partial(items, highest_order(pde))
        counts = fixed, fresh
        place = _equation(problem, numbers, at_points, counts, settings.equation_weight)
        blocks.append(place(0))
    per_axis = round(fixed ** (1 / problem.domain.dimension))
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):
        at = partial(condition_rows, condition=condition, scale=scale, origin=problem.origin)
        blocks.append(_on_face(condition, at, numbers, items, 2 * per_axis))
    # As many as fresh ones, of which there are most steps: fixed ones, and the posterior's, are more.
    usual = point_count(replace(settings, points=None), problem, len(numbers.theta), fresh=True)
    return Rows(tuple(blocks), 1, place, min(usual, fixed, fresh))


def point_count(settings: Polish, problem: Problem, size: int, *, fresh: bool) -> int:
    """Residual points: as asked for, else as many as suit the numbers to tune."""
    if settings.points is not None:
        return settings.points
    share, fewest, most = FRESH if fresh else FIXED
    return int(np.clip(share * size / max(len(problem.equation_scales), 1), fewest, most))


def _points(domain: Domain, count: int, number: int) -> tuple[Points, Float[np.ndarray, " n"]]:
    """Points of a draw and the share of the domain that each stands for; draw 0 is always the same.

    Fixed points are those of Gauss and Legendre in up to two coordinates; all others are evenly
    spread (Sobol), with another shift in every draw.
    """
    if number == 0 and domain.dimension <= TENSOR_AXES:
        points, volume = domain.quadrature(count)
        return jnp.asarray(points), volume / volume.sum()
    return _spread(domain, count, number), np.full(count, 1 / count)


@partial(jax.jit, static_argnums=(0, 1))
def _spread(domain: Domain, count: int, number) -> Points:
    return Sobol().draw(jax.random.key(number), domain, count)


def reading_mask(readings: Observations) -> Bool[np.ndarray, "n measured"]:
    """Which rows of the readings were measured; fields without any reading have no rows."""
    mask = np.asarray(readings.mask)
    return mask[:, mask.any(axis=0)]


def _readings(model, problem: Problem, numbers: Tuned, items) -> Block:
    """Readings count as they do in the loss: in proportion to 1/σ² where their noise is given."""
    readings = problem.observations
    trust = np.sqrt(compiled(reading_weights)(readings, model.scaling))
    measured = np.full(len(readings), 1 / np.linalg.norm(trust))
    fields = np.flatnonzero(np.asarray(readings.mask).any(axis=0))

    def function(theta, item):
        model, _, context = numbers.seen(theta)
        reading, root, around = item
        one = jax.tree.map(lambda leaf: leaf[None], reading)
        field, _ = _field_at(model, context, around)
        return (root * reading_rows(field, one, model.scaling, problem.averaged)[0])[fields]

    # An average over a box asks for more than the neighbourhood of its centre.
    near = 2 if not problem.averaged else BEYOND_EXPANSION
    around = items(near, jnp.asarray(readings.points))
    return Block(function, (readings, trust, around), measured)


def _equation(
    problem: Problem, numbers: Tuned, at_points, counts: tuple[int, int], weight: float
) -> Callable[[int], Block]:
    """The rows of the equations at the points of a draw; `counts`: of fixed and of fresh ones."""

    def function(theta, item):
        model, pde, context = numbers.seen(theta)
        field, z = _field_at(model, context, item)
        rows = equation_rows(field, pde, problem, z)
        return jnp.stack(list(rows.values()))

    def place(number: int) -> Block:
        inside, share = _points(problem.domain, counts[number > 0], number)
        return Block(function, at_points(inside), weight * np.sqrt(share))

    return place


def _on_face(condition, rows, numbers: Tuned, items, per_axis: int) -> Block:
    def function(theta, item):
        model, pde, context = numbers.seen(theta)
        field, z = _field_at(model, context, item)
        return rows(field, pde=pde, z=z)

    face = condition.nodes(per_axis)
    near = 2 if condition.is_local else BEYOND_EXPANSION
    weights = np.full(len(face), 1 / np.sqrt(len(face)))
    return Block(function, items(near, jnp.asarray(face)), weights)


# --------------------------------------------------------------- what is seen around a point


class Expansion(NamedTuple):
    """What a model that looks before it answers sees around a point, to second order (Taylor).

    With the decoder alone `look` never changes, so it is evaluated once: at its own point the expansion
    has the same value, first and second derivatives, which is all that a second-order equation asks for.
    """

    point: Float[Array, " d"]
    value: Float[Array, " k"]
    slope: Float[Array, "k d"]
    curvature: Float[Array, "k d d"]

    def at(self, z: Float[Array, " d"]) -> Float[Array, " k"]:
        away = z - self.point
        return self.value + self.slope @ away + (self.curvature @ away) @ away / 2


def _expander(model, context: PyTree | None) -> Callable[[int, Points], PyTree]:
    """Items from (order, points): the points, with what the model sees around them where that is fixed,
    it looks before it answers, and no more than second order is asked."""
    halves = model.halves()
    if context is None or halves is None:
        return lambda order, points: points

    def expand(z):
        return Expansion(z, *expansion(lambda y: halves.look(context, y).reshape(-1), z))

    expanded = jax.jit(jax.vmap(expand))
    return lambda order, points: points if order > 2 else expanded(points)


def _field_at(model, context, item):
    """The field near an item, and the item's point."""
    if not isinstance(item, Expansion):
        return partial(model.decode, context), item
    look, answer = model.halves()
    shape = jax.eval_shape(partial(look, context), item.point).shape
    return lambda z: answer(item.at(z).reshape(shape), z), item.point
