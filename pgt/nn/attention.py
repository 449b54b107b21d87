"""Multi-head attention with an additive bias."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.nn.draw import Draw


def attend(
    query: Float[Array, "h k"],
    keys: Float[Array, "m h k"],
    values: Float[Array, "m h k+1"],
    bias: Float[Array, "#h m"],
) -> Float[Array, "h k"]:
    """softmax(q·K/√k + bias)·V for one query in every head; `values` comes from `with_one`.

    The sum is divided by its normaliser at the end, and the normaliser is the last column of the same
    matrix product: the (queries × tokens) weights are written once and read once. A bias of -inf
    gives weight exactly zero.
    """
    logits = jnp.einsum("hk,mhk->hm", query / math.sqrt(query.shape[-1]), keys) + bias
    peak = jax.lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    sums = jnp.einsum("hm,mhk->hk", jnp.exp(logits - peak), values)
    return sums[:, :-1] / sums[:, -1:]


def with_one(values: Float[Array, "m h k"]) -> Float[Array, "m h k+1"]:
    """Values with a column of ones, whose weighted sum is the softmax's normaliser."""
    return jnp.concatenate([values, jnp.ones_like(values[..., :1])], axis=-1)


class Projection(eqx.Module):
    """A linear map from a token to `heads` vectors."""

    weight: Float[Array, "hk w"]
    heads: int = eqx.field(static=True)

    def __init__(self, width: int, heads: int, draw: Draw):
        self.weight = draw.normal((width, width), width**-0.5)
        self.heads = heads

    def __call__(self, token: Float[Array, " w"]) -> Float[Array, "h k"]:
        return (token @ self.weight.T).reshape(self.heads, -1)


class Attention(eqx.Module):
    """Tokens ask, other tokens answer: softmax(QKᵀ/√d_k + Γ)V in every head, then mixed."""

    queries: Projection
    keys: Projection
    values: Projection
    mix: Float[Array, "w w"]

    def __init__(self, width: int, heads: int, draw: Draw):
        self.queries = Projection(width, heads, draw)
        self.keys = Projection(width, heads, draw)
        self.values = Projection(width, heads, draw)
        self.mix = draw.normal((width, width), width**-0.5)

    def __call__(
        self,
        askers: Float[Array, "n w"],
        tokens: Float[Array, "m w"],
        bias: Float[Array, "#h n m"],
    ) -> Float[Array, "n w"]:
        keys, values = jax.vmap(self.keys)(tokens), with_one(jax.vmap(self.values)(tokens))

        def one(asker, row):
            return attend(self.queries(asker), keys, values, row).reshape(-1) @ self.mix.T

        return jax.vmap(one, in_axes=(0, 1))(askers, bias)
