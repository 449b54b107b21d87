"""Dense layers on a coordinate, by hand and with a part missing."""

import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.stack import Stack


def small(hidden, activation):
    random = np.random.default_rng(0)
    shapes = ((3, 2), (3,), (hidden, 3, 3), (hidden, 3), (2, 3), (2,))
    arrays = (jnp.asarray(random.normal(size=shape), jnp.float32) for shape in shapes)
    return Stack(*arrays, activation)


@pytest.mark.parametrize(("activation", "function"), [("tanh", np.tanh), ("sine", np.sin)])
def test_two_hidden_layers_are_the_formula(activation, function):
    layers, z = small(2, activation), np.array([0.3, -0.7], np.float32)
    h = function(np.asarray(layers.first_weight) @ z + layers.first_bias)
    h = function(np.asarray(layers.hidden_weight[0]) @ h + layers.hidden_bias[0])
    h = function(np.asarray(layers.hidden_weight[1]) @ h + layers.hidden_bias[1])
    expected = np.asarray(layers.readout) @ h + layers.offset
    np.testing.assert_allclose(layers(jnp.asarray(z)), expected, rtol=1e-4, atol=1e-5)


def test_without_hidden_layers_the_first_is_read_out():
    layers = small(0, "tanh")
    expected = np.asarray(layers.readout) @ np.tanh(layers.first_bias) + layers.offset
    np.testing.assert_allclose(layers(jnp.zeros(2)), expected, rtol=1e-5)


def test_the_readout_is_linear():
    layers = Stack(
        first_weight=jnp.array([[1.0]]),
        first_bias=jnp.array([0.0]),
        hidden_weight=jnp.zeros((0, 1, 1)),
        hidden_bias=jnp.zeros((0, 1)),
        readout=jnp.array([[100.0]]),
        offset=jnp.array([-1.0]),
        activation="sine",
    )
    assert layers(jnp.array([np.pi / 2])).tolist() == pytest.approx([99.0])
