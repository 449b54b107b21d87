r"""The prior of the weights given an equation, in the singular vectors of its rows.

Weights a have the prior N(0, s²); the rows of the equation, E a = f, hold up to errors of standard
deviation σ_e; ρ = s²/σ_e². With E = U S Vᵀ, the prior given the equation is diagonal in the basis V:

    a | E ~ N(m, s² W²),    W² = 1 / (1 + ρ S²),    m = ρ W² S Uᵀf

This prior is too certain where an equation for u contains an unknown function k. It prefers those k for
which a finite sum of sines satisfies the equation well, and E is linearized at a field that the readings
selected. But an equation that can be solved for every k carries no information on k; it only determines u
given k:

    a_k ~ N(0, s² T²),    a_u | a_k ~ N(ρ W² S Uᵀ(f - E_k a_k), s² W²),    with U, S, W those of E_u

with a prior T of its own for k. Rows that contain k alone count in full. Rows that no u can satisfy,
which arise where u is overdetermined, count only as far as sums of sines are accurate.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float

# The largest ρ of rows that no u can satisfy: it corresponds to sums of sines that err by a hundredth.
MAX_STIFFNESS_OF_UNMET_ROWS = 1e4


@dataclass(frozen=True)
class IndependentPrior:
    """The prior of weights mean + s L z, with z standard normal and the diagonal L = `root`."""

    mean: Float[np.ndarray, " p"]
    root: Float[np.ndarray, " p"]

    def across(self, rows: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """rows L."""
        return rows * self.root

    def along(self, normal: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """L z for every row z."""
        return normal * self.root


@dataclass(frozen=True)
class CorrelatedPrior:
    """The prior of weights mean + s L z, with z standard normal and any matrix L = `root`."""

    mean: Float[np.ndarray, " p"]
    root: Float[np.ndarray, "p p"]

    def across(self, rows: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """rows L."""
        return rows @ self.root

    def along(self, normal: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """L z for every row z."""
        return normal @ self.root.T


Prior = IndependentPrior | CorrelatedPrior


class Basis:
    """The singular vectors and values of the equation, and the gradient S Uᵀf."""

    def __init__(self, equation: Float[np.ndarray, "rows p"], target: Float[np.ndarray, " rows"]):
        triangle = _triangle(equation, target)
        left, self.values, right = svd(triangle[:, :-1], full=True)
        self.vectors = right.T
        self.gradient = self.values * (left.T @ triangle[:, -1])[: len(self.values)]

    def prior(self, rho: float) -> Prior:
        """The prior at this stiffness."""
        shrink = 1 / np.sqrt(1 + rho * self.values**2)
        return IndependentPrior(rho * shrink**2 * self.gradient, shrink)


class ConditionalBasis:
    """The basis of an equation whose last weights belong to unknown functions. Their prior standard
    deviations are `function_prior` in units of s; the weights of fields follow from them."""

    def __init__(
        self,
        equation: Float[np.ndarray, "rows p"],
        target: Float[np.ndarray, " rows"],
        function_prior: Float[np.ndarray, " k"],
    ):
        start, self.function_prior = equation.shape[1] - len(function_prior), function_prior
        is_alone = ~equation[:, :start].any(axis=1)  # rows that contain functions alone
        self.alone = _triangle(equation[is_alone, start:], target[is_alone])
        triangle = _triangle(equation[~is_alone], target[~is_alone])
        left, self.values, right = svd(triangle[:start, :start], full=True)
        self.coupled, self.unmet = (
            left.T @ triangle[:start, start:],
            triangle[start:, start:],
        )
        self.vectors = np.asarray(scipy.linalg.block_diag(right.T, np.eye(len(function_prior))))

    def with_prior(self, function_prior: Float[np.ndarray, " k"]) -> "ConditionalBasis":
        """The basis with another prior of the last weights."""
        changed = copy(self)
        changed.function_prior = function_prior
        return changed

    def prior(self, rho: float) -> Prior:
        """The prior at this stiffness."""
        shrink = 1 / np.sqrt(1 + rho * self.values**2)
        gain = rho * shrink**2 * self.values
        function_mean, function_root = self._function_moments(rho)
        start, size = len(shrink), len(shrink) + len(function_mean)
        joint_root = np.zeros((size, size))
        joint_root[:start, :start] = np.diag(shrink)
        joint_root[:start, start:] = -gain[:, None] * (self.coupled[:, :-1] @ function_root)
        joint_root[start:, start:] = function_root
        fields = gain * (self.coupled[:, -1] - self.coupled[:, :-1] @ function_mean)
        return CorrelatedPrior(np.concatenate([fields, function_mean]), joint_root)

    def _function_moments(self, rho: float):
        """The mean of the last weights, and the root of their covariance."""
        soft = min(rho, MAX_STIFFNESS_OF_UNMET_ROWS)
        share = np.sqrt(soft / (1 + soft * self.values**2))
        count = len(self.function_prior)
        # The heaviest rows come first, or QR would lose the last digits of the light ones.
        rows = [
            np.sqrt(rho) * self.alone, np.sqrt(soft) * self.unmet, share[:, None] * self.coupled,
            np.column_stack([np.diag(1 / self.function_prior), np.zeros(count)]),
        ]  # fmt: skip
        triangle = _qr(np.concatenate(rows), "r")[-1][:count]
        root = scipy.linalg.solve_triangular(triangle[:, :count], np.eye(count))
        return root @ triangle[:, count], root


def _triangle(rows: Float[np.ndarray, "rows p"], target: Float[np.ndarray, " rows"]):
    """R of the QR factorization of the rows with their target as last column, padded to a square."""
    factor = _qr(np.column_stack([rows, target]), "r")[-1] if len(rows) else np.zeros((0, 0))
    size = rows.shape[1] + 1
    square = np.zeros((size, size))
    square[: min(len(factor), size), : factor.shape[1]] = factor[:size]
    return square


def qr(matrix: np.ndarray):
    """Q and R of the economic QR factorization."""
    return _qr(matrix, "economic")


def _qr(matrix: np.ndarray, mode: str) -> Any:  # the types of SciPy do not depend on the mode
    return scipy.linalg.qr(matrix, mode=mode, check_finite=False)


def svd(matrix: np.ndarray, full: bool = False):
    """Left singular vectors, singular values and right singular vectors."""
    try:
        return scipy.linalg.svd(matrix, full_matrices=full, check_finite=False)
    except np.linalg.LinAlgError:  # LAPACK's divide and conquer fails in rare cases
        return scipy.linalg.svd(
            matrix, full_matrices=full, check_finite=False, lapack_driver="gesvd"
        )
