"""The result: a field that can be asked anywhere."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
import pandas as pd
import xarray as xr

from pgt import _serialise, sensors, suspicion
from pgt._errors import InputError
from pgt._unknown import named_unknowns
from pgt.calibration import Predicted, calibrate
from pgt.coverage import LEVELS, Noise, bands, coverage_table, predict, predicted_noise
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.places import as_axes, as_points
from pgt.intervals import Estimate, intervals
from pgt.members import Members, checked_quantiles, quantile_name, required, statistics
from pgt.models.base import AbstractFieldModel
from pgt.nn import batched
from pgt.nn.precision import is_double, precision
from pgt.physics.derivatives import differentiate, residual
from pgt.physics.pde import AbstractPDE
from pgt.physics.quantities import parts_of, quantity, units_of

CHUNK = 1 << 13  # points evaluated at once: each attends to every token, so memory grows with them
FILE = "reconstruction"


class Asked(NamedTuple):
    """values(field, z) of one point; units by name; quantiles of members, None for the fit alone."""

    values: Callable
    units: dict[str, str]
    quantiles: tuple[float, ...] | None


class Reconstruction(eqx.Module):
    """A fitted field: values, derivatives, hidden fields and coefficients, in physical units.

    `at` and `grid` give xarray Datasets; `residual` says how well the equation holds; `parameters`
    are the learnt coefficients; `history` is the course of training; `summary` how the run went.

    Where error bars were asked for, `members` are the fields they are made of. `at` and `grid` then
    give the mean over the members (`u`), their standard deviation (`u_std`) and the quantiles asked
    for; `parameters` is their median. `model`, `pde` and `residual` are those of the fit for a
    posterior, those of the first member for an ensemble.

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

    # ------------------------------------------------------------------------------ evaluate

    def at(
        self,
        points,
        quantities: Sequence[str] | None = None,
        quantiles: float | Sequence[float] | None = None,
    ) -> xr.Dataset:
        """Values at scattered points.

        Parameters
        ----------
        points : (n, d) array with columns in the order of the domain's axes, or a dict by axis.
        quantities : fields, derivatives ("u_xx") or "vorticity", "divergence", "speed".
            Default: all fields.
        quantiles : of the members, between 0 and 1: 0.05 of "u" is called "u_q05".
        """
        return self._scattered(points, self._asked(quantities, quantiles))

    def grid(
        self,
        quantities: Sequence[str] | None = None,
        quantiles: float | Sequence[float] | None = None,
        **axes,
    ) -> xr.Dataset:
        """Values on a grid; per axis a number of positions (default 50) or the positions themselves.

        `result.grid(x=101, t=[0.5])` is a profile of 101 positions at one instant.
        """
        return self._gridded(axes, self._asked(quantities, quantiles))

    def residual(self, points=None, **axes) -> xr.Dataset:
        """What is left of each equation, in physical units, at points (as in `at`) or on a grid."""

        def rows(field, z):
            return residual(self.pde, field, z)

        asked = Asked(rows, {}, None)
        return self._gridded(axes, asked) if points is None else self._scattered(points, asked)

    # ------------------------------------------------------------------------------ know

    @property
    def parameters(self) -> dict[str, float]:
        """The coefficients that were learnt, by the name they have in the equation."""
        pde = self.pde if self.members is None else self.members.middle()
        with precision(is_double(pde)):
            return {name: float(node.value) for name, node in named_unknowns(pde)}

    @property
    def history(self) -> xr.Dataset:
        """Loss terms, their weights, held-out error and coefficients over the steps of training."""
        rows = self.record["rows"]
        names = [n for n in rows[0] if n != "step"] if rows else []
        table = {n: ("step", np.array([row[n] for row in rows])) for n in names}
        return xr.Dataset(table, {"step": [row["step"] for row in rows]})

    @property
    def summary(self) -> dict:
        """How the run went: seconds, held-out error, why it stopped, settings, seed, versions."""
        return {name: value for name, value in self.record.items() if name != "rows"}

    # ------------------------------------------------------------------------------ trust

    def intervals(self, level: float = 0.9) -> dict[str, Estimate]:
        """The learnt coefficients with their intervals, and whether the readings determine them.

        Needs error bars; `pgt.intervals.intervals` says what stands in an `Estimate`.
        """
        return intervals(self.members, level, self.record.get("members", {}).get("unrest", 0.0))

    def coverage(self, levels: Sequence[float] = LEVELS) -> xr.Dataset:
        """How often bands of these levels hold readings that were not fitted, their width, and the CRPS.

        Those were held out; with a posterior also the others, each as if it had been held out alone.
        Needs error bars; `pgt.coverage.coverage_table` says what stands in the table.
        """
        return coverage_table(self._held_out_predictions(), levels)

    def band(self, points=None, level: float = 0.9, of: str = "field", **axes) -> xr.Dataset:
        """`u`, `u_lower` and `u_upper`, calibrated as in `coverage`, at points or on a grid.

        `of` is "field", or "reading" for where a new, noisy reading would lie. What is promised, and
        what is not, stands in pgt/calibration.py.
        """
        found = {name: calibrate(p) for name, p in self._held_out_predictions().items()}
        values = self.grid(**axes) if points is None else self.at(points)
        members = required(self.members).independent
        return bands(values, found, level, of, self._predicted_noise(), members)

    def suggest_sensors(self, n: int, candidates=None) -> xr.Dataset:
        """n places where one more reading would say most, the most telling first.

        `candidates` are points as in `at`; default: 2048 that fill the domain.
        """
        noise = {name: calibrate(p).noise for name, p in self._held_out_predictions().items()}
        points = (
            sensors.candidates(self.domain)
            if candidates is None
            else as_points(candidates, self.domain)
        )
        return sensors.suggest_places(points, self.domain, self._members_at(points), n, noise)

    def misfits(self) -> pd.DataFrame:
        """Every reading beside what the field says of it, and how far apart they are in σ."""

        def evaluate(points):
            said = self.at(points)
            return {name: said[name].to_numpy() for name in self.pde.fields}

        return suspicion.misfit_table(self.observations, self.held_out, evaluate)

    def suspicious(self, n: int = 10) -> pd.DataFrame:
        """The n readings, fitted or held out, that are farthest from the field in units of their σ."""
        return suspicion.suspicious(self.misfits(), n)

    def drifting(self) -> pd.DataFrame:
        """Sensors (one place, many times) whose readings differ from the field by an offset or a trend
        that is no chance; `pgt.suspicion.drifting` says what stands in the table."""
        return suspicion.drifting(self.misfits(), self.domain.axes)

    @property
    def noise(self) -> dict[str, float]:
        """σ of the readings of each field in its units: as given, else estimated from held-out ones."""
        return suspicion.noise_by_field(self.misfits())

    # ------------------------------------------------------------------------------ keep

    def save(self, folder: str | Path) -> None:
        """Write everything into `folder` (safetensors + JSON)."""
        _serialise.save(folder, FILE, self)

    @staticmethod
    def load(folder: str | Path, classes: Sequence[type] = ()) -> "Reconstruction":
        """Read what `save` wrote; no code in the file is ever run.

        `classes` are your own classes (an equation you wrote) that the file may refer to.
        """
        return _serialise.load(folder, FILE, classes)

    # ------------------------------------------------------------------------------ inside

    def _asked(self, quantities: Sequence[str] | None, quantiles) -> Asked:
        """The function of one point that answers, the units of the answers, and their statistics."""
        coords, fields = self.pde.coords, self.pde.fields
        quantities = fields if quantities is None else quantities
        if isinstance(quantities, str):
            quantities = (quantities,)
        parts = dict.fromkeys(p for name in quantities for p in parts_of(name, coords, fields))

        def values(field, z):
            table = differentiate(field, parts, coords, fields)(z)
            return {name: quantity(name, table, fields) for name in quantities}

        known, asked = self._units(), self._quantiles(quantiles)
        units = {name: units_of(name, known, fields) for name in quantities}
        endings = ("",) if asked is None else ("", "_std", *(f"_{quantile_name(p)}" for p in asked))
        named = {f"{n}{end}": unit for n, unit in units.items() if unit for end in endings}
        return Asked(values, named, asked)

    def _quantiles(self, quantiles) -> tuple[float, ...] | None:
        """Those asked for; None where there are no members to take them of."""
        if quantiles is not None:
            required(self.members)
        return None if self.members is None else checked_quantiles(quantiles)

    def _members_at(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """(k, n) by field: what every member says."""
        return required(self.members).evaluate(self._asked(None, None).values, points)

    def _held_out_predictions(self) -> dict[str, Predicted]:
        members = required(self.members)
        return predict(
            self.observations, self.held_out, self._members_at, self._predicted_noise(),
            members=members.independent, in_turn=members.is_posterior,
        )  # fmt: skip

    def _predicted_noise(self) -> Noise | None:
        """σ of readings as PGT-UW predicts it, else that of a posterior; None where neither is."""
        predicted = predicted_noise(self.model, _read_by(self), self.pde.fields)
        common = self.record.get("members", {}).get("noise")
        if predicted is not None or common is None:
            return predicted
        sigma = dict(
            zip(self.pde.fields, common * np.asarray(self.model.scaling.spread), strict=True)
        )
        return lambda points: {name: np.full(len(points), s) for name, s in sigma.items()}

    def _units(self) -> dict[str, str]:
        return dict(self.observations.units) | dict(self.domain.units)

    def _scattered(self, points, asked: Asked) -> xr.Dataset:
        points = as_points(points, self.domain)
        table = self._evaluate(asked, lambda rows: points[rows], len(points))
        coords = {a: ("point", points[:, i]) for i, a in enumerate(self.domain.axes)}
        return self._dataset({n: ("point", v) for n, v in table.items()}, coords, asked.units)

    def _gridded(self, axes: Mapping, asked: Asked) -> xr.Dataset:
        places = as_axes(axes, self.domain)
        # Time first, then z, y, x: the order in which fields are stored and drawn.
        dims = tuple(reversed(self.domain.axes))
        shape = tuple(len(places[d]) for d in dims)

        def points(rows: slice) -> np.ndarray:
            index = dict(
                zip(dims, np.unravel_index(np.arange(rows.start, rows.stop), shape), strict=True)
            )
            return np.stack([places[a][index[a]] for a in self.domain.axes], axis=-1)

        table = self._evaluate(asked, points, int(np.prod(shape)))
        data = {name: (dims, column.reshape(shape)) for name, column in table.items()}
        return self._dataset(data, {a: (a, p) for a, p in places.items()}, asked.units)

    def _evaluate(self, asked: Asked, points: Callable, count: int) -> dict[str, np.ndarray]:
        """Values at `count` points, asked for and computed a chunk at a time."""
        with precision(is_double((self.model, self.members))):
            answer, size = self._answers(asked, count)
            columns: dict[str, np.ndarray] = {}
            for start in range(0, max(count, 1), size):
                chunk = points(slice(start, min(start + size, count)))
                # The last chunk is filled up, so that one compiled program serves them all.
                padded = np.resize(chunk, (size, len(self.domain.axes))) if len(chunk) else None
                if padded is None:
                    raise InputError("no points were given: write at least one.")
                for name, part in answer(padded).items():
                    column = columns.setdefault(name, np.empty(count, part.dtype))
                    column[start : start + len(chunk)] = np.asarray(part)[: len(chunk)]
        return columns

    def _answers(self, asked: Asked, count: int) -> tuple[Callable, int]:
        """points ↦ columns by name, and how many points to give it at a time."""
        if self.members is None or asked.quantiles is None:
            return _compiled(self, asked.values), min(CHUNK, max(count, 1))
        each, quantiles = self.members.answers(asked.values), asked.quantiles
        size = self.members.points_at_once(count)
        return lambda places: statistics(each(places), quantiles), size

    def _dataset(self, data: dict, coords: dict, units: dict) -> xr.Dataset:
        dataset = xr.Dataset(data, coords, attrs=self._provenance())
        axes = {name: unit for name, unit in self._units().items() if name in self.domain.axes}
        for name, unit in (axes | units).items():
            dataset[name].attrs["units"] = unit
        return dataset

    def _provenance(self) -> dict:
        kept = ("version", "seed", "held_out_error")
        return {
            "source": "physics-guided-transformer",
            "equation": type(self.pde).__name__,
            **{name: self.record[name] for name in kept if self.record.get(name) is not None},
        }


@eqx.filter_jit  # once for all that is asked of a result
def _encode(model: AbstractFieldModel, observations: Observations):
    return model.encode(observations)


def _read_by(result: Reconstruction) -> Observations:
    """The readings of `result.model`: the first member may have been fitted to a draw of them."""
    if result.members is None:
        return result.observations
    return batched.member(result.members.observations, 0)


def _compiled(result: Reconstruction, values: Callable) -> Callable:
    model = result.model
    context = _encode(model, _read_by(result))

    @eqx.filter_jit
    def run(model, context, points):
        return jax.vmap(lambda z: values(lambda y: model.decode(context, y), z))(points)

    return lambda points: run(model, context, jax.numpy.asarray(points))
