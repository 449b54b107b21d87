"""What training may change, and what it must leave alone."""

import equinox as eqx
import jax


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
