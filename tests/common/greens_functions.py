"""Kernels against their equations: does exp(kernel) solve the PDE, and what is its integral?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

SPHERE_AREA = {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}  # of the unit sphere in d dimensions
each_dimension = pytest.mark.parametrize("d", [1, 2, 3])


def random_points(count, axes, seed=0):
    return np.random.default_rng(seed).uniform(0, 1, (count, axes))


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


def integral_over_space(kernel, d, time, resolution, outer):
    """∫ exp(kernel) dx by quadrature over the radius, source at the origin."""

    @jax.jit
    def shell(r):
        receiver = jnp.zeros(d if time is None else d + 1).at[0].set(r)
        receiver = receiver if time is None else receiver.at[-1].set(time)
        log_influence = kernel.log_influence(receiver, jnp.zeros_like(receiver), resolution)[0]
        return jnp.exp(log_influence) * SPHERE_AREA[d] * r ** (d - 1)

    return quad(lambda r: float(shell(r)), 0, outer, limit=200)[0]


def bias_of_ones(kernel, axes):
    return kernel.bias(np.ones((2, axes)), np.ones((3, axes)), np.ones(axes))
