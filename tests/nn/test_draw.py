"""Starting weights: the same from the same seed, of the size that was asked for."""

import numpy as np
import pytest

from pgt.nn.draw import Draw, zeros


def test_one_seed_draws_the_same_arrays_in_the_same_order():
    first, again, other = Draw(3), Draw(3), Draw(4)
    a, b = first.normal((2, 3), 1.0), first.uniform((2, 3), 1.0)
    np.testing.assert_array_equal(again.normal((2, 3), 1.0), a)
    np.testing.assert_array_equal(again.uniform((2, 3), 1.0), b)
    assert np.all(other.normal((2, 3), 1.0) != a)


def test_two_draws_from_one_seed_differ():
    draw = Draw(0)
    assert np.all(draw.normal((4,), 1.0) != draw.normal((4,), 1.0))


def test_scale_is_a_deviation_and_bound_is_a_bound():
    normal, uniform = Draw(0).normal((10_000,), 0.3), Draw(0).uniform((10_000,), 0.3)
    assert np.std(normal) == pytest.approx(0.3, rel=0.05)
    assert np.mean(normal) == pytest.approx(0, abs=0.01)
    assert 0.299 < np.abs(uniform).max() <= 0.3
    assert np.std(uniform) == pytest.approx(0.3 / np.sqrt(3), rel=0.05)


def test_weights_are_in_single_precision():
    for array in (Draw(0).normal((2,), 1.0), Draw(0).uniform((2,), 1.0), zeros(2)):
        assert array.dtype == np.float32
    np.testing.assert_array_equal(zeros(2, 3), np.zeros((2, 3)))
