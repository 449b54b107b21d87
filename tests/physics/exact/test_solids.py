"""Solids have the properties that give them their names."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.physics.exact.solids import kelvin, stretched


def test_what_cannot_be_compressed_keeps_its_volume():
    for n in (2, 3):
        field = kelvin(1.0, 0.5, (1.0, 2.0, 3.0)[:n], (0.0,) * n)
        slope = jax.jacfwd(field)(jnp.array([0.3, 0.7, 0.5])[:n])
        assert float(jnp.trace(slope)) == pytest.approx(0, abs=1e-5)


def test_a_plate_has_no_shear_and_the_stress_of_its_load():
    slope = jax.jacfwd(stretched(2.0, 0.3, -0.5))(jnp.array([0.4, 0.8]))
    assert float(slope[0, 1] + slope[1, 0]) == pytest.approx(0, abs=1e-6)
    stress = 2.0 / (1 - 0.3**2) * (slope[1, 1] + 0.3 * slope[0, 0])
    np.testing.assert_allclose(stress, 0.5 * 0.8, rtol=1e-5)
