"""Every equation of the library: residuals of polynomials by hand, and mistakes.

That exact solutions leave nothing is tested in `tests/physics/test_derivatives.py`, and that kernels are
those of the same equation as text in `tests/physics/test_implied_kernel.py`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from exact_solutions.flow import taylor_green
from exact_solutions.scalar import heat_mode
from nested_derivatives import residual_at

from pgt import physics
from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, resolve
from pgt.physics import Darcy, Elasticity, Heat, NavierStokes2D, ShallowWater, Stokes

# The equation, its fields over its coordinates, a point, and every residual there.
BY_HAND = [
    (
        physics.Acoustics(2.0, 3.0, 2, "y"), lambda x, y, t: (x * t, y, x**2 * t), (2, 5, 4),
        {"momentum_x": 3 * 2 + 16, "momentum_y": 0, "mass": 4 + 12 * (4 + 1) - 5},
    ),
    (  # u_t = x² y, u_x = 2 x y t, u_y = x² t, ∇²u = 2 y t
        physics.AdvectionDiffusion((0.5, -2.0), 0.25, dimension=2, source=1.0),
        lambda x, y, t: (x**2 * y * t,), (1, 2, 3),
        {"advection_diffusion": 2 + 6 - 6 - 0.25 * 12 - 1},
    ),
    (
        physics.AllenCahn(0.5, 2.0), lambda x, t: (x**2 * t,), (1, 3),
        {"allen_cahn": 1 - 0.5 * 6 - 2 * (3 - 27)},
    ),
    (  # u = 12, v = 4, T = 16
        physics.Boussinesq(0.5, 0.25, 10.0, source="x"),
        lambda x, y, t: (y * t, x**2, x * y, x**2 + y * t), (2, 3, 4),
        {
            "momentum_x": 3 + 4 * 4 + 3, "momentum_y": 12 * 4 + 2 - 0.5 * 2 - 160,
            "energy": 3 + 12 * 4 + 4 * 4 - 0.25 * 2 - 2, "continuity": 0,
        },
    ),
    (physics.Burgers(0.25), lambda x, t: (x**2 * t,), (2, 3), {"burgers": 4 + 144 - 0.25 * 6}),
    (Darcy(0.5, source="x"), lambda x, y: (x**2 + 2 * y**2,), (3, 1), {"darcy": -0.5 * 6 - 3}),
    (
        Darcy(0.5, storage=0.1), lambda x, y, t: (x**2 + 2 * y**2 * t,), (3, 2, 4),
        {"darcy": 0.1 * 8 - 0.5 * (2 + 16)},
    ),
    (
        Darcy(0.5, storage=0.1, source=2.0, fluxes=True),
        lambda x, y, t: (x * y * t, x**2, -y), (2, 3, 4),
        {"darcy_x": 4 + 0.5 * 12, "darcy_y": -3 + 0.5 * 8, "continuity": 0.6 - 2 + 4 - 1},
    ),
    (  # λ + 2μ of E = 2.6, ν = 0.3, where μ = 1 and λ = 1.5, or 6/7 in a plate; the strain is 2 x
        Elasticity(2.6, 0.3), lambda x, y: (x**2, 0 * x), (0.5, 0.5),
        {"balance_x": 2 * 3.5, "balance_y": 0},
    ),
    (
        Elasticity(2.6, 0.3, plane="stress"), lambda x, y: (x**2, 0 * x), (0.5, 0.5),
        {"balance_x": 2 * (2 + 6 / 7), "balance_y": 0},
    ),
    (  # ∂y ∇·u = z, ∂z ∇·u = y; ∇²u = 0
        Elasticity(2.6, 0.3, 3, source=(1.0, None, "z")),
        lambda x, y, z: (x * y * z, 0 * x, 0 * x), (2, 3, 4),
        {"balance_x": 1, "balance_y": 2.5 * 4, "balance_z": 2.5 * 3 + 4},
    ),
    (
        resolve(Elasticity(Unknown(2.6, positive=True), Unknown(0.3, bounds=(0.0, 0.49)))),
        lambda x, y: (x**2, 0 * x), (1, 1), {"balance_x": 7, "balance_y": 0},
    ),
    (  # u_t = x² y², ∇²u = 2 t (x² + y²)
        Heat(0.5, 2, source=3.0), lambda x, y, t: (x**2 * y**2 * t,), (1, 2, 3),
        {"heat": 4 - 0.5 * 6 * 5 - 3},
    ),
    (  # ∇²u = 2 y³ + 6 x² y
        physics.Helmholtz(2.0, source="x*y"), lambda x, y: (x**2 * y**3,), (3, 2),
        {"helmholtz": 16 + 108 + 4 * 72 - 6},
    ),
    (  # Ez = 40
        physics.Maxwell(2.0, 3.0, 0.5, source="x"),
        lambda x, y, t: (x * y * t, x**2 + y * t, x * t), (2, 5, 4),
        {
            "faraday_x": 3 * 5 + 8, "faraday_y": 3 * 2 - 20,
            "ampere": 2 * 10 - (4 - 4) + 20 + 2, "gauss": 4,
        },
    ),
    (  # y z + 2 (v z t + w y t),  2 w - 1,  2 u + 2 z - x
        physics.NavierStokes3D(0.5, convection=2.0, source=(None, 1.0, "x")),
        lambda x, y, z, t: (y * z * t, z, x, z**2), (1, 2, 3, 4),
        {
            "momentum_x": 6 + 2 * (36 + 8), "momentum_y": 2 - 1, "momentum_z": 2 * 24 + 6 - 1,
            "continuity": 0,
        },
    ),
    (
        physics.Poisson("x*y"), lambda x, y: (x**2 * y**3,), (3, 2), {"poisson": 16 + 108 - 6},
    ),
    (
        resolve(physics.Poisson(Unknown(2.0))), lambda x, y: (0 * x,), (0.5, 0.5),
        {"poisson": -2.0},
    ),
    (physics.Laplace(), lambda x, y: (x**2 * y**3,), (3, 2), {"laplace": 16 + 108}),
    (  # h = 9, u = 3, v = 6
        ShallowWater(10.0, slope=("0.1*x", None), coriolis=0.5),
        lambda x, y, t: (1 + x * t, y, x * y), (2, 3, 4),
        {
            "mass": 2 + 3 * 4 + 9 * 2, "momentum_x": 6 - 0.5 * 6 + 10 * (4 + 0.2),
            "momentum_y": 3 * 3 + 6 * 2 + 0.5 * 3,
        },
    ),
    (
        Stokes(0.5, source=("x", 4.0)), lambda x, y: (y**3, x**2 * y, x * y), (2, 3),
        {"momentum_x": 3 - 9 - 2, "momentum_y": 2 - 3 - 4, "continuity": 4},
    ),
    (  # u_tt = 2 x³, u_xx = 6 x t²
        physics.Wave(2.0, source="x"), lambda x, t: (x**3 * t**2,), (2, 3),
        {"wave": 16 - 4 * 108 - 2},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("pde", "fields", "point", "expected"), BY_HAND, ids=lambda value: type(value).__name__
)
def test_residuals_of_a_polynomial_by_hand(pde, fields, point, expected):
    found = residual_at(pde, lambda z: jnp.stack(fields(*z)), jnp.array(point, float))
    by_name = {name: float(value) for name, value in found.items()}
    assert by_name == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_unknown_coefficients_are_resolved_and_learnable():
    with jax.enable_x64(True):
        pde = Heat(Unknown(0.3, positive=True))
        field = heat_mode(0.1, 1)
        z = jnp.array([0.4, 0.5])

        def loss(pde):
            return residual_at(resolve(pde), field, z)["heat"] ** 2

        gradient = eqx.filter_grad(loss)(pde)
        # r = (α - 0.1) π² u, so dr²/d(log α) = 2 r α π² u
        u = field(z)[0]
        r = (0.3 - 0.1) * jnp.pi**2 * u
        assert float(gradient.diffusivity.raw) == pytest.approx(float(2 * r * 0.3 * jnp.pi**2 * u))


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
        (lambda: physics.AdvectionDiffusion(1.0, 0.1, dimension=2), "one velocity per axis"),
        (lambda: physics.Burgers(Unknown(-0.1)), r"Burgers\(viscosity\)"),
        (lambda: Darcy(0.0), r"Darcy\(conductivity=0.0\): conductivity must be a number above 0"),
        (lambda: Darcy(1.0, storage=0.0), r"Darcy\(storage=0.0\): storage must be a number above"),
        (lambda: Darcy(1.0, source="sin(t)"), r"Darcy\(source\): unknown name 't'"),
        (lambda: Elasticity(1.0, 0.5), r"ratio must be a number above -1 and below 0.5"),
        (lambda: Elasticity(1.0, Unknown(-2.0)), r"Elasticity\(ratio\) is -2"),
        (lambda: Elasticity(1.0, 0.3, 1), r"Elasticity\(dimension=1\): dimension must be 2 or 3"),
        (lambda: Elasticity(1.0, 0.3, plane="stres"), "plane must be 'strain' or 'stress'"),
        (lambda: Elasticity(1.0, 0.3, 3, plane="stress"), "leave plane out"),
        (lambda: Heat(-1.0), r"Heat\(diffusivity=-1.0\): diffusivity must be a number above 0"),
        (lambda: Heat(float("nan")), r"a pgt.Unknown\(...\) to learn it, or text with its unit"),
        (lambda: Heat(0.1, dimension=4), r"dimension must be 1, 2 or 3"),
        (lambda: Heat(1e308), r"above 0 up to 1e\+30"),
        (lambda: physics.Helmholtz(-1.0), r"wavenumber must be a number above 0"),
        (lambda: NavierStokes2D(0.1, source=("x", "z")), r"source\[1\]\): unknown name 'z'"),
        (lambda: NavierStokes2D(0.1, source=(1, "t"), steady=True), "unknown name 't'"),
        (lambda: ShallowWater(slope=(0.1,)), r"the pair \(b_x, b_y\)"),
        (lambda: ShallowWater(slope=(0.1, "q")), r"slope\[1\]\): unknown name 'q'"),
        (lambda: Stokes(1.0, 3, source=(1, 2)), r"must be 3 body forces \(f_x, f_y, f_z\)"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
