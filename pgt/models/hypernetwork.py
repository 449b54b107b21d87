"""`HyperSiren`: a hypernetwork that is trained once on a family and answers for many of its systems.

    readings ──tokens──► blocks with Γ ──► global tokens ──► modulation of a SIREN: a basis ψ(z)
                                                                       │
    readings ─────────────── least squares in that basis ──► its readout ──► u(z) = R ψ(z)

The encoder takes the readings of one system and writes the weights of a SIREN, whose last hidden layer is
a basis for the field of that system. The readings determine the coefficients of the basis in closed form:

    r = r₀ + L a,  a ~ N(0, 1),  readings = Ψ r + σ ε
    ⟹   a = (BᵀB + σ²)⁻¹ Bᵀ (readings − Ψ r₀),  B = Ψ L

The global tokens determine r₀, σ and the scale of L. Coordinates along periodic axes move with the flow.
The field follows the readings as closely as their noise allows, which attention alone learns slowly, and
it has a posterior spread. The result is an ordinary SIREN, which second-order steps can refine.

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

# The logarithms of the decay rate and of the angular frequency of the longest wave, before training.
LOG_DECAY_RATE, LOG_FREQUENCY = -2.0, 0.0
# The largest logarithm of a rate; a wave that decays faster vanishes at once.
MAX_LOG_RATE = 6.0


class Waves(NamedTuple):
    """The waves of one system, each with a wavenumber, a decay rate and an angular frequency.

    Rates are per unit of the last axis, which is time and starts at -1.

    >>> one = Waves(jnp.array([1.0]), jnp.zeros(0), jnp.array([jnp.pi]))
    >>> [round(float(one(jnp.array([1.0, t]))[0]), 3) for t in (-1.0, 0.0)]
    [-1.0, -0.368]
    """

    fading: Float[Array, " k"]  # decay rates
    swinging: Float[Array, " k"]  # angular frequencies; empty where waves do not oscillate
    wavenumbers: Float[Array, " k"]

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " m"]:
        """The value of each wave at z: cosines and sines along the first axis that decay in time."""
        if not len(self.fading):
            return jnp.zeros(0, z.dtype)
        elapsed = z[-1] + 1
        angle = jnp.asarray(self.wavenumbers, z.dtype) * z[0]
        decay = jnp.exp(-self.fading * elapsed)
        decaying = jnp.concatenate([decay * jnp.cos(angle), decay * jnp.sin(angle)])
        if not len(self.swinging):
            return decaying
        phase = jnp.tile(self.swinging * elapsed, 2)
        return jnp.concatenate([decaying * jnp.cos(phase), decaying * jnp.sin(phase)])


class Rates(eqx.Module):
    """The trained law log rate_k = start + power · log k + slope · numbers + own_k of the k-th wave.

    `numbers` are the dimensionless numbers of the system.
    """

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
        return jnp.exp(jnp.minimum(logs, MAX_LOG_RATE))


class Modes(eqx.Module):
    """The waves of one axis and time, with a trained dispersion relation.

    Where coefficients are constant, an equation maps each wave to itself. A wave decays at a rate that
    grows with the square of its wavenumber, as in diffusion, or oscillates at a frequency proportional to
    its wavenumber. The rates depend on the dimensionless numbers of the system. A SIREN alone does not
    learn waves that decay within a hundredth of the time span.

    >>> waves = Modes((False, False), numbers=1, count=3, swings=False)(jnp.zeros(1))
    >>> [round(float(rate), 2) for rate in waves.fading]
    [0.14, 0.54, 1.22]
    """

    periodic: bool = eqx.field(static=True)
    fading: Rates | None
    swinging: Rates | None

    def __init__(self, periodic: tuple[bool, ...], numbers: int, count: int, swings: bool):
        # There are waves only for one axis and time; in more axes there would be too many of them.
        count = count if len(periodic) == 2 and not periodic[-1] else 0
        self.periodic = periodic[0]
        self.fading = Rates(LOG_DECAY_RATE, 2.0, numbers, count) if count else None
        self.swinging = Rates(LOG_FREQUENCY, 1.0, numbers, count) if count and swings else None

    @property
    def size(self) -> int:
        """The number of functions: a cosine and a sine for each decay rate and each frequency."""
        return 2 * sum(len(rates.own) for rates in (self.fading, self.swinging) if rates)

    def __call__(self, numbers: Float[Array, " n"]) -> Waves:
        numbers, none = jnp.asarray(numbers), jnp.zeros(0)
        fading = none if self.fading is None else self.fading(numbers)
        swinging = none if self.swinging is None else self.swinging(numbers)
        orders = jnp.arange(1, len(fading) + 1)
        return Waves(fading, swinging, jnp.pi * orders * (1.0 if self.periodic else 0.5))


# ------------------------------------------------------------------------------- co-moving coordinates


class Pace(eqx.Module):
    """The trained velocity of the co-moving coordinates along periodic axes; zero before training.

        drift = gain · exp(rate · numbers) + slope · numbers

    The dimensionless numbers contain a speed by its logarithm and a mean flow by its value; the two terms
    serve one of them each. The drift is zero on axes that are not periodic, and everywhere if the last
    axis is periodic.

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
        periodic_drift = self.gain * jnp.exp(self.rate @ numbers) + self.slope @ numbers
        return drift.at[np.flatnonzero(self.moves)].set(periodic_drift)


# ------------------------------------------------------------------------------- hypernetwork

OCTAVES = 4  # The number of frequencies by which a token encodes its position.
# The least σ, in units of the spread, at which single precision can factor BᵀB + σ².
MIN_NOISE = 1e-2
# The number of solves: the first one uses that σ, the others refine the solution for a smaller σ.
SOLVES = 3
# σ before training, which is also the initial spread that is added to the posterior's.
INITIAL_NOISE = 0.05


class HyperSirenSizes(NamedTuple):
    """The sizes of a `HyperSiren`.

    The encoder has `width`, `blocks`, `heads` and global `tokens`. The SIREN has `basis` functions,
    `layers` and a `frequency`. `modes` is the number of waves that are added to the basis, over one axis
    and time, and `swings` says whether they also oscillate.

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

    Both take coordinates that move with the flow along periodic axes.
    """

    embedding: MovingEmbedding
    layers: Stack
    waves: Waves
    amplitudes: Float[Array, "c m"]

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """An empty context: the weights already depend on the readings."""
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
        """A copy with the same basis and other coefficients."""
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
        """The field of the system that the readings come from."""
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
        tokens = sequence[:g]
        tokens = tokens - jnp.mean(tokens, axis=-1, keepdims=True)
        variance = jnp.mean(tokens**2, axis=-1, keepdims=True)
        return (tokens * jax.lax.rsqrt(variance + 1e-5)).ravel()

    def solve_readout(self, readings: UnitReadings, summary: Float[Array, " gw"]) -> FieldPosterior:
        """The posterior of the readout under the noise level that the global tokens predict."""
        # GPUs round the factors of a product to 10 bits by default, which is too few for a solve.
        with jax.default_matmul_precision("highest"):
            return self._posterior(readings, summary)

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

    def _posterior(self, readings: UnitReadings, summary: Float[Array, " gw"]) -> FieldPosterior:
        network, directions, mean, noise = self.prior(readings, summary)
        features = jax.vmap(network.features)(readings.points)  # n b
        sigma = jnp.hypot(MIN_NOISE, noise)
        misfits = jnp.where(readings.mask, readings.values - features @ mean.T, 0.0)  # n c
        rows = jnp.einsum("nb,cbm->ncm", features, directions)
        rows = jnp.where(readings.mask[..., None], rows, 0.0).reshape(-1, directions.shape[-1])
        normal = rows.T @ rows + sigma**2 * jnp.eye(rows.shape[-1])
        factor = jnp.linalg.cholesky(normal)
        weights = jnp.zeros(rows.shape[-1])
        for _ in range(SOLVES):
            residual = rows.T @ (misfits.reshape(-1) - rows @ weights) - noise**2 * weights
            weights = weights + jax.scipy.linalg.cho_solve((factor, True), residual)
        network = network.with_readout(mean + directions @ weights)
        return FieldPosterior(network, factor, directions, sigma, self.spread_correction(summary))

    def _basis(
        self, summary: Float[Array, " gw"], numbers: Float[Array | np.ndarray, " k"]
    ) -> ModulatedSiren:
        """The modulated SIREN and its waves, with a readout of zero."""
        c, b = self.directions.shape[0], len(self.first_bias)
        # The first layer is modulated along each axis, so that frequencies in time and space can differ.
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
        """The standard deviation of the fields at z: that of the posterior with its correction."""
        features = context.network.features(z)
        # The factor is inverted once instead of solved at every point, because GPUs solve slowly.
        unit = jnp.eye(len(context.factor), dtype=context.factor.dtype)
        root = jax.scipy.linalg.solve_triangular(context.factor, unit, lower=True)
        readout_root = jnp.einsum("cbm,km->cbk", context.directions, root)
        field_root = jnp.einsum("b,cbk->kc", features, readout_root)
        posterior = context.sigma * jnp.sqrt(jnp.sum(field_root**2, axis=0))
        factor, additional = jnp.exp(context.correction)
        return jnp.hypot(factor * posterior, additional)

    def without_slopes(self, context: FieldPosterior) -> FieldPosterior:
        """The field with gradients stopped, except those of the correction of its spread."""
        return FieldPosterior(*jax.lax.stop_gradient(context[:-1]), context.correction)

    def tunable(self) -> tuple[()]:
        """No arrays: a fit tunes the SIREN that this network writes."""
        return ()


def _small_head(inputs: int, outputs: int, draw: Draw) -> Dense:
    """A layer with small weights, so that the SIREN starts as an ordinary one."""
    layer = Dense(inputs, outputs, draw)
    return eqx.tree_at(lambda d: d.weight, layer, 1e-2 * layer.weight)


def octaves(point: Float[Array, " e"]) -> Float[Array, " f"]:
    """A point with its sines and cosines at several frequencies; it encodes positions for attention."""
    waves = jnp.pi * 2.0 ** jnp.arange(OCTAVES)[:, None] * point
    return jnp.concatenate([point, jnp.sin(waves).ravel(), jnp.cos(waves).ravel()])
