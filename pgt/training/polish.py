"""The finish: Levenberg–Marquardt in float64 on the decoder, the encoder frozen.

First-order optimisers stop where the loss is about 1e-6; a smooth field has many more digits to give.
With the encoder frozen the rows of the loss (losses.py) depend on a few thousand numbers θ, which
least_squares.py can solve for. Noisy readings are fitted under a prior on θ (evidence.py), at last
with a stiff equation; posterior.py then says how far θ may lie from the fit.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from pgt.data.observations import Observations
from pgt.ground.unknown import named_unknowns
from pgt.models.base import AbstractFieldModel
from pgt.nn.frozen import count_parameters
from pgt.nn.precision import cast
from pgt.physics.derivatives import expansion, highest_order
from pgt.physics.pde import AbstractPDE
from pgt.training.least_squares import Block, Prior, Search, revised
from pgt.training.likelihood import misfit_size
from pgt.training.losses import (
    Problem,
    condition_rows,
    equation_rows,
    reading_rows,
    reading_weights,
)
from pgt.training.settings import Polish, Training
from pgt.training.step import split

POLISHABLE = 4000  # decoder parameters that a least-squares polish can take in seconds
NOISY = 0.01  # held-out readings missed by more of their spread than this are taken to be noisy
GUESS = 0.1  # of the noise, where it is unknown: too weak a prior at first, and noise is memorised
STIFF = 10.0  # the weight of the equation at last, where readings are noisy; more is hard to fit
STIFF_SHARE = 1 / 3  # of the iterations
ROUNDS = 5  # of the evidence at one θ: its fixed point to a percent
BEYOND_EXPANSION = 3  # an order that an `Expansion` lacks: values away from its point are asked for


def polish_settings(model: AbstractFieldModel, training: Training) -> Polish | Literal[False]:
    """How the fit is polished: as asked for, else where the decoder is small enough."""
    if training.polish is not None:
        return training.polish
    return Polish() if count_parameters(model.tunable()) <= POLISHABLE else False


def polish(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    settings: Polish,
    held_out: Observations,
    report: Callable[[int, float], None] = lambda iteration, cost: None,
    *,
    noise: float | None = None,
) -> tuple[AbstractFieldModel, AbstractPDE, list[float]]:
    """The model and equation after the polish (float64), and the cost after each iteration.

    `noise` is σ of the readings in units of their spread, where it is known. Readings that are noisy,
    by `noise` or because held-out ones cannot be predicted, are fitted once more under a prior.
    """
    with jax.enable_x64(True):
        theta, rebuild, search, judge = system(model, pde, problem, settings, held_out)
        costs, began = [], time.monotonic()
        if settings.evidence is not True:
            theta, costs = search.minimise(theta, settings, judge, report)
        if _is_noisy(settings, noise, judge(theta)):
            prior = prior_of(problem.observations, pde, noise)
            left = _time_left(settings, time.monotonic() - began)
            theta, more = _fit_noisy(search, theta, left, report, prior)
            costs += more
        return *rebuild(theta), costs


def _fit_noisy(search: Search, theta, settings: Polish, report, prior: Prior):
    """The fit under a prior, at last with a stiff equation.

    The equation is exact, the readings are not: with one weight for both, the field bends away from
    the equation after the noise, and a coefficient is known less well than the readings tell. At
    once stiff, the way to the fit would be a long and narrow valley.
    """
    first, last = _shared(settings, 1 - STIFF_SHARE), _shared(settings, STIFF_SHARE)
    theta, costs = search.minimise(theta, first, None, report, prior)
    factor = max(STIFF / settings.equation_weight, 1.0)
    stiff = search.stiffened(factor).refreshed(theta)
    prior, _ = revised(prior, theta, *stiff.jacobian_at(theta), rounds=ROUNDS)
    done = len(costs) - 1
    theta, more = stiff.minimise(
        theta, last, None, lambda iteration, cost: report(done + iteration, cost), prior
    )
    return theta, costs + more


def _shared(settings: Polish, share: float) -> Polish:
    """A share of the budget."""
    seconds = None if settings.seconds is None else share * settings.seconds
    iterations = max(round(share * settings.iterations), 1)
    return replace(settings, iterations=iterations, seconds=seconds)


def system(model, pde, problem: Problem, settings: Polish, held_out: Observations):
    """θ in float64, the way back from it to model and equation, the search and the judge."""
    model, pde, problem, held_out = cast((model, pde, problem, held_out), jnp.float64)
    theta, rebuild = _parameters(model, pde)
    context = eqx.filter_jit(lambda m, o: m.encode(o))(model, problem.observations)
    blocks = _blocks(rebuild, model, pde, context, problem, settings)
    mask = np.asarray(problem.observations.mask)
    search = Search(blocks, problem.likelihood, mask).refreshed(theta)
    return theta, rebuild, search, _judge(rebuild, context, held_out, problem)


def prior_of(readings: Observations, pde: AbstractPDE, noise: float | None) -> Prior:
    """At first as if the weights were of order one."""
    mask = np.asarray(readings.mask)
    measured, free = float(mask.sum()), len(named_unknowns(pde))
    return Prior((noise or GUESS) ** 2 / measured, mask.size, measured, noise or 0.0, free)


def _time_left(settings: Polish, spent: float) -> Polish:
    """The second fit has what the first one left of the seconds, and half of them at least."""
    if settings.seconds is None:
        return settings
    return replace(settings, seconds=max(settings.seconds - spent, settings.seconds / 2))


def _is_noisy(settings: Polish, noise: float | None, held_out_error: float) -> bool:
    if settings.evidence is not None:
        return settings.evidence
    return noise is not None or held_out_error > NOISY


def _judge(rebuild, context, held_out: Observations, problem: Problem):
    """θ ↦ root-mean-square misfit of the readings that are not fitted; 0 where there are none."""
    if not len(held_out):
        return lambda theta: 0.0

    @jax.jit
    def error(theta):
        model, _ = rebuild(theta)
        field = partial(model.decode, context)
        rows = reading_rows(field, held_out, model.scaling, problem.averaged)
        return misfit_size(problem.likelihood, rows, held_out.mask)

    return lambda theta: float(error(theta))


def _parameters(model, pde):
    """The tunable numbers as one vector, and the way back."""
    trained, fixed = split(model, pde, None)
    theta, unravel = ravel_pytree((model.tunable(), trained[1]))

    def rebuild(vector):
        part, unknowns = unravel(vector)
        tuned = eqx.tree_at(lambda m: m.tunable(), model, part)
        return tuned, eqx.combine(unknowns, fixed[1])

    return theta, rebuild


# ------------------------------------------------------------------------------------- the rows


class Expansion(NamedTuple):
    """What a model that looks before it answers sees around a point, to second order (Taylor).

    The polish never changes `look`, so it is evaluated once: at its own point the expansion has the
    same value, first and second derivatives, which is all that a second-order equation asks for.
    """

    point: Float[Array, " d"]
    value: Float[Array, " k"]
    slope: Float[Array, "k d"]
    curvature: Float[Array, "k d d"]

    def at(self, z: Float[Array, " d"]) -> Float[Array, " k"]:
        away = z - self.point
        return self.value + self.slope @ away + (self.curvature @ away) @ away / 2


def _blocks(rebuild, model, pde, context, problem: Problem, settings: Polish) -> list[Block]:
    """All rows of the loss. Weights are such that the sum of squares is a sum of mean squares."""
    domain, readings = problem.domain, problem.observations
    inside, volume = domain.quadrature(settings.points)
    per_axis = round(len(inside) ** (1 / domain.dimension))
    weights = settings.equation_weight * np.sqrt(volume / volume.sum())
    # Readings count as they do in the loss: in proportion to 1/σ² where their noise is given.
    trust = np.sqrt(reading_weights(readings, model.scaling))
    measured = np.full(len(readings), 1 / np.linalg.norm(trust))

    def reading(theta, item):
        model, _ = rebuild(theta)
        reading, root, around = item
        one = jax.tree.map(lambda leaf: leaf[None], reading)
        field, _ = _field_at(model, context, around)
        return root * reading_rows(field, one, model.scaling, problem.averaged)[0]

    def equation(theta, item):
        model, pde = rebuild(theta)
        field, z = _field_at(model, context, item)
        rows = equation_rows(field, pde, problem.equation_scales, z)
        return jnp.stack(list(rows.values()))

    # An average over a box asks for more than the neighbourhood of its centre.
    near = 2 if not problem.averaged else BEYOND_EXPANSION
    around = _items(model, near, context, jnp.asarray(readings.points))
    blocks = [Block(reading, (readings, trust, around), measured)]
    if problem.equation_scales:
        items = _items(model, highest_order(pde), context, jnp.asarray(inside))
        blocks.append(Block(equation, items, weights))
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):

        def on_face(theta, item, condition=condition, scale=scale):
            model, pde = rebuild(theta)
            field, z = _field_at(model, context, item)
            return condition_rows(field, condition, scale, pde, z)

        face = condition.nodes(2 * per_axis)
        near = 2 if condition.is_local else BEYOND_EXPANSION
        items = _items(model, near, context, jnp.asarray(face))
        blocks.append(Block(on_face, items, np.full(len(face), 1 / np.sqrt(len(face)))))
    return blocks


def _items(model, order: int, context, points):
    """The points, with what the model sees around them, where it looks before it answers and no more
    than second order is asked."""
    halves = model.halves()
    if halves is None or order > 2:
        return points

    def expand(z):
        return Expansion(z, *expansion(lambda y: halves.look(context, y).reshape(-1), z))

    return jax.jit(jax.vmap(expand))(points)


def _field_at(model, context, item):
    """The field near an item of `_items`, and the item's point."""
    if not isinstance(item, Expansion):
        return partial(model.decode, context), item
    look, answer = model.halves()
    shape = jax.eval_shape(partial(look, context), item.point).shape
    return lambda z: answer(item.at(z).reshape(shape), z), item.point
