"""Maxwell's equations: their residuals, their kernel and mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.physics import Maxwell


def test_residuals_of_a_polynomial_by_hand():
    # Ez = x y t, Hx = x² + y t, Hy = x t
    def field(z):
        x, y, t = z
        return jnp.stack([x * y * t, x**2 + y * t, x * t])

    pde = Maxwell(2.0, 3.0, 0.5, source="x")
    found = residual_at(pde, field, jnp.array([2.0, 5.0, 4.0]))  # Ez = 40
    expected = {
        "faraday_x": 3 * 5 + 8,
        "faraday_y": 3 * 2 - 20,
        "ampere": 2 * 10 - (4 - 4) + 20 + 2,
        "gauss": 4,
    }
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)
