"""Working readings have the slope and the curvature of the likelihood that they stand for."""

import numpy as np
import pytest
import scipy.stats

import pgt
from pgt.data.sensors import working_readings


def slope_and_curvature(log_density, at, step):
    """Of the logarithm of a density in the field, by central differences."""
    low, middle, high = (log_density(at + k * step) for k in (-1, 0, 1))
    return (high - low) / (2 * step), (high - 2 * middle + low) / step**2


def of_working(working, at):
    precision = working.sigma**-2.0
    return precision * (working.values - at), -precision


@pytest.mark.parametrize("field", [0.4, 1.0, 1.7, 3.0])
@pytest.mark.parametrize(("side", "limit"), [("below", 1.2), ("above", 0.9)])
def test_a_reading_at_a_limit_has_the_likelihood_of_a_normal_tail(field, side, limit):
    sensors, sigma, at = pgt.Sensors(**{side: limit}), 0.5, np.array([field])
    tail = scipy.stats.norm.logcdf if side == "below" else scipy.stats.norm.logsf
    expected = slope_and_curvature(lambda u: tail(limit, u, sigma), at, 1e-4)
    found = working_readings(sensors, np.array([limit]), at, np.array([sigma]))
    np.testing.assert_allclose(of_working(found, at), expected, rtol=1e-4, atol=1e-5)


def test_readings_within_the_limits_are_unchanged():
    sensors, values = pgt.Sensors(below=0.0, above=5.0), np.array([0.1, 4.9])
    found = working_readings(sensors, values, np.ones(2), np.full(2, 0.3))
    np.testing.assert_array_equal(found, [values, [0.3, 0.3]])


def test_counts_have_the_slope_of_a_poisson_distribution_and_its_information():
    counts, at = np.array([7.0, 30.0]), np.array([9.0, 28.0])
    expected, _ = slope_and_curvature(lambda u: scipy.stats.poisson.logpmf(counts, u), at, 1e-4)
    found = working_readings(pgt.Sensors(noise="counts"), counts, at, np.zeros(2))
    slope, curvature = of_working(found, at)
    np.testing.assert_allclose(slope, expected, rtol=1e-6)
    np.testing.assert_allclose(-curvature, 1 / at)  # the expected curvature, Fisher's information


def test_log_normal_readings_have_the_slope_of_their_distribution():
    values, at, sigma = np.array([1.0, 2.5]), np.array([1.3, 2.0]), 0.2
    expected, _ = slope_and_curvature(
        lambda u: scipy.stats.lognorm.logpdf(values, sigma, scale=u), at, 1e-5
    )
    found = working_readings(
        pgt.Sensors(noise="lognormal", relative=sigma), values, at, np.zeros(2)
    )
    np.testing.assert_allclose(of_working(found, at)[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found.sigma, sigma * at)


def test_relative_noise_grows_with_the_field():
    found = working_readings(
        pgt.Sensors(relative=0.1), np.zeros(2), np.array([3.0, -40.0]), np.array([0.4, 0.0])
    )
    np.testing.assert_allclose(found.sigma, [0.5, 4.0])


@pytest.mark.parametrize(
    ("sensors", "value", "message"),
    [
        ({"noise": "lognormal"}, -1.0, "not positive"),
        ({"noise": "counts"}, 1.5, "not whole numbers"),
        ({"noise": "counts"}, -1.0, "not whole numbers"),
    ],
)
def test_readings_that_cannot_have_the_noise_are_refused(sensors, value, message):
    with pytest.raises(pgt.InputError, match=message):
        pgt.Observations.from_arrays(
            {"x": [0.0, 1.0]}, {"u": [1.0, value]}, sensors=pgt.Sensors(**sensors)
        )


def test_limits_in_the_wrong_order_are_refused():
    with pytest.raises(pgt.InputError, match="below the upper one"):
        pgt.Sensors(below=2.0, above=1.0)
