"""The Navier–Stokes equations: body forces, convection, incompressibility and mistakes."""

import jax
import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.ground.errors import InputError
from pgt.ground.unknown import Unknown
from pgt.kernels.heat import HeatKernel
from pgt.physics import NavierStokes2D
from pgt.physics.exact import taylor_green


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


def test_what_flows_apart_is_left_in_the_third_residual():
    def source_flow(z):
        return jnp.stack([3 * z[0], 2 * z[1], 0 * z[0]])

    found = residual_at(NavierStokes2D(0.1), source_flow, jnp.array([1.0, 2.0, 0.0]))
    assert list(found) == ["momentum_x", "momentum_y", "continuity"]
    assert [float(value) for value in found.values()] == pytest.approx([9.0, 8.0, 5.0])


def test_influence_spreads_with_the_current_viscosity():
    kernel = NavierStokes2D(Unknown(0.25, positive=True)).kernel()
    assert isinstance(kernel, HeatKernel)
    assert kernel.diffusivity == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NavierStokes2D(0.1, source=("x", "z")), r"source\[1\]\): unknown name 'z'"),
        (
            lambda: NavierStokes2D(0.0),
            r"2D\(viscosity=0.0\): viscosity must be a number above 0",
        ),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
