"""Readings of a system as a function of its noise and of the coefficients that are not known."""

import contextlib
import math
from collections.abc import Iterator, Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jaxtyping import Array, Float, Int

from pgt.data.observations import Observations, cell_quadrature
from pgt.families.conditioning import Errors
from pgt.families.solved import AbstractSolved
from pgt.families.stencil import Stencil, on_nodes
from pgt.ground.errors import InputError

# Nodes along space and time, at the least, where readings lie between them: by the axes of space, and
# whether there is time. Over time interpolation is then off by 1e-5 of the spread at the most (Burgers').
LEAST_NODES = {(1, True): (256, 257), (2, True): (100, 65), (2, False): (500, 1)}
LARGEST_MATRIX = 2**27  # numbers in a Jacobian


class Asking(eqx.Module):
    """What readings are of: a family's fields at points or boxes, as a function of the unknowns.

    The unknowns are the family's noise, and a standard normal for every coefficient that is not known:
    its share of the range, on a logarithmic scale, is the normal's distribution function. For the
    compiler's sake k systems may lie side by side, to be asked about one by one.
    """

    family: AbstractSolved
    stencil: Stencil  # of n q points
    boxes: Float[Array | np.ndarray, " q"]
    columns: Int[Array | np.ndarray, "*k n"]  # which of the fields that are read
    known: Mapping[str, Float[Array | np.ndarray, "*k"]]
    read_fields: tuple[int, ...] = eqx.field(static=True)

    @property
    def size(self) -> int:
        return math.prod(self.family.noise_shape) + len(self.family.ranges) - len(self.known)

    def rough(self) -> "Asking":
        """The same, computed only so well that one can linearise with it."""
        return eqx.tree_at(lambda a: a.family, self, self.family.rough())

    def coefficients(
        self, unknowns: Float[Array, " n"], logs: Float[Array, " p"] | None = None
    ) -> dict[str, Float[Array, ""]]:
        """Those that are known and those that the last unknowns stand for; the former may be moved, by
        so much in their logarithms, in the order of their names: that of JAX."""
        rest = iter(unknowns[math.prod(self.family.noise_shape) :])
        moved = dict(zip(sorted(self.known), () if logs is None else jnp.exp(logs), strict=False))
        return {
            name: jnp.asarray(self.known[name]) * moved.get(name, 1.0)
            if name in self.known
            else low * (high / low) ** ndtr(next(rest))
            for name, (low, high) in self.family.ranges.items()
        }

    def values(
        self, unknowns: Float[Array, " n"], logs: Float[Array, " p"] | None = None
    ) -> Float[Array, "*grid c"]:
        """The fields at the nodes."""
        shape = self.family.noise_shape
        noise = unknowns[: math.prod(shape)].reshape(shape)
        return self.family.solve(noise, self.coefficients(unknowns, logs))

    def __call__(self, unknowns: Float[Array, " n"]) -> Float[Array, " m"]:
        """The readings."""
        return self.seen(self.values(unknowns))

    def seen(self, values: Float[Array, "*grid c"]) -> Float[Array, " m"]:
        """The readings of fields at the nodes."""
        seen = values[..., np.array(self.read_fields)]
        at = self.stencil(seen).reshape(len(self.columns), len(self.boxes), -1)
        means = jnp.einsum("nqc,q->nc", at, jnp.asarray(self.boxes))
        return jnp.take_along_axis(means, jnp.asarray(self.columns)[:, None], axis=1)[:, 0]


@contextlib.contextmanager
def precisely() -> Iterator[None]:
    """In float64: the readings of smooth fields hardly differ from each other."""
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


def asked(
    family: AbstractSolved,
    readings: Observations,
    known: dict[str, float],
    least: Mapping[tuple[int, bool], tuple[int, int]] = LEAST_NODES,
) -> tuple[Asking, Float[np.ndarray, " m"], Errors]:
    """What is asked, what was read and how noisy it is; rows that are none fill it up."""
    rows, columns = np.nonzero(np.asarray(readings.mask))
    if not len(rows):
        raise InputError("assimilate: the readings are empty; give at least one.")
    nodes, boxes = cell_quadrature(readings)
    places = np.asarray(nodes, float)[rows].reshape(-1, len(family.axes))
    places = np.asarray(family.domain.box.wrapped(places, family.domain.periodic), float)
    seen = tuple(sorted(set(columns.tolist())))
    padding = _padding(len(rows))
    places = np.concatenate([places, np.repeat(places[:1], padding * len(boxes), axis=0)])
    fine = grid_for(family, places, least)
    which = np.concatenate([np.searchsorted(seen, columns), np.zeros(padding, int)])
    given = {name: np.asarray(value, float) for name, value in known.items()}
    asking = Asking(
        fine, Stencil.of(places, fine.axes, fine.domain), boxes, which, given, seen
    )  # fmt: skip
    _check_size(family, len(rows), asking.size)
    values = np.asarray(readings.values, float)[rows, columns]
    noise = np.asarray(readings.noise, float)[rows, columns]
    return asking, values, Errors(noise, _spreads(values, columns))


def _padding(count: int) -> int:
    """Rows of nothing, so that one reading more compiles nothing."""
    return -count % max(2 ** math.ceil(math.log2(count)) // 4, 8)


def _spreads(values: Float[np.ndarray, " m"], columns: np.ndarray) -> Float[np.ndarray, " m"]:
    """Of the readings of each field, the root of their mean square."""
    found = np.zeros_like(values)
    for column in np.unique(columns):
        size = float(np.sqrt(np.mean(values[columns == column] ** 2)))
        found[columns == column] = size if size > 0 else 1.0
    return found


def _check_size(family: AbstractSolved, readings: int, unknowns: int) -> None:
    if readings * unknowns > LARGEST_MATRIX:
        raise InputError(
            f"assimilate: {readings} readings and {unknowns} unknowns of {family.name} need a matrix of "
            f"{readings * unknowns:.0e} numbers; give at most {LARGEST_MATRIX // unknowns} readings."
        )


def grid_for(
    family: AbstractSolved,
    points: Float[np.ndarray, "m d"],
    least: Mapping[tuple[int, bool], tuple[int, int]] = LEAST_NODES,
) -> AbstractSolved:
    """The family on its own nodes where the points are among them, else on enough to be between."""
    if on_nodes(points, family.axes):
        return family
    counts = {axis: len(nodes) for axis, nodes in family.axes.items()}
    times = counts.pop("t", None)
    wanted = least.get((len(counts), times is not None), (100, 65))
    space = math.ceil(wanted[0] / (max(counts.values()) + 1))
    return family.finer(space, 1 if times is None else math.ceil((wanted[1] - 1) / (times - 1)))
