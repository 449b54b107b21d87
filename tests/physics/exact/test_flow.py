"""Flows have the properties that give them their names."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.physics.exact.flow import (
    abc_flow,
    dam_break,
    internal_wave,
    kovasznay,
    pumped_well,
    stokeslet,
    taylor_green,
    with_fluxes,
)


def test_vortices_by_hand():
    found = taylor_green(0.05, (0.6, -0.3))(jnp.array([0.0, jnp.pi / 2, 0.0]))
    np.testing.assert_allclose(found, [0.6 - 1, -0.3, 0], atol=1e-6)
    wake = kovasznay(20.0)(jnp.array([0.0, 0.25]))
    np.testing.assert_allclose(wake[::2], [1, -0.5], atol=1e-6)


def test_the_flow_of_abc_is_its_own_vorticity():
    flow = abc_flow(1.0, 0.8, 0.6)
    z = jnp.array([0.3, 1.1, 2.0])
    j = jax.jacfwd(flow)(z)
    curl = jnp.stack([j[2, 1] - j[1, 2], j[0, 2] - j[2, 0], j[1, 0] - j[0, 1]])
    np.testing.assert_allclose(curl, flow(z)[:3], rtol=1e-5)


def test_the_pressure_about_a_point_force_falls_as_its_distance_squared():
    p = [
        stokeslet(0.5, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))(jnp.array([0, 0, r]))[3]
        for r in (1.0, 2.0)
    ]
    assert float(p[0]) == pytest.approx(1 / (4 * np.pi))
    assert float(p[0] / p[1]) == pytest.approx(4)


def test_a_wave_moves_along_its_crests():
    u, v, _, _ = internal_wave(0.0, 2.0, 0.7)(jnp.array([0.3, 0.2, 0.1]))
    assert float(2 * u + v) == pytest.approx(0, abs=1e-6)


def test_water_behind_a_broken_dam_stands_still_where_the_wave_has_not_come():
    depth, u, v = dam_break(10.0, 2.0, (0.0, 0.0))(jnp.array([-1.2, -1.6, 0.0]))
    assert [float(depth), float(u), float(v)] == pytest.approx([0.4, 0, 0], abs=1e-6)


def test_water_flows_to_the_well():
    _, u, v = with_fluxes(pumped_well(0.5, 0.0), 0.5, 2)(jnp.array([0.5, 0.5]))
    assert [float(u), float(v)] == pytest.approx([-1 / (4 * np.pi)] * 2, rel=1e-5)
