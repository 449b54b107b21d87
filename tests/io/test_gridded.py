import numpy as np
import pytest
import xarray as xr
from sensor_files import NAN, read, write

from pgt.ground.errors import InputError
from pgt.io import read_field


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


def test_dates_stay_numbers(tmp_path):
    path = tmp_path / "a.nc"
    times = {"units": "hours since 2020-01-01"}
    xr.Dataset({"u": ("t", [1.0, 2.0])}, {"t": ("t", [0.0, 6.0], times)}).to_netcdf(
        path, engine="h5netcdf"
    )
    readings = read(path, coords=("t",))
    np.testing.assert_array_equal(readings.points[:, 0], [0, 6])
    assert dict(readings.units)["t"] == times["units"]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (xr.Dataset({}, {"x": [0.0]}), "no field"),
        (xr.Dataset({"u": (("x", "member"), [[1.0]])}, {"x": [0.0]}), "dimension 'member'"),
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
