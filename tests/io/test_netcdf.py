""""""

import numpy as np
import pytest
import xarray as xr
from sensor_files import NAN, read, write

from pgt.core.errors import InputError
from pgt.io import read_columns, read_field


def test_netcdf_dimensions(tmp_path):
    path = tmp_path / "a.nc"
    dataset = xr.Dataset({"u": (("x", "depth"), [[1.0], [2.0]])}, {"x": [0.0, 1.0]})
    dataset.to_netcdf(path, engine="h5netcdf")
    assert len(read(path, coords=("x",))) == 2  # a dimension of length 1 is no dimension
    xr.concat([dataset, dataset], "depth").to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match="dimension 'depth' \\(2 entries\\)"):
        read(path, coords=("x",))
    with pytest.raises(InputError, match="no column 'depth'"):  # its values are nowhere given
        read(path, coords=("x", "t"), columns={"t": "depth"})


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (xr.Dataset({}, {"x": [0.0]}), "no field"),
        (xr.Dataset({"u": (("x", "member"), [[1.0]])}, {"x": [0.0]}), r"rename\({'member': 'x'}"),
        (xr.Dataset({"u": ("x", [1.0])}), "dimension 'x'"),
        (xr.Dataset({"u": ("x", ["a"])}, {"x": [0.0]}), "not numbers"),
        (xr.Dataset({"u": ("x", [1.0])}, {"x": [NAN]}), "coordinate 'x' is not finite"),
    ],
)
def test_fields_that_are_none(tmp_path, dataset, message):
    dataset.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=message):
        read_field(tmp_path / "a.nc")
    with pytest.raises(InputError, match=r"'\.csv' is unknown"):
        read_field(write(tmp_path, "x,u\n1,2\n"))


def saved(folder, data, coords):
    path = folder / "a.nc"
    xr.Dataset(data, coords).to_netcdf(path, engine="h5netcdf")
    return path


def test_a_coordinate_along_which_nothing_was_read_is_refused(tmp_path):
    path = saved(
        tmp_path, {"u": ("obs", [1.0, 2.0]), "t": ("obs", [0.0, 1.0])}, {"x": ("s", [0.0, 1.0])}
    )
    with pytest.raises(InputError, match=r"'x' has the dimension 's', along which .*: u"):
        read_columns(path, coords=("x", "t"), fields=("u",))
    assert len(read_columns(path, coords=("x",), fields=())) == 2


def test_what_is_not_valid_is_hidden(tmp_path):
    values = np.array([1.0, 500.0, -5.0])
    for limits in ({"valid_min": 0.0, "valid_max": 100.0}, {"valid_range": [0.0, 100.0]}):
        path = saved(tmp_path, {"u": ("x", values, limits)}, {"x": [0.0, 1.0, 2.0]})
        found = read_columns(path, coords=("x",), fields=("u",))
        np.testing.assert_array_equal(found.values["u"], [1.0, np.nan, np.nan])
