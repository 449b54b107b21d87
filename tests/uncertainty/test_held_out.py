"""Errors at readings that were not fitted, and interpolation beside them."""

import time

import numpy as np
import pytest
from scipy.optimize import check_grad

import pgt
from pgt.data import Domain, Observations
from pgt.uncertainty import held_out
from pgt.uncertainty.held_out import (
    HeldOutPredictions,
    held_out_errors,
    interpolate_held_out,
    interpolate_left_out,
    left_out_as_held_out,
    misfit,
    predict_by_process,
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


def test_what_has_no_size_has_no_relative_error():
    assert misfit(np.ones(2), np.zeros(2)) == (1.0, None)
    found = held_out_errors(HeldOutPredictions(readings([0.0, 0.0]), np.ones((2, 1))), {"u": 2.0})
    assert (found["u"].relative, found["u"].of_spread) == (None, 0.5)


def test_predictions_that_are_no_numbers_are_left_out():
    truth = readings([3.0, 4.0], v=[1.0, 2.0])
    said = np.array([[3.0, NAN], [np.inf, NAN]])
    found = held_out_errors(HeldOutPredictions(truth, said), {"u": 1.0, "v": 1.0})
    assert set(found) == {"u"}
    assert (found["u"].readings, found["u"].relative) == (1, 0.0)


def test_interpolation_stands_beside_where_it_can():
    x = np.linspace(0, 1, 21)
    every = Observations.from_arrays({"x": x}, {"u": x**2})
    fitted, unseen = every.take(np.arange(21) % 4 != 1), every.take(np.arange(21) % 4 == 1)
    found = interpolate_held_out(fitted, unseen, LINE)
    np.testing.assert_allclose(found, unseen.values, atol=1e-2)
    assert interpolate_held_out(fitted, unseen.take(np.zeros(0, int)), LINE) is None
    assert np.isnan(interpolate_held_out(fitted.take([0]), unseen, LINE)).all()


def test_in_turn_each_fold_is_interpolated_from_the_others():
    x = np.linspace(0, 1, 21)
    every = Observations.from_arrays({"x": x}, {"u": x**2})
    fold = np.arange(21) % 3
    fold[4] = -1  # in no fold: nothing is said of it
    found = interpolate_left_out(every, LINE, fold)
    assert np.isnan(found[4]).all()
    inside = fold == 1
    alone = interpolate_held_out(every.take(~inside), every.take(inside), LINE)
    np.testing.assert_allclose(found[inside], alone, atol=1e-3)  # by widths of fewer readings


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


# ------------------------------------------------------------------------------- the Gaussian process

BOX = pgt.Domain(x=(0, 2), t=(0, 1))


def truth(points):
    return np.sin(2 * points[:, :1]) * np.exp(-points[:, 1:])


def wavy_readings(n, noise=0.0, seed=0):
    random = np.random.default_rng(seed)
    points = random.uniform((0, 0), (2, 1), (n, 2))
    values = truth(points) + noise * random.normal(size=(n, 1))
    return pgt.Observations.from_arrays(points, values, coords=("x", "t"), fields=("u",))


def test_the_gradient_is_that_of_the_function():
    places = np.random.default_rng(0).uniform(size=(12, 2))
    squares, values = (places[:, None] - places[None]) ** 2, np.sin(5 * places[:, 0])
    parts = (
        lambda p, k=k: held_out._negative_log_likelihood(p, squares, values)[k] for k in (0, 1)
    )
    assert check_grad(*parts, np.log([0.3, 0.5, 1e-2])) < 1e-4


def test_a_smooth_field_is_found_and_noise_is_not_followed():
    places = np.random.default_rng(1).uniform((0, 0), (2, 1), (50, 2))
    clean, noisy = (
        predict_by_process(wavy_readings(60, noise), BOX, places) for noise in (0.0, 0.1)
    )
    assert np.abs(clean - truth(places)).max() < 1e-2
    assert np.sqrt(np.mean((noisy - truth(places)) ** 2)) < 0.06


def test_what_the_others_say_is_what_a_process_without_the_reading_says(monkeypatch):
    given = wavy_readings(15, 0.05)
    monkeypatch.setattr(held_out, "_most_probable", lambda *_: (np.array([0.4, 0.6]), 0.02))
    found = predict_by_process(given, BOX)
    others = np.arange(15) != 4
    alone = predict_by_process(given.take(others), BOX, np.asarray(given.points)[4:5])
    assert found[4] == pytest.approx(alone[0], abs=0.05)  # whose mean and spread are its own


def test_of_a_group_it_is_what_a_process_without_the_group_says(monkeypatch):
    given, groups = wavy_readings(15, 0.05), np.arange(15) % 5
    monkeypatch.setattr(held_out, "_most_probable", lambda *_: (np.array([0.4, 0.6]), 0.02))
    found = predict_by_process(given, BOX, groups=groups)
    inside = groups == 2
    alone = predict_by_process(given.take(~inside), BOX, np.asarray(given.points)[inside])
    assert found[inside] == pytest.approx(alone, abs=0.1)  # whose mean and spread are its own
    assert not np.allclose(found, predict_by_process(given, BOX), atol=0.01)


def test_a_periodic_axis_is_a_circle():
    x = np.linspace(0, 1, 9)[:-1]
    given = pgt.Observations.from_arrays({"x": x}, {"u": np.sin(2 * np.pi * x)})
    found = predict_by_process(
        given, pgt.Domain(x=(0, 1), periodic=("x",)), np.array([[0.0], [1.0]])
    )
    assert found[0] == pytest.approx(found[1])


def test_of_few_readings_nothing_is_predicted():
    assert np.isnan(predict_by_process(wavy_readings(3), BOX)).all()


@pytest.mark.parametrize("groups", [None, np.arange(60) % 6])
def test_a_part_of_many_readings_predicts_all_of_them(monkeypatch, groups):
    """A reading that is left out of the part is predicted as if it were one of new places."""
    given = wavy_readings(60, 0.01)
    monkeypatch.setattr(held_out, "MAX_READINGS", 40)
    found = predict_by_process(given, BOX, groups=groups)
    assert np.isfinite(found).all()
    assert np.sqrt(np.mean((found - truth(np.asarray(given.points))) ** 2)) < 0.05


def test_thousands_of_readings_take_seconds():
    began = time.process_time()
    assert np.isfinite(predict_by_process(wavy_readings(4000, 0.1), BOX)).all()
    assert time.process_time() - began < 15  # a quarter of it on an idle machine
