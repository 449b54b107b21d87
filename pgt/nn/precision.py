"""float32 by default, float64 where it was asked for."""

import contextlib

import equinox as eqx
import jax
import jax.numpy as jnp


def is_double(tree) -> bool:
    """Whether a model was trained or polished in float64."""
    leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))
    return any(leaf.dtype == jnp.float64 for leaf in leaves)


def cast(tree, dtype):
    """The same tree with every floating-point array in `dtype`."""
    return jax.tree.map(lambda a: a.astype(dtype) if eqx.is_inexact_array(a) else a, tree)


def precision(double: bool) -> contextlib.AbstractContextManager:
    """Inside, JAX keeps float64 where `double`."""
    return jax.enable_x64(True) if double else contextlib.nullcontext()
