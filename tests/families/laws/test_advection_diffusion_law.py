"""What a flow carries, against the equation."""

import grid_residuals
import jax
import numpy as np

from pgt.families.laws.advection_diffusion_law import AdvectionDiffusionFamily


def test_the_field_solves_the_equation():
    family = AdvectionDiffusionFamily(nodes=256, times=801)
    left, scale = grid_residuals.residuals(family, jax.random.key(1))
    assert np.abs(left["advection_diffusion"]).max() < 1e-4 * scale["u_t"]


def test_the_ring_closes_and_nothing_is_gained():
    family = AdvectionDiffusionFamily(nodes=64, times=3)
    values = np.asarray(jax.jit(family.draw)(jax.random.key(2)).values)
    assert np.abs(values.mean(0)).max() < 1e-5
    waves = np.abs(np.fft.rfft(values[:, 0, 0]))
    assert waves[9:].max() < 1e-4 * waves.max()
