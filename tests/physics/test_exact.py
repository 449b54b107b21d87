"""Each equation of the zoo on exact solutions, its coefficients, sources and kernel."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from nested_derivatives import random_points, residual_at

from pgt.ground.errors import InputError
from pgt.ground.unknown import Unknown, resolve
from pgt.kernels.advection_diffusion import AdvectionDiffusionKernel
from pgt.kernels.base import AbstractKernel
from pgt.kernels.elliptic import PoissonKernel
from pgt.kernels.heat import HeatKernel
from pgt.kernels.wave import WaveKernel
from pgt.physics import (
    AdvectionDiffusion,
    AllenCahn,
    Burgers,
    Heat,
    Laplace,
    NavierStokes2D,
    Poisson,
    Wave,
)
from pgt.physics.exact import ALL_PDES, heat_mode, taylor_green

cases = pytest.mark.parametrize("case", ALL_PDES, ids=lambda case: case.name)


@cases
def test_residual_vanishes_on_the_exact_solution_and_nowhere_near(case):
    def residuals(z, error):
        def field(z):
            return case.solution(z) * (1 + error * z[0] ** 2) + error * jnp.sin(3 * z).sum()

        return residual_at(case.pde, field, z)

    with jax.enable_x64(True):
        z = random_points(case.bounds, case.pde.coords, 20)
        compiled = jax.jit(jax.vmap(residuals, in_axes=(0, None)))
        exact, wrong = compiled(z, 0.0), compiled(z, 0.1)
        for name in exact:
            assert exact[name].shape == (20,), name
            assert float(jnp.abs(exact[name]).max()) < 1e-10, name
            assert float(jnp.abs(wrong[name]).max()) > 1e-3, name


@cases
def test_pde_is_a_pytree_with_a_kernel(case):
    assert set(case.bounds) == set(case.pde.coords)
    leaves = jax.tree.leaves(case.pde)
    assert all(isinstance(leaf, float) for leaf in leaves)
    kernel = case.pde.kernel()
    assert isinstance(kernel, AbstractKernel)
    d = len(case.pde.coords)
    influence = kernel.log_influence(jnp.full(d, 0.3), jnp.full(d, 0.2), jnp.full(d, 0.01))
    assert not bool(jnp.isnan(influence).any())


def test_default_residual_names():
    names = [next(iter(_residual_names(pde))) for pde in (Heat(1.0), Burgers(1.0), Wave(1.0))]
    assert names == ["heat", "burgers", "wave"]
    assert _residual_names(AllenCahn(1.0)) == ["allen_cahn"]
    assert _residual_names(AdvectionDiffusion(1.0, 1.0)) == ["advection_diffusion"]
    assert _residual_names(Poisson(1.0)) == ["poisson"]
    assert _residual_names(Laplace()) == ["laplace"]
    assert _residual_names(NavierStokes2D(1.0)) == ["momentum_x", "momentum_y", "continuity"]


def _residual_names(pde):
    def zero(z):
        return jnp.zeros(len(pde.fields)) * z[0]

    return list(residual_at(pde, zero, jnp.zeros(len(pde.coords))))


def test_kernels_use_the_current_value_of_an_unknown():
    heat = Heat(Unknown(0.05, positive=True)).kernel()
    assert isinstance(heat, HeatKernel)
    assert heat.diffusivity == pytest.approx(0.05, rel=1e-6)
    kernel = AdvectionDiffusion((Unknown(0.3), 1), 0.1, dimension=2).kernel()
    assert isinstance(kernel, AdvectionDiffusionKernel)
    assert kernel.velocity == pytest.approx((0.3, 1.0))
    assert isinstance(Wave(2.0).kernel(), WaveKernel)
    poisson = Poisson(0.0, influence_radius=3.0).kernel()
    assert isinstance(poisson, PoissonKernel)
    assert poisson.radius == 3.0


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


@pytest.mark.parametrize(
    "source",
    [
        "x*t + 2",
        lambda x, t: x * t + 2,
        lambda t, x: x * t + 2,
        lambda a, b: a * b + 2,
        lambda *, x, t, shift=2.0: x * t + shift,
        lambda **point: point["x"] * point["t"] + 2,
    ],
)
def test_a_source_may_be_written_in_many_ways(source):
    z = jnp.array([0.5, 3.0])
    residual = residual_at(Heat(0.1, source=source), lambda z: 0 * z[:1], z)["heat"]
    assert float(residual) == pytest.approx(-3.5)


def test_pdes_with_sources_pass_through_jit():
    pde = Heat(0.1, source=lambda x: jnp.sin(x))
    z = jnp.array([0.5, 3.0])
    compiled = jax.jit(lambda pde, z: residual_at(pde, lambda z: 0 * z[:1], z)["heat"])
    assert float(compiled(pde, z)) == pytest.approx(-float(jnp.sin(0.5)))


def test_constant_and_unknown_sources():
    z = jnp.array([0.5, 0.5])
    for source in (2, 2.0, Unknown(2.0)):
        pde = resolve(Poisson(source))
        assert float(residual_at(pde, lambda z: 0 * z[:1], z)["poisson"]) == -2.0


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
        (lambda: Heat(-1.0), r"Heat\(diffusivity\) is -1.0 but must be above 0"),
        (lambda: Heat(float("nan")), r"Heat\(diffusivity\) is nan"),
        (lambda: Heat(0.1, dimension=4), "write 1, 2 or 3"),
        (lambda: Wave(0.0), r"Wave\(speed\)"),
        (lambda: Burgers(Unknown(-0.1)), r"Burgers\(viscosity\)"),
        (lambda: AllenCahn(0.1, float("inf")), r"AllenCahn\(reaction\)"),
        (lambda: Poisson(0.0, influence_radius=0.0), "influence_radius"),
        (lambda: AdvectionDiffusion(1.0, 0.1, dimension=2), "one velocity per axis"),
        (lambda: AdvectionDiffusion((1.0, 2.0), 0.1), "one velocity per axis"),
        (lambda: Heat(0.1, source="sin(y)"), r"Heat\(source\): unknown name 'y'"),
        (lambda: Heat(0.1, source="sin("), "end of the text"),
        (lambda: Heat(0.1, source=lambda a, b, c: a), "write `lambda x, t"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
