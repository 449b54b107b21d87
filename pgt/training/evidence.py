"""How much noise the readings hold, and how far the weights should be held back (MacKay 1992).

Readings with noise are memorised by a network with more weights than readings. A Gaussian prior on the
weights stops that; the evidence says how strong it should be, without a reading held out. With the rows
r of the loss, J their derivative, n readings and p weights w,

    H = JᵀJ + a P,    γ = p − a tr PH⁻¹,    γ_d = tr(H⁻¹ J_dᵀJ_d),    σ² = n |r_d|² / (n − γ_d)
    a ← (σ²/n) γ / |w|²

where d marks the rows of the readings, whose squares sum to their mean square (hence the n), and P is 1
for the weights and 0 for unknown coefficients, which have no prior.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

LEAST_FREE = 0.1  # of the readings: more weights than that are never taken to be determined by them
UNSEEN_HOLD = 1e-9  # of a weight's prior, on coefficients: one that no row sees has an inverse yet


def root(jacobian: Float[Array, "rows p"], prior: Float[Array, " p"]) -> Float[Array, "p p"]:
    """R, upper triangular, with RᵀR = JᵀJ + diag(prior).

    By QR of J itself: a stiff equation makes JᵀJ so ill-conditioned that half of the digits are lost.
    """
    return jnp.linalg.qr(jnp.concatenate([jacobian, jnp.diag(jnp.sqrt(prior))]), mode="r")


@jax.jit
def update(
    jacobian: Float[Array, "rows p"],
    misfit: Float[Array, " n"],
    theta: Float[Array, " p"],
    hold: Float[Array, ""],
    count: Float[Array, ""],
    given: Float[Array, ""],
    free: Int[Array, ""] | int = 0,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """(a, σ) after one step of the fixed-point iteration.

    `jacobian` has the rows of the readings first, `misfit` is r_d, `count` the number n of measured
    values. `given` is σ where it is known, 0 where it is to be estimated; the last `free` of θ are
    coefficients.
    """
    held = jnp.where(jnp.arange(len(theta)) < len(theta) - free, 1.0, 0.0)
    factor = root(jacobian, hold * jnp.maximum(held, UNSEEN_HOLD))
    inverse = jax.scipy.linalg.solve_triangular(factor, jnp.eye(len(theta)))  # of R: H⁻¹ = R⁻¹R⁻ᵀ
    determined = jnp.sum(held) - hold * (held @ jnp.sum(inverse**2, axis=1))
    from_readings = jnp.sum((jacobian[: len(misfit)] @ inverse) ** 2)
    free = jnp.maximum(count - from_readings, LEAST_FREE * count)
    estimated = count * (misfit @ misfit) / free
    variance = jnp.where(given > 0, given**2, estimated)
    return variance / count * determined / (held @ theta**2), jnp.sqrt(variance)
