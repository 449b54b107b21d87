"""The flow before readings of its vorticity."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families import NavierStokesFamily, flow_before
from pgt.families.asking import precisely
from pgt.families.flow_before import Backward, made, noise_of

FLOWS = NavierStokesFamily(nodes=32, times=3)
NU = {"viscosity": 1e-3}


def vorticity(family=FLOWS, seed=0):
    noise = jax.random.normal(jax.random.key(seed), family.noise_shape)
    return family.vorticity(noise, NU)


def late(n: int, noise: float = 0.0, **settings):
    family = NavierStokesFamily(nodes=128, times=3)
    w = vorticity(family).isel(t=[-1]).to_dataset()
    return pgt.sample(w, n=n, noise=noise, seed=1, **settings)


def error(found) -> float:
    """Of the vorticity at the start, relative to it."""
    start = vorticity().isel(t=0)
    return float(abs(FLOWS.vorticity(found.noise, NU).isel(t=0) - start).std() / start.std())


@pytest.mark.slow
def test_steps_through_the_solver_come_nearer_to_the_flow_than_the_answer_at_once():
    readings = late(300)
    with precisely():
        points, values = (np.asarray(a, float) for a in (readings.points, readings.values))
        back = Backward.of(points[:, :2], NU["viscosity"], 1.0)
        start = made(back.at_once(values[:, 0]))[::4, ::4]
    first = vorticity().isel(t=0).values
    at_once = np.linalg.norm(start - first) / np.linalg.norm(first)
    found = flow_before(FLOWS, readings, NU)
    assert error(found) < 0.7 * at_once < 0.1
    assert found.outside == ()
    assert found.grid().u.shape == (32, 32, 3)


@pytest.mark.slow
def test_places_between_nodes_an_earlier_instant_and_noise_are_read():
    noisy = late(200, noise=0.05)
    found = flow_before("navier_stokes_2d", noisy, FLOWS.pde(NU))
    assert 0.02 < found.noise_level < 0.1
    assert error(found) < 0.15
    fine = NavierStokesFamily(nodes=128, times=3)
    half = (
        vorticity(fine).isel(t=1).interp(x=np.linspace(0.1, 0.9, 15), y=np.linspace(0.1, 0.9, 15))
    )
    among = pgt.Observations.from_xarray(half.expand_dims(t=[0.5], axis=2).to_dataset(name="w"))
    inner = FLOWS.vorticity(flow_before(FLOWS, among, NU).noise, NU).isel(t=0)[4:28, 4:28]
    start = vorticity().isel(t=0)[4:28, 4:28]
    assert float(abs(inner - start).std()) < 0.15 * float(start.std())


def test_the_normals_of_a_vorticity_make_it():
    with precisely():
        normals = np.random.default_rng(0).standard_normal(2 * 3612)
        w = made(normals)
    start = NavierStokesFamily(nodes=128, times=2).vorticity(noise_of(w), NU).isel(t=0)
    np.testing.assert_allclose(start, w, atol=1e-4 * w.std())


def test_a_short_way_back_is_found_with_bands_from_draws():
    family = NavierStokesFamily(nodes=32, times=2, duration=0.1)
    w = vorticity(family)
    readings = pgt.sample(w.isel(t=[-1]).to_dataset(), n=60, seed=1)
    found = flow_before(family, readings, NU, steps=2, draws=4)
    again = family.vorticity(found.noise, NU)
    rows = [w.sel(x=x, y=y, t=t, method="nearest") for x, y, t in np.asarray(readings.points)]
    same = [again.sel(x=o.x, y=o.y, t=o.t) for o in rows]
    np.testing.assert_allclose(same, rows, atol=1e-3 * float(w.std()))
    said = found.at(np.array([[0.3, 0.4, 0.0]]))
    assert (said.low < said.mean).all()
    assert np.isfinite(said.high).all()


@pytest.mark.parametrize(("readings", "words"), [
    (pgt.Observations.from_arrays({"x": [0.1], "y": [0.1], "t": [1.0]}, {"u": [1.0]}), "'w'"),
    (pgt.Observations.from_arrays({"x": [0.1], "t": [1.0]}, {"w": [1.0]}), "over x, y and t"),
    (pgt.Observations.from_arrays({"x": [0.1, 0.2], "y": [0.1, 0.1], "t": [0.5, 1.0]},
                                  {"w": [1.0, 2.0]}), "one instant"),
    (pgt.Observations.from_arrays({"x": [0.1], "y": [0.1]}, {"w": [1.0]}, width={"x": 0.1}), "boxes"),
])  # fmt: skip
def test_readings_that_it_cannot_take_back_are_refused(readings, words):
    with pytest.raises(pgt.InputError, match=words):
        flow_before(FLOWS, readings, NU)


def test_another_family_and_a_missing_viscosity_are_refused():
    with pytest.raises(pgt.InputError, match="NavierStokesFamily"):
        flow_before("heat", late(5), {"diffusivity": 0.1})
    with pytest.raises(pgt.InputError, match="viscosity"):
        flow_before(FLOWS, late(5), {})


def test_another_equation_is_refused_in_its_own_name():
    channel = pgt.Equation(
        "u_t = viscosity*lap(u)", "v_t = viscosity*lap(v)", coords=("x", "y", "t"), viscosity=1e-3
    )
    with pytest.raises(pgt.InputError, match=r"^flow_before: the equation is not that"):
        flow_before(FLOWS, late(5), channel)
