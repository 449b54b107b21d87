"""The scheme in time: its order, and its weights in single precision."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.etdrk4 import march, phi


def test_the_functions_are_good_in_single_precision():
    z = np.concatenate([-np.logspace(-7, 3, 200), np.logspace(-7, 0.5, 80), [0.0]])
    found = jax.jit(phi)(jnp.asarray(z, jnp.float32))
    for order, values in enumerate(found, 1):
        exact = [_phi(float(np.float32(each)), order) for each in z]
        np.testing.assert_allclose(values, exact, rtol=3e-6)


def test_a_logistic_curve_is_met_to_fourth_order():
    errors = []
    with jax.enable_x64(True):
        for steps in (8, 16):
            rate, start = jnp.asarray([-1.0]), jnp.asarray([0.5 + 0j])
            # u_t = -u + u²: u = 1 / (1 + eᵗ (1 - u₀)/u₀)
            take = jax.jit(lambda u, n=steps, r=rate: march(u, r, lambda u: u**2, 3, 1.0, n))
            found = take(start)
            assert found.shape == (3, 1)
            errors.append(abs(complex(found[2, 0]) - 1 / (1 + math.e**2)))
    assert errors[1] < 1e-6
    assert 3.6 < math.log2(errors[0] / errors[1]) < 4.6


def test_what_is_linear_is_exact():
    rate = jnp.asarray([-3.0, -1e4])
    found = jax.jit(lambda u: march(u, rate, lambda u: 0 * u, 2, 1.0, 1))(jnp.ones(2, complex))
    np.testing.assert_allclose(found[1], np.exp([-3.0, -1e4]), atol=1e-7)


def _phi(z, order):
    """By the series in exact powers near zero, and by the definition elsewhere."""
    if abs(z) < 2:
        return math.fsum(z**j / math.factorial(j + order) for j in range(40))
    value = math.exp(z) if z > -700 else 0.0
    for j in range(order):
        value = (value - 1 / math.factorial(j)) / z
    return value
