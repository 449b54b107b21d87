"""The light cone: its equation, its edge, and what it leaves behind."""

import jax.numpy as jnp
import numpy as np
import pytest
from greens_functions import (
    bias_of_ones,
    each_dimension,
    integral_over_space,
    relative_residual,
    space_laplacian,
    spread_out,
)

from pgt.core.errors import InputError
from pgt.kernels import WaveKernel


@pytest.mark.parametrize(("d", "tau"), [(2, 0.01), (3, 0.45)])
def test_wave_kernel_solves_the_wave_equation(float64, d, tau):
    # In 3D the pulse is 2cτ wide; τ = 0.45 puts all test points inside it.
    kernel, resolution = WaveKernel(1.5), np.r_[np.full(d, 0.01), tau]

    def terms(u, gradient, hessian):
        return [hessian[-1, -1], -(1.5**2) * space_laplacian(hessian, d)]

    points = spread_out(d, 0.7)
    assert np.all(np.isfinite(kernel.bias(points, jnp.zeros((1, d + 1)), resolution)))
    assert relative_residual(kernel, terms, points, resolution) < 1e-8


def test_wave_kernel_in_one_dimension_gives_dalemberts_solution(float64):
    # u_tt = c² u_xx, u = 0 and u_t = cos x at the start: u = cos x · sin(ct) / c.
    x, t, c = 0.3, 0.8, 1.5
    sources = np.linspace(-4, 4, 80_001)
    origin_time = np.c_[sources, np.zeros_like(sources)]
    gamma = WaveKernel(c).bias(np.array([[x, t]]), origin_time, np.array([0.01, 0.01]))[0, 0]
    u = np.sum(np.exp(gamma) * np.cos(sources)) * (sources[1] - sources[0])
    assert u == pytest.approx(np.cos(x) * np.sin(c * t) / c, abs=1e-4)


@pytest.mark.parametrize(("d", "expected"), [(1, 0.7), (2, 0.7), (3, 0.6)])
def test_wave_carries_momentum_equal_to_elapsed_time(float64, d, expected):
    # ∫ G dx = Δt for the exact kernel; the 3D pulse trails the front by τ, so Δt − τ there.
    tau = 0.1 if d == 3 else 1e-4
    resolution = np.r_[np.full(d, 1e-9), tau]
    total = integral_over_space(WaveKernel(1.5), d, 0.7, resolution, outer=1.5 * 0.7)
    assert total == pytest.approx(expected, rel=1e-3)


@each_dimension
def test_wave_influence_ends_at_the_light_cone(float64, d):
    speed, lag, resolution = 1.5, 0.6, np.full(d + 1, 0.05)
    kernel = WaveKernel(speed)
    radii = np.array([speed * lag * 1.0001, speed * lag * 0.99])
    receivers = np.zeros((2, d + 1))
    receivers[:, 0], receivers[:, -1] = radii, lag
    outside, inside = kernel.bias(receivers, np.zeros((1, d + 1)), resolution)[0, :, 0]
    assert outside == -np.inf
    assert np.isfinite(inside)
    receivers[:, -1] = -lag
    assert np.all(kernel.bias(receivers, np.zeros((1, d + 1)), resolution) == -np.inf)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WaveKernel(-2.0), "speed=-2.0"),
        (lambda: bias_of_ones(WaveKernel(1.0), 5), "4 spatial axes"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
