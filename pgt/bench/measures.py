"""What is measured of a finished fit, besides its errors."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pgt.bench.problems import RESIDUAL_POINTS, Setup, middle_of
from pgt.data import Observations
from pgt.reconstruction.result import Reconstruction

HISTORY_ROWS = 60
DIGITS = 5


def mean_square_residual(result: Reconstruction, setup: Setup) -> float:
    """Mean square of the equations, in physical units, at random points."""
    unit = np.random.default_rng(1).uniform(size=(RESIDUAL_POINTS, setup.domain.dimension))
    points = setup.domain.from_unit(unit)
    rest = result.residual(points)
    return float(np.mean([(rest[name] ** 2).mean() for name in rest.data_vars]))


def train_error(result: Reconstruction, setup: Setup) -> float:
    """Mean square misfit of the readings as given, in physical units."""
    readings = setup.observations.aligned(setup.pde.fields)
    misfit = (result.predict_readings(readings) - readings.values)[readings.mask]
    return float(np.mean(misfit**2))


def sigma_ratio(result: Reconstruction, setup: Setup) -> dict[str, float]:
    """PGT-UW: the σ it predicts at the readings over the σ that was added, by field with noise."""
    logs = _log_variances(result.model, result.model.scaling.origin.readings(result.observations))
    sigma = np.sqrt(np.mean(np.exp(logs), axis=0)) * np.asarray(result.model.scaling.spread)
    return {
        name: float(sigma[setup.pde.fields.index(name)] / added)
        for name, added in setup.noise.items()
        if added > 0
    }


@eqx.filter_jit
def _log_variances(model, observations: Observations):
    context = model.encode(observations)
    points = jnp.asarray(observations.points, jnp.float32)
    return jax.vmap(lambda z: model.log_variance(context, z))(points)


def history(result: Reconstruction) -> dict[str, Any]:
    """How training went, by kind as in a `History`, thinned evenly in the logarithm of the step."""
    steps = result.history.step.to_numpy()
    wanted = np.geomspace(1, steps.max(initial=1), HISTORY_ROWS)
    rows = np.unique(np.searchsorted(steps, wanted))
    rows = rows[rows < len(steps)]  # none where nothing came before the second-order steps
    kept = result.history.isel(step=rows)
    columns = {"step": kept.step.to_numpy().tolist(), "held_out": _rounded(kept.held_out)}
    for kind, over in (("loss", "term"), ("weight", "term"), ("coefficient", "unknown")):
        names = kept[over].to_numpy()
        columns[kind] = {str(name): _rounded(kept[kind].sel({over: name})) for name in names}
    return columns


def _rounded(column: xr.DataArray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in column.to_numpy()]


def middle_snapshot(result: Reconstruction, truth: xr.Dataset) -> dict[str, np.ndarray]:
    middle = middle_of(truth)
    field = result.grid(x=middle.x.values, y=middle.y.values, t=middle.t.values)
    return {
        str(name): field[name].isel(t=0).to_numpy().astype(np.float32) for name in field.data_vars
    }
