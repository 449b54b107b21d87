"""Burgers' equation: its residual, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown
from pgt.physics import Burgers


def test_residual_of_a_polynomial_by_hand():
    # u = x² t: u_t = x², u u_x = 2 x³ t², u_xx = 2 t
    def field(z):
        return (z[0] ** 2 * z[1])[None]

    found = residual_at(Burgers(0.25), field, jnp.array([2.0, 3.0]))
    assert list(found) == ["burgers"]
    assert float(found["burgers"]) == pytest.approx(4 + 144 - 0.25 * 6)


def test_a_negative_viscosity_is_refused_also_as_the_start_of_an_unknown():
    with pytest.raises(InputError, match=r"Burgers\(viscosity\)"):
        Burgers(Unknown(-0.1))
