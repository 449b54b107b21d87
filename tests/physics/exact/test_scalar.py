"""Solutions of one field have the properties that give them their names."""

import jax.numpy as jnp
import pytest

from pgt.physics.exact.scalar import advected_gaussian, burgers_shock, heat_mode, plane_waves


def test_values_by_hand():
    assert float(heat_mode(0.1, 1)(jnp.array([0.5, 0.0]))[0]) == pytest.approx(1)
    assert float(burgers_shock(0.1, 0.5, 0.8)(jnp.array([0.5, 1.0]))[0]) == pytest.approx(0.5)
    puff = advected_gaussian((0.7, -0.4), 0.1)
    assert float(puff(jnp.array([0.7, -0.4, 1.0]))[0]) == pytest.approx(0.5)


def test_waves_repeat_after_a_wavelength():
    wave = plane_waves(2.0, 1)
    here, there = wave(jnp.array([0.3])), wave(jnp.array([0.3 + jnp.pi]))
    assert float(here[0]) == pytest.approx(float(there[0]), rel=1e-4)
