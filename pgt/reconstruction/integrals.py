"""Integrals of a fitted field over walls and the domain, with error bars: fluxes, flows, forces, totals.

Normals point out of the domain, for example into a cylinder that is an obstacle. Error bars combine two
parts. The spread of the members' integrals is the first, so that errors that cancel along a wall also
cancel here. The difference to a quadrature with half as many places is the second. It is larger than the
error of the quadrature; at a sharp corner it exceeds the spread of a fit of exact readings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.core.arguments import Number
from pgt.core.checked import checked
from pgt.core.errors import InputError, warn_of
from pgt.core.number_arrays import as_numbers
from pgt.core.unknown import Unknown
from pgt.data.condition_regions import Faces, Spread
from pgt.data.coordinate_systems import CARTESIAN, scale_factors, volume_factor
from pgt.data.dates import are_counted, are_dates, dates, seconds
from pgt.data.domain import Domain
from pgt.data.query_points import beyond
from pgt.geometry.walls import gather_points
from pgt.physics.unknown_conditions import bare
from pgt.physics.wall_conditions import PRESSURE, velocity_in
from pgt.reconstruction.evaluation import Evaluation

# The number of points inside the domain for a total, and their largest number along an axis. More points
# are more exact and take longer.
MAX_POINTS_INSIDE = 4096
MAX_POINTS_PER_AXIS = 256
# The number of points on the walls of a plane. Walls that share a name also share the points.
MAX_POINTS_ON_WALL = 1 << 13
# The default number of instants.
DEFAULT_INSTANTS = 11

Values = dict[str, Float[np.ndarray, "k _"]]  # (members, places)
Sums = dict[str, np.ndarray]  # by member


@dataclass(frozen=True)
class IntegrationPart:
    """A part of the boundary, or the inside of the domain.

    Attributes
    ----------
    places, normals : points and outer normals.
    weight : the length, area or volume that each place represents.
    coarser : the same part with half as many places; None if the quadrature is exact.
    """

    places: Float[np.ndarray, "n k"]
    normals: Float[np.ndarray, "n k"]
    weight: float | Float[np.ndarray, " n"]
    coarser: "IntegrationPart | None" = None


@dataclass(frozen=True)
class Integrals:
    """Integrals of a fitted field, as `result.integrals` of a `Reconstruction`.

    A wall is named as in a condition: `"cylinder"`, or `axis="x", side="upper"` for an end of the box;
    `where` chooses a part of it. `t` is an instant or several, by default 11 over the whole time.
    The end of a line is one place. A flux through it is per area; in cylindrical coordinates it is per
    length of the axis, and in spherical ones it is the total.
    """

    evaluation: Evaluation

    @checked
    def values(
        self, wall: str | None = None, quantities: Sequence[str] | None = None, t=None, **which
    ) -> xr.Dataset:
        """The fields or other quantities on a wall, and the normal derivative `u_n` of every field."""
        part, fields = self._wall(wall, is_even=True, **which), self.evaluation.pde.fields
        requested = tuple(quantities or fields)
        slopes = [f"{f}_{a}" for f in fields for a in self._space]

        def table(values: Values, part: IntegrationPart) -> Values:
            across = {f"{f}_n": self._across(values, f, part) for f in fields}
            return {name: values[name] for name in requested} | across

        dataset = self._dataset(
            self._each_instant(part, (*requested, *slopes), table, t), t, ("point",)
        )
        for name, columns in ("", part.places), ("n_", part.normals):
            coordinates = {
                f"{name}{a}": ("point", columns[:, k]) for k, a in enumerate(self._space)
            }
            dataset = dataset.assign_coords(coordinates)
        return dataset

    @checked
    def flux(
        self, wall: str | None = None, field: str = "u", coefficient: Number = 1.0, t=None, **which
    ) -> xr.Dataset:
        """∫ −coefficient ∂u/∂n dS, the diffusive flux out of the domain through a wall."""
        names = [f"{field}_{a}" for a in self._space]

        def table(values: Values, part: IntegrationPart) -> Values:
            return {"flux": -coefficient * part.weight * self._across(values, field, part)}

        return self._summed(self._wall(wall, **which), names, table, t)

    @checked
    def flow(self, wall: str | None = None, t=None, **which) -> xr.Dataset:
        """∫ (u, v)·n dS, the flow out of the domain through a wall."""
        velocity = self._velocity()

        def table(values: Values, part: IntegrationPart) -> Values:
            along = sum(values[name] * part.normals[:, k] for k, name in enumerate(velocity))
            return {"flow": part.weight * np.asarray(along)}

        return self._summed(self._wall(wall, **which), velocity, table, t)

    @checked
    def force(
        self, wall: str | None = None, viscosity: Number | None = None, t=None, **which
    ) -> xr.Dataset:
        """The force of the fluid on a wall, −∫ (−p n + μ (∇u + ∇uᵀ) n) dS, by axis, and in the plane the
        torque about the origin.

        `viscosity` is μ, by default that of the equation. With a kinematic viscosity, and p divided by
        the density, the force is also divided by the density.
        """
        velocity = self._velocity()
        if PRESSURE not in self.evaluation.pde.fields:
            raise InputError("force: the equation has no pressure p.")
        mu = self._viscosity() if viscosity is None else viscosity
        names = (PRESSURE, *(f"{u}_{a}" for u in velocity for a in self._space))

        def table(values: Values, part: IntegrationPart) -> Values:
            traction = _traction(values, velocity, self._space, part.normals, mu)
            by_axis = {f"f{a}": -part.weight * traction[k] for k, a in enumerate(self._space)}
            if len(self._space) == 2:
                (x, y), (fx, fy) = part.places.T, by_axis.values()
                by_axis["torque"] = x * fy - y * fx
            return by_axis

        return self._summed(self._wall(wall, **which), names, table, t)

    @checked
    def total(self, quantity: str = "u", t=None) -> xr.Dataset:
        """∫ u dV over the domain, of a field or any other quantity."""
        count = min(MAX_POINTS_INSIDE, MAX_POINTS_PER_AXIS ** len(self._space))
        space = self._domain.space
        part = _inside(space, count, _inside(space, count // 2))
        return self._summed(
            part, (quantity,), lambda values, part: {"total": part.weight * values[quantity]}, t
        )

    # ------------------------------------------------------------------------------ inside

    @property
    def _domain(self) -> Domain:
        return self.evaluation.domain

    @property
    def _space(self) -> tuple[str, ...]:
        return self._domain.spatial_axes

    def _wall(
        self,
        wall: str | None,
        axis=None,
        side: str = "both",
        where: str | None = None,
        *,
        is_even: bool = False,
    ) -> IntegrationPart:
        """The part of a wall of the shape, or of ends of the box, whose weights are areas in space."""
        if wall is None and len(self._space) == 1:
            part = _end_points(self._domain.walls(axis, side, where), self._domain)
        else:
            part = _wall(self._domain.space, wall, axis, side, where, is_even)
        return _in_space(part, self._domain)

    def _velocity(self) -> tuple[str, ...]:
        velocity = velocity_in(self.evaluation.pde.fields, self._domain)
        if not velocity:
            fields = ", ".join(self.evaluation.pde.fields)
            raise InputError(f"there is no velocity u, v among the fields {fields}.")
        return velocity

    def _viscosity(self) -> float:
        viscosity = getattr(bare(self.evaluation.pde), "viscosity", None)
        if viscosity is None:
            raise InputError(
                "force: the equation has no viscosity; write force(..., viscosity=0.01)."
            )
        return float(viscosity.value if isinstance(viscosity, Unknown) else viscosity)

    def _across(self, values: Values, field: str, part: IntegrationPart) -> np.ndarray:
        across = part.normals / scale_factors(self._domain.coordinates, self._space, part.places)
        slopes = (values[f"{field}_{a}"] * across[:, k] for k, a in enumerate(self._space))
        return np.asarray(sum(slopes))

    def _instants(self, t) -> np.ndarray | None:
        if not self._domain.has_time:
            return None
        low, high = self._domain.bounds("t")
        if t is None:
            return np.linspace(low, high, DEFAULT_INSTANTS)
        instants = np.atleast_1d(seconds("t", t) if are_dates(t) else as_numbers("t", t))
        if instants.ndim != 1 or not instants.size or not np.isfinite(instants).all():
            raise InputError(f"t={t!r}: write an instant, or a list of them.")
        return instants

    def _each_instant(
        self,
        part: IntegrationPart,
        names,
        table: Callable[[Values, IntegrationPart], Values],
        t,
    ) -> list[Values]:
        """The `table` of values at the places of a part, for every instant."""
        moments = self._instants(t)
        if moments is not None and beyond("t", moments, self._domain).any():
            warn_of(
                f"t={t!r} lies outside {self._domain}, where nothing was fitted: it is a guess."
            )
        columns = [()] if moments is None else [(moment,) for moment in moments]
        tables = []
        for column in columns:
            times = (np.full(len(part.places), moment) for moment in column)
            points = np.column_stack([part.places, *times])
            tables.append(table(self.evaluation.evaluate_by_member(names, points), part))
        return tables

    def _summed(
        self,
        part: IntegrationPart,
        names,
        table: Callable[[Values, IntegrationPart], Values],
        t,
    ) -> xr.Dataset:
        sums = _sums(self._each_instant(part, names, table, t))
        if part.coarser is None or all(len(v) < 2 for v in sums[0].values()):
            return self._dataset(sums, t, ())
        coarse = _sums(self._each_instant(part.coarser, names, table, t))
        return self._dataset(sums, t, (), coarse)

    def _dataset(
        self, tables: list[Sums], t, dims: tuple[str, ...], coarse: list[Sums] | None = None
    ) -> xr.Dataset:
        """A dataset of the means over the members by instant, and of their spread if there are several.

        The spread is combined with the difference to a `coarse` sum.
        """
        moments = self._instants(t)
        is_single = moments is None or (t is not None and np.ndim(t) == 0)
        if moments is not None and are_counted(self.evaluation.units):
            moments = dates(moments)
        data = {}
        for name in tables[0]:
            values = np.stack([table[name] for table in tables])  # instants, members, places
            parts = {name: values.mean(axis=1)}
            if values.shape[1] > 1:
                difference = 0.0
                if coarse is not None:
                    difference = values.mean(axis=1) - np.stack(
                        [table[name].mean(axis=0) for table in coarse]
                    )
                parts[f"{name}_std"] = np.hypot(values.std(axis=1, ddof=1), difference)
            for key, array in parts.items():
                data[key] = (dims, array[0]) if is_single else (("t", *dims), array)
        coords = {} if moments is None else {"t": moments[0] if is_single else moments}
        return xr.Dataset(data, coords)


def _wall(space: Domain, wall: str | None, axis, side: str, where: str | None, is_even: bool):
    """A part of the boundary, with quadrature points that include corners and ends.

    If `is_even` or not in a plane, its places are evenly spread, each with its normal.
    """
    parts = space.boundary(wall, axis, side, where)
    if not is_even and len(space.axes) == 2:
        return IntegrationPart(
            *gather_points(parts, MAX_POINTS_ON_WALL),
            IntegrationPart(*gather_points(parts, MAX_POINTS_ON_WALL // 2)),
        )
    spread = Spread.on(space.box, parts)
    places, normals = np.asarray(spread.places, float), np.asarray(spread.normals, float)
    return _equal_weights(places, normals, float(spread.area))


def _inside(space: Domain, count: int, coarser: IntegrationPart | None = None) -> IntegrationPart:
    places, weights = space.quadrature(count)
    weights = weights * _volume_factors(space, places)
    return IntegrationPart(places, np.zeros_like(places), weights, coarser)


def _volume_factors(domain: Domain, places: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """The volume of a unit step along every axis at places of space, such as 2 pi r."""
    columns = dict(zip(domain.spatial_axes, np.asarray(places, float).T, strict=True))
    return np.broadcast_to(volume_factor(domain.coordinates, columns), len(places))


def _in_space(part: IntegrationPart, domain: Domain) -> IntegrationPart:
    """The part with areas in space in place of areas in the coordinates."""
    if domain.coordinates == CARTESIAN:
        return part
    along_normal = np.sum(
        np.abs(part.normals) * scale_factors(domain.coordinates, domain.spatial_axes, part.places),
        axis=1,
    )
    weight = part.weight * _volume_factors(domain, part.places) / along_normal
    return replace(part, weight=weight, coarser=part.coarser and _in_space(part.coarser, domain))


def _equal_weights(places, normals, area: float) -> IntegrationPart:
    """A part with equal weights; every second place belongs to the coarser part."""
    half = IntegrationPart(places[::2], normals[::2], area / len(places[::2]))
    return IntegrationPart(places, normals, area / len(places), half)


def _sums(tables: list[Values]) -> list[Sums]:
    return [{name: values.sum(axis=1) for name, values in table.items()} for table in tables]


def _end_points(faces: Faces | Spread, domain: Domain) -> IntegrationPart:
    """The ends of a line, each a place of weight 1."""
    assert isinstance(faces, Faces)
    places = [[domain.bounds(axis)[side]] for axis, side in faces.pairs]
    normals = [[2.0 * side - 1.0] for _, side in faces.pairs]
    return IntegrationPart(np.array(places), np.array(normals), 1.0)


def _traction(values: Values, velocity, space, normals, viscosity: float) -> list[np.ndarray]:
    """σ n by axis."""
    components = []
    for k, u in enumerate(velocity):
        shear = sum(
            (values[f"{u}_{a}"] + values[f"{velocity[j]}_{space[k]}"]) * normals[:, j]
            for j, a in enumerate(space)
        )
        components.append(-values[PRESSURE] * normals[:, k] + viscosity * np.asarray(shear))
    return components
