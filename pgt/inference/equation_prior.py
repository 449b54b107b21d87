r"""The prior of the weights that an equation implies, in the singular vectors of its rows.

Weights a have the prior N(0, s²), the rows of the equation, E a = f, hold up to σ_e; ρ = s²/σ_e². In the
singular vectors of E, with E = U S Vᵀ, the prior given the equation is diagonal:

    a | E ~ N(m, s² W²),    W² = 1 / (1 + ρ S²),    m = ρ W² S Uᵀf

Where an unknown function k stands in an equation for u, this is too certain: it prefers a k for which a
sum of finitely many sines fulfills the equation well, and E is linearized at a field that the readings
selected. But an equation that can be solved for every k says nothing of k, only what u is given k:

    a_k ~ N(0, s² T²),    a_u | a_k ~ N(ρ W² S Uᵀ(f - E_k a_k), s² W²),    with U, S, W those of E_u

with a prior T of its own for k. Rows that hold for k alone count in full. Rows that no u can fulfill,
where more is known of u than its equation needs, count as far as sums of sines are accurate.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float

# The largest ρ of rows that no u can fulfill: sums of sines err by a hundredth of a row.
MAX_STIFFNESS_OF_UNMET_ROWS = 1e4


@dataclass(frozen=True)
class IndependentPrior:
    """Weights are mean + s L z, with z standard normal; here L is diagonal."""

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
    """Weights are mean + s L z, with any matrix L."""

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
    """The singular vectors and values of the equation, and its target along them."""

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
    """The same where the weights of fields follow from those of the functions in their equation, the last
    ones, whose prior has the standard deviations `function_prior` in units of s."""

    def __init__(
        self,
        equation: Float[np.ndarray, "rows p"],
        target: Float[np.ndarray, " rows"],
        function_prior: Float[np.ndarray, " k"],
    ):
        own, self.function_prior = equation.shape[1] - len(function_prior), function_prior
        is_alone = ~equation[:, :own].any(axis=1)  # rows of functions alone
        self.alone = _triangle(equation[is_alone, own:], target[is_alone])
        triangle = _triangle(equation[~is_alone], target[~is_alone])
        left, self.values, right = svd(triangle[:own, :own], full=True)
        self.coupled, self.unmet = left.T @ triangle[:own, own:], triangle[own:, own:]
        self.vectors = np.asarray(scipy.linalg.block_diag(right.T, np.eye(len(function_prior))))

    def with_prior(self, function_prior: Float[np.ndarray, " k"]) -> "ConditionalBasis":
        """The same with another prior of the last weights."""
        changed = copy(self)
        changed.function_prior = function_prior
        return changed

    def prior(self, rho: float) -> Prior:
        """The prior at this stiffness."""
        shrink = 1 / np.sqrt(1 + rho * self.values**2)
        gain = rho * shrink**2 * self.values
        mean, root = self._functions(rho)
        own, size = len(shrink), len(shrink) + len(mean)
        whole = np.zeros((size, size))
        whole[:own, :own] = np.diag(shrink)
        whole[:own, own:] = -gain[:, None] * (self.coupled[:, :-1] @ root)
        whole[own:, own:] = root
        fields = gain * (self.coupled[:, -1] - self.coupled[:, :-1] @ mean)
        return CorrelatedPrior(np.concatenate([fields, mean]), whole)

    def _functions(self, rho: float):
        """The mean of the last weights, and the root of their covariance."""
        soft = min(rho, MAX_STIFFNESS_OF_UNMET_ROWS)
        share = np.sqrt(soft / (1 + soft * self.values**2))
        count = len(self.function_prior)
        # The heaviest rows first: the last digits of the light ones would be lost below them.
        rows = [
            np.sqrt(rho) * self.alone, np.sqrt(soft) * self.unmet, share[:, None] * self.coupled,
            np.column_stack([np.diag(1 / self.function_prior), np.zeros(count)]),
        ]  # fmt: skip
        triangle = _qr(np.concatenate(rows), "r")[-1][:count]
        root = scipy.linalg.solve_triangular(triangle[:, :count], np.eye(count))
        return root @ triangle[:, count], root


def _triangle(rows: Float[np.ndarray, "rows p"], target: Float[np.ndarray, " rows"]):
    """R of the rows with their target as last column, square."""
    found = _qr(np.column_stack([rows, target]), "r")[-1] if len(rows) else np.zeros((0, 0))
    size = rows.shape[1] + 1
    square = np.zeros((size, size))
    square[: min(len(found), size), : found.shape[1]] = found[:size]
    return square


def qr(matrix: np.ndarray):
    """Q and R of the economic factorization."""
    return _qr(matrix, "economic")


def _qr(matrix: np.ndarray, mode: str) -> Any:  # its types do not tell one mode from another
    return scipy.linalg.qr(matrix, mode=mode, check_finite=False)


def svd(matrix: np.ndarray, full: bool = False):
    """Left vectors, values and right vectors."""
    try:
        return scipy.linalg.svd(matrix, full_matrices=full, check_finite=False)
    except np.linalg.LinAlgError:  # divide and conquer fails once in a great while
        return scipy.linalg.svd(
            matrix, full_matrices=full, check_finite=False, lapack_driver="gesvd"
        )
