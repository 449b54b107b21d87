import numpy as np
import pytest
import scipy.io
import xarray as xr
from central_differences import FIRST

from pgt import datasets
from pgt.core.errors import InputError


def test_wake_is_divergence_free():
    flow = datasets.cylinder_wake().astype(np.float64).isel(t=slice(0, 200, 40))
    d = {
        name: xr.apply_ufunc(
            lambda a, h=float(flow[axis][1] - flow[axis][0]): np.apply_along_axis(
                np.convolve, -1, a, FIRST[::-1] / h, "valid"
            ),
            flow[name].transpose(..., axis),
            input_core_dims=[[axis]],
            output_core_dims=[[axis]],
            exclude_dims={axis},
        )
        for name, axis in (("u", "x"), ("v", "y"))
    }
    divergence = d["u"].isel(y=slice(4, -4)).transpose("t", "y", "x").to_numpy() + (
        d["v"].isel(x=slice(4, -4)).transpose("t", "y", "x").to_numpy()
    )
    assert np.mean(divergence**2) < 1e-6


def test_packed_numbers_are_unpacked(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.uniform(-3, 5, size=(2, 3, 4))
    values[0, 0, 0] = np.nan
    packed = xr.Dataset(
        {"u": (("t", "y", "x"), values, {"units": "1"})},
        {"t": [0.0, 1.0], "y": [0.0, 1.0, 2.0], "x": [0.0, 1.0, 2.0, 3.0]},
        {"title": "packed"},
    )
    encoding = {"dtype": "int16", "scale_factor": 2e-4, "add_offset": 1.0, "_FillValue": -32768}
    path = tmp_path / "packed.nc"
    packed.to_netcdf(path, engine="h5netcdf", encoding={"u": encoding})
    found = datasets.cylinder_wake(path)
    assert (found.u.attrs, found.attrs["title"]) == ({"units": "1"}, "packed")
    assert bool(found.u[0, 0, 0].isnull())
    np.testing.assert_allclose(found.u, values, atol=1.01e-4)


def write_mat(path, **changes):
    x, y, t = np.linspace(1, 8, 4), np.linspace(-2, 2, 3), np.arange(2.0)
    points = np.stack([a.ravel() for a in np.meshgrid(x, y)], axis=1)
    points = np.random.default_rng(0).permutation(points)
    shape = points[:, :1] * 100 + points[:, 1:] * 10 + t
    contents = {
        "X_star": points,
        "t": t[:, None],
        "U_star": np.stack([shape, -shape], axis=1),
        "p_star": 2 * shape,
    }
    contents |= changes
    scipy.io.savemat(path, {k: v for k, v in contents.items() if v is not None})
    return path


def test_usual_mat_layout(tmp_path):
    flow = datasets.cylinder_wake(write_mat(tmp_path / "wake.mat"))
    packaged = datasets.cylinder_wake()
    assert flow.attrs["equation"] == packaged.attrs["equation"]
    assert flow.u.dims == packaged.u.dims == ("t", "y", "x")
    expected = flow.x * 100 + flow.y * 10 + flow.t
    for name, factor in (("u", 1), ("v", -1), ("p", 2)):
        np.testing.assert_allclose(flow[name], factor * expected.transpose("t", "y", "x"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"p_star": None}, "no array 'p_star'"),
        ({"t": "now"}, "no array 't' of real numbers"),
        ({"p_star": np.zeros((12, 3))}, "shapes"),
        ({"X_star": np.zeros((12, 2))}, "do not fill a grid"),
    ],
)
def test_bad_mat_files(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        datasets.cylinder_wake(write_mat(tmp_path / "wake.mat", **changes))


def test_damaged_mat_files_are_read_or_refused(tmp_path):
    path, rng = write_mat(tmp_path / "wake.mat"), np.random.default_rng(0)
    whole = path.read_bytes()
    refused = 0
    for _ in range(200):
        data = bytearray(whole)
        for place in rng.integers(128, len(data), size=2):
            data[place] = rng.integers(256)
        path.write_bytes(data)
        try:
            assert datasets.cylinder_wake(path).u.dims == ("t", "y", "x")
        except InputError:
            refused += 1
    assert refused > 20


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="no file"):
        datasets.cylinder_wake("nowhere.mat")
    for name in ("text.mat", "text.nc"):
        path = tmp_path / name
        path.write_text("not a data file at all " * 20)
        with pytest.raises(InputError, match="is not a"):
            datasets.cylinder_wake(path)
