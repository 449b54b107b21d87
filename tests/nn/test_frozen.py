"""What training may change: inexact arrays, but none inside a frozen module."""

import equinox as eqx
import jax
import numpy as np

from pgt.nn.frozen import Frozen, combine, count_parameters, is_frozen, partition


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


def test_parameters_are_counted_without_what_is_frozen():
    assert count_parameters(TREE) == 6
    assert count_parameters(TREE["scales"]) == 0


def test_a_frozen_module_is_known_by_its_class():
    assert is_frozen(TREE["scales"])
    assert not is_frozen(TREE["weight"])
