"""Integrals of a fitted field over walls and the domain: values, fluxes, forces, totals, with error
bars.

Normals point out of the domain: into a cylinder that is an obstacle. Error bars are the spread of
the members' own integrals, so that errors that cancel along a wall cancel here as well, combined
with the difference to a sum over half as many places. That difference is more than the error of the
sum; at a sharp corner it exceeds the spread of a fit of exact readings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.core.arguments import Number
from pgt.core.checked import checked
from pgt.core.errors import InputError, warn_of
from pgt.core.numbers import as_numbers
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

# The number of points inside the domain for a total, and their largest number along an axis.
MAX_POINTS_INSIDE = 4096
MAX_POINTS_PER_AXIS = 256
# The number of points on the walls of a plane: all on one shape, fewer on each where walls share a
# name.
MAX_POINTS_ON_WALL = 1 << 13
# The number of instants, where none are given.
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
    coarser : the same with half as many places, where a sum over them is not exact.
    """

    places: Float[np.ndarray, "n k"]
    normals: Float[np.ndarray, "n k"]
    weight: float | Float[np.ndarray, " n"]
    coarser: "IntegrationPart | None" = None


@dataclass(frozen=True)
class Integrals:
    """Integrals of a fitted field, as `result.integrals` of a `Reconstruction`.

    A wall is named as in a condition: `"cylinder"`, or `axis="x", side="upper"` for an end of the box;
    `where` chooses a part of it. `t` is an instant or several, 11 over the whole time by default.
    The end of a line is one place: what goes through it is per area; in cylindrical coordinates per
    length of the axis, in spherical ones a total.
    """

    evaluation: Evaluation

    @checked
    def values(
        self, wall: str | None = None, quantities: Sequence[str] | None = None, t=None, **which
    ) -> xr.Dataset:
        """Fields, derivatives, and `u_n`, the slope of every field across the wall, at its places."""
        part, fields = self._wall(wall, is_even=True, **which), self.evaluation.pde.fields
        asked = tuple(quantities or fields)
        slopes = [f"{f}_{a}" for f in fields for a in self._space]

        def table(values: Values, part: IntegrationPart) -> Values:
            across = {f"{f}_n": self._across(values, f, part) for f in fields}
            return {name: values[name] for name in asked} | across

        found = self._dataset(self._each_instant(part, (*asked, *slopes), table, t), t, ("point",))
        for name, at in ("", part.places), ("n_", part.normals):
            own = {f"{name}{a}": ("point", at[:, k]) for k, a in enumerate(self._space)}
            found = found.assign_coords(own)
        return found

    @checked
    def flux(
        self, wall: str | None = None, field: str = "u", coefficient: Number = 1.0, t=None, **which
    ) -> xr.Dataset:
        """∫ −coefficient ∂u/∂n dS: what is conducted out of the domain through a wall."""
        names = [f"{field}_{a}" for a in self._space]

        def table(values: Values, part: IntegrationPart) -> Values:
            return {"flux": -coefficient * part.weight * self._across(values, field, part)}

        return self._summed(self._wall(wall, **which), names, table, t)

    @checked
    def flow(self, wall: str | None = None, t=None, **which) -> xr.Dataset:
        """∫ (u, v)·n dS: what flows out of the domain through a wall."""
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

        `viscosity` is μ; by default that of the equation: with a kinematic one, and p divided by the
        density, so is the force.
        """
        velocity = self._velocity()
        if PRESSURE not in self.evaluation.pde.fields:
            raise InputError("force: the equation has no pressure p.")
        mu = self._viscosity() if viscosity is None else viscosity
        names = (PRESSURE, *(f"{u}_{a}" for u in velocity for a in self._space))

        def table(values: Values, part: IntegrationPart) -> Values:
            traction = _traction(values, velocity, self._space, part.normals, mu)
            found = {f"f{a}": -part.weight * traction[k] for k, a in enumerate(self._space)}
            if len(self._space) == 2:
                (x, y), (fx, fy) = part.places.T, found.values()
                found["torque"] = x * fy - y * fx
            return found

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
        """A wall of the shape, or ends of the box; weights are areas in space."""
        if wall is None and len(self._space) == 1:
            found = _end_points(self._domain.walls(axis, side, where), self._domain)
        else:
            found = _wall(self._domain.space, wall, axis, side, where, is_even)
        return _in_space(found, self._domain)

    def _velocity(self) -> tuple[str, ...]:
        velocity = velocity_in(self.evaluation.pde.fields, self._domain)
        if not velocity:
            fields = ", ".join(self.evaluation.pde.fields)
            raise InputError(f"there is no velocity u, v among the fields {fields}.")
        return velocity

    def _viscosity(self) -> float:
        given = getattr(bare(self.evaluation.pde), "viscosity", None)
        if given is None:
            raise InputError(
                "force: the equation has no viscosity; write force(..., viscosity=0.01)."
            )
        return float(given.value if isinstance(given, Unknown) else given)

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
        found = np.atleast_1d(seconds("t", t) if are_dates(t) else as_numbers("t", t))
        if found.ndim != 1 or not found.size or not np.isfinite(found).all():
            raise InputError(f"t={t!r}: write an instant, or a list of them.")
        return found

    def _each_instant(
        self,
        part: IntegrationPart,
        names,
        table: Callable[[Values, IntegrationPart], Values],
        t,
    ) -> list[Values]:
        """The table of every instant, at the places of a part."""
        moments = self._instants(t)
        if moments is not None and beyond("t", moments, self._domain).any():
            warn_of(
                f"t={t!r} lies outside {self._domain}, where nothing was fitted: it is a guess."
            )
        columns = [()] if moments is None else [(moment,) for moment in moments]
        found = []
        for column in columns:
            times = (np.full(len(part.places), moment) for moment in column)
            points = np.column_stack([part.places, *times])
            found.append(table(self.evaluation.evaluate_by_member(names, points), part))
        return found

    def _summed(
        self,
        part: IntegrationPart,
        names,
        table: Callable[[Values, IntegrationPart], Values],
        t,
    ) -> xr.Dataset:
        found = _sums(self._each_instant(part, names, table, t))
        if part.coarser is None or all(len(v) < 2 for v in found[0].values()):
            return self._dataset(found, t, ())
        coarse = _sums(self._each_instant(part.coarser, names, table, t))
        return self._dataset(found, t, (), coarse)

    def _dataset(
        self, found: list[Sums], t, dims: tuple[str, ...], coarse: list[Sums] | None = None
    ) -> xr.Dataset:
        """Means over the members by instant, and where there are several their spread, combined
        with the difference to a `coarse` sum.
        """
        moments = self._instants(t)
        single = moments is None or (t is not None and np.ndim(t) == 0)
        if moments is not None and are_counted(self.evaluation.units):
            moments = dates(moments)
        data = {}
        for name in found[0]:
            values = np.stack([one[name] for one in found])  # instants, members, places
            parts = {name: values.mean(axis=1)}
            if values.shape[1] > 1:
                off = 0.0
                if coarse is not None:
                    off = values.mean(axis=1) - np.stack([one[name].mean(axis=0) for one in coarse])
                parts[f"{name}_std"] = np.hypot(values.std(axis=1, ddof=1), off)
            for key, array in parts.items():
                data[key] = (dims, array[0]) if single else (("t", *dims), array)
        coords = {} if moments is None else {"t": moments[0] if single else moments}
        return xr.Dataset(data, coords)


def _wall(space: Domain, wall: str | None, axis, side: str, where: str | None, is_even: bool):
    """The part of the boundary, for a sum with all its corners and ends; else evenly spread places,
    each with its normal.
    """
    parts = space.boundary(wall, axis, side, where)
    if not is_even and len(space.axes) == 2:
        return IntegrationPart(
            *gather_points(parts, MAX_POINTS_ON_WALL),
            IntegrationPart(*gather_points(parts, MAX_POINTS_ON_WALL // 2)),
        )
    found = Spread.on(space.box, parts)
    places, normals = np.asarray(found.places, float), np.asarray(found.normals, float)
    return _equal_weights(places, normals, float(found.area))


def _inside(space: Domain, count: int, coarser: IntegrationPart | None = None) -> IntegrationPart:
    places, weights = space.quadrature(count)
    weights = weights * _volume_factors(space, places)
    return IntegrationPart(places, np.zeros_like(places), weights, coarser)


def _volume_factors(domain: Domain, places: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """The volume of a unit step along every axis at places of space, such as 2 pi r."""
    columns = dict(zip(domain.spatial_axes, np.asarray(places, float).T, strict=True))
    return np.broadcast_to(volume_factor(domain.coordinates, columns), len(places))


def _in_space(part: IntegrationPart, domain: Domain) -> IntegrationPart:
    """The same with areas in space for those in the coordinates."""
    if domain.coordinates == CARTESIAN:
        return part
    along_normal = np.sum(
        np.abs(part.normals) * scale_factors(domain.coordinates, domain.spatial_axes, part.places),
        axis=1,
    )
    weight = part.weight * _volume_factors(domain, part.places) / along_normal
    return replace(part, weight=weight, coarser=part.coarser and _in_space(part.coarser, domain))


def _equal_weights(places, normals, area: float) -> IntegrationPart:
    """Places with equal weights; every second of them is the coarser part."""
    half = IntegrationPart(places[::2], normals[::2], area / len(places[::2]))
    return IntegrationPart(places, normals, area / len(places), half)


def _sums(found: list[Values]) -> list[Sums]:
    return [{name: values.sum(axis=1) for name, values in one.items()} for one in found]


def _end_points(found: Faces | Spread, domain: Domain) -> IntegrationPart:
    """The ends of a line, each a place of weight 1."""
    assert isinstance(found, Faces)
    places = [[domain.bounds(axis)[side]] for axis, side in found.pairs]
    normals = [[2.0 * side - 1.0] for _, side in found.pairs]
    return IntegrationPart(np.array(places), np.array(normals), 1.0)


def _traction(values: Values, velocity, space, normals, viscosity: float) -> list[np.ndarray]:
    """σ n by axis."""
    found = []
    for k, u in enumerate(velocity):
        shear = sum(
            (values[f"{u}_{a}"] + values[f"{velocity[j]}_{space[k]}"]) * normals[:, j]
            for j, a in enumerate(space)
        )
        found.append(-values[PRESSURE] * normals[:, k] + viscosity * np.asarray(shear))
    return found
