r"""Functions that are rough where a shape makes fields rough.

Around a hole of radius a about a point, harmonic fields are sums of

$$ \log r, \quad (a/r)^k \cos k\theta, \quad (a/r)^k \sin k\theta, $$

and at a corner where the domain takes the angle ω, of

$$ r^{k\pi/2\omega} \cos(k\pi\theta/2\omega), \quad r^{k\pi/2\omega} \sin(k\pi\theta/2\omega): $$

whole multiples of π/ω where both sides are held alike, halves where they are not. Fields of other
equations begin like these, and what is left is smoother. Sines cannot follow either of them.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.body import Body
from pgt.data.domain import Domain
from pgt.data.shapes.features import corners_of, holes_of
from pgt.nn.frozen import Frozen

WINDINGS = 8  # k, around a hole
POWERS = 8  # k, at a corner
TIMES = 3  # frequencies beside the constant, where there is time
BEAT = 1.5  # the lowest of them, in unit time
CLOSEST = 1e-12  # to a corner


class Local(Frozen):
    """The functions of one shape of the plane; `count` of them."""

    middle: Float[Array | np.ndarray, " 2"]
    half_extent: Float[Array | np.ndarray, " 2"]
    centres: Float[Array | np.ndarray, "h 2"]
    radii: Float[Array | np.ndarray, " h"]
    corners: Float[Array | np.ndarray, "c 2"]
    directions: Float[Array | np.ndarray, " c"]
    angles: Float[Array | np.ndarray, " c"]
    beats: Float[Array | np.ndarray, " b"]

    @staticmethod
    def of(domain: Domain) -> "Local | None":
        """None where the domain has no shape in the plane that makes fields rough.

        >>> import pgt
        >>> ring = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.Disk() - pgt.Disk(radius=0.3))
        >>> found = Local.of(ring)
        >>> found.count, found(jnp.array([0.5, 0.0])).shape
        (17, (17,))
        """
        if domain.shape is None or len(domain.spatial_axes) != 2:
            return None
        solid = Body(domain.box, domain.shape).solid
        holes, corners = holes_of(solid), corners_of(solid)
        if not len(holes.radii) and not len(corners.angles):
            return None
        beats = BEAT * np.arange(1, TIMES + 1) if domain.has_time else np.zeros(0)
        middle = (domain.lower + domain.upper)[:2] / 2
        return Local(middle, domain.extent[:2] / 2, *holes, *corners, beats)

    @property
    def count(self) -> int:
        """How many functions."""
        each = (1 + 2 * WINDINGS) * len(self.radii) + 2 * POWERS * len(self.angles)
        return each * (1 + 2 * len(self.beats))

    def __call__(
        self, z: Float[Array, "*n d"], along: tuple[int, ...] = ()
    ) -> Float[Array, "*n m"]:
        """The functions, or their derivative along the axes listed, in unit coordinates."""
        if not along:
            return self._values(z)
        axis, *rest = along
        direction = jnp.zeros_like(z).at[..., axis].set(1.0)
        return jax.jvp(lambda y: self(y, tuple(rest)), (z,), (direction,))[1]

    def _values(self, z):
        place = z[..., :2] * self.half_extent + self.middle
        parts = jnp.concatenate([self._windings(place), self._roots(place)], axis=-1)
        if not len(self.beats):
            return parts
        phase = z[..., -1:] * jnp.asarray(self.beats)
        beats = jnp.concatenate(
            [jnp.ones_like(z[..., -1:]), jnp.cos(phase), jnp.sin(phase)], axis=-1
        )
        product = parts[..., :, None] * beats[..., None, :]
        return product.reshape(*product.shape[:-2], -1)

    def _windings(self, place):
        size, angle = _polar(place[..., None, :] - self.centres)
        size = size - jnp.log(jnp.asarray(self.radii))
        k = jnp.arange(1.0, WINDINGS + 1, dtype=place.dtype)
        return jnp.concatenate([size, _multiples(size, angle, -k, k)], axis=-1)

    def _roots(self, place):
        away = (place[..., None, :] - self.corners) / jnp.max(jnp.asarray(self.half_extent))
        cos, sin = jnp.cos(jnp.asarray(self.directions)), jnp.sin(jnp.asarray(self.directions))
        x, y = away[..., 0] * cos + away[..., 1] * sin, away[..., 1] * cos - away[..., 0] * sin
        power = jnp.arange(1.0, POWERS + 1) * np.pi / (2 * jnp.asarray(self.angles)[:, None])
        return _multiples(*_polar(jnp.stack([x, y], axis=-1)), power, power)


def _polar(away):
    """log r and θ; exactly in the middle there is no direction: a step aside."""
    x, y = away[..., 0], away[..., 1]
    x = jnp.where(x**2 + y**2 > CLOSEST**2, x, CLOSEST)
    return jnp.log(x**2 + y**2) / 2, jnp.arctan2(y, x)


def _multiples(size, angle, powers, turns):
    """r^p cos(kθ) and r^p sin(kθ) of all places and powers in one row; all at once, since to write them
    one by one would take half a minute to compile."""
    rise, phase = jnp.exp(size[..., None] * powers), angle[..., None] * turns
    both = jnp.stack([rise * jnp.cos(phase), rise * jnp.sin(phase)], axis=-1)
    return both.reshape(*both.shape[:-3], -1)
