"""A network that produces a network: one set of weights, trained once, answers for many systems.

    readings ──tokens──► blocks with Γ ──► global tokens ──► modulation of a SIREN: a basis ψ(z)
                                                                       │
    readings ─────────────── least squares in that basis ──► its readout ──► u(z) = R ψ(z)

The encoder chooses the functions that the field of this system is a sum of. The readings determine the
coefficients of the sum in closed form:

    r = r₀ + L a,  a ~ N(0, 1),  readings = Ψ r + σ ε
    ⟹   a = (BᵀB + σ²)⁻¹ Bᵀ (readings − Ψ r₀),  B = Ψ L

The global tokens determine r₀, σ and the scale of L. Coordinates along periodic axes are co-moving.
The field passes through the readings as closely as their noise allows, which attention
alone learns slowly, and it has a posterior spread. The result is an ordinary SIREN, which second-order
steps can refine.

Shapes in trailing comments: n readings, w width of the encoder, g global tokens, b width of the basis,
c fields.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.models.field_model import AbstractNetwork, UnitReadings
from pgt.nn.attention import Block, Dense, Mlp, Stack
from pgt.nn.layers import Draw, Embedding, MovingEmbedding, first_weights, hidden_weights, phases

FADES, SWINGS = -2.0, 0.0  # logarithms of the rates of the longest wave, before training
LARGEST = 6.0  # of them: what fades faster is over at once


class Waves(NamedTuple):
    """The waves of one system: of each, how fast it fades and swings while the last axis goes by 1.

    >>> one = Waves(jnp.array([1.0]), jnp.zeros(0), jnp.array([jnp.pi]))
    >>> [round(float(one(jnp.array([1.0, t]))[0]), 3) for t in (-1.0, 0.0)]
    [-1.0, -0.368]
    """

    fading: Float[Array, " k"]
    swinging: Float[Array, " k"]  # none where nothing swings
    wavenumbers: Float[Array, " k"]

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " m"]:
        """Sines and cosines along the first axis, times what is left of them at the last one."""
        if not len(self.fading):
            return jnp.zeros(0, z.dtype)
        since = z[-1] + 1
        angle = jnp.asarray(self.wavenumbers, z.dtype) * z[0]
        left = jnp.exp(-self.fading * since)
        along = jnp.concatenate([left * jnp.cos(angle), left * jnp.sin(angle)])
        if not len(self.swinging):
            return along
        turned = jnp.tile(self.swinging * since, 2)
        return jnp.concatenate([along * jnp.cos(turned), along * jnp.sin(turned)])


class Rates(eqx.Module):
    """log rate_k = start + power · log k + slope · numbers + own_k, of which training finds the parts."""

    start: Float[Array, ""]
    power: Float[Array, ""]
    slope: Float[Array, " n"]
    own: Float[Array, " k"]

    def __init__(self, start: float, power: float, numbers: int, count: int):
        self.start, self.power = jnp.asarray(start), jnp.asarray(power)
        self.slope, self.own = jnp.zeros(numbers), jnp.zeros(count)

    def __call__(self, numbers: Float[Array, " n"]) -> Float[Array, " k"]:
        orders = jnp.log(jnp.arange(1, len(self.own) + 1))
        logs = self.start + self.power * orders + self.slope @ numbers + self.own
        return jnp.exp(jnp.minimum(logs, LARGEST))


class Modes(eqx.Module):
    """Waves of a line or a ring, with a law of dispersion that training finds.

    Where coefficients are constant, an equation takes every wave for itself: it fades, as in diffusion,
    with the square of its wavenumber, or swings in proportion to it. Which rates these are the numbers
    of the equation tell. A mode that fades within a hundredth of the time is more than a SIREN learns.

    >>> waves = Modes((False, False), numbers=1, count=3, swings=False)(jnp.zeros(1))
    >>> [round(float(rate), 2) for rate in waves.fading]
    [0.14, 0.54, 1.22]
    """

    periodic: bool = eqx.field(static=True)
    fading: Rates | None
    swinging: Rates | None

    def __init__(self, periodic: tuple[bool, ...], numbers: int, count: int, swings: bool):
        # Of one axis and a time: the waves of more axes are too many to have them all.
        count = count if len(periodic) == 2 and not periodic[-1] else 0
        self.periodic = periodic[0]
        self.fading = Rates(FADES, 2.0, numbers, count) if count else None
        self.swinging = Rates(SWINGS, 1.0, numbers, count) if count and swings else None

    @property
    def size(self) -> int:
        """How many functions that are."""
        return 2 * sum(len(rates.own) for rates in (self.fading, self.swinging) if rates)

    def __call__(self, numbers: Float[Array, " n"]) -> Waves:
        told, none = jnp.asarray(numbers), jnp.zeros(0)
        fading = none if self.fading is None else self.fading(told)
        swinging = none if self.swinging is None else self.swinging(told)
        orders = jnp.arange(1, len(fading) + 1)
        return Waves(fading, swinging, jnp.pi * orders * (1.0 if self.periodic else 0.5))


# ------------------------------------------------------------------------------- co moving

# How fast a pattern goes round, told by the numbers of its equation.


class Pace(eqx.Module):
    """The drift along periodic axes while the last axis goes by 1; at first none.

    A speed is among the dimensionless numbers by its logarithm, a mean flow as it is: so

        drift = gain · exp(rate · numbers) + slope · numbers,

    of which training finds the parts. Where nothing goes round, or the last axis does, there is none.

    >>> Pace((True, False), numbers=2)(jnp.ones(2)).tolist()
    [0.0, 0.0]
    """

    moves: tuple[bool, ...] = eqx.field(static=True)
    gain: Float[Array, " p"]
    rate: Float[Array, "p k"]
    slope: Float[Array, "p k"]

    def __init__(self, periodic: tuple[bool, ...], numbers: int):
        self.moves = tuple(wraps and not periodic[-1] for wraps in periodic)
        count = sum(self.moves)
        self.gain = jnp.zeros(count)
        self.rate = jnp.zeros((count, numbers))
        self.slope = jnp.zeros((count, numbers))

    def __call__(self, numbers: Float[Array, " k"]) -> Float[Array, " d"]:
        drift = jnp.zeros(len(self.moves))
        if not any(self.moves):
            return drift
        numbers = jnp.asarray(numbers)
        found = self.gain * jnp.exp(self.rate @ numbers) + self.slope @ numbers
        return drift.at[np.flatnonzero(self.moves)].set(found)


# ------------------------------------------------------------------------------- hypernetwork

# A network that produces a network: one set of weights, trained once, answers for many systems.
#
#     readings ──tokens──► blocks with Γ ──► global tokens ──► modulation of a SIREN: a basis ψ(z)
#                                                                        │
#     readings ─────────────── least squares in that basis ──► its readout ──► u(z) = R ψ(z)
#
# The encoder chooses the functions that the field of this system is a sum of. The readings
# determine the coefficients of the sum in closed form:
#
#     r = r₀ + L a,  a ~ N(0, 1),  readings = Ψ r + σ ε
#     ⟹   a = (BᵀB + σ²)⁻¹ Bᵀ (readings − Ψ r₀),  B = Ψ L
#
# The global tokens determine r₀, σ and the scale of L. Coordinates along periodic axes are co-
# moving. The field passes through the readings as closely as their noise allows,
# which attention alone learns slowly, and it has a posterior spread. The result is an ordinary
# SIREN, which second-order steps can refine.
#
# Shapes in trailing comments: n readings, w width of the encoder, g global tokens, b width of the
# basis, c fields.


OCTAVES = 4  # The number of frequencies by which a token encodes its position.
MIN_NOISE = (
    1e-2  # The least σ, in units of the spread, at which single precision can factor BᵀB + σ².
)
SOLVES = (
    3  # The first solve uses that σ; the others are iterative refinement down to a smaller one.
)
INITIAL_NOISE = 0.05  # σ before training, and the spread on top of the posterior's.


class HyperSirenSizes(NamedTuple):
    """The sizes of a `HyperSiren`: width, blocks, heads and global tokens of the encoder; width (the
    number of basis functions), layers and frequency of the SIREN; `modes` is the number of waves beside
    it with decay rates of their own, over one axis and time, and `swings` says whether they oscillate.

    >>> HyperSirenSizes(basis=64).layers
    3
    """

    width: int = 96
    blocks: int = 3
    heads: int = 4
    tokens: int = 4
    basis: int = 48
    layers: int = 3
    frequency: float = 6.0
    modes: int = 0
    swings: bool = False


class ModulatedSiren(AbstractNetwork):
    """The SIREN of one system plus its waves: u = layers(z) + amplitudes · waves(z).

    Both see co-moving coordinates along periodic axes.
    """

    embedding: MovingEmbedding
    layers: Stack
    waves: Waves
    amplitudes: Float[Array, "c m"]

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """Nothing: the weights depend on the readings already."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The field at z."""
        field = self.layers(self.embedding(z))
        return field + self.waves(self.embedding.moved(z)) @ self.amplitudes.T

    def features(self, z: Float[Array, " d"]) -> Float[Array, " b"]:
        """The basis functions at z: the last hidden layer, the waves, and 1."""
        h = self.layers.features(self.embedding(z))
        return jnp.concatenate([h, self.waves(self.embedding.moved(z)), jnp.ones(1, h.dtype)])

    def with_readout(self, readout: Float[Array, "c b"]) -> "ModulatedSiren":
        """The same basis with other coefficients."""
        width = self.layers.readout.shape[1]
        parts = readout[:, :width], readout[:, -1], readout[:, width:-1]
        where = lambda n: (n.layers.readout, n.layers.offset, n.amplitudes)  # noqa: E731
        return eqx.tree_at(where, self, parts)

    def tunable(self) -> tuple[Stack, Float[Array, "c m"]]:
        """The SIREN's layers and the amplitudes of the waves."""
        return self.layers, self.amplitudes


class FieldPosterior(NamedTuple):
    """The field of one system, and the Gaussian posterior of its readout."""

    network: ModulatedSiren
    factor: Float[Array, "m m"]  # Cholesky factor of BᵀB + σ²
    directions: Float[Array, "c b m"]  # L
    sigma: Float[Array, ""]
    correction: Float[Array, " 2"]  # log of a factor on the spread, log of an additional spread


class HyperSiren(AbstractNetwork):
    """The encoder and the SIREN that it modulates, in unit coordinates and standardized values.

    >>> from pgt.kernels.kernel import NoKernel
    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> sizes = HyperSirenSizes(width=8, blocks=1, basis=6)
    >>> network = HyperSiren(Embedding((False, False)), 1, 0, sizes, Draw(0))
    >>> seen = pgt.extend.Frame(scaling, network).unit_readings(readings)
    >>> field = eqx.filter_jit(network.encode)(seen)
    >>> network.decode(field, seen.points[0]).shape, bool(network.spread(field, seen.points[0])[0] > 0)
    ((1,), True)
    """

    embedding: Embedding
    # Tokens
    embed_value: Float[Array, "w c"]
    embed_hidden: Float[Array, "w c"]
    embed_point: Dense
    embed_numbers: Mlp
    pace: Pace
    modes: Modes
    global_tokens: Float[Array, "g w"]
    blocks: Block  # stacked
    # The SIREN before modulation
    first_weight: Float[Array, "b e"]
    first_bias: Float[Array, " b"]
    hidden_weight: Float[Array, "hidden b b"]
    hidden_bias: Float[Array, "hidden b"]
    directions: Float[Array, "c b m"]
    # Heads on the global tokens
    modulation: Dense
    mean_head: Dense
    scale_head: Dense
    noise_head: Dense
    spread_head: Dense

    noise_sources = ("encoder", "evidence")  # where the noise level of a readout may come from

    def __init__(
        self, embedding: Embedding, fields: int, numbers: int, sizes: HyperSirenSizes, draw: Draw
    ):
        c, w, b, e = fields, sizes.width, sizes.basis, embedding.size
        self.modes = Modes(embedding.periodic, numbers, sizes.modes, sizes.swings)
        hidden, functions = sizes.layers - 1, b + self.modes.size + 1
        m = c * functions
        self.embedding = embedding
        self.embed_value = draw.normal((w, c), c**-0.5)
        self.embed_hidden = draw.normal((w, c), c**-0.5)
        self.embed_point = Dense(e * (1 + 2 * OCTAVES), w, draw)
        self.embed_numbers = Mlp(numbers + 1, w, w, "gelu", draw)
        self.pace = Pace(embedding.periodic, numbers)
        self.global_tokens = draw.normal((sizes.tokens, w), 1.0)
        layers = [Block(w, sizes.heads, draw) for _ in range(sizes.blocks)]
        self.blocks = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *layers)
        self.first_weight = first_weights(e, b, sizes.frequency, draw)
        self.first_bias = phases(b, draw)
        self.hidden_weight = hidden_weights(hidden, b, draw)
        self.hidden_bias = draw.uniform((hidden, b), b**-0.5)
        eye = np.eye(m, dtype=np.float32).reshape(c, functions, m)
        self.directions = jnp.asarray(eye * (2 / b) ** 0.5)
        inputs = sizes.tokens * w
        self.modulation = _small_head(inputs, b * (e + 1) + 2 * b * hidden, draw)
        self.mean_head = _small_head(inputs, m, draw)
        self.scale_head = _small_head(inputs, m, draw)
        self.noise_head = _small_head(inputs, 1, draw)
        self.spread_head = _small_head(inputs, 2, draw)

    # ------------------------------------------------------------------ encoder

    def encode(self, readings: UnitReadings) -> FieldPosterior:
        """Readings → the field of their system."""
        return self.solve_readout(readings, self.summarize(readings))

    def summarize(self, readings: UnitReadings) -> Float[Array, " gw"]:
        """The global tokens after they have attended to all readings, normalized."""
        count = jnp.log1p(jnp.sum(readings.visible)) / 4
        numbers = self.embed_numbers(jnp.append(jnp.asarray(readings.numbers), count))
        tokens = (
            readings.values @ self.embed_value.T
            + (1.0 - readings.mask) @ self.embed_hidden.T
            + jax.vmap(lambda z: self.embed_point(octaves(self.embedding(z))))(readings.points)
        )
        g = len(self.global_tokens)
        sequence = jnp.concatenate([self.global_tokens, tokens]) + numbers
        bias = readings.guided(readings.points, readings.points, readings.visible, g)
        stacked, plain = eqx.partition(self.blocks, eqx.is_array)
        sequence, _ = jax.lax.scan(
            lambda s, layer: (eqx.combine(layer, plain)(s, bias), None), sequence, stacked
        )
        found = sequence[:g]
        found = found - jnp.mean(found, axis=-1, keepdims=True)
        size = jnp.mean(found**2, axis=-1, keepdims=True)
        return (found * jax.lax.rsqrt(size + 1e-5)).ravel()

    def solve_readout(self, readings: UnitReadings, summary: Float[Array, " gw"]) -> FieldPosterior:
        """The posterior of the readout under the noise level that the global tokens predict."""
        # GPUs round the factors of a product to 10 bits by default, which is too few for a solve.
        with jax.default_matmul_precision("highest"):
            return self._solved(readings, summary)

    def prior(self, readings: UnitReadings, summary: Float[Array, " gw"]):
        """The basis network, L, r₀ and σ that the global tokens predict."""
        network = self._basis(summary, readings.numbers)
        directions = self.directions * jnp.exp(self.scale_head(summary))  # c b m
        mean = self.mean_head(summary).reshape(directions.shape[:2])  # c b
        return network, directions, mean, INITIAL_NOISE * jnp.exp(self.noise_head(summary)[0])

    def spread_correction(self, summary: Float[Array, " gw"]) -> Float[Array, " 2"]:
        """The correction of the posterior's spread; its training must not change the field."""
        initial = jnp.log(jnp.array([1.0, INITIAL_NOISE]))
        return self.spread_head(jax.lax.stop_gradient(summary)) + initial

    def _solved(self, readings: UnitReadings, summary: Float[Array, " gw"]) -> FieldPosterior:
        network, directions, mean, noise = self.prior(readings, summary)
        features = jax.vmap(network.features)(readings.points)  # n b
        sigma = jnp.hypot(MIN_NOISE, noise)
        misses = jnp.where(readings.mask, readings.values - features @ mean.T, 0.0)  # n c
        rows = jnp.einsum("nb,cbm->ncm", features, directions)
        rows = jnp.where(readings.mask[..., None], rows, 0.0).reshape(-1, directions.shape[-1])
        normal = rows.T @ rows + sigma**2 * jnp.eye(rows.shape[-1])
        factor = jnp.linalg.cholesky(normal)
        weights = jnp.zeros(rows.shape[-1])
        for _ in range(SOLVES):
            left = rows.T @ (misses.reshape(-1) - rows @ weights) - noise**2 * weights
            weights = weights + jax.scipy.linalg.cho_solve((factor, True), left)
        network = network.with_readout(mean + directions @ weights)
        return FieldPosterior(network, factor, directions, sigma, self.spread_correction(summary))

    def _basis(
        self, summary: Float[Array, " gw"], numbers: Float[Array | np.ndarray, " k"]
    ) -> ModulatedSiren:
        """The modulated SIREN and its waves, with a readout of zero."""
        c, b = self.directions.shape[0], len(self.first_bias)
        # Along every axis by itself: a frequency in time is modulated apart from one in space.
        first, hidden = jnp.split(self.modulation(summary), [b * (self.embedding.size + 1)])
        first = first.reshape(b, -1)  # b e+1
        scale, shift = jnp.split(hidden.reshape(-1, 2 * b), 2, axis=-1)  # hidden b
        layers = Stack(
            first_weight=(1 + first[:, 1:]) * self.first_weight,
            first_bias=self.first_bias + first[:, 0],
            hidden_weight=(1 + scale)[..., None] * self.hidden_weight,
            hidden_bias=self.hidden_bias + shift,
            readout=jnp.zeros((c, b)),
            offset=jnp.zeros(c),
            activation="sine",
        )
        numbers = jnp.asarray(numbers)
        embedding = MovingEmbedding(self.embedding.periodic, self.pace(numbers))
        return ModulatedSiren(
            embedding, layers, self.modes(numbers), jnp.zeros((c, self.modes.size))
        )

    # ------------------------------------------------------------------ decoder

    def decode(self, context: FieldPosterior, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The mean field at z."""
        with jax.default_matmul_precision("highest"):
            return context.network.decode((), z)

    def spread(self, context: FieldPosterior, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """σ of the fields at z: that of the posterior with its correction."""
        features = context.network.features(z)
        # The factor is inverted once and not solved at every point: GPUs solve slowly.
        unit = jnp.eye(len(context.factor), dtype=context.factor.dtype)
        root = jax.scipy.linalg.solve_triangular(context.factor, unit, lower=True)
        ways = jnp.einsum("cbm,km->cbk", context.directions, root)
        along = jnp.einsum("b,cbk->kc", features, ways)
        own = context.sigma * jnp.sqrt(jnp.sum(along**2, axis=0))
        factor, more = jnp.exp(context.correction)
        return jnp.hypot(factor * own, more)

    def without_slopes(self, context: FieldPosterior) -> FieldPosterior:
        """The field as its spread is trained on it: with the correction of the spread alone to learn."""
        return FieldPosterior(*jax.lax.stop_gradient(context[:-1]), context.correction)

    def tunable(self) -> tuple[()]:
        """Nothing: a fit tunes the SIREN that this network produces."""
        return ()


def _small_head(inputs: int, outputs: int, draw: Draw) -> Dense:
    """A layer with small weights, so that the SIREN starts as an ordinary one."""
    layer = Dense(inputs, outputs, draw)
    return eqx.tree_at(lambda d: d.weight, layer, 1e-2 * layer.weight)


def octaves(point: Float[Array, " e"]) -> Float[Array, " f"]:
    """A point and its sines and cosines of several frequencies, by which attention tells places apart."""
    waves = jnp.pi * 2.0 ** jnp.arange(OCTAVES)[:, None] * point
    return jnp.concatenate([point, jnp.sin(waves).ravel(), jnp.cos(waves).ravel()])
