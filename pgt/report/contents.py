"""The data of a report, checked before anything is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from pgt.core.doubt import Verdict
from pgt.core.errors import InputError
from pgt.data.domain import AXES
from pgt.data.observations import Observations


@dataclass(frozen=True)
class Readings:
    """The readings of a report, and predictions of them.

    Attributes
    ----------
    fitted, held_out : the readings that were fitted, and those that were not; a field without any in
        either is hidden.
    judges : the readings that judge the field: those held out, or all of a cross-validation.
    predictions : (n, c) predictions of the judges by fits that had not seen them.
    """

    fitted: Observations
    held_out: Observations
    judges: Observations
    predictions: np.ndarray

    def __post_init__(self):
        wanted = (len(self.judges), len(self.judges.fields))
        if np.shape(self.predictions) != wanted:
            raise InputError(
                f"report: `predictions` has shape {np.shape(self.predictions)}; give {wanted}: one row "
                f"for each reading that judges, columns {', '.join(self.judges.fields)}."
            )

    def pairs(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The judges of a field and the predictions there, where those are finite."""
        rows, _, truth, _ = self.judges.measured(name)
        if not len(rows):
            return truth, truth
        guess = np.asarray(self.predictions, float)[rows, self.judges.fields.index(name)]
        finite = np.isfinite(guess)
        return truth[finite], guess[finite]


@dataclass(frozen=True)
class Tables:
    """Further results, each None where it is not known.

    Attributes
    ----------
    coefficients : value and (low, high) interval, or None, of each learnt coefficient.
    coverage : how often bands hold readings, as `Reconstruction.coverage`.
    noise : σ of the readings of each field, given or estimated, in its units.
    suspicious : readings far from the field, as `Reconstruction.suspicious`.
    drifting : sensors with an offset or a trend, as `Reconstruction.drifting`.
    level : how often the intervals of coefficients hold the true value; None where there are none.
    walls : by name, the lines that the walls of a shape of the plane are made of.
    """

    coefficients: Mapping[str, tuple] | None = None
    coverage: xr.Dataset | None = None
    noise: Mapping[str, float] | None = None
    suspicious: pd.DataFrame | None = None
    drifting: pd.DataFrame | None = None
    level: float | None = None
    walls: Mapping[str, list[np.ndarray]] | None = None

    def __post_init__(self):
        for name, pair in (self.coefficients or {}).items():
            _check_coefficient(name, pair)


@dataclass(frozen=True)
class ReportData:
    """Everything a report shows, as plain or labelled data in physical units.

    Attributes
    ----------
    field : the reconstructed fields on a grid over some of x, y, z, t; units in the attributes, and
        the heading of the page in its `title`, where it is to be another than one made of the fields.
    readings : the readings, and the predictions of them.
    verdict : how far to trust it, as `Reconstruction.verdict`; the report only prints it.
    history : loss, weight, held_out and coefficient over `step`, as `Reconstruction.history`.
    summary : how the run went, as `Reconstruction.summary`.
    residual : the residual of each equation on a grid, or None.
    error_bars : one standard deviation of every field, on the grid of `field`, or None.
    tables : coefficients, coverage, noise, suspicious readings, drifting sensors.
    run_file : the text that reproduces the run.
    """

    field: xr.Dataset
    readings: Readings
    verdict: Verdict
    history: xr.Dataset
    summary: Mapping
    residual: xr.Dataset | None = None
    error_bars: xr.Dataset | None = None
    tables: Tables = Tables()
    run_file: str = ""

    def __post_init__(self):
        _check_grid("field", self.field)
        _check_grid("residual", self.residual)
        for name in ("loss", "weight", "held_out", "coefficient"):
            if name not in self.history or "step" not in self.history[name].dims:
                raise InputError(f"report: `history` has no {name} by `step`; give result.history.")
        if self.error_bars is not None:
            _check_error_bars(self.error_bars, self.field)

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.field.data_vars)

    @property
    def fitted(self) -> Observations:
        return self.readings.fitted

    @property
    def held_out(self) -> Observations:
        return self.readings.held_out

    @property
    def hidden(self) -> tuple[str, ...]:
        """Fields that no sensor read, fitted or held out."""
        parts = (self.fitted, self.held_out)
        return tuple(n for n in self.fields if not any(len(p.measured(n).rows) for p in parts))

    def unit(self, name: str) -> str:
        """The unit of a field or an axis; empty where none was given."""
        given = self.field[name].attrs.get("units") if name in self.field.variables else None
        return written(given or dict(self.fitted.units).get(name, ""))


def written(unit) -> str:
    """A unit as text beside a number; empty for "1", the unit of dimensionless numbers."""
    return "" if str(unit) in ("1", "None") else str(unit)


def _check_grid(what: str, dataset: xr.Dataset | None) -> None:
    if dataset is None:
        return
    if not dataset.data_vars:
        raise InputError(f"report: `{what}` holds no variables; give a Dataset from result.grid().")
    for name, array in dataset.data_vars.items():
        strange = [axis for axis in array.dims if axis not in AXES or axis not in array.coords]
        if strange or not array.size:
            raise InputError(
                f"report: `{what}` variable {str(name)!r} has the shape {dict(array.sizes)}; a report "
                "shows grids over coordinates x, y, z and t with at least one position each."
            )
        for axis in array.dims:
            if not np.isfinite(array[axis].to_numpy().astype(float)).all():
                raise InputError(
                    f"report: `{what}` axis {axis!r} has positions that are not finite."
                )


def _check_error_bars(error_bars: xr.Dataset, field: xr.Dataset) -> None:
    for name in error_bars.data_vars:
        if name not in field.data_vars or error_bars[name].sizes != field[name].sizes:
            raise InputError(
                f"report: `error_bars` variable {str(name)!r} does not have the layout of `field`; "
                f"evaluate it on the same grid, for fields among {tuple(field.data_vars)}."
            )


def _check_coefficient(name: str, pair: tuple) -> None:
    if len(pair) != 2 or (pair[1] is not None and len(pair[1]) != 2):
        raise InputError(
            f"report: coefficient {name!r} is {pair!r}; write (value, (low, high)) or (value, None)."
        )
