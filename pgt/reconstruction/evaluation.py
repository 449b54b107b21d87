"""Evaluation of a fitted field at points or on a grid, in chunks, as xarray datasets.

A `Query` says what is evaluated at one point. `Evaluation` evaluates it at scattered points, on grids
that may be computed part by part, and for every member. It also evaluates residuals of the equation and
their sensitivities to coefficients.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.core.errors import InputError, warn_of
from pgt.core.unknown import is_unknown, named_unknowns
from pgt.data.dates import are_counted, are_dates, dates, seconds
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.origin import HERE, QUANTILE, Origin
from pgt.data.query_points import (
    as_axes,
    as_points,
    beyond,
    outside,
    outside_grid,
    require_grid,
    require_points,
    with_fixed,
)
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.trees import compiled, is_double, precision
from pgt.physics.derivatives import (
    differentiate,
    parts_of,
    quantity,
    residual,
    residual_and_size,
    units_of,
)
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare
from pgt.reconstruction.grid_evaluation import on_tensor_grid
from pgt.uncertainty.field_error import DomainPoints
from pgt.uncertainty.members import (
    Members,
    checked_quantiles,
    member_statistics,
    quantile_column,
    require_members,
)

# A residual is divided by the size of the equation's terms, but by at least this share of the typical
# residual: if all terms are small, rounding errors would count otherwise.
MIN_TERM_SIZE = 0.1
# The number of points that are evaluated at once. Each point attends to every token, so memory grows with
# their number. Fewer points are evaluated in small chunks of fixed size, since a large network takes
# seconds to compile for every other size.
CHUNK = 1 << 13
SMALL_CHUNK = 1 << 10
# The number of values in a part of a grid that is written part by part. Larger parts are faster and need
# more memory.
PART_VALUES = 1 << 21


class Query(NamedTuple):
    """What is evaluated at each point.

    Attributes
    ----------
    values : the function (field, z) ↦ values at one point by name.
    units : the units of the values by name.
    quantiles : the quantiles of the members; None for the fit alone.
    is_one_quantile : whether a number was requested instead of a list; the quantile is then no dimension.
    is_field : whether the values are quantities of the field, to which its origin is added.
    """

    values: Callable
    units: dict[str, str]
    quantiles: tuple[float, ...] | None
    is_field: bool = False
    is_one_quantile: bool = False


@dataclass(frozen=True)
class Evaluation:
    """A model that can be evaluated anywhere.

    `readings` are those that the model encodes, relative to its origin. `units` and `attributes` label
    the answers. Points and answers are physical numbers, counted from zero.
    """

    model: AbstractFieldModel
    pde: AbstractPDE
    readings: Observations
    members: Members | None
    domain: Domain
    units: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def query(self, quantities: Sequence[str] | None, quantiles=None) -> Query:
        """The query of these quantities, with statistics over the members."""
        coords, fields, derived = self.pde.coords, self.pde.fields, self.pde.quantities
        quantities = (*fields, *derived) if quantities is None else quantities
        if isinstance(quantities, str):
            quantities = (quantities,)
        parts = dict.fromkeys(
            p for name in quantities for p in parts_of(name, coords, fields, derived)
        )

        def values(field, z):
            local = differentiate(field, parts, coords, fields)(z)
            table = local.counted_from(self.origin)
            # Values far from zero would lose digits here: `physical_columns` adds the origin.
            return {
                n: local(n) if n in fields else quantity(n, table, coords, fields, derived)
                for n in quantities
            }

        checked = self._quantiles(quantiles)
        units = {name: units_of(name, dict(self.units), coords, fields) for name in quantities}
        endings = (
            "",
            *(("_std",) if checked is not None else ()),
            *(("_quantile",) if checked else ()),
        )
        named = {f"{n}{end}": unit for n, unit in units.items() if unit for end in endings}
        return Query(
            values, named, checked, True, quantiles is not None and np.ndim(quantiles) == 0
        )

    def scattered(self, points, query: Query) -> xr.Dataset:
        """A dataset with the answers at scattered points."""
        points = as_points(points, self.domain)
        require_points(len(points), f"{len(points)} points", self._columns(query))
        table = self._evaluate(query, lambda rows: points[rows], len(points))
        coords = {a: ("point", points[:, i]) for i, a in enumerate(self.domain.axes)}
        if (is_outside := outside(points, self.domain)).any():
            self._warn_of_outside(int(is_outside.sum()), len(points))
            coords["outside"] = ("point", is_outside)
        data = {name: ("point", column) for name, column in table.items()}
        dataset = self._dataset(data, coords, query)
        return dataset if self.domain.shape is None else masked(dataset, self.domain)

    def gridded(self, axes: Mapping, query: Query, at: Mapping | None = None) -> xr.Dataset:
        """A dataset with the answers on a grid; axes that `at` holds at a position are no dimensions."""
        require_grid(with_fixed(axes, at, self.domain), self.domain, self._columns(query))
        _, parts = self.grid_parts(axes, query, at, values=None)
        ((_, dataset),) = parts
        return dataset

    def grid_parts(
        self,
        axes: Mapping,
        query: Query,
        at: Mapping | None = None,
        values: int | None = PART_VALUES,
    ) -> tuple[dict[str, int], Iterator[tuple[dict[str, slice], xr.Dataset]]]:
        """The sizes of a grid, and an iterator over its parts of at most about `values` values.

        Each part is (its slices by dimension, a dataset with the answers). Time varies slowest over the
        parts, then z, y and x, which is the order in which fields are stored and drawn.
        """
        positions = as_axes(with_fixed(axes, at, self.domain), self.domain)
        sizes = {axis: len(positions[axis]) for axis in reversed(self.domain.axes)}
        is_beyond = self._warn_beyond(positions)
        held = dict.fromkeys(at or (), 0)
        quantiles = {"quantile": len(query.quantiles or ())}
        if query.is_one_quantile or not query.quantiles:
            quantiles = {}

        def parts():
            count = None if values is None else max(values // self._columns(query), 1)
            for where in _parts_of_grid(sizes, count):
                at_part = {axis: positions[axis][where[axis]] for axis in self.domain.axes}
                dataset = self._on_grid(at_part, query, is_beyond)
                yield {d: s for d, s in where.items() if d not in held}, dataset.isel(held)

        return {dim: n for dim, n in sizes.items() if dim not in held} | quantiles, parts()

    def _warn_beyond(self, positions: Mapping[str, np.ndarray]) -> bool:
        """Whether a grid has points outside the domain, after a warning about them."""
        inside = [~beyond(axis, column, self.domain) for axis, column in positions.items()]
        total = math.prod(len(column) for column in inside)
        count = total - math.prod(int(column.sum()) for column in inside)
        if count:
            self._warn_of_outside(count, total)
        return count > 0

    def _on_grid(
        self, positions: dict[str, np.ndarray], query: Query, is_beyond: bool
    ) -> xr.Dataset:
        dims = tuple(reversed(self.domain.axes))
        shape = tuple(len(positions[d]) for d in dims)
        table = self._at_once(query, positions)
        if table is None:
            table = self._at_nodes(query, positions, dims)
        data = {name: (dims, column.reshape(shape)) for name, column in table.items()}
        coords: dict[str, tuple] = {a: (a, p) for a, p in positions.items()}
        if is_beyond:
            coords["outside"] = (dims, outside_grid(positions, self.domain, dims))
        dataset = self._dataset(data, coords, query)
        return dataset if self.domain.shape is None else masked(dataset, self.domain)

    def _at_once(self, query: Query, positions: Mapping) -> dict[str, np.ndarray] | None:
        """The answers on a grid by a model that evaluates all its points at once, or None."""
        starts = self.origin.along(self.domain.axes)
        axes = [
            np.asarray(positions[axis], float) - start
            for axis, start in zip(self.domain.axes, starts, strict=True)
        ]
        of = self.model if query.quantiles is None else require_members(self.members)
        with precision(is_double((self.model, self.members))):
            columns = on_tensor_grid(of, len(self.pde.fields), query.values, axes, query.quantiles)
        if columns is None:
            return None
        origin = self.origin if query.is_field else HERE
        return origin.physical_columns({name: column.T for name, column in columns.items()})

    def _at_nodes(
        self, query: Query, positions: Mapping, dims: tuple[str, ...]
    ) -> dict[str, np.ndarray]:
        """The answers on a grid, whose points are made and evaluated a chunk at a time."""
        shape = tuple(len(positions[d]) for d in dims)

        def points(rows: slice) -> np.ndarray:
            index = dict(
                zip(dims, np.unravel_index(np.arange(rows.start, rows.stop), shape), strict=True)
            )
            return np.stack([positions[a][index[a]] for a in self.domain.axes], axis=-1)

        return self._evaluate(query, points, int(np.prod(shape)))

    def relative_residuals(
        self, points: np.ndarray, typical: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """The root mean square residual of each equation at points, relative to the size of its terms.

        If all terms are small beside the residual of a `typical` field, as in a nearly constant field,
        the residual is relative to a share of that. Otherwise rounding errors would count.
        """

        def rows(field, z):
            pairs = residual_and_size(self.pde, field, z, self.origin)
            return {f"{name} {k}": pair[k] for name, pair in pairs.items() for k in range(2)}

        table = self._evaluate(Query(rows, {}, None), lambda chosen: points[chosen], len(points))
        rms = {name: float(np.sqrt(np.mean(column**2))) for name, column in table.items()}
        names = dict.fromkeys(name[:-2] for name in rms)
        min_size = {n: MIN_TERM_SIZE * (typical or {}).get(n, 0.0) for n in names}
        terms = {n: max(rms[f"{n} 1"], min_size[n]) for n in names}
        return {n: rms[f"{n} 0"] / terms[n] for n in names if terms[n] > 0}

    def coefficient_sensitivities(self, points: np.ndarray) -> dict[str, float]:
        """The share of the equation that depends on each unknown coefficient.

        It is the change of the residual by a relative change of the coefficient, in units of the size of
        the terms. Of several equations the largest share counts.
        """
        names, table = self._slopes_by_coefficients(points)
        rms = {key: float(np.sqrt(np.mean(column**2))) for key, column in table.items()}
        equations = [key[:-5] for key in rms if key.endswith(" size") and rms[key] > 0]
        return {
            name: max(rms[f"{row} {k}"] / rms[f"{row} size"] for row in equations)
            for k, name in enumerate(names)
            if equations
        }

    def coefficient_shifts(self, where: DomainPoints) -> dict[str, float]:
        """The relative shift of each unknown coefficient that the remaining residual allows.

        The residual r is regressed on its derivatives S with respect to all coefficients over the domain,
        which gives a shift δ. The rest r + Sδ is smooth in the coordinates and so correlated. Its
        covariance is estimated with clusters, which are the halves of the domain along each axis.
        """
        if not named_unknowns(bare(self.pde)):  # coefficients of conditions are in no equation
            return {}
        names, table = self._slopes_by_coefficients(where.points)
        size = {key: np.sqrt(where.weights @ c**2) for key, c in table.items()}
        rows = [key[:-5] for key in table if key.endswith(" size") and size[key] > 0]
        if not rows:
            return {}
        scale = {row: np.sqrt(where.weights) / size[f"{row} size"] for row in rows}
        residuals = np.concatenate([scale[row] * table[f"{row} residual"] for row in rows])
        slopes = np.concatenate(
            [
                np.stack([scale[row] * table[f"{row} {k}"] for k in range(len(names))], axis=1)
                for row in rows
            ]
        )
        if not (np.isfinite(residuals).all() and np.isfinite(slopes).all()):
            return {}
        is_sensitive = np.linalg.norm(slopes, axis=0) > 0
        inverse = np.linalg.pinv(slopes[:, is_sensitive])
        shift = -inverse @ residuals
        remainder = residuals + slopes[:, is_sensitive] @ shift
        bounds = np.array([self.domain.bounds(axis) for axis in self.domain.axes])
        is_upper = where.points > bounds.mean(axis=1)
        cluster = np.tile(is_upper @ 2 ** np.arange(is_upper.shape[1]), len(rows))
        clusters = np.unique(cluster)
        cluster_scores = np.array(
            [inverse[:, cluster == n] @ remainder[cluster == n] for n in clusters]
        )
        small_sample_factor = len(clusters) / max(len(clusters) - 1, 1)
        shifts = np.sqrt(shift**2 + small_sample_factor * np.sum(cluster_scores**2, axis=0))
        return dict(zip(np.array(names)[is_sensitive].tolist(), shifts.tolist(), strict=True))

    def _slopes_by_coefficients(self, points: np.ndarray) -> tuple[list[str], dict]:
        """(names of the unknown coefficients, columns at the points).

        For each equation there are columns for its "residual", for the "size" of its terms, and, by the
        number of each coefficient, for the derivative of the residual by a relative change of it.
        """
        pde = bare(self.pde)
        nodes, tree = jax.tree.flatten(pde, is_leaf=is_unknown)
        names = [name for name, _ in named_unknowns(pde)]

        def rows(field, z):
            def moved(factors):
                factor_of_unknown = iter(factors)
                scaled = [n.value * next(factor_of_unknown) if is_unknown(n) else n for n in nodes]
                return residual(tree.unflatten(scaled), field, z, self.origin)

            slopes = jax.jacfwd(moved)(jnp.ones(len(names)))
            pairs = residual_and_size(pde, field, z, self.origin)
            return {
                f"{row} {key}": column
                for row, slope in slopes.items()
                for key, column in (
                    ("residual", pairs[row][0]), ("size", pairs[row][1]), *enumerate(slope),
                )
            }  # fmt: skip

        query = Query(rows, {}, None)
        return names, self._evaluate(query, lambda chosen: points[chosen], len(points))

    def members_at(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """(k, n) the values of every member, by field."""
        query = self.query(self.pde.fields)
        columns = require_members(self.members).evaluate(query.values, self._local(points))
        return self.origin.physical_columns(columns)

    def evaluate_by_member(
        self, quantities: Sequence[str], points: np.ndarray
    ) -> dict[str, np.ndarray]:
        """(k, n) the values of every member, by quantity; without members those of the fit (k = 1)."""
        query = self.query(quantities)._replace(quantiles=None)
        if self.members is not None:
            columns = self.members.evaluate(query.values, self._local(points))
            return self.origin.physical_columns(columns)
        columns_of_fit = self._evaluate(query, lambda rows: points[rows], len(points))
        return {name: np.asarray(column, float)[None] for name, column in columns_of_fit.items()}

    def predict_readings(self, readings: Observations) -> Float[np.ndarray, "n c"]:
        """The predictions of readings, averaged over their boxes and over the members, if any."""
        if self.members is not None:
            return self.predict_readings_by_member(readings).mean(axis=0)
        if not len(readings):
            return np.zeros((0, len(self.pde.fields)))
        return readings.read(self.values_at)

    def predict_readings_by_member(self, readings: Observations) -> Float[np.ndarray, "k n c"]:
        """The predictions of readings by every member."""
        if not len(readings):
            return np.zeros((len(require_members(self.members)), 0, len(self.pde.fields)))

        def values(points):
            columns = self.members_at(points)
            return np.stack([columns[name] for name in self.pde.fields], axis=-1)

        return readings.read(values)

    def values_at(self, points: np.ndarray) -> np.ndarray:
        """(n, c) the fields at points, by a program that is compiled once for each kind of model."""
        points, zero = self._local(points), self.origin.along(self.pde.fields)
        with precision(is_double(self.model)):
            context = _encode(self.model, self.readings)
            size = SMALL_CHUNK if len(points) <= CHUNK else CHUNK
            starts = range(0, len(points), size)
            parts = [
                _decode(self.model, context, jax.numpy.asarray(_padded(points[k : k + size], size)))
                for k in starts
            ]
            return np.concatenate([np.asarray(part, float) for part in parts])[: len(points)] + zero

    def _columns(self, query: Query) -> int:
        """The number of values per point: all fields, with their statistics if there are members."""
        return len(self.pde.fields) * (1 if query.quantiles is None else 2 + len(query.quantiles))

    def _warn_of_outside(self, count: int, total: int) -> None:
        values = "the field is a guess" if self.domain.shape is None else "the answer is NaN"
        warn_of(
            f"{count} of {total} points lie outside {self.domain}: nothing was fitted "
            f"there, and {values}. The coordinate `outside` of the answer marks them."
        )

    def _quantiles(self, quantiles) -> tuple[float, ...] | None:
        """The checked quantiles; None without members."""
        if quantiles is not None:
            require_members(self.members)
        return None if self.members is None else checked_quantiles(quantiles)

    def _evaluate(self, query: Query, points: Callable, count: int) -> dict[str, np.ndarray]:
        """The values at `count` points, made and computed a chunk at a time."""
        with precision(is_double((self.model, self.members))):
            answer, size = self._answers(query, count)
            columns: dict[str, np.ndarray] = {}
            for start in range(0, max(count, 1), size):
                chunk = self._local(points(slice(start, min(start + size, count))))
                if not len(chunk):
                    raise InputError("no points were given: write at least one.")
                for name, part in answer(_padded(chunk, size)).items():
                    column = columns.setdefault(name, np.empty(count, part.dtype))
                    column[start : start + len(chunk)] = np.asarray(part)[: len(chunk)]
        origin = self.origin if query.is_field else HERE
        return origin.physical_columns(columns)

    @property
    def origin(self) -> Origin:
        """The origin of the model's coordinates and values."""
        return self.model.scaling.origin

    def _local(self, points: np.ndarray) -> np.ndarray:
        return self.origin.local(points, self.domain.axes)

    def _answers(self, query: Query, count: int) -> tuple[Callable, int]:
        """(function points ↦ columns by name, number of points per call)."""
        if self.members is None or query.quantiles is None:
            context = _encode(self.model, self.readings)
            return (
                lambda points: _answer(query.values, self.model, context, jnp.asarray(points)),
                min(CHUNK, max(count, 1)),
            )
        each, quantiles = self.members.compiled_values(query.values), query.quantiles
        size = self.members.chunk_size(count)
        return lambda points: member_statistics(each(points), quantiles), size

    def _dataset(self, data: dict, coords: dict, query: Query) -> xr.Dataset:
        axes = {name: unit for name, unit in self.units.items() if name in self.domain.axes}
        if are_counted(axes):
            coords["t"] = (coords["t"][0], dates(coords["t"][1]))
            del axes["t"]  # a date has no unit
        data = data if not query.quantiles else _with_quantiles(data, query.quantiles)
        if query.quantiles:
            coords["quantile"] = ("quantile", np.array(query.quantiles))
        dataset = xr.Dataset(data, coords, attrs=dict(self.attributes))
        for name, unit in (axes | query.units).items():
            dataset[name].attrs["units"] = unit
        return dataset.isel(quantile=0) if query.quantiles and query.is_one_quantile else dataset


def _parts_of_grid(sizes: Mapping[str, int], count: int | None) -> Iterator[dict[str, slice]]:
    """Yield the slices of the parts of a grid, each of at most `count` points; None for a single part.

    The slowest dimension along which a part may have several positions is divided into pieces of equal
    length. Slower dimensions are divided into single positions, and faster ones stay whole.
    """
    dims, lengths = list(sizes), list(sizes.values())
    whole = {dim: slice(0, size) for dim, size in sizes.items()}
    if count is None or math.prod(lengths) <= count:
        yield whole
        return
    split = next(k for k in range(len(dims)) if math.prod(lengths[k + 1 :]) <= count)
    step = max(count // math.prod(lengths[split + 1 :]), 1)
    for outer in np.ndindex(*lengths[:split]):
        single = {dims[k]: slice(i, i + 1) for k, i in enumerate(outer)}
        for start in range(0, lengths[split], step):
            piece = slice(start, min(start + step, lengths[split]))
            yield whole | single | {dims[split]: piece}


def _with_quantiles(data: dict, quantiles: Sequence[float]) -> dict:
    """The variables with the quantiles of each stacked along a dimension, as `u_quantile` for `u`."""
    variables = {name: variable for name, variable in data.items() if QUANTILE not in name}
    for name in list(variables):
        columns = [data[c] for p in quantiles if (c := quantile_column(name, p)) in data]
        if columns:
            dims = ("quantile", *np.atleast_1d(variables[name][0]).tolist())
            variables[f"{name}_quantile"] = (dims, np.stack([column[1] for column in columns]))
    return variables


def masked(dataset: xr.Dataset, domain: Domain) -> xr.Dataset:
    """The dataset with NaN outside the shape, and a coordinate `mask` that is 1 inside and 0 outside.

    On a grid the dimensions of the mask are the axes of space, otherwise the points.
    """
    over = tuple(axis for axis in reversed(domain.axes) if axis != "t")
    columns = [dataset[axis].to_numpy() for axis in over]
    positions = [seconds("t", each) if are_dates(each) else each for each in columns]
    is_grid = "point" not in dataset.dims
    grids = np.meshgrid(*positions, indexing="ij") if is_grid else positions
    places = dict(zip(over, grids, strict=True))
    if domain.has_time:
        places["t"] = np.full(grids[0].shape, domain.bounds("t")[0])
    inside = domain.contains(np.stack([places[a].ravel() for a in domain.axes], axis=-1))
    dims = over if is_grid else ("point",)
    mask = xr.DataArray(inside.reshape(grids[0].shape).astype(np.int8), dims=dims)
    mask.attrs = {"long_name": "1 inside the shape, 0 outside"}
    return dataset.where(mask == 1).assign_coords(mask=mask)


@compiled  # compiled once for all queries of a result
def _encode(model: AbstractFieldModel, observations: Observations):
    return model.encode(observations)


@compiled
def _decode(model: AbstractFieldModel, context, points):
    return jax.vmap(lambda z: model.decode(context, z))(points)


def _padded(chunk: np.ndarray, size: int) -> np.ndarray:
    """The chunk, padded to the size of all others, so that one compiled program serves all."""
    return np.resize(chunk, (size, chunk.shape[1]))


@compiled  # compiled once for all parts of a grid, since `values` is the same function
def _answer(values: Callable, model: AbstractFieldModel, context, points):
    return jax.vmap(lambda z: values(lambda y: model.decode(context, y), z))(points)
