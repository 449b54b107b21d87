"""The derivative J of the rows with respect to θ: whole where it fits into memory, else in pieces.

    JᵀJ = Σ_c J_cᵀJ_c  over groups c of rows,        JJᵀ = Σ_l J_l J_lᵀ  over strips l of columns

so that neither product needs all of J at once. In pieces, a product with a vector comes from the rows
by forward or reverse differentiation, at the cost of a few evaluations.
"""

import functools
import itertools
import operator
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.nn.compiled import OPTIONS
from pgt.training import dense
from pgt.training.dense import Matrix, Square, Vector
from pgt.training.rows import Block

COPIES = 3  # of a piece, that exist at one moment
LONG, TOGETHER = 30_000, 64  # numbers in a long θ, and items that are then differentiated at once
MANY, AT_ONCE = 1 << 16, 1 << 13  # many items, and how many of them are then computed at once
TALL = 5  # rows for every column: with more, R stands for J wherever nothing else is asked of it
TRIANGLE = 1 << 14  # rows of which one factor is made at a time

Data = tuple[tuple[PyTree, Vector], ...]  # items and weights of every block


class Plan(NamedTuple):
    """Whether it is JJᵀ that is wanted, and how many columns (else rows) of J a piece has at most."""

    dual: bool
    piece: int
    whole: bool

    @staticmethod
    def of(rows: int, size: int, memory: float) -> "Plan":
        """For J with so many rows and columns, and so many bytes for it; pieces of one size."""
        dual = rows < size
        across, along = (rows, size) if dual else (size, rows)
        most = max(int(memory / (8 * COPIES * across)), 1)
        pieces = -(-along // most)
        return Plan(dual, -(-along // pieces), pieces == 1)


class Program:
    """The rows of some blocks and their derivatives, compiled once for any θ, items and weights.

    On the host a block is computed `at_once` items at a time, where that is given: another number of them
    then compiles nothing anew, and an equation of high order takes many seconds to compile.
    """

    def __init__(self, blocks: tuple[Block, ...], at_once: tuple[int | None, ...] = ()):
        functions = tuple(block.function for block in blocks)
        compiled = partial(jax.jit, compiler_options=OPTIONS)
        self.at_once = at_once or (None,) * len(blocks)
        self.alone = [compiled(partial(_of_block, function)) for function in functions]
        self.all_rows = compiled(partial(_rows, functions))
        self.all_whole = compiled(partial(_whole, functions))
        self.strip = compiled(partial(_strip, functions), static_argnums=3)
        self.push = compiled(partial(_pushed, functions))
        self.pull = compiled(partial(_pulled, functions))
        self.groups = [compiled(partial(_with_gradient, function)) for function in functions]

    def rows(self, theta: Vector, data: Data) -> Vector:
        """All rows."""
        if not self._is_in_parts:
            return self.all_rows(theta, data)
        parts = [self._parts(self.alone[k], k, theta, data[k]) for k in range(len(data))]
        return np.concatenate([np.asarray(rows) for part in parts for rows in part])

    def whole(self, theta: Vector, data: Data) -> tuple[Vector, Matrix]:
        """All rows, and all of J."""
        if not self._is_in_parts:
            return self.all_whole(theta, data)
        parts = [self._parts(self.groups[k], k, theta, data[k]) for k in range(len(data))]
        rows, gradients = zip(*itertools.chain(*parts), strict=True)
        return np.concatenate(rows), np.concatenate(gradients)

    def count(self, theta: Vector, data: Data) -> int:
        """How many rows there are."""
        return sum(
            len(weights) * _rows_each(program, theta, items, weights)
            for program, (items, weights) in zip(self.groups, data, strict=True)
        )

    @property
    def _is_in_parts(self) -> bool:
        return dense.on_host() and any(self.at_once)

    def _parts(self, program, block: int, theta: Vector, data) -> Iterator:
        """What the program says of all items of a block; the last part is filled up to its size."""
        items, weights = data
        total, count = len(weights), self.at_once[block] or len(weights)
        for start in range(0, total, count):
            which = np.arange(start, start + count) % total
            is_all = count == total
            part = items if is_all else jax.tree.map(lambda leaf, w=which: leaf[w], items)
            found = program(theta, part, weights if is_all else weights[which])
            kept = min(count, total - start)
            yield jax.tree.map(
                lambda leaf, k=kept: np.asarray(leaf)[: len(leaf) * k // count], found
            )


class Jacobian:
    """J at θ. `scale`, where there is one, multiplies its rows."""

    def __init__(self, program: Program, theta: Float[Array, " p"], data: Data, plan: Plan):
        self.program, self.theta, self.data, self.plan = program, theta, data, plan
        self.scale: Vector | None = None
        self.triangles: dict[int | None, Matrix] = {}  # once made: each takes all of J anew
        if plan.whole:
            rows, matrix = program.whole(theta, data)
            self.rows, self.matrix = dense.local(rows), dense.local(matrix)
        else:
            self.rows, self.matrix = dense.local(program.rows(theta, data)), None

    def scaled(self, scale: Vector | None) -> "Jacobian":
        """The same with rows times `scale`."""
        self.scale = None if scale is None else dense.local(scale)
        if self.scale is not None and self.matrix is not None:
            self.matrix = self.scale[:, None] * self.matrix
        return self

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.theta)

    def pieces(self) -> Iterator[tuple[slice, slice, Matrix]]:
        """(rows, columns, that part of J) one after the other."""
        if self.matrix is not None:
            yield slice(None), slice(None), self.matrix
            return
        for rows, columns, piece in self._strips() if self.plan.dual else self._groups():
            scale = None if self.scale is None else self.scale[rows, None]
            yield rows, columns, dense.local(piece) if scale is None else scale * piece

    def _strips(self) -> Iterator[tuple[slice, slice, Matrix]]:
        size, width = len(self.theta), self.plan.piece
        for start in range(0, size, width):
            first = min(start, size - width)
            strip = self.program.strip(self.theta, self.data, first, width)
            yield slice(None), slice(start, first + width), strip[:, start - first :]

    def _groups(self) -> Iterator[tuple[slice, slice, Matrix]]:
        begin = 0
        for program, (items, weights) in zip(self.program.groups, self.data, strict=True):
            each = _rows_each(program, self.theta, items, weights)
            count = max(min(self.plan.piece // each, len(weights)), 1)
            for start in range(0, len(weights), count):
                first = min(start, len(weights) - count)
                part = jax.tree.map(operator.itemgetter(slice(first, first + count)), items)
                _, group = program(self.theta, part, weights[first : first + count])
                group = group[(start - first) * each :]
                yield slice(begin, begin + len(group)), slice(None), group
                begin += len(group)

    def assembled(self) -> Matrix:
        """All of it."""
        if self.matrix is not None:
            return self.matrix
        parts = [np.asarray(piece) for _, _, piece in self.pieces()]
        return np.concatenate(parts, axis=1 if self.plan.dual else 0)

    def first(self, count: int) -> Matrix:
        """The first rows."""
        if self.matrix is not None:
            return self.matrix[:count]
        groups = itertools.takewhile(lambda part: part[0].start < count, self.pieces())
        return np.concatenate([np.asarray(piece) for _, _, piece in groups])[:count]

    def condensed(self) -> Matrix:
        """All of it; or R in its place, where it was not to be whole or is much longer than wide."""
        if self.plan.dual:
            return self.assembled()
        is_tall = self.shape[0] > TALL * self.shape[1]
        return self.triangle() if self.matrix is None or is_tall else self.matrix

    def triangle(self, count: int | None = None) -> Matrix:
        """R, upper triangular, with RᵀR = JᵀJ of the first rows, or of all; of no more than so many rows
        at a time, so that J is never whole. (By QR: see evidence.root.)"""
        if count in self.triangles:
            return self.triangles[count]
        if count is None and self.matrix is not None:
            self.triangles[None] = np.asarray(jnp.linalg.qr(jnp.asarray(self.matrix), mode="r"))
            return self.triangles[None]
        factor, begin = np.zeros((0, len(self.theta))), 0
        for _, _, piece in self.pieces():
            part = np.asarray(piece)[: None if count is None else max(count - begin, 0)]
            for start in range(0, len(part), TRIANGLE):
                stacked = np.concatenate([factor, part[start : start + TRIANGLE]])
                factor = dense.triangle(stacked)
            begin += len(part)
            if count is not None and begin >= count:
                break
        self.triangles[count] = factor
        return factor

    def last(self, count: int) -> Matrix:
        """The last columns."""
        if self.matrix is not None:
            return self.matrix[:, -count:]
        matrix = self.program.strip(self.theta, self.data, len(self.theta) - count, count)
        return dense.local(matrix if self.scale is None else self.scale[:, None] * matrix)

    def gram(self) -> Square:
        """JJᵀ or JᵀJ, as planned."""
        parts = (dense.gram(piece, dual=self.plan.dual) for _, _, piece in self.pieces())
        return functools.reduce(operator.add, parts)

    def times(self, vector: Vector) -> Vector:
        """J v."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ dense.local(vector))
        product = np.asarray(self.program.push(self.theta, self.data, jnp.asarray(vector)))
        return product if self.scale is None else np.asarray(self.scale) * product

    def transposed(self, vector: Vector) -> Vector:
        """Jᵀ v."""
        vector = dense.local(vector)
        if self.matrix is not None:
            return np.asarray(vector @ self.matrix)
        scaled = vector if self.scale is None else self.scale * vector
        return np.asarray(self.program.pull(self.theta, self.data, jnp.asarray(scaled)))


def _rows_each(program, theta, items, weights) -> int:
    """Rows that one item gives."""
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((1, *leaf.shape[1:]), leaf.dtype), items)
    weight = jax.ShapeDtypeStruct((1,), np.asarray(weights).dtype)
    return jax.eval_shape(program, theta, one, weight)[0].shape[0]


def _rows(functions, theta, data: Data) -> Float[Array, " rows"]:
    parts = zip(functions, data, strict=True)
    return jnp.concatenate([_of_block(function, theta, *part) for function, part in parts])


def _of_block(function, theta, items, weights) -> Float[Array, " rows"]:
    return (_each(partial(function, theta), items, theta) * weights[:, None]).reshape(-1)


def _pushed(functions, theta, data: Data, direction) -> Float[Array, " rows"]:
    return jax.jvp(lambda t: _rows(functions, t, data), (theta,), (direction,))[1]


def _pulled(functions, theta, data: Data, seed) -> Float[Array, " p"]:
    return jax.vjp(lambda t: _rows(functions, t, data), theta)[1](seed)[0]


def _whole(functions, theta, data: Data):
    parts = [_with_gradient(f, theta, *part) for f, part in zip(functions, data, strict=True)]
    return jnp.concatenate([r for r, _ in parts]), jnp.concatenate([j for _, j in parts])


def _strip(functions, theta, data: Data, start, width: int):
    """Columns `start` to `start + width` of J."""

    def cut(gradient):
        return jax.lax.dynamic_slice_in_dim(gradient, start, width)

    parts = [_with_gradient(f, theta, *part, cut) for f, part in zip(functions, data, strict=True)]
    return jnp.concatenate([j for _, j in parts])


def _with_gradient(function, theta, items, weights, cut=lambda gradient: gradient):
    """Rows and their gradients item by item: reverse mode, since θ is much longer than a row."""

    def one(item):
        item, weight = item
        rows, pull = jax.vjp(lambda t: weight * function(t, item), theta)
        return rows, jax.vmap(lambda seed: cut(pull(seed)[0]))(jnp.eye(len(rows)))

    rows, gradient = _each(one, (items, weights), theta)
    return rows.reshape(-1), gradient.reshape(-1, gradient.shape[-1])


def _each(function, items, theta):
    """The function of every item, some at a time where θ is long or items are many.

    Of many items nothing is kept to differentiate by but themselves: what a network computes on the way
    would take far more memory than the rows.
    """
    if len(theta) >= LONG:
        return jax.lax.map(function, items, batch_size=TOGETHER)
    if len(jax.tree.leaves(items)[0]) > MANY:
        return jax.lax.map(jax.checkpoint(function), items, batch_size=AT_ONCE)
    return jax.vmap(function)(items)
