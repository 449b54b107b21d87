""""""

import errno
import os
import re
import sys

import h5netcdf
import meshio
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from field_cases import NAN, at_points, field
from hypothesis import given
from hypothesis import strategies as st

from pgt.core.errors import InputError
from pgt.io import (
    Dialect,
    read_field,
    read_observations,
    read_points,
    write_field,
    write_values,
    writers,
)
from pgt.io.writers import mesh_points, read_mesh, write_mesh

# --- NetCDF -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axes", [("x",), ("t", "x"), ("t", "z", "y", "x")])
def test_netcdf_round_trip(tmp_path, axes, dtype):
    before = field(axes, dtype)
    assert write_field(before, tmp_path / "field.nc") == tmp_path / "field.nc"
    after = read_field(tmp_path / "field.nc")
    xr.testing.assert_equal(after, before)
    assert after.u.dtype == dtype
    assert after.attrs == before.attrs | {"Conventions": "CF-1.12"}
    write_field(after, tmp_path / "again.nc")
    xr.testing.assert_identical(read_field(tmp_path / "again.nc"), after)


@pytest.mark.parametrize("suffix", [".nc", ".zarr", ".csv"])
def test_a_field_in_parts_is_written_as_the_whole(tmp_path, suffix):
    whole = field(("t", "y", "x")).assign_coords(instant=0.5)
    whole = whole.assign_coords(
        outside=(("t", "y", "x"), whole.u.to_numpy() > 0), one=("t", [7, 8, 9])
    )
    parts = [
        ({"t": slice(k, k + 1), "y": rows}, whole.isel(t=slice(k, k + 1), y=rows))
        for k in range(whole.sizes["t"])
        for rows in (slice(0, 2), slice(2, whole.sizes["y"]))
    ]
    write_field(whole, tmp_path / f"whole{suffix}")
    writers.write_parts(iter(parts), whole.sizes, tmp_path / f"parts{suffix}")
    if suffix == ".csv":
        assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
        return
    read = xr.open_zarr if suffix == ".zarr" else read_field
    found = [read(tmp_path / f"{name}{suffix}").load() for name in ("parts", "whole")]
    xr.testing.assert_identical(*found)
    xr.testing.assert_equal(found[0], whole.assign_coords(outside=whole.outside.astype("int8")))
    assert found[0].x.attrs["axis"] == "X"


def test_a_folder_that_is_no_zarr_store_is_left_alone(tmp_path):
    (tmp_path / "mine.zarr").mkdir()
    with pytest.raises(InputError, match="no Zarr store"):
        write_field(field(), tmp_path / "mine.zarr")
    write_field(field(), tmp_path / "field.zarr")
    write_field(field() + 1, tmp_path / "field.zarr")  # another one takes its place
    assert sorted(os.listdir(tmp_path)) == ["field.zarr", "mine.zarr"]
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "field.zarr").load(), field() + 1)


def test_netcdf_follows_the_conventions(tmp_path):
    write_field(field(("t", "z", "x")), tmp_path / "field.nc")
    with h5netcdf.File(tmp_path / "field.nc") as file:
        assert {name: file[name].attrs["axis"] for name in "xzt"} == {"x": "X", "z": "Z", "t": "T"}
        assert file["z"].attrs["positive"] == "up"
        assert file["t"].attrs["long_name"] == "time"
        assert (file["p"].attrs["long_name"], file["u"].attrs["long_name"]) == ("pressure", "u")
        assert file["u"].attrs["units"] == "m/s"
        assert "_FillValue" not in file["x"].attrs
        assert file["u"].compression == "gzip"


def test_provenance_of_any_kind_is_kept(tmp_path):
    dataset = field(("x",)).assign_attrs(
        run_file="[pde]\n" * 20_000, metrics={"u": 0.5, "all": [1, 2]}, done=True, none=None
    )
    given = dict(dataset.attrs)
    write_field(dataset, tmp_path / "field.nc")
    kept = read_field(tmp_path / "field.nc").attrs
    assert kept["run_file"] == given["run_file"]
    assert (kept["metrics"], kept["done"]) == ('{"u": 0.5, "all": [1, 2]}', "true")
    assert "none" not in kept
    assert dataset.attrs == given  # the caller's own is left as it was
    assert "axis" not in dataset.x.attrs


# --- CSV ----------------------------------------------------------------------


def test_csv_of_a_grid(tmp_path, monkeypatch):
    before = field(("t", "y", "x"))
    before["u"][0, 1, 2] = NAN
    monkeypatch.setattr(writers, "CSV_BATCH_ROWS", 7)
    write_field(before, tmp_path / "field.csv")
    table = pd.read_csv(tmp_path / "field.csv")
    assert list(table) == ["x", "y", "t", "u", "p"]
    assert len(table) == 36
    after = table.set_index(["t", "y", "x"]).to_xarray()
    np.testing.assert_array_equal(after.u, before.u)
    np.testing.assert_array_equal(after.p, before.p)


@given(
    st.lists(
        st.tuples(st.floats(-1e300, 1e300), st.floats(allow_infinity=False)), min_size=1, max_size=8
    )
)
def test_csv_gives_every_number_back(tmp_path_factory, rows):
    x, u = np.array(rows).T
    path = tmp_path_factory.mktemp("values") / "values.csv"
    write_values(xr.Dataset({"u": ("point", u)}, {"x": ("point", x)}), path)
    np.testing.assert_array_equal(read_points(path, ("x",))[:, 0], x)
    if np.isnan(u).all() or len(set(x + 0.0)) < len(x):
        return
    plain = Dialect(missing=())  # -9999 and its like may be among them
    readings = read_observations(path, coords=("x",), fields=("u",), dialect=plain)
    np.testing.assert_array_equal(np.where(readings.mask, readings.values, NAN)[:, 0], u)


def test_missing_packages_are_named(tmp_path, monkeypatch):
    for name in ("pyevtk", "pyevtk.vtk", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"needs the package pyevtk.*\[files\]"):
        write_field(field(), tmp_path / "a.vtr")
    (tmp_path / "a.parquet").touch()
    with pytest.raises(InputError, match=r"needs the package pyarrow.*\[files\]"):
        read_points(tmp_path / "a.parquet", ("x",))


# --- what can go wrong --------------------------------------------------------

SUFFIXES = (".nc", ".csv", ".vtr")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_leaves_the_old_file(tmp_path, suffix):
    resource = pytest.importorskip("resource")
    path = tmp_path / f"field{suffix}"
    opened = write_field(field(), path)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (600, hard)
    )  # the system refuses access to write more
    try:
        with pytest.raises(InputError) as caught:
            write_field(field() + 1, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert re.search(f"{re.escape(str(path))}: could not be written .*Make room", str(caught.value))
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    assert opened.name in before


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_unwritable_folders(tmp_path, monkeypatch, suffix, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=f"could not be written .{os.strerror(code)}"):
        write_field(field(), tmp_path / f"field{suffix}")
    assert os.listdir(tmp_path) == []


def test_interrupted_writing_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_field(field(), tmp_path / "field.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("dataset", "name", "message"),
    [
        (field(), "field.vtk", r"'.vtk' is unknown; known are .csv, .nc, .vtr, .zarr"),
        (field(), "field", "the name has no ending"),
        (field(), "nowhere/field.nc", "folder .*nowhere does not exist; create it first"),
        (field(), "folder.nc", "this is a folder"),
        (xr.Dataset(), "field.nc", "nothing to write"),
        (xr.Dataset({"u": ("x", ["a"])}), "field.csv", "only numbers"),
        (xr.Dataset({"u": ("x", [])}), "field.csv", "at least one"),
    ],
)
def test_what_cannot_be_written(tmp_path, dataset, name, message):
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(InputError, match=message) as caught:
        write_field(dataset, tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert os.listdir(tmp_path) == ["folder.nc"]


def test_scattered_points_are_no_grid(tmp_path):
    with pytest.raises(InputError, match=r"dimension 'point'.*\.csv"):
        write_field(at_points(), tmp_path / "values.vtr")


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
MESH = meshio.Mesh(CORNERS, [("triangle", np.array([[0, 1, 2]]))])


def test_values_go_to_the_mesh_and_back(tmp_path):
    points = mesh_points(MESH, ("x", "y", "t"), t=0.5)
    assert points["t"].tolist() == [0.5] * 3
    values = xr.Dataset({"u": ("point", points["x"] + 2), "u_x": ("point", np.ones(3))})
    again = read_mesh(write_mesh(tmp_path / "field.vtu", MESH, values))
    assert again.point_data["u"].tolist() == [2.0, 3.0, 2.0]
    assert again.point_data["u_x"].tolist() == [1.0, 1.0, 1.0]
    assert again.points.shape == (3, 3)


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(InputError, match="write an instant"):
        mesh_points(MESH, ("x", "y", "t"))
    with pytest.raises(InputError, match="3 points"):
        write_mesh(tmp_path / "field.vtu", MESH, xr.Dataset({"u": ("point", np.ones(2))}))
    (tmp_path / "words.msh").write_text("no mesh")
    with pytest.raises(InputError, match="meshio cannot read"):
        read_mesh(tmp_path / "words.msh")
