"""`PINNsFormer`: a transformer over a short sequence of times that starts at the evaluation point.

    z = (x, t) ──► (x, t), (x, t+Δt), … ──mixer──► tokens ──► encoder ──► memory
                                                     │                      │
                                       first token ──┴──► decoder: cross-attention ──► MLP ──► u(z)

Shapes in trailing comments: k times, e embedded coordinates, w width, c fields.
"""

import math
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.arguments import Limits, Positive, Seed, Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.kernel import NoKernel
from pgt.models.field_model import AbstractFrame, AbstractNetwork, UnitReadings
from pgt.nn import layers
from pgt.nn.attention import Attention, Dense
from pgt.nn.layers import Draw, Embedding, zeros
from pgt.nn.scaling import Scaling


class Wavelet(eqx.Module):
    """The activation a sin(x) + b cos(x); a and b are trained and start at one."""

    amplitudes: Float[Array, " 2"]

    def __init__(self):
        self.amplitudes = zeros(2) + 1

    def __call__(self, x: Float[Array, "*n w"]) -> Float[Array, "*n w"]:
        return self.amplitudes[0] * layers.sin(x) + self.amplitudes[1] * layers.cos(x)


class WaveletMlp(eqx.Module):
    """Three dense layers with two wavelet activations between."""

    first: Dense
    second: Dense
    third: Dense
    waves: tuple[Wavelet, Wavelet]

    def __init__(self, inputs: int, hidden: int, outputs: int, draw: Draw):
        self.first = _dense(inputs, hidden, draw)
        self.second = _dense(hidden, hidden, draw)
        self.third = _dense(hidden, outputs, draw)
        self.waves = (Wavelet(), Wavelet())

    def __call__(self, x: Float[Array, " i"]) -> Float[Array, " o"]:
        return self.third(self.waves[1](self.second(self.waves[0](self.first(x)))))


class Layer(eqx.Module):
    """X + Attn(wave X, memory), then X + MLP(wave X); without a memory this is self-attention."""

    attention: Attention
    mlp: WaveletMlp
    waves: tuple[Wavelet, Wavelet]

    def __init__(self, width: int, heads: int, hidden: int, draw: Draw):
        self.attention = Attention(width, heads, draw)
        self.mlp = WaveletMlp(width, hidden, width, draw)
        self.waves = (Wavelet(), Wavelet())

    def __call__(
        self, tokens: Float[Array, "n w"], memory: Float[Array, "m w"] | None = None
    ) -> Float[Array, "n w"]:
        queries = self.waves[0](tokens)
        sources = queries if memory is None else memory
        no_bias = jnp.zeros((1, len(queries), len(sources)), queries.dtype)
        tokens = tokens + self.attention(queries, sources, no_bias)
        return tokens + jax.vmap(self.mlp)(self.waves[1](tokens))


class Sequence(eqx.Module):
    """The embedded points (x, t), (x, t+Δt), …: `times` points, a share `step` of the time axis apart."""

    embedding: Embedding
    times: int = eqx.field(static=True)
    step: float = eqx.field(static=True)
    time_axis: int = eqx.field(static=True)

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, "k e"]:
        """The embedded points, computed from the embedding of the first one.

        An ordinary time is shifted and a periodic one is rotated on its circle. This takes one product
        and one sum, and loses no digits of Δt where t is large.
        """
        start, periodic = self.embedding(z), self.embedding.periodic
        size = len(start)
        place = self.time_axis + sum(periodic[: self.time_axis])
        ahead = 2 * self.step * np.arange(self.times)  # in unit coordinates
        turn, shift = np.tile(np.eye(size), (self.times, 1, 1)), np.zeros((self.times, size))
        if periodic[self.time_axis]:
            cos, sin = np.cos(np.pi * ahead), np.sin(np.pi * ahead)
            rotation = np.array([[cos, -sin], [sin, cos]])
            turn[:, place : place + 2, place : place + 2] = np.moveaxis(rotation, -1, 0)
        else:
            shift[:, place] = ahead
        return jnp.asarray(turn, start.dtype) @ start + jnp.asarray(shift, start.dtype)


class SequenceNetwork(AbstractNetwork):
    """A transformer over the sequence that starts at z; its first value is u(z)."""

    sequence: Sequence
    mixer: Dense
    encoder: tuple[Layer, ...]
    encoder_wave: Wavelet
    decoder: tuple[Layer, ...]
    decoder_wave: Wavelet
    output: WaveletMlp

    def __init__(
        self,
        sequence: Sequence,
        fields: int,
        width: int,
        heads: int,
        layers: int,
        hidden: int,
        output_hidden: int,
        draw: Draw,
    ):
        self.sequence = sequence
        self.mixer = _dense(sequence.embedding.size, width, draw)
        self.encoder = tuple(Layer(width, heads, hidden, draw) for _ in range(layers))
        self.encoder_wave = Wavelet()
        self.decoder = tuple(Layer(width, heads, hidden, draw) for _ in range(layers))
        self.decoder_wave = Wavelet()
        self.output = WaveletMlp(width, output_hidden, fields, draw)

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """An empty context: the readings only enter the loss."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The first element of the sequence that starts at z."""
        tokens = jax.vmap(self.mixer)(self.sequence(z))  # k w
        memory = tokens
        for layer in self.encoder:
            memory = layer(memory)
        memory = self.encoder_wave(memory)
        token = tokens[:1]
        for layer in self.decoder:
            token = layer(token, memory)
        return self.output(self.decoder_wave(token[0]))

    def tunable(self):
        """All weights, because nothing is computed before z is known."""
        return (
            self.mixer, self.encoder, self.encoder_wave, self.decoder, self.decoder_wave, self.output
        )  # fmt: skip


@register("pinnsformer")
class PINNsFormer(AbstractFrame):
    r"""PINNsFormer (Zhao, Ding & Prakash 2024), a coordinate network that looks a little ahead in time.

    $$ u(x, t) = \mathrm{MLP}(\mathrm{decoder}(s_0, \mathrm{encoder}(s_0, \dots, s_{k-1}))), \quad
       s_j = W\,(x,\, t + j \Delta t) + b $$

    The derivatives are those of this function: the whole sequence moves with (x, t). The decoder has
    no self-attention, so that only its first token is computed. In the paper the residual is also
    averaged over the sequence; here it is evaluated at z alone, as for every other model.

    Each point costs `times` tokens, each through wide layers. On the wake, at the default sizes, this is
    ten times the operations of a SIREN of width 256. On a CPU take `width=16, hidden=64,
    output_hidden=64`; even so, compilation takes about as much CPU time as 500 steps.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    width, heads, layers
        Width of a token, attention heads, and layers in the encoder and again in the decoder.
    hidden, output_hidden
        Width inside the layers' MLPs and inside the last MLP.
    times, step
        k, and Δt as a share of the time axis' length; the paper's 1e-4 is for times from 0 to 1.
    time_axis
        The coordinate along which the sequence steps; the last by default. Without time it may be any.

    The example below builds one; `python examples/rivals.py PINNsFormer` trains it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = PINNsFormer(scaling, width=8, hidden=16, output_hidden=16)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: NoKernel
    network: SequenceNetwork

    def __init__(
        self,
        scaling: Scaling,
        *,
        width: Size = 32,
        heads: Size = 2,
        layers: Size = 1,
        hidden: Size = 256,
        output_hidden: Size = 512,
        times: Size = 5,
        step: Positive = 1e-4,
        time_axis: Annotated[int, Limits(at_least=-1, at_most=3)] = -1,
        seed: Seed = 0,
    ):
        dimension, fields = len(scaling.periodic), len(scaling.mean)
        _check(width, heads, time_axis, dimension)
        embedding = Embedding(scaling.periodic)
        sequence = Sequence(embedding, times, float(step), time_axis % dimension)
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = SequenceNetwork(
            sequence, fields, width, heads, layers, hidden, output_hidden, Draw(seed)
        )


def _dense(inputs: int, outputs: int, draw: Draw) -> Dense:
    """A dense layer with the authors' weights (Glorot & Bengio 2010) and zero biases."""
    weight = draw.uniform((outputs, inputs), math.sqrt(6 / (inputs + outputs)))
    return eqx.tree_at(lambda dense: dense.weight, Dense(inputs, outputs, draw), weight)


def _check(width, heads, time_axis, dimension):
    if width % heads:
        raise InputError(
            f"PINNsFormer(width={width}, heads={heads}): width must be a multiple of heads."
        )
    if not -dimension <= time_axis < dimension:
        raise InputError(
            f"PINNsFormer(time_axis={time_axis}): there are {dimension} coordinates; write an index "
            f"from 0 to {dimension - 1}, or -1 for the last."
        )
