"""A NumPy array that a function captures keeps no precision of an earlier evaluation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt.physics.pde  # noqa: F401 - sets the conversion

FUNCTIONS = {
    "product": lambda array, x: jnp.sum(array * x),
    "interpolation": lambda array, x: jnp.interp(x, jnp.arange(4.0), array),
    "choice": lambda array, x: jnp.sum(jnp.where(array > 0, x, array)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "transform", [lambda f: f, jax.jit, jax.grad], ids=["eager", "jit", "grad"]
)
def test_a_captured_array_works_in_both_precisions(name, transform):
    array = np.array([0.1, 0.2, 0.3, 0.4])
    function = transform(lambda x: FUNCTIONS[name](array, x))

    with jax.enable_x64(True):
        program = jax.jit(lambda x: FUNCTIONS[name](array, x)).trace(jnp.float64(1.5))
        exact = function(jnp.float64(1.5))
    single = function(jnp.float32(1.5))
    with jax.enable_x64(True):
        again = function(jnp.float64(1.5))

    assert program is not None  # it keeps the array in double precision alive
    assert (exact.dtype, single.dtype, again.dtype) == (jnp.float64, jnp.float32, jnp.float64)
    assert again == exact
    np.testing.assert_allclose(single, exact, rtol=1e-6)
