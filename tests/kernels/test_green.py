"""Kernels against their equations: exp(kernel) solves the PDE and is normalised as it should be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from scipy.integrate import quad

from pgt.kernels import (
    AdvectionDiffusionKernel,
    HeatKernel,
    HelmholtzKernel,
    PoissonKernel,
    ScreenedPoissonKernel,
    WaveKernel,
)
from pgt.kernels._bessel import log_bessel_k0, log_hankel_modulus

VELOCITY = (1.0, -0.5, 0.2)
SPHERE_AREA = {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}  # of the unit sphere in d dimensions
each_dimension = pytest.mark.parametrize("d", [1, 2, 3])


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


# --- exp(kernel) solves its equation away from the source ---


def relative_residual(kernel, terms, points, resolution):
    """Largest |Σ terms| / max |term| over `points`, the source being at the origin."""

    def influence(z):
        return jnp.exp(kernel.log_influence(z, jnp.zeros_like(z), resolution)[0])

    def ratio(z):
        parts = jnp.stack(terms(influence(z), jax.grad(influence)(z), jax.hessian(influence)(z)))
        return jnp.abs(jnp.sum(parts)) / jnp.max(jnp.abs(parts))

    return float(jnp.max(jax.jit(jax.vmap(ratio))(points)))


def spread_out(d, time):
    """Random receivers at distances 0.2 to 0.9 from the origin; `time` is None or a constant."""
    generator = np.random.default_rng(d)
    direction = generator.normal(size=(20, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    space = direction * generator.uniform(0.2, 0.9, (20, 1))
    return jnp.asarray(space if time is None else np.c_[space, np.full(20, time)])


def space_laplacian(hessian, d):
    return jnp.trace(hessian[:d, :d])


@each_dimension
def test_heat_kernel_solves_the_heat_equation(float64, d):
    kernel = HeatKernel(0.3)

    def terms(u, gradient, hessian):
        return [gradient[-1], -0.3 * space_laplacian(hessian, d)]

    assert relative_residual(kernel, terms, spread_out(d, 0.4), np.full(d + 1, 0.01)) < 1e-8


@each_dimension
def test_advection_diffusion_kernel_solves_its_equation(float64, d):
    kernel = AdvectionDiffusionKernel(VELOCITY[:d], 0.3)

    def terms(u, gradient, hessian):
        drift = [VELOCITY[i] * gradient[i] for i in range(d)]
        return [gradient[-1], *drift, -0.3 * space_laplacian(hessian, d)]

    assert relative_residual(kernel, terms, spread_out(d, 0.4), np.full(d + 1, 0.01)) < 1e-8


@pytest.mark.parametrize(("d", "tau"), [(2, 0.01), (3, 0.45)])
def test_wave_kernel_solves_the_wave_equation(float64, d, tau):
    # In 3D the pulse is 2cτ wide; τ = 0.45 puts all test points inside it.
    kernel, resolution = WaveKernel(1.5), np.r_[np.full(d, 0.01), tau]

    def terms(u, gradient, hessian):
        return [hessian[-1, -1], -(1.5**2) * space_laplacian(hessian, d)]

    points = spread_out(d, 0.7)
    assert np.all(np.isfinite(kernel.bias(points, jnp.zeros((1, d + 1)), resolution)))
    assert relative_residual(kernel, terms, points, resolution) < 1e-8


def test_wave_kernel_in_one_dimension_gives_dalemberts_solution(float64):
    # u_tt = c² u_xx, u = 0 and u_t = cos x at the start: u = cos x · sin(ct) / c.
    x, t, c = 0.3, 0.8, 1.5
    sources = np.linspace(-4, 4, 80_001)
    origin_time = np.c_[sources, np.zeros_like(sources)]
    gamma = WaveKernel(c).bias(np.array([[x, t]]), origin_time, np.array([0.01, 0.01]))[0, 0]
    u = np.sum(np.exp(gamma) * np.cos(sources)) * (sources[1] - sources[0])
    assert u == pytest.approx(np.cos(x) * np.sin(c * t) / c, abs=1e-4)


@each_dimension
def test_poisson_kernel_is_harmonic_inside_its_radius(float64, d):
    kernel = PoissonKernel(1.0)

    def terms(u, gradient, hessian):
        # In 1D each second derivative is zero by itself: measure it against the value.
        return [*jnp.diagonal(hessian)] if d > 1 else [hessian[0, 0], u, -u]

    assert relative_residual(kernel, terms, spread_out(d, None), np.full(d, 0.01)) < 1e-8


@each_dimension
def test_poisson_kernel_has_unit_flux_and_ends_at_its_radius(float64, d):
    kernel, resolution = PoissonKernel(1.3), np.full(d, 0.01)

    def influence(r):
        receiver = jnp.zeros(d).at[0].set(r)
        return jnp.exp(kernel.log_influence(receiver, jnp.zeros(d), resolution)[0])

    for r in (0.1, 0.7, 1.2):
        assert -jax.grad(influence)(r) * SPHERE_AREA[d] * r ** (d - 1) == pytest.approx(1, rel=1e-9)
    assert influence(1.3 - 1e-12) == pytest.approx(0, abs=1e-11)
    assert influence(1.3 - 1e-12) > 0
    assert influence(1.3) == 0
    assert influence(2.0) == 0


@each_dimension
def test_screened_poisson_kernel_solves_modified_helmholtz(float64, d):
    kernel = ScreenedPoissonKernel(0.4)

    def terms(u, gradient, hessian):
        return [space_laplacian(hessian, d), -u / 0.4**2]

    assert relative_residual(kernel, terms, spread_out(d, None), np.full(d, 0.01)) < 1e-8


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("part", [jnp.cos, jnp.sin])
def test_helmholtz_kernel_with_its_phase_solves_helmholtz(float64, d, part):
    # In 1D and 3D the outgoing wave is modulus · e^{ikr}; its two parts solve the real equation.
    k, kernel = 4.0, HelmholtzKernel(4.0)

    def wave(z):
        modulus = jnp.exp(kernel.log_influence(z, jnp.zeros(d), np.full(d, 0.01))[0])
        return modulus * part(k * jnp.sqrt(jnp.sum(z**2)))

    points = spread_out(d, None)
    laplacian = jax.jit(jax.vmap(lambda z: jnp.trace(jax.hessian(wave)(z))))(points)
    scale = k**2 * float(jnp.max(jnp.abs(jax.vmap(wave)(points))))
    np.testing.assert_allclose(laplacian, -(k**2) * jax.vmap(wave)(points), atol=1e-8 * scale)


def test_helmholtz_kernel_in_the_plane_obeys_the_modulus_equation(float64):
    # H₀ = M e^{iθ} with M² θ' = 2/πr (the Wronskian) gives ∇²M + k²M = (2/πr)² / M³.
    k, resolution = 4.0, np.full(2, 0.01)

    def modulus(z):
        return 4 * jnp.exp(HelmholtzKernel(k).log_influence(z, jnp.zeros(2), resolution)[0])

    points = spread_out(2, None)
    m, radius = jax.vmap(modulus)(points), jnp.linalg.norm(points, axis=1)
    laplacian = jax.jit(jax.vmap(lambda z: jnp.trace(jax.hessian(modulus)(z))))(points)
    np.testing.assert_allclose(laplacian + k**2 * m, (2 / (np.pi * radius)) ** 2 / m**3, rtol=1e-8)


# --- normalisation and special functions ---


def integral_over_space(kernel, d, time, resolution, outer):
    """∫ exp(kernel) dx by quadrature over the radius, source at the origin."""

    @jax.jit
    def shell(r):
        receiver = jnp.zeros(d if time is None else d + 1).at[0].set(r)
        receiver = receiver if time is None else receiver.at[-1].set(time)
        log_influence = kernel.log_influence(receiver, jnp.zeros_like(receiver), resolution)[0]
        return jnp.exp(log_influence) * SPHERE_AREA[d] * r ** (d - 1)

    return quad(lambda r: float(shell(r)), 0, outer, limit=200)[0]


@each_dimension
def test_heat_conserves_what_was_released(float64, d):
    total = integral_over_space(HeatKernel(0.3), d, 0.4, np.full(d + 1, 0.01), outer=5.0)
    assert total == pytest.approx(1, rel=1e-8)


def test_drift_moves_the_heat_kernel_without_changing_it(float64):
    drifting, resolution = AdvectionDiffusionKernel((2.0,), 0.3), np.full(2, 0.01)
    moved = drifting.log_influence(np.array([0.5 + 2.0 * 0.4, 0.4]), np.zeros(2), resolution)
    still = HeatKernel(0.3).log_influence(np.array([0.5, 0.4]), np.zeros(2), resolution)
    np.testing.assert_allclose(moved, still, rtol=1e-12)


@pytest.mark.parametrize(("d", "expected"), [(1, 0.7), (2, 0.7), (3, 0.6)])
def test_wave_carries_momentum_equal_to_elapsed_time(float64, d, expected):
    # ∫ G dx = Δt for the exact kernel; the 3D pulse trails the front by τ, so Δt − τ there.
    tau = 0.1 if d == 3 else 1e-4
    resolution = np.r_[np.full(d, 1e-9), tau]
    total = integral_over_space(WaveKernel(1.5), d, 0.7, resolution, outer=1.5 * 0.7)
    assert total == pytest.approx(expected, rel=1e-3)


@each_dimension
def test_screened_poisson_has_the_integral_of_its_equation(float64, d):
    # Integrating −∇²G + G/l² = δ over all space leaves ∫ G = l².
    total = integral_over_space(ScreenedPoissonKernel(0.4), d, None, np.full(d, 1e-9), outer=12.0)
    assert total == pytest.approx(0.4**2, rel=1e-6)


def test_bessel_functions_match_scipy(float64):
    z = np.geomspace(1e-8, 1e4, 300)
    k0 = jax.vmap(log_bessel_k0)(jnp.asarray(z))
    np.testing.assert_allclose(k0, np.log(scipy.special.k0e(z)) - z, rtol=1e-12, atol=1e-12)
    hankel = jax.vmap(log_hankel_modulus)(jnp.asarray(z))
    exact = np.log(np.abs(scipy.special.hankel1(0, z)))
    np.testing.assert_allclose(hankel, exact, rtol=1e-12, atol=1e-12)
    slope = jax.vmap(jax.grad(log_bessel_k0))(jnp.asarray(z))
    np.testing.assert_allclose(slope, -scipy.special.k1e(z) / scipy.special.k0e(z), rtol=1e-10)


def test_bessel_functions_in_single_precision():
    z = np.geomspace(1e-6, 1e4, 100).astype(np.float32)
    k0 = jax.vmap(log_bessel_k0)(z)
    np.testing.assert_allclose(k0, np.log(scipy.special.k0e(z)) - z, rtol=1e-6, atol=1e-6)
    hankel = jax.vmap(log_hankel_modulus)(z)
    np.testing.assert_allclose(hankel, np.log(np.abs(scipy.special.hankel1(0, z))), atol=2e-6)


def test_plane_elliptic_kernels_match_scipy(float64):
    r = np.geomspace(0.02, 3, 40)
    points, origin, resolution = np.c_[r, np.zeros(40)], np.zeros((1, 2)), np.full(2, 0.01)
    screened = ScreenedPoissonKernel(0.4).bias(points, origin, resolution)[0, :, 0]
    np.testing.assert_allclose(
        np.exp(screened), scipy.special.k0(r / 0.4) / (2 * np.pi), rtol=1e-10
    )
    outgoing = HelmholtzKernel(4.0).bias(points, origin, resolution)[0, :, 0]
    exact = np.abs(scipy.special.hankel1(0, 4 * r)) / 4
    np.testing.assert_allclose(np.exp(outgoing), exact, rtol=1e-10)
