"""Errors of the same size are seldom told apart, those that differ by much always."""

import numpy as np
import pytest

from pgt.inference.significance import beyond_noise, is_less


def errors(size: float, count: int, seed: int) -> list[float]:
    """Root mean squares of `count` readings that are missed by that much, over and over."""
    missed = size * np.random.default_rng(seed).normal(size=(2000, count))
    return np.sqrt(np.mean(missed**2, axis=1)).tolist()


@pytest.mark.parametrize("count", [8, 30, 100])
def test_the_same_error_is_seldom_less(count):
    pairs = zip(errors(1.0, count, 0), errors(1.0, count, 1), strict=True)
    found = np.mean([is_less(mine, other, count) for mine, other in pairs])
    # Two standard deviations of one of the two errors are 1.4 of their difference.
    assert 0.02 < found < 0.1


@pytest.mark.parametrize("count", [8, 30, 100])
def test_a_far_smaller_error_is_less(count):
    pairs = zip(errors(0.2, count, 0), errors(1.0, count, 1), strict=True)
    assert np.mean([is_less(mine, other, count) for mine, other in pairs]) > 0.95


def test_two_readings_tell_nothing():
    assert not is_less(0.0, 1.0, 2)


def test_noise_is_seldom_taken_for_an_error_between_sensors_and_an_error_never_for_noise():
    random, which = np.random.default_rng(0), np.arange(80) // 4
    noise, sigmas = random.normal(size=(500, 80)), np.ones(80)
    # As it is where values are larger: the same on average.
    uneven = noise * np.where(np.arange(80) < 16, 2.0, 0.5)
    for missed in (noise, uneven):
        assert np.mean([beyond_noise(row, sigmas, which) > 0 for row in missed]) < 0.1
    own = random.normal(size=(500, 20))[:, which]
    found = [beyond_noise(row, sigmas, which) for row in noise + 3 * own]
    assert 1.5 < np.median(found) < 3.0
