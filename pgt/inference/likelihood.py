r"""What a misfit costs: as its square, or less where it is too large to be noise.

With a misfit r and the noise σ, both in units of the spread,

$$ \rho_{gauss} = r^2, \qquad
   \rho_{student} = \nu \sigma^2 \log\left(1 + \frac{r^2}{\nu \sigma^2}\right), \qquad
   \rho_{huber} = \begin{cases} r^2 & |r| \le k\sigma \\
                                2 k \sigma |r| - k^2 \sigma^2 & \text{beyond} \end{cases} $$

All are r² for small r, so that they stand beside the other terms as a mean square. Student's is the
logarithm of the t-distribution with ν = 4 degrees of freedom, in which a reading 20 σ away pulls less
than one 2 σ away; Huber's (1964) pulls as hard as one k = 1.345 σ away.
"""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.types import Scalar

Likelihood = Literal["gauss", "huber", "student"]
FREEDOM = 4.0  # ν of Student's distribution
KNEE = 1.345  # k of Huber's: 95 % of the precision of a mean where there are no outliers
NORMAL = 1.4826  # of the median of |r|: σ of a normal distribution
CUT_OFF = 3.0  # σ: beyond it a misfit counts no more in a robust mean square
SMALLEST_SIGMA = 1e-3  # in units of the spread: without noise every misfit would be an outlier

Rows = Float[Array | np.ndarray, "*n"]


def likely_rows(likelihood: Likelihood, rows: Rows, sigma: Scalar | float) -> Float[Array, "*n"]:
    """Numbers with the sign of the misfits whose squares are ρ, as least squares wants them.

    >>> [round(float(row), 2) for row in likely_rows("huber", jnp.array([0.1, -100.0]), 1.0)]
    [0.1, -16.35]
    """
    rows = jnp.asarray(rows)
    if likelihood == "student":
        odds = rows**2 / (FREEDOM * sigma**2)
        return rows * jnp.sqrt(_log_ratio(odds))
    if likelihood == "huber":
        excess = jnp.maximum(jnp.abs(rows) / (KNEE * sigma), 1.0)
        return rows * jnp.sqrt(2 * excess - 1) / excess
    return rows


def noise_scale(rows: Rows, mask: Bool[Array | np.ndarray, "*n"]) -> Scalar:
    """σ of the misfits by their median, which half of them may be outliers without moving far.

    >>> round(float(noise_scale(jnp.array([1.0, -1.0, 1.0, 500.0]), jnp.ones(4, bool))), 4)
    1.4826
    """
    if not np.size(rows):
        return jnp.zeros(())
    sizes = jnp.where(mask, jnp.abs(jnp.asarray(rows)), jnp.nan)
    return jax.lax.stop_gradient(jnp.nan_to_num(NORMAL * jnp.nanmedian(sizes)))


def misfit_size(likelihood: Likelihood, rows: Rows, mask: Bool[Array | np.ndarray, "*n"]) -> Scalar:
    """Root mean square of misfits; where outliers are expected, of misfits cut off at 3 σ."""
    rows = jnp.where(mask, cut_off(likelihood, rows, mask), 0.0)
    return jnp.sqrt(jnp.sum(rows**2) / jnp.maximum(jnp.sum(mask), 1))


def cut_off(
    likelihood: Likelihood, rows: Rows, mask: Bool[Array | np.ndarray, "*n"]
) -> Float[Array, "*n"]:
    """The misfits; where outliers are expected, none beyond 3 σ.

    >>> rows = cut_off("student", jnp.array([1.0, -1.0, 1.0, 500.0]), jnp.ones(4, bool))
    >>> [round(float(row), 2) for row in rows]
    [1.0, -1.0, 1.0, 4.45]
    """
    rows = jnp.asarray(rows)
    if likelihood == "gauss":
        return rows
    limit = CUT_OFF * noise_scale(rows, mask)
    return jnp.clip(rows, -limit, limit)


def _log_ratio(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """log(1 + x) / x, which is 1 at 0 and has a slope there."""
    small = x < 1e-4
    safe = jnp.where(small, 1.0, x)
    return jnp.where(small, 1 - x / 2 + x**2 / 3, jnp.log1p(safe) / safe)
