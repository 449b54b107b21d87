"""The Navier–Stokes equations: body forces, convection, incompressibility and mistakes."""

import jax
import jax.numpy as jnp
import pytest
from exact_solutions.flow import taylor_green
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.physics import NavierStokes2D, NavierStokes3D


def test_body_forces_and_convection_of_navier_stokes():
    with jax.enable_x64(True):
        z = jnp.array([0.3, 0.8, 0.2])
        flow = taylor_green(0.05)
        plain = residual_at(NavierStokes2D(0.05), flow, z)
        forced = residual_at(NavierStokes2D(0.05, source=("x", lambda y: 2 * y)), flow, z)
        assert float(forced["momentum_x"] - plain["momentum_x"]) == pytest.approx(-0.3)
        assert float(forced["momentum_y"] - plain["momentum_y"]) == pytest.approx(-1.6)
        # Taylor–Green balances convection by pressure, so without convection p_x is left over.
        slow = residual_at(NavierStokes2D(0.05, convection=0.0), flow, z)
        p_x = 0.5 * jnp.sin(0.6) * jnp.exp(-4 * 0.05 * 0.2)
        assert float(slow["momentum_x"]) == pytest.approx(float(p_x))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NavierStokes2D(0.1, source=("x", "z")), r"source\[1\]\): unknown name 'z'"),
        (
            lambda: NavierStokes2D(0.0),
            r"2D\(viscosity=0.0\): viscosity must be a number above 0",
        ),
        (lambda: NavierStokes2D(0.1, source=(1, "t"), steady=True), "unknown name 't'"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_third_dimension_by_hand():
    # u = y z t, v = z, w = x: ∇·u = 0, and only u changes in time.
    def flow(z):
        return jnp.stack([z[1] * z[2] * z[3], z[2], z[0], z[2] ** 2])

    pde = NavierStokes3D(0.5, convection=2.0, source=(None, 1.0, "x"))
    found = residual_at(pde, flow, jnp.array([1.0, 2.0, 3.0, 4.0]))
    assert list(found) == ["momentum_x", "momentum_y", "momentum_z", "continuity"]
    # y z + 2 (v z t + w y t),  2 w - 1,  2 u + 2 z - x
    expected = [6 + 2 * (36 + 8), 2 - 1, 2 * 24 + 6 - 1, 0]
    assert [float(value) for value in found.values()] == pytest.approx(expected)
