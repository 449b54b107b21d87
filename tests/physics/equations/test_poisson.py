"""Poisson's and Laplace's equations: their residuals, kernels and mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.unknown import Unknown, resolve
from pgt.physics import Laplace, Poisson


def test_residuals_of_a_polynomial_by_hand():
    # u = x² y³: ∇²u = 2 y³ + 6 x² y
    def field(z):
        return (z[0] ** 2 * z[1] ** 3)[None]

    z = jnp.array([3.0, 2.0])
    poisson, laplace = residual_at(Poisson("x*y"), field, z), residual_at(Laplace(), field, z)
    assert (list(poisson), list(laplace)) == (["poisson"], ["laplace"])
    assert float(poisson["poisson"]) == pytest.approx(16 + 108 - 6)
    assert float(laplace["laplace"]) == pytest.approx(16 + 108)


def test_constant_and_unknown_sources():
    z = jnp.array([0.5, 0.5])
    for source in (2, 2.0, Unknown(2.0)):
        pde = resolve(Poisson(source))
        assert float(residual_at(pde, lambda z: 0 * z[:1], z)["poisson"]) == -2.0
