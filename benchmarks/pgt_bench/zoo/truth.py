"""Where a truth comes from: a formula, or a solver of our own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from pgt.core.types import Point
from pgt.data import Domain

Named = Callable[..., Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Formula:
    """A closed solution: `of` takes the coordinates by name and gives the fields by name, in JAX.

    `points` is the number of grid points along each axis. One formula serves the truth on the grid, the
    conditions, and the test that it solves the equation.
    """

    of: Named
    points: tuple[int, ...]
    _made: dict[Domain, xr.Dataset] = field(default_factory=dict, init=False, repr=False)

    def on(self, domain: Domain) -> xr.Dataset:
        """The fields on an even grid over the domain, in float64."""
        if domain not in self._made:
            self._made[domain] = self._evaluated(domain)
        return self._made[domain]

    def at(self, domain: Domain, z: Point) -> Float[Array, " c"]:
        """All fields at one point."""
        named = {axis: z[index] for index, axis in enumerate(domain.axes)}
        return jnp.stack([*self.of(**named).values()])

    def _evaluated(self, domain: Domain) -> xr.Dataset:
        pairs = zip(domain.axes, self.points, strict=True)
        axes = {axis: even(domain, axis, count) for axis, count in pairs}
        with jax.enable_x64(True):
            mesh = np.meshgrid(*axes.values(), indexing="ij")
            places = {axis: jnp.asarray(m) for axis, m in zip(axes, mesh, strict=True)}
            fields = {name: np.asarray(values) for name, values in self.of(**places).items()}
        return xr.Dataset({name: (tuple(axes), values) for name, values in fields.items()}, axes)


@dataclass(frozen=True, eq=False)
class Solved:
    """A truth that a solver finds on its own grid, once."""

    solve: Callable[[], xr.Dataset]
    _made: list[xr.Dataset] = field(default_factory=list, init=False, repr=False)

    def on(self, domain: Domain) -> xr.Dataset:
        if not self._made:
            self._made.append(self.solve())
        return self._made[0]


def even(domain: Domain, axis: str, count: int) -> Float[np.ndarray, " {count}"]:
    """Evenly spaced positions; of a periodic axis without its end, which is its start."""
    return np.linspace(*domain.bounds(axis), count, endpoint=axis not in domain.periodic)


def given(of: Named, name: str) -> Callable[..., Array]:
    """One field of a formula as a function of the coordinates, for a condition."""

    def value(**place):
        return of(**place)[name]

    return value
