"""What the arrays in a file are called."""

import numpy as np
import pytest
import xarray as xr

from pgt.ground.errors import InputError
from pgt.io.names import NAMES
from pgt.io.survey import survey


def test_fields_come_before_what_describes_them(tmp_path):
    path = tmp_path / "a.nc"
    data = {
        "edges": (("t", "nv"), np.zeros((3, 2))),
        "x_bnds": (("x", "nv"), np.zeros((2, 2))),
        "area": ("x", [1.0, 2.0]),
        "T": (("t", "x"), np.arange(6.0).reshape(3, 2)),
    }
    axes = {"x": [0.0, 1.0], "t": ("t", [0.0, 1.0, 2.0], {"bounds": "edges"})}
    xr.Dataset(data, axes).to_netcdf(path, engine="h5netcdf")
    assert next(iter(NAMES[".nc"](path))) == "T"
    assert survey([path], measured=("u",)).columns == {"u": "T"}


@pytest.mark.parametrize("ending", sorted(NAMES))
def test_broken_files_are_one_message(tmp_path, capfd, ending):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(InputError, match=r"a file of arrays|not a MATLAB file|NetCDF"):
        survey([path])
    assert capfd.readouterr().err == ""
