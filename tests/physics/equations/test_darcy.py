"""Groundwater: with and without storage and fluxes, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.physics import Darcy


def test_the_head_by_hand():
    # h = x² + 2 y² t
    steady = residual_at(
        Darcy(0.5, source="x"), lambda z: (z[0] ** 2 + 2 * z[1] ** 2)[None], jnp.array([3.0, 1.0])
    )
    assert {name: float(value) for name, value in steady.items()} == {"darcy": -0.5 * 6 - 3}
    stored = residual_at(
        Darcy(0.5, storage=0.1),
        lambda z: (z[0] ** 2 + 2 * z[1] ** 2 * z[2])[None],
        jnp.array([3.0, 2.0, 4.0]),
    )
    assert float(stored["darcy"]) == pytest.approx(0.1 * 8 - 0.5 * (2 + 16))


def test_fluxes_by_hand():
    # h = x y t, u = x², v = -y
    def field(z):
        return jnp.stack([z[0] * z[1] * z[2], z[0] ** 2, -z[1]])

    pde = Darcy(0.5, storage=0.1, source=2.0, fluxes=True)
    found = residual_at(pde, field, jnp.array([2.0, 3.0, 4.0]))
    expected = {"darcy_x": 4 + 0.5 * 12, "darcy_y": -3 + 0.5 * 8, "continuity": 0.6 - 2 + 4 - 1}
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Darcy(0.0), r"Darcy\(conductivity=0.0\): conductivity must be a number above 0"),
        (
            lambda: Darcy(1.0, storage=0.0),
            r"Darcy\(storage=0.0\): storage must be a number above 0",
        ),
        (lambda: Darcy(1.0, source="sin(t)"), r"Darcy\(source\): unknown name 't'"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
