"""Waves have the properties that give them their names."""

import jax.numpy as jnp
import pytest

from pgt.physics.exact.waves import cavity_mode, plane_light, sound


def test_light_is_transverse_and_as_strong_as_the_medium_says():
    ez, hx, hy = plane_light(2.0, 0.5)(jnp.array([0.3, 0.2, 0.1]))
    assert float(3 * hx + 4 * hy) == pytest.approx(0, abs=1e-6)
    assert float(jnp.hypot(hx, hy)) == pytest.approx(2 * abs(float(ez)), rel=1e-5)


def test_a_wall_that_conducts_holds_no_field():
    mode = cavity_mode(2.0, 1.5, 0.8)
    for wall in ([0.0, 0.3, 0.7], [0.2, 1.0, 0.7]):
        assert float(mode(jnp.array(wall))[0]) == pytest.approx(0, abs=1e-5)


def test_denser_air_has_more_pressure():
    z = jnp.array([0.3, 0.2])
    light, dense = sound(1.5, 1.0, 1)(z), sound(1.5, 2.0, 1)(z)
    assert [float(light[0]), 2 * float(light[1])] == pytest.approx([float(v) for v in dense])
