"""The Stokes equations: their residuals, kernel and mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.physics import Stokes


def test_residuals_of_a_polynomial_by_hand():
    # u = y³, v = x² y, p = x y
    def flow(z):
        return jnp.stack([z[1] ** 3, z[0] ** 2 * z[1], z[0] * z[1]])

    found = residual_at(Stokes(0.5, source=("x", 4.0)), flow, jnp.array([2.0, 3.0]))
    expected = {"momentum_x": 3 - 9 - 2, "momentum_y": 2 - 3 - 4, "continuity": 4}
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stokes(0.0), r"Stokes\(viscosity=0.0\): viscosity must be a number above 0"),
        (lambda: Stokes(1.0, dimension=1), r"Stokes\(dimension=1\): dimension must be 2 or 3"),
        (lambda: Stokes(1.0, 3, source=(1, 2)), r"must be 3 body forces \(f_x, f_y, f_z\)"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
