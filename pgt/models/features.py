"""Random sines: a model that is linear in its weights, so that a linear equation needs one solve."""

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
from pgt.models.local import (
    CENTRES,
    CLOSEST,
    AbstractLocal,
    Local,
    first_of_size,
)
from pgt.models.tensor_grid import waves_on_grid
from pgt.nn.scaling import Scaling
from pgt.nn.trees import Frozen

# The largest l of multipoles, of those times r², and so on; fewer where there are many holes or fields.
DEGREES = (3, 2, 1), (3, 1), (2,)
TIMES = 3, 3, 2  # frequencies beside the constant, where there is time
MAX_MULTIPOLES = 800  # functions, those of all fields together


class Multipoles(AbstractLocal):
    """The functions around the holes of a shape in space; `degrees[j]` is the largest l of r^{2j}."""

    middle: Float[Array | np.ndarray, " 3"]
    half_extent: Float[Array | np.ndarray, " 3"]
    centres: Float[Array | np.ndarray, "h 3"]
    radii: Float[Array | np.ndarray, " h"]
    beats: Float[Array | np.ndarray, " b"]
    degrees: tuple[int, ...]

    @staticmethod
    def of(domain: Domain, fields: int = 1) -> "Multipoles | None":
        """None where the domain has no hole in space.

        >>> import pgt
        >>> shell = pgt.shapes.Ball() - pgt.shapes.Ball(radius=0.3)
        >>> found = Multipoles.of(pgt.Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), shape=shell))
        >>> found.count
        29
        """
        if domain.shape is None or len(domain.spatial_axes) != 3:
            return None
        solid = Body(domain.box, domain.shape).solid
        holes = {most: holes_of(solid, most) for most in CENTRES}
        if not len(holes[1].radii):
            return None
        middle, half = (domain.lower + domain.upper)[:3] / 2, domain.extent[:3] / 2
        tables = zip(DEGREES, TIMES if domain.has_time else (0, 0, 0), strict=True)
        sizes = (
            Multipoles(
                middle=middle, half_extent=half, centres=holes[most].centres,
                radii=holes[most].radii, beats=np.arange(1.0, times + 1), degrees=degrees,
            )
            for degrees, times in tables for most in CENTRES
        )  # fmt: skip
        return first_of_size(sizes, MAX_MULTIPOLES // fields)

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


# ------------------------------------------------------------------------------- features

# Random sines: a model that is linear in its weights, so that a linear equation needs one solve.


SINES_PER_FIELD = (200, 600, 1200, 1600)  # sines per field in one, two, ... coordinates
MAX_SINE_WEIGHTS = 2400  # in all fields
FIRST_BAND = 8.0  # in unit coordinates, from where a search begins: two and a half waves


class Sines(Frozen):
    """φ_k(z) = sin(w_k·z + b_k) in unit coordinates; the first is constant.

    With `growth` g, each times exp(g_k·z - |g_k|₁), which is 1 at the corner where it is largest.
    Derivatives are exact: each adds a quarter of a wave to the phase and a factor w; with growth, the
    phase and the size of g + i w.

    >>> sines = Sines.draw(4, (2.0,), (False,), seed=0)
    >>> z = jnp.array([0.3])
    >>> here, curvature = sines(z), sines(z, (0, 0))
    >>> bool(jnp.allclose(curvature, -(sines.frequencies[:, 0] ** 2) * here))
    True
    """

    frequencies: Float[Array | np.ndarray, "m d"]
    phases: Float[Array | np.ndarray, " m"]
    local: AbstractLocal | None = None
    growth: Float[Array | np.ndarray, "m d"] | None = None

    @staticmethod
    def draw(
        count: int,
        band: Sequence[float],
        periodic: Sequence[bool],
        seed: int = 0,
        local: AbstractLocal | None = None,
    ) -> "Sines":
        """`count` sines, a sine and a cosine of every frequency, which fill the box ±band evenly; fewer
        where all axes are periodic and there are no more.

        On a periodic axis, whose unit length is 2, frequencies are whole multiples of π
        (wave_vectors.py). The same seed draws the same directions whatever the band, so that two bands
        can be compared.
        """
        frequencies = wave_vectors(math.ceil(count / 2), band, periodic, seed)
        phases = np.tile([np.pi / 2, 0.0], len(frequencies))
        return Sines(np.repeat(frequencies, 2, axis=0)[:count], phases[:count], local)

    @property
    def count(self) -> int:
        """How many functions, those of a shape included."""
        return len(self.phases) + (0 if self.local is None else self.local.count)

    def __call__(self, z: Float[Array, "*n d"], along: Sequence[int] = ()) -> Float[Array, "*n m"]:
        """The sines, or their derivative along the axes listed, in unit coordinates."""
        if self.growth is not None:
            return self._growing(z, along)
        w = jnp.asarray(self.frequencies)
        factor = jnp.ones(len(w), w.dtype)
        for axis in along:
            factor = factor * w[:, axis]
        waves = factor * jnp.sin(z @ w.T + (self.phases + len(along) * math.pi / 2))
        if self.local is None:
            return waves
        return jnp.concatenate([waves, self.local(z, tuple(along))], axis=-1)

    def _growing(self, z: Float[Array, "*n d"], along: Sequence[int]) -> Float[Array, "*n m"]:
        w, g = jnp.asarray(self.frequencies), jnp.asarray(self.growth)
        size, turn = jnp.ones(len(w), w.dtype), jnp.zeros(len(w), w.dtype)
        for axis in along:
            size = size * jnp.hypot(g[:, axis], w[:, axis])
            turn = turn + jnp.arctan2(w[:, axis], g[:, axis])
        envelope = jnp.exp(z @ g.T - jnp.sum(jnp.abs(g), axis=1))
        return size * envelope * jnp.sin(z @ w.T + (self.phases + turn))

    def on_grid(
        self,
        weights: Float[Array | np.ndarray, "r m"],
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
    ) -> Float[np.ndarray, "r *shape"]:
        """Weighted sums, or their derivative along axes, on the grid of these unit positions."""
        weights, count = np.asarray(weights, float), len(self.phases)
        if self.local is None:
            own = self.frequencies, self.phases
            return waves_on_grid(*own, weights, axes, along, self.growth)
        others = self.local.on_grid(weights[:, count:], axes, tuple(along))
        own = weights[:, :count]
        return others + waves_on_grid(self.frequencies, self.phases, own, axes, along)


def _complex(pairs: Float[np.ndarray, "*n m"]) -> Complex[np.ndarray, "*n k"]:
    """Neighbors as real and imaginary part."""
    return pairs[..., ::2] + 1j * pairs[..., 1::2]


class FeatureNetwork(AbstractNetwork):
    """u(z) = A φ(z): only A is ever fitted."""

    sines: Sines
    readout: Float[Array | np.ndarray, "c m"]
    # Of waves that satisfy a system of equations: the fields in each of them, real and imaginary part.
    amplitudes: Float[Array | np.ndarray, "2 k c"] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the field satisfies its equation whatever the weights."""
        return self.amplitudes is not None

    @property
    def size(self) -> int:
        """How many weights there are to be found."""
        return self.readout.shape[1] if self.is_exact else self.readout.size

    def weights(self) -> Float[np.ndarray, " p"]:
        """What the fit finds: the readout, or the real and imaginary parts of the waves."""
        readout = np.asarray(self.readout, float)
        return readout.ravel() if self.amplitudes is None else self.tied(readout.reshape(1, -1))[0]

    def readouts(
        self, weights: Float[Array | np.ndarray, "n p"]
    ) -> Float[Array | np.ndarray, "n c m"]:
        """The readout that belongs to each row of weights: conj(v) a in a pair of a cosine and a sine."""
        if self.amplitudes is None:
            return weights.reshape(len(weights), *self.readout.shape)
        found = _complex(np.asarray(weights, float))[:, None] * np.conj(self._amplitudes).T
        return np.stack([np.real(found), np.imag(found)], axis=-1).reshape(
            len(weights), len(found[0]), -1
        )

    def tied(self, rows: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "n p"]:
        """Rows that act on the readout as rows that act on the weights."""
        if self.amplitudes is None:
            return rows
        by_field = _complex(rows.reshape(len(rows), *self.readout.shape))
        found = np.einsum("nck,kc->nk", by_field, self._amplitudes)
        return np.stack([np.real(found), np.imag(found)], axis=-1).reshape(len(rows), self.size)

    @property
    def _amplitudes(self) -> Complex[np.ndarray, "k c"]:
        real, imaginary = np.asarray(self.amplitudes, float)
        return real + 1j * imaginary

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """Nothing: the readings only enter the fit."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The sum of sines at z."""
        return jnp.asarray(self.readout) @ self.sines(z)

    def tunable(self) -> PyTree:
        """The weights of the sum."""
        return self.readout


@register("features")
class Features(AbstractFrame):
    r"""A sum of random sines, fitted in closed form (methods/closed_form/band_search.py).

    $$ u(z) = \sum_k a_k \sin(w_k \cdot z + b_k), \qquad w_k \sim U(\pm\text{band}) $$

    Of a linear equation, with its conditions, readings and cell averages, this leaves a linear problem
    for the weights a: no training, a posterior that is exact, and the most accurate model there is for
    smooth fields. Where such an equation has no source and known constant coefficients, waves that
    satisfy it (models/exact_waves.py) are tried in place of the sines. Nonlinear equations are linearised
    again and again around the field found so far.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    count
        The number of sines per field; None: by the number of coordinates and fields.
    band
        The largest frequency along each axis in unit coordinates, where the domain is [-1, 1]; or one
        for all axes. None: the one under which the readings are most probable.
    domain
        Where it has a shape, functions that wind around its holes, and in the plane such as are rough
        at its corners, are added to the sines (models/local.py, models/features.py).

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
    local: AbstractLocal | None = None
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
        self.local = None if domain is None else _local(domain, len(scaling.mean))
        self.symbol = None
        self.band, self.network = self._drawn(count, band)

    def _drawn(
        self, count: int | None, band: Positive | Sequence[Positive] | None
    ) -> tuple[tuple[float, ...] | None, FeatureNetwork]:
        scaling = self.scaling
        given = None if band is None else _per_axis(band, len(scaling.middle))
        chosen = given or (FIRST_BAND,) * len(scaling.middle)
        count = count or usual_count(scaling)
        if self.symbol is not None:
            return given, _exact(self.symbol, count, chosen, scaling.periodic, self.seed)
        local = self.local and self.local.within(chosen[-1], scaling.periodic[-1])
        sines = Sines.draw(count, chosen, scaling.periodic, self.seed, local)
        return given, FeatureNetwork(sines, np.zeros((len(scaling.mean), sines.count)))

    @checked
    def with_sines(self, count: Size, band: Sequence[Positive]) -> "Features":
        """The same with other sines."""
        drawn, network = self._drawn(count, tuple(band))
        return self._but(count=count, band=drawn, network=network)

    def satisfying(self, symbol: Symbol) -> "Features | None":
        """The same with waves that satisfy an equation in place of sines; None where there are none."""
        scaling = self.scaling
        if not symbol.holds_constants:
            scaling = eqx.tree_at(lambda s: s.mean, scaling, np.zeros_like(scaling.mean))
        # All fields share a wave and its weight: as many as there are sines of a single field.
        count = self.count or SINES_PER_FIELD[min(len(scaling.middle), len(SINES_PER_FIELD)) - 1]
        other = self._but(symbol=symbol, scaling=scaling, local=None, count=count)
        band, network = other._drawn(count, self.band)
        return other._but(band=band, network=network) if network.sines.count else None

    @checked
    def with_seed(self, seed: Seed) -> "Features":
        """The same with as many sines of the same band, drawn anew."""
        other = self._but(seed=seed)
        count = self.count if self.symbol else len(self.network.sines.phases)
        _, network = other._drawn(count, self.band)
        return other._but(network=network)

    def on_grid(
        self,
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
        tuned: Float[Array | np.ndarray, "k c m"] | None = None,
    ) -> Float[np.ndarray, "k c *shape"] | None:
        """The sines factorize on a grid: a few matrix products for all of its points."""
        scaling = self.scaling
        middle, half = (np.asarray(a, float) for a in (scaling.middle, scaling.half_extent))
        mean, spread = (np.asarray(a, float) for a in (scaling.mean, scaling.spread))
        unit = [(np.asarray(z, float) - m) / h for z, m, h in zip(axes, middle, half, strict=True)]
        size = spread / np.prod(half[list(along)])
        readouts = np.asarray(self.network.readout if tuned is None else tuned, float)
        weights = (size[:, None] * readouts).reshape(-1, readouts.shape[-1])
        found = self.network.sines.on_grid(weights, unit, along)
        found = found.reshape(-1, len(spread), *found.shape[1:])
        return found if along else found + mean.reshape(-1, *[1] * len(axes))

    def _but(self, **changed) -> "Features":
        """The same but for what changed; the functions of a shape are found once."""
        other = object.__new__(Features)
        for name in Features.__dataclass_fields__:
            object.__setattr__(other, name, changed.get(name, getattr(self, name)))
        return other


def _exact(
    symbol: Symbol, count: int, band: tuple[float, ...], periodic: tuple[bool, ...], seed: int
) -> FeatureNetwork:
    """About half as many waves, a cosine and a sine of each."""
    kappa, amplitudes = exact_waves(symbol, max(count // 2, 1), band, periodic, seed)
    waves, size = np.repeat(kappa, 2, axis=0), 2 * len(kappa)
    phases = np.tile([np.pi / 2, 0.0], len(kappa))
    sines = Sines(np.imag(waves), phases, None, np.real(waves))
    parts = np.stack([np.real(amplitudes), np.imag(amplitudes)])
    return FeatureNetwork(sines, np.zeros((symbol.fields, size)), parts)


def usual_count(scaling: Scaling) -> int:
    """Sines per field: more in more coordinates, but no more in all than a solve of seconds allows."""
    dimension, fields = len(scaling.middle), len(scaling.mean)
    return min(
        SINES_PER_FIELD[min(dimension, len(SINES_PER_FIELD)) - 1], MAX_SINE_WEIGHTS // fields
    )


def _local(domain: Domain, fields: int) -> AbstractLocal | None:
    """The functions of a shape, in the plane or in space."""
    return Local.of(domain, fields) or Multipoles.of(domain, fields)


def _per_axis(band, dimension: int) -> tuple[float, ...]:
    values = (band,) * dimension if np.ndim(band) == 0 else tuple(band)
    if len(values) != dimension or not all(0 < b < math.inf for b in values):
        raise InputError(
            f"Features(band={band!r}): write one number above 0, or one for each of the {dimension} "
            "coordinates."
        )
    return tuple(float(b) for b in values)
