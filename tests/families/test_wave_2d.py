"""Membranes that swing, against the equation."""

import grid_residuals
import jax
import numpy as np

from pgt.families.wave_2d import Wave2DFamily


def test_the_field_solves_the_equation_and_is_held_at_the_edge():
    family = Wave2DFamily(nodes=49, times=65)
    left, scale = grid_residuals.residuals(family, jax.random.key(1))
    assert np.abs(left["wave"]).max() < 1e-4 * scale["u_tt"]
    values = np.asarray(jax.jit(family.draw)(jax.random.key(1)).values)
    assert np.abs(values[[0, -1]]).max() < 1e-5
    assert np.abs(values[:, [0, -1]]).max() < 1e-5
