"""The Jacobian J of the rows with respect to θ, stored as one matrix if it fits into memory, otherwise
computed in chunks.

    JᵀJ = Σ_c J_cᵀJ_c  over groups c of rows,        JJᵀ = Σ_l J_l J_lᵀ  over groups l of columns

Neither product needs all of J at once. Without the whole matrix, forward or reverse differentiation of
the rows gives the product with a vector, at the cost of a few evaluations.
"""

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jaxtyping import Array, Float, PyTree

from pgt.core.devices import by_rows, on_every_device, on_this_host
from pgt.inference import linear_algebra
from pgt.inference.linear_algebra import Matrix, Square, Vector
from pgt.methods.second_order.residual_rows import RowBlock
from pgt.nn.trees import OPTIONS

# The number of copies of a chunk of J that exist at the same time, which limits the size of a chunk.
COPIES_OF_CHUNK = 3
# If θ has the first number of parameters or more, only the second number of items is differentiated at
# once. More items at once need more memory.
LONG_THETA, ITEMS_PER_CHUNK_LONG_THETA = 30_000, 64
# If there are more items than the first number, only the second number is computed at once.
MANY_ITEMS, ITEMS_PER_CHUNK = 1 << 16, 1 << 13

Data = tuple[tuple[PyTree, Vector], ...]  # items and weights of every block


class JacobianLayout(NamedTuple):
    """The way in which J is stored and multiplied.

    The Gram matrix is JJᵀ if `dual`, otherwise JᵀJ. `chunk` is the number of columns or rows in a chunk
    of J, and `whole` says whether J is stored as a whole.
    """

    dual: bool
    chunk: int
    whole: bool

    @staticmethod
    def of(rows: int, size: int, memory: float) -> "JacobianLayout":
        """The layout for these numbers of rows, columns and bytes, with chunks of equal size."""
        dual = rows < size
        across, along = (rows, size) if dual else (size, rows)
        max_chunk = max(int(memory / (8 * COPIES_OF_CHUNK * across)), 1)
        chunks = -(-along // max_chunk)
        return JacobianLayout(dual, -(-along // chunks), chunks == 1)


class RowProgram:
    """The rows of some blocks and their derivatives, compiled once for any θ, items and weights.

    On the host, a block with a chunk size is computed in chunks of that many items. Another number of
    items then needs no new compilation, which takes many seconds for an equation of high order.
    `sharding` divides the items over devices.
    """

    def __init__(
        self,
        blocks: tuple[RowBlock, ...],
        chunk_sizes: tuple[int | None, ...] = (),
        sharding: NamedSharding | None = None,
    ):
        functions = tuple(block.function for block in blocks)

        def compiled(function, **options):
            program = jax.jit(function, compiler_options=OPTIONS, **options)
            return program if sharding is None else _on_devices(program, sharding)

        self.chunk_sizes = chunk_sizes or (None,) * len(blocks)
        self.block_rows = [compiled(partial(_block_rows, function)) for function in functions]
        self.block_gradients = [compiled(partial(_rows_and_gradients, f)) for f in functions]
        self.all_rows = compiled(partial(_rows, functions))
        self.all_rows_and_jacobian = compiled(partial(_rows_and_jacobian, functions))
        self.columns = compiled(partial(_columns, functions), static_argnums=3)
        self.jvp = compiled(partial(_jvp, functions))
        self.vjp = compiled(partial(_vjp, functions))

    def rows(self, theta: Vector, data: Data) -> Vector:
        """All rows."""
        if not self._is_chunked:
            return self.all_rows(theta, data)
        parts = [self._chunks(self.block_rows[k], k, theta, data[k]) for k in range(len(data))]
        return np.concatenate([np.asarray(rows) for part in parts for rows in part])

    def rows_and_jacobian(self, theta: Vector, data: Data) -> tuple[Vector, Matrix]:
        """(all rows, the whole J)."""
        if not self._is_chunked:
            return self.all_rows_and_jacobian(theta, data)
        parts = [self._chunks(self.block_gradients[k], k, theta, data[k]) for k in range(len(data))]
        rows, gradients = zip(*itertools.chain(*parts), strict=True)
        return np.concatenate(rows), np.concatenate(gradients)

    def count(self, theta: Vector, data: Data) -> int:
        """The number of rows."""
        return sum(
            len(weights) * _rows_per_item(program, theta, items, weights)
            for program, (items, weights) in zip(self.block_gradients, data, strict=True)
        )

    @property
    def _is_chunked(self) -> bool:
        return linear_algebra.on_host() and any(self.chunk_sizes)

    def _chunks(self, program, block: int, theta: Vector, data) -> Iterator:
        """The results of a program for all items of a block, chunk by chunk.

        The last chunk is filled up to its size with items from the beginning, whose results are cut off.
        """
        items, weights = data
        total, count = len(weights), self.chunk_sizes[block] or len(weights)
        for start in range(0, total, count):
            which = np.arange(start, start + count) % total
            is_all = count == total
            part = items if is_all else jax.tree.map(lambda leaf, w=which: leaf[w], items)
            results = program(theta, part, weights if is_all else weights[which])
            kept = min(count, total - start)
            yield jax.tree.map(
                lambda leaf, k=kept: np.asarray(leaf)[: len(leaf) * k // count], results
            )


def _on_devices(program: Callable, sharding: NamedSharding) -> Callable:
    """The program of (θ, items and weights, ...), with these divided over devices and θ whole on each."""

    def run(theta, *rest):
        if isinstance(theta, jax.core.Tracer):  # only the shape of the result is asked for
            return program.__wrapped__(theta, *rest)
        rows = program(on_every_device(theta, sharding), *by_rows(rest, sharding))
        return on_this_host(rows, sharding) if jax.process_count() > 1 else rows

    return run


class Jacobian:
    """J at θ, with rows multiplied by `scale` if there is one."""

    def __init__(
        self, program: RowProgram, theta: Float[Array, " p"], data: Data, layout: JacobianLayout
    ):
        self.program, self.theta, self.data, self.layout = program, theta, data, layout
        self.scale: Vector | None = None
        self.qr_factors: dict[int | None, Matrix] = {}  # cached, as each needs all of J
        if layout.whole:
            rows, matrix = program.rows_and_jacobian(theta, data)
            self.rows, self.matrix = linear_algebra.local(rows), linear_algebra.local(matrix)
        else:
            self.rows, self.matrix = linear_algebra.local(program.rows(theta, data)), None

    def scaled(self, scale: Vector | None) -> "Jacobian":
        """This Jacobian with rows multiplied by `scale`."""
        self.scale = None if scale is None else linear_algebra.local(scale)
        if self.scale is not None and self.matrix is not None:
            self.matrix = self.scale[:, None] * self.matrix
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, numbers in θ)."""
        return len(self.rows), len(self.theta)

    def chunks(self) -> Iterator[tuple[slice, slice, Matrix]]:
        """Yield (rows, columns, that part of J) for one chunk after the other."""
        if self.matrix is not None:
            yield slice(None), slice(None), self.matrix
            return
        for rows, columns, chunk in (
            self._column_chunks() if self.layout.dual else self._row_chunks()
        ):
            scale = None if self.scale is None else self.scale[rows, None]
            yield rows, columns, linear_algebra.local(chunk) if scale is None else scale * chunk

    def _column_chunks(self) -> Iterator[tuple[slice, slice, Matrix]]:
        size, width = len(self.theta), self.layout.chunk
        for start in range(0, size, width):
            first = min(start, size - width)  # chunks of one width need one program
            columns = self.program.columns(self.theta, self.data, first, width)
            yield slice(None), slice(start, first + width), columns[:, start - first :]

    def _row_chunks(self) -> Iterator[tuple[slice, slice, Matrix]]:
        begin = 0
        for program, (items, weights) in zip(self.program.block_gradients, self.data, strict=True):
            each = _rows_per_item(program, self.theta, items, weights)
            count = max(min(self.layout.chunk // each, len(weights)), 1)
            for start in range(0, len(weights), count):
                first = min(start, len(weights) - count)
                part = jax.tree.map(operator.itemgetter(slice(first, first + count)), items)
                _, rows = program(self.theta, part, weights[first : first + count])
                rows = rows[(start - first) * each :]
                yield slice(begin, begin + len(rows)), slice(None), rows
                begin += len(rows)

    def dense(self) -> Matrix:
        """J as one matrix."""
        if self.matrix is not None:
            return self.matrix
        parts = [np.asarray(chunk) for _, _, chunk in self.chunks()]
        return np.concatenate(parts, axis=1 if self.layout.dual else 0)

    def first_rows(self, count: int) -> Matrix:
        """The first rows of J."""
        if self.matrix is not None:
            return self.matrix[:count]
        groups = itertools.takewhile(lambda part: part[0].start < count, self.chunks())
        return np.concatenate([np.asarray(chunk) for _, _, chunk in groups])[:count]

    def last_columns(self, count: int) -> Matrix:
        """The last columns of J."""
        if self.matrix is not None:
            return self.matrix[:, -count:]
        matrix = self.program.columns(self.theta, self.data, len(self.theta) - count, count)
        return linear_algebra.local(matrix if self.scale is None else self.scale[:, None] * matrix)

    def condensed(self) -> Matrix:
        """J, or R with the same JᵀJ if J has more rows than columns."""
        return self.dense() if self.layout.dual else self.qr_factor()

    def qr_factor(self, count: int | None = None) -> Matrix:
        """R, upper triangular, with RᵀR = JᵀJ of the first `count` rows, or of all.

        It is accumulated by QR of one chunk after the other, so that J is never stored as a whole. The
        Cholesky factor of JᵀJ would have half of the digits.
        """
        if count in self.qr_factors:
            return self.qr_factors[count]
        if count is None and self.matrix is not None:
            self.qr_factors[None] = np.asarray(jnp.linalg.qr(jnp.asarray(self.matrix), mode="r"))
            return self.qr_factors[None]
        factor, begin = np.zeros((0, len(self.theta))), 0
        for _, _, chunk in self.chunks():
            part = np.asarray(chunk)[: None if count is None else max(count - begin, 0)]
            factor = linear_algebra.triangle(np.concatenate([factor, part]))
            begin += len(part)
            if count is not None and begin >= count:
                break
        self.qr_factors[count] = factor
        return factor

    def gram(self) -> Square:
        """JJᵀ or JᵀJ, as the layout says."""
        parts = (linear_algebra.gram(chunk, dual=self.layout.dual) for _, _, chunk in self.chunks())
        return functools.reduce(operator.add, parts)

    def times(self, vector: Vector) -> Vector:
        """J v."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ linear_algebra.local(vector))
        product = np.asarray(self.program.jvp(self.theta, self.data, jnp.asarray(vector)))
        return product if self.scale is None else np.asarray(self.scale) * product

    def transposed_times(self, vector: Vector) -> Vector:
        """Jᵀ v."""
        vector = linear_algebra.local(vector)
        if self.matrix is not None:
            return np.asarray(vector @ self.matrix)
        scaled = vector if self.scale is None else self.scale * vector
        return np.asarray(self.program.vjp(self.theta, self.data, jnp.asarray(scaled)))


def _rows_per_item(program, theta, items, weights) -> int:
    """The number of rows that one item gives."""
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((1, *leaf.shape[1:]), leaf.dtype), items)
    weight = jax.ShapeDtypeStruct((1,), np.asarray(weights).dtype)
    return jax.eval_shape(program, theta, one, weight)[0].shape[0]


def _rows(functions, theta, data: Data) -> Float[Array, " rows"]:
    parts = zip(functions, data, strict=True)
    return jnp.concatenate([_block_rows(function, theta, *part) for function, part in parts])


def _block_rows(function, theta, items, weights) -> Float[Array, " rows"]:
    return (_map_items(partial(function, theta), items, theta) * weights[:, None]).reshape(-1)


def _jvp(functions, theta, data: Data, direction) -> Float[Array, " rows"]:
    return jax.jvp(lambda t: _rows(functions, t, data), (theta,), (direction,))[1]


def _vjp(functions, theta, data: Data, seed) -> Float[Array, " p"]:
    return jax.vjp(lambda t: _rows(functions, t, data), theta)[1](seed)[0]


def _rows_and_jacobian(functions, theta, data: Data):
    parts = [_rows_and_gradients(f, theta, *part) for f, part in zip(functions, data, strict=True)]
    return jnp.concatenate([r for r, _ in parts]), jnp.concatenate([j for _, j in parts])


def _columns(functions, theta, data: Data, start, width: int):
    """Columns `start` to `start + width` of J."""

    def cut(gradient):
        return jax.lax.dynamic_slice_in_dim(gradient, start, width)

    blocks = zip(functions, data, strict=True)
    return jnp.concatenate([_rows_and_gradients(f, theta, *part, cut)[1] for f, part in blocks])


def _rows_and_gradients(function, theta, items, weights, cut=lambda gradient: gradient):
    """The rows of all items and their gradients, by reverse mode since θ is much longer than a row."""

    def one(item):
        item, weight = item
        rows, pull = jax.vjp(lambda t: weight * function(t, item), theta)
        return rows, jax.vmap(lambda seed: cut(pull(seed)[0]))(jnp.eye(len(rows)))

    rows, gradient = _map_items(one, (items, weights), theta)
    return rows.reshape(-1), gradient.reshape(-1, gradient.shape[-1])


def _map_items(function, items, theta):
    """The function of every item, a limited number at a time if θ is long or items are many.

    With many items, intermediate values are recomputed for the derivative: storing those of a network
    would take far more memory than the rows.
    """
    if len(theta) >= LONG_THETA:
        return jax.lax.map(function, items, batch_size=ITEMS_PER_CHUNK_LONG_THETA)
    if len(jax.tree.leaves(items)[0]) > MANY_ITEMS:
        return jax.lax.map(jax.checkpoint(function), items, batch_size=ITEMS_PER_CHUNK)
    return jax.vmap(function)(items)
