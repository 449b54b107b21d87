"""Shallow water: its residuals, how fast influence travels, and mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.physics import ShallowWater


def test_residuals_of_a_polynomial_by_hand():
    # h = 1 + x t, u = y, v = x y
    def water(z):
        x, y, t = z
        return jnp.stack([1 + x * t, y, x * y])

    pde = ShallowWater(10.0, slope=("0.1*x", None), coriolis=0.5)
    found = residual_at(pde, water, jnp.array([2.0, 3.0, 4.0]))  # h = 9, u = 3, v = 6
    expected = {
        "mass": 2 + 3 * 4 + 9 * 2,
        "momentum_x": 6 - 0.5 * 6 + 10 * (4 + 0.2),
        "momentum_y": 3 * 3 + 6 * 2 + 0.5 * 3,
    }
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ShallowWater(0.0),
            r"ShallowWater\(gravity=0.0\): gravity must be a number above 0",
        ),
        (lambda: ShallowWater(slope=(0.1,)), r"the pair \(b_x, b_y\)"),
        (lambda: ShallowWater(slope=(0.1, "q")), r"slope\[1\]\): unknown name 'q'"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
