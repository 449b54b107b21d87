"""Evaluation of a fitted field at points or on a grid, in chunks; the answers are xarray datasets."""

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

# Terms smaller than this share of the typical residual do not show that an equation is fulfilled.
MIN_TERM_SIZE = 0.1
# The number of points that are evaluated at once: each attends to every token, so memory grows with
# it. Up to one chunk of points is evaluated in small chunks of fixed size, since a large network
# takes seconds to compile for every other size.
CHUNK = 1 << 13
SMALL_CHUNK = 1 << 10
# The number of values in a part of a grid that is written part by part: more of them are computed
# faster, and take more memory.
PART_VALUES = 1 << 21


class Query(NamedTuple):
    """What is evaluated at each point.

    Attributes
    ----------
    values : (field, z) ↦ the values of one point by name.
    units : by name.
    quantiles : of the members; None for the fit alone.
    is_one_quantile : whether one number was asked for, and not a list: it is no dimension then.
    is_field : whether the values are quantities of the field, so that those far from zero have an
        origin.
    """

    values: Callable
    units: dict[str, str]
    quantiles: tuple[float, ...] | None
    is_field: bool = False
    is_one_quantile: bool = False


@dataclass(frozen=True)
class Evaluation:
    """A model that can be evaluated anywhere.

    It has the readings that the model encodes, counted from its origin, its members where there are
    any, and the labels of the answers: axes, units, attributes. Points and answers are physical
    numbers, counted from zero.
    """

    model: AbstractFieldModel
    pde: AbstractPDE
    readings: Observations
    members: Members | None
    domain: Domain
    units: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def query(self, quantities: Sequence[str] | None, quantiles=None) -> Query:
        """The query of these quantities, with statistics of the members."""
        coords, fields, own = self.pde.coords, self.pde.fields, self.pde.quantities
        quantities = (*fields, *own) if quantities is None else quantities
        if isinstance(quantities, str):
            quantities = (quantities,)
        parts = dict.fromkeys(p for name in quantities for p in parts_of(name, coords, fields, own))

        def values(field, z):
            local = differentiate(field, parts, coords, fields)(z)
            table = local.counted_from(self.origin)
            # Values far from zero would lose digits here: `physical_columns` adds the origin.
            return {
                n: local(n) if n in fields else quantity(n, table, coords, fields, own)
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
        """The answers at points."""
        points = as_points(points, self.domain)
        require_points(len(points), f"{len(points)} points", self._columns(query))
        table = self._evaluate(query, lambda rows: points[rows], len(points))
        coords = {a: ("point", points[:, i]) for i, a in enumerate(self.domain.axes)}
        if (is_outside := outside(points, self.domain)).any():
            self._warn_of_outside(int(is_outside.sum()), len(points))
            coords["outside"] = ("point", is_outside)
        data = {name: ("point", column) for name, column in table.items()}
        found = self._dataset(data, coords, query)
        return found if self.domain.shape is None else masked(found, self.domain)

    def gridded(self, axes: Mapping, query: Query, at: Mapping | None = None) -> xr.Dataset:
        """The answers on a grid; axes that `at` holds at a position are no dimensions of it."""
        require_grid(with_fixed(axes, at, self.domain), self.domain, self._columns(query))
        _, parts = self.grid_parts(axes, query, at, values=None)
        ((_, found),) = parts
        return found

    def grid_parts(
        self,
        axes: Mapping,
        query: Query,
        at: Mapping | None = None,
        values: int | None = PART_VALUES,
    ) -> tuple[dict[str, int], Iterator[tuple[dict[str, slice], xr.Dataset]]]:
        """The sizes of a grid, and the answers on it in parts of about so many values: where each
        lies, and the answers there. The parts follow each other as the rows of a table, time slowest,
        then z, y and x: the order in which fields are stored and drawn.
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
                found = self._on_grid(at_part, query, is_beyond)
                yield {d: s for d, s in where.items() if d not in held}, found.isel(held)

        return {dim: n for dim, n in sizes.items() if dim not in held} | quantiles, parts()

    def _warn_beyond(self, positions: Mapping[str, np.ndarray]) -> bool:
        """Whether a grid has points outside the domain; warns of them once."""
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
        found = self._dataset(data, coords, query)
        return found if self.domain.shape is None else masked(found, self.domain)

    def _at_once(self, query: Query, positions: Mapping) -> dict[str, np.ndarray] | None:
        """The answers on a grid by models that have a way for all of its points; else None."""
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
        """The answers on a grid, its points made a chunk at a time."""
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
        """By equation, its residual at points relative to the size of its terms.

        Where all terms are small beside the residual of a typical field (`typical`), as in a field
        that hardly changes, the residual is relative to that: else rounding would count.
        """

        def rows(field, z):
            both = residual_and_size(self.pde, field, z, self.origin)
            return {f"{name} {k}": pair[k] for name, pair in both.items() for k in range(2)}

        table = self._evaluate(Query(rows, {}, None), lambda chosen: points[chosen], len(points))
        size = {name: float(np.sqrt(np.mean(column**2))) for name, column in table.items()}
        names = dict.fromkeys(name[:-2] for name in size)
        least = {n: MIN_TERM_SIZE * (typical or {}).get(n, 0.0) for n in names}
        terms = {n: max(size[f"{n} 1"], least[n]) for n in names}
        return {n: size[f"{n} 0"] / terms[n] for n in names if terms[n] > 0}

    def coefficient_sensitivities(self, points: np.ndarray) -> dict[str, float]:
        """By unknown coefficient, how much of its equation depends on it.

        It is the relative change of the residual by a relative change of the coefficient, in units
        of the size of the terms; with several equations, the largest.
        """
        names, table = self._slopes_by_coefficients(points)
        size = {key: float(np.sqrt(np.mean(column**2))) for key, column in table.items()}
        equations = [key[:-5] for key in size if key.endswith(" size") and size[key] > 0]
        return {
            name: max(size[f"{row} {k}"] / size[f"{row} size"] for row in equations)
            for k, name in enumerate(names)
            if equations
        }

    def coefficient_shifts(self, where: DomainPoints) -> dict[str, float]:
        """By unknown coefficient, the share of itself by which the remaining residual may shift it.

        The residual r is regressed on its derivatives S by all coefficients over the domain, which
        gives a shift δ. The rest, r + Sδ, is smooth in the coordinates and so correlated: its
        covariance is that of clusters, the halves of the domain along each axis.
        """
        if not named_unknowns(bare(self.pde)):  # those of a condition are in no equation
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
        known = np.linalg.norm(slopes, axis=0) > 0
        inverse = np.linalg.pinv(slopes[:, known])
        shift = -inverse @ residuals
        left = residuals + slopes[:, known] @ shift
        extremes = np.array([self.domain.bounds(axis) for axis in self.domain.axes])
        upper = where.points > extremes.mean(axis=1)
        cluster = np.tile(upper @ 2 ** np.arange(upper.shape[1]), len(rows))
        numbers = np.unique(cluster)
        pulls = np.array([inverse[:, cluster == n] @ left[cluster == n] for n in numbers])
        few = len(numbers) / max(len(numbers) - 1, 1)
        moves = np.sqrt(shift**2 + few * np.sum(pulls**2, axis=0))
        return dict(zip(np.array(names)[known].tolist(), moves.tolist(), strict=True))

    def _slopes_by_coefficients(self, points: np.ndarray) -> tuple[list[str], dict]:
        """The names of unknown coefficients, and the derivatives of the residuals by them.

        By equation, these are its "residual", the "size" of its terms and, by the number of each
        coefficient, the derivative by a share of it.
        """
        pde = bare(self.pde)
        nodes, tree = jax.tree.flatten(pde, is_leaf=is_unknown)
        names = [name for name, _ in named_unknowns(pde)]

        def rows(field, z):
            def moved(factors):
                each = iter(factors)
                here = [n.value * next(each) if is_unknown(n) else n for n in nodes]
                return residual(tree.unflatten(here), field, z, self.origin)

            slopes = jax.jacfwd(moved)(jnp.ones(len(names)))
            both = residual_and_size(pde, field, z, self.origin)
            return {
                f"{row} {key}": column
                for row, slope in slopes.items()
                for key, column in (
                    ("residual", both[row][0]), ("size", both[row][1]), *enumerate(slope),
                )
            }  # fmt: skip

        query = Query(rows, {}, None)
        return names, self._evaluate(query, lambda chosen: points[chosen], len(points))

    def members_at(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """(k, n) by field: the values of every member."""
        query = self.query(self.pde.fields)
        columns = require_members(self.members).evaluate(query.values, self._local(points))
        return self.origin.physical_columns(columns)

    def evaluate_by_member(
        self, quantities: Sequence[str], points: np.ndarray
    ) -> dict[str, np.ndarray]:
        """(k, n) by quantity: the values of every member; without members those of the fit, k = 1."""
        query = self.query(quantities)._replace(quantiles=None)
        if self.members is not None:
            columns = self.members.evaluate(query.values, self._local(points))
            return self.origin.physical_columns(columns)
        found = self._evaluate(query, lambda rows: points[rows], len(points))
        return {name: np.asarray(column, float)[None] for name, column in found.items()}

    def predict_readings(self, readings: Observations) -> Float[np.ndarray, "n c"]:
        """The predictions of readings, means over their boxes; with members their mean."""
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
        """(n, c) the fields at points, by a program that is compiled once for models of a kind."""
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
        """The number of values of a point: every field, with its statistics where there are
        members.
        """
        return len(self.pde.fields) * (1 if query.quantiles is None else 2 + len(query.quantiles))

    def _warn_of_outside(self, count: int, total: int) -> None:
        values = "the field is a guess" if self.domain.shape is None else "the answer is NaN"
        warn_of(
            f"{count} of {total} points lie outside {self.domain}: nothing was fitted "
            f"there, and {values}. The coordinate `outside` of the answer marks them."
        )

    def _quantiles(self, quantiles) -> tuple[float, ...] | None:
        """The given quantiles; None where there are no members."""
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
        """points ↦ columns by name, and how many points to give it at a time."""
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
    """Where the parts of a grid lie, each of at most so many points; None: a single part.

    The slowest dimension along which a part may have several positions is divided into pieces of
    equal length, those before it into single positions, and those after it stay whole.
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
    """The variables, those of quantiles stacked along a dimension: `u_quantile` for those of `u`."""
    found = {name: variable for name, variable in data.items() if QUANTILE not in name}
    for name in list(found):
        columns = [data[c] for p in quantiles if (c := quantile_column(name, p)) in data]
        if columns:
            dims = ("quantile", *np.atleast_1d(found[name][0]).tolist())
            found[f"{name}_quantile"] = (dims, np.stack([column[1] for column in columns]))
    return found


def masked(dataset: xr.Dataset, domain: Domain) -> xr.Dataset:
    """The dataset with NaN outside the shape, and a coordinate `mask` that is 1 inside and 0
    outside.

    On a grid the mask lies over the axes of space; else over the points.
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
    """The chunk, padded to the size of all others, so that one compiled program serves them."""
    return np.resize(chunk, (size, chunk.shape[1]))


@compiled  # once for all parts of a grid: `values` is the same function
def _answer(values: Callable, model: AbstractFieldModel, context, points):
    return jax.vmap(lambda z: values(lambda y: model.decode(context, y), z))(points)
