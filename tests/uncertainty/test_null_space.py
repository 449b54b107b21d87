"""Where nothing was read, an equation says all, or nothing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.physics.conditions import Dirichlet, Initial
from pgt.problem.assembly import assemble
from pgt.uncertainty.null_space import far_from_own_readings, null_space_samples

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
PLACES = np.array([[0.2, 0.5], [0.8, 0.5], [0.9, 0.2]])


@eqx.filter_jit
def _all(null_space, places):
    return eqx.filter_vmap(lambda one: jax.vmap(one)(places))(null_space)


def opened(text, *conditions):
    """What is left open around a network of small weights, with readings on the left."""
    points = np.random.default_rng(0).uniform((0, 0), (0.5, 1), (60, 2))
    values = np.sin(3 * points[:, 0]) + points[:, 1]
    readings = pgt.Observations.from_arrays(
        points, values[:, None], coords=("x", "t"), fields=("u",)
    )
    model = pgt.PINN(pgt.Scaling.fit(readings, DOMAIN), width=8, layers=2)
    task = assemble(readings, pgt.Equation(text), DOMAIN, conditions, model=model)
    far = far_from_own_readings(PLACES, task.problem.observations, DOMAIN)
    assert far[:, 0].tolist() == [False, True, True]
    null_space = null_space_samples(task.model, task.pde, task.problem, 32)
    if null_space is None:
        return None
    with jax.enable_x64(True):
        drawn = np.asarray(_all(null_space, jnp.asarray(PLACES)))
    assert np.mean(drawn, axis=0) == pytest.approx(0.0, abs=1e-12)
    return np.std(drawn, axis=0)[:, 0] / values.std()


def test_what_is_carried_along_knows_nothing_of_where_it_did_not_come_from():
    found = opened("u_t + 0.1*u_x^2 = 0")
    assert found is not None
    here, *away = found
    assert here < 0.01
    assert min(away) > 0.1


def test_walls_and_a_start_determine_what_spreads():
    walls = Dirichlet("x", u=0.0), Initial(u=0.0)
    assert opened("u_t = diff((1 + 0.1*u^2)*u_x, x)", *walls) is None


def test_where_the_equation_has_no_value_nothing_is_said():
    assert opened("u_t + log(u - 100) + u_x^2 = 0") is None


def test_readings_everywhere_leave_no_place_unread():
    points = np.random.default_rng(0).uniform(size=(200, 2))
    readings = pgt.Observations.from_arrays(points, points[:, :1], coords=("x", "t"), fields=("u",))
    places = np.random.default_rng(1).uniform(size=(500, 2))
    assert not far_from_own_readings(places, readings, DOMAIN).any()


def test_bands_of_a_half_read_wave_are_wide_where_it_is_open():
    points = np.random.default_rng(0).uniform((0, 0), (0.4, 1), (80, 2))
    values = np.sin(4 * points @ [1.0, -1.0]) + 0.05 * np.random.default_rng(1).normal(size=80)
    readings = pgt.Observations.from_arrays(
        points, values[:, None], coords=("x", "t"), fields=("u",)
    )
    model = pgt.Features(pgt.Scaling.fit(readings, DOMAIN), count=40, band=8.0)
    result = pgt.reconstruct(
        readings, pgt.Wave(1.0), DOMAIN, model=model, error_bars=pgt.Posterior(16)
    )
    assert result.members is not None
    assert result.members.models.null_space is not None
    here, there = np.asarray(result.at(np.array([[0.2, 0.5], [0.97, 0.05]])).u_std)
    assert here < 0.1 * values.std()
    assert there > 0.3 * values.std()
