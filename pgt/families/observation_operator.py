"""The observation operator of a family: its readings as a function of the unknowns of a system.

The solver computes the fields at the nodes, a stencil interpolates them at the quadrature points of each
reading, and the weights of its box average them. `problem_of` builds the least-squares problem of one
system for `assimilate`, `problem_of_batch` those of many systems.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jaxtyping import Array, Bool, Float, Int

from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.data.observations import Observations, cell_quadrature
from pgt.families.laws.solved import AbstractSolved
from pgt.families.sensing import SensorBatch

ORDER = 8  # The number of nodes along an axis from which a value is interpolated.
NODE_TOLERANCE = 1e-4  # A point this close to a node, relative to the smallest step, lies on it.
# The least numbers of nodes along space and along time where points lie between nodes, by the number of
# spatial axes and whether there is time. They keep the interpolation error for Burgers' equation below
# 1e-4 of the spread; more nodes make every solution slower.
MIN_NODES = {(1, True): (128, 129), (2, True): (64, 33), (2, False): (128, 1)}
LARGEST_MATRIX = 2**27  # The Jacobian of the readings may have this many entries.
CLEAN_NOISE = 3e-7  # σ of clean readings, in units of the spread: the rounding of single precision.
# The prior of the noise level is proportional to level^(-TRUST_IN_SIGMA) where σ is given: a larger power
# makes noise above the given σ less probable.
TRUST_IN_SIGMA = 4.0


@contextlib.contextmanager
def double_precision() -> Iterator[None]:
    """A context in which JAX computes in float64: readings of smooth fields hardly differ."""
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


# ------------------------------------------------------------------------------- between nodes


class Stencil(eqx.Module):
    """An interpolation at points (m, d): the neighboring nodes of a grid, and their weights.

    If all points are nodes, each is interpolated from one node along each axis. Otherwise `order` nodes
    along each axis are used, with weights by Lagrange's formula; on a periodic axis they may lie across
    its ends.

    >>> domain, axes = Domain(x=(0, 1), periodic=("x",)), {"x": np.arange(32) / 32}
    >>> stencil = Stencil.of(np.array([[0.99]]), axes, domain)
    >>> wave = np.sin(2 * np.pi * axes["x"])[:, None]
    >>> bool(abs(stencil(wave)[0, 0] - np.sin(2 * np.pi * 0.99)) < 1e-7)
    True
    """

    nodes: tuple[Int[Array | np.ndarray, "*k m _"], ...]
    weights: tuple[Float[Array | np.ndarray, "*k m _"], ...]

    @staticmethod
    def of(
        points: Float[np.ndarray, "m d"],
        axes: Mapping[str, np.ndarray],
        domain: Domain,
        order: int = ORDER,
    ) -> "Stencil":
        order = 1 if are_nodes(points, axes) else order
        nodes_and_weights = [
            _along_axis(points[:, i], nodes, axis in domain.periodic, order)
            for i, (axis, nodes) in enumerate(axes.items())
        ]
        return Stencil(
            tuple(nodes for nodes, _ in nodes_and_weights), tuple(w for _, w in nodes_and_weights)
        )

    def __call__(self, values: Float[Array | np.ndarray, "*grid c"]) -> Float[Array, "m c"]:
        """The fields at the points."""
        d = len(self.nodes)
        index = tuple(_with_axis(nodes, i, d) for i, nodes in enumerate(self.nodes))
        interpolated = jnp.asarray(values)[index]  # m k ... k c
        for weights in reversed(self.weights):
            interpolated = jnp.einsum("m...kc,mk->m...c", interpolated, jnp.asarray(weights))
        return interpolated


def are_nodes(points: Float[np.ndarray, "m d"], axes: Mapping[str, np.ndarray]) -> bool:
    """Whether every point is a node of the grid; the end of a period is not."""
    return all(
        np.all(np.abs(at - nodes[_nearest(at, nodes)]) < NODE_TOLERANCE * np.diff(nodes).min())
        for at, nodes in zip(points.T, axes.values(), strict=True)
    )


def _with_axis(nodes: Int[Array | np.ndarray, "m k"], axis: int, dimension: int):
    """The node numbers of an axis, reshaped to broadcast with those of the other axes."""
    shape = [1] * dimension
    shape[axis] = nodes.shape[1]
    return jnp.asarray(nodes).reshape(nodes.shape[0], *shape)


def _along_axis(at: Float[np.ndarray, " m"], nodes: np.ndarray, is_periodic: bool, order: int):
    """The nodes and weights of points along one axis; nodes of a periodic axis are evenly spaced."""
    order, line, prepended = min(order, len(nodes)), nodes, 0
    if is_periodic:  # The nodes continue beyond both ends.
        prepended = order
        line = nodes[0] + (nodes[1] - nodes[0]) * np.arange(-order, len(nodes) + order)
    left = np.searchsorted(line, at, side="right") - 1
    first = _nearest(at, line) if order == 1 else left - (order // 2 - 1)
    chosen = np.clip(first, 0, len(line) - order)[:, None] + np.arange(order)
    positions, is_diagonal = line[chosen], np.eye(order, dtype=bool)
    gaps = np.where(is_diagonal, 1.0, positions[:, :, None] - positions[:, None, :])
    ratios = (at[:, None] - positions)[:, None, :] / gaps
    weights = np.where(is_diagonal, 1.0, ratios).prod(axis=-1)
    return (chosen - prepended) % len(nodes), weights


def _nearest(at: Float[np.ndarray, " m"], nodes: np.ndarray) -> Int[np.ndarray, " m"]:
    """The number of the node nearest to each position."""
    return np.searchsorted((nodes[1:] + nodes[:-1]) / 2, at)


def refine_for(family: AbstractSolved, points: Float[np.ndarray, "m d"]) -> AbstractSolved:
    """The family itself if all points are its nodes, and otherwise the family with more nodes."""
    if are_nodes(points, family.axes):
        return family
    counts = {axis: len(nodes) for axis, nodes in family.axes.items()}
    times = counts.pop("t", None)
    min_nodes = MIN_NODES.get((len(counts), times is not None), (100, 65))
    space_factor = math.ceil(min_nodes[0] / (max(counts.values()) + 1))
    return family.finer(
        space_factor, 1 if times is None else math.ceil((min_nodes[1] - 1) / (times - 1))
    )


# ------------------------------------------------------------------------------- the operator


class ObservationOperator(eqx.Module):
    """The readings of a family's fields, at points or averaged over boxes, as a function of the unknowns.

    The unknowns are the standard normals of the state and one standard normal for every unknown
    coefficient, whose distribution function gives the position of the coefficient within its range, on a
    logarithmic scale. Tables may have a leading axis of k systems; the operators are then applied one by
    one.
    """

    family: AbstractSolved
    stencil: Stencil  # of the n q quadrature points of n readings
    boxes: Float[Array | np.ndarray, " q"]  # the quadrature weights of a box
    columns: Int[Array | np.ndarray, "*k n"]  # the index of each reading's field in `read_fields`
    known: Mapping[str, Float[Array | np.ndarray, "*k"]]
    read_fields: tuple[int, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return math.prod(self.family.noise_shape) + len(self.family.ranges) - len(self.known)

    def coarse(self) -> "ObservationOperator":
        """The operator with a cheaper solver, for linearizations."""
        return eqx.tree_at(lambda a: a.family, self, self.family.coarse())

    def coefficients(
        self, unknowns: Float[Array, " n"], logs: Float[Array, " p"] | None = None
    ) -> dict[str, Float[Array, ""]]:
        """All coefficients by name, known and unknown.

        `logs` is added to the logarithms of the known coefficients, in the sorted order of their names.
        """
        coefficient_normals = iter(unknowns[math.prod(self.family.noise_shape) :])
        factors = dict(zip(sorted(self.known), () if logs is None else jnp.exp(logs), strict=False))
        return {
            name: jnp.asarray(self.known[name]) * factors.get(name, 1.0)
            if name in self.known
            else low * (high / low) ** ndtr(next(coefficient_normals))
            for name, (low, high) in self.family.ranges.items()
        }

    def fields(
        self, unknowns: Float[Array, " n"], logs: Float[Array, " p"] | None = None
    ) -> Float[Array, "*grid c"]:
        """The fields at the nodes."""
        shape = self.family.noise_shape
        noise = unknowns[: math.prod(shape)].reshape(shape)
        return self.family.solve(noise, self.coefficients(unknowns, logs))

    def __call__(self, unknowns: Float[Array, " n"]) -> Float[Array, " m"]:
        """The readings for these unknowns."""
        return self.readings_of(self.fields(unknowns))

    def readings_of(self, fields: Float[Array, "*grid c"]) -> Float[Array, " m"]:
        """The readings of fields that are given at the nodes."""
        read = fields[..., np.array(self.read_fields)]
        at_quadrature_points = self.stencil(read).reshape(len(self.columns), len(self.boxes), -1)
        means = jnp.einsum("nqc,q->nc", at_quadrature_points, jnp.asarray(self.boxes))
        return jnp.take_along_axis(means, jnp.asarray(self.columns)[:, None], axis=1)[:, 0]


class AssimilationProblem(eqx.Module):
    """An observation operator and the readings of one system or of k; padding rows are not `is_real`."""

    operator: ObservationOperator
    values: Float[Array | np.ndarray, "*k m"]
    # σ as given; for readings without one, the median relative σ of the others times `unit`.
    sigma: Float[Array | np.ndarray, "*k m"]
    unit: Float[
        Array | np.ndarray, "*k m"
    ]  # the root mean square of the readings of the same field
    is_real: Bool[Array | np.ndarray, "*k m"]
    is_given: Bool[Array | np.ndarray, "*k m"]  # whether σ is given
    trust: Float[Array | np.ndarray, ""]  # the power of the prior of the noise level


def problem_of(
    family: AbstractSolved,
    readings: Observations,
    known: Mapping[str, float],
) -> AssimilationProblem:
    """The problem of one system; its rows are padded, so that one more reading needs no compilation."""
    rows, columns = np.nonzero(np.asarray(readings.mask))
    count = len(rows)
    if not count:
        raise InputError("assimilate: the readings are empty; give at least one.")
    padding = -count % max(2 ** math.ceil(math.log2(count)) // 4, 8)
    nodes, boxes = cell_quadrature(readings)
    points = np.asarray(nodes, float)[rows].reshape(-1, len(family.axes))
    points = np.asarray(family.domain.box.wrapped(points, family.domain.periodic), float)
    points = np.concatenate([points, np.repeat(points[:1], padding * len(boxes), axis=0)])
    fine = refine_for(family, points)
    read = tuple(sorted(set(columns.tolist())))
    field_index = np.pad(np.searchsorted(read, columns), (0, padding))
    coefficients = {name: np.asarray(value, float) for name, value in known.items()}
    operator = ObservationOperator(
        fine, Stencil.of(points, fine.axes, fine.domain), boxes, field_index, coefficients, read
    )
    _check_size(family, count, operator.size)
    values = np.asarray(readings.values, float)[rows, columns]
    sigma = np.asarray(readings.noise, float)[rows, columns]
    unit, is_given = _field_sizes(values[None], columns[None])[0], sigma > 0
    relative_sigma = (
        float(np.median(sigma[is_given] / unit[is_given])) if is_given.any() else CLEAN_NOISE
    )
    sigma = np.where(is_given, sigma, relative_sigma * unit)
    return AssimilationProblem(
        operator, np.pad(values, (0, padding)),
        np.pad(sigma, (0, padding), constant_values=1.0),
        np.pad(unit, (0, padding), constant_values=1.0),
        np.arange(count + padding) < count, np.pad(is_given, (0, padding)),
        np.asarray(TRUST_IN_SIGMA if is_given.any() else 0.0),
    )  # fmt: skip


def problem_of_batch(family: AbstractSolved, batch: SensorBatch) -> AssimilationProblem:
    """The problems of many systems whose coefficients are known and whose noise is unknown."""
    systems, fields = len(batch.mask), batch.mask.shape[-1]
    mask = batch.mask.reshape(systems, -1)
    max_readings = int(mask.sum(axis=1).max())
    order = np.argsort(~mask, axis=1, kind="stable")[:, :max_readings]  # readings first
    real = np.take_along_axis(mask, order, axis=1)
    points = np.take_along_axis(batch.points, order[..., None] // fields, axis=1)
    points = np.where(real[..., None], points, points[:, :1])
    all_points = points.reshape(-1, points.shape[-1])
    fine = refine_for(family, all_points)
    stencil = jax.tree.map(
        lambda table: table.reshape(systems, max_readings, -1),
        Stencil.of(all_points, fine.axes, fine.domain),
    )
    columns, read = order % fields, tuple(range(fields))
    operator = ObservationOperator(fine, stencil, np.ones(1), columns, batch.coefficients, read)
    values = np.take_along_axis(batch.values.reshape(systems, -1), order, axis=1)
    values = np.where(real, values, 0.0)
    unit = np.where(real, _field_sizes(values, np.where(real, columns, -1)), 1.0)
    sigma = np.where(real, CLEAN_NOISE * unit, 1.0)
    return AssimilationProblem(
        operator, values, sigma, unit, real, np.zeros_like(real), np.zeros(())
    )


def _field_sizes(
    values: Float[np.ndarray, "k m"], columns: Int[np.ndarray, "k m"]
) -> Float[np.ndarray, "k m"]:
    """The root mean square of the readings of the same field, for each reading."""
    sizes = np.ones_like(values)
    for column in np.unique(columns):
        is_of_column = columns == column
        squares = (np.where(is_of_column, values, 0.0) ** 2).sum(1) / np.maximum(
            is_of_column.sum(1), 1
        )
        size = np.where(squares > 0, np.sqrt(squares), 1.0)
        sizes = np.where(is_of_column, size[:, None], sizes)
    return sizes


def _check_size(family: AbstractSolved, readings: int, unknowns: int) -> None:
    if readings * unknowns > LARGEST_MATRIX:
        raise InputError(
            f"assimilate: {readings} readings and {unknowns} unknowns of {family.name} need a matrix of "
            f"{readings * unknowns:.0e} numbers; give at most {LARGEST_MATRIX // unknowns} readings."
        )


# ------------------------------------------------------------------------------- evaluation


class PointEvaluator(eqx.Module):
    """The fields and standard deviations at points.

    Fields are interpolated from a finer grid where points lie between nodes. Standard deviations are
    interpolated linearly from the family's nodes.
    """

    fine: AbstractSolved
    interpolated: Stencil
    linear: Stencil

    @staticmethod
    def of(family: AbstractSolved, points: Float[np.ndarray, "m d"]) -> "PointEvaluator":
        fine = refine_for(family, points)
        interpolated = Stencil.of(points, fine.axes, fine.domain)
        return PointEvaluator(
            fine, interpolated, Stencil.of(points, family.axes, family.domain, order=2)
        )

    def __call__(self, unknowns, coefficients, spread):
        noise = unknowns[: math.prod(self.fine.noise_shape)].reshape(self.fine.noise_shape)
        return self.interpolated(self.fine.solve(noise, coefficients)), self.linear(spread)
