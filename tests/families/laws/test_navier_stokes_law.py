"""Flows that stir themselves, against the equation with its force and against a refined run."""

import grid_residuals
import jax
import numpy as np

from pgt.families.laws.navier_stokes_law import NavierStokesFamily


def test_velocity_and_pressure_solve_the_equations_under_the_force():
    family = NavierStokesFamily(nodes=128, times=9, duration=0.2)
    left, scale = grid_residuals.residuals(family, jax.random.key(1), {"viscosity": 0.005})
    for row in ("momentum_x", "momentum_y"):
        assert np.sqrt(np.mean(left[row] ** 2)) < 2e-3 * scale["p_x"]
    assert np.abs(left["continuity"]).max() < 1e-3 * scale["u_x"]


def test_steps_are_small_enough():
    key, given = jax.random.key(2), {"viscosity": 5e-4}
    family = NavierStokesFamily(nodes=32, times=2, duration=2.0)
    usual = np.asarray(jax.jit(lambda key: family.draw(key, given))(key).values)
    finer = NavierStokesFamily(nodes=32, times=61, duration=2.0)
    small = np.asarray(jax.jit(lambda key: finer.draw(key, given))(key).values)[:, :, ::60]
    # Measured against double precision: 1.5e-6 of the largest after 1 unit of time, 3e-6 after 10.
    assert np.abs(usual - small).max() < 2e-5 * np.abs(usual).max()
    assert np.abs(usual[:, :, 1] - usual[:, :, 0]).max() > 0.2 * np.abs(usual).max()
