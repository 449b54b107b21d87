r"""The `Features` model: a sum of random sines, which is linear in its weights.

A linear equation with Gaussian noise then leaves a linear least-squares problem for the weights, which
the closed form solves. The basis consists of sines with frequencies drawn from a box (`Sines`) and, for a
shape, of singular functions around its holes and at its corners (singular_functions.py in the plane,
`Multipoles` in space). Waves that satisfy the equation exactly (exact_waves.py) may replace both.
"""

import math
from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, PyTree

from pgt.core.arguments import Positive, Seed, Size
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.data.shaped_domain import Body
from pgt.geometry.wall_features import holes_of
from pgt.kernels.kernel import NoKernel
from pgt.models.exact_waves import Symbol, exact_waves, wave_vectors
from pgt.models.field_model import AbstractFrame, AbstractNetwork, UnitReadings
from pgt.models.singular_functions import (
    CENTRES_PER_HOLE,
    MIN_DISTANCE,
    AbstractSingularFunctions,
    SingularFunctions,
    first_of_size,
)
from pgt.models.tensor_grid import waves_on_grid
from pgt.nn.scaling import Scaling
from pgt.nn.trees import Frozen

# The largest degree l of multipoles, of multipoles times r², and so on; richest set first.
MAX_DEGREES = (3, 2, 1), (3, 1), (2,)
# The number of frequencies in time beside the constant, where there is time.
TIME_FREQUENCIES = 3, 3, 2
# The most multipoles of all fields together: more follow rougher fields, and make each solve slower.
MAX_MULTIPOLES = 800


class Multipoles(AbstractSingularFunctions):
    """Multipoles around the holes of a shape in space: (r/R)^{2j} (a/r)^{l+1} Y_l for l ≤ `degrees[j]`.

    a is the radius of the hole, R the distance to the farthest corner of the domain.
    """

    middle: Float[Array | np.ndarray, " 3"]
    half_extent: Float[Array | np.ndarray, " 3"]
    centres: Float[Array | np.ndarray, "h 3"]
    radii: Float[Array | np.ndarray, " h"]
    beats: Float[Array | np.ndarray, " b"]
    degrees: tuple[int, ...]

    @staticmethod
    def of(domain: Domain, fields: int = 1) -> "Multipoles | None":
        """The multipoles of a domain's shape; None where the domain has no hole in space.

        >>> import pgt
        >>> shell = pgt.shapes.Ball() - pgt.shapes.Ball(radius=0.3)
        >>> found = Multipoles.of(pgt.Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), shape=shell))
        >>> found.count
        29
        """
        if domain.shape is None or len(domain.spatial_axes) != 3:
            return None
        solid = Body(domain.box, domain.shape).solid
        holes = {centres: holes_of(solid, centres) for centres in CENTRES_PER_HOLE}
        if not len(holes[1].radii):
            return None
        middle, half = (domain.lower + domain.upper)[:3] / 2, domain.extent[:3] / 2
        sets = zip(MAX_DEGREES, TIME_FREQUENCIES if domain.has_time else (0, 0, 0), strict=True)
        candidates = (
            Multipoles(
                middle=middle, half_extent=half, centres=holes[centres].centres,
                radii=holes[centres].radii, beats=np.arange(1.0, times + 1), degrees=degrees,
            )
            for degrees, times in sets for centres in CENTRES_PER_HOLE
        )  # fmt: skip
        return first_of_size(candidates, MAX_MULTIPOLES // fields)

    @property
    def spatial_count(self) -> int:
        return len(self.radii) * sum((1 + degree) ** 2 for degree in self.degrees)

    def spatial_values(self, z: Float[Array, "*n d"]) -> Float[Array, "*n m"]:
        offset = self.position(z)[..., None, :] - self.centres  # n h 3
        square = jnp.maximum(jnp.sum(offset**2, axis=-1, keepdims=True), MIN_DISTANCE**2)
        near = jnp.asarray(self.radii)[:, None] / jnp.sqrt(square)
        farthest = jnp.abs(jnp.asarray(self.centres) - self.middle) + self.half_extent
        far = square / jnp.sum(farthest**2, axis=-1, keepdims=True)
        harmonics = _harmonics(offset / jnp.sqrt(square))
        parts = [
            far**power * near ** (degree + 1) * harmonics[degree]
            for power, max_degree in enumerate(self.degrees) for degree in range(max_degree + 1)
        ]  # fmt: skip
        values = jnp.concatenate(parts, axis=-1)
        return values.reshape(*values.shape[:-2], -1)


def _harmonics(unit):
    """The harmonic polynomials of degrees 0, 1, 2 and 3 on the unit sphere: 1, 3, 5 and 7 of them."""
    x, y, z = unit[..., 0], unit[..., 1], unit[..., 2]
    second = [x * y, y * z, z * x, (x**2 - y**2) / 2, (3 * z**2 - 1) / 2]
    third = [
        x * y * z, z * (x**2 - y**2), x * (x**2 - 3 * y**2), y * (3 * x**2 - y**2),
        x * (5 * z**2 - 1), y * (5 * z**2 - 1), z * (5 * z**2 - 3) / 2,
    ]  # fmt: skip
    return jnp.ones_like(unit[..., :1]), unit, jnp.stack(second, -1), jnp.stack(third, -1)


# ------------------------------------------------------------------------------- features


# Sines per field in one, two, ... coordinates: more follow finer detail, and make each solve slower.
SINES_PER_FIELD = (200, 600, 1200, 1600)
# The most sine weights of all fields together; it bounds the time of a solve to seconds.
MAX_SINE_WEIGHTS = 2400
# The largest frequency, in unit coordinates, with which a band search starts: two and a half waves.
FIRST_BAND = 8.0


class Sines(Frozen):
    """The basis functions φ_k(z) = sin(w_k·z + b_k) in unit coordinates; the first one is constant.

    With `growth` g, each sine is multiplied by exp(g_k·z - |g_k|₁), which is at most 1 in the domain.
    Derivatives are exact. A derivative adds a quarter of a turn to the phase and multiplies by w; with
    growth, it adds the angle of g + i w to the phase and multiplies by |g + i w|.

    `local` are the singular functions of a shape; they follow the sines.

    >>> sines = Sines.draw(4, (2.0,), (False,), seed=0)
    >>> z = jnp.array([0.3])
    >>> here, curvature = sines(z), sines(z, (0, 0))
    >>> bool(jnp.allclose(curvature, -(sines.frequencies[:, 0] ** 2) * here))
    True
    """

    frequencies: Float[Array | np.ndarray, "m d"]
    phases: Float[Array | np.ndarray, " m"]
    local: AbstractSingularFunctions | None = None
    growth: Float[Array | np.ndarray, "m d"] | None = None

    @staticmethod
    def draw(
        count: int,
        band: Sequence[float],
        periodic: Sequence[bool],
        seed: int = 0,
        local: AbstractSingularFunctions | None = None,
    ) -> "Sines":
        """`count` sines: a cosine and a sine of each frequency, which fill the box ±band evenly.

        There are fewer where all axes are periodic and the box holds fewer frequencies. On a periodic
        axis, whose unit length is 2, frequencies are whole multiples of π (exact_waves.py). The same seed
        draws the same directions for every band, so that two bands can be compared.
        """
        frequencies = wave_vectors(math.ceil(count / 2), band, periodic, seed)
        phases = np.tile([np.pi / 2, 0.0], len(frequencies))
        return Sines(np.repeat(frequencies, 2, axis=0)[:count], phases[:count], local)

    @property
    def count(self) -> int:
        """The number of basis functions, those of a shape included."""
        return len(self.phases) + (0 if self.local is None else self.local.count)

    def __call__(self, z: Float[Array, "*n d"], along: Sequence[int] = ()) -> Float[Array, "*n m"]:
        """The values of the functions, or their derivative along the listed axes, in unit coordinates."""
        if self.growth is not None:
            return self._growing_values(z, along)
        w = jnp.asarray(self.frequencies)
        factor = jnp.ones(len(w), w.dtype)
        for axis in along:
            factor = factor * w[:, axis]
        waves = factor * jnp.sin(z @ w.T + (self.phases + len(along) * math.pi / 2))
        if self.local is None:
            return waves
        return jnp.concatenate([waves, self.local(z, tuple(along))], axis=-1)

    def _growing_values(
        self, z: Float[Array, "*n d"], along: Sequence[int]
    ) -> Float[Array, "*n m"]:
        w, g = jnp.asarray(self.frequencies), jnp.asarray(self.growth)
        factor, phase = jnp.ones(len(w), w.dtype), jnp.zeros(len(w), w.dtype)
        for axis in along:
            factor = factor * jnp.hypot(g[:, axis], w[:, axis])
            phase = phase + jnp.arctan2(w[:, axis], g[:, axis])
        envelope = jnp.exp(z @ g.T - jnp.sum(jnp.abs(g), axis=1))
        return factor * envelope * jnp.sin(z @ w.T + (self.phases + phase))

    def on_grid(
        self,
        weights: Float[Array | np.ndarray, "r m"],
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
    ) -> Float[np.ndarray, "r *shape"]:
        """Weighted sums, or their derivative along the listed axes, on a grid of unit coordinates."""
        weights, count = np.asarray(weights, float), len(self.phases)
        waves = self.frequencies, self.phases
        if self.local is None:
            return waves_on_grid(*waves, weights, axes, along, self.growth)
        singular_part = self.local.on_grid(weights[:, count:], axes, tuple(along))
        return singular_part + waves_on_grid(*waves, weights[:, :count], axes, along)


def _complex_pairs(pairs: Float[np.ndarray, "*n m"]) -> Complex[np.ndarray, "*n k"]:
    """Neighboring columns joined as the real and the imaginary part of one number."""
    return pairs[..., ::2] + 1j * pairs[..., 1::2]


class FeatureNetwork(AbstractNetwork):
    """The network u(z) = A φ(z); only the matrix A is fitted."""

    sines: Sines
    readout: Float[Array | np.ndarray, "c m"]
    # The amplitudes v of the fields in each exact wave, real and imaginary part; None for sines.
    amplitudes: Float[Array | np.ndarray, "2 k c"] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the field satisfies its equation for all weights."""
        return self.amplitudes is not None

    @property
    def size(self) -> int:
        """The number of weights that a fit determines."""
        return self.readout.shape[1] if self.is_exact else self.readout.size

    def weights(self) -> Float[np.ndarray, " p"]:
        """The weights that a fit determines: the readout, or the complex weight a of each exact wave."""
        readout = np.asarray(self.readout, float)
        return readout.ravel() if self.amplitudes is None else self.tied(readout.reshape(1, -1))[0]

    def readouts(
        self, weights: Float[Array | np.ndarray, "n p"]
    ) -> Float[Array | np.ndarray, "n c m"]:
        """The readout for each row of weights; for exact waves, conj(v) a for each cosine-sine pair."""
        if self.amplitudes is None:
            return weights.reshape(len(weights), *self.readout.shape)
        pairs = _complex_pairs(np.asarray(weights, float))[:, None] * np.conj(self._amplitudes).T
        return np.stack([np.real(pairs), np.imag(pairs)], axis=-1).reshape(
            len(weights), len(pairs[0]), -1
        )

    def tied(self, rows: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "n p"]:
        """Rows of a linear map of the readout, rewritten as rows of the same map of the weights."""
        if self.amplitudes is None:
            return rows
        by_field = _complex_pairs(rows.reshape(len(rows), *self.readout.shape))
        tied = np.einsum("nck,kc->nk", by_field, self._amplitudes)
        return np.stack([np.real(tied), np.imag(tied)], axis=-1).reshape(len(rows), self.size)

    @property
    def _amplitudes(self) -> Complex[np.ndarray, "k c"]:
        real, imaginary = np.asarray(self.amplitudes, float)
        return real + 1j * imaginary

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """An empty context: the readings only enter the fit."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The sum of sines at z."""
        return jnp.asarray(self.readout) @ self.sines(z)

    def tunable(self) -> PyTree:
        """The readout A."""
        return self.readout


@register("features")
class Features(AbstractFrame):
    r"""A sum of random sines, fitted in closed form (methods/closed_form/band_search.py).

    $$ u(z) = \sum_k a_k \sin(w_k \cdot z + b_k), \qquad w_k \sim U(\pm\text{band}) $$

    For a linear equation with its conditions, readings and cell averages, the weights a solve a linear
    problem. There is no training, the posterior is exact, and smooth fields are more accurate than with
    any other model. Where the equation has no source and known constant coefficients, waves that satisfy
    it (models/exact_waves.py) are tried in place of the sines. A nonlinear equation is linearised
    repeatedly around the latest field.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    count
        The number of sines per field. None chooses it by the number of coordinates and fields.
    band
        The largest frequency along each axis in unit coordinates, where the domain is [-1, 1], or one
        number for all axes. None chooses the band of greatest evidence.
    domain
        The domain. If it has a shape, singular functions around its holes and, in the plane, at its
        corners are added to the sines (models/singular_functions.py).

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=100)
    >>> domain = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> model = Features(pgt.Scaling.fit(readings, domain), count=300, band=(14.0, 6.0))
    >>> model.network.sines.frequencies.shape
    (300, 2)
    """

    is_trained: ClassVar[bool] = False
    scaling: Scaling
    kernel: NoKernel
    network: FeatureNetwork
    band: tuple[float, ...] | None
    count: int | None
    seed: int
    local: AbstractSingularFunctions | None = None
    symbol: Symbol | None = None

    def __init__(
        self,
        scaling: Scaling,
        *,
        count: Size | None = None,
        band: Positive | Sequence[Positive] | None = None,
        seed: Seed = 0,
        domain: Domain | None = None,
    ):
        self.scaling, self.kernel = scaling, NoKernel()
        self.count, self.seed = count, seed
        self.local = None if domain is None else _singular_functions(domain, len(scaling.mean))
        self.symbol = None
        self.band, self.network = self._draw(count, band)

    def _draw(
        self, count: int | None, band: Positive | Sequence[Positive] | None
    ) -> tuple[tuple[float, ...] | None, FeatureNetwork]:
        """The band along each axis, None if the user gave none, and a new network with zero weights."""
        scaling = self.scaling
        user_band = None if band is None else _band_per_axis(band, len(scaling.middle))
        drawn_band = user_band or (FIRST_BAND,) * len(scaling.middle)
        count = count or usual_count(scaling)
        if self.symbol is not None:
            network = _exact_network(self.symbol, count, drawn_band, scaling.periodic, self.seed)
            return user_band, network
        local = self.local and self.local.within(drawn_band[-1], scaling.periodic[-1])
        sines = Sines.draw(count, drawn_band, scaling.periodic, self.seed, local)
        return user_band, FeatureNetwork(sines, np.zeros((len(scaling.mean), sines.count)))

    @checked
    def with_sines(self, count: Size, band: Sequence[Positive]) -> "Features":
        """A copy with `count` other sines, drawn from another band."""
        drawn_band, network = self._draw(count, tuple(band))
        return self._replace(count=count, band=drawn_band, network=network)

    def satisfying(self, symbol: Symbol) -> "Features | None":
        """A copy whose basis functions satisfy the equation of this symbol; None where there are none."""
        scaling = self.scaling
        if not symbol.holds_constants:
            scaling = eqx.tree_at(lambda s: s.mean, scaling, np.zeros_like(scaling.mean))
        # All fields share a wave and its weight, so the count is that of a single field.
        count = self.count or SINES_PER_FIELD[min(len(scaling.middle), len(SINES_PER_FIELD)) - 1]
        exact = self._replace(symbol=symbol, scaling=scaling, local=None, count=count)
        band, network = exact._draw(count, self.band)
        return exact._replace(band=band, network=network) if network.sines.count else None

    @checked
    def with_seed(self, seed: Seed) -> "Features":
        """A copy with as many sines from the same band, drawn with another seed."""
        reseeded = self._replace(seed=seed)
        count = self.count if self.symbol else len(self.network.sines.phases)
        _, network = reseeded._draw(count, self.band)
        return reseeded._replace(network=network)

    def on_grid(
        self,
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
        tuned: Float[Array | np.ndarray, "k c m"] | None = None,
    ) -> Float[np.ndarray, "k c *shape"] | None:
        """The fields, or their derivative, on a grid, by a few matrix products for all of its points."""
        scaling = self.scaling
        middle, half = (np.asarray(a, float) for a in (scaling.middle, scaling.half_extent))
        mean, spread = (np.asarray(a, float) for a in (scaling.mean, scaling.spread))
        unit = [(np.asarray(z, float) - m) / h for z, m, h in zip(axes, middle, half, strict=True)]
        unit_to_physical = spread / np.prod(half[list(along)])
        readouts = np.asarray(self.network.readout if tuned is None else tuned, float)
        weights = (unit_to_physical[:, None] * readouts).reshape(-1, readouts.shape[-1])
        fields = self.network.sines.on_grid(weights, unit, along)
        fields = fields.reshape(-1, len(spread), *fields.shape[1:])
        return fields if along else fields + mean.reshape(-1, *[1] * len(axes))

    def _replace(self, **changed) -> "Features":
        """A copy with these attributes changed. `__init__` does not run, because it would build the
        singular functions of the shape again."""
        copy = object.__new__(Features)
        for name in Features.__dataclass_fields__:
            object.__setattr__(copy, name, changed.get(name, getattr(self, name)))
        return copy


def _exact_network(
    symbol: Symbol, count: int, band: tuple[float, ...], periodic: tuple[bool, ...], seed: int
) -> FeatureNetwork:
    """A network of about `count` functions: a cosine and a sine of each exact wave."""
    kappa, amplitudes = exact_waves(symbol, max(count // 2, 1), band, periodic, seed)
    waves, size = np.repeat(kappa, 2, axis=0), 2 * len(kappa)
    phases = np.tile([np.pi / 2, 0.0], len(kappa))
    sines = Sines(np.imag(waves), phases, None, np.real(waves))
    parts = np.stack([np.real(amplitudes), np.imag(amplitudes)])
    return FeatureNetwork(sines, np.zeros((symbol.fields, size)), parts)


def usual_count(scaling: Scaling) -> int:
    """The default number of sines per field: larger in more coordinates, smaller for many fields."""
    dimension, fields = len(scaling.middle), len(scaling.mean)
    return min(
        SINES_PER_FIELD[min(dimension, len(SINES_PER_FIELD)) - 1], MAX_SINE_WEIGHTS // fields
    )


def _singular_functions(domain: Domain, fields: int) -> AbstractSingularFunctions | None:
    """The singular functions of the domain's shape, in the plane or in space."""
    return SingularFunctions.of(domain, fields) or Multipoles.of(domain, fields)


def _band_per_axis(band, dimension: int) -> tuple[float, ...]:
    """The largest frequency along each axis; raise where there is not one positive number for each."""
    values = (band,) * dimension if np.ndim(band) == 0 else tuple(band)
    if len(values) != dimension or not all(0 < b < math.inf for b in values):
        raise InputError(
            f"Features(band={band!r}): write one number above 0, or one for each of the {dimension} "
            "coordinates."
        )
    return tuple(float(b) for b in values)
