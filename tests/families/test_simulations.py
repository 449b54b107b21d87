"""Simulations that a user brings."""

import equinox as eqx
import jax
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.families.simulations import (
    Simulations,
    read_folder,
)

HEAT = pgt.families.get("heat", nodes=9, times=8)
draw = jax.jit(HEAT.draw)
DIFFUSIVITIES = (0.01, 0.02, 0.04, 0.08)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulations")
    for i, value in enumerate(DIFFUSIVITIES):
        system = draw(jax.random.key(i), {"diffusivity": value})
        pgt.io.write_field(HEAT.dataset(system), folder / f"{i}.nc")
    return folder


def test_draws_are_the_files_with_their_coefficients(folder):
    family = Simulations(folder, pgt.Heat, ["diffusivity"])
    keys = jax.random.split(jax.random.key(0), 40)
    systems = jax.jit(jax.vmap(family.draw))(keys)
    assert systems.values.shape == (40, 9, 8, 1)
    found = np.asarray(systems.coefficients["diffusivity"])
    assert set(found.round(4).tolist()) == set(np.float32(DIFFUSIVITIES).round(4).tolist())
    first = draw(jax.random.key(0), {"diffusivity": 0.01})
    drawn = np.asarray(systems.values)[np.isclose(found, 0.01)][0]
    np.testing.assert_allclose(drawn, first.values, atol=1e-6)
    assert family.ranges["diffusivity"] == pytest.approx((0.01, 0.08))
    assert family.domain == HEAT.domain
    assert family.pde({"diffusivity": 0.01}).diffusivity == 0.01


def test_given_coefficients_choose_the_nearest_file(folder):
    family = Simulations(folder, pgt.Heat, ["diffusivity"])
    nearest = eqx.filter_jit(family.draw)(jax.random.key(0), {"diffusivity": 0.035})
    assert abs(float(nearest.coefficients["diffusivity"]) - 0.04) < 1e-6
    with pytest.raises(pgt.InputError, match="has no coefficient 'speed'"):
        family.draw(jax.random.key(0), {"speed": 1.0})


def test_windows_begin_at_every_node_and_count_from_there(folder):
    family = Simulations(folder, pgt.Heat, ["diffusivity"], crop={"t": 6})
    assert family.domain.bounds("t") == pytest.approx((0, 5 / 7))
    many = jax.jit(jax.vmap(lambda key: family.draw(key, {"diffusivity": 0.01}).values))
    windows = np.asarray(many(jax.random.split(jax.random.key(0), 30)))
    whole = np.asarray(family.values[0])
    starts = {
        int(np.argmin([np.abs(w - whole[:, i : i + 6]).max() for i in range(3)])) for w in windows
    }
    assert starts == {0, 1, 2}
    assert all(min(np.abs(w - whole[:, i : i + 6]).max() for i in range(3)) < 1e-6 for w in windows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"crop": {"t": 9}}, "write 2 to 8 nodes"),
        ({"crop": {"x": 4}, "periodic": ("x",)}, "not periodic"),
        ({"crop": {"y": 4}}, "there is no axis 'y'"),
    ],
)
def test_windows_that_do_not_fit_are_refused(folder, settings, message):
    with pytest.raises(pgt.InputError, match=message):
        Simulations(folder, pgt.Heat, ["diffusivity"], **settings)


def test_what_gives_no_equation_is_refused(folder):
    with pytest.raises(pgt.InputError, match="must return one"):
        Simulations(folder, lambda: "u_t = u_xx")
    with pytest.raises(pgt.InputError, match="does not take these coefficients"):
        Simulations(folder, dict)


def simulation(scale=1.0, **attributes):
    x, t = np.linspace(0, 1, 5), np.linspace(0, 2, 3)
    values = scale * np.add.outer(t, x)
    return xr.Dataset({"u": (("t", "x"), values)}, {"x": x, "t": t}, attributes)


def read(folder):
    return read_folder(folder, ("x", "t"), ("u",), ("diffusivity",))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda d: d.drop_attrs(), r"b\.nc: the coefficient 'diffusivity' is missing"),
        (lambda d: d.rename(u="w"), r"b\.nc: there is no field 'u'; it has w"),
        (lambda d: d.rename(x="y"), r"b\.nc: there is no coordinate 'x'; it has"),
        (lambda d: d.isel(t=0), r"b\.nc: there is no coordinate 't'|b\.nc: the coordinate 't'"),
        (lambda d: d.isel(x=slice(4)), r"b\.nc: its values of 'x' are not those of a\.nc"),
        (lambda d: d.where(d.x < 1), r"b\.nc: the field 'u' is not finite at \d+ of \d+ nodes"),
        (lambda d: d.isel(x=[0, 2, 1, 3, 4]), r"b\.nc: the coordinate 'x' .* increase"),
        (lambda d: d.assign(u=d.u.isel(t=0)), r"b\.nc: the field 'u' lies over x"),
        (lambda d: d.assign_attrs(diffusivity="0.1 m2/s"), r"'diffusivity' is '0\.1 m2/s', which is no"),
        (lambda d: d.assign_attrs(diffusivity=np.inf), r"'diffusivity' is inf, which is no number"),
    ],
)  # fmt: skip
def test_a_file_that_lacks_something_is_named(tmp_path, broken, message):
    good = simulation(diffusivity=0.1)
    pgt.io.write_field(good, tmp_path / "a.nc")
    broken(good).to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    with pytest.raises(pgt.InputError, match=message):
        read(tmp_path)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(pgt.InputError, match="there is no NetCDF file"):
        read(tmp_path)
