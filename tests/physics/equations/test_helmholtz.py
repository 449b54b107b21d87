"""The Helmholtz equation: its residual, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.kernels.elliptic import HelmholtzKernel
from pgt.physics import Helmholtz


def test_residual_of_a_polynomial_by_hand():
    # u = x² y³: ∇²u = 2 y³ + 6 x² y
    found = residual_at(
        Helmholtz(2.0, source="x*y"),
        lambda z: (z[0] ** 2 * z[1] ** 3)[None],
        jnp.array([3.0, 2.0]),
    )
    assert {n: float(v) for n, v in found.items()} == {"helmholtz": 16 + 108 + 4 * 72 - 6}


def test_kernel_and_mistakes():
    assert Helmholtz(2.0, 3).kernel() == HelmholtzKernel(2.0)
    with pytest.raises(
        InputError, match=r"Helmholtz\(wavenumber=-1.0\): wavenumber must be a number above 0"
    ):
        Helmholtz(-1.0)
