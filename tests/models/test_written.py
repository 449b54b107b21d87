"""What a writer writes."""

import jax.numpy as jnp
import numpy as np

from pgt.models.written import WrittenNetwork
from pgt.nn.draw import Draw
from pgt.nn.embedding import MovingEmbedding
from pgt.nn.modes import Modes
from pgt.nn.siren import first_weights, hidden_weights, phases
from pgt.nn.stack import Stack


def network(fields=2, width=5, drift=0.4):
    draw, zeros = Draw(0), jnp.zeros
    layers = Stack(
        first_weights(3, width, 6.0, draw), phases(width, draw), hidden_weights(1, width, draw),
        zeros((1, width)), zeros((fields, width)), zeros(fields), "sine",
    )  # fmt: skip
    waves = Modes((True, False), numbers=1, count=2, swings=False)(zeros(1))
    moving = MovingEmbedding((True, False), jnp.array([drift, 0.0]))
    return WrittenNetwork(moving, layers, waves, zeros((fields, 4)))


def test_the_field_is_so_much_of_each_function():
    readout = jnp.asarray(np.random.default_rng(0).normal(size=(2, 10)), jnp.float32)
    written, z = network().with_readout(readout), jnp.array([0.3, -0.2])
    assert written.features(z).shape == (10,)
    np.testing.assert_allclose(
        written.decode((), z), readout @ written.features(z), rtol=1e-4, atol=1e-5
    )


def test_its_waves_go_along_with_what_moves():
    written = network(drift=0.4)
    at, later = written.features(jnp.array([0.1, -0.5])), written.features(jnp.array([0.5, 0.5]))
    left = np.exp(-np.asarray(written.waves.fading))
    np.testing.assert_allclose(later[5:9], np.tile(left, 2) * at[5:9], rtol=1e-4, atol=1e-6)


def test_all_that_says_how_much_is_tunable():
    written = network()
    layers, amounts = written.tunable()
    assert layers is written.layers
    assert amounts is written.amounts
