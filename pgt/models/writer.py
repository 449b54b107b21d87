"""A network that writes a network: one set of weights, trained once, answers for many systems.

    readings ──tokens──► blocks with Γ ──► global tokens ──► a SIREN's modulation: a basis ψ(z)
                                                                       │
    readings ─────────────── least squares in that basis ──► its readout ──► u(z) = R ψ(z)

The encoder says which functions a system of this kind is made of; how much of each, the readings say
themselves, in closed form:

    r = r₀ + L a,  a ~ N(0, 1),  readings = Ψ r + σ ε
    ⟹   a = (BᵀB + σ²)⁻¹ Bᵀ (readings − Ψ r₀),  B = Ψ L

with r₀, σ and a part of L told by the global tokens. What goes round is seen by somebody who goes along
with it (nn/pace.py). So the answer passes through the readings as closely as their noise allows, which
attention alone learns slowly, and has a spread of its own. What is written is an ordinary SIREN, which
second-order steps refine as any other.

Shapes in trailing comments: n readings, w width of the encoder, g global tokens, b width of the basis,
c fields.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.models.network import AbstractNetwork, UnitReadings
from pgt.models.written import Written, WrittenNetwork
from pgt.nn.block import Block, Dense, Mlp
from pgt.nn.draw import Draw
from pgt.nn.embedding import Embedding, MovingEmbedding
from pgt.nn.modes import Modes
from pgt.nn.pace import Pace
from pgt.nn.siren import first_weights, hidden_weights, phases
from pgt.nn.stack import Stack

OCTAVES = 4  # of sines by which a token says where it is
LEAST_NOISE = 1e-2  # σ in units of the spread: what single precision can tell apart
SOLVES = 3  # of which all but the first bring the answer from that σ to a smaller one
USUAL_NOISE = 0.05  # σ, and the error that a prior alone leaves, before training


class WriterSizes(NamedTuple):
    """What a `Writer` is built of: the encoder's width, blocks, heads and global tokens, the SIREN's
    width (which is the number of functions in the basis), layers and frequency; how many waves with
    rates of their own there are beside it, over one axis and a time, and whether they swing.

    >>> WriterSizes(basis=64).layers
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


class Writer(AbstractNetwork):
    """The encoder and the SIREN that it modulates, in unit coordinates and standardised values.

    >>> from pgt.kernels.combine import NoKernel
    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> writer = Writer(Embedding((False, False)), 1, 0, WriterSizes(width=8, blocks=1, basis=6), Draw(0))
    >>> seen = pgt.Frame(scaling, writer).unit_readings(readings)
    >>> written = eqx.filter_jit(writer.encode)(seen)
    >>> writer.decode(written, seen.points[0]).shape, bool(writer.spread(written, seen.points[0])[0] > 0)
    ((1,), True)
    """

    embedding: Embedding
    # Tokens
    embed_value: Float[Array, "w c"]
    embed_hidden: Float[Array, "w c"]
    embed_point: Dense
    numbers: Mlp
    pace: Pace
    modes: Modes
    global_tokens: Float[Array, "g w"]
    blocks: Block  # stacked
    # The SIREN before it is modulated
    first_weight: Float[Array, "b e"]
    first_bias: Float[Array, " b"]
    hidden_weight: Float[Array, "hidden b b"]
    hidden_bias: Float[Array, "hidden b"]
    directions: Float[Array, "c b m"]
    # What the global tokens tell
    modulation: Dense
    middle: Dense
    size: Dense
    noise: Dense
    doubt: Dense

    def __init__(
        self, embedding: Embedding, fields: int, numbers: int, sizes: WriterSizes, draw: Draw
    ):
        c, w, b, e = fields, sizes.width, sizes.basis, embedding.size
        self.modes = Modes(embedding.periodic, numbers, sizes.modes, sizes.swings)
        hidden, functions = sizes.layers - 1, b + self.modes.size + 1
        m = c * functions
        self.embedding = embedding
        self.embed_value = draw.normal((w, c), c**-0.5)
        self.embed_hidden = draw.normal((w, c), c**-0.5)
        self.embed_point = Dense(e * (1 + 2 * OCTAVES), w, draw)
        self.numbers = Mlp(numbers + 1, w, w, "gelu", draw)
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
        told = sizes.tokens * w
        self.modulation = _quiet(told, b * (e + 1) + 2 * b * hidden, draw)
        self.middle = _quiet(told, m, draw)
        self.size = _quiet(told, m, draw)
        self.noise = _quiet(told, 1, draw)
        self.doubt = _quiet(told, 2, draw)

    # ------------------------------------------------------------------ encoder

    def encode(self, readings: UnitReadings) -> Written:
        """Readings → the field of their system."""
        return self.read_out(readings, self.told(readings))

    def read_out(self, readings: UnitReadings, told: Float[Array, " gw"]) -> Written:
        """The readout that the readings ask for, with as much noise as is told."""
        # Graphics cards would round the factors of a product to 10 bits: too few to solve with.
        with jax.default_matmul_precision("highest"):
            return self._written(readings, told)

    def gaussian(self, readings: UnitReadings, told: Float[Array, " gw"]):
        """The functions, L, r₀ and σ that the global tokens tell."""
        network = self._basis(told, readings.numbers)
        directions = self.directions * jnp.exp(self.size(told))  # c b m
        middle = self.middle(told).reshape(directions.shape[:2])  # c b
        return network, directions, middle, USUAL_NOISE * jnp.exp(self.noise(told)[0])

    def doubts(self, told: Float[Array, " gw"]) -> Float[Array, " 2"]:
        """On top of the Gaussian's own spread. Learnt from what the field is; it must not change it."""
        return self.doubt(jax.lax.stop_gradient(told)) + jnp.log(jnp.array([1.0, USUAL_NOISE]))

    def _written(self, readings: UnitReadings, told: Float[Array, " gw"]) -> Written:
        network, directions, middle, noise = self.gaussian(readings, told)
        features = jax.vmap(network.features)(readings.points)  # n b
        sigma = jnp.hypot(LEAST_NOISE, noise)
        misses = jnp.where(readings.mask, readings.values - features @ middle.T, 0.0)  # n c
        rows = jnp.einsum("nb,cbm->ncm", features, directions)
        rows = jnp.where(readings.mask[..., None], rows, 0.0).reshape(-1, directions.shape[-1])
        normal = rows.T @ rows + sigma**2 * jnp.eye(rows.shape[-1])
        factor = jnp.linalg.cholesky(normal)
        amounts = jnp.zeros(rows.shape[-1])
        for _ in range(SOLVES):
            left = rows.T @ (misses.reshape(-1) - rows @ amounts) - noise**2 * amounts
            amounts = amounts + jax.scipy.linalg.cho_solve((factor, True), left)
        network = network.with_readout(middle + directions @ amounts)
        return Written(network, factor, directions, sigma, self.doubts(told))

    def told(self, readings: UnitReadings) -> Float[Array, " gw"]:
        """What the global tokens have learnt when they have asked all readings."""
        many = jnp.log1p(jnp.sum(readings.visible)) / 4
        told = self.numbers(jnp.append(jnp.asarray(readings.numbers), many))
        tokens = (
            readings.values @ self.embed_value.T
            + (1.0 - readings.mask) @ self.embed_hidden.T
            + jax.vmap(lambda z: self.embed_point(_octaves(self.embedding(z))))(readings.points)
        )
        count = len(self.global_tokens)
        sequence = jnp.concatenate([self.global_tokens, tokens]) + told
        bias = readings.guided(readings.points, readings.points, readings.visible, count)
        stacked, plain = eqx.partition(self.blocks, eqx.is_array)
        sequence, _ = jax.lax.scan(
            lambda s, layer: (eqx.combine(layer, plain)(s, bias), None), sequence, stacked
        )
        learnt = sequence[:count]
        learnt = learnt - jnp.mean(learnt, axis=-1, keepdims=True)
        size = jnp.mean(learnt**2, axis=-1, keepdims=True)
        return (learnt * jax.lax.rsqrt(size + 1e-5)).ravel()

    def _basis(
        self, told: Float[Array, " gw"], numbers: Float[Array | np.ndarray, " k"]
    ) -> WrittenNetwork:
        """The modulated SIREN, and its waves; the readout is still to be found."""
        c, b = self.directions.shape[0], len(self.first_bias)
        # Along every axis by itself: how fast a wave swings is not how long it is.
        first, hidden = jnp.split(self.modulation(told), [b * (self.embedding.size + 1)])
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
        return WrittenNetwork(
            embedding, layers, self.modes(numbers), jnp.zeros((c, self.modes.size))
        )

    # ------------------------------------------------------------------ decoder

    def decode(self, context: Written, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The written SIREN at z."""
        with jax.default_matmul_precision("highest"):
            return context.network.decode((), z)

    def spread(self, context: Written, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """σ of the fields at one point: that of the Gaussian, and what the encoder doubts on top."""
        features = context.network.features(z)
        # Solved once and not for every point, as graphics cards solve slowly.
        unit = jnp.eye(len(context.factor), dtype=context.factor.dtype)
        root = jax.scipy.linalg.solve_triangular(context.factor, unit, lower=True)
        ways = jnp.einsum("cbm,km->cbk", context.directions, root)
        along = jnp.einsum("b,cbk->kc", features, ways)
        own = context.sigma * jnp.sqrt(jnp.sum(along**2, axis=0))
        factor, more = jnp.exp(context.doubt)
        return jnp.hypot(factor * own, more)

    def tunable(self) -> tuple[()]:
        """Nothing: what is written is tuned, not the writer."""
        return ()


def _quiet(inputs: int, outputs: int, draw: Draw) -> Dense:
    """A layer that says next to nothing at first: the SIREN starts as any other."""
    layer = Dense(inputs, outputs, draw)
    return eqx.tree_at(lambda d: d.weight, layer, 1e-2 * layer.weight)


def _octaves(point: Float[Array, " e"]) -> Float[Array, " f"]:
    waves = jnp.pi * 2.0 ** jnp.arange(OCTAVES)[:, None] * point
    return jnp.concatenate([point, jnp.sin(waves).ravel(), jnp.cos(waves).ravel()])
