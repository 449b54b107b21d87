"""Errors at readings that were not fitted, and interpolation beside them."""

import numpy as np
import pytest

from pgt.data import Domain, Observations
from pgt.uncertainty.held_out import (
    HeldOutPredictions,
    held_out_errors,
    interpolate_held_out,
    left_out_as_held_out,
)

NAN = float("nan")
LINE = Domain(x=(0, 1))


def readings(u, **more):
    return Observations.from_arrays({"x": np.linspace(0, 1, len(u))}, {"u": u, **more})


def test_errors_are_relative_to_size_and_to_spread():
    truth = readings([3.0, 4.0, NAN], v=[1.0, NAN, NAN])
    said = np.array([[3.0, 1.5], [4.5, NAN], [NAN, NAN]])
    simple = np.full((3, 2), 3.0)
    found = held_out_errors(HeldOutPredictions(truth, said, simple), {"u": 0.25, "v": 0.0})
    assert found["u"].interpolated_relative == pytest.approx(0.2)
    assert found["u"].interpolated_of_spread == pytest.approx(np.sqrt(0.5) / 0.25)
    assert (found["u"].readings, found["v"].readings) == (2, 1)
    assert found["u"].rmse == pytest.approx(np.sqrt(0.125))
    assert found["u"].relative == pytest.approx(0.1)
    assert found["u"].of_spread == pytest.approx(np.sqrt(0.125) / 0.25)
    assert found["v"].of_spread is None


def test_interpolation_stands_beside_where_it_can():
    x = np.linspace(0, 1, 21)
    every = Observations.from_arrays({"x": x}, {"u": x**2})
    fitted, unseen = every.take(np.arange(21) % 4 != 1), every.take(np.arange(21) % 4 == 1)
    found = interpolate_held_out(fitted, unseen, LINE)
    np.testing.assert_allclose(found, unseen.values, atol=1e-2)
    assert interpolate_held_out(fitted, unseen.take(np.zeros(0, int)), LINE) is None
    assert np.isnan(interpolate_held_out(fitted.take([0]), unseen, LINE)).all()


@pytest.mark.parametrize(("sensors", "worse"), [(12, True), (6, False)])
def test_interpolation_is_not_shown_a_sensor_whose_readings_it_is_asked_for(sensors, worse):
    """Of many sensors each is predicted from the others, by whoever stands beside."""
    random = np.random.default_rng(0)
    x, t = np.repeat(random.uniform(size=sensors), 20), np.tile(np.linspace(0, 1, 20), sensors)
    u = np.repeat(random.normal(size=sensors), 20) + t  # a level of its own, which no other tells
    every = Observations.from_arrays({"x": x, "t": t}, {"u": u})
    said = left_out_as_held_out(every, np.asarray(every.values), Domain(x=(0, 1), t=(0, 1)))
    assert said.interpolated is not None
    assert bool(np.std(said.interpolated[:, 0] - u) > 0.5) is worse
