"""Starting weights of a sine network: within the bounds of Sitzmann et al., and up to them."""

import numpy as np
import pytest

from pgt.nn.draw import Draw
from pgt.nn.sine_layers import first_weights, hidden_weights, phases


def assert_uniform(array, bound):
    assert 0.97 * bound < np.abs(array).max() <= bound * (1 + 1e-6)
    assert np.std(array) == pytest.approx(bound / np.sqrt(3), rel=0.1)


@pytest.mark.parametrize("inputs", [1, 3])
def test_first_weights_hold_the_frequency_shared_among_the_inputs(inputs):
    weights = first_weights(inputs, 400, 30.0, Draw(0))
    assert weights.shape == (400, inputs)
    assert_uniform(weights, 30.0 / inputs)


def test_hidden_weights_keep_the_variance_of_an_arcsine():
    weights = hidden_weights(2, 60, Draw(0))
    assert weights.shape == (2, 60, 60)
    assert_uniform(weights, np.sqrt(6 / 60))
    # width · var(w) · var(sine) with var(sine) = 1/2 is the variance before the next sine.
    assert 60 * np.var(weights) / 2 == pytest.approx(1, rel=0.05)


def test_every_phase_is_present():
    drawn = np.asarray(phases(1000, Draw(0)))
    assert_uniform(drawn, np.pi)
    assert np.histogram(drawn, bins=8, range=(-np.pi, np.pi))[0].min() > 80
