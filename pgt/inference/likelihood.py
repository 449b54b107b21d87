r"""The cost ρ of a misfit: its square, or less where the misfit is too large to be noise.

With a misfit r and the noise σ, both in units of the spread,

$$ \rho_{gauss} = r^2, \qquad
   \rho_{student} = \nu \sigma^2 \log\left(1 + \frac{r^2}{\nu \sigma^2}\right), \qquad
   \rho_{huber} = \begin{cases} r^2 & |r| \le k\sigma \\
                                2 k \sigma |r| - k^2 \sigma^2 & \text{beyond} \end{cases} $$

All are r² for small r, so that they can be added to the other terms of the loss as a mean square.
Student's cost is proportional to the negative log-density of the t-distribution with ν = 4 degrees of
freedom: a reading 20 σ away has less influence than one 2 σ away. With Huber's cost (1964), the influence
of a reading does not grow beyond k = 1.345 σ. The last section tests whether two errors differ
significantly.
"""

from math import sqrt
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.core.types import Scalar

Likelihood = Literal["gauss", "huber", "student"]
FREEDOM = 4.0  # ν of Student's distribution
# k of Huber's cost: without outliers, a mean keeps 95 % of its precision.
KNEE = 1.345
NORMAL = 1.4826  # σ of a normal distribution in units of the median of |r|
CUT_OFF = 3.0  # misfits are cut off at this many σ in a robust mean square
# The smallest σ, in units of the spread: without noise every misfit would be an outlier.
SMALLEST_SIGMA = 1e-3

Rows = Float[Array | np.ndarray, "*n"]


def likely_rows(likelihood: Likelihood, rows: Rows, sigma: Scalar | float) -> Float[Array, "*n"]:
    """The rows of a least-squares problem: their squares are the costs ρ, their signs those of the
    misfits `rows`.

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
    """The σ of the misfits by their median, which stays near σ while less than half are outliers.

    >>> round(float(noise_scale(jnp.array([1.0, -1.0, 1.0, 500.0]), jnp.ones(4, bool))), 4)
    1.4826
    """
    if not np.size(rows):
        return jnp.zeros(())
    sizes = jnp.where(mask, jnp.abs(jnp.asarray(rows)), jnp.nan)
    return jax.lax.stop_gradient(jnp.nan_to_num(NORMAL * jnp.nanmedian(sizes)))


def misfit_size(likelihood: Likelihood, rows: Rows, mask: Bool[Array | np.ndarray, "*n"]) -> Scalar:
    """The root mean square of misfits; where outliers are expected, misfits are cut off at 3 σ."""
    rows = jnp.where(mask, cut_off(likelihood, rows, mask), 0.0)
    return jnp.sqrt(jnp.sum(rows**2) / jnp.maximum(jnp.sum(mask), 1))


def cut_off(
    likelihood: Likelihood, rows: Rows, mask: Bool[Array | np.ndarray, "*n"]
) -> Float[Array, "*n"]:
    """The misfits; where outliers are expected, they are clipped to ±3 σ.

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
    """log(1 + x) / x, with value 1 and a finite slope at 0."""
    small = x < 1e-4
    safe = jnp.where(small, 1.0, x)
    return jnp.where(small, 1 - x / 2 + x**2 / 3, jnp.log1p(safe) / safe)


# ------------------------------------------------------------------------------- significance

# Two errors of n readings differ significantly beyond this many standard deviations.
SIGNIFICANT_SIGMAS = 2.0


def is_less(error: float, other: float, count: int) -> bool:
    """Whether an error is significantly less than another; both are errors of `count` readings.

    >>> is_less(0.4, 1.0, 8), is_less(0.6, 1.0, 8), is_less(0.6, 1.0, 100)
    (True, False, True)
    """
    return error < (1 - SIGNIFICANT_SIGMAS / sqrt(2 * count)) * other
