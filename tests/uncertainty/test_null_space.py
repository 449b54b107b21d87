"""Where nothing was read, an equation says all, or nothing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.physics.conditions import Dirichlet, Initial
from pgt.problem.assembly import assemble
from pgt.uncertainty.field_error import near_readings
from pgt.uncertainty.null_space import null_space_samples, posterior_by_sines

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
    near = near_readings(PLACES, task.problem.observations, DOMAIN)
    assert near.tolist() == [True, False, False]
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


def test_sines_know_a_field_by_its_readings_and_by_its_equation():
    """The last field stands in no equation: nothing determines it."""
    points = np.random.default_rng(0).uniform(size=(80, 2))
    u = np.sin(2 * points[:, 0] - 2 * points[:, 1])
    readings = pgt.Observations.from_arrays(points, u[:, None], coords=("x", "t"), fields=("u",))
    pde = pgt.Equation(["u_t + u_x = 0", "v_x = u_x", "w_t*0 = 0*v"], fields=("u", "v", "w"))
    model = pgt.Features(pgt.Scaling.fit(readings.aligned(pde.fields), DOMAIN), count=40, band=4.0)
    task = assemble(readings, pde, DOMAIN, model=model)
    found = posterior_by_sines(task.model, task.pde, task.problem, 32, 0.01)
    assert found is not None
    drawn = found(np.random.default_rng(1).uniform(size=(50, 2)))
    assert drawn.mean(axis=0) == pytest.approx(0.0, abs=1e-12)
    read, _, free = np.sqrt(np.mean(drawn**2, axis=(0, 1))) / np.asarray(task.model.scaling.spread)
    assert read < 0.1 < 0.5 < free


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
