"""Two Bessel functions against SciPy's, in both precisions."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from pgt.kernels._bessel import log_bessel_k0, log_hankel_modulus


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
