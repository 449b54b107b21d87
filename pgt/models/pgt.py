"""`PGT`: the Physics-Guided Transformer for one data set, in the order of its data flow.

    readings ──tokens──► blocks with Γ ──► context tokens, global token
                                                  │
    query z ──MLP──► cross-attention ──► g(q) ──► hypernetwork ──► FiLM-SIREN(z) ──► u(z)

Shapes in trailing comments: n readings, m context tokens, w width, h heads, c fields.
"""

import math
from typing import Annotated, Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.arguments import Limits, Positive, Seed, Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.kernels.kernel import AbstractKernel
from pgt.models.field_model import AbstractFrame, AbstractTwoStageNetwork, UnitReadings
from pgt.nn.attention import Attention, Block, Dense, Mlp, Projection, activate, attend, with_one
from pgt.nn.guidance import Bias, low_rank, nearest
from pgt.nn.layers import Draw, Embedding, first_weights, hidden_weights, phases, zeros
from pgt.nn.scaling import Scaling
from pgt.nn.trees import Frozen

ActivationName = Literal["sine", "gelu"]


class Coordinates(eqx.Module):
    """The weights that both decoders share: dense layers on a coordinate and a linear readout."""

    first_weight: Float[Array, "w i"]
    first_bias: Float[Array, " w"]
    hidden: Float[Array, "layers w w"]
    readout: Float[Array, "c w"]
    offset: Float[Array, " c"]

    def __init__(self, inputs, outputs, width, layers, frequency, activation, draw: Draw):
        if activation == "sine":
            self.first_weight = first_weights(inputs, width, frequency, draw)
            self.hidden = hidden_weights(layers, width, draw)
        else:
            # GELU layers take He scaling; the first layer needs a large spread to resolve the
            # coordinates.
            self.first_weight = draw.normal((width, inputs), math.sqrt(2 / inputs))
            self.hidden = draw.normal((layers, width, width), math.sqrt(2 / width))
        self.first_bias = phases(width, draw)
        self.readout = draw.normal((outputs, width), 1 / width)
        self.offset = zeros(outputs)


class FilmDecoder(eqx.Module):
    """FiLM-modulated implicit network.

        h_1 = act(W_0 z + b_0)
        (α_l, β_l, ω_l) = H([g(q), c_glob])
        h_{l+1} = act(ω_l ⊙ (α_l ⊙ (W_l h_l) + β_l))
        u = W_out h_L + b_out

    The hypernetwork H gives α and ω as 1 + output, and its last layer starts near zero. The decoder thus
    starts as a plain SIREN; otherwise training would have to undo a random modulation first.
    """

    network: Coordinates
    context_weight: Float[Array, "k 2w"]
    context_bias: Float[Array, " k"]
    film_weight: Float[Array, "layers film k"]
    film_bias: Float[Array, "layers film"]
    activation: ActivationName = eqx.field(static=True)

    def __init__(self, inputs, outputs, context, width, layers, frequency, activation, draw: Draw):
        self.network = Coordinates(inputs, outputs, width, layers, frequency, activation, draw)
        self.context_weight = draw.normal((context, 2 * context), (2 * context) ** -0.5)
        self.context_bias = zeros(context)
        self.film_weight = draw.normal((layers, 3 * width, context), 1e-3 * context**-0.5)
        self.film_bias = zeros(layers, 3 * width)
        self.activation = activation

    def look(
        self, local: Float[Array, " w"], everywhere: Float[Array, " w"]
    ) -> Float[Array, "layers film"]:
        """The modulation H([g, c_glob]), without its bias.

        H's first layer is split by columns: the global token's part is the same for all queries.
        """
        width = len(local)
        shared = everywhere @ self.context_weight[:, width:].T + self.context_bias
        context = jnp.tanh(local @ self.context_weight[:, :width].T + shared)
        return jnp.einsum("k,lfk->lf", context, self.film_weight)

    def answer(
        self, z: Float[Array, " i"], modulation: Float[Array, "layers film"]
    ) -> Float[Array, " c"]:
        """The modulated network at z."""
        network = self.network
        h = activate(self.activation, z @ network.first_weight.T + network.first_bias)
        for weight, row in zip(network.hidden, modulation + self.film_bias, strict=True):
            amplitude, shift, frequency = jnp.split(row, 3)
            pre = (1 + amplitude) * (h @ weight.T) + shift
            h = activate(self.activation, (1 + frequency) * pre)
        return h @ network.readout.T + network.offset

    def tunable(self):
        """The network's own weights and the constant part of the modulation."""
        return self.network, self.film_bias


class ConcatDecoder(eqx.Module):
    """The decoder without FiLM, for the ablation; the context is concatenated to the coordinate."""

    network: Coordinates
    hidden_bias: Float[Array, "layers w"]
    activation: ActivationName = eqx.field(static=True)

    def __init__(self, inputs, outputs, context, width, layers, frequency, activation, draw: Draw):
        entries = inputs + 2 * context
        self.network = Coordinates(entries, outputs, width, layers, frequency, activation, draw)
        self.hidden_bias = zeros(layers, width)
        self.activation = activation

    def look(
        self, local: Float[Array, " w"], everywhere: Float[Array, " w"]
    ) -> Float[Array, " 2*w"]:
        """The context that is concatenated to the coordinate."""
        return jnp.concatenate([local, everywhere])

    def answer(self, z: Float[Array, " i"], context: Float[Array, "..."]) -> Float[Array, " c"]:
        """The network at z and the context."""
        network = self.network
        entry = jnp.concatenate([z, context])
        h = activate(self.activation, entry @ network.first_weight.T + network.first_bias)
        for weight, bias in zip(network.hidden, self.hidden_bias, strict=True):
            h = activate(self.activation, h @ weight.T + bias)
        return h @ network.readout.T + network.offset

    def tunable(self):
        """All weights of the network."""
        return self.network, self.hidden_bias


# ------------------------------------------------------------------------------- pgt


# With more readings than this, anchors gather the readings: attention then costs less and sees less
# detail.
MANY_READINGS = 300

AttentionName = Literal["exact", "nearest", "low-rank"]
DecoderName = Literal["film-siren", "siren", "film-mlp", "mlp"]
DECODERS = {
    "film-siren": (FilmDecoder, "sine"),
    "siren": (ConcatDecoder, "sine"),
    "film-mlp": (FilmDecoder, "gelu"),
    "mlp": (ConcatDecoder, "gelu"),
}


class Context(NamedTuple):
    """The encoded readings; keys and values are projected once, not for each query."""

    keys: Float[Array, "m h k"]
    values: Float[Array, "m h k+1"]
    bias: Float[Array, "1 m"]  # -inf at padding
    everywhere: Float[Array, " w"]


class Anchors(Frozen):
    """Inducing points spread evenly over the domain, in unit coordinates."""

    points: Float[Array | np.ndarray, "m d"]

    @staticmethod
    def spread(count: int, dimension: int) -> "Anchors":
        from scipy.stats import qmc  # slow to import, and needed for anchors only

        sequence = qmc.Sobol(dimension, scramble=False).random(2 ** int(np.ceil(np.log2(count))))
        # The unscrambled sequence starts in the corner of the box; the shift centres it.
        unit = (sequence[:count] + 0.5 / count) % 1.0
        return Anchors((2 * unit - 1).astype(np.float32))


class Sizes(NamedTuple):
    """The sizes of a PGT; see `PGT` for their meaning."""

    width: int
    blocks: int
    heads: int
    anchors: int
    decoder: DecoderName
    decoder_width: int
    decoder_layers: int
    frequency: float
    variance_head: bool
    attention: AttentionName = "exact"
    attended: int = 64
    half: bool = False


class PGTNetwork(AbstractTwoStageNetwork):
    """The transformer and its decoder, in unit coordinates and standardised values."""

    embedding: Embedding
    # Tokens: c_i = W_u u_i + W_p z_i + b
    embed_value: Float[Array, "w c"]
    embed_hidden: Float[Array, "w c"]
    embed_point: Float[Array, "w d"]
    embed_bias: Float[Array, " w"]
    global_token: Float[Array, " w"]
    # Encoder
    anchors: Anchors | None
    anchor_bias: Float[Array, " w"] | None
    gather: Attention | None
    blocks: Block  # stacked: equal layers compile once
    # Query and decoder
    query: Mlp
    ask: Projection
    keys: Projection
    values: Projection
    decoder: FilmDecoder | ConcatDecoder
    variance: Dense | None
    landmarks: Anchors | None = None
    attended: int | None = eqx.field(static=True, default=None)
    half: bool = eqx.field(static=True, default=False)

    def __init__(self, embedding: Embedding, fields: int, sizes: Sizes, draw: Draw):
        d, c = embedding.size, fields
        width, heads, anchors = sizes.width, sizes.heads, sizes.anchors
        self.embedding = embedding
        self.embed_value = draw.normal((width, c), c**-0.5)
        self.embed_hidden = draw.normal((width, c), c**-0.5)
        self.embed_point = draw.normal((width, d), d**-0.5)
        self.embed_bias = zeros(width)
        self.global_token = draw.normal((width,), 0.02)
        self.anchors = Anchors.spread(anchors, len(embedding.periodic)) if anchors else None
        self.anchor_bias = zeros(width) if anchors else None
        self.gather = Attention(width, heads, draw, sizes.half) if anchors else None
        layers = [Block(width, heads, draw, sizes.half) for _ in range(sizes.blocks)]
        self.blocks = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *layers)
        self.query = Mlp(d, width, width, "tanh", draw)
        self.ask = Projection(width, heads, draw)
        self.keys = Projection(width, heads, draw)
        self.values = Projection(width, heads, draw)
        kind, activation = DECODERS[sizes.decoder]
        inside = sizes.decoder_width, sizes.decoder_layers, sizes.frequency
        self.decoder = kind(d, c, width, *inside, activation, draw)
        self.variance = Dense(width, c, draw) if sizes.variance_head else None
        self.landmarks, self.attended, self.half = None, None, sizes.half
        if sizes.attention == "nearest":
            self.attended = sizes.attended
        elif sizes.attention == "low-rank":
            self.landmarks = Anchors.spread(sizes.attended, len(embedding.periodic))

    # ------------------------------------------------------------------ encoder

    def encode(self, readings: UnitReadings) -> Context:
        """The context tokens C_ctx and the global token c_glob, from the readings."""
        tokens = self._tokens(readings)  # n w
        if self.anchors is not None:
            everywhere, tokens = self._gather(readings, tokens)
            points = jnp.asarray(self.anchors.points)
            visible = jnp.ones(len(points), bool)
        else:
            everywhere, points, visible = self.global_token, readings.points, readings.visible
        bias = self._bias(readings, points, visible)  # h m+1 m+1
        sequence = jnp.concatenate([everywhere[None], tokens])  # m+1 w

        def step(sequence, block):
            return block(sequence, bias), None

        stacked, plain = eqx.partition(self.blocks, eqx.is_array)
        sequence, _ = jax.lax.scan(
            lambda s, layer: step(s, eqx.combine(layer, plain)), sequence, stacked
        )
        context = sequence[1:]
        hidden = jnp.where(visible, 0.0, -jnp.inf)[None]
        return Context(
            jax.vmap(self.keys)(context),
            with_one(jax.vmap(self.values)(context)),
            hidden,
            sequence[0],
        )

    def _bias(
        self, readings: UnitReadings, points: Float[Array, "m d"], visible: Bool[Array, " m"]
    ) -> Bias:
        """Γ between the context tokens and the global one, in front of them, as table or cheaper."""
        if self.landmarks is not None:
            return low_rank(readings.gamma, points, jnp.asarray(self.landmarks.points), visible)
        bias = readings.guided(points, points, visible)
        return bias if self.attended is None else nearest(bias, points, self.attended)

    def _tokens(self, readings: UnitReadings) -> Float[Array, "n w"]:
        """c_i = W_u u_i + W_p z_i + b; a field that was not measured adds its own vector instead."""
        return (
            readings.values @ self.embed_value.T
            + (1.0 - readings.mask) @ self.embed_hidden.T
            + jax.vmap(self.embedding)(readings.points) @ self.embed_point.T
            + self.embed_bias
        )

    def _gather(self, readings: UnitReadings, tokens: Float[Array, "n w"]):
        """The global token and the anchors after each has attended to all readings, under Γ."""
        assert self.anchors is not None
        assert self.gather is not None
        assert self.anchor_bias is not None
        places = jnp.asarray(self.anchors.points)
        queries = jax.vmap(self.embedding)(places) @ self.embed_point.T + self.anchor_bias
        queries = jnp.concatenate([self.global_token[None], queries])
        tokens = jnp.concatenate([self.global_token[None], tokens])
        bias = readings.guided(places, readings.points, readings.visible)
        gathered = queries + self.gather(queries, tokens, bias)
        return gathered[0], gathered[1:]

    # ------------------------------------------------------------------ decoder

    def look(self, context: Context, z: Float[Array, " d"]) -> Float[Array, "..."]:
        """φ = MLP_q(z), g = cross-attention of φ to the context, (α, β, ω) = H([g, c_glob])."""
        return self.decoder.look(self._local(context, z), context.everywhere)

    def answer(self, seen: Float[Array, "..."], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """u(z) = FiLM-SIREN(z; α, β, ω)."""
        return self.decoder.answer(self.embedding(z), seen)

    def tunable(self):
        """The decoder's own weights; the encoder and the hypernetwork are not tuned."""
        return self.decoder.tunable()

    @property
    def predicts_variance(self) -> bool:
        """Whether there is a variance head."""
        return self.variance is not None

    def log_variance(self, context: Context, z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The logarithm of the aleatoric variance of the standardised fields at one point (PGT-UW).

        It is a linear map of the features of the field, whose gradient does not reach them. A variance
        with an encoder of its own could memorise every misfit.
        """
        if self.variance is None:
            raise InputError("this PGT has no variance head; build it with variance_head=True.")
        return self.variance(jax.lax.stop_gradient(self._local(context, z)))

    def _local(self, context: Context, z: Float[Array, " d"]) -> Float[Array, " w"]:
        """Cross-attention of z to the context tokens."""
        query = self.ask(self.query(self.embedding(z)))  # h k
        return attend(query, context.keys, context.values, context.bias, self.half).reshape(-1)


@register("pgt")
class PGT(AbstractFrame):
    """Physics-Guided Transformer.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    kernel
        Γ, the physics in the attention: `pde.kernel()`, or `NoKernel()` for a plain transformer.
    anchors
        0: every reading is a context token, as in the paper (quadratic in the readings). Otherwise the
        number of inducing points that gather the readings (linear).
    decoder
        "film-siren" (the paper), or the ablations "siren", "film-mlp" and "mlp".
    variance_head
        Predict an aleatoric variance beside the field (PGT-UW).
    attention
        Γ between the tokens: "exact"; "nearest", where each token attends to as many others as `attended`
        says, those of most influence; or "low-rank", where Γ is interpolated from so many landmarks.
    half
        Multiply in the attention with bfloat16 numbers; everything else keeps its precision.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = PGT(scaling, pgt.kernels.HeatKernel(0.01), width=16, decoder_width=16)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: AbstractKernel
    network: PGTNetwork

    def __init__(
        self,
        scaling: Scaling,
        kernel: AbstractKernel,
        *,
        width: Size = 64,
        blocks: Size = 2,
        heads: Size = 4,
        anchors: Annotated[int, Limits(at_least=0, at_most=10_000)] = 0,
        decoder: DecoderName = "film-siren",
        decoder_width: Size = 128,
        decoder_layers: Size = 4,
        frequency: Positive = 8.0,
        variance_head: bool = False,
        attention: AttentionName = "exact",
        attended: Size = 64,
        half: bool = False,
        seed: Seed = 0,
    ):
        if width % heads:
            raise InputError(
                f"PGT(width={width}, heads={heads}): width must be a multiple of heads."
            )
        sizes = Sizes(
            width, blocks, heads, anchors, decoder, decoder_width, decoder_layers, frequency,
            variance_head, attention, attended, half,
        )  # fmt: skip
        embedding, fields = Embedding(scaling.periodic), len(scaling.mean)
        self.scaling, self.kernel = scaling, kernel
        self.network = PGTNetwork(embedding, fields, sizes, Draw(seed))

    @classmethod
    def for_problem(
        cls,
        observations: Any,
        pde: Any,
        domain: Any,
        *,
        kernel: AbstractKernel | str | None = None,
        seed: Seed = 0,
        **sizes,
    ) -> "PGT":
        """A PGT whose sizes suit a problem.

        In up to two coordinates the decoder is small enough for second-order steps; beyond, it is wide.
        Few readings are tokens themselves; many readings are gathered by anchors. `observations`, `pde`
        and `domain` are an `Observations`, an equation and a `Domain`. `kernel` is that of the equation
        unless another is given: `kernel="none"` is the ablation of the Green's function. `sizes` are
        further arguments of `PGT`.

        >>> import pgt
        >>> readings = pgt.sample(pgt.datasets.heat(), n=400)
        >>> square = pgt.Domain(x=(0, 1), t=(0, 1))
        >>> model = PGT.for_problem(readings, pgt.Heat(0.01), square)
        >>> type(model).__name__, len(model.network.anchors.points)
        ('PGT', 64)
        """
        if not isinstance(observations, Observations) or not isinstance(domain, Domain):
            raise InputError(
                "PGT.for_problem takes an Observations and a Domain; for tables and texts write "
                'pgt.reconstruct(..., model="pgt").'
            )
        small = domain.dimension <= 2
        suited = {
            "width": 32 if small else 64,
            "decoder_width": 20 if small else 128,
            "decoder_layers": 3 if small else 4,
            "frequency": 5.0 if small else 8.0,
            "anchors": 0 if len(observations) <= MANY_READINGS else 64,
        }
        scaling = Scaling.fit(observations.aligned(pde.fields), domain)
        physics: Any = kernel or pde.kernel()  # a name becomes the kernel in `__init__`
        return cls(scaling, physics, seed=seed, **(suited | sizes))
