"""How much noise the readings hold, and how far the weights should be held back (MacKay 1992).

Readings with noise are memorised by a network with more weights than readings. A Gaussian prior on the
weights stops that; the evidence says how strong it should be, without a reading held out. With the rows
r of the loss, J their derivative, n readings and p weights θ,

    H = JᵀJ + a,    γ = p − a tr H⁻¹,    γ_d = tr(H⁻¹ J_dᵀJ_d),    σ² = n |r_d|² / (n − γ_d)
    a ← (σ²/n) γ / |θ|²

where d marks the rows of the readings, whose squares sum to their mean square (hence the n).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

LEAST_FREE = 0.1  # of the readings: more weights than that are never taken to be determined by them


@jax.jit
def update(
    jacobian: Float[Array, "rows p"],
    misfit: Float[Array, " n"],
    theta: Float[Array, " p"],
    hold: Float[Array, ""],
    count: Float[Array, ""],
    given: Float[Array, ""],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """(a, σ) after one step of the fixed-point iteration.

    `jacobian` has the rows of the readings first, `misfit` is r_d, `count` the number n of measured
    values. `given` is σ where it is known, 0 where it is to be estimated.
    """
    size = len(theta)
    inverse = jnp.linalg.inv(jacobian.T @ jacobian + hold * jnp.eye(size))
    of_readings = jacobian[: len(misfit)]
    determined = size - hold * jnp.trace(inverse)
    from_readings = jnp.sum((of_readings @ inverse) * of_readings)
    free = jnp.maximum(count - from_readings, LEAST_FREE * count)
    estimated = count * (misfit @ misfit) / free
    variance = jnp.where(given > 0, given**2, estimated)
    return variance / count * determined / (theta @ theta), jnp.sqrt(variance)
