"""One transformer block, in the parallel form of the paper."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt._types import Key
from pgt.nn.attention import Attention


class Mlp(eqx.Module):
    """Two dense layers with a smooth activation between."""

    first: eqx.nn.Linear
    second: eqx.nn.Linear
    activation: str = eqx.field(static=True)

    def __init__(self, inputs: int, hidden: int, outputs: int, *, activation="gelu", key: Key):
        a, b = jax.random.split(key)
        self.first = eqx.nn.Linear(inputs, hidden, key=a)
        self.second = eqx.nn.Linear(hidden, outputs, key=b)
        self.activation = activation

    def __call__(self, x: Float[Array, " i"]) -> Float[Array, " o"]:
        return self.second(activate(self.activation, self.first(x)))


class Block(eqx.Module):
    """C + Attn(LN C) + MLP(LN C), with Γ added to the attention logits of every head."""

    norm: eqx.nn.LayerNorm
    attention: Attention
    mlp: Mlp

    def __init__(self, width: int, heads: int, *, key: Key):
        a, m = jax.random.split(key)
        self.norm = eqx.nn.LayerNorm(width)
        self.attention = Attention(width, heads, key=a)
        self.mlp = Mlp(width, 2 * width, width, key=m)

    def __call__(
        self, tokens: Float[Array, "n w"], bias: Float[Array, "#h n n"]
    ) -> Float[Array, "n w"]:
        normed = jax.vmap(self.norm)(tokens)
        return tokens + self.attention(normed, normed, bias) + jax.vmap(self.mlp)(normed)


def activate(name: str, x: Float[Array, " w"]) -> Float[Array, " w"]:
    """Activations by name, so that a model is plain data and can be saved."""
    if name == "sine":
        return jnp.sin(x)
    if name == "tanh":
        return jnp.tanh(x)
    return jax.nn.gelu(x)
