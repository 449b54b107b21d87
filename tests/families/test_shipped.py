"""Networks that come with the library."""

import jax
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.families.shipped import (
    FOLDER,
    PATTERNS,
    opened,
    shipped,
    shipped_names,
    shipped_patterns,
    shipped_patterns_names,
)


def test_they_are_small():
    files = [*FOLDER.iterdir(), *PATTERNS.iterdir()]
    assert sum(path.stat().st_size for path in files) < 8e6


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "heat" else pytest.mark.slow)
        for name in shipped_names()
    ],
)
def test_an_unseen_system_is_answered_within_what_the_card_says(name):
    network = shipped(name)
    family = network.family
    system = family.draw(jax.random.key(123))
    truth = family.dataset(system)
    answer = network(
        pgt.sample(truth, n=64, seed=1), {k: float(v) for k, v in system.coefficients.items()}
    )
    found = answer.grid(**family.axes).u.transpose(*truth.u.dims)
    error = float(np.sqrt(((found - truth.u) ** 2).mean()) / truth.u.std())
    assert answer.outside == ()
    assert error < 2 * network.card.errors["64"]["clean_tenth"]


def test_an_unknown_name_lists_the_others():
    with pytest.raises(pgt.InputError, match="heat"):
        shipped("heart")


def test_a_field_far_from_zero_is_not_taken_for_one_around_it():
    network = shipped("burgers")
    system = network.family.draw(jax.random.key(5))
    readings = pgt.sample(network.family.dataset(system), n=40, seed=0)
    x, t = np.asarray(readings.points).T
    carried = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": 1e5 + readings.values[:, 0]})
    coefficients = {name: float(value) for name, value in system.coefficients.items()}
    assert network(readings, coefficients).outside == ()
    assert any("mean" in said for said in network(carried, coefficients).outside)


@pytest.fixture(scope="module")
def wake():
    return shipped_patterns("wake")


def sensed(window, x, y):
    """u and v at sensors that stand still, at every instant."""
    at = {axis: xr.DataArray(line, dims="sensor") for axis, line in (("x", x), ("y", y))}
    read = window[["u", "v"]].sel(at).transpose("sensor", "t")
    columns = [np.broadcast_to(c, read.u.shape).ravel() for c in (x[:, None], y[:, None], read.t)]
    places = dict(zip("xyt", columns, strict=True))
    return pgt.Observations.from_arrays(places, {f: read[f].values.ravel() for f in "uv"})


def apart(found, truth, name):
    miss = np.linalg.norm(found[name] - truth[name].transpose(*found[name].dims))
    return miss / np.linalg.norm(truth[name])


@pytest.mark.slow
def test_the_wake_at_re_100_is_found_from_others(wake):
    assert wake.without == {"viscosity": 0.01}
    family = wake.family
    truth = family.dataset(family.draw(jax.random.key(3), {"viscosity": 0.01}))
    assert truth.attrs["viscosity"] == pytest.approx(0.01)
    places = np.random.default_rng(0).choice(57 * 33, 100, replace=False)
    readings = sensed(truth, truth.x.values[places // 33], truth.y.values[places % 33])
    answer = wake(readings, {"viscosity": 0.01})
    assert answer.outside == ()
    found = answer.grid(**family.axes)
    for name, bound in (("u", 0.005), ("v", 0.01), ("p", 0.02)):
        assert apart(found, truth, name) < bound, name


@pytest.mark.slow
def test_the_wake_that_is_packaged_speaks_for_it(wake):
    flow = pgt.datasets.cylinder_wake().isel(t=slice(40, 61, 5))
    window = flow.assign_coords(t=(flow.t - flow.t[0]).values.clip(0, 2))
    places = np.random.default_rng(0).choice(100 * 50, 100, replace=False)
    readings = sensed(window, window.x.values[places // 50], window.y.values[places % 50])
    found = wake(readings).grid(x=window.x.values, y=window.y.values, t=[2.0]).isel(t=0)
    for name in "uv":
        assert apart(found, window.isel(t=-1), name) < 0.02, name


def test_patterns_are_opened_as_networks_are():
    assert shipped_patterns_names() == ("wake",)
    assert opened(FOLDER / "heat.safetensors").reads == ()
    with pytest.raises(pgt.InputError, match="there are wake"):
        shipped_patterns("wakes")
    with pytest.raises(pgt.InputError, match="not a pretrained network"):
        pgt.Pretrained.load(PATTERNS / "wake.safetensors")
    with pytest.raises(pgt.InputError, match="not the patterns"):
        pgt.families.Patterns.load(FOLDER / "heat.safetensors")
