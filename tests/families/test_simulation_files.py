"""Folders of simulations: what is wrong is said with the name of the file."""

import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.families.simulation_files import Stored, read_folder, without_repeated_ends


def simulation(scale=1.0, **attributes):
    x, t = np.linspace(0, 1, 5), np.linspace(0, 2, 3)
    values = scale * np.add.outer(t, x)
    return xr.Dataset({"u": (("t", "x"), values)}, {"x": x, "t": t}, attributes)


def read(folder):
    return read_folder(folder, ("x", "t"), ("u",), ("diffusivity",))


def test_files_are_read_in_the_order_of_their_names_and_axes(tmp_path):
    pgt.io.write_field(simulation(2.0, diffusivity=0.2), tmp_path / "b.nc")
    pgt.io.write_field(simulation(1.0, diffusivity=0.1), tmp_path / "a.nc")
    (tmp_path / "notes.txt").write_text("no simulation")
    found = read(tmp_path)
    assert found.values.shape == (2, 5, 3, 1)
    assert found.coefficients.tolist() == [[0.1], [0.2]]
    assert found.values[1, 4, 2, 0] == 6.0


def test_a_coefficient_may_be_a_variable(tmp_path):
    pgt.io.write_field(simulation().assign(diffusivity=0.3), tmp_path / "a.nc")
    assert read(tmp_path).coefficients.tolist() == [[0.3]]


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


@pytest.mark.parametrize(("count", "kept"), [(9, 8), (8, 8)])
def test_the_end_of_a_period_is_its_beginning(count, kept):
    x, t = np.arange(count) / 8, np.linspace(0, 1, 3)
    values = np.stack([np.sin(2 * np.pi * (x[:, None] - k * t))[..., None] for k in (1, 2)])
    stored = Stored({"x": x, "t": t}, values, np.zeros((2, 0)))
    found = without_repeated_ends(stored, ("x",))
    assert found.values.shape == (2, kept, 3, 1)
    assert found.axes["x"].tolist() == (np.arange(kept) / 8).tolist()
    assert without_repeated_ends(stored, ()).values.shape == values.shape
    same = Stored(stored.axes, np.ones_like(values), stored.coefficients)  # which says nothing
    assert without_repeated_ends(same, ("x",)).values.shape == values.shape
