"""How far to trust a fit when nobody knows the truth: readings that were held out, and plain doubts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pgt.data import Domain, Observations
from pgt.ground.errors import InputError
from pgt.physics.gauge import freedom
from pgt.reconstruction.cross_validate import predict_readings
from pgt.reconstruction.cross_validation import CrossValidation, misfit
from pgt.reconstruction.result import Reconstruction
from pgt.report import Folds, ReportData, words
from pgt.trust.references.interpolation import rbf
from pgt.trust.suspicion import drifting, noise_by_field, suspicious

MOST_FOR_RBF = 3000  # readings; interpolation costs their number cubed
FAR, MOST_SUSPICIOUS = 5.0, 10  # σ from the field, and how many of such readings are named
NOTICEABLE = 0.01  # of the spread of a field's readings
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
    """Held-out errors by field, doubts in words, whether the fit converged; all a report shows; and the
    cross-validation behind the errors, where there is one."""

    fields: dict[str, HeldOut]
    doubts: tuple[str, ...]
    converged: bool
    page: ReportData
    folds: CrossValidation | None = None


def judge(
    result: Reconstruction,
    field: xr.Dataset,
    run_file: str = "",
    folds: CrossValidation | None = None,
) -> Trust:
    """What held-out readings, interpolation of the fitted ones and the course of training say.

    `field` lies on the grid that a report is to show; of it the equation's own fields are shown. Where
    there are `folds`, their readings are the judges: all of them, not those held out of one fit.
    """
    axes: dict[str, Any] = {str(axis): field[axis].to_numpy() for axis in field.dims}
    names = list(result.pde.fields)
    if not set(names) <= set(field.data_vars):
        field = result.grid(**axes)
    error_bars = None
    if result.members is not None:
        error_bars = field[[f"{n}_std" for n in names]].rename({f"{n}_std": n for n in names})
    field = field[names]
    predictions = predict_readings(result.model, result.observations, result.held_out)
    if folds is None:
        simple = _interpolated(result.observations, result.held_out, result.domain)
        fields = _held_out(result.held_out, predictions, simple)
    else:
        simple = _interpolated_in_folds(folds, result.domain)
        fields = _held_out(folds.observations, folds.predictions, simple)
    misfits = result.misfits()
    page = ReportData(
        field=field,
        observations=result.observations,
        held_out=result.held_out,
        predictions=predictions,
        history=result.history,
        summary=result.summary,
        residual=result.residual(**axes),
        coefficients=_coefficients(result),
        error_bars=error_bars,
        coverage=_coverage(result),
        run_file=run_file,
        warnings=(
            *_worse_than_interpolation(fields),
            *_undetermined(result),
            *_vague(result),
        ),
        folds=folds and Folds(folds.folds, folds.observations, folds.predictions),
        noise=noise_by_field(misfits),
        suspicious=suspicious(far(misfits), MOST_SUSPICIOUS),
        drifting=drifting(misfits, result.domain.axes),
    )
    explained = all(found.relative <= HOPELESS for found in fields.values())
    converged = words.convergence(page)[0] is not False and explained
    return Trust(fields, tuple(words.doubts(page)), converged, page, folds)


def _coefficients(result: Reconstruction) -> dict[str, tuple]:
    """(value, 90 % interval) of each; None where there are no error bars."""
    if result.members is None:
        return {name: (value, None) for name, value in result.parameters.items()}
    found = result.intervals()
    return {name: (e.value, (e.lower, e.upper)) for name, e in found.items()}


def _coverage(result: Reconstruction) -> xr.Dataset | None:
    """How often bands hold readings not seen; None where nothing or too little can be said."""
    if result.members is None:
        return None
    try:
        return result.coverage()
    except InputError:  # fewer than two readings of a field were held out
        return None


def _vague(result: Reconstruction):
    """Coefficients that the readings do not determine, that sit at their bounds or were on their way."""
    if result.members is not None:
        yield from (f"{n}: {e.note}." for n, e in result.intervals().items() if e.note)


def _held_out(
    readings: Observations, predictions: np.ndarray, simple: np.ndarray | None
) -> dict[str, HeldOut]:
    """The errors of a fit, and of simple interpolation, by field."""
    fields = {}
    for column, name in enumerate(readings.fields):
        rows = np.asarray(readings.mask)[:, column].astype(bool)
        if rows.any():
            truth = np.asarray(readings.values, float)[rows, column]
            theirs = np.nan if simple is None else misfit(simple[rows, column], truth)[1]
            ours = misfit(predictions[rows, column], truth)
            fields[name] = HeldOut(
                int(rows.sum()), *ours, float(theirs) if np.isfinite(theirs) else None
            )
    return fields


def _interpolated(fitted: Observations, held_out: Observations, domain: Domain):
    """What scipy's radial basis functions say of the held-out readings; None where they cannot."""
    if not len(held_out) or len(fitted) > MOST_FOR_RBF:
        return None
    try:
        return rbf(fitted, domain, np.asarray(held_out.points, float)).predictions
    except InputError:  # too few readings, or all on a line
        return None


def _interpolated_in_folds(folds: CrossValidation, domain: Domain) -> np.ndarray | None:
    """The same for every reading: of each fold from the readings of the others."""
    simple = np.full_like(folds.predictions, np.nan)
    for fold in range(folds.folds):
        inside = folds.fold == fold
        fitted, held_out = folds.observations.take(~inside), folds.observations.take(inside)
        found = _interpolated(fitted, held_out, domain)
        if found is None:
            return None
        simple[inside] = found
    return simple


# ------------------------------------------------------------------------------- doubts


def _worse_than_interpolation(fields: dict[str, HeldOut]):
    for name, found in fields.items():
        if found.rbf_relative is not None and found.relative > found.rbf_relative:
            yield (
                f"{name}: interpolation without physics (scipy's RBF) predicts the held-out readings "
                f"better, {found.rbf_relative:.2g} against {found.relative:.2g}. Check equation, "
                "coefficients and units, or train for longer."
            )


def far(table: pd.DataFrame) -> pd.DataFrame:
    """Readings too far from the field to be noise, and by enough to matter.

    Of clean readings σ is what the fit leaves, a millionth perhaps: some are always many σ away.
    """
    spreads = {name: rows["reading"].std(ddof=0) for name, rows in table.groupby("field")}
    spread = np.array([spreads[name] for name in table["field"]], float)
    gap = (table["predicted"] - table["reading"]).abs()
    return table.loc[(table["misfit"].abs() > FAR) & (gap > NOTICEABLE * spread)]


def _undetermined(result: Reconstruction):
    """A hidden field of which the equations hold only derivatives is known up to a constant."""
    fixed = result.summary.get("fixed_fields", ())
    for column, name in enumerate(result.observations.fields):
        measured = any(
            np.asarray(o.mask)[:, column].any() for o in (result.observations, result.held_out)
        )
        free = None if measured or name in fixed else freedom(result.pde, name)
        if free is not None:
            yield (
                f"{name} was never measured, and the equations hold only its derivatives: it is "
                f"determined up to {free}. A gauge would say which is meant."
            )
