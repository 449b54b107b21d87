"""Evidence to judge, made by hand: known fields in place of fits, nothing is trained."""

import numpy as np
import xarray as xr

from pgt import datasets
from pgt.data import Observations, sample
from pgt.data.splits import split
from pgt.methods.finished_fit import HELD_OUT_ERROR_STALLED
from pgt.uncertainty.convergence import Descent
from pgt.uncertainty.held_out import HeldOutPredictions
from pgt.uncertainty.misfits import misfit_table
from pgt.uncertainty.verdict import Evidence

RESTED = Descent(HELD_OUT_ERROR_STALLED)


def at_readings(field: xr.Dataset, readings: Observations) -> np.ndarray:
    """The field at its grid points nearest to the readings."""
    points = np.asarray(readings.points)
    grid = {a: xr.DataArray(points[:, i], dims="n") for i, a in enumerate(readings.coords)}
    return np.stack([field[n].sel(grid, method="nearest") for n in readings.fields], axis=1)


def evidence(
    field: xr.Dataset, fitted: Observations, held_out: Observations, off: float = 0.0, **more
) -> Evidence:
    """The field as if it had been fitted; what it says of held-out readings is `off` by so much."""
    said = [at_readings(field, fitted), at_readings(field, held_out) + off]
    table = misfit_table((fitted, said[0]), (held_out, said[1]))
    given = {
        "judged": HeldOutPredictions(held_out, said[1]),
        "descent": RESTED,
        "misfits": table,
    } | more
    return Evidence(fitted, held_out, **given)


def readings_of(field: xr.Dataset, read: tuple[str, ...], n: int, noise: float = 0.05, **more):
    """Noisy readings of some fields, those to fit and those held out."""
    found = sample(field, n, read, noise=noise, seed=0, **more)
    return split(found.aligned([str(name) for name in field]), 0.1, 0)


def heat_field() -> xr.Dataset:
    """One axis and time, with units."""
    field = datasets.heat().astype("float32")
    for name, unit in (("u", "K"), ("x", "m"), ("t", "s")):
        field[name].attrs["units"] = unit
    return field


def heat(**more) -> Evidence:
    """A sound fit of 120 readings, 12 of them held out."""
    field = heat_field()
    return evidence(field, *readings_of(field, ("u",), 120), **more)
