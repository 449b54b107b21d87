"""The drifting heat kernel: its equation, and the flow forwards and backwards."""

import numpy as np
import pytest
from greens_functions import (
    bias_of_ones,
    each_dimension,
    relative_residual,
    space_laplacian,
    spread_out,
)

from pgt.core.errors import InputError
from pgt.kernels import AdvectionDiffusionKernel, HeatKernel
from pgt.kernels.kernel import LearnableStrength, SumKernel

VELOCITY = (1.0, -0.5, 0.2)


@each_dimension
def test_advection_diffusion_kernel_solves_its_equation(float64, d):
    kernel = AdvectionDiffusionKernel(VELOCITY[:d], 0.3)

    def terms(u, gradient, hessian):
        drift = [VELOCITY[i] * gradient[i] for i in range(d)]
        return [gradient[-1], *drift, -0.3 * space_laplacian(hessian, d)]

    assert relative_residual(kernel, terms, spread_out(d, 0.4), np.full(d + 1, 0.01)) < 1e-8


def test_drift_moves_the_heat_kernel_without_changing_it(float64):
    drifting, resolution = AdvectionDiffusionKernel((2.0,), 0.3), np.full(2, 0.01)
    moved = drifting.log_influence(np.array([0.5 + 2.0 * 0.4, 0.4]), np.zeros(2), resolution)
    still = HeatKernel(0.3).log_influence(np.array([0.5, 0.4]), np.zeros(2), resolution)
    np.testing.assert_allclose(moved, still, rtol=1e-12)


def test_on_a_ring_the_flow_goes_around(float64):
    resolution, period = np.full(2, 0.01), np.array([1.0, np.inf])
    source, receiver = np.array([[0.1, 0.0]]), np.array([[0.15, 0.9]])  # 2 · 0.9 is 1.8 turns
    kernels = [AdvectionDiffusionKernel((v,), 0.01) for v in (2.0, 2.0 - 2 / 0.9)]
    around, back = (float(k.bias(receiver, source, resolution, period)[0, 0, 0]) for k in kernels)
    assert around == pytest.approx(back, rel=1e-9)
    direct = kernels[0].log_influence(np.array([0.15 + 2, 0.9]), source[0], resolution)[0]
    assert around == pytest.approx(float(direct), rel=1e-9)
    for combined in (SumKernel(kernels[0]), LearnableStrength(kernels[0], 1)):
        found = combined.bias(receiver, source, resolution, period)[0, 0, 0]
        assert float(found) == pytest.approx(around, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AdvectionDiffusionKernel((1.0,), -1.0), "diffusivity=-1.0"),
        (lambda: bias_of_ones(AdvectionDiffusionKernel((1.0,), 1.0), 3), "2 spatial axes"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
