"""The data of a report, from a result: fields, verdict, tables, history, equation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from pgt.core.attempts import Attempts, Strict
from pgt.core.doubt import Verdict
from pgt.core.errors import InputError
from pgt.data.dates import counted_from, start_of
from pgt.data.observations import readings_from
from pgt.io.columns import Columns, add_sensor_and_line
from pgt.physics.equation import Equation
from pgt.physics.equation_checks import coefficient_units
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare
from pgt.plots.domains import outlines
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.reconstruction.estimates import known_intervals
from pgt.reconstruction.result import Reconstruction
from pgt.report import Readings, ReportData, Tables
from pgt.uncertainty.held_out import HeldOutPredictions
from pgt.uncertainty.intervals import DEFAULT_LEVEL
from pgt.uncertainty.misfits import (
    READING_KEYS,
    drifting_sensors,
    far_readings,
    largest_misfits,
    noise_by_field,
)
from pgt.uncertainty.verdict import Evidence, judge

# The largest number of suspicious readings that are shown.
MAX_SUSPICIOUS = 10
# The names of sensors and lines are stored for at most this many readings.
MAX_NAMED = 100
# The number of points of a wall that is drawn.
WALL_POINTS = 400


def report_data(
    result: Reconstruction,
    field: xr.Dataset,
    run_file: str = "",
    folds: CrossValidation | None = None,
    attempts: Attempts | None = None,
) -> ReportData:
    """Everything that a report shows; with `attempts`, failing parts are left out and recorded there.

    `field` is on the grid that is shown, and gives the values if it has all fields of the equation. With
    `folds`, the readings of all folds judge the field instead of those held out of one fit.
    """
    attempt = attempts or Strict()
    axes: dict[str, Any] = {str(axis): field[axis].to_numpy() for axis in field.dims}
    names = list(result.pde.fields)
    if not set(names) <= set(field.data_vars):
        field = result.grid(**axes)
    error_bars = None
    if result.members is not None:
        error_bars = field[[f"{n}_std" for n in names]].rename({f"{n}_std": n for n in names})
    evidence, start = attempt("the evidence", lambda: result.evidence(folds)), start_of(field)
    judged = _nobody(result) if evidence is None else evidence.judged
    fitted, held_out, judges = (
        readings_from(part, start)
        for part in (result.observations, result.held_out, judged.readings)
    )
    verdict = None if evidence is None else attempt("the verdict", lambda: judge(evidence))
    residual = attempt("the residual", lambda: counted_from(result.residual(**axes), start))
    tables = None
    if evidence is not None:
        tables = attempt("the tables", lambda: _tables(result, evidence, start or 0.0))
    return ReportData(
        field=counted_from(field[names], start),
        readings=Readings(fitted, held_out, judges, judged.predictions),
        verdict=verdict or UNJUDGED,
        history=result.history,
        summary=result.summary | {"equation": equation_of(result)},
        residual=residual,
        error_bars=None if error_bars is None else counted_from(error_bars, start),
        tables=tables or Tables(),
        run_file=run_file,
    )


UNJUDGED = Verdict(None, "The verdict could not be formed.", {})


def _nobody(result: Reconstruction) -> HeldOutPredictions:
    """The empty held-out predictions of a result whose verdict failed."""
    none = result.held_out.take(np.zeros(0, int))
    return HeldOutPredictions(none, np.zeros((0, len(none.fields))))


def with_origins(result: Reconstruction, columns: Columns) -> Reconstruction:
    """The result with the names of sensors and lines of suspicious readings, from the files.

    They are stored in its record, so that they are known after loading.
    """
    misfits, axes = result.misfits(), result.domain.axes
    suspects = (largest_misfits(misfits, MAX_NAMED), drifting_sensors(misfits, axes))
    rows = [
        {key: row[key] for key in (*READING_KEYS, "sensor", "line") if key in row}
        for table in suspects
        for row in add_sensor_and_line(table, columns, axes).to_dict("records")
    ]
    known = [row for row in rows if row.get("sensor") or row.get("line")]
    return replace(result, record=result.record | {"origins": known}) if known else result


def equation_of(result: Reconstruction) -> str:
    """The equation as text or name, with the current values of all coefficients."""
    pde = bare(result.pde)
    return described(
        pde, result.parameters, coefficient_units(pde, dict(result.observations.units))
    )


def described(
    pde: AbstractPDE,
    learnt: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
) -> str:
    """An equation as text; `learnt` are its learned coefficients and `units` the units, by name.

    >>> import pgt
    >>> described(pgt.Heat(0.01)), described(pgt.Equation("u_t = k*u_xx", k=0.5))
    ('Heat in x, t: diffusivity = 0.01', 'u_t = k*u_xx: k = 0.5')
    """
    texts = pde.texts if isinstance(pde, Equation) else ()
    name = "; ".join(texts) or f"{type(pde).__name__} in {', '.join(pde.coords)}"
    unit = {key: f" {unit}" for key, unit in (units or {}).items()}
    found = {key: f"{key} = {value:.6g}{unit.get(key, '')}" for key, value in _numbers(pde).items()}
    for key, value in (learnt or {}).items():
        found[key] = f"{key} = {value:.6g}{unit.get(key, '')} (learnt)"
    return f"{name}: {', '.join(found.values())}" if found else name


def _numbers(pde: AbstractPDE) -> dict[str, float]:
    """The coefficients that are plain numbers, by name."""
    fields = vars(pde)
    given = fields.get("coefficients", fields)
    given = given if isinstance(given, Mapping) else fields
    return {str(k): float(v) for k, v in given.items() if isinstance(v, float)}


def _tables(result: Reconstruction, evidence: Evidence, start: float) -> Tables:
    """The further tables of the report, with dates in seconds from `start`, as in the figures."""
    misfits, axes = evidence.misfits, result.domain.axes
    suspects = evidence.named(far_readings(misfits).head(MAX_SUSPICIOUS))
    if start:
        misfits, suspects = (table.assign(t=table["t"] - start) for table in (misfits, suspects))
    return Tables(
        coefficients=_coefficients(result),
        coverage=_coverage(result),
        noise=noise_by_field(misfits),
        suspicious=suspects,
        drifting=evidence.named(drifting_sensors(misfits, axes)),
        level=DEFAULT_LEVEL if known_intervals(result) else None,
        walls=outlines(result.domain, WALL_POINTS),
    )


def _coefficients(result: Reconstruction) -> dict[str, tuple]:
    """(value, 90 % interval) of each; None where it is not known."""
    found = {name: (e.lower, e.upper) for name, e in known_intervals(result).items()}
    return {name: (value, found.get(name)) for name, value in result.parameters.items()}


def _coverage(result: Reconstruction) -> xr.Dataset | None:
    """The coverage of bands at held-out readings; None where there are none or too few."""
    if result.members is None:
        return None
    try:
        return result.coverage()
    except InputError:  # fewer than two readings of a field were held out
        return None
