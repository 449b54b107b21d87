"""The posterior of thousands of weights with independent priors, by Cholesky factors.

Weights a have the prior N(0, s²), readings y = A a + noise with the standard deviation σ. For thousands
of weights the singular value decomposition of linear_gaussian.py takes too long. Here rows are added
block by block to AᵀA and Aᵀy, and each ratio τ = σ/s costs one Cholesky factorization of AᵀA + τ². The
evidence chooses τ; the most probable σ follows from it:

    C = AᵀA + τ²,    a = C⁻¹ Aᵀy,    σ² = (yᵀy - aᵀAᵀy) / n
    log p(y) = -n log σ - ½ log det C + p log τ + constant

The error of the prediction of a group G of readings from all others is (1 - H)⁻¹ r, where r are their
misfits and H = A_G C⁻¹ A_Gᵀ, and its covariance is σ² (1 - H)⁻¹.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float

from pgt.core.errors import InputError

# log10 of the ratios σ/s that are tried, from strong noise to weak; the search ends where evidence falls.
LOG_RATIOS = np.arange(1.0, -6.01, -0.5)

Block = tuple[Float[np.ndarray, "m p"], Float[np.ndarray, " m"]]


@dataclass(frozen=True)
class RidgePosterior:
    """The posterior N(weights, σ² C⁻¹) with the ratio σ/s of greatest evidence.

    Attributes
    ----------
    weights : the mean.
    factor : the lower triangular Cholesky factor of C.
    sigma : σ of the readings.
    ratio : σ/s.
    evidence : log p(y), up to a constant that depends on the number of readings only.
    """

    weights: Float[np.ndarray, " p"]
    factor: Float[np.ndarray, "p p"]
    sigma: float
    ratio: float
    evidence: float

    @staticmethod
    def of(blocks: Iterable[Block]) -> "RidgePosterior":
        """The posterior for rows A and values y that come in blocks.

        >>> random = np.random.default_rng(0)
        >>> rows = random.standard_normal((500, 3))
        >>> values = rows @ np.array([1.0, -2.0, 0.5]) + 0.1 * random.standard_normal(500)
        >>> posterior = RidgePosterior.of([(rows[:200], values[:200]), (rows[200:], values[200:])])
        >>> posterior.weights.round(1).tolist(), round(posterior.sigma, 1)
        ([1.0, -2.0, 0.5], 0.1)
        """
        gram, product, square, count = np.zeros(()), np.zeros(()), 0.0, 0
        for rows, values in blocks:
            gram, product = gram + rows.T @ rows, product + rows.T @ values
            square, count = square + float(values @ values), count + len(values)
        if count == 0:
            raise InputError("there are no rows: give at least one block with a reading.")
        best = None
        for ratio in 10.0**LOG_RATIOS:
            found = _at_ratio(gram, product, square, count, float(ratio))
            if found is None or (best is not None and found.evidence < best.evidence):
                break
            best = found
        if best is None:
            raise InputError("the rows are not finite: look for NaN among positions and values.")
        return best

    def spread(self, rows: Float[np.ndarray, "m p"]) -> Float[np.ndarray, " m"]:
        """The posterior's standard deviation of `rows @ weights`."""
        return self.sigma * np.sqrt(np.sum(self._seen(rows) ** 2, axis=0))

    def left_out(
        self, rows: Float[np.ndarray, "m p"], values: Float[np.ndarray, " m"]
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """The errors of the predictions of fitted readings that are left out together, and their σ."""
        seen = self._seen(rows)
        remaining = scipy.linalg.cho_factor(np.eye(len(values)) - seen.T @ seen)
        errors = scipy.linalg.cho_solve(remaining, values - rows @ self.weights)
        covariance = scipy.linalg.cho_solve(remaining, np.eye(len(values)))
        return errors, self.sigma * np.sqrt(np.diagonal(covariance))

    def _seen(self, rows: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "p m"]:
        return scipy.linalg.solve_triangular(self.factor, rows.T, lower=True, check_finite=False)


def _at_ratio(gram, product, square: float, count: int, ratio: float) -> RidgePosterior | None:
    """The posterior at this σ/s; None where rounding makes C indefinite."""
    shifted = gram.copy()
    shifted.flat[:: len(shifted) + 1] += ratio**2
    try:
        factor = scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    weights = scipy.linalg.cho_solve((factor, True), product, check_finite=False)
    variance = (square - float(weights @ product)) / count
    if not variance > 0:
        return None
    logs = np.log(np.diagonal(factor)).sum() - len(product) * np.log(ratio)
    evidence = -0.5 * count * np.log(variance) - logs
    return RidgePosterior(weights, factor, float(np.sqrt(variance)), ratio, float(evidence))
