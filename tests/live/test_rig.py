"""Rigs, and pretrained networks as rigs."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import jax
import jax.numpy as jnp
import live_rigs
import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.families.networks.pretrained import FOLDER
from pgt.live.rig import PretrainedRig, grid_shape, has_instants, nodes, open_model, places


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


class Family:
    """Two fields that are a · x + t and x · t."""

    fields = ("u", "v")
    ranges: ClassVar = {"a": (1.0, 4.0), "b": (-1.0, 1.0)}
    axes: ClassVar = {
        "x": np.linspace(0, 1, 5),
        "y": np.linspace(0, 1, 4),
        "t": np.linspace(0, 2, 3),
    }

    def draw(self, key, coefficients=None):
        assert jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)
        x, y, t = jnp.meshgrid(*self.axes.values(), indexing="ij")
        return SimpleNamespace(values=jnp.stack([coefficients["a"] * x + t, x * y * t], -1))

    def nearest_coefficients(self, coefficients):
        return {"a": round(coefficients["a"]), "b": 0.0}


class Network:
    """Answers with the coordinates it is asked at."""

    family = Family()
    reads = ("u",)

    def answer(self, points, values, coefficients, at):
        self.asked = points, values, coefficients
        mean = jnp.asarray(at[:, :2])
        return mean, mean - 1, mean + 1, ["sensors: fewer than it was trained on"]


def test_coefficients_begin_in_the_middle():
    rig = PretrainedRig(Network(), Family())
    assert [part.value for part in rig.coefficients] == [2.0, 0.0]
    assert [part.name for part in rig.coefficients] == ["a", "b"]
    assert rig.fields == ("u", "v")
    assert rig.reads == ("u",)
    assert rig.nearest_coefficients({"a": 2.9, "b": 0.1}) == {"a": 3, "b": 0.0}


def test_the_truth_is_that_of_the_family():
    truth = PretrainedRig(Network(), Family()).truth({"a": 3.0, "b": 0.0}, 7)
    assert truth.shape == (5, 4, 3, 2)
    assert truth[4, 0, 2, 0] == 5.0


def test_answers_lie_on_the_grid():
    network = Network()
    rig = PretrainedRig(network, Family())
    points, values = np.full((3, 3), 0.5), np.full((3, 2), 2.0)
    whole = rig.answer(points, values, {"a": 3.0, "b": 0.0})
    assert whole.values.shape == whole.low.shape == whole.high.shape == (5, 4, 3, 2)
    assert np.allclose(whole.values[2, 3, 1], [0.5, 1.0])
    assert np.allclose(whole.high - whole.low, 2)
    assert whole.outside == ["sensors: fewer than it was trained on"]
    assert rig.answer(points, values, {"a": 3.0, "b": 0.0}, 1).values.shape == (5, 4, 2)
    asked, read, coefficients = network.asked
    assert asked.shape == (3, 3)
    assert read.shape == (3, 2)
    assert coefficients == {"a": 3.0, "b": 0.0}


def test_what_is_no_model(tmp_path):
    with pytest.raises(InputError, match="is a folder; the live page wants the file"):
        open_model(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        open_model(tmp_path / "heat.safetensors")


def test_a_file_becomes_a_rig(tmp_path):
    shutil.copy(FOLDER / "heat.safetensors", tmp_path / "mine.safetensors")
    rig = open_model(tmp_path / "mine.safetensors")
    assert rig.fields == ("u",)
    coefficients = {"diffusivity": 0.02}
    truth = rig.truth(coefficients, 1)
    x, t = (rig.axes[axis] for axis in "xt")
    points = np.stack([x[[1, 5, 9, 3, 7, 4]], t[[2, 4, 6, 8, 1, 3]]], axis=-1)
    values = truth[[1, 5, 9, 3, 7, 4], [2, 4, 6, 8, 1, 3]]
    found = rig.answer(points, values, coefficients)
    assert found.values.shape == truth.shape
    assert (found.low <= found.high).all()


def test_a_network_that_comes_with_the_library_is_called_by_name():
    rig = open_model(Path("heat"))
    assert rig.coefficients[0].name == "diffusivity"
    low, high = rig.family.ranges["diffusivity"]
    assert rig.coefficients[0].low < low < high < rig.coefficients[0].high
