"""What a report is made of, checked before anything is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from pgt.data.domain import AXES
from pgt.data.observations import Observations
from pgt.ground.errors import InputError


@dataclass(frozen=True)
class Folds:
    """A cross-validation: all readings, and (n, c) what fits that had not seen them say there."""

    count: int
    readings: Observations
    predictions: np.ndarray


@dataclass(frozen=True)
class ReportData:
    """Everything a report shows, as plain or labelled data in physical units.

    Attributes
    ----------
    field : the reconstructed fields on a grid over some of x, y, z, t; units in the attributes.
    observations : the readings that were fitted; a field without readings is hidden.
    held_out : the readings that were not.
    predictions : (n, c) the field at the held-out readings, columns in the order of their fields.
    history : loss, weight, held_out and coefficient over `step`, as `Reconstruction.history`.
    summary : how the run went, as `Reconstruction.summary`.
    residual : what is left of each equation on a grid, or None.
    coefficients : value and (low, high) interval, or None, of each learnt coefficient.
    run_file : the text that reproduces the run.
    error_bars : one standard deviation of every field, laid out as `field`, or None.
    coverage : how often bands hold readings, as `Reconstruction.coverage`, or None.
    title : heading of the page; made up from the fields if empty.
    warnings : further doubts, one sentence each, shown with the report's own.
    noise : σ of the readings of each field, given or estimated, in its units.
    suspicious : readings far from the field, as `Reconstruction.suspicious`, or None.
    drifting : sensors with an offset or a trend, as `Reconstruction.drifting`, or None.
    folds : a cross-validation, which then judges the field in place of the held-out readings, or None.
    """

    field: xr.Dataset
    observations: Observations
    held_out: Observations
    predictions: np.ndarray
    history: xr.Dataset
    summary: Mapping
    residual: xr.Dataset | None = None
    coefficients: Mapping[str, tuple] | None = None
    run_file: str = ""
    error_bars: xr.Dataset | None = None
    coverage: xr.Dataset | None = None
    title: str = ""
    warnings: Sequence[str] = ()
    folds: Folds | None = None
    noise: Mapping[str, float] | None = None
    suspicious: pd.DataFrame | None = None
    drifting: pd.DataFrame | None = None

    def __post_init__(self):
        _check_grid("field", self.field)
        _check_grid("residual", self.residual)
        _check_predictions(self.predictions, self.held_out)
        if self.folds is not None:
            _check_predictions(self.folds.predictions, self.folds.readings)
        for name in ("loss", "weight", "held_out", "coefficient"):
            if name not in self.history or "step" not in self.history[name].dims:
                raise InputError(f"report: `history` has no {name} by `step`; give result.history.")
        if self.error_bars is not None:
            _check_error_bars(self.error_bars, self.field)
        for name, pair in (self.coefficients or {}).items():
            _check_coefficient(name, pair)

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.field.data_vars)

    @property
    def judges(self) -> tuple[Observations, np.ndarray]:
        """Readings that were not fitted, and the predictions there."""
        if self.folds is not None:
            return self.folds.readings, self.folds.predictions
        return self.held_out, self.predictions

    @property
    def hidden(self) -> tuple[str, ...]:
        """Fields that no sensor read, fitted or held out."""
        seen = {name for part in (self.observations, self.held_out) for name in seen_fields(part)}
        return tuple(name for name in self.fields if name not in seen)

    def unit(self, name: str) -> str:
        """The unit of a field or an axis; empty where none was given."""
        given = self.field[name].attrs.get("units") if name in self.field.variables else None
        return written(given or dict(self.observations.units).get(name, ""))


def written(unit) -> str:
    """A unit as it stands beside a number: nothing for the "1" of what has none."""
    return "" if str(unit) in ("1", "None") else str(unit)


def seen_fields(readings: Observations) -> tuple[str, ...]:
    """Fields with at least one reading."""
    return tuple(name for name in readings.fields if len(column(readings, name)[0]))


def column(readings: Observations, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows at which a field was read, and the readings there."""
    if name not in readings.fields:
        return np.zeros(0, int), np.zeros(0)
    index = readings.fields.index(name)
    rows = np.flatnonzero(np.asarray(readings.mask)[:, index])
    return rows, np.asarray(readings.values, float)[rows, index]


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


def _check_predictions(predictions: np.ndarray, held_out: Observations) -> None:
    wanted = (len(held_out), len(held_out.fields))
    if np.shape(predictions) != wanted:
        raise InputError(
            f"report: `predictions` has shape {np.shape(predictions)}; give {wanted}: one row for each "
            f"held-out reading, columns {', '.join(held_out.fields)}."
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
