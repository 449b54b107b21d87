"""Implicit decoders: a coordinate and a context in, standardised field values out."""

import math
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.nn.block import activate
from pgt.nn.draw import Draw, zeros
from pgt.nn.sine_layers import first_weights, hidden_weights, phases

ActivationName = Literal["sine", "gelu"]


class Coordinates(eqx.Module):
    """The part both decoders share: dense layers on a coordinate and a linear readout."""

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
            # GELU layers: He scaling; the first layer still needs spread to see the coordinates.
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

    The hypernetwork H gives α and ω as 1 + output and its last layer starts near zero, so the decoder
    starts as a plain SIREN: without this, training has to undo a random modulation first.
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
    """The ablation's decoder without FiLM: the context enters once, beside the coordinate."""

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
        """The context that is put beside the coordinate."""
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
