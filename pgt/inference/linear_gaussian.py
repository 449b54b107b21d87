r"""The linear-Gaussian engine: prior, equation and readings in closed form, scales by the evidence.

Weights a have the prior N(0, s²). The rows of equation and conditions, E a = f, hold up to σ_e; the
readings, D a = y, up to σ. The prior that the equation implies (equation_prior.py), and the
distribution of the readings that follows from it, are

    a | E ~ N(m, s² L Lᵀ)
    y | E ~ N(D m, s² B Bᵀ + σ²),    B = D L

where m, L and the singular values of B depend on the stiffness ρ = s²/σ_e² alone. For every ratio
τ = σ/s the most probable s² has a closed form, so the evidence p(y | E), which selects ρ, s and σ,
costs one decomposition for each ρ. Nothing squares a condition number: fields are exact to 1e-12 where
equation and readings allow it.

The mean is that of greatest evidence. Draws also vary ρ, τ and s by their probability, because few
readings hardly distinguish them. The prior of s², of ρ and of the share of noise in the readings is
uniform in the logarithm; given τ, 1/s² then has a χ² distribution with n degrees of freedom.
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import chdtri

from pgt.data.splits import Groups
from pgt.inference.equation_prior import Basis, ConditionalBasis, qr, svd

# The ratios σ/s that are tried; and the variances s², where σ is known.
NOISE_RATIOS = 10.0 ** np.arange(-15.0, 3.01, 0.25)
PRIOR_VARIANCES = 10.0 ** np.arange(-16.0, 13.0, 0.25)
# Relative sizes below which a number is rounding: a column that no reading sees, a singular value (and
# σ in units of the spread), a σ beside which products keep digits, an eigenvalue of an inverse.
UNSEEN_COLUMN = 1e-17
SMALLEST_SIGMA = 1e-14
RESOLVED_SIGMA = 1e-12
RESOLVED_EIGENVALUE = 1e-10
# Differences of log-evidence: one that is no chance, and one beyond which a model is never drawn.
DECISIVE_EVIDENCE = 10.0
NEGLIGIBLE_EVIDENCE = 6.0
# Rounds of the fixed point for s² where one square has a variance of its own.
SCALE_ROUNDS = 30
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Rows:
    """Equation E a = f and readings D a = y of one problem, dimensionless.

    Attributes
    ----------
    equation, target : E and f.
    readings, values : D and y.
    sigma : σ of every reading relative to the common one.
    given : the common σ, where it is known.
    fields : the number of the field that each value belongs to; instruments for different fields
        differ.
    sigma_floor : the common σ counts as known and at least as large as this.
    function_prior : standard deviations of the last weights in units of s, where those of the fields
        follow from them (equation_prior.py).
    """

    equation: Float[np.ndarray, "rows p"]
    target: Float[np.ndarray, " rows"]
    readings: Float[np.ndarray, "n p"]
    values: Float[np.ndarray, " n"]
    sigma: Float[np.ndarray, " n"]
    given: float | None = None
    fields: Int[np.ndarray, " n"] | None = None
    sigma_floor: float = 0.0
    function_prior: Float[np.ndarray, " k"] | None = None

    def basis(self) -> Basis | ConditionalBasis:
        """The equation in its singular vectors."""
        if self.function_prior is None:
            return Basis(self.equation, self.target)
        return ConditionalBasis(self.equation, self.target, self.function_prior)


class ReducedReadings:
    """The readings in the basis of the equation, compressed where they outnumber the weights."""

    def __init__(self, rows: Rows, basis: Basis | ConditionalBasis | None = None):
        self.basis = basis or rows.basis()
        self.given, self.sigma, self.count = rows.given, rows.sigma, len(rows.values)
        self.sigma_floor = rows.sigma_floor
        self.full = (rows.readings / rows.sigma[:, None]) @ self.basis.vectors
        self.full_values = rows.values / rows.sigma
        self.rotation, self.outside = None, 0.0
        self.matrix, self.values = self.full, self.full_values
        if self.full.shape[0] > self.full.shape[1]:
            self.rotation, self.matrix = qr(self.full)
            self.values = self.rotation.T @ self.full_values
            self.outside = float(np.sum((self.full_values - self.rotation @ self.values) ** 2))

    def posterior(self, log_stiffness: float) -> "GaussianPosterior":
        """The posterior at this log10 ρ, with the s and σ of greatest evidence."""
        return GaussianPosterior(self, log_stiffness)


class Scales(NamedTuple):
    """Pairs of s² and σ with the log-evidence of each; whether s² is the most probable one for σ/s."""

    evidence: Float[np.ndarray, " t"]
    variance: Float[np.ndarray, " t"]
    sigma: Float[np.ndarray, " t"]
    is_free: bool


class ErrorDirection(NamedTuple):
    """A direction v along which readings may be wrong: its components along the left singular vectors,
    the square of the rest, and the product of the rest with the misfit."""

    components: Float[np.ndarray, " k"]
    rest: float
    rest_by_misfit: float

    def products(self, variances, tau2, misfit):
        """vᵀK⁻¹v and vᵀK⁻¹r, with the covariance K in units of s²."""
        square = np.sum(self.components[:, None] ** 2 / variances, axis=0) + self.rest / tau2
        product = (self.components * misfit)[:, None]
        return square, np.sum(product / variances, axis=0) + self.rest_by_misfit / tau2


class Maximum(NamedTuple):
    """The greatest evidence, and the log10 ρ that has it."""

    evidence: float
    log_stiffness: float


class GaussianPosterior:
    """The posterior of the weights at one stiffness; `maximum` is that of the whole scan.

    `scale` is s², `sigma` the common σ of the readings, `evidence` the logarithm of p(y | E).
    """

    def __init__(self, reduced: ReducedReadings, log_stiffness: float):
        self.reduced, self.log_stiffness = reduced, log_stiffness
        self.prior = reduced.basis.prior(10.0**log_stiffness)
        columns = self.prior.across(reduced.matrix)
        sizes = np.linalg.norm(columns, axis=0)
        self.kept = np.flatnonzero(sizes > UNSEEN_COLUMN * sizes.max(initial=0.0))
        self.left, self.singular_values, self.right = svd(columns[:, self.kept])
        misfit = reduced.values - reduced.matrix @ self.prior.mean
        self.projected = self.left.T @ misfit
        self.outside = reduced.outside + float(np.sum((misfit - self.left @ self.projected) ** 2))
        self.prior_signal = float(np.sum((reduced.full @ self.prior.mean) ** 2))
        self.scales = self._scales()
        best = int(np.argmax(self.scales.evidence))
        self.evidence, self.scale, self.sigma = (float(a[best]) for a in self.scales[:3])
        self.maximum = Maximum(self.evidence, log_stiffness)
        self.scan: list[GaussianPosterior] = [self]

    def _scales(self, direction: ErrorDirection | None = None) -> Scales:
        """The pairs of σ and s² that are tried. A given σ is kept unless a larger one is decisively more
        probable."""
        given, floor = self.reduced.given, self.reduced.sigma_floor
        if given is None and not floor:
            return self._evidences(NOISE_RATIOS**2, direction=direction)
        known = max(given or 0.0, floor)
        kept = self._evidences(known**2 / PRIOR_VARIANCES, PRIOR_VARIANCES, direction=direction)
        if floor >= known:
            return kept
        larger = self._evidences(NOISE_RATIOS**2, min_sigma=known, direction=direction)
        is_larger = larger.evidence.max() > kept.evidence.max() + DECISIVE_EVIDENCE
        return larger if is_larger else kept

    def evidence_with_error_along(self, column: Float[np.ndarray, " n"]) -> float:
        """The greatest evidence at this ρ where readings may also be wrong along one direction: `column`
        times a normal number of standard deviation 1.

        With the covariance K of the readings this is that of K + v vᵀ (Sherman and Morrison): log det
        grows by log(1 + vᵀK⁻¹v), and the misfit rᵀK⁻¹r falls by (vᵀK⁻¹r)² / (1 + vᵀK⁻¹v). A free s² is
        chosen again.
        """
        left, column = self._left, column / self.reduced.sigma
        components = left.T @ column
        is_whole = left.shape[0] == left.shape[1]  # nothing is outside but rounding
        rest = np.zeros(len(column)) if is_whole else column - left @ components
        found = ErrorDirection(components, float(rest @ rest), float(rest @ self._misfit))
        return float(self._scales(found).evidence.max())

    def _evidences(
        self,
        tau2,
        variance=None,
        min_sigma: float = SMALLEST_SIGMA,
        direction: ErrorDirection | None = None,
    ) -> Scales:
        """The evidence of ratios τ², each with its most probable s² where none is given, and σ at least
        that; `direction`: where readings may be wrong along it."""
        count, rank = self.reduced.count, len(self.singular_values)
        squares = self.singular_values[:, None] ** 2
        total = (
            np.sum(self.projected[:, None] ** 2 / (squares + tau2), axis=0) + self.outside / tau2
        )
        is_free = variance is None
        if variance is None:
            variance = np.maximum(total / count, min_sigma**2 / tau2)
        logs = np.sum(np.log(squares + tau2), axis=0) + (count - rank) * np.log(tau2)
        if direction is not None:
            size, overlap = direction.products(squares + tau2, tau2, self.projected)
            explained = np.minimum(
                overlap**2 / np.maximum(size, TINY), (1 - RESOLVED_EIGENVALUE) * total
            )
            if is_free:
                variance = np.maximum(
                    _variance_beside(count, total - explained, explained, size),
                    min_sigma**2 / tau2,
                )
            logs = logs + np.log1p(size / variance)
            total = total - explained * size / (variance + size)
        evidence = -0.5 * (count * np.log(variance) + logs + total / variance)
        noise = variance * tau2
        # From dlog τ to dlog of the share of noise: readings that are nothing but noise are one case of
        # many.
        signal = (variance * np.sum(squares) + self.prior_signal) / count
        evidence = evidence + np.log(np.maximum(signal / (signal + noise), TINY))
        if direction is not None:  # beside noise that is rounding, a direction explains rounding
            largest = float(self.singular_values.max(initial=0.0))
            is_rounding = (noise < RESOLVED_SIGMA**2) | (tau2 < (RESOLVED_SIGMA * largest) ** 2)
            evidence = np.where(is_rounding, -np.inf, evidence)
        evidence = evidence - float(np.sum(np.log(self.reduced.sigma)))
        return Scales(evidence, variance, np.sqrt(noise), is_free)

    # ------------------------------------------------------------------------ other scales

    def plausible(self) -> "list[tuple[float, GaussianPosterior]]":
        """The posterior at every ρ, σ and s² of the scan that may be drawn, with its log-probability."""
        found = []
        for posterior, width in zip(self.scan, _widths(self.scan), strict=True):
            evidence = posterior.scales.evidence + np.log(width)
            found += [
                (float(evidence[k]), posterior.at_scales(int(k)))
                for k in np.flatnonzero(evidence > self.maximum.evidence - NEGLIGIBLE_EVIDENCE)
            ]
        return found

    def at_scales(self, number: int) -> "GaussianPosterior":
        """The posterior at the same ρ, with another σ and s²."""
        other = copy(self)
        for name in ("_variances", "weights"):
            other.__dict__.pop(name, None)
        other.scale, other.sigma = (float(a[number]) for a in self.scales[1:3])
        return other

    # ------------------------------------------------------------------------ the weights

    @cached_property
    def _variances(self) -> Float[np.ndarray, " k"]:
        """Of the readings along the left singular vectors of B."""
        return self.scale * self.singular_values**2 + self.sigma**2

    @property
    def determined(self) -> float:
        """The number of weights that the readings determine: the trace of the matrix that predicts
        them."""
        return float(np.sum(self.scale * self.singular_values**2 / self._variances))

    @cached_property
    def weights(self) -> Float[np.ndarray, " p"]:
        """The mean of the posterior."""
        step = self.right.T @ (self.scale * self.singular_values * self.projected / self._variances)
        whole = np.zeros(len(self.prior.mean))
        whole[self.kept] = step
        return self.reduced.basis.vectors @ (self.prior.mean + self.prior.along(whole[None])[0])

    def spread(self, rows: Float[np.ndarray, "m p"]) -> Float[np.ndarray, " m"]:
        """The posterior's standard deviation of `rows @ a`."""
        prior = np.sqrt(self.scale) * self.prior.across(rows @ self.reduced.basis.vectors)
        seen = prior[:, self.kept] @ self.right.T
        unseen = prior.copy()
        unseen[:, self.kept] -= seen @ self.right
        left = seen * (self.sigma / np.sqrt(self._variances))
        return np.sqrt(np.sum(unseen**2, axis=1) + np.sum(left**2, axis=1))

    def draw(self, count: int, seed: int = 0, last: int = 0) -> Float[np.ndarray, "count p"]:
        """Steps from the mean to weights drawn from the posterior over all ρ, σ and s². The `last`
        weights get exactly their covariance, however few the draws; then ρ, σ and s² are the most
        probable ones."""
        random = np.random.default_rng(seed)
        normal = random.standard_normal((count, len(self.prior.mean)))
        if 0 < last <= count:
            across = self.prior.across(self.reduced.basis.vectors[-last:])
            return self._drawn(_with_exact_covariance(normal, self._shrunk(across))) - self.weights
        evidences, found = zip(*self.plausible(), strict=True)
        numbers = divide_draws(np.exp(np.array(evidences) - max(evidences)), count)
        # Quantiles in random order: few random numbers would have tails, or none, by chance.
        even = (random.permutation(count) + 0.5) / count
        degrees = self.reduced.count
        stretch = np.ones(count)
        if self.scales.is_free:
            stretch = np.sqrt(degrees / chdtri(degrees, even))
        steps, start = [], 0
        for posterior, number in zip(found, numbers, strict=True):
            own = slice(start, start := start + number)
            if number:
                steps.append(posterior._drawn(stretch[own, None] * normal[own]) - self.weights)
        return np.concatenate(steps)

    def _drawn(self, normal: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "m p"]:
        """Weights from standard normal numbers."""
        steps = np.sqrt(self.scale) * self.prior.along(self._shrunk(normal))
        return self.weights + steps @ self.reduced.basis.vectors.T

    def _shrunk(self, normal: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "m p"]:
        """Shorter along the directions that the readings determine."""
        seen = normal[:, self.kept] @ self.right.T
        shorter = normal.copy()
        shorter[:, self.kept] += (seen * (self.sigma / np.sqrt(self._variances) - 1)) @ self.right
        return shorter

    # ------------------------------------------------------------------------ leave-out predictions

    def noise_of(self, fields: Int[np.ndarray, " n"]) -> Float[np.ndarray, " k"]:
        """σ of the readings of each field by their misfit, relative to what it is taken to be: with
        the leverage h of a reading, σ² Σ (1 - h) = Σ r²."""
        inverse_misfit, inverse = self._inverse()
        squares, free = inverse_misfit**2, inverse(None)
        sums = np.array([np.bincount(fields, weights=part) for part in (squares, free)])
        return np.sqrt(sums[0] / np.maximum(sums[1], TINY))

    def left_out(self, groups: Groups | None = None):
        """The error of the prediction of every reading from all others, and its σ.

        With `groups`, from the readings of other groups. In closed form: with the covariance K of the
        readings and their misfit r, (K⁻¹)_GG⁻¹ (K⁻¹ r)_G, of variance (K⁻¹)_GG⁻¹.
        """
        if groups is None:
            inverse_misfit, inverse = self._inverse()
            diagonal, sigma = inverse(None), self.reduced.sigma
            return sigma * inverse_misfit / diagonal, sigma / np.sqrt(diagonal)
        error, spread = np.zeros(self.reduced.count), np.zeros(self.reduced.count)
        parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        for inside, found in zip(parts, self.without(*parts), strict=True):
            error[inside], spread[inside] = found
        return error, spread

    def without(self, *parts: Int[np.ndarray, " _"]):
        """The error of the prediction of some readings from all others, and its σ; for each of the
        `parts`, whose readings are left out together."""
        inverse_misfit, inverse = self._inverse()
        for inside in parts:
            is_large = len(inside) > len(self.singular_values)
            leave_out = self._without_many if is_large else self._without_few
            found = leave_out(inside, inverse_misfit, inverse) or self._from_others(inside)
            error, spread = found
            yield self.reduced.sigma[inside] * error, self.reduced.sigma[inside] * spread

    def _without_few(self, inside: Int[np.ndarray, " m"], inverse_misfit, inverse):
        """(K⁻¹)_GG⁻¹ (K⁻¹ r)_G and the root of the diagonal of (K⁻¹)_GG⁻¹; None where rounding would
        decide."""
        sizes, vectors = np.linalg.eigh(inverse(inside))
        if sizes[0] < RESOLVED_EIGENVALUE * sizes[-1]:
            return None
        error = vectors @ ((vectors.T @ inverse_misfit[inside]) / sizes)
        return error, np.sqrt(vectors**2 @ (1 / sizes))

    def _without_many(self, inside: Int[np.ndarray, " m"], inverse_misfit, inverse):
        """The same for more readings than B has singular values. With (K⁻¹)_GG = (1 - V Vᵀ)/σ², its
        inverse is σ² (1 + V (1 - VᵀV)⁻¹ Vᵀ), and VᵀV is as large as there are singular values."""
        part = self._left[inside] * (np.sqrt(self.scale / self._variances) * self.singular_values)
        sizes, vectors = np.linalg.eigh(np.eye(part.shape[1]) - part.T @ part)
        if sizes[0] < RESOLVED_EIGENVALUE:
            return None
        part, pulled = part @ (vectors / np.sqrt(sizes)), inverse_misfit[inside]
        error = self.sigma**2 * (pulled + part @ (part.T @ pulled))
        return error, self.sigma * np.sqrt(1 + np.sum(part**2, axis=1))

    def _from_others(self, inside: Int[np.ndarray, " m"]):
        """The same where (K⁻¹)_GG is lost to rounding, because these readings alone determine what exact
        readings leave open: solved again from the other rows of B."""
        others = np.setdiff1d(np.arange(self.reduced.count), inside)
        rows, misfit = self._left * self.singular_values, self._misfit
        left, values, right = svd(rows[others])
        kept = values > SMALLEST_SIGMA * values.max(initial=0.0)
        left, values, right = left[:, kept], values[kept], right[kept]
        seen = rows[inside] @ right.T
        unseen = rows[inside] - seen @ right
        variances = self.scale * values**2 + self.sigma**2
        gains = self.scale * values * (left.T @ misfit[others]) / variances
        left_open = np.sum(unseen**2, axis=1) + seen**2 @ (self.sigma**2 / variances)
        return misfit[inside] - seen @ gains, np.sqrt(self.scale * left_open + self.sigma**2)

    @cached_property
    def _left(self) -> Float[np.ndarray, "n k"]:
        """The left singular vectors of B, a row for every reading."""
        rotation = self.reduced.rotation
        return self.left if rotation is None else rotation @ self.left

    @cached_property
    def _misfit(self) -> Float[np.ndarray, " n"]:
        """The misfit of the prior mean, in units of the σ of each reading."""
        return self.reduced.full_values - self.reduced.full @ self.prior.mean

    def _inverse(self):
        """K⁻¹ r, and a function that gives blocks of K⁻¹, or its diagonal."""
        left, misfit = self._left, self._misfit
        outside = 0.0 if left.shape[0] == left.shape[1] else self.sigma**-2
        components = left.T @ misfit
        product = left @ (components / self._variances) + outside * (misfit - left @ components)

        def block(inside):
            if inside is None:
                inner = np.sum(left**2 / self._variances, axis=1)
                return inner + outside * np.maximum(1 - np.sum(left**2, axis=1), 0)
            part = left[inside]
            beyond = np.eye(len(inside)) - part @ part.T
            return (part / self._variances) @ part.T + outside * beyond

        return product, block


def _widths(scan: list[GaussianPosterior]) -> Float[np.ndarray, " k"]:
    """The width of log ρ that each posterior stands for."""
    places = np.array([posterior.log_stiffness for posterior in scan])
    return np.gradient(places) if len(places) > 1 else np.ones(1)


def _variance_beside(count: int, others, one, size):
    """The most probable s² of `count` squares, one of which has the variance s² + `size`, all others s²;
    by the fixed point of its condition, from where the one counts like all others and from where it does
    not count."""
    starts = (others + one) / count, others / max(count - 1, 1)
    best, least = starts[0], np.full(np.shape(starts[0]), np.inf)
    for variance in starts:
        for _ in range(SCALE_ROUNDS):
            share = variance / (variance + size)
            variance = (others + one * share**2) / (count - 1 + share)
        cost = (count - 1) * np.log(variance) + np.log(variance + size)
        cost = cost + others / variance + one / (variance + size)
        best = np.where(cost < least, variance, best)
        least = np.minimum(cost, least)
    return best


def divide_draws(shares: Float[np.ndarray, " k"], count: int) -> list[int]:
    """`count` draws divided in proportion to shares, as evenly as whole numbers can be."""
    ends = np.round(np.cumsum(shares) / np.sum(shares) * count).astype(int)
    return np.diff(ends, prepend=0).tolist()


def _with_exact_covariance(normal: Float[np.ndarray, "n p"], along: Float[np.ndarray, "k p"]):
    """The same numbers with mean square 1 and no correlation along some directions."""
    basis = np.linalg.qr(along.T)[0]
    seen = normal @ basis
    left, _, right = np.linalg.svd(seen, full_matrices=False)
    return normal + (np.sqrt(len(normal)) * left @ right - seen) @ basis.T
