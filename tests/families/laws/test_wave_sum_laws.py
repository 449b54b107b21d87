"""Rods that cool, against the equation and by their law."""

import grid_residuals
import jax
import numpy as np

from pgt.families.laws.wave_sum_laws import (
    AdvectionDiffusionFamily,
    HeatFamily,
    Wave2DFamily,
    WaveFamily,
)


def test_the_field_solves_the_equation():
    left, scale = grid_residuals.residuals(HeatFamily(nodes=201, times=201), jax.random.key(1))
    assert np.abs(left["heat"]).max() < 1e-5 * scale["u_t"]


def test_the_ends_are_cold_and_the_law_is_as_said():
    family = HeatFamily(nodes=33, times=3)
    values = jax.jit(jax.vmap(family.draw))(jax.random.split(jax.random.key(0), 2000)).values
    assert np.abs(values[:, [0, -1]]).max() < 1e-5
    starts = np.asarray(values[:, :, 0, 0])
    modes = starts @ np.sin(np.pi * np.outer(family.axes["x"], [1, 3, 8])) / 16
    assert np.abs(modes.mean(0)).max() < 0.08
    np.testing.assert_allclose(modes.std(0), 1 / (1 + np.array([1, 9, 64]) / 9), rtol=0.06)


def test_advection_diffusion_law_the_field_solves_the_equation():
    family = AdvectionDiffusionFamily(nodes=256, times=801)
    left, scale = grid_residuals.residuals(family, jax.random.key(1))
    assert np.abs(left["advection_diffusion"]).max() < 1e-4 * scale["u_t"]


def test_the_ring_closes_and_nothing_is_gained():
    family = AdvectionDiffusionFamily(nodes=64, times=3)
    values = np.asarray(jax.jit(family.draw)(jax.random.key(2)).values)
    assert np.abs(values.mean(0)).max() < 1e-5
    waves = np.abs(np.fft.rfft(values[:, 0, 0]))
    assert waves[9:].max() < 1e-4 * waves.max()


def test_wave_law_the_field_solves_the_equation():
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
