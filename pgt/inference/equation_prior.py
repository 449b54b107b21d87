r"""What an equation says of the weights of a sum of sines by itself, in a basis in which that is short.

Weights a have the prior N(0, s²), the rows of the equation, E a = f, hold up to σ_e; ρ = s²/σ_e². All
together, in the singular vectors of E, each of them is as free as its own singular value leaves it:

    a | E ~ N(m, s² W²),    W² = 1 / (1 + ρ S²),    m = ρ W² S Uᵀf

Where an unknown k stands in an equation for u, that would be too much: k is then one for which a sum of
finitely many sines fulfils the equation well, and E is linearised at a field that the readings chose. But
an equation that can be solved for every k says nothing of k, only what u is once k is known:

    a_k ~ N(0, s² T²),    a_u | a_k ~ N(ρ W² S Uᵀ(f - E_k a_k), s² W²),    with U, S, W those of E_u

with a prior T of its own for k. What u cannot make up for is not lost: rows that hold for k alone count
in full, and where more is known of u than its equation needs, that counts as far as sums of sines may
be trusted.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float

# ρ up to which an equation tells of k what no u makes up for: sums of sines err by a hundredth of a row.
TRUSTED = 1e4


@dataclass(frozen=True)
class IndependentPrior:
    """Weights are mean + s L z, with z normal; here every one by itself."""

    mean: Float[np.ndarray, " p"]
    root: Float[np.ndarray, " p"]

    def across(self, rows: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """rows L."""
        return rows * self.root

    def along(self, normal: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """L z, of every row z."""
        return normal * self.root


@dataclass(frozen=True)
class CorrelatedPrior:
    """Weights that depend on each other."""

    mean: Float[np.ndarray, " p"]
    root: Float[np.ndarray, "p p"]

    def across(self, rows: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """rows L."""
        return rows @ self.root

    def along(self, normal: Float[np.ndarray, "n p"]) -> Float[np.ndarray, "n p"]:
        """L z, of every row z."""
        return normal @ self.root.T


Prior = IndependentPrior | CorrelatedPrior


class Basis:
    """The singular vectors and values of the equation, and the target seen in them."""

    def __init__(self, equation: Float[np.ndarray, "rows p"], target: Float[np.ndarray, " rows"]):
        triangle = _triangle(equation, target)
        left, self.values, right = svd(triangle[:, :-1], full=True)
        self.vectors = right.T
        self.pull = self.values * (left.T @ triangle[:, -1])[: len(self.values)]

    def prior(self, rho: float) -> Prior:
        """What the equation says where it is that stiff."""
        shrink = 1 / np.sqrt(1 + rho * self.values**2)
        return IndependentPrior(rho * shrink**2 * self.pull, shrink)


class ConditionalBasis:
    """The same where weights of fields follow from those of what stands in their equation, the last ones,
    whose prior has the standard deviations `others` in units of s."""

    def __init__(
        self,
        equation: Float[np.ndarray, "rows p"],
        target: Float[np.ndarray, " rows"],
        others: Float[np.ndarray, " k"],
    ):
        own, self.others = equation.shape[1] - len(others), others
        alone = ~equation[:, :own].any(axis=1)
        self.alone = _triangle(equation[alone, own:], target[alone])
        triangle = _triangle(equation[~alone], target[~alone])
        left, self.values, right = svd(triangle[:own, :own], full=True)
        self.seen, self.unmet = left.T @ triangle[:own, own:], triangle[own:, own:]
        self.vectors = np.asarray(scipy.linalg.block_diag(right.T, np.eye(len(others))))

    def beside(self, others: Float[np.ndarray, " k"]) -> "ConditionalBasis":
        """The same where the last weights have another prior."""
        changed = copy(self)
        changed.others = others
        return changed

    def prior(self, rho: float) -> Prior:
        """What the equation says where it is that stiff."""
        shrink = 1 / np.sqrt(1 + rho * self.values**2)
        gain = rho * shrink**2 * self.values
        mean, root = self._others(rho)
        own, size = len(shrink), len(shrink) + len(mean)
        whole = np.zeros((size, size))
        whole[:own, :own] = np.diag(shrink)
        whole[:own, own:] = -gain[:, None] * (self.seen[:, :-1] @ root)
        whole[own:, own:] = root
        fields = gain * (self.seen[:, -1] - self.seen[:, :-1] @ mean)
        return CorrelatedPrior(np.concatenate([fields, mean]), whole)

    def _others(self, rho: float):
        """Mean of what stands in the equation, and the root of its covariance."""
        soft = min(rho, TRUSTED)
        held = np.sqrt(soft / (1 + soft * self.values**2))
        count = len(self.others)
        # The heaviest rows first: the last digits of the light ones would be lost below them.
        rows = [
            np.sqrt(rho) * self.alone, np.sqrt(soft) * self.unmet, held[:, None] * self.seen,
            np.column_stack([np.diag(1 / self.others), np.zeros(count)]),
        ]  # fmt: skip
        triangle = _qr(np.concatenate(rows), "r")[-1][:count]
        root = scipy.linalg.solve_triangular(triangle[:, :count], np.eye(count))
        return root @ triangle[:, count], root


def _triangle(rows: Float[np.ndarray, "rows p"], target: Float[np.ndarray, " rows"]):
    """R of the rows with their target as last column, as high as it is wide."""
    found = _qr(np.column_stack([rows, target]), "r")[-1] if len(rows) else np.zeros((0, 0))
    size = rows.shape[1] + 1
    square = np.zeros((size, size))
    square[: min(len(found), size), : found.shape[1]] = found[:size]
    return square


def qr(matrix: np.ndarray):
    """Q and R, no higher than wide."""
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
