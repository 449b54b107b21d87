"""The Boussinesq equations: their residuals, kernel and mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.physics import Boussinesq


def test_residuals_of_a_polynomial_by_hand():
    # u = y t, v = x², p = x y, T = x² + y t
    def flow(z):
        x, y, t = z
        return jnp.stack([y * t, x**2, x * y, x**2 + y * t])

    pde = Boussinesq(0.5, 0.25, 10.0, source="x")
    found = residual_at(pde, flow, jnp.array([2.0, 3.0, 4.0]))  # u = 12, v = 4, T = 16
    expected = {
        "momentum_x": 3 + 4 * 4 + 3,
        "momentum_y": 12 * 4 + 2 - 0.5 * 2 - 160,
        "energy": 3 + 12 * 4 + 4 * 4 - 0.25 * 2 - 2,
        "continuity": 0,
    }
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)
