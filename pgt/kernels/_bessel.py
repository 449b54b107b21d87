"""The two Bessel functions of plane elliptic problems, which JAX does not have.

Both are integrals over u in (0, ∞) of exp(−2z sinh²u) times a function without z. Such an integrand
is even and analytic and dies doubly exponentially, so the midpoint rule converges exponentially
(Trefethen & Weideman, SIAM Review 56, 2014), and so do the derivatives in z.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.kernels._pair import Number

_NODES = 96  # 1e-12 or better for every z above 1e-8


def log_bessel_k0(z: Number) -> Number:
    """log K₀(z) = log(2 e^{−z} ∫ exp(−2z sinh²u) du) for z > 0."""
    nodes, step = _midpoints(z)
    integral = step * jnp.sum(jnp.exp(-2 * z * jnp.sinh(nodes) ** 2))
    return math.log(2) - z + jnp.log(integral)


def log_hankel_modulus(z: Number) -> Number:
    """log |H₀(z)| = log(4/π · |∫ exp(−2z sinh²u) cosh u / √(1 + i sinh²u) du|) for z > 0."""
    nodes, step = _midpoints(z)
    q = jnp.sinh(nodes) ** 2
    modulus = jnp.hypot(1.0, q)
    weight = step * jnp.cosh(nodes) / modulus * jnp.exp(-2 * z * q)
    real = jnp.sum(weight * jnp.sqrt((modulus + 1) / 2))
    imaginary = jnp.sum(weight * q / jnp.sqrt(2 * (modulus + 1)))
    return math.log(4 / math.pi) + jnp.log(real**2 + imaginary**2) / 2


def _midpoints(z: Number) -> tuple[Float[Array, " nodes"], Number]:
    """Nodes up to where exp(−2z sinh²u) = e⁻⁴⁰; constants of the rule, hence without gradient."""
    step = jnp.arcsinh(jnp.sqrt(20 / jax.lax.stop_gradient(z))) / _NODES
    return step * (jnp.arange(_NODES) + 0.5), step
