"""`FamilyPGT`: a Physics-Guided Transformer that is trained once on a family and answers for its systems.

    readings ──tokens──► blocks with Γ ──► tokens, global token
                                                 │
    point z ──MLP──► cross-attention with Γ ──► g(z) ──► hypernetwork ──► FiLM-SIREN(z) ──► u(z)

Γ acts among the readings and between the point and each reading. Each system brings the Γ of its own
equation, so that the network need not learn it. `PGT` (pgt.py) is the network for a single data set.

Shapes in trailing comments: n readings, w width, h heads, c fields, e numbers of an embedded point.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.models.field_model import AbstractNetwork, UnitReadings
from pgt.models.hypernetwork import INITIAL_NOISE, OCTAVES, octaves
from pgt.models.pgt import FilmDecoder
from pgt.nn.attention import Block, Dense, Mlp, Projection, attend, with_one
from pgt.nn.layers import Draw, Embedding


class FamilyPGTSizes(NamedTuple):
    """The sizes of a `FamilyPGT`.

    The encoder has `width`, `blocks` and `heads`; the decoder has `decoder_width`, `layers` and a
    `frequency`.

    >>> FamilyPGTSizes(width=32).heads
    4
    """

    width: int = 64
    blocks: int = 2
    heads: int = 4
    decoder_width: int = 64
    layers: int = 3
    frequency: float = 6.0


class SeenReadings(NamedTuple):
    """The encoded readings of one system."""

    keys: Float[Array, "m h k"]  # of the global token and of every reading
    values: Float[Array, "m h k+1"]
    everywhere: Float[Array, " w"]
    numbers: Float[Array, " w"]
    readings: UnitReadings


class FamilyPGT(AbstractNetwork):
    """The network; readings and the evaluation point are tokens, in unit coordinates.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> model = pgt.PGT.for_problem(readings, pgt.Heat(0.01), pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> sizes = FamilyPGTSizes(width=8, blocks=1, heads=2, decoder_width=6)
    >>> network = FamilyPGT(Embedding((False, False)), 1, 0, sizes, Draw(0))
    >>> seen = model.unit_readings(readings)
    >>> field = eqx.filter_jit(network.encode)(seen)
    >>> network.decode(field, seen.points[0]).shape, bool(network.spread(field, seen.points[0])[0] > 0)
    ((1,), True)
    """

    embedding: Embedding
    embed_value: Float[Array, "w c"]
    embed_hidden: Float[Array, "w c"]
    embed_point: Dense
    embed_numbers: Mlp
    global_token: Float[Array, "1 w"]
    blocks: Block  # stacked
    query: Mlp
    ask: Projection
    keys: Projection
    values: Projection
    decoder: FilmDecoder
    spread_head: Dense

    # A noise level can only come from the encoder, because no readout is solved for.
    noise_sources = ("encoder",)

    def __init__(
        self, embedding: Embedding, fields: int, numbers: int, sizes: FamilyPGTSizes, draw: Draw
    ):
        c, w, e = fields, sizes.width, embedding.size
        waves = e * (1 + 2 * OCTAVES)
        self.embedding = embedding
        self.embed_value = draw.normal((w, c), c**-0.5)
        self.embed_hidden = draw.normal((w, c), c**-0.5)
        self.embed_point = Dense(waves, w, draw)
        self.embed_numbers = Mlp(numbers + 1, w, w, "gelu", draw)
        self.global_token = draw.normal((1, w), 1.0)
        layers = [Block(w, sizes.heads, draw) for _ in range(sizes.blocks)]
        self.blocks = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *layers)
        self.query = Mlp(waves, w, w, "gelu", draw)
        self.ask, self.keys, self.values = (Projection(w, sizes.heads, draw) for _ in range(3))
        self.decoder = FilmDecoder(
            e, c, w, sizes.decoder_width, sizes.layers, sizes.frequency, "sine", draw
        )
        head = Dense(2 * w, c, draw)
        self.spread_head = eqx.tree_at(lambda d: d.weight, head, 1e-2 * head.weight)

    # ------------------------------------------------------------------ encoder

    def encode(self, readings: UnitReadings) -> SeenReadings:
        """The tokens of the readings after they have attended to one another under Γ."""
        count = jnp.log1p(jnp.sum(readings.visible)) / 4
        numbers = self.embed_numbers(jnp.append(jnp.asarray(readings.numbers), count))
        tokens = (
            readings.values @ self.embed_value.T
            + (1.0 - readings.mask) @ self.embed_hidden.T
            + jax.vmap(lambda z: self.embed_point(octaves(self.embedding(z))))(readings.points)
            + numbers
        )  # n w
        bias = readings.guided(readings.points, readings.points, readings.visible)
        stacked, plain = eqx.partition(self.blocks, eqx.is_array)
        sequence, _ = jax.lax.scan(
            lambda s, layer: (eqx.combine(layer, plain)(s, bias), None),
            jnp.concatenate([self.global_token, tokens]),
            stacked,
        )
        keys, values = jax.vmap(self.keys)(sequence), jax.vmap(self.values)(sequence)
        return SeenReadings(keys, with_one(values), sequence[0], numbers, readings)

    def summarize(self, readings: UnitReadings) -> Float[Array, " 0"]:
        """An empty array: nothing needs a higher precision than the encoder."""
        return jnp.zeros(0)

    def solve_readout(self, readings: UnitReadings, summary: Float[Array, " 0"]) -> SeenReadings:
        """The encoded readings, as from `encode`."""
        return self.encode(readings)

    # ------------------------------------------------------------------ decoder

    def decode(self, context: SeenReadings, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The fields at z."""
        seen = self.decoder.look(self._local(context, z), context.everywhere)
        return self.decoder.answer(self.embedding(z), seen)

    def spread(self, context: SeenReadings, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The standard deviation of the fields at z; its training does not change the fields."""
        local = jnp.concatenate([self._local(context, z), context.everywhere])
        return INITIAL_NOISE * jnp.exp(self.spread_head(jax.lax.stop_gradient(local)))

    def without_slopes(self, context: SeenReadings) -> SeenReadings:
        """The context unchanged: `spread` itself stops the gradients."""
        return context

    def _local(self, context: SeenReadings, z: Float[Array, " d"]) -> Float[Array, " w"]:
        """Cross-attention of z to the readings, with Γ between z and each reading as its bias."""
        readings = context.readings
        row = readings.guided(z[None], readings.points, readings.visible)[:, 1]  # h n+1
        query = self.ask(self.query(octaves(self.embedding(z))) + context.numbers)
        return attend(query, context.keys, context.values, row).reshape(-1)

    def tunable(self) -> tuple[()]:
        """No arrays: the weights are shared by all systems."""
        return ()
