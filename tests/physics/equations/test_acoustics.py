"""Sound: its residuals, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.physics import Acoustics


def test_residuals_of_a_polynomial_by_hand():
    # u = x t, v = y, p = x² t
    def field(z):
        x, y, t = z
        return jnp.stack([x * t, y, x**2 * t])

    found = residual_at(Acoustics(2.0, 3.0, 2, "y"), field, jnp.array([2.0, 5.0, 4.0]))
    expected = {"momentum_x": 3 * 2 + 16, "momentum_y": 0, "mass": 4 + 12 * (4 + 1) - 5}
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)
