"""Time counted from the first date: what figures and files can hold."""

import numpy as np
import xarray as xr

from pgt.data.dates import UNIT, seconds, text
from pgt.data.observations import Observations


def start_of(dataset: xr.Dataset) -> float | None:
    """The first date of a dataset in seconds since 1970; None where it has none."""
    if "t" not in dataset.coords or dataset["t"].dtype.kind != "M":
        return None
    return float(seconds("t", dataset["t"].to_numpy()).min())


def counted_from(dataset: xr.Dataset, start: float | None) -> xr.Dataset:
    """The dataset with seconds after `start` as its time; as it is where there is none."""
    if start is None or start_of(dataset) is None:
        return dataset
    time = dataset["t"].copy(data=seconds("t", dataset["t"].to_numpy()) - start)
    unit = UNIT if start == 0 else f"s since {text(start)}"
    return dataset.assign_coords(t=time.assign_attrs(units=unit))


def readings_from(observations: Observations, start: float | None) -> Observations:
    """The same of readings."""
    if start is None or "t" not in observations.coords:
        return observations
    moved = np.array(observations.points, float)
    moved[:, observations.coords.index("t")] -= start
    units = tuple((dict(observations.units) | {"t": f"s since {text(start)}"}).items())
    return Observations(
        moved, observations.values, observations.mask, observations.noise, observations.half_width,
        observations.coords, observations.fields, units,
    )  # fmt: skip
