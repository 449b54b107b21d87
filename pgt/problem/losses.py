"""The terms of the loss: misfits of readings and residuals of equations and conditions.

Every term consists of *rows*: dimensionless numbers that should be zero, as a function of one point.
First-order training minimizes their mean squares; second-order steps solve the same rows as a
least-squares problem.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jaxtyping import Array, Float, Int

from pgt.core.devices import by_rows
from pgt.core.errors import InputError
from pgt.core.types import Key, Point, Points, Scalar
from pgt.core.unknown import resolve
from pgt.data.domain import Domain
from pgt.data.observations import Observations, cell_quadrature
from pgt.data.origin import HERE, Origin
from pgt.inference.likelihood import SMALLEST_SIGMA, Likelihood, likely_rows, noise_scale
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition
from pgt.physics.derivatives import differentiate, residual
from pgt.physics.equation_checks import check_defined
from pgt.physics.gauge import check_gauges
from pgt.physics.pde import TAKEN, AbstractPDE
from pgt.physics.unknown_conditions import filled
from pgt.problem.field_scales import typical_condition_rows, typical_residuals

Field = Callable[[Point], Float[Array, " c"]]


class Problem(eqx.Module):
    """Readings, conditions and domain, with the typical size of each equation and condition.

    `observations` has exactly the equation's fields; `conditions` are bound to the domain. All of them
    are relative to `origin`, that of the model's scales. `likelihood` is that of the readings
    (likelihood.py). `averaged` are the axes along which some reading is an average. `pool` are the
    readings of which the loss takes a batch, where `observations` are a sample that an encoder sees.
    `sharding` divides readings and points over devices. `sensor_errors` are the errors that sensors may
    have left in the readings, in units of the spread; field by field.
    """

    observations: Observations
    conditions: tuple[AbstractCondition, ...]
    equation_scales: Mapping[str, Array | np.ndarray]
    condition_scales: tuple[Array | np.ndarray, ...]
    domain: Domain = eqx.field(static=True)
    averaged: tuple[str, ...] = eqx.field(static=True)
    likelihood: Likelihood = eqx.field(static=True, default="gauss")
    origin: Origin = eqx.field(static=True, default=HERE)
    pool: Observations | None = None
    sharding: NamedSharding | None = eqx.field(static=True, default=None)

    @property
    def fitted(self) -> Observations:
        """The readings of which the loss takes a batch."""
        return self.observations if self.pool is None else self.pool

    sensor_errors: Float[np.ndarray, "m q"] | None = None

    @staticmethod
    def build(
        observations,
        pde: AbstractPDE,
        conditions,
        domain,
        scaling: Scaling,
        *,
        physics: bool = True,
        likelihood: Likelihood = "gauss",
        sharding: NamedSharding | None = None,
    ) -> "Problem":
        """The problem for readings and a domain in physical coordinates.

        Without `physics` the equations are not fitted.
        """
        for condition in conditions:
            condition.check(domain, pde.fields)  # in physical coordinates
        if physics:
            check_defined(pde, domain)
        observations, domain = scaling.origin.readings(observations), scaling.origin.domain(domain)
        bound = tuple(condition.bind(domain, pde.fields) for condition in conditions)
        check_gauges(bound, pde, set(pde.fields) - set(observations.hidden_fields))
        scales = typical_residuals(pde, scaling) if physics else {}
        _check_names(pde, scales, bound)
        return Problem(
            observations,
            bound,
            scales,
            tuple(typical_condition_rows(c, pde, scaling) for c in bound),
            domain,
            averaged_axes(observations),
            likelihood,
            scaling.origin,
            sharding=sharding,
        )

    def term_names(self) -> tuple[str, ...]:
        """The names of the terms of the loss."""
        kinds = dict.fromkeys(condition.kind for condition in self.conditions)
        return ("data", *self.equation_scales, *kinds)


def _check_names(pde: AbstractPDE, residuals: Iterable[str], conditions) -> None:
    """Raise if a residual has the name of another term of the loss."""
    taken = dict.fromkeys((*TAKEN, *(condition.kind for condition in conditions)))
    if wrong := [name for name in residuals if name in taken]:
        raise InputError(
            f"{type(pde).__name__}: {', '.join(wrong)} cannot be the name of a residual: the losses and "
            f"their history use {', '.join(taken)} already. Rename it where `residual` returns it, for "
            f"example {wrong[0]}_equation."
        )


class Batch(NamedTuple):
    """The points of one training step."""

    readings: Int[Array, " b"] | None  # None stands for all of them
    collocation: Points
    faces: tuple[Points, ...]


# ---------------------------------------------------------------------------------------- rows


def averaged_axes(observations: Observations) -> tuple[str, ...]:
    """The axes along which some reading is an average over a box."""
    if observations.half_width is None:
        return ()
    wide = np.any(np.asarray(observations.half_width) > 0, axis=0).tolist()
    return tuple(axis for axis, is_wide in zip(observations.coords, wide, strict=True) if is_wide)


def reading_rows(
    field: Field, observations: Observations, scaling: Scaling, averaged: tuple[str, ...] = ()
) -> Float[Array, "n c"]:
    """The misfit of every reading in units of its field's spread; exactly 0 for masked readings."""
    if not averaged:
        predicted = jax.vmap(field)(jnp.asarray(observations.points, scaling.middle.dtype))
    else:
        nodes, weights = cell_quadrature(observations, axes=averaged)
        over_box = jax.vmap(lambda box: weights @ jax.vmap(field)(box))
        predicted = over_box(jnp.asarray(nodes, scaling.middle.dtype))
    misfit = (predicted - observations.values) / scaling.spread
    return jnp.where(observations.mask, misfit, 0.0)


def equation_rows(field: Field, pde: AbstractPDE, problem: Problem, z: Point) -> dict[str, Scalar]:
    """The residual of each equation at one point, relative to its typical size."""
    residuals = residual(pde, field, z, problem.origin)
    return {name: r / problem.equation_scales[name] for name, r in residuals.items()}


def condition_rows(
    field: Field,
    condition: AbstractCondition,
    scale: Float[Array | np.ndarray, " k"],
    pde: AbstractPDE,
    z: Point,
    origin: Origin = HERE,
) -> Float[Array, " k"]:
    """The residual of a condition at one point of its face, relative to its typical size."""

    def evaluate(point, name):
        table = differentiate(field, (name,), pde.coords, pde.fields)(point)
        return table.counted_from(origin)(name)

    return filled(condition, pde).rows(evaluate, z) / scale


# ---------------------------------------------------------------------------------------- losses


def losses(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    batch: Batch,
    noise_floor: Scalar | float = 0.0,
) -> dict[str, Scalar]:
    """The mean square of the rows of every term, by name; "variance" is a log-likelihood (PGT-UW).

    `noise_floor` is the smallest believable σ of the readings, for a likelihood with outliers.
    """
    context = model.encode(problem.observations)

    def field(z):
        return model.decode(context, z)

    readings = problem.fitted
    if batch.readings is not None:
        readings = take_readings(readings, batch.readings)
    readings, batch = by_rows((readings, batch), problem.sharding)
    likely = problem.likelihood, noise_floor
    terms = {"data": data_loss(model, context, readings, problem.averaged, *likely)}
    if model.predicts_variance:
        terms["variance"] = variance_loss(model, context, readings, problem.averaged)
    pde = resolve(pde)
    if problem.equation_scales:
        rows = jax.vmap(lambda z: equation_rows(field, pde, problem, z))
        for name, values in rows(batch.collocation).items():
            terms[name] = jnp.mean(values**2)
    for condition, scale, points in zip(
        problem.conditions, problem.condition_scales, batch.faces, strict=True
    ):
        at = partial(condition_rows, field, condition, scale, pde, origin=problem.origin)
        values = jax.vmap(at)
        terms[condition.kind] = terms.get(condition.kind, 0.0) + jnp.mean(values(points) ** 2)
    return terms


def data_loss(
    model: AbstractFieldModel,
    context,
    readings: Observations,
    averaged: tuple[str, ...],
    likelihood: Likelihood = "gauss",
    noise_floor: Scalar | float = 0.0,
) -> Scalar:
    """The mean-square misfit, or the mean of the likelihood's cost.

    Readings with a given noise have weights in proportion to 1/σ².
    """
    rows = reading_rows(lambda z: model.decode(context, z), readings, model.scaling, averaged)
    weights = reading_weights(readings, model.scaling)
    if likelihood == "gauss":
        return jnp.sum(weights * rows**2) / jnp.sum(weights)
    rows = jnp.sqrt(weights) * rows
    # Early in training all misfits are large, so the noise is estimated from their median.
    sigma = jnp.maximum(noise_scale(rows, readings.mask), jnp.maximum(noise_floor, SMALLEST_SIGMA))
    return jnp.sum(likely_rows(likelihood, rows, sigma) ** 2) / jnp.sum(weights)


def variance_loss(
    model: AbstractFieldModel, context, readings: Observations, averaged: tuple[str, ...]
) -> Scalar:
    """The negative log-likelihood of the misfits r under the variance that PGT-UW predicts::

        mean( log σ² + r²/σ² ),     without a gradient through r

    `data_loss` fits the field itself. If this likelihood fitted it, σ would grow where the fit is poor,
    readings there would lose their weight 1/σ², and the fit would stay poor (Seitzer et al. 2022, whose
    β-NLL at β = 1 has the gradients of these two terms). Where the fit is good, the readings would
    outweigh the equation and be memorized.
    """
    rows = reading_rows(lambda z: model.decode(context, z), readings, model.scaling, averaged)
    points = jnp.asarray(readings.points, rows.dtype)
    logs = jax.vmap(lambda z: model.log_variance(context, z))(points)
    likelihood = logs + jax.lax.stop_gradient(rows) ** 2 * jnp.exp(-logs)
    return jnp.sum(jnp.where(readings.mask, likelihood, 0.0)) / jnp.sum(readings.mask)


def reading_weights(readings: Observations, scaling: Scaling) -> Float[Array, "n c"]:
    """1/σ² relative to the typical reading; 1 without a given noise, and 0 for masked readings."""
    noise = readings.noise / scaling.spread
    is_given = readings.mask & (noise > 0)
    safe_noise = jnp.where(is_given, noise, 1.0)
    typical = jnp.sum(jnp.where(is_given, safe_noise, 0.0)) / jnp.maximum(jnp.sum(is_given), 1)
    return jnp.where(
        is_given, (typical / safe_noise) ** 2, jnp.asarray(readings.mask, safe_noise.dtype)
    )


def take_readings(readings: Observations, rows: Int[Array, " b"]) -> Observations:
    """The readings in these rows; also under jit."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf)[rows], readings)


def draw_batch(key: Key, problem: Problem, sampler, sizes, residual_size) -> Batch:
    """New random points for one step. `sizes` = (readings, collocation, points per condition)."""
    readings, collocation, faces = sizes
    pick, inside, *walls = jax.random.split(key, 2 + len(problem.conditions))
    count = len(problem.fitted)
    points = jnp.zeros((0, problem.domain.dimension), jnp.float32)
    if collocation:
        points = sampler.draw(inside, problem.domain, collocation, residual_size)
    return Batch(
        None if readings >= count else jax.random.randint(pick, (readings,), 0, count),
        points,
        tuple(
            condition.sample(k, faces)
            for condition, k in zip(problem.conditions, walls, strict=True)
        ),
    )
