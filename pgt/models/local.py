r"""Functions that are rough where a shape makes fields rough.

Around a hole of radius a about a point, harmonic fields are sums of

$$ \log r, \quad (a/r)^k \cos k\theta, \quad (a/r)^k \sin k\theta, $$

and at a corner where the domain takes the angle ω, of

$$ r^{k\pi/2\omega} \cos(k\pi\theta/2\omega), \quad r^{k\pi/2\omega} \sin(k\pi\theta/2\omega): $$

whole multiples of π/ω where both sides are held alike, halves where they are not. Fields of other
equations begin like these and go on with functions whose Laplacian is one of these, whose Laplacian is
one of those, and so on, as those of Bessel do: r^(2j-k) while 2j < 2k, r^(2j-k) log r from there, and
r^(2j + kπ/2ω) at corners. Sines cannot follow any of them. Where there is time, each is multiplied by a
few slow waves.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.data.shaped_domain import Body
from pgt.geometry.wall_features import corners_of, holes_of
from pgt.models.tensor_grid import waves_on_axis
from pgt.nn.trees import Frozen, compiled

# The largest k of functions that are harmonic, of those whose Laplacian is harmonic, and so on; each
# time also fewer, for shapes with many holes and equations with many fields.
WINDINGS = (8, 4, 3, 3, 2), (8, 3, 2), (8,)
POWERS = (8, 4), (8,), (8,)  # k, at a corner
TIMES = 4, 4, 3  # frequencies beside the constant, where there is time
# Of every hole that is not round, at the most; fewer of them before there are fewer functions.
CENTRES = 6, 3, 1
MOST = 1000  # functions, those of all fields together
CLOSEST = 1e-12  # to a corner
CHUNK = 1 << 12  # places of a grid at which functions are evaluated at once: memory grows with them


class AbstractLocal(Frozen):
    """Functions of a shape, `count` of them; where there is time, each times a few waves of it."""

    middle: eqx.AbstractVar[Float[Array | np.ndarray, " d"]]
    half_extent: eqx.AbstractVar[Float[Array | np.ndarray, " d"]]
    beats: eqx.AbstractVar[Float[Array | np.ndarray, " b"]]

    @property
    @abstractmethod
    def in_space(self) -> int:
        """How many functions without the waves."""

    @abstractmethod
    def still(self, z: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
        """The functions without the waves of time, in unit coordinates."""

    def place(self, z: Float[Array, "*n d"]) -> Float[Array, "*n k"]:
        """The place in physical coordinates."""
        return z[..., : len(self.middle)] * self.half_extent + self.middle

    def within(self, band: float, periodic: bool) -> "AbstractLocal":
        """The same with times that fill a band of frequencies, as those of the sines do."""
        if not len(self.beats):
            return self
        step = np.pi if periodic else band / len(self.beats)
        return eqx.tree_at(lambda f: f.beats, self, step * np.arange(1, len(self.beats) + 1))

    @property
    def count(self) -> int:
        """How many functions."""
        return self.in_space * (1 + 2 * len(self.beats))

    def __call__(
        self, z: Float[Array, "*n d"], along: tuple[int, ...] = ()
    ) -> Float[Array, "*n m"]:
        """The functions, or their derivative along the axes listed, in unit coordinates."""
        if not along:
            return self._values(z)
        axis, *rest = along
        direction = jnp.zeros_like(z).at[..., axis].set(1.0)
        return jax.jvp(lambda y: self(y, tuple(rest)), (z,), (direction,))[1]

    def on_grid(
        self,
        weights: Float[np.ndarray, "r m"],
        axes: Sequence[Float[np.ndarray, " _"]],
        along: tuple[int, ...] = (),
    ) -> Float[np.ndarray, "r *shape"]:
        """Weighted sums, or their derivative along the axes listed, on the grid of these unit positions:
        functions of space times waves in time."""
        dimension, rows = len(self.middle), len(weights)
        space = np.stack(np.meshgrid(*axes[:dimension], indexing="ij"), axis=-1)
        has_time = len(axes) > dimension
        in_space = tuple(axis for axis in along if axis < dimension)
        in_time = len(along) - len(in_space)
        if in_time and not len(self.beats):
            return np.zeros((rows, *(len(z) for z in axes)))
        coefficients = weights.reshape(rows, self.in_space, -1).transpose(1, 0, 2)
        sums = _sums(self, space.reshape(-1, dimension), coefficients, in_space, has_time)
        sums = sums.reshape(*space.shape[:-1], rows, -1)
        if not has_time:
            return np.moveaxis(sums[..., 0], -1, 0)
        waves = waves_on_axis(self.beats, axes[-1], in_time)
        return np.moveaxis(sums @ waves, -2, 0)

    def _values(self, z):
        parts = self.still(z)
        if not len(self.beats):
            return parts
        phase = z[..., -1:] * jnp.asarray(self.beats)
        beats = jnp.concatenate(
            [jnp.ones_like(z[..., -1:]), jnp.cos(phase), jnp.sin(phase)], axis=-1
        )
        product = parts[..., :, None] * beats[..., None, :]
        return product.reshape(*product.shape[:-2], -1)


Size = TypeVar("Size", bound=AbstractLocal)


def first_of_size(sizes: Iterable[Size], most: int) -> Size:
    """The first with no more functions than so many, else the last."""
    found = None
    for found in sizes:
        if found.count <= most:
            break
    assert found is not None
    return found


class Local(AbstractLocal):
    """The functions of one shape of the plane; `count` of them."""

    middle: Float[Array | np.ndarray, " 2"]
    half_extent: Float[Array | np.ndarray, " 2"]
    centres: Float[Array | np.ndarray, "h 2"]
    radii: Float[Array | np.ndarray, " h"]
    corners: Float[Array | np.ndarray, "c 2"]
    directions: Float[Array | np.ndarray, " c"]
    angles: Float[Array | np.ndarray, " c"]
    wound: Float[Array | np.ndarray, "w 5"]
    rooted: Float[Array | np.ndarray, "r 3"]
    beats: Float[Array | np.ndarray, " b"]

    @staticmethod
    def of(domain: Domain, fields: int = 1) -> "Local | None":
        """None where the domain has no shape in the plane that makes fields rough.

        >>> import pgt
        >>> ring = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.shapes.Disk() - pgt.shapes.Disk(radius=0.3))
        >>> found = Local.of(ring)
        >>> found.count, found(jnp.array([0.5, 0.0])).shape
        (45, (45,))
        """
        if domain.shape is None or len(domain.spatial_axes) != 2:
            return None
        middle = (domain.lower + domain.upper)[:2] / 2
        tables = zip(WINDINGS, POWERS, TIMES if domain.has_time else (0, 0, 0), strict=True)
        solid = Body(domain.box, domain.shape).solid
        corners, holes = corners_of(solid), {most: holes_of(solid, most) for most in CENTRES}
        if not len(holes[1].radii) and not len(corners.angles):
            return None

        def fitted(most: int, windings, powers, times: int) -> "Local":
            return Local(
                middle=middle, half_extent=domain.extent[:2] / 2, centres=holes[most].centres,
                radii=holes[most].radii, corners=corners.places, directions=corners.directions,
                angles=corners.angles, wound=_wound(windings), rooted=_rooted(powers),
                beats=np.arange(1.0, times + 1),
            )  # fmt: skip

        sizes = (fitted(most, *table) for table in tables for most in CENTRES)
        return first_of_size(sizes, MOST // fields)

    @property
    def in_space(self) -> int:
        return len(self.wound) * len(self.radii) + len(self.rooted) * len(self.angles)

    def still(self, z: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
        place = self.place(z)
        return jnp.concatenate([self._windings(place), self._roots(place)], axis=-1)

    def _windings(self, place):
        size, angle = _polar(place[..., None, :] - self.centres)
        near = size - jnp.log(jnp.asarray(self.radii))
        away = jnp.abs(jnp.asarray(self.centres) - self.middle) + self.half_extent  # a corner's
        far = size - jnp.log(jnp.sum(away**2, axis=-1)) / 2
        turns, falls, rises, is_log, quarter = jnp.asarray(self.wound).T
        values = jnp.exp(near[..., None] * falls + far[..., None] * rises)
        values = values * jnp.cos(angle[..., None] * turns - quarter)
        values = values * jnp.where(is_log > 0, near[..., None], 1.0)
        return values.reshape(*values.shape[:-2], -1)

    def _roots(self, place):
        away = (place[..., None, :] - self.corners) / jnp.max(jnp.asarray(self.half_extent))
        cos, sin = jnp.cos(jnp.asarray(self.directions)), jnp.sin(jnp.asarray(self.directions))
        x, y = away[..., 0] * cos + away[..., 1] * sin, away[..., 1] * cos - away[..., 0] * sin
        number, rises, quarter = jnp.asarray(self.rooted).T
        turns = number * np.pi / (2 * jnp.asarray(self.angles)[:, None])
        size, angle = _polar(jnp.stack([x, y], axis=-1))
        values = jnp.exp(size[..., None] * (turns + rises))
        values = values * jnp.cos(angle[..., None] * turns - quarter)
        return values.reshape(*values.shape[:-2], -1)


def _sums(
    local: AbstractLocal,
    places: Float[np.ndarray, "n k"],
    coefficients: Float[np.ndarray, "m r b"],
    along: tuple[int, ...],
    has_time: bool,
) -> Float[np.ndarray, "n r b"]:
    """Functions of space at places, or their derivatives, summed with coefficients."""
    unit = np.pad(places, ((0, 0), (0, int(has_time))))
    parts = [
        _still(local, jnp.resize(unit[start : start + CHUNK], (CHUNK, unit.shape[1])), along)
        for start in range(0, len(unit), CHUNK)
    ]
    flat = coefficients.reshape(len(coefficients), -1)
    sums = [np.asarray(part, float) @ flat for part in parts]
    return np.concatenate(sums)[: len(unit)].reshape(-1, *coefficients.shape[1:])


@compiled
def _still(local: AbstractLocal, unit: Float[Array, "n d"], along: tuple[int, ...]):
    def derivative(z, axes):
        if not axes:
            return local.still(z)
        direction = jnp.zeros_like(z).at[..., axes[0]].set(1.0)
        return jax.jvp(lambda y: derivative(y, axes[1:]), (z,), (direction,))[1]

    return derivative(unit, along)


def _polar(away):
    """log r and θ; exactly in the middle there is no direction: a step aside."""
    x, y = away[..., 0], away[..., 1]
    x = jnp.where(x**2 + y**2 > CLOSEST**2, x, CLOSEST)
    return jnp.log(x**2 + y**2) / 2, jnp.arctan2(y, x)


def _wound(most: tuple[int, ...]) -> Float[np.ndarray, "m 5"]:
    """Of every function around a hole k, the power of a/r, that of r, whether log r multiplies it, and
    the phase; `most`: the largest k of those that are harmonic, of those whose Laplacian is, ..."""
    rows = []
    for rise, last in enumerate(most):
        for turns in range(last + 1):
            powers = (-turns, 2 * rise, 0) if rise < turns else (0, 2 * rise - turns, 1)
            phases = (0.0, np.pi / 2) if turns else (0.0,)
            rows += [(turns, *powers, phase) for phase in phases]
    return np.array(rows, float)


def _rooted(most: tuple[int, ...]) -> Float[np.ndarray, "m 3"]:
    """Of every function at a corner k, what is added to the power of r, and the phase."""
    rows = [
        (k, 2 * rise, phase)
        for rise, last in enumerate(most) for k in range(1, last + 1) for phase in (0.0, np.pi / 2)
    ]  # fmt: skip
    return np.array(rows, float)
