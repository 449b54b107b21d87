"""float32 by default, float64 where it was asked for.

Unless told otherwise, a graphics card multiplies matrices of float32 with ten bits of their fractions. A
field is then wrong by a few ten-thousandths, whether it was trained so or is only asked so.
"""

import contextlib
from collections.abc import Iterator

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


@contextlib.contextmanager
def precision(double: bool) -> Iterator[None]:
    """Inside, JAX keeps float64 where `double`, and all digits of float32 in products of matrices."""
    wide = jax.enable_x64(True) if double else contextlib.nullcontext()
    with jax.default_matmul_precision("highest"), wide:
        yield
