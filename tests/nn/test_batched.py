"""Several trees as one: stacked, taken apart, and stored once where they agree."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.nn.batched import member, over_members, share, stack

SAME = np.array([7.0, np.nan])


def tree(k):
    return {"own": np.arange(3.0) + k, "same": SAME, "name": "u"}


def test_a_member_is_what_was_stacked():
    both = stack([tree(0), tree(5)])
    assert both["own"].shape == (2, 3)
    assert both["name"] == "u"
    for k, original in enumerate((tree(0), tree(5))):
        np.testing.assert_array_equal(member(both, k)["own"], original["own"])
        np.testing.assert_array_equal(member(both, k)["same"], original["same"])


def test_what_all_have_in_common_is_kept_once_even_where_it_is_nan():
    own, common = share(stack([tree(0), tree(5)]))
    assert own["same"] is None
    assert common["own"] is None
    np.testing.assert_array_equal(common["same"], SAME)
    np.testing.assert_array_equal(own["own"], [[0, 1, 2], [5, 6, 7]])


def test_a_function_of_every_member_sees_its_own_and_the_common():
    own, common = {"a": np.array([1.0, 2.0]), "b": None}, {"a": None, "b": np.array(10.0)}
    np.testing.assert_array_equal(over_members(lambda t: t["a"] + t["b"], own, common, 2), [11, 12])


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (({"a": 1.0}, {"b": 1.0}), "built alike, but for their weights."),
        (({"a": "sine"}, {"a": "tanh"}), "'sine' in the first is 'tanh' in another"),
    ],
)
def test_trees_that_differ_in_more_than_arrays_are_refused(trees, message):
    with pytest.raises(InputError, match=message):
        stack(trees)
