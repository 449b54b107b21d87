"""How far an answer is from the truth, relative to the spread of the truth."""

import numpy as np
import xarray as xr

from pgt.physics.gauge import fixed_fields, freedom
from pgt_bench.zoo.problem import ZooProblem


def errors(problem: ZooProblem, estimate: xr.Dataset) -> dict:
    """‖estimate − truth‖ / ‖truth − mean‖ of every field on the truth's own grid.

    `measured` is the root mean square over the fields that were read: the headline. Where an equation
    leaves a hidden field open, as it does a pressure, what is open is taken from both sides first. None
    for a field of which a method says nothing.
    """
    truth = problem.truth.on(problem.domain)
    found = {
        name: _relative(*(_settled(problem, name, data[name]) for data in (truth, estimate)))
        for name in problem.pde.fields
    }
    read = [found[name] for name in problem.measured]
    known = [error for error in read if error is not None]
    headline = float(np.sqrt(np.mean(np.square(known)))) if len(known) == len(read) else None
    return {
        "measured": headline,
        "fields": {name: found[name] for name in problem.measured},
        "hidden": {name: found[name] for name in problem.readings.hidden},
    }


def coverage(problem: ZooProblem, band: xr.Dataset) -> dict[str, float]:
    """The share of the truth's grid on which a band (`u_lower`, `u_upper`) holds the truth, by field."""
    truth = problem.truth.on(problem.domain)
    shares = {}
    for name in problem.pde.fields:
        if _open(problem, name) is None and f"{name}_lower" in band:
            known = truth[name].transpose(*problem.domain.axes)
            low, high = (
                band[f"{name}_{side}"].transpose(*problem.domain.axes).to_numpy()
                for side in ("lower", "upper")
            )
            shares[name] = float(((low <= known) & (known <= high)).mean())
    return shares


def _settled(problem: ZooProblem, name: str, field: xr.DataArray) -> np.ndarray:
    """The field as an array over the domain's axes, less what the equations leave open."""
    field = field.transpose(*problem.domain.axes)
    free = _open(problem, name)
    if free == "a constant":
        field = field - field.mean()
    elif free is not None:
        field = field - field.mean(problem.domain.spatial_axes)
    return field.to_numpy().astype(np.float64)


def _open(problem: ZooProblem, name: str) -> str | None:
    if name in problem.measured or name in fixed_fields(problem.conditions, problem.pde):
        return None
    return freedom(problem.pde, name)


def _relative(truth: np.ndarray, estimate: np.ndarray) -> float | None:
    if not np.isfinite(estimate).all():
        return None
    return float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth - truth.mean()))
