"""Waves above random sources, against the equation in sines."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families.laws.helmholtz_law import HelmholtzFamily
from pgt.families.laws.poisson_law import PoissonFamily


def test_the_source_is_that_of_poisson_and_the_field_differs_by_the_wave():
    # ∇²u + k²u = f = ∇²w: the sines of u and w are in the ratio (π²(i² + j²)) / (π²(i² + j²) - k²).
    key = jax.random.split(jax.random.key(0))[0]  # of the state, where one coefficient is drawn
    wave = HelmholtzFamily().draw(jax.random.key(0), {"wavenumber": 3.0}).values
    still = PoissonFamily().solve(jax.random.normal(key, (128, 128)), {})
    np.testing.assert_allclose(wave[..., 0], still[..., 0], atol=1e-5)
    x = np.linspace(0, 1, 128)
    for i, j in ((1, 1), (2, 1), (3, 3)):
        modes = np.outer(np.sin(i * np.pi * x), np.sin(j * np.pi * x))
        ratio = (wave[..., 1] * modes).sum() / (still[..., 1] * modes).sum()
        rate = np.pi**2 * (i**2 + j**2)
        np.testing.assert_allclose(ratio, rate / (rate - 9), rtol=1e-3)


def test_resonance_is_refused():
    with pytest.raises(pgt.InputError, match=r"resonates at 4\.443"):
        HelmholtzFamily(wavenumber=(1.0, 4.4))
