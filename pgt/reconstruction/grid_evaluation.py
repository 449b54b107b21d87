"""Evaluation on a tensor grid of models that have a faster way for it than point by point.

Whatever is asked for is a function of derivatives of the fields at one point. The model gives each of
these derivatives on the whole grid (`AbstractFieldModel.on_grid`); the function is then applied to them.
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

SLAB = 1 << 20  # derivatives in memory at once, all points, fields and models of a part of the grid

Along = tuple[int, ...]


def on_tensor_grid(
    model: AbstractFieldModel | Members,
    fields: int,
    values: Callable,
    axes: Sequence[Float[np.ndarray, " _"]],
    quantiles: Sequence[float] | None = None,
) -> dict[str, Float[np.ndarray, "*shape"]] | None:
    """By name what `values(field, z)` gives on the grid of these local positions along each coordinate;
    with `quantiles` its statistics over members. None for a model that is faster point by point."""
    count = len(model) if isinstance(model, Members) else 1
    alongs = derivatives_of(values, len(axes), fields)
    sizes = [len(positions) for positions in axes]
    longest = int(np.argmax(sizes))
    a_row = fields * count * max(len(alongs), 1) * int(np.prod(sizes)) // sizes[longest]
    columns = {}
    for part in _parts(sizes[longest], max(SLAB // a_row, 1)):
        slab = [z[part] if k == longest else z for k, z in enumerate(axes)]
        known = {}
        for along in alongs:
            found = model.on_grid(slab, along)
            if found is None:
                return None
            known[along] = jnp.asarray(found.reshape(*found.shape[:2], -1))
        table = _answer(values, known, jnp.asarray(_points(slab)))
        table = _first(table) if quantiles is None else member_statistics(table, quantiles)
        for name, column in table.items():
            column = np.asarray(column).reshape([len(z) for z in slab])
            whole = columns.setdefault(name, np.empty(sizes, column.dtype))
            np.moveaxis(whole, longest, 0)[part] = np.moveaxis(column, longest, 0)
    return columns


def _parts(size: int, most: int) -> Iterator[slice]:
    """Parts of an axis, all of one length, so that one program serves them: the last overlaps."""
    length = min(size, most)
    for start in range(0, size, length):
        first = min(start, size - length)
        yield slice(first, first + length)


def _points(axes: Sequence[Float[np.ndarray, " _"]]) -> Float[np.ndarray, "n d"]:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


@compiled  # once for all parts of a grid: `values` is the same function
def _answer(values: Callable, derivatives: dict[Along, Array], points: Float[Array, "n d"]):
    """(k, n) by name: the values at points from the derivatives of every model."""

    def at(derivatives: dict[Along, Float[Array, " c"]], z: Float[Array, " d"]):
        return values(KnownDerivatives(derivatives), z)

    of_one = jax.vmap(at, in_axes=(1, 0))
    return jax.vmap(of_one, in_axes=(0, None))(derivatives, points)


def _first(table: dict[str, Array]) -> dict[str, Array]:
    return {name: column[0] for name, column in table.items()}
