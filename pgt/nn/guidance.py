"""Cheaper forms of the bias Γ in the attention of n tokens: the k nearest tokens, or low rank.

| form | bias of token i for token j | logits and exponentials |
|---|---|---|
| exact | Γ(zᵢ, zⱼ) | n² |
| `Neighbors` | Γ(zᵢ, zⱼ) for the k tokens that influence i most, otherwise -∞ | n k |
| `LowRankBias` | Σ_r Aᵢᵣ Bⱼᵣ, the interpolation of Γ from r landmarks | n², and r more entries per key |

The first one changes what attention sees; the second one only how Γ is stored, and costs an n × n table
neither to compute nor to keep. Both approximate: pgt/nn/attention.py takes them in place of the table.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

# The smallest entry of Γ that is interpolated, e⁻¹² of the influence of a token on itself; -∞ cannot be.
FLOOR = -12.0
# Singular values of the landmarks' matrix below this share of the largest are left out, for stability.
RESOLVED = 1e-2
# Among tokens of equal influence the nearer ones count as neighbors; the factor is too small to decide
# between tokens of different influence.
NEARNESS = 1e-4


class Neighbors(eqx.Module):
    """For each token, the numbers of the tokens that it attends to, and their bias."""

    index: Int[Array, "n k"]
    bias: Float[Array, "#h n k"]


class LowRankBias(eqx.Module):
    """The bias left rightᵀ, and -∞ for tokens that are hidden."""

    left: Float[Array, "#h n r"]
    right: Float[Array, "#h m r"]
    hidden: Float[Array, " m"]


Bias = Float[Array, "#heads receivers sources"] | Neighbors | LowRankBias


def nearest(
    bias: Float[Array, "#h n n"], points: Float[Array, "n_minus_1 d"], count: int
) -> Neighbors:
    """The `count` tokens of most influence on each token, in any head; the first one, which is global and
    has no point, is always among them.

    >>> table = jnp.array([[[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0]]])
    >>> nearest(table, jnp.array([[0.0], [1.0]]), 2).index.tolist()
    [[0, 1], [0, 1], [0, 2]]
    """
    influence = jax.lax.stop_gradient(jnp.max(bias, axis=0))
    squares = jnp.sum((points[:, None] - points[None]) ** 2, axis=-1)
    influence = influence - NEARNESS * jnp.pad(squares, ((1, 0), (1, 0)))
    influence = influence.at[:, 0].set(jnp.inf)
    _, index = jax.lax.top_k(influence, min(count, len(influence)))
    return Neighbors(index, jnp.take_along_axis(bias, index[None], axis=2))


def low_rank(
    gamma: Callable[[Float[Array, "n d"], Float[Array, "m d"]], Float[Array, "#h n m"]],
    points: Float[Array, "n d"],
    landmarks: Float[Array, "r d"],
    visible: Bool[Array, " n"],
) -> LowRankBias:
    """Γ(z, z') ≈ Γ(z, L) Γ(L, L)⁺ Γ(L, z') with landmarks L, and no bias for a global token in front."""
    across = jnp.maximum(gamma(points, landmarks), FLOOR)
    along = jnp.maximum(gamma(landmarks, points), FLOOR)
    core = jnp.linalg.pinv(jnp.maximum(gamma(landmarks, landmarks), FLOOR), rtol=RESOLVED)
    hidden = jnp.where(visible, 0.0, -jnp.inf)
    return LowRankBias(
        jnp.pad(across @ core, ((0, 0), (1, 0), (0, 0))),
        jnp.pad(jnp.swapaxes(along, 1, 2), ((0, 0), (1, 0), (0, 0))),
        jnp.pad(hidden, (1, 0)),
    )
