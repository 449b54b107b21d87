"""The sine network: its formula, and the statistics its paper promises."""

import numpy as np
import pytest
from coordinate_networks import POINTS, SCALING, dense, physical, shaken, unit, values
from scipy import stats

import pgt
from pgt.models.siren import SIREN


def test_siren_formula():
    model = shaken(SIREN(SCALING, width=10, layers=3, frequency=8.0))
    expected = dense(model.network.layers, np.sin, POINTS)
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("frequency", [8.0, 30.0])
def test_siren_statistics(frequency):
    """Sitzmann et al. 2020, theorem 1.8: before each sine N(0, 1), behind it arcsine, at any depth."""
    model = SIREN(SCALING, width=512, layers=7, frequency=frequency)
    n = model.network.layers
    points = np.random.default_rng(0).uniform((0, 1), (2, 4), (200, 2))
    h = np.sin(unit(points) @ n.first_weight.T + n.first_bias)
    assert stats.kstest(h[::10].ravel(), stats.arcsine(-1, 2).cdf).statistic < 0.03
    for weight, bias in zip(n.hidden_weight, n.hidden_bias, strict=True):
        before = h @ weight.T + bias
        # The sine of N(0, 1) varies a little less than an arcsine: the deviation settles at 0.9.
        assert 0.85 < np.std(before) < 1.05
        assert stats.kstest(before.ravel(), stats.norm(0, np.std(before)).cdf).statistic < 0.02
        h = np.sin(before)
        assert stats.kstest(h.ravel(), stats.arcsine(-1, 2).cdf).statistic < 0.08
        # Crowded at ±1, where 20 % of an arcsine lies and 5 % of a uniform variable.
        assert 0.11 < np.mean(np.abs(h) > 0.95) < 0.23
    np.testing.assert_allclose(
        values(model, points)[:, 0], physical(h @ n.readout.T)[:, 0], rtol=1e-3
    )


def test_siren_frequency_is_the_start_of_the_first_layer():
    slow, fast = (SIREN(SCALING, frequency=f, seed=2).network.layers for f in (6.0, 30.0))
    np.testing.assert_allclose(5 * slow.first_weight, fast.first_weight, rtol=1e-5)
    np.testing.assert_array_equal(slow.hidden_weight, fast.hidden_weight)
    np.testing.assert_allclose(slow.readout, 5 * fast.readout, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 0}, "must be a whole number from 1 up"),
        ({"frequency": 0.0}, "frequency must be a number above 0"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(pgt.InputError, match=message):
        SIREN(SCALING, **options)
