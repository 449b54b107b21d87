"""The rows of a problem as linear functions of the weights of a sum of sines.

    E a = f    residuals of equation and conditions at nodes, linearized at the weights of the model
    D a = y    readings, in units of their spread

These are the rows that all methods use (problem/losses.py), in float64. Each kind of row of equation and
conditions is scaled to unit length, so that one σ_e suits them all. The weights a are those of the sines
of all fields, then the unknown coefficients.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jaxtyping import Array, Float

from pgt.core.devices import by_rows, on_every_device, on_this_host
from pgt.core.types import Point
from pgt.core.unknown import is_unknown, named_unknowns, resolve
from pgt.data.domain import Domain
from pgt.data.observations import Observations, cell_quadrature, typical
from pgt.data.origin import Origin
from pgt.inference.linear_algebra import beside_numpy
from pgt.inference.linear_gaussian import Rows
from pgt.models.features import Features, Sines
from pgt.nn.trees import cast, compiled
from pgt.physics.conditions import AbstractCondition
from pgt.physics.derivatives import parse_name
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import filled
from pgt.problem.losses import Problem

# The raw number of an unknown coefficient is its weight times this unit, which is so large that the prior
# of the weights does not restrict the coefficient.
COEFFICIENT_UNIT = 100.0
# The smallest number of nodes of a condition along each axis.
MIN_CONDITION_NODES = 8


class PointDerivatives:
    """Derivatives of the field at one point by name, as `AbstractPDE.residual` asks for them."""

    def __init__(self, evaluate: Callable, pde: AbstractPDE, z: Point, origin: Origin):
        self.evaluate, self.pde, self.z, self.shifts = evaluate, pde, z, dict(origin.shifts)

    def __call__(self, name: str) -> Float[Array, ""]:
        if name in self.pde.coords:
            return self.z[self.pde.coords.index(name)] + self.shifts.get(name, 0.0)
        return self.evaluate(self.z, name)

    def laplacian(self, field: str) -> Float[Array, ""]:
        axes = [c for c in self.pde.coords if c != "t"]
        return jnp.sum(jnp.stack([self.evaluate(self.z, f"{field}_{a}{a}") for a in axes]))


def weights_of(model: Features, pde: AbstractPDE) -> Float[np.ndarray, " p"]:
    """The weights of the sines, then the raw numbers of the unknown coefficients in their unit."""
    raws = [float(node.raw) / COEFFICIENT_UNIT for _, node in named_unknowns(pde)]
    return np.concatenate([model.network.weights(), raws])


def with_weights(
    model: Features, pde: AbstractPDE, weights: Float[Array | np.ndarray, " p"]
) -> tuple[Features, AbstractPDE]:
    """The model and the equation with other weights."""
    size = model.network.size
    readout = model.network.readouts(weights[None, :size])[0]
    model = eqx.tree_at(lambda m: m.network.readout, model, readout)
    return model, _with_raws(pde, COEFFICIENT_UNIT * weights[size:])


def rows_of(model: Features, pde: AbstractPDE, problem: Problem, points: int) -> Rows:
    """All rows, linearized at the weights of model and equation, with the equation at about `points`
    nodes. With `points` = 0, only the rows of the readings."""
    with beside_numpy():
        model, pde, problem = cast((model, pde, problem), jnp.float64)
        blocks = list(_equation_and_conditions(model, pde, problem, points)) if points else []
    size = model.network.readout.size + len(named_unknowns(pde))
    equation = np.concatenate([a for a, _ in blocks]) if blocks else np.zeros((0, size))
    target = np.concatenate([f for _, f in blocks]) if blocks else np.zeros(0)
    readings, values, sigma, given, fields = _readings(model, problem)
    readings = np.pad(readings, ((0, 0), (0, size - readings.shape[1])))
    if model.network.is_exact:
        equation, readings = model.network.tied(equation), model.network.tied(readings)
    return Rows(
        equation, target, readings, values, sigma, given, fields, errors=problem.sensor_errors
    )


def field_rows(
    model: Features, points: Float[np.ndarray, "*n d"], sharding: NamedSharding | None = None
) -> Float[np.ndarray, "*n m"]:
    """The values of all sines at points. Every field is a sum of them, in units of its spread."""
    unit = np.asarray(model.scaling.to_unit(np.asarray(points, float)))
    with beside_numpy():
        sines = on_every_device(model.network.sines, sharding)
        values = _sines_at(sines, by_rows(jnp.asarray(unit), sharding))
        return np.asarray(on_this_host(values, sharding))


@compiled
def _sines_at(sines: Sines, unit: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
    return sines(unit)


def sensor_rows(
    model: Features, readings: Observations, sharding: NamedSharding | None = None
) -> Float[np.ndarray, "n m"]:
    """What every sensor reads of each sine: its value, or its average over a box."""
    nodes, weights = cell_quadrature(readings)
    if len(weights) == 1:
        return field_rows(model, np.asarray(nodes)[:, 0], sharding)
    return np.einsum("nqm,q->nm", field_rows(model, np.asarray(nodes), sharding), weights)


def _readings(model: Features, problem: Problem):
    """The rows and values of all measured numbers, the σ of each relative to the common one, the common σ
    or None, and the number of the field of each."""
    readings, scaling = problem.observations, model.scaling
    sines = sensor_rows(model, readings, problem.sharding)
    fields, count = len(readings.fields), sines.shape[1]
    rows, values, sigma = [], [], []
    for field, name in enumerate(readings.fields):
        row, _, measured, noise = readings.measured(name)
        part = np.zeros((len(row), fields * count))
        part[:, field * count : (field + 1) * count] = sines[row]
        mean, spread = float(scaling.mean[field]), float(scaling.spread[field])
        rows.append(part)
        values.append((np.asarray(measured, float) - mean) / spread)
        sigma.append(np.asarray(noise, float) / spread)
    noise = np.concatenate(sigma)
    common = typical(noise) or None
    relative = np.where(noise > 0, noise / (common or 1.0), 1.0)
    numbers = np.repeat(np.arange(fields), [len(part) for part in values])
    return np.concatenate(rows), np.concatenate(values), relative, common, numbers


def _equation_and_conditions(model: Features, pde: AbstractPDE, problem: Problem, points: int):
    """The pair (rows, target) of the equation, then of each condition."""
    domain = problem.domain
    if problem.equation_scales and not model.network.is_exact:
        inside = nodes_of(domain, points)
        rows = _Equation(pde, dict(problem.equation_scales), problem.origin)
        yield _linearize(model, rows, inside, problem.sharding)
    for function, nodes in _conditions(pde, problem, points):
        yield _linearize(model, function, nodes, problem.sharding)


def _conditions(pde: AbstractPDE, problem: Problem, points: int):
    """The residual of every condition, and its nodes."""
    dimension = problem.domain.dimension
    per_axis = max(round(points ** (1 / dimension)), MIN_CONDITION_NODES)
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):
        nodes = condition.nodes(2 * per_axis ** max(dimension - 1, 1))
        yield _Condition(condition, scale, pde), np.asarray(nodes, float)


def condition_misses(
    model: Features, pde: AbstractPDE, problem: Problem, points: int
) -> list[float]:
    """The median violation of each condition over its nodes, relative to its typical size; the largest
    one where a condition has several rows. The median ignores corners where conditions contradict each
    other, whose layers no finite sum of sines represents."""
    with beside_numpy():
        model, pde, problem = cast((model, pde, problem), jnp.float64)
        rows = [
            np.asarray(_values_and_slopes(model, function, jnp.asarray(nodes))[0])
            for function, nodes in _conditions(pde, problem, points)
        ]
    return [float(np.median(np.abs(part), axis=0).max(initial=0.0)) for part in rows]


def nodes_of(domain: Domain, points: int) -> Float[np.ndarray, "n d"]:
    """The collocation nodes: Gauss points in up to two coordinates. In more coordinates these would be
    few along each axis, so points are used that fill the domain evenly."""
    if domain.dimension <= 2:
        return domain.quadrature(points)[0]
    return domain.even(points)


class _Equation(eqx.Module):
    pde: AbstractPDE
    scales: dict
    origin: Origin = eqx.field(static=True)

    def __call__(self, pde, evaluate, z):
        residuals = pde.residual(PointDerivatives(evaluate, pde, z, self.origin))
        return jnp.stack([residuals[name] / scale for name, scale in self.scales.items()])


class _Condition(eqx.Module):
    condition: AbstractCondition
    scale: Float[Array | np.ndarray, " k"]
    pde: AbstractPDE

    def __call__(self, pde, evaluate, z):
        return filled(self.condition, pde).rows(evaluate, z) / self.scale


def _raws(pde: AbstractPDE) -> list:
    return [node.raw for _, node in named_unknowns(pde)]


def _with_raws(pde: AbstractPDE, raws) -> AbstractPDE:
    """The equation with its unknowns at other values, in the order of `named_unknowns`."""
    remaining = list(raws)
    if not remaining:
        return pde

    def replaced(node):
        return eqx.tree_at(lambda n: n.raw, node, remaining.pop(0)) if is_unknown(node) else node

    return jax.tree.map(replaced, pde, is_leaf=is_unknown)


def _evaluator(model: Features, readout, pde: AbstractPDE):
    """The function (point, name) ↦ derivative of the fields with these weights, in physical units."""
    scaling, sines = model.scaling, model.network.sines
    origin = scaling.origin.along(pde.fields)

    def evaluate(z, name: str):
        field, along = parse_name(name, pde.coords, pde.fields)
        size = scaling.spread[field] / jnp.prod(scaling.half_extent[np.asarray(along, int)])
        value = size * (readout[field] @ sines(jnp.asarray(scaling.to_unit(z)), along))
        return value if along else value + (scaling.mean[field] + origin[field])

    return evaluate


@compiled
def _values_and_slopes(model: Features, function, points):
    raws = _raws(function.pde)

    def at(z):
        def rows(readout, raws):
            pde = resolve(_with_raws(function.pde, raws))
            return function(pde, _evaluator(model, readout, pde), z)

        values, pull = jax.vjp(rows, jnp.asarray(model.network.readout), raws)
        by_weight, by_coefficient = jax.vmap(pull)(jnp.eye(len(values)))
        by_coefficient = [COEFFICIENT_UNIT * column[:, None] for column in by_coefficient]
        return values, jnp.concatenate(
            [by_weight.reshape(len(values), -1), *by_coefficient], axis=1
        )

    return jax.vmap(at)(points)


def _linearize(model: Features, function, points, sharding: NamedSharding | None):
    """E and f, with one row for each node and kind: the residuals are E a - f to first order."""
    whole = on_every_device((model, function), sharding)
    rows = _values_and_slopes(*whole, by_rows(jnp.asarray(points), sharding))
    values, slopes = (np.asarray(part) for part in on_this_host(rows, sharding))
    # The columns of coefficients are left out, because their unit says nothing about the size of a row.
    size = np.sqrt(np.mean(np.sum(slopes[..., : model.network.readout.size] ** 2, axis=2), axis=0))
    raws = [float(raw) / COEFFICIENT_UNIT for raw in _raws(function.pde)]
    weights = np.concatenate([np.asarray(model.network.readout, float).ravel(), raws])
    target = slopes @ weights - np.asarray(values)
    return _scaled(slopes, target, np.where(size > 0, size, 1.0))


def _scaled(slopes, target, size):
    """The rows and their target, each kind divided by its own size, stacked over nodes and kinds."""
    rows, target = slopes / size[:, None], target / size
    return rows.reshape(-1, rows.shape[2]), target.reshape(-1)
