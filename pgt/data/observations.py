"""Readings of sensors: positions, values, mask, noise, and the box over which a reading is an average."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Array, Bool, Float, Int

from pgt.core.arguments import Seed
from pgt.core.checked import checked, shown
from pgt.core.errors import InputError, closest
from pgt.data import _checks, _readers
from pgt.data.dates import text, without_dates
from pgt.data.domain import AXES, Domain, Real
from pgt.data.sensors import Sensors
from pgt.data.units import require_same


class Measured(NamedTuple):
    """The readings of one field in float64: row numbers, positions, values, and σ (0 where not given)."""

    rows: Int[np.ndarray, " m"]
    points: Float[np.ndarray, "m d"]
    values: Float[np.ndarray, " m"]
    noise: Float[np.ndarray, " m"]

    @property
    def typical_noise(self) -> float:
        """The root mean square of the given σ; 0 where none is given."""
        return typical(self.noise)


def typical(noise: Float[np.ndarray, "..."]) -> float:
    """The root mean square of the positive σ; 0 stands for a σ that is not given.

    >>> typical(np.array([3.0, 4.0, 0.0])) == np.sqrt(12.5), typical(np.zeros(2))
    (np.True_, 0.0)
    """
    given = noise[noise > 0]
    return float(np.sqrt(np.mean(given**2))) if given.size else 0.0


class Observations(eqx.Module):
    """Readings of some fields at scattered points, in physical units.

    Build it with `from_arrays`, `from_table`, `from_xarray` or `sample`, which check everything;
    the plain constructor checks nothing, so that the class works as a PyTree. Rows count from 0.

    Attributes
    ----------
    points : (n, d) positions, or centres of the boxes; columns ordered x, y, z, t.
    values : (n, c) readings; 0 where hidden.
    mask : (n, c) True where a value was measured.
    noise : (n, c) standard deviation σ of each reading; 0 where not given.
    half_width : (n, d) half the box over which a reading is an average, or None for point readings.
    sensors : what is known about the errors of the sensors.

    >>> readings = Observations.from_arrays(
    ...     {"t": [0.0, 1.0], "x": [0.2, 0.4]}, {"u": [1.0, float("nan")]}
    ... )
    >>> readings.coords, readings.mask.tolist()
    (('x', 't'), [[True], [False]])
    """

    points: Float[Array | np.ndarray, "n d"]
    values: Float[Array | np.ndarray, "n c"]
    mask: Bool[Array | np.ndarray, "n c"]
    noise: Float[Array | np.ndarray, "n c"]
    half_width: Float[Array | np.ndarray, "n d"] | None
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    units: tuple[tuple[str, str], ...] = eqx.field(static=True, default=())
    sensors: Sensors = eqx.field(static=True, default=Sensors())

    @classmethod
    @checked
    def from_arrays(
        cls,
        points,
        values,
        *,
        coords: Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
        noise=None,
        width=None,
        units: Mapping[str, str] | None = None,
        duplicates: str = "error",
        sensors: Sensors | None = None,
    ) -> "Observations":
        """Readings from arrays, or from columns by name.

        Parameters
        ----------
        points : (n, d) array with columns `coords`, or a dict of (n,) arrays by axis; t may be dates.
        values : (n, c) array with columns `fields`, or a dict of (n,) arrays by field; NaN is hidden.
        coords, fields : names of the columns; may be left out where a dict names them.
        noise : σ of the readings: one number, a dict by field, or (n, c).
        width : full box widths by axis, a number or (n,) each, for readings that are averages.
        units : unit of any axis or field, by name.
        duplicates : "error", or "mean" to average repeated readings of one field at one point;
            "independent" keeps them, as streams of readings do.
        sensors : what is known about the errors of the sensors; see `pgt.Sensors`.
        """
        points, units = without_dates(points, units)
        coords = _checks.column_names("coords", points, coords)
        fields = _checks.column_names("fields", values, fields)
        _checks.check_coords_and_fields(coords, fields)
        order = [coords.index(axis) for axis in AXES if axis in coords]
        points = _checks.as_table("points", points, coords)[:, order]
        coords = tuple(coords[i] for i in order)
        values = _checks.as_table("values", values, fields)
        _checks.check_points(points, coords)
        _checks.check_values(values, len(points), fields)
        mask = ~np.isnan(values)
        readings = cls(
            points=points,
            values=np.where(mask, values, 0.0),
            mask=mask,
            noise=_checks.as_noise(noise, fields, mask),
            half_width=_checks.as_half_width(width, coords, len(points)),
            coords=coords,
            fields=fields,
            units=tuple(_checks.check_units(units, coords + fields).items()),
            sensors=sensors or Sensors(),
        )
        readings.sensors.check_values({name: readings.measured(name).values for name in fields})
        return _checks.settle_duplicates(readings, duplicates)

    @classmethod
    @checked
    def from_table(
        cls,
        table: str | os.PathLike | pd.DataFrame,
        coords: Sequence[str],
        fields: Sequence[str],
        *,
        noise=None,
        width=None,
        units: Mapping[str, str] | None = None,
        duplicates: str = "error",
        sensors: Sensors | None = None,
    ) -> "Observations":
        """Readings from a CSV file with a heading line, or from a pandas DataFrame.

        An empty cell of a field is a hidden reading. Other columns are ignored; `noise` and `width`
        may name columns: noise={"u": "sigma_u"}.
        """
        frame = _readers.read_table(table)
        coords = _checks.check_names("coords", coords)
        fields = _checks.check_names("fields", fields)
        return cls.from_arrays(
            _readers.columns(frame, coords),
            _readers.columns(frame, fields),
            coords=coords,
            fields=fields,
            noise=_readers.columns_or_numbers(frame, noise),
            width=_readers.columns_or_numbers(frame, width),
            units=units,
            duplicates=duplicates,
            sensors=sensors,
        )

    @classmethod
    @checked
    def from_xarray(
        cls,
        dataset: xr.Dataset | xr.DataArray,
        fields: Sequence[str] | None = None,
        *,
        noise=None,
        width=None,
        duplicates: str = "error",
        sensors: Sensors | None = None,
    ) -> "Observations":
        """Readings from a Dataset with coordinates among x, y, z, t; units from its attributes.

        A grid gives every combination of its coordinates; readings scattered along one dimension
        carry their coordinates along it. A scalar coordinate counts as an axis: drop it with
        `dataset.drop_vars("t")` where it is not one.
        """
        points, values, units = _readers.flatten(dataset, fields)
        return cls.from_arrays(
            points, values, noise=noise, width=width, units=units, duplicates=duplicates,
            sensors=sensors,
        )  # fmt: skip

    @classmethod
    @checked
    def none(cls, coords: Sequence[str], fields: Sequence[str]) -> "Observations":
        """Empty readings, for an equation that is solved without any.

        >>> len(Observations.none(("x", "t"), ("u",)))
        0
        """
        values = np.zeros((0, len(fields)))
        return cls(
            np.zeros((0, len(coords))), values, values.astype(bool), values, None, tuple(coords),
            tuple(fields),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.points)

    @property
    def hidden_fields(self) -> tuple[str, ...]:
        """The fields without any reading."""
        seen = np.asarray(self.mask).any(axis=0).reshape(-1)
        return tuple(f for f, is_seen in zip(self.fields, seen, strict=True) if not is_seen)

    @checked
    def measured(self, field: str) -> Measured:
        """The readings of one field; empty where it is not among the fields.

        >>> readings = Observations.from_arrays({"x": [0.2, 0.4]}, {"u": [float("nan"), 3.0]})
        >>> readings.measured("u").rows.tolist(), readings.measured("u").values.tolist()
        ([1], [3.0])
        """
        if field not in self.fields:
            return Measured(np.zeros(0, int), np.zeros((0, len(self.coords))), *np.zeros((2, 0)))
        column = self.fields.index(field)
        rows = np.flatnonzero(np.asarray(self.mask)[:, column])
        parts = (np.asarray(part, float)[rows, column] for part in (self.values, self.noise))
        return Measured(rows, np.asarray(self.points, float)[rows], *parts)

    @checked
    def read(self, field: Callable) -> Float[np.ndarray, "*k n c"]:
        """The readings that these sensors would take of a field; box readings are averages over boxes.

        `field` maps points (m, d) to values (m, c), or to those of many fields, (k, m, c).

        >>> wide = Observations.from_arrays({"x": [1.0]}, {"u": [0.0]}, width={"x": 2.0})
        >>> wide.read(lambda points: points**2).round(6).tolist()  # the mean of x² over (0, 2)
        [[1.333333]]
        """
        nodes, weights = cell_quadrature(self)
        nodes = np.asarray(nodes, float)
        values = np.asarray(field(nodes.reshape(-1, nodes.shape[-1])), float)
        boxes = values.reshape(*values.shape[:-2], *nodes.shape[:2], values.shape[-1])
        return np.einsum("...nqc,q->...nc", boxes, weights)

    @checked
    def check_inside(self, domain: Domain) -> None:
        """Raise unless every reading, its box included, lies in the domain and has its units.

        Along a periodic axis the position after `wrapped` counts.
        """
        if self.coords != domain.axes:
            raise InputError(
                f"the readings have coordinates {self.coords} but the domain has axes "
                f"{domain.axes}; give both the same axes."
            )
        positions = self.wrapped(domain).points
        for column, axis in enumerate(self.coords):
            units = {
                "the readings": dict(self.units).get(axis),
                "the domain": domain.units.get(axis),
            }
            require_same(axis, units)
            # A box may reach across the seam of a periodic axis; its center may not.
            is_box = self.half_width is not None and axis not in domain.periodic
            half = np.asarray(self.half_width)[:, column] if is_box else np.zeros(len(self))
            _checks.check_axis(axis, np.asarray(positions)[:, column], half, domain)
        if domain.shape is not None:
            _checks.check_shape(np.asarray(positions, float), domain)

    @checked
    def wrapped(self, domain: Domain) -> "Observations":
        """The readings, with those beyond an end of a periodic axis moved to the equivalent place inside.

        >>> readings = Observations.from_arrays({"x": [1.25, 0.5]}, {"u": [1.0, 2.0]})
        >>> readings.wrapped(Domain(x=(0, 1), periodic=("x",))).points.tolist()
        [[0.25], [0.5]]
        """
        if self.coords != domain.axes or not domain.periodic:
            return self
        return eqx.tree_at(
            lambda r: r.points, self, domain.box.wrapped(self.points, domain.periodic)
        )

    @checked
    def aligned(self, fields: Sequence[str]) -> "Observations":
        """The readings with exactly these fields in this order; absent fields are hidden."""
        fields = _checks.check_names("fields", fields)
        for name in self.fields:
            if name not in fields:
                raise InputError(f"the observed field {name!r} is unknown.{closest(name, fields)}")
        column = np.array([self.fields.index(f) if f in self.fields else 0 for f in fields])
        present = np.array([f in self.fields for f in fields])
        weight = present.astype(self.values.dtype)
        return replace(
            self,
            values=self.values[:, column] * weight,
            mask=self.mask[:, column] & present,
            noise=self.noise[:, column] * weight,
            fields=fields,
        )

    def joined(self, other: "Observations") -> "Observations":
        """These readings, then those of `other`, which has the same coordinates, fields and units.

        >>> early, late = (Observations.from_arrays({"t": [t]}, {"u": [3.0]}) for t in (0.0, 1.0))
        >>> early.joined(late).points.ravel().tolist()
        [0.0, 1.0]
        """
        if not isinstance(other, Observations):
            raise InputError(f"joined(other={shown(other)}): other must be Observations.")
        for name in ("coords", "fields", "units"):
            own, others = getattr(self, name), getattr(other, name)
            if own != others and not (name == "units" and not (own and others)):
                raise InputError(f"the other readings have the {name} {others}; give them {own}.")
        units = self.units or other.units
        if other.sensors not in (self.sensors, Sensors()):
            raise InputError(
                "the other readings have other `sensors`; give them the same, or none."
            )
        both = [replace(one, units=units, sensors=self.sensors) for one in (self, other)]
        if self.half_width is not None or other.half_width is not None:
            both = [
                one if one.half_width is not None else replace(one, half_width=0.0 * one.points)
                for one in both
            ]
        return jax.tree.map(lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *both)

    def take(self, indices) -> "Observations":
        """The readings in some of the rows; JAX may trace the indices."""
        if isinstance(indices, jax.Array):
            return jax.tree.map(lambda leaf: jnp.asarray(leaf)[indices], self)
        try:
            indices = np.asarray(indices)
        except (TypeError, ValueError):  # a dataset, or rows of unequal length
            indices = np.asarray(None)
        if indices.dtype.kind == "b" and indices.shape == (len(self),):
            indices = np.flatnonzero(indices)
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise InputError(
                f"`indices` has shape {indices.shape} and type {indices.dtype}; write a list of "
                f"row numbers, or one boolean per reading ({len(self)})."
            )
        if indices.size and not (-len(self) <= indices.min() and indices.max() < len(self)):
            raise InputError(f"`indices` must lie below the number of readings, {len(self)}.")
        return jax.tree.map(lambda leaf: leaf[indices], self)


def cell_quadrature(
    observations: Observations, order: int = 3, axes: Sequence[str] | None = None
) -> tuple[Float[Array | np.ndarray, "n q d"], Float[np.ndarray, " q"]]:
    """The Gauss–Legendre nodes in each box, and weights: the average is Σ_q weights[q] u(nodes[:, q]).

    Axes along which some box has a width get `order` nodes, the others one. Under `jit` the widths are
    unknown while tracing; then name the `axes`, or all axes get `order` nodes.

    >>> reading = Observations.from_arrays({"x": [1.0]}, {"u": [1.0]}, width={"x": 2.0})
    >>> nodes, weights = cell_quadrature(reading)
    >>> round(float((nodes[0, :, 0] ** 2) @ weights), 12)  # mean of x² over (0, 2)
    1.333333333333
    """
    points, half, coords = observations.points, observations.half_width, observations.coords
    if half is None:
        return points[:, None, :], np.ones(1)
    if axes is None:
        axes = [axis for axis, is_wide in zip(coords, _has_width(half), strict=True) if is_wide]
    if order < 1 or not set(axes) <= set(coords):
        raise InputError(
            f"cell_quadrature(order={order}, axes={tuple(axes)}): write an order of 1 or more, and "
            f"axes among {coords}."
        )
    nodes, weights = np.polynomial.legendre.leggauss(order)
    offsets, product = np.zeros((1, len(coords))), np.ones(1)
    for axis in axes:
        step = np.zeros((order, len(coords)))
        step[:, coords.index(axis)] = nodes
        offsets = (offsets[:, None] + step).reshape(-1, len(coords))
        product = np.outer(product, weights / 2).ravel()
    return points[:, None, :] + half[:, None, :] * offsets.astype(points.dtype), product


def _has_width(half: Float[Array | np.ndarray, "n d"]) -> Bool[np.ndarray, " d"]:
    try:
        return (np.asarray(half) > 0).any(axis=0).reshape(-1)
    except jax.errors.TracerArrayConversionError:
        return np.ones(half.shape[1], bool)


# ------------------------------------------------------------------------------- limits of precision

MAX_MAGNITUDE, MIN_MAGNITUDE = 1e30, 1e-30  # products of two such numbers still have digits
MAX_RELATIVE_OFFSET = (
    1e11  # in extents; farther away double precision can hardly tell positions apart
)


def check_limits(observations: Observations, domain: Domain) -> None:
    """Raise where values, axes or noise would overflow, vanish or lose their digits."""
    for axis, extent in zip(domain.axes, domain.extent, strict=True):
        _check_size(f"axis {axis} has the length", extent)
    offset = np.maximum(np.abs(domain.lower), np.abs(domain.upper)) / domain.extent
    if offset.max() > MAX_RELATIVE_OFFSET:
        axis = domain.axes[int(offset.argmax())]
        raise InputError(
            f"axis {axis} runs over {domain.bounds(axis)}: beside its offset even double "
            f"precision can hardly tell positions apart. Count {axis} from an origin nearer by, in "
            "the readings and the domain."
        )
    for name in observations.fields:
        rows, _, values, noise = observations.measured(name)
        for kind, numbers in (("value", values), ("noise", noise)):
            sizes = np.abs(numbers)
            if sizes.size and sizes.max() > 0:
                row = rows[sizes.argmax()]
                _check_size(f"field {name!r}, row {row}: the largest {kind} is", sizes.max())


def _check_size(what: str, size: float) -> None:
    if not MIN_MAGNITUDE <= size <= MAX_MAGNITUDE:
        raise InputError(
            f"{what} {size:g}, which single precision cannot work with; choose a unit in which the "
            f"numbers lie between {MIN_MAGNITUDE:g} and {MAX_MAGNITUDE:g}."
        )


@checked
def sample(
    truth: xr.Dataset | xr.DataArray,
    n: int,
    fields: Sequence[str] | None = None,
    noise: Real | Mapping[str, Real] = 0.0,
    seed: Seed = 0,
    record_noise: bool = False,
) -> Observations:
    """Readings at `n` different random grid points of a known field, with Gaussian noise.

    If `noise` is a number η, then σ = η · std of the sampled values for each field; a dict gives σ itself
    by field. `record_noise` keeps σ in the result; real users seldom know it. The same seed chooses the
    same points for any noise.

    >>> truth = xr.Dataset({"u": ("x", [0.0, 1.0, 4.0, 9.0])}, {"x": [0.0, 1.0, 2.0, 3.0]})
    >>> readings = sample(truth, n=3, noise=0.05)
    >>> len(readings), readings.coords, readings.fields
    (3, ('x',), ('u',))
    """
    points, values, units = _readers.flatten(truth, fields)
    coords, fields = tuple(points), tuple(values)
    grid, table = (
        _checks.as_table("truth", points, coords),
        _checks.as_table("truth", values, fields),
    )
    usable = np.flatnonzero(np.isfinite(table).any(axis=1))
    if not 1 <= n <= len(usable):
        raise InputError(
            f"n = {n}: the truth has {len(usable)} grid points; ask for 1 to that many."
        )
    rng = np.random.default_rng(seed)
    rows = rng.choice(usable, n, replace=False)
    table = table[rows]
    sigma = _checks.noise_levels(noise, table, fields)
    table = table + sigma * rng.standard_normal(table.shape)
    return Observations.from_arrays(
        grid[rows],
        table,
        coords=coords,
        fields=fields,
        noise=dict(zip(fields, sigma, strict=True)) if record_noise else None,
        units=units,
    )


def readings_from(observations: Observations, start: float | None) -> Observations:
    """The readings with time in seconds after `start`; unchanged where `start` is None."""
    if start is None or "t" not in observations.coords:
        return observations
    moved = np.array(observations.points, float)
    moved[:, observations.coords.index("t")] -= start
    units = tuple((dict(observations.units) | {"t": f"s since {text(start)}"}).items())
    return replace(observations, points=moved, units=units)
