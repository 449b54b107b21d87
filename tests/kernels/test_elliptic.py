"""Influence at rest: the three equations, their integrals, and no before and after."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from greens_functions import (
    SPHERE_AREA,
    bias_of_ones,
    each_dimension,
    integral_over_space,
    random_points,
    relative_residual,
    space_laplacian,
    spread_out,
)

from pgt.core.errors import InputError
from pgt.kernels import HelmholtzKernel, PoissonKernel, ScreenedPoissonKernel
from pgt.kernels.elliptic import log_bessel_k0, log_hankel_modulus


def test_bessel_functions_match_scipy(float64):
    z = np.geomspace(1e-8, 1e4, 300)
    k0 = jax.vmap(log_bessel_k0)(jnp.asarray(z))
    np.testing.assert_allclose(k0, np.log(scipy.special.k0e(z)) - z, rtol=1e-12, atol=1e-12)
    hankel = jax.vmap(log_hankel_modulus)(jnp.asarray(z))
    exact = np.log(np.abs(scipy.special.hankel1(0, z)))
    np.testing.assert_allclose(hankel, exact, rtol=1e-12, atol=1e-12)
    slope = jax.vmap(jax.grad(log_bessel_k0))(jnp.asarray(z))
    np.testing.assert_allclose(slope, -scipy.special.k1e(z) / scipy.special.k0e(z), rtol=1e-10)


# ------------------------------------------------------------------------------- elliptic


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


@each_dimension
def test_screened_poisson_has_the_integral_of_its_equation(float64, d):
    # Integrating −∇²G + G/l² = δ over all space leaves ∫ G = l².
    total = integral_over_space(ScreenedPoissonKernel(0.4), d, None, np.full(d, 1e-9), outer=12.0)
    assert total == pytest.approx(0.4**2, rel=1e-6)


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


@pytest.mark.parametrize("kernel", [PoissonKernel, ScreenedPoissonKernel, HelmholtzKernel])
@each_dimension
def test_elliptic_kernels_ignore_time(float64, kernel, d):
    points, resolution = random_points(8, d + 1), np.full(d + 1, 0.01)
    with_time = kernel(0.8, has_time=True).bias(points, points, resolution)
    without = kernel(0.8).bias(points[:, :d], points[:, :d], resolution[:d])
    np.testing.assert_array_equal(with_time, without)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PoissonKernel(np.inf), "radius=inf"),
        (lambda: ScreenedPoissonKernel(0.0), "length=0.0"),
        (lambda: HelmholtzKernel(0.0), "wavenumber=0.0"),
        (lambda: bias_of_ones(PoissonKernel(1.0, has_time=True), 1), "0 spatial axes"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
