"""The advection–diffusion equation: its residual, its kernel and one velocity per axis."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.physics import AdvectionDiffusion


def test_residual_of_a_polynomial_by_hand():
    # u = x² y t: u_t = x² y, u_x = 2 x y t, u_y = x² t, ∇²u = 2 y t
    def field(z):
        return (z[0] ** 2 * z[1] * z[2])[None]

    pde = AdvectionDiffusion((0.5, -2.0), 0.25, dimension=2, source=1.0)
    found = residual_at(pde, field, jnp.array([1.0, 2.0, 3.0]))
    assert list(found) == ["advection_diffusion"]
    assert float(found["advection_diffusion"]) == pytest.approx(2 + 6 - 6 - 0.25 * 12 - 1)


@pytest.mark.parametrize(("velocity", "dimension"), [(1.0, 2), ((1.0, 2.0), 1)])
def test_there_is_one_velocity_per_axis(velocity, dimension):
    with pytest.raises(InputError, match="one velocity per axis"):
        AdvectionDiffusion(velocity, 0.1, dimension=dimension)
