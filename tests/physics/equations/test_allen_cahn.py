"""The Allen–Cahn equation: its residual, its phases at rest, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.physics import AllenCahn


def test_residual_of_a_polynomial_by_hand():
    # u = x² t: u_t = x², u_xx = 2 t
    def field(z):
        return (z[0] ** 2 * z[1])[None]

    found = residual_at(AllenCahn(0.5, 2.0), field, jnp.array([1.0, 3.0]))
    assert list(found) == ["allen_cahn"]
    assert float(found["allen_cahn"]) == pytest.approx(1 - 0.5 * 6 - 2 * (3 - 27))
