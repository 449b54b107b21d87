"""A field on a grid and values at points, for the tests of writers."""

import numpy as np
import xarray as xr

NAN = float("nan")


def field(axes=("t", "y", "x"), dtype=np.float64):
    sizes = {"x": 4, "y": 3, "z": 2, "t": 3}
    coords = {a: (a, np.linspace(0, 1, sizes[a]) ** 2, {"units": "m"}) for a in axes}
    rng = np.random.default_rng(0)
    shape = tuple(sizes[a] for a in axes)
    return xr.Dataset(
        {
            "u": (axes, rng.normal(size=shape).astype(dtype), {"units": "m/s"}),
            "p": (axes, rng.normal(size=shape).astype(dtype), {"long_name": "pressure"}),
        },
        coords,
        attrs={"source": "physics-guided-transformer", "seed": 3, "held_out_error": 0.01},
    )


def at_points():
    points = {"x": ("point", [0.1, 0.2, 0.2]), "t": ("point", [1.0, 2.0, 3.0])}
    return xr.Dataset({"u": ("point", [1.0, NAN, 1 / 3])}, points)
