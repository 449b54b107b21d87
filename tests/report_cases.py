"""Reports to test with: known fields in place of reconstructions, noise in place of a fit."""

import numpy as np
import xarray as xr

from pgt import datasets
from pgt.data.observations import Observations, sample
from pgt.data.splits import split
from pgt.report import ReportData

SUMMARY = {
    "stopped": "held-out error stopped falling", "seconds": 31.4, "version": "0.1.0", "seed": 7,
    "device": "cpu", "training": {"steps": 2000, "optimiser": "soap"}, "polish_costs": [],
}  # fmt: skip


def history(
    *terms: str, unknowns: tuple[str, ...] = (), steps: int = 40, rate: float = 5.0
) -> xr.Dataset:
    """Losses that fall; `rate` e-foldings in all."""
    step = 50 * np.arange(1, steps + 1)
    fall = np.exp(-rate * step / step[-1])
    shrink, learnt = 0.1 ** np.arange(len(terms)), np.full(len(unknowns), 0.01)
    return xr.Dataset(
        {
            "held_out": ("step", fall),
            "loss": (("step", "term"), np.outer(fall, shrink)),
            "weight": (("step", "term"), np.tile(1 / shrink, (steps, 1))),
            "coefficient": (("step", "unknown"), learnt + fall[:, None]),
        },
        {"step": step, "term": list(terms), "unknown": list(unknowns)},
    )


def at_readings(field: xr.Dataset, readings: Observations) -> np.ndarray:
    """The field at its grid points nearest to the readings."""
    points = np.asarray(readings.points)
    places = {a: xr.DataArray(points[:, i], dims="n") for i, a in enumerate(readings.coords)}
    return np.stack([field[n].sel(places, method="nearest") for n in readings.fields], axis=1)


def report(
    field: xr.Dataset, read: tuple[str, ...], n: int, noise: float = 0.05, **more
) -> ReportData:
    readings = sample(field, n, read, noise=noise, seed=0)
    fitted, held_out = split(readings.aligned([str(name) for name in field]), 0.1, 0)
    given = {"history": history("data", "equation"), "summary": SUMMARY} | more
    return ReportData(field, fitted, held_out, at_readings(field, held_out), **given)


def heat(**more) -> ReportData:
    """One axis and time, with units and error bars."""
    field = datasets.heat().astype("float32")
    for name, unit in (("u", "K"), ("x", "m"), ("t", "s")):
        field[name].attrs["units"] = unit
    bars = 0.02 + 0.05 * np.abs(field)
    residual = xr.Dataset({"heat": 0.01 * field["u"].drop_attrs() ** 3})
    return report(field, ("u",), 120, error_bars=bars, residual=residual, **more)


def wake(**more) -> ReportData:
    """Two axes and time, pressure hidden, viscosity learnt."""
    field = datasets.cylinder_wake().isel(t=slice(0, 200, 10), x=slice(None, None, 2))
    given = {
        "history": history("data", "momentum", unknowns=("viscosity",)),
        "coefficients": {"viscosity": (0.0101, (0.0097, 0.0105))},
        "run_file": '[pde]\nname = "navier-stokes-2d"\n',
    }
    return report(field, ("u", "v"), 600, **(given | more))


def block(**more) -> ReportData:
    """Three axes, no time; T grows along every one of them, x < y < z."""
    axes = {"x": np.linspace(0, 1, 12), "y": np.linspace(0, 1, 10), "z": np.linspace(0, 1, 8)}
    grid = xr.Dataset(coords=axes)
    return report(xr.Dataset({"T": grid.x + 2 * grid.y + 4 * grid.z}), ("T",), 200, **more)
