"""The faces of a domain on which a condition holds: where they are, and points on them."""

import abc
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.ground.errors import InputError
from pgt.ground.types import Key, Point
from pgt.physics.parser import suggestion


class AbstractPlaces(eqx.Module):
    """Where a condition holds: points at random and fixed ones."""

    domain: eqx.AbstractVar[Domain]

    @abc.abstractmethod
    def sample(self, key: Key, n: int) -> Float[Array, "m d"]:
        """Random points, n of them unless fewer say as much; works under jit."""

    @abc.abstractmethod
    def quadrature(self, n: int) -> Float[np.ndarray, "m d"]:
        """Fixed points, at least n of them unless fewer say as much."""


class Faces(AbstractPlaces):
    """Some faces of a domain, each a pair: an axis, held at its lower (0) or upper (1) bound."""

    domain: Domain = eqx.field(static=True)
    pairs: tuple[tuple[str, int], ...] = eqx.field(static=True)

    @property
    def free(self) -> tuple[str, ...]:
        """The axes that vary on every face."""
        held = {axis for axis, _ in self.pairs}
        return tuple(axis for axis in self.domain.axes if axis not in held)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n points, uniform on the faces, which take turns."""
        lower, upper = jnp.asarray(self.domain.lower, float), jnp.asarray(self.domain.upper, float)
        points = jax.random.uniform(key, (n, lower.size), lower.dtype, lower, upper)
        turn = np.arange(n) % len(self.pairs)
        column, side = self._columns[turn], np.array([side for _, side in self.pairs])[turn]
        return points.at[np.arange(n), column].set(jnp.stack([lower, upper])[side, column])

    def quadrature(self, n: int) -> Float[np.ndarray, "m d"]:
        """At least n Gauss–Legendre points, shared evenly between the faces."""
        across = self.domain.dimension - 1
        # The tolerance keeps the cube root of 8 at 2, not 3.
        per_axis = math.ceil((n / len(self.pairs)) ** (1 / across) - 1e-9) if across else 1
        nodes = (np.polynomial.legendre.leggauss(max(per_axis, 1))[0] + 1) / 2
        return np.concatenate([self._grid(axis, side, nodes) for axis, side in self.pairs])

    def nearest(self, z: Point) -> Float[Array, " faces"]:
        """1 for the face on which z lies, 0 for the others."""
        bounds = jnp.asarray([self.domain.bounds(axis)[side] for axis, side in self.pairs])
        distance = jnp.abs(z[self._columns] - bounds) / self.domain.extent[self._columns]
        return jax.nn.one_hot(jnp.argmin(distance), len(self.pairs), dtype=bounds.dtype)

    def point(self, z: Point) -> dict[str, Float[Array | np.ndarray, ""]]:
        """The coordinates of z by name."""
        return {axis: jnp.asarray(z[i]) for i, axis in enumerate(self.domain.axes)}

    @property
    def _columns(self) -> np.ndarray:
        return np.array([self.domain.index(axis) for axis, _ in self.pairs])

    def _grid(self, held, side, nodes):
        columns = [
            np.array([bounds[side]]) if axis == held else bounds[0] + np.ptp(bounds) * nodes
            for axis, bounds in zip(self.domain.axes, self.domain.limits, strict=True)
        ]
        return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(columns))


def require_axis(where: str, axis: str, domain: Domain) -> None:
    if axis not in domain.axes:
        raise InputError(
            f"{where}: the domain has no axis '{axis}', only {', '.join(domain.axes)}."
            + suggestion(axis, domain.axes)
        )
