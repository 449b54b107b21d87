"""The axes of the picture, and the nodes of a grid."""

import live_rigs
import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.live.source import grid_shape, has_instants, nodes, places


def test_what_is_drawn():
    assert (places("xt"), has_instants("xt")) == (["t", "x"], False)
    assert (places("xyt"), has_instants("xyt")) == (["x", "y"], True)
    assert (places("xy"), has_instants("xy")) == (["x", "y"], False)


@pytest.mark.parametrize("axes", ["x", "t", "xyz", "xyzt"])
def test_what_cannot_be_drawn(axes):
    with pytest.raises(InputError, match="x and t, x and y, or x, y and t"):
        places(axes)


def test_nodes_run_as_a_grid_does():
    rig = live_rigs.plate()
    shape = grid_shape(rig.axes)
    whole = nodes(rig.axes).reshape(*shape, 3)
    assert shape == (25, 21, 11)
    assert np.array_equal(whole[3, 4, 5], [rig.axes["x"][3], rig.axes["y"][4], rig.axes["t"][5]])
    assert np.array_equal(nodes(rig.axes, 5).reshape(25, 21, 3), whole[:, :, 5])
    assert grid_shape(rig.axes, 5) == (25, 21)


def test_the_rigs_of_these_tests_find_the_truth():
    rig = live_rigs.plate()
    truth = rig.truth({"diffusivity": 0.05}, 3)
    points, values = nodes(rig.axes)[::40], truth.reshape(-1, 1)[::40]
    found = rig.answer(points, values, {"diffusivity": 0.05}, 4)
    assert np.allclose(found.values, truth[:, :, 4], atol=1e-3)
    assert (found.low <= truth[:, :, 4]).all()
    assert (found.high >= truth[:, :, 4]).all()
