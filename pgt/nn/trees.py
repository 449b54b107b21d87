"""Trees of arrays: the arrays that training may change, their precision, and compiled functions."""

import contextlib
from collections.abc import Callable, Iterator

import equinox as eqx
import jax
import jax.numpy as jnp


class Frozen(eqx.Module):
    """The base of modules whose arrays describe the problem and are never trained."""


def is_frozen(node) -> bool:
    return isinstance(node, Frozen)


def partition(tree):
    """The tree split into the arrays that are trained and everything else."""
    return eqx.partition(
        tree, lambda n: not is_frozen(n) and eqx.is_inexact_array(n), is_leaf=is_frozen
    )


def combine(trained, fixed):
    """The inverse of `partition`."""
    return eqx.combine(trained, fixed, is_leaf=is_frozen)


def count_parameters(tree) -> int:
    """The number of numbers that training can change."""
    return sum(leaf.size for leaf in jax.tree.leaves(partition(tree)[0]))


# ------------------------------------------------------------------------------- precision

# The default is float32. A GPU multiplies float32 matrices with only ten bits of their fractions unless
# it is set otherwise; fields trained or evaluated so are wrong by a few ten-thousandths.


def is_double(tree) -> bool:
    """Whether a model was trained or polished in float64."""
    leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))
    return any(leaf.dtype == jnp.float64 for leaf in leaves)


def cast(tree, dtype):
    """The tree with all floating-point arrays converted to `dtype`."""
    return jax.tree.map(lambda a: a.astype(dtype) if eqx.is_inexact_array(a) else a, tree)


@contextlib.contextmanager
def precision(double: bool) -> Iterator[None]:
    """A context in which JAX uses float64 if `double`, and full float32 precision in matrix products."""
    x64 = jax.enable_x64(True) if double else contextlib.nullcontext()
    with jax.default_matmul_precision("highest"), x64:
        yield


# ------------------------------------------------------------------------------- compilation

# `compiled` replaces `equinox.filter_jit` for programs that the host starts. XLA's options hold for a
# whole program, so a function compiled here cannot be called inside another compiled function.
#
# Triton's matrix products are disabled, because XLA compiles and times many variants of each; without
# them a GPU program compiles three times faster and runs as fast. Products of readings and of residual
# points with the same weights are not merged, because concatenating and splitting the rows costs more
# than a second product.
OPTIONS = {"xla_gpu_enable_triton_gemm": False, "xla_gpu_dot_merger_threshold_mb": 0}


def compiled(function: Callable) -> Callable:
    """The function, compiled for each combination of types and shapes of its arguments.

    >>> compiled(lambda x: x + 1)(1.0)
    2.0
    """
    return eqx.filter_jit(function, compiler_options=OPTIONS)  # pyright: ignore[reportCallIssue]
