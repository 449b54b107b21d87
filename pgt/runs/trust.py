"""How far to trust a fit when nobody knows the truth: readings that were held out, and plain doubts."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np
import xarray as xr

from pgt._errors import InputError
from pgt.bench.references import rbf
from pgt.data import Domain, Observations
from pgt.nn.precision import is_double, precision
from pgt.physics.derivatives import requested
from pgt.reconstruction import Reconstruction
from pgt.report import ReportData, words
from pgt.training.losses import averaged_axes, reading_rows

MOST_FOR_RBF = 3000  # readings; interpolation costs their number cubed
HOPELESS = 0.5  # relative held-out error above which a fit has not converged


@dataclass(frozen=True)
class HeldOut:
    """How well one field is predicted where it was measured but not fitted."""

    readings: int
    rmse: float
    relative: float
    rbf_relative: float | None


@dataclass(frozen=True)
class Trust:
    """Held-out errors by field, doubts in words, whether the fit converged; and all a report shows."""

    fields: dict[str, HeldOut]
    doubts: tuple[str, ...]
    converged: bool
    page: ReportData


def judge(result: Reconstruction, field: xr.Dataset, run_file: str = "") -> Trust:
    """What held-out readings, interpolation of the fitted ones and the course of training say.

    `field` lies on the grid that a report is to show; of it the equation's own fields are shown.
    """
    axes: dict[str, Any] = {str(axis): field[axis].to_numpy() for axis in field.dims}
    if set(field.data_vars) != set(result.pde.fields):
        field = result.grid(**axes)
    predictions = predict_readings(result, result.held_out)
    fields = _held_out(result, predictions)
    page = ReportData(
        field=field,
        observations=result.observations,
        held_out=result.held_out,
        predictions=predictions,
        history=result.history,
        summary=result.summary,
        residual=result.residual(**axes),
        coefficients={name: (value, None) for name, value in result.parameters.items()},
        run_file=run_file,
        warnings=(*_worse_than_interpolation(fields), *_undetermined(result)),
    )
    explained = all(found.relative <= HOPELESS for found in fields.values())
    converged = words.convergence(page)[0] is not False and explained
    return Trust(fields, tuple(words.doubts(page)), converged, page)


def _held_out(result: Reconstruction, predictions: np.ndarray) -> dict[str, HeldOut]:
    held_out = result.held_out
    simple = _interpolated(result.observations, held_out, result.domain)
    fields = {}
    for column, name in enumerate(held_out.fields):
        rows = np.asarray(held_out.mask)[:, column].astype(bool)
        if rows.any():
            truth = np.asarray(held_out.values, float)[rows, column]
            ours = _errors(predictions[rows, column], truth)
            theirs = None if simple is None else _errors(simple[rows, column], truth)[1]
            fields[name] = HeldOut(int(rows.sum()), *ours, theirs)
    return fields


def predict_readings(result: Reconstruction, readings: Observations) -> np.ndarray:
    """(n, c) what the fit says of readings, averages over boxes included."""
    if not len(readings):
        return np.zeros((0, len(readings.fields)))

    averaged = averaged_axes(readings)
    # Every field is asked for, also where it was not measured.
    asked = dataclasses.replace(
        readings,
        values=np.where(readings.mask, readings.values, 0.0),
        mask=np.ones_like(readings.mask),
    )

    @eqx.filter_jit
    def misfit(model, fitted, asked):
        context = model.encode(fitted)
        rows = reading_rows(lambda z: model.decode(context, z), asked, model.scaling, averaged)
        return rows * model.scaling.spread

    with precision(is_double(result.model)):
        return np.asarray(misfit(result.model, result.observations, asked), float) + asked.values


def _errors(predicted: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Root mean square error, and the same relative to the readings."""
    wrong, size = np.linalg.norm(predicted - truth), np.linalg.norm(truth)
    return float(wrong / np.sqrt(len(truth))), float(wrong / size) if size > 0 else float("inf")


def _interpolated(fitted: Observations, held_out: Observations, domain: Domain):
    """What scipy's radial basis functions say of the held-out readings; None where they cannot."""
    if not len(held_out) or len(fitted) > MOST_FOR_RBF:
        return None
    try:
        return rbf(fitted, domain, np.asarray(held_out.points, float)).predictions
    except InputError:  # too few readings, or all on a line
        return None


# ------------------------------------------------------------------------------- doubts


def _worse_than_interpolation(fields: dict[str, HeldOut]):
    for name, found in fields.items():
        if found.rbf_relative is not None and found.relative > found.rbf_relative:
            yield (
                f"{name}: interpolation without physics (scipy's RBF) predicts the held-out readings "
                f"better, {found.rbf_relative:.2g} against {found.relative:.2g}. Check equation, "
                "coefficients and units, or train for longer."
            )


def _undetermined(result: Reconstruction):
    """A hidden field of which the equations hold only derivatives is known up to a constant."""
    asked = requested(result.pde)
    for column, name in enumerate(result.observations.fields):
        measured = any(
            np.asarray(o.mask)[:, column].any() for o in (result.observations, result.held_out)
        )
        if not measured and name not in asked:
            moving = "t" in result.pde.coords and f"{name}_t" not in asked
            yield (
                f"{name} was never measured, and the equations hold only its derivatives: it is "
                f"determined up to {'a function of time' if moving else 'a constant'}."
            )
