"""Multi-head attention with the additive bias Γ, the transformer block, and stacks of dense layers."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.nn.guidance import Bias, LowRankBias, Neighbors
from pgt.nn.layers import Draw, sin, zeros


def attend(
    query: Float[Array, "h k"],
    keys: Float[Array, "m h k"],
    values: Float[Array, "m h v"],
    bias: Float[Array, "#h m"],
    half: bool = False,
) -> Float[Array, "h v-1"]:
    """softmax(q·K/√k + bias)·V for one query in every head; `values` comes from `with_one`.

    With `half`, the two products take bfloat16 numbers, and sum and softmax stay in the usual precision.

    The sum is divided by its normaliser at the end, which is the last column of the same matrix product.
    The (queries × tokens) weights are thus written once and read once. A bias of -inf gives a weight of
    exactly zero.
    """
    product = _half_product if half else jnp.einsum
    logits = product("hk,mhk->hm", query / math.sqrt(query.shape[-1]), keys) + bias
    peak = jax.lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    sums = product("hm,mhk->hk", jnp.exp(logits - peak), values)
    return sums[:, :-1] / sums[:, -1:]


def _half_product(
    axes: str, left: Float[Array, "..."], right: Float[Array, "..."]
) -> Float[Array, "..."]:
    """The product of bfloat16 numbers, summed in the precision of the arguments."""
    parts = (part.astype(jnp.bfloat16) for part in (left, right))
    return jnp.einsum(axes, *parts, preferred_element_type=left.dtype)


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
    """Multi-head attention: softmax(QKᵀ/√d_k + Γ)V in each head, then a linear mix of the heads.

    Γ is a table, or one of the cheaper forms of pgt/nn/guidance.py.
    """

    queries: Projection
    keys: Projection
    values: Projection
    mix: Float[Array, "w w"]
    half: bool = eqx.field(static=True, default=False)

    def __init__(self, width: int, heads: int, draw: Draw, half: bool = False):
        self.queries = Projection(width, heads, draw)
        self.keys = Projection(width, heads, draw)
        self.values = Projection(width, heads, draw)
        self.mix = draw.normal((width, width), width**-0.5)
        self.half = half

    def __call__(
        self,
        askers: Float[Array, "n w"],
        tokens: Float[Array, "m w"],
        bias: Bias,
    ) -> Float[Array, "n w"]:
        queries, keys = jax.vmap(self.queries)(askers), jax.vmap(self.keys)(tokens)
        values = with_one(jax.vmap(self.values)(tokens))
        if isinstance(bias, Neighbors):

            def attend_some(query, which, row):
                return attend(query, keys[which], values[which], row, self.half)

            found = jax.vmap(attend_some, in_axes=(0, 0, 1))(queries, bias.index, bias.bias)
        else:
            if isinstance(bias, LowRankBias):
                queries, keys, bias = _with_factors(queries, keys, bias)

            def attend_all(query, row):
                return attend(query, keys, values, row, self.half)

            found = jax.vmap(attend_all, in_axes=(0, 1))(queries, bias)
        return found.reshape(len(askers), -1) @ self.mix.T


def _with_factors(
    queries: Float[Array, "n h k"], keys: Float[Array, "m h k"], bias: LowRankBias
) -> tuple[Float[Array, "n h kr"], Float[Array, "m h kr"], Float[Array, "1 n m"]]:
    """Queries and keys whose products are the logits with the bias of low rank, and what is hidden.

    `attend` divides by the root of the length, which the factors make longer.
    """
    longer = math.sqrt(queries.shape[-1] + bias.left.shape[-1])
    heads = queries.shape[1]
    left, right = (
        jnp.moveaxis(jnp.broadcast_to(part, (heads, *part.shape[1:])), 0, 1)
        for part in (bias.left, bias.right)
    )
    queries = jnp.concatenate([queries / math.sqrt(queries.shape[-1]), left], axis=-1) * longer
    hidden = jnp.broadcast_to(bias.hidden, (1, len(queries), len(keys)))
    return queries, jnp.concatenate([keys, right], axis=-1), hidden


# ------------------------------------------------------------------------------- the block

# One transformer block, in the parallel form of the paper.


class Dense(eqx.Module):
    """The dense layer W x + b.

    It is written x Wᵀ, as in most layers here. Batched over points, the neurons then stay the last axis,
    contiguous in memory; with W x they would be the first axis, and each layer would begin with a
    transposition.
    """

    weight: Float[Array, "o i"]
    bias: Float[Array, " o"]

    def __init__(self, inputs: int, outputs: int, draw: Draw):
        self.weight = draw.uniform((outputs, inputs), inputs**-0.5)
        self.bias = zeros(outputs)

    def __call__(self, x: Float[Array, " i"]) -> Float[Array, " o"]:
        return x @ self.weight.T + self.bias


class Norm(eqx.Module):
    """The layer normalisation of one token."""

    scale: Float[Array, " w"]
    shift: Float[Array, " w"]

    def __init__(self, width: int):
        self.scale = zeros(width) + 1
        self.shift = zeros(width)

    def __call__(self, token: Float[Array, " w"]) -> Float[Array, " w"]:
        centred = token - jnp.mean(token)
        return self.scale * centred * jax.lax.rsqrt(jnp.mean(centred**2) + 1e-5) + self.shift


class Mlp(eqx.Module):
    """Two dense layers with a smooth activation between them."""

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
    """The block C + Attn(LN C) + MLP(LN C), with Γ added to the attention logits of each head."""

    norm: Norm
    attention: Attention
    mlp: Mlp

    def __init__(self, width: int, heads: int, draw: Draw, half: bool = False):
        self.norm = Norm(width)
        self.attention = Attention(width, heads, draw, half)
        self.mlp = Mlp(width, 2 * width, width, "gelu", draw)

    def __call__(self, tokens: Float[Array, "n w"], bias: Bias) -> Float[Array, "n w"]:
        normed = jax.vmap(self.norm)(tokens)
        return tokens + self.attention(normed, normed, bias) + jax.vmap(self.mlp)(normed)


ACTIVATIONS = {"gelu": jax.nn.gelu, "sine": sin, "tanh": jnp.tanh}


def activate(name: str, x: Float[Array, " w"]) -> Float[Array, " w"]:
    """The activation of this name at x; models store the name, so that they are plain data."""
    if name not in ACTIVATIONS:
        raise InputError(f"activation = {name!r} is unknown; known are {', '.join(ACTIVATIONS)}.")
    return ACTIVATIONS[name](x)


# ------------------------------------------------------------------------------- stacks of layers


class Stack(eqx.Module):
    """Dense layers h_1 = act(W_0 z + b_0), h_{l+1} = act(W_l h_l + b_l) and a readout u = R h_L + r.

    The caller draws the arrays, because their distribution depends on the activation.
    """

    first_weight: Float[Array, "w i"]
    first_bias: Float[Array, " w"]
    hidden_weight: Float[Array, "hidden w w"]
    hidden_bias: Float[Array, "hidden w"]
    readout: Float[Array, "c w"]
    offset: Float[Array, " c"]
    activation: str = eqx.field(static=True)

    def __call__(self, z: Float[Array, " i"]) -> Float[Array, " c"]:
        return self.features(z) @ self.readout.T + self.offset

    def features(self, z: Float[Array, " i"]) -> Float[Array, " w"]:
        """The last hidden layer h_L at z."""
        h = activate(self.activation, z @ self.first_weight.T + self.first_bias)
        for weight, bias in zip(self.hidden_weight, self.hidden_bias, strict=True):
            h = activate(self.activation, h @ weight.T + bias)
        return h
