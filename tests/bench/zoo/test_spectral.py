"""The solvers find what is known in closed form."""

import numpy as np
import pytest

from pgt_bench.zoo.spectral import (
    etdrk4,
    wave_numbers,
)


def test_a_linear_equation_is_solved_exactly():
    wave = wave_numbers(16, 2 * np.pi)
    x = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    times = np.array([0.0, 0.5])
    modes = etdrk4(np.fft.fft(np.sin(2 * x)), -(wave**2), np.zeros_like, times, 1)
    assert np.fft.ifft(modes[-1]).real == pytest.approx(np.exp(-2) * np.sin(2 * x))


@pytest.mark.parametrize("steps", [4, 8])
def test_a_nonlinear_equation_to_fourth_order(steps):
    """v' = −v + v² from ½: v = 1 / (1 + e^t)."""
    found = etdrk4(
        np.array([0.5 + 0j]), np.array([-1.0]), lambda v: v**2, np.array([0.0, 1.0]), steps
    )
    assert abs(found[-1, 0] - 1 / (1 + np.e)) < 3e-3 / steps**4
