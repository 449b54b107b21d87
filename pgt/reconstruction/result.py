"""The result of a fit: a field that can be evaluated anywhere, with its error and its doubts.

`Reconstruction` is what `reconstruct` and `solve` return. Its methods are short: each calls the module of
this package or of `pgt.uncertainty` that does the work.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import equinox as eqx
import jax
import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float
from scipy.special import ndtri

from pgt.core import serialise
from pgt.core.arguments import Count, Limits
from pgt.core.checked import checked
from pgt.core.doubt import Doubt, FieldError, Verdict
from pgt.core.errors import InputError
from pgt.core.files import naming_the_place
from pgt.core.manifest import update_manifest
from pgt.core.stage import Stage, stages_of
from pgt.core.unknown import named_coefficients
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.query_points import as_points, check_either
from pgt.methods.history import History
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.trees import is_double, precision
from pgt.physics.derivatives import residual
from pgt.physics.pde import AbstractPDE
from pgt.physics.problem_inputs import Readings
from pgt.physics.unknown_conditions import functions_of
from pgt.problem.checkpoint import TRAINING_FILE as CHECKPOINT
from pgt.reconstruction import display, held_out_predictions
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.reconstruction.estimates import function_grids, known_intervals, state_functions
from pgt.reconstruction.evaluation import Evaluation, Query
from pgt.reconstruction.integrals import Integrals
from pgt.reconstruction.verdict_evidence import evidence_of
from pgt.uncertainty import misfits, sensor_placement
from pgt.uncertainty.calibration import calibrate
from pgt.uncertainty.coverage import LEVELS, bands, coverage_table, noise_model
from pgt.uncertainty.intervals import Estimate, intervals
from pgt.uncertainty.members import Members, require_members
from pgt.uncertainty.verdict import Evidence, judge

FILE = "reconstruction"
# Attributes that only the library reads; `dir` does not list them.
INTERNAL = {"record", "members", "evaluation", "evidence", "continuation"}
Of = Literal["field", "reading"]
Level = Annotated[float, Limits(above=0, below=1)]


class Reconstruction(eqx.Module):
    """A fitted field: values, derivatives, hidden fields and coefficients, in physical units.

    `at` and `grid` give xarray Datasets; `residual` says how well the equation holds; `parameters`
    are the learned coefficients; `history` is the course of training; `summary` describes the run;
    `verdict` says how far to trust it, `doubts` what is doubtful; `plot` and `report` show it.

    A property takes no argument and describes the fit; a method takes arguments, or returns a table or a
    file. `dir` lists both, without the attributes that only the library reads.

    `left_out_predictions` are the leave-one-out predictions of the readings, if the method has a closed
    form.

    With error bars, `members` are the fields that they come from. `at` and `grid` then give the mean over
    the members (`u`), their standard deviation (`u_std`) and the requested quantiles (`u_quantile`);
    `parameters` is their median. `model`, `pde` and `residual` are those of the fit for a posterior, and
    those of the first member for an ensemble.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat({1: 1.0}), n=30)
    >>> domain = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> result = pgt.reconstruct(
    ...     readings,
    ...     pgt.Heat(diffusivity=0.01),
    ...     domain,
    ...     model=pgt.PINN(pgt.Scaling.fit(readings, domain), width=8, layers=2),
    ...     training=pgt.Training(steps=3, collocation=20, polish=False),
    ... )
    >>> sorted(result.at({"x": [0.5], "t": [0.5]}, ["u", "u_x"]).data_vars)
    ['u', 'u_x']
    >>> result.residual(x=3, t=3).heat.shape
    (3, 3)
    >>> result.parameters, result.summary["seed"]
    ({}, 0)
    """

    model: AbstractFieldModel
    pde: AbstractPDE
    observations: Observations
    held_out: Observations
    record: dict
    domain: Domain = eqx.field(static=True)
    members: Members | None = None
    left_out_predictions: Float[np.ndarray, "n c"] | None = None
    continuation: Callable[..., "Reconstruction"] | None = None

    # ------------------------------------------------------------------------------ evaluate

    @checked
    def at(
        self,
        points=None,
        quantities: Sequence[str] | None = None,
        quantiles: float | Sequence[float] | None = None,
        **axes,
    ) -> xr.Dataset:
        """Values at scattered points.

        Parameters
        ----------
        points : (n, d) array with columns in the order of the domain's axes, or a dict by axis.
        quantities : fields, derivatives ("u_xx") or "vorticity", "divergence", "speed".
            Default: all fields.
        quantiles : quantiles of the members, between 0 and 1. Those of "u" are "u_quantile", over a
            dimension "quantile": `.u_quantile.sel(quantile=0.05)`. A single number adds no dimension.
        **axes : instead of `points`, numbers by axis: `at(x=0.5, t=[0.1, 0.2])`.

        Points outside the domain are answered with a warning, and marked by a coordinate `outside`. If
        the domain has a shape, values outside it are NaN, and a coordinate `mask` is 0 there.
        """
        if (points is None) != bool(axes):
            raise InputError("at: write either points, or every axis by name: at(x=0.5, t=0.5).")
        of = self.evaluation
        return of.scattered(axes if points is None else points, of.query(quantities, quantiles))

    @checked
    def grid(
        self,
        quantities: Sequence[str] | None = None,
        quantiles: float | Sequence[float] | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        **axes,
    ) -> xr.Dataset:
        """Values on a grid.

        Parameters
        ----------
        quantities, quantiles : as in `at`.
        at : axes that are held at one position and are no dimensions of the answer:
            `result.grid(x=101, at={"t": 0.5})` is a profile at one instant.
        **axes : for each axis a list of positions, `t=[0.1, 0.2]`, or the number of positions over the
            whole axis. Default: 50.
        """
        of = self.evaluation
        return of.gridded(axes, of.query(quantities, quantiles), at)

    def to_netcdf(self, path: str | Path, quantities=None, quantiles=None, **options) -> Path:
        """Write the field on a grid to a NetCDF file; arguments as in `grid`. Returns the path.

        The grid is computed and written part by part, so that memory does not grow with it. The option
        `progress` says whether to show a progress bar; default: if standard error is a terminal.
        """
        return self._write_grid(path, ".nc", quantities, quantiles, **options)

    def to_zarr(self, path: str | Path, quantities=None, quantiles=None, **options) -> Path:
        """Write the field on a grid to a Zarr store, a folder; as `to_netcdf`."""
        return self._write_grid(path, ".zarr", quantities, quantiles, **options)

    @checked
    def _write_grid(
        self,
        path: str | Path,
        ending: str,
        quantities: Sequence[str] | None,
        quantiles: float | Sequence[float] | None,
        *,
        at: Mapping[str, Any] | None = None,
        progress: bool | None = None,
        **axes,
    ) -> Path:
        requested = quantities, quantiles
        return display.write(self, Path(path), ending, requested, at, axes, progress)[0]

    @checked
    def functions(self, quantiles: float | Sequence[float] | None = None, **axes) -> xr.Dataset:
        """The unknown functions of equation and conditions; arguments as in `grid`.

        Each is a function of its coordinates, or of the field that it depends on, over the range of that.
        """
        checked = self.evaluation.query(None, quantiles).quantiles
        states = state_functions(self.pde, self.members, axes, checked)
        of_coordinates = {a: size for a, size in axes.items() if a in self.domain.axes}
        if states and not functions_of(self.pde):
            return states
        return function_grids(self.pde, self.domain, self.grid, of_coordinates, quantiles).merge(
            states
        )

    @checked
    def residual(self, points=None, *, at: Mapping[str, Any] | None = None, **axes) -> xr.Dataset:
        """The residual of each equation, in physical units, at points (as in `at`) or on a grid (as in
        `grid`)."""

        def rows(field, z):
            return residual(self.pde, field, z, self.model.scaling.origin)

        check_either("residual", points, {**axes, **(at or {})})
        query, of = Query(rows, {}, None), self.evaluation
        return of.gridded(axes, query, at) if points is None else of.scattered(points, query)

    @checked
    def predict_readings(
        self, readings: Observations, members: bool = False
    ) -> Float[np.ndarray, "*k n c"]:
        """(n, c) the predictions of readings, with averages over their boxes and a column per field.

        With `members` they are those of each member, (k, n, c).
        """
        of, readings = self.evaluation, readings.aligned(self.pde.fields)
        return of.predict_readings_by_member(readings) if members else of.predict_readings(readings)

    @property
    def integrals(self) -> Integrals:
        """Values, fluxes, flows and forces on walls, and totals over the domain."""
        return Integrals(self.evaluation)

    # ------------------------------------------------------------------------------ continue

    @checked
    def update(self, readings: Readings, *, progress: bool | None = None) -> "Reconstruction":
        """The result with more readings of the same problem, without starting again.

        A linear problem in closed form keeps its sines and is solved once; the answer is that of all
        readings at once. A solver starts from the learned coefficients, a network from its weights.
        Readings that were held out stay so. A result that was loaded or pickled cannot be continued.

        >>> import pgt
        >>> readings, box = pgt.sample(pgt.datasets.heat(), n=40), {"x": (0, 1), "t": (0, 1)}
        >>> first, later = (readings.take(range(k, 40, 2)) for k in (0, 1))
        >>> result = pgt.reconstruct(first, pgt.Heat(0.01), box, method="closed-form")
        >>> len(result.update(later).observations)
        40
        """
        if self.continuation is None:
            raise InputError(
                "update: a result that was loaded, pickled or made by hand does not hold the conditions "
                "and settings of its fit; call pgt.reconstruct with all readings."
            )
        return self.continuation(readings, progress)

    # ------------------------------------------------------------------------------ know

    @property
    def parameters(self) -> dict[str, float]:
        """The learned coefficients by their names in the equation."""
        pde = self.pde if self.members is None else self.members.median_equation()
        with precision(is_double(pde)):
            return {name: float(node.value) for name, node in named_coefficients(pde)}

    @property
    def history(self) -> xr.Dataset:
        """The course of training by step: `loss` and `weight` of every term, the `held_out` error, and
        every learned `coefficient`.

        `history.loss.sel(term="data")` is the misfit of the readings, and
        `history.coefficient.sel(unknown="viscosity")` a coefficient by its name in `parameters`.
        """
        return History(**self.record["history"]).dataset()

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of a least-squares fit, with their costs and the reasons why they ended."""
        return stages_of(self.record)

    @property
    def summary(self) -> dict:
        """The record of the run: seconds, held-out error, why it stopped, settings, seed, versions."""
        return {name: value for name, value in self.record.items() if name != "history"}

    # ------------------------------------------------------------------------------ trust

    @checked
    def verdict(self, folds: CrossValidation | None = None) -> Verdict:
        """Whether the fit converged, its error at held-out readings, and what is doubtful.

        With `folds` (see `cross_validate`), all readings judge the fit, not only those held out of it.
        """
        return judge(self.evidence(folds))

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """The reasons not to trust the fit, the most serious first; empty if there are none."""
        return self.verdict().doubts

    @property
    def field_error(self) -> dict[str, FieldError]:
        """The stated error of each field over the domain, relative to its spread; empty if not known.

        `pgt.uncertainty.field_error` explains how it is computed.
        """
        errors = self.record.get("field_error") or {}
        return {name: FieldError(**error) for name, error in errors.items()}

    @checked
    def evidence(self, folds: CrossValidation | None = None) -> Evidence:
        """The evidence that `verdict` is based on: readings with predictions, the course of training, and
        what is known about unknowns.
        """
        return evidence_of(self, folds)

    @checked
    def intervals(self, level: Level = 0.9) -> dict[str, Estimate]:
        """The learned coefficients with their intervals, and whether the readings determine them.

        Without error bars they come from the posterior of the fit, if it is known;
        `pgt.uncertainty.intervals.intervals` describes an `Estimate`.
        """
        return known_intervals(self, level) or intervals(self.members, level)

    @checked
    def coverage(self, levels: Sequence[Level] = LEVELS) -> xr.Dataset:
        """How often bands of these levels hold readings, their width, and the CRPS.

        It counts held-out readings, and with a posterior also the fitted ones, each left out in turn.
        Error bars are required; `pgt.uncertainty.coverage.coverage_table` describes the table.
        """
        if not len(levels):
            raise InputError("coverage(levels=()): write at least one level, such as (0.5, 0.9).")
        return coverage_table(held_out_predictions.predicted_readings(self), levels)

    @checked
    def band(self, points=None, level: Level = 0.9, of: Of = "field", **axes) -> xr.Dataset:
        """The calibrated band `u`, `u_lower`, `u_upper` at points or on a grid; see `coverage`.

        `of` is "field", or "reading" for a band of new, noisy readings, with the errors of the sensor
        that stands there, or of one that was not read. pgt/uncertainty/calibration.py describes what is
        guaranteed.
        """
        check_either("band", points, axes)
        calibrations = {
            name: calibrate(p) for name, p in held_out_predictions.predicted_readings(self).items()
        }
        values = self.grid(**axes) if points is None else self.at(points)
        noise = noise_model(
            self.model, held_out_predictions.encoded_readings(self), self.pde.fields
        )
        members, record = require_members(self.members), self.record.get("members", {})
        misfit = record.get("correlated_misfit", {})
        band = bands(values, calibrations, level, of, noise, members.independent, misfit)
        if of == "field":
            return band
        return held_out_predictions.with_sensor_errors(self, band, float(ndtri((1 + level) / 2)))

    @checked
    def suggest_sensors(self, n: Count, candidates=None) -> xr.Dataset:
        """The n places at which one more reading most reduces the variance, the most informative first.

        `candidates` are points as in `at`; those outside the domain's shape are ignored. Default: 2048
        points that fill the domain.
        """
        noise = {
            name: calibrate(p).noise
            for name, p in held_out_predictions.predicted_readings(self).items()
        }
        points = (
            sensor_placement.candidates(self.domain)
            if candidates is None
            else sensor_placement.inside_shape(as_points(candidates, self.domain), self.domain)
        )
        if not len(points):
            raise InputError(
                "suggest_sensors(candidates=...): there are none, or none inside the domain's shape; "
                "give some points."
            )
        return sensor_placement.suggest_sensors(
            points, self.domain, self.evaluation.members_at(points), n, noise
        )

    def misfits(self) -> pd.DataFrame:
        """A table of every reading with its prediction, and their difference in σ."""
        parts = (self.observations, self.held_out)
        fitted, held_out = ((part, self.predict_readings(part)) for part in parts)
        return misfits.misfit_table(fitted, held_out)

    @checked
    def suspicious(self, n: Count = 10) -> pd.DataFrame:
        """The n readings, fitted or held out, with the largest misfits in units of their σ.

        Readings from a file have their sensor and line.
        """
        return self._named(misfits.largest_misfits(self.misfits(), n))

    def drifting(self) -> pd.DataFrame:
        """The sensors (one place, many times) whose misfits have a significant offset or trend in time.

        `pgt.uncertainty.misfits.drifting_sensors` describes the table.
        """
        return self._named(misfits.drifting_sensors(self.misfits(), self.domain.axes))

    def sensor_errors(self) -> pd.DataFrame:
        """A table of the sensor errors that were estimated with the field and taken out of the readings.

        The columns are the place, the field, the effect ("offset", "gain", "drift" or "clock"), its value
        and its standard deviation, in the units of field and time. `observations` are the readings
        without these errors.
        """
        space = [axis for axis in self.domain.axes if axis != "t"]
        rows = [
            [
                *effect["place"],
                effect["field"],
                effect["kind"],
                effect["value"],
                effect["deviation"],
            ]
            for effect in self.record.get("sensor_effects", ())
        ]
        columns = [*space, "field", "effect", "value", "deviation"]
        return self._named(pd.DataFrame(rows, columns=pd.Index(columns)))

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        return misfits.with_sensor_names(table, self.record.get("origins", ()))

    @property
    def noise(self) -> dict[str, float]:
        """σ of the readings of each field in its units, as given or estimated from held-out readings."""
        return misfits.noise_by_field(self.misfits())

    # ------------------------------------------------------------------------------ show

    def __repr__(self) -> str:
        return display.short_text(self)

    if not TYPE_CHECKING:  # a type checker knows the names

        def __getattr__(self, name: str):
            raise AttributeError(
                display.unknown_name_message(type(self), name), name=name, obj=self
            )

    @checked
    def plot(self, name: str | None = None, **axes) -> Any:
        """A figure of the field with the readings on top, as `pgt.plots.field` draws it.

        `name` is one of the fields; by default all are drawn. The axes are those of `grid`.
        """
        return display.plot(self, name, axes)

    @checked
    def report(self, path: str | Path = "report.html", **axes) -> Path:
        """The path of an HTML page about the fit, after writing it; the page works offline."""
        return display.report(self, Path(path), axes)

    # ------------------------------------------------------------------------------ keep

    @checked
    def save(self, folder: str | Path) -> None:
        """Write everything into `folder` (safetensors + JSON)."""
        with naming_the_place(Path(folder)), update_manifest(Path(folder)):
            serialise.save(folder, FILE, replace(self, continuation=None))

    @staticmethod
    @checked
    def load(folder: str | Path, classes: Sequence[type] = ()) -> "Reconstruction":
        """Read what `save` wrote; no code in the file is ever run.

        `classes` are your own classes (an equation you wrote) that the file may refer to.
        """
        return load_stored(Path(folder), FILE, Reconstruction, classes)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - INTERNAL)

    def __getstate__(self) -> dict:
        """The state that is pickled, in NumPy arrays: those of JAX are restored in single precision."""
        kept = vars(self) | {"continuation": None}
        return jax.tree.map(lambda a: np.asarray(a) if eqx.is_array(a) else a, kept)

    # ------------------------------------------------------------------------------ inside

    @property
    def evaluation(self) -> Evaluation:
        """The field for evaluation, with the readings, the members and the labels of the answers."""
        return Evaluation(
            self.model, self.pde, held_out_predictions.encoded_readings(self), self.members, self.domain,
            units=dict(self.observations.units) | dict(self.domain.units),
            attributes=display.provenance(self),
        )  # fmt: skip


Kind = TypeVar("Kind")


def load_stored(folder: Path, name: str, kind: type[Kind], classes: Sequence[type] = ()) -> Kind:
    """The object of class `kind` that was saved as `name` in `folder`."""
    if not serialise.exists(folder, name) and serialise.exists(folder, CHECKPOINT):
        raise InputError(
            f"{folder} holds a checkpoint, the state of a fit that is not finished, and no result: call "
            "`reconstruct` again with checkpoint= this folder, or `pgt fit` with --resume."
        )
    loaded = serialise.load(folder, name, classes)
    if not isinstance(loaded, kind):
        raise InputError(
            f"{folder / name}.safetensors holds a {type(loaded).__name__}, not a {kind.__name__}; give a "
            "folder that `Reconstruction.save` or `pgt fit` wrote."
        )
    return loaded
