"""The heat kernel: its equation, its mass, and the paper's limits as far as they hold."""

import jax
import numpy as np
import pytest
from greens_functions import (
    each_dimension,
    integral_over_space,
    random_points,
    relative_residual,
    space_laplacian,
    spread_out,
)

from pgt.core.errors import InputError
from pgt.kernels import HeatKernel


@each_dimension
def test_heat_kernel_solves_the_heat_equation(float64, d):
    kernel = HeatKernel(0.3)

    def terms(u, gradient, hessian):
        return [gradient[-1], -0.3 * space_laplacian(hessian, d)]

    assert relative_residual(kernel, terms, spread_out(d, 0.4), np.full(d + 1, 0.01)) < 1e-8


@each_dimension
def test_heat_conserves_what_was_released(float64, d):
    total = integral_over_space(HeatKernel(0.3), d, 0.4, np.full(d + 1, 0.01), outer=5.0)
    assert total == pytest.approx(1, rel=1e-8)


@each_dimension
def test_infinite_diffusivity_leaves_only_the_time_prefactor(float64, d):
    sources = random_points(10, d + 1)
    receiver = np.full((1, d + 1), 1.0)
    row = HeatKernel(1e12).bias(receiver, sources, np.full(d + 1, 1e-3))[0, 0]
    lag = 1.0 - sources[:, -1]
    np.testing.assert_allclose(row - row[0], -d / 2 * np.log(lag / lag[0]), atol=1e-8)
    sources[:, -1] = 0.4  # equal lag: the spatial part alone, which does vanish
    row = HeatKernel(1e12).bias(receiver, sources, np.full(d + 1, 1e-3))[0, 0]
    np.testing.assert_allclose(row, row[0], atol=1e-8)


@each_dimension
def test_zero_diffusivity_restricts_attention_to_the_nearest_neighbour(float64, d):
    sources, receiver = random_points(10, d + 1), np.full((1, d + 1), 0.5)
    sources[:, -1] = 0.2
    row = HeatKernel(1e-8).bias(receiver, sources, np.full(d + 1, 1e-3))[0, 0]
    nearest = np.argmin(np.linalg.norm(sources[:, :-1] - receiver[0, :-1], axis=1))
    np.testing.assert_array_equal(jax.nn.softmax(row), np.eye(10)[nearest])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeatKernel(0.0), "HeatKernel.diffusivity=0.0"),
        (lambda: HeatKernel(np.nan), "diffusivity=nan"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
