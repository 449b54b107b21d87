"""Each equation of the zoo on exact solutions."""

import jax
import jax.numpy as jnp
import pytest
from nested_derivatives import random_points, residual_at

from pgt.physics.exact import ALL_PDES

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
