"""The flow behind a cylinder at Reynolds number 100."""

import os
from importlib import resources
from pathlib import Path

import numpy as np
import xarray as xr

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.io.arrays import read_mat_arrays

_PACKAGED = "cylinder_wake_re100.nc"
_EQUATION = "incompressible Navier-Stokes, density 1"


@checked
def cylinder_wake(path: str | os.PathLike | None = None) -> xr.Dataset:
    """Velocity u, v and pressure p in the wake, over (t, y, x), lengths in diameters.

    Without a path the packaged simulation: 200 snapshots 0.1 apart, x in [1, 8], y in [−2, 2]. With
    a path, a NetCDF file of the same kind, or a .mat file with the usual arrays X_star (N, 2),
    t (T, 1), U_star (N, 2, T) and p_star (N, T).

    >>> dict(cylinder_wake().sizes)
    {'t': 200, 'y': 50, 'x': 100}
    """
    if path is None:
        with resources.as_file(resources.files("pgt.datasets") / _PACKAGED) as packaged:
            return _read_netcdf(packaged)
    path = Path(path)
    if not path.is_file():
        raise InputError(f"cylinder_wake: there is no file {str(path)!r}; check the path.")
    return _read_mat(path) if path.suffix.lower() == ".mat" else _read_netcdf(path)


def _read_netcdf(path: Path) -> xr.Dataset:
    try:
        with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as file:
            dataset = file.load()
    except OSError as error:
        raise InputError(f"{str(path)!r} is not a NetCDF-4 file: {error}") from None
    return dataset.assign_attrs({"equation": _EQUATION} | dataset.attrs).transpose("t", "y", "x")


def _read_mat(path: Path) -> xr.Dataset:
    try:
        contents = read_mat_arrays(path.read_bytes())
    except (InputError, OSError) as error:
        raise InputError(f"{str(path)!r} is not a readable .mat file: {error}") from None
    arrays = {}
    for name in ("X_star", "t", "U_star", "p_star"):
        if (found := contents.get(name)) is None:
            raise InputError(
                f"{str(path)!r} has no array {name!r} of real numbers; expected X_star, t, U_star "
                "and p_star."
            )
        arrays[name] = np.asarray(found, np.float64)  # whatever type and byte order it was saved in
    points, t = arrays["X_star"], np.ravel(arrays["t"])
    velocity, pressure = arrays["U_star"], arrays["p_star"]
    n, steps = len(points), len(t)
    shapes = points.shape, velocity.shape, pressure.shape
    if shapes != ((n, 2), (n, 2, steps), (n, steps)):
        raise InputError(
            f"{str(path)!r}: X_star, U_star and p_star have shapes {shapes} with {steps} times; "
            "expected (N, 2), (N, 2, T) and (N, T)."
        )
    return _to_grid(path, points, t, {"u": velocity[:, 0], "v": velocity[:, 1], "p": pressure})


def _to_grid(path: Path, points: np.ndarray, t: np.ndarray, fields: dict) -> xr.Dataset:
    (x, column), (y, row) = (np.unique(points[:, i], return_inverse=True) for i in (0, 1))
    place = row * len(x) + column
    if len(np.unique(place)) != len(x) * len(y) or len(place) != len(x) * len(y):
        raise InputError(
            f"{str(path)!r}: {len(points)} points do not fill a grid of {len(x)} × {len(y)}."
        )
    order = np.argsort(place)
    shape = (len(t), len(y), len(x))
    units = {"x": "D", "y": "D", "t": "D/U"}
    return xr.Dataset(
        {
            name: (("t", "y", "x"), values[order].T.reshape(shape), {"units": "1"})
            for name, values in fields.items()
        },
        {a: (a, v, {"units": units[a]}) for a, v in {"t": t, "y": y, "x": x}.items()},
        {
            "title": "2D cylinder wake, Re=100",
            "source": f"read from {path.name}",
            "viscosity": 0.01,
            "equation": _EQUATION,
        },
    )
