"""Evaluation on a tensor grid of models that have a faster way for it than point by point.

Every requested quantity is a function of derivatives of the fields at one point. The model gives each of
these derivatives on the whole grid (`AbstractFieldModel.on_grid`), and the function is applied to them.
"""

from collections.abc import Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.models.field_model import AbstractFieldModel
from pgt.nn.trees import compiled
from pgt.physics.derivatives import KnownDerivatives, derivatives_of
from pgt.uncertainty.members import Members, member_statistics

# The number of derivatives in memory at once: all points, fields and models of a part of the grid. A
# larger number needs more memory and fewer parts.
SLAB = 1 << 20

Along = tuple[int, ...]  # the axes along which a derivative is taken


def on_tensor_grid(
    model: AbstractFieldModel | Members,
    fields: int,
    values: Callable,
    axes: Sequence[Float[np.ndarray, " _"]],
    quantiles: Sequence[float] | None = None,
) -> dict[str, Float[np.ndarray, "*shape"]] | None:
    """The values of `values(field, z)` by name on a tensor grid, or None if the model has no faster way.

    `axes` are the local positions along each coordinate. With `quantiles` the result has statistics over
    the members.
    """
    count = len(model) if isinstance(model, Members) else 1
    alongs = derivatives_of(values, len(axes), fields)
    sizes = [len(positions) for positions in axes]
    longest = int(np.argmax(sizes))
    values_per_row = fields * count * max(len(alongs), 1) * int(np.prod(sizes)) // sizes[longest]
    columns = {}
    for part in _parts(sizes[longest], max(SLAB // values_per_row, 1)):
        slab = [z[part] if k == longest else z for k, z in enumerate(axes)]
        derivatives = {}
        for along in alongs:
            derivative = model.on_grid(slab, along)
            if derivative is None:
                return None
            derivatives[along] = jnp.asarray(derivative.reshape(*derivative.shape[:2], -1))
        table = _answer(values, derivatives, jnp.asarray(_points(slab)))
        table = _first(table) if quantiles is None else member_statistics(table, quantiles)
        for name, column in table.items():
            column = np.asarray(column).reshape([len(z) for z in slab])
            whole = columns.setdefault(name, np.empty(sizes, column.dtype))
            np.moveaxis(whole, longest, 0)[part] = np.moveaxis(column, longest, 0)
    return columns


def _parts(size: int, max_length: int) -> Iterator[slice]:
    """Parts of an axis of equal length, so that one program serves all; the last one may overlap."""
    length = min(size, max_length)
    for start in range(0, size, length):
        first = min(start, size - length)
        yield slice(first, first + length)


def _points(axes: Sequence[Float[np.ndarray, " _"]]) -> Float[np.ndarray, "n d"]:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


@compiled  # compiled once for all parts of a grid, since `values` is the same function
def _answer(values: Callable, derivatives: dict[Along, Array], points: Float[Array, "n d"]):
    """(k, n) the values at points by name, from the derivatives of every model."""

    def at(derivatives: dict[Along, Float[Array, " c"]], z: Float[Array, " d"]):
        return values(KnownDerivatives(derivatives), z)

    of_one = jax.vmap(at, in_axes=(1, 0))
    return jax.vmap(of_one, in_axes=(0, None))(derivatives, points)


def _first(table: dict[str, Array]) -> dict[str, Array]:
    return {name: column[0] for name, column in table.items()}
