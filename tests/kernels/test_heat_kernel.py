"""The heat kernel: its equation, its mass, and the paper's limits as far as they hold."""

import numpy as np
import pytest
from greens_functions import (
    each_dimension,
    integral_over_space,
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
