"""The wave equation: its residual, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.physics import Wave


def test_residual_of_a_polynomial_by_hand():
    # u = x³ t²: u_tt = 2 x³, u_xx = 6 x t²
    def field(z):
        return (z[0] ** 3 * z[1] ** 2)[None]

    found = residual_at(Wave(2.0, source="x"), field, jnp.array([2.0, 3.0]))
    assert list(found) == ["wave"]
    assert float(found["wave"]) == pytest.approx(16 - 4 * 108 - 2)
