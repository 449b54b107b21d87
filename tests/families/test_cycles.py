"""Simulations that repeat, known at every phase."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.families.cycles import Cycles

X, T = np.linspace(0, 1, 6), np.linspace(0, 4, 61)
PERIODS = {0.5: 2.0, 1.0: 1.0, 2.0: 1.6}  # by velocity


def written(folder, periods=PERIODS, growth=0.0):
    for velocity, period in periods.items():
        wave = 1 + np.exp(growth * T) * np.sin(2 * np.pi * (X[:, None] - T / period))
        dataset = xr.Dataset({"u": (("x", "t"), wave)}, {"x": X, "t": T})
        attributes = {"velocity": velocity, "diffusivity": 0.01}
        pgt.io.write_field(dataset.assign_attrs(attributes), folder / f"{velocity}.nc")
    return folder


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    folder = written(tmp_path_factory.mktemp("cycles"))
    names = ["velocity", "diffusivity"]
    return Cycles(folder, pgt.AdvectionDiffusion, names, span=0.5, instants=4, harmonics=2)


@eqx.filter_jit
def many(family, keys):
    return jax.vmap(family.draw)(keys)


def phases(values, period):
    """By which phase each window differs from the wave; None where it is no such wave."""
    t = np.linspace(0, 0.5, 4)
    tried = np.linspace(0, 1, 400, endpoint=False)
    waves = 1 + np.sin(2 * np.pi * (X[:, None] - t / period - tried[:, None, None]))
    apart = np.abs(waves - values[..., 0]).max(axis=(1, 2))
    return tried[apart.argmin()] if apart.min() < 0.02 else None


def test_draws_are_the_files_at_any_phase(family):
    systems = many(family, jax.random.split(jax.random.key(0), 30))
    assert systems.values.shape == (30, 6, 4, 1)
    seen = set()
    for velocity, values in zip(systems.coefficients["velocity"], systems.values, strict=True):
        seen.add(float(velocity))
        assert phases(np.asarray(values), PERIODS[float(velocity)]) is not None
    assert seen == set(PERIODS)
    first = systems.coefficients["velocity"] == 0.5
    found = [phases(np.asarray(v), 2.0) for v in systems.values[first]]
    assert np.ptp(found) > 0.4
    assert family.domain == pgt.Domain(x=(0, 1), t=(0, 0.5))


def test_given_coefficients_choose_the_nearest_file(family):
    system = family.draw(jax.random.key(3), {"velocity": 1.9})
    assert float(system.coefficients["velocity"]) == 2.0
    assert family.settled({"velocity": 1.9, "diffusivity": 0.01})["velocity"] == 2.0


def test_what_judges_is_taken_with_its_period(family):
    velocities = family.given[:, 0]
    one = family.taken(velocities == 2.0)
    assert one.periods.tolist() == family.periods[velocities == 2.0].tolist()
    drawn, known = (f.draw(jax.random.key(3), {"velocity": 2.0}) for f in (one, family))
    np.testing.assert_array_equal(drawn.values, known.values)


def test_the_file_of_a_network_keeps_all_of_them(family):
    kept = family.without_systems()
    assert isinstance(kept, Cycles)
    ours, theirs = (f.draw(jax.random.key(3), {"velocity": 0.5}).values for f in (family, kept))
    assert kept.values.dtype == np.float16
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    assert jnp.isfinite(theirs).all()
    with pytest.raises(pgt.InputError, match="does not hold their equation"):
        kept.pde({"velocity": 1.0, "diffusivity": 0.01})


def test_what_does_not_repeat_is_refused(tmp_path):
    folder = written(tmp_path, {0.5: 2.0}, growth=0.5)
    with pytest.raises(pgt.InputError, match="does not repeat"):
        Cycles(folder, pgt.AdvectionDiffusion, ["velocity", "diffusivity"], span=0.5, harmonics=2)


def test_an_equation_without_time_is_refused(tmp_path):
    dataset = xr.Dataset({"u": (("x", "y"), np.ones((6, 6)))}, {"x": X, "y": X})
    pgt.io.write_field(dataset, tmp_path / "a.nc")
    with pytest.raises(pgt.InputError, match="has no time"):
        Cycles(tmp_path, lambda: pgt.Poisson(1.0), span=0.5)
