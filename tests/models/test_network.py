"""The contract of a network, on small ones: what it is given, and what it need not have."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few_readings import DOMAINS, POINTS, field, readings

import pgt
from pgt.models.network import AbstractNetwork, AbstractTwoStageNetwork, UnitReadings


class Mean(AbstractNetwork):
    """The mean of the visible readings, everywhere."""

    offset: jax.Array

    def encode(self, readings):
        count = jnp.maximum(jnp.sum(readings.mask, axis=0), 1)
        return jnp.sum(readings.values, axis=0) / count

    def decode(self, context, z):
        return context + self.offset

    def tunable(self):
        return self.offset


class Tilted(AbstractTwoStageNetwork):
    """A mean that is looked at far from the origin, and tilted."""

    slope: jax.Array

    def encode(self, readings):
        return jnp.mean(readings.values, axis=0)

    def look(self, context, z):
        return context * jnp.sum(z**2)

    def answer(self, seen, z):
        return seen + self.slope @ z

    def tunable(self):
        return self.slope


def unit_readings():
    values = jnp.asarray([[1.0, 0.0], [0.0, 0.0], [3.0, 2.0]])
    mask = jnp.asarray([[True, False], [False, False], [True, True]])
    points = jnp.zeros((3, 2))
    return UnitReadings(points, values, mask, lambda r, s: jnp.zeros((1, len(r), len(s))))


def test_a_reading_of_nothing_is_not_visible():
    np.testing.assert_array_equal(unit_readings().visible, [True, False, True])


def test_a_network_needs_no_more_than_three_methods():
    network = Mean(jnp.array([0.5, -1.0]))
    np.testing.assert_allclose(network.encode(unit_readings()), [2.0, 2.0])
    scaling = pgt.Scaling.fit(readings(), DOMAINS["open"])
    model = pgt.extend.Frame(scaling, network)
    # The mean of standardised readings is 0.
    expected = scaling.mean + scaling.spread * np.array([0.5, -1.0], np.float32)
    np.testing.assert_allclose(
        field(model, readings(), POINTS), np.tile(expected, (5, 1)), rtol=1e-5
    )
    assert model.halves() is None
    assert not model.predicts_variance
    with pytest.raises(pgt.InputError, match=r"Mean predicts no variance.*variance_head=True"):
        network.log_variance(None, jnp.zeros(2))


def test_two_stages_are_one_decode():
    network = Tilted(jnp.array([[1.0, 2.0], [0.0, -1.0]]))
    context, z = jnp.array([1.0, 10.0]), jnp.array([0.5, -1.0])
    np.testing.assert_allclose(network.decode(context, z), [1.25 - 1.5, 12.5 + 1.0])
    model = pgt.extend.Frame(pgt.Scaling.fit(readings(), DOMAINS["open"]), network)
    look, answer = model.halves()
    context, z = model.encode(readings()), POINTS[0]
    np.testing.assert_allclose(
        answer(look(context, z), z), model.decode(context, z), rtol=1e-6, atol=1e-6
    )


def test_readings_are_a_tree_that_can_be_compiled():
    run = eqx.filter_jit(lambda network, readings: network.encode(readings))
    np.testing.assert_allclose(run(Mean(jnp.zeros(2)), unit_readings()), [2.0, 2.0])
