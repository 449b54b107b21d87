"""How much noise the readings hold, and how far the weights should be held back (MacKay 1992).

Readings with noise are memorised by a network with more weights than readings. A Gaussian prior on the
weights stops that; the evidence says how strong it should be, without a reading held out. With the rows
r of the loss, J their derivative, n readings and p weights w,

    H = JᵀJ + a P,    γ = p − a tr PH⁻¹,    γ_d = tr(H⁻¹ J_dᵀJ_d),    σ² = n |r_d|² / (n − γ_d)
    a ← (σ²/n) γ / |w|²

where d marks the rows of the readings, whose squares sum to their mean square (hence the n), and P is 1
for the weights and 0 for unknown coefficients, which have no prior. With fewer rows than weights the
same numbers come from K = J A⁻¹ Jᵀ with A = a max(P, a little), and C, the coefficients' columns of
J A^(-1/2),

    γ = tr(1 − (1 + K)⁻¹) − tr(Cᵀ(1 + K)⁻¹C),    γ_d = tr_d(1 − (1 + K)⁻¹)
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

LEAST_FREE = 0.1  # of the readings: more weights than that are never taken to be determined by them
LEAST_DETERMINED = 1e-3  # of one weight: with less, weights would be held by nothing at all
EXCEEDED = 2.0  # times the σ that was given: readings that are noisier by so much contradict it
UNSEEN_HOLD = 1e-9  # of a weight's prior, on coefficients: one that no row sees has an inverse yet


class Determined(NamedTuple):
    """γ and γ_d: how many weights all rows determine, and how many numbers the readings alone."""

    weights: Float[Array, ""]
    by_readings: Float[Array, ""]


def root(
    jacobian: Float[Array | np.ndarray, "rows p"], prior: Float[Array, " p"]
) -> Float[Array, "p p"]:
    """R, upper triangular, with RᵀR = JᵀJ + diag(prior).

    By QR of J itself: a stiff equation makes JᵀJ so ill-conditioned that half of the digits are lost.
    """
    return jnp.linalg.qr(
        jnp.concatenate([jnp.asarray(jacobian), jnp.diag(jnp.sqrt(prior))]), mode="r"
    )


def held_back(size: int, free: Int[Array, ""] | int) -> Float[Array, " p"]:
    """1 for the weights among θ, a little for the last `free`, the coefficients."""
    return jnp.where(jnp.arange(size) < size - free, 1.0, UNSEEN_HOLD)


@jax.jit
def determined(
    factor: Float[Array | np.ndarray, "p p"], readings: Float[Array | np.ndarray, "n p"], hold, free
) -> Determined:
    """From R of JᵀJ + a P and the rows J_d of the readings."""
    size = len(factor)
    inverse = jax.scipy.linalg.solve_triangular(factor, jnp.eye(size))  # of R: H⁻¹ = R⁻¹R⁻ᵀ
    held = jnp.where(jnp.arange(size) < size - free, 1.0, 0.0)
    weights = jnp.sum(held) - hold * (held @ jnp.sum(inverse**2, axis=1))
    return Determined(weights, jnp.sum((readings @ inverse) ** 2))


@jax.jit
def determined_dual(
    kernel: Float[Array | np.ndarray, "rows rows"],
    coefficients: Float[Array | np.ndarray, "rows free"],
    readings,
) -> Determined:
    """From K, the coefficients' columns of J A^(-1/2), and the number of rows that are readings."""
    size = len(kernel)
    inverse = jnp.linalg.inv(kernel + jnp.eye(size))
    # With a coefficient that nothing holds, K is so large that K + 1 is singular to rounding.
    rounding = size * jnp.finfo(kernel.dtype).eps * jnp.max(jnp.diag(kernel))
    inverse = jax.lax.cond(
        jnp.isfinite(inverse).all(),
        lambda: inverse,
        lambda: jnp.linalg.inv(kernel + (1 + rounding) * jnp.eye(size)),
    )
    # What a coefficient is not held by costs digits: no row determines less than nothing for that.
    left = jnp.clip(1 - jnp.diag(inverse), 0.0, 1.0)
    of_coefficients = jnp.clip(
        jnp.sum(coefficients * (inverse @ coefficients)), 0.0, coefficients.shape[1]
    )
    is_reading = jnp.arange(size) < readings
    return Determined(jnp.sum(left) - of_coefficients, jnp.sum(jnp.where(is_reading, left, 0.0)))


@jax.jit
def update(
    found: Determined,
    misfit: Float[Array | np.ndarray, " n"],
    weights: Float[Array | np.ndarray, " p"],
    count,
    given,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """(a, σ) after one step of the fixed-point iteration.

    `misfit` is r_d, `weights` are w, `count` is the number n of measured values. `given` is σ where it
    is known, 0 where it is to be estimated. A σ that readings plainly exceed is estimated, too: held to
    it, the weights would follow what is noise.
    """
    free = jnp.maximum(count - found.by_readings, LEAST_FREE * count)
    estimated = count * (misfit @ misfit) / free
    is_known = (given > 0) & (estimated < (EXCEEDED * given) ** 2)
    variance = jnp.where(is_known, given**2, estimated)
    determined = jnp.maximum(found.weights, LEAST_DETERMINED)
    return variance / count * determined / (weights @ weights), jnp.sqrt(variance)
