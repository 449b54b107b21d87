r"""Functions around a hole in space.

Outside a ball of radius a, harmonic fields that vanish far away are sums of multipoles,

$$ (a/r)^{l+1} Y_{lm}(\theta, \varphi), \qquad l = 0, 1, 2, \dots $$

Here they are written as polynomials over powers of r. As in the plane (models/local.py), fields of other
equations go on with functions whose Laplacian is one of these, and so on: r^{2j} times them.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.geometry.wall_features import holes_of
from pgt.models.local import CENTRES, CLOSEST, AbstractLocal, Together, first_of_size, together
from pgt.models.moving_basis import Carry, groups

# The largest l of multipoles, of those times r², and so on; fewer where there are many holes or fields.
DEGREES = (3, 2, 1), (3, 1), (2,)
TIMES = 3, 3, 2  # frequencies beside the constant, where there is time
MOST = 800  # functions, those of all fields together


class Multipoles(AbstractLocal):
    """The functions around the holes of a shape in space; `degrees[j]` is the largest l of r^{2j}."""

    middle: Float[Array | np.ndarray, " 3"]
    half_extent: Float[Array | np.ndarray, " 3"]
    centres: Float[Array | np.ndarray, "h 3"]
    radii: Float[Array | np.ndarray, " h"]
    beats: Float[Array | np.ndarray, " b"]
    degrees: tuple[int, ...]
    carry: Carry | None = None

    @staticmethod
    def of(domain: Domain, fields: int = 1) -> "Multipoles | Together | None":
        """None where the domain has no hole in space.

        >>> import pgt
        >>> shell = pgt.shapes.Ball() - pgt.shapes.Ball(radius=0.3)
        >>> found = Multipoles.of(pgt.Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), shape=shell))
        >>> found.count
        29
        """
        if domain.shape is None or len(domain.spatial_axes) != 3:
            return None
        found = [
            ({most: holes_of(group.solid, most, group.leaves) for most in CENTRES}, group.carry)
            for group in groups(domain)
        ]
        found = [(holes, carry) for holes, carry in found if len(holes[1].radii)]
        if not found:
            return None
        middle, half = (domain.lower + domain.upper)[:3] / 2, domain.extent[:3] / 2
        tables = zip(DEGREES, TIMES if domain.has_time else (0, 0, 0), strict=True)
        sizes = (
            together(
                Multipoles(
                    middle=middle, half_extent=half, centres=holes[most].centres,
                    radii=holes[most].radii, beats=np.arange(1.0, times + 1), degrees=degrees,
                    carry=carry,
                )
                for holes, carry in found
            )
            for degrees, times in tables for most in CENTRES
        )  # fmt: skip
        return first_of_size(sizes, MOST // fields)

    @property
    def in_space(self) -> int:
        return len(self.radii) * sum((1 + most) ** 2 for most in self.degrees)

    def still(self, z: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
        away = self.place(z)[..., None, :] - self.centres  # n h 3
        square = jnp.maximum(jnp.sum(away**2, axis=-1, keepdims=True), CLOSEST**2)
        near = jnp.asarray(self.radii)[:, None] / jnp.sqrt(square)
        farthest = jnp.abs(jnp.asarray(self.centres) - self.middle) + self.half_extent
        far = square / jnp.sum(farthest**2, axis=-1, keepdims=True)
        poles = _angular(away / jnp.sqrt(square))
        parts = [
            far**rise * near ** (degree + 1) * poles[degree]
            for rise, most in enumerate(self.degrees) for degree in range(most + 1)
        ]  # fmt: skip
        values = jnp.concatenate(parts, axis=-1)
        return values.reshape(*values.shape[:-2], -1)


def _angular(unit):
    """Harmonic polynomials of degree 0, 1, 2 and 3 on the unit sphere: 1, 3, 5 and 7 of them."""
    x, y, z = unit[..., 0], unit[..., 1], unit[..., 2]
    second = [x * y, y * z, z * x, (x**2 - y**2) / 2, (3 * z**2 - 1) / 2]
    third = [
        x * y * z, z * (x**2 - y**2), x * (x**2 - 3 * y**2), y * (3 * x**2 - y**2),
        x * (5 * z**2 - 1), y * (5 * z**2 - 1), z * (5 * z**2 - 3) / 2,
    ]  # fmt: skip
    return jnp.ones_like(unit[..., :1]), unit, jnp.stack(second, -1), jnp.stack(third, -1)
