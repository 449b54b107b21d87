"""Multi-head attention with an additive bias."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt._types import Key


def attend(
    query: Float[Array, "h k"],
    keys: Float[Array, "m h k"],
    values: Float[Array, "m h k"],
    bias: Float[Array, "#h m"],
) -> Float[Array, "h k"]:
    """softmax(q·K/√k + bias)·V for one query in every head.

    The sum is divided by its normaliser at the end, so that the (queries × tokens) weights are written
    once and never rescaled. A bias of -inf gives weight exactly zero.
    """
    logits = jnp.einsum("hk,mhk->hm", query, keys) / jnp.sqrt(query.shape[-1]) + bias
    peak = jax.lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    weights = jnp.exp(logits - peak)
    return jnp.einsum("hm,mhk->hk", weights, values) / jnp.sum(weights, axis=-1, keepdims=True)


class Projection(eqx.Module):
    """A linear map from a token to `heads` vectors."""

    weight: Float[Array, "hk w"]
    heads: int = eqx.field(static=True)

    def __init__(self, width: int, heads: int, *, key: Key):
        self.weight = jax.random.normal(key, (width, width)) / jnp.sqrt(width)
        self.heads = heads

    def __call__(self, token: Float[Array, " w"]) -> Float[Array, "h k"]:
        return (self.weight @ token).reshape(self.heads, -1)


class Attention(eqx.Module):
    """Tokens ask, other tokens answer: softmax(QKᵀ/√d_k + Γ)V in every head, then mixed."""

    queries: Projection
    keys: Projection
    values: Projection
    mix: Float[Array, "w w"]

    def __init__(self, width: int, heads: int, *, key: Key):
        q, k, v, m = jax.random.split(key, 4)
        self.queries = Projection(width, heads, key=q)
        self.keys = Projection(width, heads, key=k)
        self.values = Projection(width, heads, key=v)
        self.mix = jax.random.normal(m, (width, width)) / jnp.sqrt(width)

    def __call__(
        self,
        askers: Float[Array, "n w"],
        tokens: Float[Array, "m w"],
        bias: Float[Array, "#h n m"],
    ) -> Float[Array, "n w"]:
        keys, values = jax.vmap(self.keys)(tokens), jax.vmap(self.values)(tokens)

        def one(asker, row):
            return self.mix @ attend(self.queries(asker), keys, values, row).reshape(-1)

        return jax.vmap(one, in_axes=(0, 1))(askers, bias)
