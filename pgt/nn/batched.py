"""Ensembles: several trees of equal structure stacked as one tree whose arrays have a leading axis.

Arrays that are equal in all members are kept once (`share`), so that `vmap` computes with them once.
"""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from pgt.core.errors import InputError


def stack(trees: Sequence):
    """The stacked tree: its arrays have one row per tree, and all else must be equal in all trees.

    >>> both = stack([{"weight": np.zeros(3)}, {"weight": np.ones(3)}])
    >>> both["weight"].shape, member(both, 1)["weight"].tolist()
    ((2, 3), [1.0, 1.0, 1.0])
    """
    structure, shapes = jax.tree.structure(trees[0]), _shapes(trees[0])
    if any(jax.tree.structure(t) != structure or _shapes(t) != shapes for t in trees):
        raise InputError("the members of an ensemble must be built alike, but for their weights.")
    return jax.tree.map(_stack_leaves, *trees)


def member(stacked, index: int):
    """The tree of this index among the stacked ones."""
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, stacked)


def share(stacked) -> tuple[PyTree, PyTree]:
    """The arrays whose rows differ, and the rest with one row of each array whose rows are equal.

    `vmap` over the first part then computes with the common part once.
    """
    differs = jax.tree.map(lambda leaf: eqx.is_array(leaf) and not _is_repeated(leaf), stacked)
    distinct, rest = eqx.partition(stacked, differs)
    return distinct, member(rest, 0)


def spread(distinct, common, count: int):
    """The inverse of `share`: a stacked tree with `count` rows in all arrays."""
    return eqx.combine(distinct, repeat(common, count))


def repeat(tree, count: int):
    """A stack of `count` equal trees."""

    def leaf(array):
        if not eqx.is_array(array):
            return array
        library = np if isinstance(array, np.ndarray) else jnp
        return library.broadcast_to(array, (count, *array.shape))

    return jax.tree.map(leaf, tree)


def over_members(function: Callable, distinct, common, count: int):
    """`function` of each member, mapped only over the arrays that differ; it compiles inside `jit`."""
    return jax.vmap(lambda part: function(eqx.combine(part, common)), axis_size=count)(distinct)


def _shapes(tree) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in jax.tree.leaves(tree) if eqx.is_array(leaf)]


def _stack_leaves(*leaves):
    if all(isinstance(leaf, np.ndarray) for leaf in leaves):
        return np.stack(leaves)
    if eqx.is_array(leaves[0]):
        return jnp.stack([jnp.asarray(leaf) for leaf in leaves])
    if any(leaf != leaves[0] for leaf in leaves):
        raise InputError(
            f"the members of an ensemble must be built alike, but for their weights: {leaves[0]!r} "
            f"in the first is {next(leaf for leaf in leaves if leaf != leaves[0])!r} in another."
        )
    return leaves[0]


def _is_repeated(leaf) -> bool:
    rows = np.asarray(leaf)
    return bool(
        np.array_equal(
            rows, np.broadcast_to(rows[:1], rows.shape), equal_nan=rows.dtype.kind in "fc"
        )
    )
