"""A pretrained network behind the page: what it is asked, and files that are none."""

import sys
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.live.pretrained import PretrainedRig, open_model, padded


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


class Network:
    """Answers with the coordinates it is asked at."""

    family = Family()

    def answer(self, points, values, coefficients, at):
        self.asked = points, values, coefficients
        mean = jnp.asarray(at[:, :2])
        return mean, mean - 1, mean + 1, ["sensors: fewer than it was trained on"]


def test_coefficients_begin_in_the_middle():
    rig = PretrainedRig(Network(), Family())
    assert [part.value for part in rig.coefficients] == [2.0, 0.0]
    assert [part.name for part in rig.coefficients] == ["a", "b"]
    assert rig.fields == ("u", "v")


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
    assert asked.shape == (16, 3)
    assert np.isfinite(asked).all()
    assert np.isfinite(read[:3]).all()
    assert np.isnan(read[3:]).all()
    assert coefficients == {"a": 3.0, "b": 0.0}


@pytest.mark.parametrize(("count", "rows"), [(1, 16), (16, 16), (17, 32), (64, 64), (65, 128)])
def test_few_sizes_are_compiled(count, rows):
    points, values = padded(np.zeros((count, 2)), np.ones((count, 1)))
    assert len(points) == len(values) == rows
    assert np.isfinite(values).sum() == count


def test_what_is_no_model(tmp_path):
    with pytest.raises(InputError, match="is a folder; the live page wants the file"):
        open_model(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        open_model(tmp_path / "heat.safetensors")


def test_a_file_becomes_a_rig(tmp_path, monkeypatch):
    file = tmp_path / "heat.safetensors"
    file.touch()
    monkeypatch.setitem(sys.modules, "pgt.families", None)
    with pytest.raises(InputError, match="reads no pretrained models"):
        open_model(file)
    families = ModuleType("pgt.families")
    families.Pretrained = SimpleNamespace(load=lambda path: Network() if path == file else None)
    monkeypatch.setitem(sys.modules, "pgt.families", families)
    assert open_model(file).fields == ("u", "v")
