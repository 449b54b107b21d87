"""What training may change: inexact arrays, but none inside a frozen module."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.nn.trees import (
    Frozen,
    cast,
    combine,
    is_double,
    partition,
    precision,
)


class Scales(Frozen):
    middle: np.ndarray


TREE = {
    "weight": np.ones((2, 3)),
    "scales": Scales(np.ones(5)),
    "count": np.arange(4),
    "name": "u",
    "slope": 0.5,
}


def test_only_inexact_arrays_outside_frozen_modules_are_trained():
    trained, fixed = partition(TREE)
    assert [leaf.shape for leaf in jax.tree.leaves(trained)] == [(2, 3)]
    assert fixed["weight"] is None
    assert fixed["scales"] is TREE["scales"]
    assert (fixed["name"], fixed["slope"]) == ("u", 0.5)


def test_combine_undoes_partition():
    assert eqx.tree_equal(combine(*partition(TREE)), TREE)


# ------------------------------------------------------------------------------- precision


def test_cast_changes_floating_point_arrays_and_nothing_else():
    tree = {"jax": jnp.ones(2), "numpy": np.ones(2, np.float32), "count": np.arange(2), "name": "u"}
    assert not is_double(tree)
    with jax.enable_x64(True):
        double = cast(tree, np.float64)
    assert is_double(double)
    assert double["jax"].dtype == double["numpy"].dtype == np.float64
    assert double["count"] is tree["count"]
    assert double["name"] == "u"


def test_products_of_matrices_keep_all_digits_of_single_precision():
    """A graphics card would round what it multiplies to eleven bits; the compiler is told not to."""
    with precision(False):
        traced = jax.make_jaxpr(lambda a: a @ a)(jnp.ones((2, 2)))
    (product,) = traced.eqns
    assert product.params["precision"] == (jax.lax.Precision.HIGHEST, jax.lax.Precision.HIGHEST)
