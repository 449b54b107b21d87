"""The tanh network: its formula, and how Glorot & Bengio start it."""

import numpy as np
import pytest
from coordinate_networks import POINTS, SCALING, dense, shaken, values

import pgt
from pgt.models.pinn import PINN


def test_pinn_formula():
    model = shaken(PINN(SCALING, width=10, layers=3))
    expected = dense(model.network.layers, np.tanh, POINTS)
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)


def test_glorot_start():
    network = PINN(SCALING, width=200, layers=3).network.layers
    assert np.std(network.first_weight) == pytest.approx(np.sqrt(2 / 202), rel=0.1)
    assert np.std(network.hidden_weight) == pytest.approx(np.sqrt(2 / 400), rel=0.02)
    assert not np.any(network.hidden_bias)


def test_a_network_without_neurons_is_refused():
    with pytest.raises(pgt.InputError, match="width must be a whole number from 1 up"):
        PINN(SCALING, width=0)
