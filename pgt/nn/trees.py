"""Trees of arrays: what training may change, their precision, and programs compiled for them."""

import contextlib
from collections.abc import Callable, Iterator

import equinox as eqx
import jax
import jax.numpy as jnp


class Frozen(eqx.Module):
    """Base of modules whose arrays describe the problem rather than the model."""


def is_frozen(node) -> bool:
    return isinstance(node, Frozen)


def partition(tree):
    """Split a tree into the arrays that are trained and everything else."""
    return eqx.partition(
        tree, lambda n: not is_frozen(n) and eqx.is_inexact_array(n), is_leaf=is_frozen
    )


def combine(trained, fixed):
    """The inverse of `partition`."""
    return eqx.combine(trained, fixed, is_leaf=is_frozen)


def count_parameters(tree) -> int:
    """How many numbers training can change."""
    return sum(leaf.size for leaf in jax.tree.leaves(partition(tree)[0]))


# ------------------------------------------------------------------------------- precision

# float32 by default, float64 where it was asked for.
#
# Unless told otherwise, a graphics card multiplies matrices of float32 with ten bits of their
# fractions. A field is then wrong by a few ten-thousandths, whether it was trained so or is only
# asked so.


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


# ------------------------------------------------------------------------------- compilation

# How programs are compiled that the host starts: `compiled` stands where `equinox.filter_jit`
# would.
#
# Options are those of a whole program: what is compiled so cannot be part of another one.


# Without Triton's matrix products a GPU program compiles three times faster and runs as fast: many kinds
# of each would be compiled and timed, and with all digits of float32 that took a minute for what a fit is
# asked at once. Products of readings and of residual points with the same weights are not to be made one:
# putting the rows together and taking them apart again costs more than a second product.
OPTIONS = {"xla_gpu_enable_triton_gemm": False, "xla_gpu_dot_merger_threshold_mb": 0}


def compiled(function: Callable) -> Callable:
    """The function, compiled for every kind of its arguments.

    >>> compiled(lambda x: x + 1)(1.0)
    2.0
    """
    return eqx.filter_jit(function, compiler_options=OPTIONS)  # pyright: ignore[reportCallIssue]
