"""What a fitted field says on walls and in all: values, fluxes, forces, totals, with error bars.

Normals point out of the domain: into a cylinder that is an obstacle. Error bars are the spread of the
members' own integrals, so that errors which cancel along a wall do so here as well; and by how much a sum
over half as many places differs, which is more than what is wrong with the sum: at a sharp corner that
is more than readings without noise leave open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.data._numbers import as_numbers
from pgt.data.asked import beyond
from pgt.data.dates import are_counted, are_dates, dates, seconds
from pgt.data.domain import Domain
from pgt.data.regions import Faces, Spread
from pgt.data.shapes.walls import gathered
from pgt.ground.errors import InputError, warn_of
from pgt.ground.unknown import Unknown
from pgt.physics.bordered import bare
from pgt.physics.wall_conditions import PRESSURE, velocity_in
from pgt.reconstruction.evaluation import Evaluation

PLACES, MOST_ON_AXIS = 4096, 256  # inside, of which a total is taken
ON_WALL = 1 << 13  # of the plane: all points of one shape, fewer of each where walls share a name
INSTANTS = 11  # where time is not named

Values = dict[str, Float[np.ndarray, "k n"]]  # of every member at every place
Sums = dict[str, np.ndarray]  # of every member


@dataclass(frozen=True)
class Part:
    """A part of the boundary, or the inside: places, normals, and what each place stands for; the same
    with half as many places, where a sum over them is not exact."""

    places: Float[np.ndarray, "n k"]
    normals: Float[np.ndarray, "n k"]
    weight: float | Float[np.ndarray, " n"]
    coarser: "Part | None" = None


@dataclass(frozen=True)
class Integrals:
    """Asked of a `Reconstruction` as `result.integrals`.

    A wall is named as in a condition: `"cylinder"`, or `axis="x", side="upper"` for an end of the box;
    `where` chooses a part of it. `t` is an instant or several, 11 over the whole time by default. The end
    of a line is one place: what goes through it is per area.
    """

    evaluation: Evaluation

    def values(
        self, wall: str | None = None, quantities: Sequence[str] | None = None, t=None, **which
    ) -> xr.Dataset:
        """Fields, derivatives, and `u_n`, the slope of every field across the wall, at its places."""
        part, fields = self._wall(wall, evenly=True, **which), self.evaluation.pde.fields
        asked = tuple(quantities or fields)
        slopes = [f"{f}_{a}" for f in fields for a in self._space]

        def table(values: Values, part: Part) -> Values:
            across = {f"{f}_n": self._across(values, f, part) for f in fields}
            return {name: values[name] for name in asked} | across

        found = self._each_instant(part, (*asked, *slopes), table, t)
        axes = {a: ("point", part.places[:, k]) for k, a in enumerate(self._space)}
        normals = {f"n_{a}": ("point", part.normals[:, k]) for k, a in enumerate(self._space)}
        return self._dataset(found, t, ("point",)).assign_coords(axes | normals)

    def flux(
        self, wall: str | None = None, field: str = "u", coefficient: float = 1.0, t=None, **which
    ) -> xr.Dataset:
        """∫ −coefficient ∂u/∂n dS: what is conducted out of the domain through a wall."""
        part = self._wall(wall, **which)
        names = [f"{field}_{a}" for a in self._space]

        def table(values: Values, part: Part) -> Values:
            return {"flux": -coefficient * part.weight * self._across(values, field, part)}

        return self._summed(part, names, table, t)

    def flow(self, wall: str | None = None, t=None, **which) -> xr.Dataset:
        """∫ (u, v)·n dS: what flows out of the domain through a wall."""
        part, velocity = self._wall(wall, **which), self._velocity()

        def table(values: Values, part: Part) -> Values:
            along = sum(values[name] * part.normals[:, k] for k, name in enumerate(velocity))
            return {"flow": part.weight * np.asarray(along)}

        return self._summed(part, velocity, table, t)

    def force(
        self, wall: str | None = None, viscosity: float | None = None, t=None, **which
    ) -> xr.Dataset:
        """The force of the fluid on a wall, −∫ (−p n + μ (∇u + ∇uᵀ) n) dS, by axis, and in the plane the
        torque about the origin.

        `viscosity` is μ; by default that of the equation: with a kinematic one, and p divided by the
        density, so is the force.
        """
        part, velocity = self._wall(wall, **which), self._velocity()
        if PRESSURE not in self.evaluation.pde.fields:
            raise InputError("force: the equation has no pressure p.")
        mu = self._viscosity() if viscosity is None else viscosity
        names = (PRESSURE, *(f"{u}_{a}" for u in velocity for a in self._space))

        def table(values: Values, part: Part) -> Values:
            traction = _traction(values, velocity, self._space, part.normals, mu)
            found = {f"f{a}": -part.weight * traction[k] for k, a in enumerate(self._space)}
            if len(self._space) == 2:
                (x, y), (fx, fy) = part.places.T, found.values()
                found["torque"] = x * fy - y * fx
            return found

        return self._summed(part, names, table, t)

    def total(self, quantity: str = "u", t=None) -> xr.Dataset:
        """∫ u dV over the domain, of a field or any other quantity."""
        bounds: dict[str, Any] = {axis: self._domain.bounds(axis) for axis in self._space}
        space = Domain(shape=self._domain.shape, **bounds)
        count = min(PLACES, MOST_ON_AXIS ** len(self._space))
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
        evenly: bool = False,
    ) -> Part:
        """For a sum with all its corners and ends; else `evenly` spread places, each with its normal."""
        domain = self._domain
        if wall is None and len(self._space) == 1:
            return _ends(domain.walls(axis, side, where), domain)
        parts = domain.boundary(wall, axis, side, where)
        found = Spread.on(domain.box, parts)
        if not evenly and len(self._space) == 2:
            return Part(*gathered(parts, ON_WALL), Part(*gathered(parts, ON_WALL // 2)))
        places, normals = np.asarray(found.places, float), np.asarray(found.normals, float)
        return _alike(places, normals, float(found.area))

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

    def _across(self, values: Values, field: str, part: Part) -> np.ndarray:
        slopes = (values[f"{field}_{a}"] * part.normals[:, k] for k, a in enumerate(self._space))
        return np.asarray(sum(slopes))

    def _instants(self, t) -> np.ndarray | None:
        if not self._domain.has_time:
            return None
        low, high = self._domain.bounds("t")
        if t is None:
            return np.linspace(low, high, INSTANTS)
        found = np.atleast_1d(seconds("t", t) if are_dates(t) else as_numbers("t", t))
        if found.ndim != 1 or not np.isfinite(found).all():
            raise InputError(f"t={t!r}: write an instant, or a list of them.")
        return found

    def _each_instant(
        self, part: Part, names, table: Callable[[Values, Part], Values], t
    ) -> list[Values]:
        moments = self._instants(t)
        if moments is not None and beyond("t", moments, self._domain).any():
            warn_of(
                f"t={t!r} lies outside {self._domain}, where nothing was fitted: it is a guess."
            )
        columns = [()] if moments is None else [(moment,) for moment in moments]
        points = [
            np.column_stack([part.places, *(np.full(len(part.places), m) for m in c)])
            for c in columns
        ]
        return [table(self.evaluation.each(names, p), part) for p in points]

    def _summed(self, part: Part, names, table: Callable[[Values, Part], Values], t) -> xr.Dataset:
        found = _sums(self._each_instant(part, names, table, t))
        if part.coarser is None or all(len(v) < 2 for v in found[0].values()):
            return self._dataset(found, t, ())
        coarse = _sums(self._each_instant(part.coarser, names, table, t))
        return self._dataset(found, t, (), coarse)

    def _dataset(
        self, found: list[Sums], t, dims: tuple[str, ...], coarse: list[Sums] | None = None
    ) -> xr.Dataset:
        """Means over the members and, where there are several, their spread, with what a `coarse` sum
        differs by; by instant."""
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


def _inside(space: Domain, count: int, coarser: Part | None = None) -> Part:
    places, weights = space.quadrature(count)
    return Part(places, np.zeros_like(places), weights, coarser)


def _alike(places, normals, area: float) -> Part:
    """Places that stand for as much of a wall each; every second of them says how rough that is."""
    half = Part(places[::2], normals[::2], area / len(places[::2]))
    return Part(places, normals, area / len(places), half)


def _sums(found: list[Values]) -> list[Sums]:
    return [{name: values.sum(axis=1) for name, values in one.items()} for one in found]


def _ends(found: Faces | Spread, domain: Domain) -> Part:
    """Ends of a line, each a place that stands for itself."""
    assert isinstance(found, Faces)
    places = [[domain.bounds(axis)[side]] for axis, side in found.pairs]
    normals = [[2.0 * side - 1.0] for _, side in found.pairs]
    return Part(np.array(places), np.array(normals), 1.0)


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
