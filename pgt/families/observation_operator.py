"""Readings as a function of a family's noise and unknown coefficients: solver, stencil, box averages."""

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

ORDER = 8  # The number of nodes along an axis that an interpolation uses.
NODE_TOLERANCE = 1e-4  # A point this close to a node, in shares of the smallest step, lies on it.
# The least nodes along space and time for points between nodes, by the axes of space and whether there
# is time. The interpolation error is then at most 1e-4 of the spread for Burgers' equation.
MIN_NODES = {(1, True): (128, 129), (2, True): (64, 33), (2, False): (128, 1)}
LARGEST_MATRIX = 2**27  # numbers in a Jacobian
CLEAN_NOISE = 3e-7  # σ of clean readings, in units of the spread: the rounding of single precision.
# The power of the noise level in the prior that makes levels above a given σ less probable.
TRUST_IN_SIGMA = 4.0


@contextlib.contextmanager
def double_precision() -> Iterator[None]:
    """Within, JAX computes in float64: readings of smooth fields hardly differ from each other."""
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


# ------------------------------------------------------------------------------- between nodes


class Stencil(eqx.Module):
    """The nodes around points (m, d) of a grid, and their weights in an interpolation.

    Points on nodes have one node along each axis. Others have eight, or as many as `order` says, with
    weights by Lagrange's formula; on a periodic axis these may lie across its ends.

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
        found = [
            _along_axis(points[:, i], nodes, axis in domain.periodic, order)
            for i, (axis, nodes) in enumerate(axes.items())
        ]
        return Stencil(tuple(nodes for nodes, _ in found), tuple(w for _, w in found))

    def __call__(self, values: Float[Array | np.ndarray, "*grid c"]) -> Float[Array, "m c"]:
        """The fields at the points."""
        d = len(self.nodes)
        chosen = tuple(_with_axis(nodes, i, d) for i, nodes in enumerate(self.nodes))
        found = jnp.asarray(values)[chosen]  # m k ... k c
        for weights in reversed(self.weights):
            found = jnp.einsum("m...kc,mk->m...c", found, jnp.asarray(weights))
        return found


def are_nodes(points: Float[np.ndarray, "m d"], axes: Mapping[str, np.ndarray]) -> bool:
    """Whether every point is a node of the grid; the end of a period is not."""
    return all(
        np.all(np.abs(at - nodes[_nearest(at, nodes)]) < NODE_TOLERANCE * np.diff(nodes).min())
        for at, nodes in zip(points.T, axes.values(), strict=True)
    )


def _with_axis(nodes: Int[Array | np.ndarray, "m k"], axis: int, dimension: int):
    """The node numbers of an axis, shaped to broadcast with those of the other axes."""
    shape = [1] * dimension
    shape[axis] = nodes.shape[1]
    return jnp.asarray(nodes).reshape(nodes.shape[0], *shape)


def _along_axis(at: Float[np.ndarray, " m"], nodes: np.ndarray, is_periodic: bool, order: int):
    """Nodes and weights along one axis; nodes of a periodic axis are evenly spaced."""
    order, line, before = min(order, len(nodes)), nodes, 0
    if is_periodic:  # continue the nodes beyond both ends
        before = order
        line = nodes[0] + (nodes[1] - nodes[0]) * np.arange(-order, len(nodes) + order)
    left = np.searchsorted(line, at, side="right") - 1
    first = _nearest(at, line) if order == 1 else left - (order // 2 - 1)
    chosen = np.clip(first, 0, len(line) - order)[:, None] + np.arange(order)
    place, same = line[chosen], np.eye(order, dtype=bool)
    gaps = np.where(same, 1.0, place[:, :, None] - place[:, None, :])
    ratios = (at[:, None] - place)[:, None, :] / gaps
    weights = np.where(same, 1.0, ratios).prod(axis=-1)
    return (chosen - before) % len(nodes), weights


def _nearest(at: Float[np.ndarray, " m"], nodes: np.ndarray) -> Int[np.ndarray, " m"]:
    return np.searchsorted((nodes[1:] + nodes[:-1]) / 2, at)


def refine_for(family: AbstractSolved, points: Float[np.ndarray, "m d"]) -> AbstractSolved:
    """The family, with more nodes where points lie between its own."""
    if are_nodes(points, family.axes):
        return family
    counts = {axis: len(nodes) for axis, nodes in family.axes.items()}
    times = counts.pop("t", None)
    wanted = MIN_NODES.get((len(counts), times is not None), (100, 65))
    space = math.ceil(wanted[0] / (max(counts.values()) + 1))
    return family.finer(space, 1 if times is None else math.ceil((wanted[1] - 1) / (times - 1)))


# ------------------------------------------------------------------------------- the operator


class ObservationOperator(eqx.Module):
    """The readings of a family's fields, at points or over boxes, as a function of the unknowns.

    The unknowns are the family's noise and one standard normal for every unknown coefficient: the
    normal's distribution function is its position within the range, on a logarithmic scale. Tables may
    have a leading axis of k systems, whose operators are then applied one by one.
    """

    family: AbstractSolved
    stencil: Stencil  # of n q points
    boxes: Float[Array | np.ndarray, " q"]  # quadrature weights of a box
    columns: Int[Array | np.ndarray, "*k n"]  # the number of each reading's field in `read_fields`
    known: Mapping[str, Float[Array | np.ndarray, "*k"]]
    read_fields: tuple[int, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return math.prod(self.family.noise_shape) + len(self.family.ranges) - len(self.known)

    def coarse(self) -> "ObservationOperator":
        """The same with a cheaper solver, for linearizations."""
        return eqx.tree_at(lambda a: a.family, self, self.family.coarse())

    def coefficients(
        self, unknowns: Float[Array, " n"], logs: Float[Array, " p"] | None = None
    ) -> dict[str, Float[Array, ""]]:
        """Known and unknown coefficients; `logs` are added to the logarithms of the known ones, in the
        sorted order of their names."""
        rest = iter(unknowns[math.prod(self.family.noise_shape) :])
        moved = dict(zip(sorted(self.known), () if logs is None else jnp.exp(logs), strict=False))
        return {
            name: jnp.asarray(self.known[name]) * moved.get(name, 1.0)
            if name in self.known
            else low * (high / low) ** ndtr(next(rest))
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
        """The readings."""
        return self.readings_of(self.fields(unknowns))

    def readings_of(self, fields: Float[Array, "*grid c"]) -> Float[Array, " m"]:
        """The readings of fields at the nodes."""
        read = fields[..., np.array(self.read_fields)]
        at = self.stencil(read).reshape(len(self.columns), len(self.boxes), -1)
        means = jnp.einsum("nqc,q->nc", at, jnp.asarray(self.boxes))
        return jnp.take_along_axis(means, jnp.asarray(self.columns)[:, None], axis=1)[:, 0]


class AssimilationProblem(eqx.Module):
    """An observation operator and what was read, of one system or of k; padding fills the arrays up."""

    operator: ObservationOperator
    values: Float[Array | np.ndarray, "*k m"]
    sigma: Float[
        Array | np.ndarray, "*k m"
    ]  # σ as given; without one, the relative σ of the others
    unit: Float[Array | np.ndarray, "*k m"]  # the spread of the field that is read
    is_real: Bool[Array | np.ndarray, "*k m"]
    is_given: Bool[Array | np.ndarray, "*k m"]  # whether σ is given
    trust: Float[Array | np.ndarray, ""]  # in given σ


def problem_of(
    family: AbstractSolved,
    readings: Observations,
    known: Mapping[str, float],
) -> AssimilationProblem:
    """The problem of one system; rows are padded, so that one reading more compiles nothing."""
    rows, columns = np.nonzero(np.asarray(readings.mask))
    count = len(rows)
    if not count:
        raise InputError("assimilate: the readings are empty; give at least one.")
    padding = -count % max(2 ** math.ceil(math.log2(count)) // 4, 8)
    nodes, boxes = cell_quadrature(readings)
    places = np.asarray(nodes, float)[rows].reshape(-1, len(family.axes))
    places = np.asarray(family.domain.box.wrapped(places, family.domain.periodic), float)
    places = np.concatenate([places, np.repeat(places[:1], padding * len(boxes), axis=0)])
    fine = refine_for(family, places)
    read = tuple(sorted(set(columns.tolist())))
    which = np.pad(np.searchsorted(read, columns), (0, padding))
    held = {name: np.asarray(value, float) for name, value in known.items()}
    operator = ObservationOperator(
        fine, Stencil.of(places, fine.axes, fine.domain), boxes, which, held, read
    )
    _check_size(family, count, operator.size)
    values = np.asarray(readings.values, float)[rows, columns]
    sigma = np.asarray(readings.noise, float)[rows, columns]
    unit, given = _field_sizes(values[None], columns[None])[0], sigma > 0
    typical = float(np.median(sigma[given] / unit[given])) if given.any() else CLEAN_NOISE
    sigma = np.where(given, sigma, typical * unit)
    return AssimilationProblem(
        operator, np.pad(values, (0, padding)),
        np.pad(sigma, (0, padding), constant_values=1.0),
        np.pad(unit, (0, padding), constant_values=1.0),
        np.arange(count + padding) < count, np.pad(given, (0, padding)),
        np.asarray(TRUST_IN_SIGMA if given.any() else 0.0),
    )  # fmt: skip


def problem_of_batch(family: AbstractSolved, batch: SensorBatch) -> AssimilationProblem:
    """The problems of many systems of known coefficients and unknown noise."""
    systems, fields = len(batch.mask), batch.mask.shape[-1]
    mask = batch.mask.reshape(systems, -1)
    most = int(mask.sum(axis=1).max())
    order = np.argsort(~mask, axis=1, kind="stable")[:, :most]  # readings first
    real = np.take_along_axis(mask, order, axis=1)
    places = np.take_along_axis(batch.points, order[..., None] // fields, axis=1)
    places = np.where(real[..., None], places, places[:, :1])
    flat = places.reshape(-1, places.shape[-1])
    fine = refine_for(family, flat)
    stencil = jax.tree.map(
        lambda table: table.reshape(systems, most, -1), Stencil.of(flat, fine.axes, fine.domain)
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
    """For each reading the root mean square of the readings of its field."""
    found = np.ones_like(values)
    for column in np.unique(columns):
        own = columns == column
        squares = (np.where(own, values, 0.0) ** 2).sum(1) / np.maximum(own.sum(1), 1)
        size = np.where(squares > 0, np.sqrt(squares), 1.0)
        found = np.where(own, size[:, None], found)
    return found


def _check_size(family: AbstractSolved, readings: int, unknowns: int) -> None:
    if readings * unknowns > LARGEST_MATRIX:
        raise InputError(
            f"assimilate: {readings} readings and {unknowns} unknowns of {family.name} need a matrix of "
            f"{readings * unknowns:.0e} numbers; give at most {LARGEST_MATRIX // unknowns} readings."
        )


# ------------------------------------------------------------------------------- evaluation


class PointEvaluator(eqx.Module):
    """Evaluates fields at points, on finer nodes where needed, and a table of spreads linearly."""

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
