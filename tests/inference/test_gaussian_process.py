"""Interpolation by a Gaussian process, without physics."""

import numpy as np
import pytest
from scipy.optimize import check_grad

import pgt
from pgt.inference import gaussian_process
from pgt.inference.gaussian_process import predict_by_process

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
        lambda p, k=k: gaussian_process._negative_log_likelihood(p, squares, values)[k]
        for k in (0, 1)
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
    monkeypatch.setattr(gaussian_process, "_most_probable", lambda *_: (np.array([0.4, 0.6]), 0.02))
    found = predict_by_process(given, BOX)
    others = np.arange(15) != 4
    alone = predict_by_process(given.take(others), BOX, np.asarray(given.points)[4:5])
    assert found[4] == pytest.approx(alone[0], abs=0.05)  # whose mean and spread are its own


def test_of_a_group_it_is_what_a_process_without_the_group_says(monkeypatch):
    given, groups = wavy_readings(15, 0.05), np.arange(15) % 5
    monkeypatch.setattr(gaussian_process, "_most_probable", lambda *_: (np.array([0.4, 0.6]), 0.02))
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


@pytest.mark.parametrize("periods", [4, 15])
def test_a_fast_oscillation_is_not_taken_for_noise(periods):
    t = np.linspace(0, 1, 100)
    noise = 0.1 * np.random.default_rng(0).standard_normal(100)
    wave = np.sin(2 * np.pi * periods * t)
    given = pgt.Observations.from_arrays({"t": t}, {"u": wave + noise})
    found = predict_by_process(given, pgt.Domain(t=(0, 1)), t[:, None])[:, 0]
    assert np.std(found - wave) < 0.1
