r"""Singular functions: the rough parts of a field at the holes and corners of a planar shape.

Around a hole of radius a, harmonic fields are sums of

$$ \log r, \quad (a/r)^k \cos k\theta, \quad (a/r)^k \sin k\theta, $$

and at a corner where the domain spans the angle ω they are sums of

$$ r^{k\pi/2\omega} \cos(k\pi\theta/2\omega), \quad r^{k\pi/2\omega} \sin(k\pi\theta/2\omega). $$

The exponents are whole multiples of π/ω where both sides carry the same kind of condition, and odd
multiples of π/2ω where they do not. The fields of other equations, such as Bessel functions, start with
these terms and continue with functions whose Laplacian is one of them, then with functions whose
Laplacian is one of those, and so on. At a hole these are r^(2j-k) while 2j < 2k and r^(2j-k) log r from
there on; at a corner they are r^(2j + kπ/2ω). Sums of sines converge slowly to all of them, so `Features`
adds them to its sines. Where there is time, each function is multiplied by a few slow waves in time.
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

# The constants list the richest set first; `first_of_size` takes the first one that is small enough.
# The largest k around a hole: of harmonic functions, of functions with a harmonic Laplacian, and so on.
MAX_HOLE_ORDERS = (8, 4, 3, 3, 2), (8, 3, 2), (8,)
# The largest k at a corner, in the same order.
MAX_CORNER_ORDERS = (8, 4), (8,), (8,)
# The number of frequencies in time beside the constant, where there is time.
TIME_FREQUENCIES = 4, 4, 3
# The most centres inside a hole that is not round; fewer centres are tried before smaller orders.
CENTRES_PER_HOLE = 6, 3, 1
# The most functions of all fields together: more follow rougher fields, and make each solve slower.
MAX_FUNCTIONS = 1000
# The least distance to a centre or corner at which a function is evaluated; it avoids log 0.
MIN_DISTANCE = 1e-12
# Points of a grid at which functions are evaluated at once: more take more memory, fewer more calls.
POINTS_PER_CHUNK = 1 << 12


class AbstractSingularFunctions(Frozen):
    """Functions of a shape; where there is time, each is multiplied by a few waves in time."""

    middle: eqx.AbstractVar[Float[Array | np.ndarray, " d"]]
    half_extent: eqx.AbstractVar[Float[Array | np.ndarray, " d"]]
    beats: eqx.AbstractVar[Float[Array | np.ndarray, " b"]]

    @property
    @abstractmethod
    def spatial_count(self) -> int:
        """The number of functions of space, without the waves in time."""

    @abstractmethod
    def spatial_values(self, z: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
        """The values of the functions of space at a point in unit coordinates."""

    def position(self, z: Float[Array, "*n d"]) -> Float[Array, "*n k"]:
        """The position in space of a point in unit coordinates, in physical coordinates."""
        return z[..., : len(self.middle)] * self.half_extent + self.middle

    def within(self, band: float, periodic: bool) -> "AbstractSingularFunctions":
        """A copy whose frequencies in time fill a band evenly, as the frequencies of the sines do."""
        if not len(self.beats):
            return self
        step = np.pi if periodic else band / len(self.beats)
        return eqx.tree_at(lambda f: f.beats, self, step * np.arange(1, len(self.beats) + 1))

    @property
    def count(self) -> int:
        """The number of functions, waves in time included."""
        return self.spatial_count * (1 + 2 * len(self.beats))

    def __call__(
        self, z: Float[Array, "*n d"], along: tuple[int, ...] = ()
    ) -> Float[Array, "*n m"]:
        """The values of the functions, or their derivative along the listed axes, in unit coordinates."""
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
        """Weighted sums of the functions, or their derivative along the listed axes, on a grid of unit
        coordinates. Each function of space is evaluated once, and multiplied by its waves in time."""
        dimension, rows = len(self.middle), len(weights)
        space = np.stack(np.meshgrid(*axes[:dimension], indexing="ij"), axis=-1)
        has_time = len(axes) > dimension
        spatial_axes = tuple(axis for axis in along if axis < dimension)
        time_order = len(along) - len(spatial_axes)
        if time_order and not len(self.beats):
            return np.zeros((rows, *(len(z) for z in axes)))
        coefficients = weights.reshape(rows, self.spatial_count, -1).transpose(1, 0, 2)
        sums = _spatial_sums(
            self, space.reshape(-1, dimension), coefficients, spatial_axes, has_time
        )
        sums = sums.reshape(*space.shape[:-1], rows, -1)
        if not has_time:
            return np.moveaxis(sums[..., 0], -1, 0)
        waves = waves_on_axis(self.beats, axes[-1], time_order)
        return np.moveaxis(sums @ waves, -2, 0)

    def _values(self, z):
        spatial = self.spatial_values(z)
        if not len(self.beats):
            return spatial
        phase = z[..., -1:] * jnp.asarray(self.beats)
        waves = jnp.concatenate(
            [jnp.ones_like(z[..., -1:]), jnp.cos(phase), jnp.sin(phase)], axis=-1
        )
        product = spatial[..., :, None] * waves[..., None, :]
        return product.reshape(*product.shape[:-2], -1)


FunctionSet = TypeVar("FunctionSet", bound=AbstractSingularFunctions)


def first_of_size(candidates: Iterable[FunctionSet], max_count: int) -> FunctionSet:
    """The first candidate with at most `max_count` functions, or the last one if all have more."""
    candidate = None
    for candidate in candidates:
        if candidate.count <= max_count:
            break
    assert candidate is not None
    return candidate


class SingularFunctions(AbstractSingularFunctions):
    """The singular functions of one planar shape, at its holes and at its corners.

    A row of `wound` is one function around a hole, and a row of `rooted` is one function at a corner
    (`_hole_table`, `_corner_table`). A corner has a direction, the middle of its opening, and an angle ω.
    """

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
    def of(domain: Domain, fields: int = 1) -> "SingularFunctions | None":
        """The functions of a planar domain's shape; None where it has neither holes nor corners.

        >>> import pgt
        >>> ring = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.shapes.Disk() - pgt.shapes.Disk(radius=0.3))
        >>> functions = SingularFunctions.of(ring)
        >>> functions.count, functions(jnp.array([0.5, 0.0])).shape
        (45, (45,))
        """
        if domain.shape is None or len(domain.spatial_axes) != 2:
            return None
        middle = (domain.lower + domain.upper)[:2] / 2
        frequencies = TIME_FREQUENCIES if domain.has_time else (0, 0, 0)
        sets = zip(MAX_HOLE_ORDERS, MAX_CORNER_ORDERS, frequencies, strict=True)
        solid = Body(domain.box, domain.shape).solid
        corners = corners_of(solid)
        holes = {centres: holes_of(solid, centres) for centres in CENTRES_PER_HOLE}
        if not len(holes[1].radii) and not len(corners.angles):
            return None

        def build(centres: int, hole_orders, corner_orders, times: int) -> "SingularFunctions":
            return SingularFunctions(
                middle=middle, half_extent=domain.extent[:2] / 2, centres=holes[centres].centres,
                radii=holes[centres].radii, corners=corners.places, directions=corners.directions,
                angles=corners.angles, wound=_hole_table(hole_orders),
                rooted=_corner_table(corner_orders), beats=np.arange(1.0, times + 1),
            )  # fmt: skip

        candidates = (build(centres, *orders) for orders in sets for centres in CENTRES_PER_HOLE)
        return first_of_size(candidates, MAX_FUNCTIONS // fields)

    @property
    def spatial_count(self) -> int:
        return len(self.wound) * len(self.radii) + len(self.rooted) * len(self.angles)

    def spatial_values(self, z: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
        position = self.position(z)
        return jnp.concatenate(
            [self._hole_values(position), self._corner_values(position)], axis=-1
        )

    def _hole_values(self, position):
        log_r, theta = _polar(position[..., None, :] - self.centres)
        # A power that falls is scaled by the hole's radius, one that rises by the farthest domain corner,
        # so that neither is much larger than one in the domain.
        log_near = log_r - jnp.log(jnp.asarray(self.radii))
        farthest = jnp.abs(jnp.asarray(self.centres) - self.middle) + self.half_extent
        log_far = log_r - jnp.log(jnp.sum(farthest**2, axis=-1)) / 2
        order, falling, rising, has_log, phase = jnp.asarray(self.wound).T
        values = jnp.exp(log_near[..., None] * falling + log_far[..., None] * rising)
        values = values * jnp.cos(theta[..., None] * order - phase)
        values = values * jnp.where(has_log > 0, log_near[..., None], 1.0)
        return values.reshape(*values.shape[:-2], -1)

    def _corner_values(self, position):
        offset = (position[..., None, :] - self.corners) / jnp.max(jnp.asarray(self.half_extent))
        # θ is counted from the middle of the corner's opening.
        cos, sin = jnp.cos(jnp.asarray(self.directions)), jnp.sin(jnp.asarray(self.directions))
        x = offset[..., 0] * cos + offset[..., 1] * sin
        y = offset[..., 1] * cos - offset[..., 0] * sin
        order, rising, phase = jnp.asarray(self.rooted).T
        exponent = order * np.pi / (2 * jnp.asarray(self.angles)[:, None])
        log_r, theta = _polar(jnp.stack([x, y], axis=-1))
        values = jnp.exp(log_r[..., None] * (exponent + rising))
        values = values * jnp.cos(theta[..., None] * exponent - phase)
        return values.reshape(*values.shape[:-2], -1)


def _spatial_sums(
    functions: AbstractSingularFunctions,
    positions: Float[np.ndarray, "n k"],
    coefficients: Float[np.ndarray, "m r b"],
    along: tuple[int, ...],
    has_time: bool,
) -> Float[np.ndarray, "n r b"]:
    """The functions of space at the positions, or their derivatives, summed with the coefficients."""
    unit = np.pad(positions, ((0, 0), (0, int(has_time))))
    # Every chunk has the same shape, so that the derivative is compiled once.
    chunks = [
        _spatial_derivative(
            functions,
            jnp.resize(unit[start : start + POINTS_PER_CHUNK], (POINTS_PER_CHUNK, unit.shape[1])),
            along,
        )
        for start in range(0, len(unit), POINTS_PER_CHUNK)
    ]
    flat = coefficients.reshape(len(coefficients), -1)
    sums = [np.asarray(chunk, float) @ flat for chunk in chunks]
    return np.concatenate(sums)[: len(unit)].reshape(-1, *coefficients.shape[1:])


@compiled
def _spatial_derivative(
    functions: AbstractSingularFunctions, unit: Float[Array, "n d"], along: tuple[int, ...]
):
    def derivative(z, axes):
        if not axes:
            return functions.spatial_values(z)
        direction = jnp.zeros_like(z).at[..., axes[0]].set(1.0)
        return jax.jvp(lambda y: derivative(y, axes[1:]), (z,), (direction,))[1]

    return derivative(unit, along)


def _polar(offset):
    """log r and θ of an offset; an offset of zero is moved aside, because it has no direction."""
    x, y = offset[..., 0], offset[..., 1]
    x = jnp.where(x**2 + y**2 > MIN_DISTANCE**2, x, MIN_DISTANCE)
    return jnp.log(x**2 + y**2) / 2, jnp.arctan2(y, x)


def _hole_table(max_orders: tuple[int, ...]) -> Float[np.ndarray, "m 5"]:
    """One row for each function around a hole: the order k, the exponents of r/a and of r, whether log r
    is a factor, and the phase. `max_orders[j]` is the largest k of the functions with r^2j."""
    rows = []
    for level, max_order in enumerate(max_orders):
        for order in range(max_order + 1):
            powers = (-order, 2 * level, 0) if level < order else (0, 2 * level - order, 1)
            phases = (0.0, np.pi / 2) if order else (0.0,)
            rows += [(order, *powers, phase) for phase in phases]
    return np.array(rows, float)


def _corner_table(max_orders: tuple[int, ...]) -> Float[np.ndarray, "m 3"]:
    """One row for each function at a corner: the order k, what is added to the exponent of r, and the
    phase."""
    rows = [
        (k, 2 * level, phase)
        for level, max_order in enumerate(max_orders) for k in range(1, max_order + 1)
        for phase in (0.0, np.pi / 2)
    ]  # fmt: skip
    return np.array(rows, float)
