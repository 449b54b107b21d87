"""One transformer block, in the parallel form of the paper."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.nn.attention import Attention
from pgt.nn.draw import Draw, zeros
from pgt.nn.sine import sin


class Dense(eqx.Module):
    """W x + b.

    Written x Wᵀ, as in most layers here: batched over points, the neurons stay the last axis, side by
    side in memory. W x would make them the first, and each layer begin with a transposition.
    """

    weight: Float[Array, "o i"]
    bias: Float[Array, " o"]

    def __init__(self, inputs: int, outputs: int, draw: Draw):
        self.weight = draw.uniform((outputs, inputs), inputs**-0.5)
        self.bias = zeros(outputs)

    def __call__(self, x: Float[Array, " i"]) -> Float[Array, " o"]:
        return x @ self.weight.T + self.bias


class Norm(eqx.Module):
    """Layer normalisation of one token."""

    scale: Float[Array, " w"]
    shift: Float[Array, " w"]

    def __init__(self, width: int):
        self.scale = zeros(width) + 1
        self.shift = zeros(width)

    def __call__(self, token: Float[Array, " w"]) -> Float[Array, " w"]:
        centred = token - jnp.mean(token)
        return self.scale * centred * jax.lax.rsqrt(jnp.mean(centred**2) + 1e-5) + self.shift


class Mlp(eqx.Module):
    """Two dense layers with a smooth activation between."""

    first: Dense
    second: Dense
    activation: str = eqx.field(static=True)

    def __init__(self, inputs: int, hidden: int, outputs: int, activation: str, draw: Draw):
        self.first = Dense(inputs, hidden, draw)
        self.second = Dense(hidden, outputs, draw)
        self.activation = activation

    def __call__(self, x: Float[Array, " i"]) -> Float[Array, " o"]:
        return self.second(activate(self.activation, self.first(x)))


class Block(eqx.Module):
    """C + Attn(LN C) + MLP(LN C), with Γ added to the attention logits of every head."""

    norm: Norm
    attention: Attention
    mlp: Mlp

    def __init__(self, width: int, heads: int, draw: Draw):
        self.norm = Norm(width)
        self.attention = Attention(width, heads, draw)
        self.mlp = Mlp(width, 2 * width, width, "gelu", draw)

    def __call__(
        self, tokens: Float[Array, "n w"], bias: Float[Array, "#h n n"]
    ) -> Float[Array, "n w"]:
        normed = jax.vmap(self.norm)(tokens)
        return tokens + self.attention(normed, normed, bias) + jax.vmap(self.mlp)(normed)


ACTIVATIONS = {"gelu": jax.nn.gelu, "sine": sin, "tanh": jnp.tanh}


def activate(name: str, x: Float[Array, " w"]) -> Float[Array, " w"]:
    """The activation of that name at x; by name, so that a model is plain data and can be saved."""
    if name not in ACTIVATIONS:
        raise InputError(f"activation = {name!r} is unknown; known are {', '.join(ACTIVATIONS)}.")
    return ACTIVATIONS[name](x)
