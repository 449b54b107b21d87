"""Strings that swing, against the equation and by their law."""

import grid_residuals
import jax
import numpy as np

from pgt.families.laws.wave_law import Wave2DFamily, WaveFamily


def test_the_field_solves_the_equation():
    left, scale = grid_residuals.residuals(WaveFamily(nodes=201, times=401), jax.random.key(1))
    assert np.abs(left["wave"]).max() < 1e-4 * scale["u_tt"]


def test_the_ends_are_held_and_the_string_begins_with_a_velocity():
    family = WaveFamily(nodes=33, times=65)
    values = jax.jit(jax.vmap(family.draw))(jax.random.split(jax.random.key(0), 200)).values
    assert np.abs(values[:, [0, -1]]).max() < 1e-5
    assert np.abs(values.mean(0)).max() < 0.5
    speeds = np.asarray(values[:, :, 1] - values[:, :, 0]) * 64
    assert speeds.std() > 1


def test_the_field_solves_the_equation_and_is_held_at_the_edge():
    family = Wave2DFamily(nodes=49, times=65)
    left, scale = grid_residuals.residuals(family, jax.random.key(1))
    assert np.abs(left["wave"]).max() < 1e-4 * scale["u_tt"]
    values = np.asarray(jax.jit(family.draw)(jax.random.key(1)).values)
    assert np.abs(values[[0, -1]]).max() < 1e-5
    assert np.abs(values[:, [0, -1]]).max() < 1e-5
