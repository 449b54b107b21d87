"""Rods that cool, against the equation and by their law."""

import grid_residuals
import jax
import numpy as np

from pgt.families.laws.heat_law import HeatFamily


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
