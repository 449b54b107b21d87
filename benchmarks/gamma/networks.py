"""The networks of the study: two that Γ guides, and their rivals, which it does not.

    writer      the library's own (pgt/models/hypernetwork.py): an encoder makes a SIREN, whose readout
                is solved
    answerer    the PGT of the paper: encoder, cross-attention of the query, FiLM-SIREN
    perceiver   the same answer from latents that have asked all readings (as Senseiver); Γ has no place
    deeponet    a branch that reads all readings as one long vector, a trunk
    fno         Fourier layers over interpolated readings

All are told the same: readings, where they lie, the system's dimensionless coefficients.
"""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from systems import NUMBERS

from pgt.models.field_model import AbstractNetwork, UnitReadings
from pgt.models.fno import FourierLayers, interpolate
from pgt.models.hypernetwork import HyperSiren, HyperSirenSizes
from pgt.models.pgt import FilmDecoder
from pgt.nn.attention import Attention, Block, Dense, Mlp, Projection, attend, with_one
from pgt.nn.layers import Draw, zeros

WIDTH, BLOCKS, HEADS, LATENTS = 64, 2, 4, 64
OCTAVES, FREQUENCY = 4, 6.0
PLACE = 3  # numbers that say where a point is
NODES, MARGIN, MODES = 32, 8, 10  # of the FNO's grid along an axis


class Place(eqx.Module):
    """A point as networks see it: x, or a circle where x is a ring, and t."""

    ring: Bool[Array, ""]
    periodic: ClassVar[tuple[bool, bool]] = (True, False)  # what may move along, on a line as well

    def __call__(self, z: Float[Array, "2"]) -> Float[Array, "3"]:
        angle = jnp.pi * z[0]
        circle = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        line = jnp.stack([z[0], jnp.zeros_like(z[0])])
        return jnp.append(jnp.where(self.ring, circle, line), z[1])

    @property
    def size(self) -> int:
        return PLACE


def waves(place: Float[Array, "3"]) -> Float[Array, " f"]:
    angles = jnp.pi * 2.0 ** jnp.arange(OCTAVES)[:, None] * place
    return jnp.concatenate([place, jnp.sin(angles).ravel(), jnp.cos(angles).ravel()])


FEATURES = PLACE * (1 + 2 * OCTAVES)


# ------------------------------------------------------------------------------ Γ's strength


class Scaled(eqx.Module):
    """Γ times a strength in each head, where it acts at all; what has no influence keeps none."""

    gamma: eqx.Module
    strength: Float[Array, " h"]
    acts: Bool[Array, ""]

    def __call__(self, receivers, sources) -> Float[Array, "h r s"]:
        table = self.gamma(receivers, sources)
        visible = table > -jnp.inf
        scaled = self.strength[:, None, None] * jnp.where(visible, table, 0.0)
        return jnp.where(self.acts, jnp.where(visible, scaled, -jnp.inf), 0.0)


class Pair(eqx.Module):
    """Γ of the encoder, and that of the query."""

    encoder: Scaled
    query: Scaled

    def __call__(self, receivers, sources):
        return self.encoder(receivers, sources)


class Guided(AbstractNetwork):
    """A network and the logarithms of Γ's strength, in the encoder and in the query; 0 unless learnt."""

    network: AbstractNetwork
    raw: Float[Array, "2 h"]

    def encode(self, readings: UnitReadings):
        guide = readings.gamma.guide
        strength = jnp.exp(jnp.where(guide.learnt, self.raw, 0.0))
        pair = Pair(
            Scaled(readings.gamma, strength[0], guide.encoder),
            Scaled(readings.gamma, strength[1], guide.query),
        )
        return self.network.encode(eqx.tree_at(lambda r: r.gamma, readings, pair))

    def decode(self, context, z):
        return self.network.decode(context, z)

    def tunable(self) -> tuple[()]:
        return ()


# ---------------------------------------------------------------------------- by attention


class Tokens(eqx.Module):
    """Readings as tokens, and what all of them are told."""

    place: Place
    value: Float[Array, "w 1"]
    point: Dense
    told: Mlp

    def __init__(self, place: Place, draw: Draw):
        self.place = place
        self.value = draw.normal((WIDTH, 1), 1.0)
        self.point = Dense(FEATURES, WIDTH, draw)
        self.told = Mlp(NUMBERS + 1, WIDTH, WIDTH, "gelu", draw)

    def at(self, z: Float[Array, "2"]) -> Float[Array, " w"]:
        return self.point(waves(self.place(z)))

    def __call__(self, readings: UnitReadings) -> tuple[Float[Array, "n w"], Float[Array, " w"]]:
        told = self.told(_numbers(readings))
        points = jax.vmap(self.at)(readings.points)
        return readings.values @ self.value.T + points + told, told


class Context(NamedTuple):
    """What a query asks: projected once."""

    keys: Float[Array, "m h k"]
    values: Float[Array, "m h k+1"]
    everywhere: Float[Array, " w"]
    told: Float[Array, " w"]
    readings: UnitReadings | None  # where Γ acts between query and reading


class Asked(eqx.Module):
    """A query asks tokens by attention; what it learns modulates a SIREN, as in the paper."""

    query: Mlp
    ask: Projection
    keys: Projection
    values: Projection
    decoder: FilmDecoder

    def __init__(self, draw: Draw):
        self.query = Mlp(FEATURES, WIDTH, WIDTH, "gelu", draw)
        self.ask, self.keys, self.values = (Projection(WIDTH, HEADS, draw) for _ in range(3))
        self.decoder = FilmDecoder(PLACE, 1, WIDTH, WIDTH, 3, FREQUENCY, "sine", draw)

    def context(self, tokens, everywhere, told, readings) -> Context:
        keys, values = jax.vmap(self.keys)(tokens), with_one(jax.vmap(self.values)(tokens))
        return Context(keys, values, everywhere, told, readings)

    def __call__(self, context: Context, place: Float[Array, "3"], bias) -> Float[Array, "1"]:
        asked = self.ask(self.query(waves(place)) + context.told)
        local = attend(asked, context.keys, context.values, bias).reshape(-1)
        return self.decoder.answer(place, self.decoder.look(local, context.everywhere))


class Answerer(AbstractNetwork):
    """Readings are tokens from end to end; Γ may act among them, and between query and reading."""

    tokens: Tokens
    everywhere: Float[Array, "1 w"]
    blocks: Block  # stacked
    asked: Asked

    def __init__(self, place: Place, draw: Draw):
        self.tokens = Tokens(place, draw)
        self.everywhere = draw.normal((1, WIDTH), 1.0)
        self.blocks, self.asked = _blocks(draw), Asked(draw)

    def encode(self, readings: UnitReadings) -> Context:
        tokens, told = self.tokens(readings)
        bias = readings.guided(readings.points, readings.points, readings.visible)
        sequence = _through(self.blocks, jnp.concatenate([self.everywhere, tokens]), bias)
        # The global token stays visible, so that a query that no reading influences is answered.
        return self.asked.context(sequence, sequence[0], told, readings)

    def decode(self, context: Context, z: Float[Array, "2"]) -> Float[Array, "1"]:
        readings = context.readings
        gamma = readings.gamma.query(z[None], readings.points)[:, 0]  # h n
        row = jnp.where(readings.visible, gamma, -jnp.inf)
        row = jnp.pad(row, ((0, 0), (1, 0)))
        return self.asked(context, self.tokens.place(z), row)

    def tunable(self) -> tuple[()]:
        return ()


class Perceiver(AbstractNetwork):
    """Latents ask all readings once and talk to each other; a query asks the latents."""

    tokens: Tokens
    latents: Float[Array, "l w"]
    gather: Attention
    blocks: Block  # stacked
    asked: Asked

    def __init__(self, place: Place, draw: Draw):
        self.tokens = Tokens(place, draw)
        self.latents = draw.normal((LATENTS, WIDTH), 1.0)
        self.gather = Attention(WIDTH, HEADS, draw)
        self.blocks, self.asked = _blocks(draw), Asked(draw)

    def encode(self, readings: UnitReadings) -> Context:
        tokens, told = self.tokens(readings)
        hidden = jnp.where(readings.visible, 0.0, -jnp.inf)
        bias = jnp.broadcast_to(hidden, (1, LATENTS, len(tokens)))
        latents = self.latents + self.gather(self.latents + told, tokens, bias)
        latents = _through(self.blocks, latents, jnp.zeros((1, LATENTS, LATENTS)))
        return self.asked.context(latents, jnp.mean(latents, axis=0), told, None)

    def decode(self, context: Context, z: Float[Array, "2"]) -> Float[Array, "1"]:
        return self.asked(context, self.tokens.place(z), jnp.zeros((1, LATENTS)))

    def tunable(self) -> tuple[()]:
        return ()


def _blocks(draw: Draw) -> Block:
    layers = [Block(WIDTH, HEADS, draw) for _ in range(BLOCKS)]
    return jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *layers)


def _through(blocks: Block, sequence: Float[Array, "n w"], bias) -> Float[Array, "n w"]:
    stacked, plain = eqx.partition(blocks, eqx.is_array)
    step = lambda s, layer: (eqx.combine(layer, plain)(s, bias), None)  # noqa: E731
    return jax.lax.scan(step, sequence, stacked)[0]


def _numbers(readings: UnitReadings) -> Float[Array, " k"]:
    many = jnp.log1p(jnp.sum(readings.visible)) / 4
    return jnp.append(jnp.asarray(readings.numbers), many)


# ---------------------------------------------------------------------- without attention


class Operator(AbstractNetwork):
    """DeepONet: readings, padded with nothing, as one vector into a branch; the point into a trunk."""

    place: Place
    entry: Dense
    branch: Mlp
    trunk: Mlp
    offset: Float[Array, "1"]

    def __init__(self, place: Place, draw: Draw, most: int):
        wide = 4 * WIDTH
        self.place = place
        self.entry = Dense(most * (PLACE + 2) + NUMBERS + 1, wide, draw)
        self.branch = Mlp(wide, wide, 2 * WIDTH, "gelu", draw)
        self.trunk = Mlp(FEATURES + NUMBERS + 1, wide, 2 * WIDTH, "gelu", draw)
        self.offset = zeros(1)

    def encode(self, readings: UnitReadings):
        places = jax.vmap(self.place)(readings.points)
        rows = jnp.concatenate([readings.values, places, jnp.ones_like(readings.values)], axis=-1)
        rows = jnp.where(readings.mask, rows, 0.0).ravel()
        numbers = _numbers(readings)
        hidden = jax.nn.gelu(self.entry(jnp.concatenate([rows, numbers])))
        return self.branch(hidden), numbers

    def decode(self, context, z: Float[Array, "2"]) -> Float[Array, "1"]:
        branch, numbers = context
        trunk = self.trunk(jnp.concatenate([waves(self.place(z)), numbers]))
        return (branch @ trunk)[None] / len(branch) ** 0.5 + self.offset

    def tunable(self) -> tuple[()]:
        return ()


class Fourier(AbstractNetwork):
    """FNO: readings brought to a grid by inverse distances, Fourier layers, a spline between nodes."""

    place: Place
    lift: Mlp
    layers: FourierLayers
    project: Mlp

    def __init__(self, place: Place, draw: Draw):
        width = WIDTH // 2
        self.place = place
        self.lift = Mlp(2 + PLACE + NUMBERS + 1, WIDTH, width, "gelu", draw)
        self.layers = FourierLayers(width, MODES, 2, 4, draw)
        self.project = Mlp(width, 2 * WIDTH, 1, "gelu", draw)

    def encode(self, readings: UnitReadings) -> Float[Array, "x t w"]:
        step = 2 / (NODES - 3)
        axis = step * (jnp.arange(NODES) - 1) - 1  # one node beyond either end, for the spline
        nodes = jnp.stack(jnp.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        places = jax.vmap(self.place)(nodes)
        gaps = places[:, None] - jax.vmap(self.place)(readings.points)
        squared = jnp.sum(gaps**2, axis=-1) + step**2 / 4
        weight = jnp.where(readings.visible, squared**-2, 0.0)  # N n
        total = jnp.sum(weight, axis=-1, keepdims=True)
        told = jnp.broadcast_to(_numbers(readings), (len(nodes), NUMBERS + 1))
        channels = [weight @ readings.values / total, jnp.log(total) / 4, places, told]
        lifted = jax.vmap(self.lift)(jnp.concatenate(channels, axis=-1))
        grid = lifted.reshape(NODES, NODES, -1)
        # Zeros beyond, so that ends do not touch.
        features = self.layers(jnp.pad(grid, ((0, MARGIN), (0, MARGIN), (0, 0))))
        return features[:NODES, :NODES]

    def decode(self, context, z: Float[Array, "2"]) -> Float[Array, "1"]:
        return self.project(interpolate(context, (z + 1) * (NODES - 3) / 2 + 1))

    def tunable(self) -> tuple[()]:
        return ()


# ------------------------------------------------------------------------------ by name


def _writer(place: Place, draw: Draw) -> HyperSiren:
    sizes = HyperSirenSizes(width=WIDTH, blocks=BLOCKS, heads=HEADS, frequency=FREQUENCY)
    return HyperSiren(place, 1, NUMBERS, sizes, draw)


NETWORKS = {
    "writer": _writer, "answerer": Answerer, "perceiver": Perceiver, "deeponet": Operator,
    "fno": Fourier,
}  # fmt: skip


def network(name: str, ring: Bool[Array, ""], seed: int, most: int) -> Guided:
    """A network by name, before training, for up to so many readings."""
    more = {"most": most} if name == "deeponet" else {}
    return Guided(NETWORKS[name](Place(ring), Draw(seed), **more), zeros(2, HEADS))
