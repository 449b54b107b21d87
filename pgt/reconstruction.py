"""The result: a field that can be asked anywhere."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import xarray as xr

from pgt import _serialise
from pgt._errors import InputError
from pgt._unknown import named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.models.base import AbstractFieldModel
from pgt.nn.precision import is_double, precision
from pgt.physics.derivatives import differentiate, residual
from pgt.physics.pde import AbstractPDE
from pgt.physics.quantities import parts_of, quantity, units_of

CHUNK = 1 << 16  # points evaluated at once: memory stays flat however many are asked for
FILE = "reconstruction"


class Reconstruction(eqx.Module):
    """A fitted field: values, derivatives, hidden fields and coefficients, in physical units.

    `at` and `grid` give xarray Datasets; `residual` says how well the equation holds; `parameters`
    are the learnt coefficients; `history` is the course of training; `summary` how the run went.
    """

    model: AbstractFieldModel
    pde: AbstractPDE
    observations: Observations
    held_out: Observations
    record: dict
    domain: Domain = eqx.field(static=True)

    # ------------------------------------------------------------------------------ evaluate

    def at(self, points, quantities: Sequence[str] | None = None) -> xr.Dataset:
        """Values at scattered points.

        Parameters
        ----------
        points : (n, d) array with columns in the order of the domain's axes, or a dict by axis.
        quantities : fields, derivatives ("u_xx") or "vorticity", "divergence", "speed".
            Default: all fields.
        """
        return self._scattered(points, *self._asked(quantities))

    def grid(self, quantities: Sequence[str] | None = None, **axes) -> xr.Dataset:
        """Values on a grid; per axis a number of positions (default 50) or the positions themselves.

        `result.grid(x=101, t=[0.5])` is a profile of 101 positions at one instant.
        """
        return self._gridded(axes, *self._asked(quantities))

    def residual(self, points=None, **axes) -> xr.Dataset:
        """What is left of each equation, in physical units, at points (as in `at`) or on a grid."""

        def rows(field, z):
            return residual(self.pde, field, z)

        if points is not None:
            return self._scattered(points, rows, {})
        return self._gridded(axes, rows, {})

    # ------------------------------------------------------------------------------ know

    @property
    def parameters(self) -> dict[str, float]:
        """The coefficients that were learnt, by the name they have in the equation."""
        with precision(is_double(self.pde)):
            return {name: float(node.value) for name, node in named_unknowns(self.pde)}

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

    def _asked(self, quantities: Sequence[str] | None):
        """The function of one point that answers, and the units of the answers."""
        coords, fields = self.pde.coords, self.pde.fields
        quantities = fields if quantities is None else quantities
        if isinstance(quantities, str):
            quantities = (quantities,)
        parts = dict.fromkeys(p for name in quantities for p in parts_of(name, coords, fields))

        def values(field, z):
            table = differentiate(field, parts, coords, fields)(z)
            return {name: quantity(name, table, fields) for name in quantities}

        known = self._units()
        units = {name: units_of(name, known, fields) for name in quantities}
        return values, {name: unit for name, unit in units.items() if unit is not None}

    def _units(self) -> dict[str, str]:
        return dict(self.observations.units) | dict(self.domain.units)

    def _scattered(self, points, values: Callable, units: dict) -> xr.Dataset:
        points = _as_points(points, self.domain)
        table = self._evaluate(values, lambda rows: points[rows], len(points))
        coords = {a: ("point", points[:, i]) for i, a in enumerate(self.domain.axes)}
        return self._dataset({n: ("point", v) for n, v in table.items()}, coords, units)

    def _gridded(self, axes: Mapping, values: Callable, units: dict) -> xr.Dataset:
        places = _as_axes(axes, self.domain)
        # Time first, then z, y, x: the order in which fields are stored and drawn.
        dims = tuple(reversed(self.domain.axes))
        shape = tuple(len(places[d]) for d in dims)

        def points(rows: slice) -> np.ndarray:
            index = dict(
                zip(dims, np.unravel_index(np.arange(rows.start, rows.stop), shape), strict=True)
            )
            return np.stack([places[a][index[a]] for a in self.domain.axes], axis=-1)

        table = self._evaluate(values, points, int(np.prod(shape)))
        data = {name: (dims, column.reshape(shape)) for name, column in table.items()}
        return self._dataset(data, {a: (a, p) for a, p in places.items()}, units)

    def _evaluate(self, values: Callable, points: Callable, count: int) -> dict[str, np.ndarray]:
        """Values at `count` points, asked for and computed a chunk at a time."""
        size = min(CHUNK, max(count, 1))
        with precision(is_double(self.model)):
            answer = _compiled(self, values)
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


def _compiled(result: Reconstruction, values: Callable) -> Callable:
    model = result.model
    context = eqx.filter_jit(lambda m, o: m.encode(o))(model, result.observations)

    @eqx.filter_jit
    def run(model, context, points):
        return jax.vmap(lambda z: values(lambda y: model.decode(context, y), z))(points)

    return lambda points: run(model, context, jax.numpy.asarray(points))


def _as_points(points, domain: Domain) -> np.ndarray:
    if isinstance(points, Mapping):
        missing = [a for a in domain.axes if a not in points]
        if missing or len(points) != len(domain.axes):
            raise InputError(
                f"points have {', '.join(map(str, points))}; give exactly {', '.join(domain.axes)}."
            )
        columns = [np.atleast_1d(np.asarray(points[a], float)) for a in domain.axes]
        if len({c.shape for c in columns}) > 1:
            shapes = ", ".join(f"{a} {c.shape}" for a, c in zip(domain.axes, columns, strict=True))
            raise InputError(f"points: every axis needs the same number of values; got {shapes}.")
        points = np.stack(columns, axis=-1)
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != len(domain.axes):
        raise InputError(
            f"points have shape {points.shape}; give (n, {len(domain.axes)}) with columns "
            f"{', '.join(domain.axes)}, or a dict by axis."
        )
    if not np.isfinite(points).all():
        raise InputError(f"points: row {np.argwhere(~np.isfinite(points))[0][0]} is not finite.")
    return points


def _as_axes(axes: Mapping, domain: Domain) -> dict[str, np.ndarray]:
    unknown = [a for a in axes if a not in domain.axes]
    if unknown:
        raise InputError(
            f"grid: no axis is called {unknown[0]}; axes are {', '.join(domain.axes)}."
        )
    return {axis: _positions(axis, axes.get(axis, 50), domain) for axis in domain.axes}


def _positions(axis: str, wanted, domain: Domain) -> np.ndarray:
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if wanted < 1:
            raise InputError(f"grid({axis}={wanted}): ask for at least one position.")
        return np.linspace(*domain.bounds(axis), int(wanted))
    try:
        places = np.atleast_1d(np.asarray(wanted))
        places = places.astype(float) if places.dtype.kind in "iuf" else np.empty((0, 0))
    except ValueError:  # rows of unequal length
        places = np.empty((0, 0))
    if places.ndim != 1 or not places.size or not np.isfinite(places).all():
        raise InputError(f"grid({axis}=...): give a number of positions or a list of numbers.")
    return places
