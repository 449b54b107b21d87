"""Readings of a known field, to try things out with."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from pgt.core.arguments import Seed
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data import _checks, _readers
from pgt.data.domain import Real
from pgt.data.observations import Observations


@checked
def sample(
    truth: xr.Dataset | xr.DataArray,
    n: int,
    fields: Sequence[str] | None = None,
    noise: Real | Mapping[str, Real] = 0.0,
    seed: Seed = 0,
    record_noise: bool = False,
) -> Observations:
    """Readings at `n` different grid points of a known field, chosen at random.

    Gaussian noise is added: a number η means σ = η · std of the sampled values, field by field; a
    dict gives σ itself by field. `record_noise` keeps σ in the result; real users seldom know it.
    The same seed picks the same points whatever the noise.

    >>> truth = xr.Dataset({"u": ("x", [0.0, 1.0, 4.0, 9.0])}, {"x": [0.0, 1.0, 2.0, 3.0]})
    >>> readings = sample(truth, n=3, noise=0.05)
    >>> len(readings), readings.coords, readings.fields
    (3, ('x',), ('u',))
    """
    points, values, units = _readers.flatten(truth, fields)
    coords, fields = tuple(points), tuple(values)
    grid, table = (
        _checks.as_table("truth", points, coords),
        _checks.as_table("truth", values, fields),
    )
    usable = np.flatnonzero(np.isfinite(table).any(axis=1))
    if not 1 <= n <= len(usable):
        raise InputError(
            f"n = {n}: the truth has {len(usable)} grid points; ask for 1 to that many."
        )
    rng = np.random.default_rng(seed)
    rows = rng.choice(usable, n, replace=False)
    table = table[rows]
    sigma = _checks.noise_levels(noise, table, fields)
    table = table + sigma * rng.standard_normal(table.shape)
    return Observations.from_arrays(
        grid[rows],
        table,
        coords=coords,
        fields=fields,
        noise=dict(zip(fields, sigma, strict=True)) if record_noise else None,
        units=units,
    )
