"""Kernels as an attention bias: what is visible, and a resolution that must be one."""

import numpy as np
import pytest
from greens_functions import each_dimension, random_points

from pgt.core.errors import InputError
from pgt.kernels import AdvectionDiffusionKernel, HeatKernel, NoKernel, WaveKernel


@pytest.mark.parametrize("kernel", [HeatKernel(0.1), AdvectionDiffusionKernel((1.0,), 0.1)])
def test_future_is_invisible_and_simultaneous_points_use_the_floor(float64, kernel):
    resolution, source = np.array([0.01, 0.05]), np.array([[0.3, 0.5]])
    receivers = np.array([[0.3, 0.5 - 1e-3 * 0.051], [0.3, 0.5 - 1e-12], [0.3, 0.5], [0.4, 0.5]])
    before, rounded, itself, beside = kernel.bias(receivers, source, resolution)[0, :, 0]
    assert before == -np.inf
    assert rounded == pytest.approx(
        float(itself), rel=1e-9
    )  # a thousandth of the resolution is none
    prefactor = -0.5 * np.log(4 * np.pi * 0.1 * 0.05)
    assert itself == pytest.approx(prefactor, rel=1e-12)
    assert beside == pytest.approx(prefactor - 0.1**2 / (4 * 0.1 * 0.05), rel=1e-12)


@pytest.mark.parametrize("kernel", [HeatKernel, WaveKernel])
@each_dimension
def test_smoothing_kernels_are_symmetric_in_time(float64, kernel, d):
    points, resolution = random_points(15, d + 1), np.full(d + 1, 0.2)
    smoothing, causal = kernel(0.9, causal=False), kernel(0.9)
    gamma = np.asarray(smoothing.bias(points, points, resolution)[0])
    np.testing.assert_array_equal(gamma, gamma.T)
    mirrored = points * np.r_[np.ones(d), -1]
    np.testing.assert_array_equal(gamma, smoothing.bias(mirrored, mirrored, resolution)[0])
    past = points[:, None, -1] >= points[None, :, -1]
    np.testing.assert_array_equal(gamma[past], causal.bias(points, points, resolution)[0][past])


def test_a_resolution_of_zero_is_rejected():
    with pytest.raises(InputError, match="above 0"):
        NoKernel().bias(np.ones((2, 2)), np.ones((2, 2)), np.zeros(2))
