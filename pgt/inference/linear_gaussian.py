r"""The linear-Gaussian engine: the posterior in closed form, with its scales chosen by the evidence.

Weights a have the prior N(0, s²). The rows of equation and conditions, E a = f, hold up to errors of
standard deviation σ_e; the readings, D a = y, hold up to σ. The prior given the equation
(equation_prior.py) and the distribution of the readings that follows from it are

    a | E ~ N(m, s² L Lᵀ)
    y | E ~ N(D m, s² B Bᵀ + σ²),    B = D L

where m, L and the singular values of B depend only on the stiffness ρ = s²/σ_e². For every ratio
τ = σ/s the most probable s² has a closed form. The evidence p(y | E), which selects ρ, s and σ, therefore
costs one singular value decomposition per ρ. No step squares a condition number: fields are exact to
1e-12 where equation and readings allow it.

The posterior mean is the one at the greatest evidence. Draws also vary ρ, τ and s by their probability,
because few readings hardly determine them. The prior of s², of ρ and of the share of noise in the
readings is uniform in the logarithm; given τ, 1/s² then has a χ² distribution with n degrees of freedom.
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

# The grid of ratios σ/s; where σ is known, the grid of variances s².
NOISE_RATIOS = 10.0 ** np.arange(-15.0, 3.01, 0.25)
PRIOR_VARIANCES = 10.0 ** np.arange(-16.0, 13.0, 0.25)
# Numbers below these relative sizes are rounding errors: the norm of a column, which no reading then
# depends on; a singular value, or σ in units of the spread; a σ beside which products still have digits;
# an eigenvalue of an inverse.
UNSEEN_COLUMN = 1e-17
SMALLEST_SIGMA = 1e-14
RESOLVED_SIGMA = 1e-12
RESOLVED_EIGENVALUE = 1e-10
# A difference of log-evidence that decides between models, and one beyond which a model is never drawn.
DECISIVE_EVIDENCE = 10.0
NEGLIGIBLE_EVIDENCE = 6.0
# The number of fixed-point iterations for s² where one square has a variance of its own.
SCALE_ROUNDS = 30
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class CompressedReadings:
    """Readings that are too many to be kept, as few rows with the same sum of squares for all weights.

    For the rows D and values y of one field, each in units of its σ, `matrix` and `values` have the rows
    R and q with |D a - y|² = |R a - q|² + `outside` for all weights a.

    Attributes
    ----------
    matrix, values, fields : R, q and the number of the field of each row.
    outside : by field, the sum of squares that no weights can explain.
    count : the number of readings.
    log_sigma : the sum of log σ over all readings, each σ relative to the common one.
    sigma : σ of the kept sample of the readings, relative to the common one, in these units.
    """

    matrix: Float[np.ndarray, "k p"]
    values: Float[np.ndarray, " k"]
    fields: Int[np.ndarray, " k"]
    outside: Float[np.ndarray, " c"]
    count: Int[np.ndarray, " c"]
    log_sigma: float
    sigma: Float[np.ndarray, " n"]

    def in_units_of(self, sigma: Float[np.ndarray, " n"], fields: Int[np.ndarray, " n"]):
        """(R, q, outside, sum of log σ), where σ of the sample was multiplied by a factor per field."""
        logs = np.log(sigma / self.sigma)
        counts = np.bincount(fields, minlength=len(self.count))
        sums = np.bincount(fields, logs, len(self.count))
        factors = sums / np.maximum(counts, 1)
        scale, outside = np.exp(-factors)[self.fields], np.exp(-2 * factors) @ self.outside
        log_sigma = self.log_sigma + float(factors @ self.count)
        return scale[:, None] * self.matrix, scale * self.values, float(outside), log_sigma


@dataclass(frozen=True)
class Rows:
    """Equation E a = f and readings D a = y of one problem, dimensionless.

    Attributes
    ----------
    equation, target : E and f.
    readings, values : D and y.
    sigma : σ of every reading relative to the common one.
    given : the common σ, where it is known.
    fields : the number of the field of each value; instruments for different fields differ in noise.
    sigma_floor : if positive, the common σ counts as known and at least this large.
    function_prior : the prior standard deviations of the last weights, in units of s, where these belong
        to unknown functions on which the fields depend (equation_prior.py).
    compressed : all readings, where `readings` and `values` are a sample of them.
    errors : columns of errors that the readings may have besides their noise, each times a standard
        normal number: sensor errors that were taken out are not known exactly (sensor_effects.py).
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
    compressed: CompressedReadings | None = None
    errors: Float[np.ndarray, "n q"] | None = None

    def basis(self) -> Basis | ConditionalBasis:
        """The basis of singular vectors of the equation."""
        if self.function_prior is None:
            return Basis(self.equation, self.target)
        return ConditionalBasis(self.equation, self.target, self.function_prior)


class ReducedReadings:
    """The readings in the basis of the equation, compressed by a QR factorization where they outnumber
    the weights.

    `full` and `full_values` are all rows in units of their σ, `matrix` and `values` the compressed ones;
    `outside` is the sum of squares of the values that no weights can explain. With readings that were
    compressed before, `full` and `full_values` are a sample of the `count` readings (`is_sample`).
    """

    def __init__(self, rows: Rows, basis: Basis | ConditionalBasis | None = None):
        self.basis = basis or rows.basis()
        self.given, self.sigma, self.count = rows.given, rows.sigma, len(rows.values)
        self.sigma_floor, self.log_sigma = rows.sigma_floor, float(np.sum(np.log(rows.sigma)))
        self.errors = None if rows.errors is None else rows.errors / rows.sigma[:, None]
        self.full = (rows.readings / rows.sigma[:, None]) @ self.basis.vectors
        self.full_values = rows.values / rows.sigma
        self.rotation, self.outside = None, 0.0
        self.matrix, self.values = self.full, self.full_values
        self.is_sample = rows.compressed is not None
        if rows.compressed is not None:
            fields = np.zeros(len(rows.sigma), int) if rows.fields is None else rows.fields
            parts = rows.compressed.in_units_of(rows.sigma, fields)
            matrix, self.values, self.outside, self.log_sigma = parts
            self.matrix, self.count = matrix @ self.basis.vectors, int(rows.compressed.count.sum())
        if self.matrix.shape[0] > self.matrix.shape[1]:
            values = self.values
            self.rotation, self.matrix = qr(self.matrix)
            self.values = self.rotation.T @ values
            self.outside += float(np.sum((values - self.rotation @ self.values) ** 2))

    def posterior(self, log_stiffness: float) -> "GaussianPosterior":
        """The posterior at this log10 ρ, with the s and σ of greatest evidence."""
        return GaussianPosterior(self, log_stiffness)


class Scales(NamedTuple):
    """A grid of pairs of s² and σ with their log-evidence. `is_free` says that each s² is the most
    probable one for its σ/s."""

    evidence: Float[np.ndarray, " t"]
    variance: Float[np.ndarray, " t"]
    sigma: Float[np.ndarray, " t"]
    is_free: bool


class ErrorDirection(NamedTuple):
    """A direction v along which readings may be wrong: its components along the left singular vectors of
    B, the square of the remainder, and the product of the remainder with the misfit."""

    components: Float[np.ndarray, " k"]
    rest: float
    rest_by_misfit: float

    def products(self, variances, tau2, misfit):
        """vᵀK⁻¹v and vᵀK⁻¹r, with the covariance K of the readings in units of s²."""
        square = np.sum(self.components[:, None] ** 2 / variances, axis=0) + self.rest / tau2
        product = (self.components * misfit)[:, None]
        return square, np.sum(product / variances, axis=0) + self.rest_by_misfit / tau2


class Maximum(NamedTuple):
    """The greatest evidence, and the log10 ρ that has it."""

    evidence: float
    log_stiffness: float


class GaussianPosterior:
    """The posterior of the weights at one stiffness ρ.

    `scale` is s², `sigma` the common σ of the readings, `evidence` the logarithm of p(y | E). `scan`
    holds the posteriors at other ρ, and `maximum` the greatest evidence among them.
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
        self.prior_signal = float(np.sum((reduced.matrix @ self.prior.mean) ** 2))
        self.scales = self._scales()
        best = int(np.argmax(self.scales.evidence))
        self.evidence, self.scale, self.sigma = (float(a[best]) for a in self.scales[:3])
        self.maximum = Maximum(self.evidence, log_stiffness)
        self.scan: list[GaussianPosterior] = [self]

    def _scales(self, direction: ErrorDirection | None = None) -> Scales:
        """The grid of σ and s² with its evidence. A given σ is kept unless a larger one is decisively
        more probable."""
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
        """The greatest evidence at this ρ where readings also have an error v z, with v = `column` and z
        standard normal.

        The covariance K of the readings becomes K + v vᵀ (Sherman and Morrison): log det K grows by
        log(1 + vᵀK⁻¹v), and the misfit rᵀK⁻¹r falls by (vᵀK⁻¹r)² / (1 + vᵀK⁻¹v). A free s² is chosen
        again.
        """
        left, column = self._left, column / self.reduced.sigma
        components = left.T @ column
        is_whole = left.shape[0] == left.shape[1]  # the remainder is nothing but rounding
        remainder = np.zeros(len(column)) if is_whole else column - left @ components
        direction = ErrorDirection(
            components, float(remainder @ remainder), float(remainder @ self._misfit)
        )
        return float(self._scales(direction).evidence.max())

    def split_columns(
        self, columns: Float[np.ndarray, "n k"], added: Float[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, "r q"], Float[np.ndarray, "q q"]]:
        """The components along the left singular vectors of B, and the Gram matrix of the remainder, of
        the `columns` and, last, of the misfit of the prior mean after something was `added` to the
        readings. With them, products with K⁻¹ follow for every s² and σ."""
        rows = np.column_stack([columns, added]) / self.reduced.sigma[:, None]
        rows[:, -1] += self._misfit
        left = self._left
        components = left.T @ rows
        if left.shape[0] == left.shape[1]:
            return components, np.zeros((rows.shape[1],) * 2)
        rest = rows - left @ components
        return components, rest.T @ rest

    def _evidences(
        self,
        tau2,
        variance=None,
        min_sigma: float = SMALLEST_SIGMA,
        direction: ErrorDirection | None = None,
    ) -> Scales:
        """The evidence of the ratios τ², each with its most probable s² where no `variance` is given, and
        with σ at least `min_sigma`. With `direction`, readings may be wrong along it."""
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
        # The Jacobian from log τ to the logarithm of the share of noise. Without it, the many τ at which
        # readings are pure noise would together have too much weight.
        signal = (variance * np.sum(squares) + self.prior_signal) / count
        evidence = evidence + np.log(np.maximum(signal / (signal + noise), TINY))
        if direction is not None:  # beside noise that is rounding error, v explains rounding error
            largest = float(self.singular_values.max(initial=0.0))
            is_rounding = (noise < RESOLVED_SIGMA**2) | (tau2 < (RESOLVED_SIGMA * largest) ** 2)
            evidence = np.where(is_rounding, -np.inf, evidence)
        evidence = evidence - self.reduced.log_sigma
        return Scales(evidence, variance, np.sqrt(noise), is_free)

    # ------------------------------------------------------------------------ other scales

    def plausible(self) -> "list[tuple[float, GaussianPosterior]]":
        """Log-probability and posterior for every ρ, σ and s² of the scan that is probable enough to be
        drawn."""
        posteriors = []
        for posterior, width in zip(self.scan, _widths(self.scan), strict=True):
            evidence = posterior.scales.evidence + np.log(width)
            posteriors += [
                (float(evidence[k]), posterior.at_scales(int(k)))
                for k in np.flatnonzero(evidence > self.maximum.evidence - NEGLIGIBLE_EVIDENCE)
            ]
        return posteriors

    def at_scales(self, number: int) -> "GaussianPosterior":
        """The posterior at the same ρ, with the σ and s² of this number in the grid."""
        other = copy(self)
        for name in ("_variances", "weights", "_response"):
            other.__dict__.pop(name, None)
        other.scale, other.sigma = (float(a[number]) for a in self.scales[1:3])
        return other

    # ------------------------------------------------------------------------ the weights

    @cached_property
    def _variances(self) -> Float[np.ndarray, " k"]:
        """The variances of the readings along the left singular vectors of B."""
        return self.scale * self.singular_values**2 + self.sigma**2

    @property
    def determined(self) -> float:
        """The effective number of weights that the readings determine: the trace of the hat matrix."""
        return float(np.sum(self.scale * self.singular_values**2 / self._variances))

    @cached_property
    def weights(self) -> Float[np.ndarray, " p"]:
        """The mean of the posterior."""
        components = self.right.T @ (
            self.scale * self.singular_values * self.projected / self._variances
        )
        full = np.zeros(len(self.prior.mean))
        full[self.kept] = components
        return self.reduced.basis.vectors @ (self.prior.mean + self.prior.along(full[None])[0])

    def spread(self, rows: Float[np.ndarray, "m p"]) -> Float[np.ndarray, " m"]:
        """The posterior's standard deviation of `rows @ a`."""
        prior_root = np.sqrt(self.scale) * self.prior.across(rows @ self.reduced.basis.vectors)
        seen = prior_root[:, self.kept] @ self.right.T
        unseen = prior_root.copy()
        unseen[:, self.kept] -= seen @ self.right
        determined = seen * (self.sigma / np.sqrt(self._variances))
        by_errors = rows @ self._response
        return np.sqrt(sum(np.sum(part**2, axis=1) for part in (unseen, determined, by_errors)))

    @cached_property
    def _response(self) -> Float[np.ndarray, "p q"]:
        """The change of the mean by each of the errors of the readings."""
        if self.reduced.errors is None:
            return np.zeros((len(self.reduced.basis.vectors), 0))
        components = self._left.T @ self.reduced.errors
        gains = self.scale * self.singular_values / self._variances
        full = np.zeros((components.shape[1], len(self.prior.mean)))
        full[:, self.kept] = (gains[:, None] * components).T @ self.right
        return self.reduced.basis.vectors @ self.prior.along(full).T

    def draw(self, count: int, seed: int = 0, last: int = 0) -> Float[np.ndarray, "count p"]:
        """Steps from the mean to draws of the weights from the posterior over all ρ, σ and s². With
        `last`, the sample covariance of the last weights is exact, if there are at least that many draws;
        ρ, σ and s² are then the most probable ones."""
        random = np.random.default_rng(seed)
        normal = random.standard_normal((count, len(self.prior.mean)))
        if 0 < last <= count:
            across = self.prior.across(self.reduced.basis.vectors[-last:])
            normal = _with_exact_covariance(normal, self._shrunk(across))
            return self._draws_from(normal) - self.weights + self._drawn_errors(count)
        evidences, posteriors = zip(*self.plausible(), strict=True)
        numbers = divide_draws(np.exp(np.array(evidences) - max(evidences)), count)
        # Quantiles in random order: a small random sample may have too many or too few extreme values.
        quantiles = (random.permutation(count) + 0.5) / count
        degrees = self.reduced.count
        stretch = np.ones(count)
        if self.scales.is_free:
            stretch = np.sqrt(degrees / chdtri(degrees, quantiles))
        steps, start = [], 0
        for posterior, number in zip(posteriors, numbers, strict=True):
            part = slice(start, start := start + number)
            if number:
                steps.append(
                    posterior._draws_from(stretch[part, None] * normal[part]) - self.weights
                )
        return np.concatenate(steps) + self._drawn_errors(count)

    def _drawn_errors(self, count: int, seed: int = 1) -> Float[np.ndarray, "count p"] | float:
        """Changes of the mean by draws of the errors of the readings."""
        if self.reduced.errors is None:
            return 0.0
        normal = np.random.default_rng(seed).standard_normal((count, self._response.shape[1]))
        return normal @ self._response.T

    def _draws_from(self, normal: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "m p"]:
        """Posterior draws of the weights from standard normal numbers."""
        steps = np.sqrt(self.scale) * self.prior.along(self._shrunk(normal))
        return self.weights + steps @ self.reduced.basis.vectors.T

    def _shrunk(self, normal: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "m p"]:
        """Standard normal numbers, shrunk along the directions that the readings determine."""
        seen = normal[:, self.kept] @ self.right.T
        shrunk = normal.copy()
        shrunk[:, self.kept] += (seen * (self.sigma / np.sqrt(self._variances) - 1)) @ self.right
        return shrunk

    # ------------------------------------------------------------------------ leave-out predictions

    def noise_of(self, fields: Int[np.ndarray, " n"]) -> Float[np.ndarray, " k"]:
        """By field, the σ that the misfits r of its readings imply, relative to the assumed one. With the
        leverages h of the readings, σ² Σ (1 - h) = Σ r²."""
        inverse_misfit, inverse = self._inverse()
        squares, diagonal = inverse_misfit**2, inverse(None)
        sums = np.array([np.bincount(fields, weights=part) for part in (squares, diagonal)])
        return np.sqrt(sums[0] / np.maximum(sums[1], TINY))

    def left_out(self, groups: Groups | None = None):
        """The error of the leave-one-out prediction of every reading, and its σ.

        With `groups`, each reading is predicted from the readings of other groups. With the covariance K
        of the readings and their misfit r, the errors of a group G are (K⁻¹)_GG⁻¹ (K⁻¹ r)_G, and their
        covariance is (K⁻¹)_GG⁻¹.
        """
        if groups is None:
            inverse_misfit, inverse = self._inverse()
            diagonal, sigma = inverse(None), self.reduced.sigma
            return sigma * inverse_misfit / diagonal, sigma / np.sqrt(diagonal)
        error, spread = np.zeros((2, len(self.reduced.sigma)))
        parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        for inside, result in zip(parts, self.without(*parts), strict=True):
            error[inside], spread[inside] = result
        return error, spread

    def without(self, *parts: Int[np.ndarray, " _"]):
        """For each of the `parts`, whose readings are left out together, the error of their prediction
        from all other readings, and its σ."""
        inverse_misfit, inverse = self._inverse()
        for inside in parts:
            is_large = len(inside) > len(self.singular_values)
            leave_out = self._without_many if is_large else self._without_few
            result = leave_out(inside, inverse_misfit, inverse) or self._from_others(inside)
            error, spread = result
            yield self.reduced.sigma[inside] * error, self.reduced.sigma[inside] * spread

    def _without_few(self, inside: Int[np.ndarray, " m"], inverse_misfit, inverse):
        """(K⁻¹)_GG⁻¹ (K⁻¹ r)_G and the root of the diagonal of (K⁻¹)_GG⁻¹; None where rounding errors
        would dominate."""
        sizes, vectors = np.linalg.eigh(inverse(inside))
        if sizes[0] < RESOLVED_EIGENVALUE * sizes[-1]:
            return None
        error = vectors @ ((vectors.T @ inverse_misfit[inside]) / sizes)
        return error, np.sqrt(vectors**2 @ (1 / sizes))

    def _without_many(self, inside: Int[np.ndarray, " m"], inverse_misfit, inverse):
        """The result of `_without_few` for more readings than B has singular values. With
        (K⁻¹)_GG = (1 - V Vᵀ)/σ², the inverse is σ² (1 + V (1 - VᵀV)⁻¹ Vᵀ), where VᵀV has only as many
        rows as there are singular values."""
        part = self._left[inside] * (np.sqrt(self.scale / self._variances) * self.singular_values)
        sizes, vectors = np.linalg.eigh(np.eye(part.shape[1]) - part.T @ part)
        if sizes[0] < RESOLVED_EIGENVALUE:
            return None
        part, weighted = part @ (vectors / np.sqrt(sizes)), inverse_misfit[inside]
        error = self.sigma**2 * (weighted + part @ (part.T @ weighted))
        return error, self.sigma * np.sqrt(1 + np.sum(part**2, axis=1))

    def _from_others(self, inside: Int[np.ndarray, " m"]):
        """The result of `_without_few` where rounding spoils (K⁻¹)_GG, because only these readings
        determine some weights: it is computed anew from the other rows of B."""
        others = np.setdiff1d(np.arange(len(self.reduced.sigma)), inside)
        rows, misfit = self._left * self.singular_values, self._misfit
        left, values, right = svd(rows[others])
        kept = values > SMALLEST_SIGMA * values.max(initial=0.0)
        left, values, right = left[:, kept], values[kept], right[kept]
        seen = rows[inside] @ right.T
        unseen = rows[inside] - seen @ right
        variances = self.scale * values**2 + self.sigma**2
        gains = self.scale * values * (left.T @ misfit[others]) / variances
        undetermined = np.sum(unseen**2, axis=1) + seen**2 @ (self.sigma**2 / variances)
        return misfit[inside] - seen @ gains, np.sqrt(self.scale * undetermined + self.sigma**2)

    @cached_property
    def _left(self) -> Float[np.ndarray, "n k"]:
        """The left singular vectors of B, with a row for every reading (of the sample)."""
        rotation = self.reduced.rotation
        if self.reduced.is_sample:
            seen = self.prior.across(self.reduced.full)[:, self.kept] @ self.right.T
            is_resolved = self.singular_values > SMALLEST_SIGMA * self.singular_values.max(
                initial=0.0
            )
            return seen * np.where(
                is_resolved, 1 / np.where(is_resolved, self.singular_values, 1.0), 0.0
            )
        return self.left if rotation is None else rotation @ self.left

    @cached_property
    def _misfit(self) -> Float[np.ndarray, " n"]:
        """The misfit of the prior mean, in units of the σ of each reading."""
        return self.reduced.full_values - self.reduced.full @ self.prior.mean

    def _inverse(self):
        """K⁻¹ r, and a function that returns a block of K⁻¹, or its diagonal for None."""
        left, misfit, components = self._left, self._misfit, self.projected
        outside = 0.0 if self.reduced.count == left.shape[1] else self.sigma**-2
        product = left @ (components / self._variances) + outside * (misfit - left @ components)

        def block(inside):
            if inside is None:
                diagonal = np.sum(left**2 / self._variances, axis=1)
                return diagonal + outside * np.maximum(1 - np.sum(left**2, axis=1), 0)
            part = left[inside]
            complement = np.eye(len(inside)) - part @ part.T
            return (part / self._variances) @ part.T + outside * complement

        return product, block


def _widths(scan: list[GaussianPosterior]) -> Float[np.ndarray, " k"]:
    """The interval width in log10 ρ that each posterior of the scan represents."""
    places = np.array([posterior.log_stiffness for posterior in scan])
    return np.gradient(places) if len(places) > 1 else np.ones(1)


def _variance_beside(count: int, others, one, size):
    """The most probable s² of `count` squares, one of which, `one`, has the variance s² + `size`, and the
    others, of sum `others`, s². It is found by fixed-point iteration from two starts: with the one
    counted like the others, and without it."""
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
    """Standard normal numbers, changed so that their sample covariance along some directions is exactly
    the identity."""
    basis = np.linalg.qr(along.T)[0]
    seen = normal @ basis
    left, _, right = np.linalg.svd(seen, full_matrices=False)
    return normal + (np.sqrt(len(normal)) * left @ right - seen) @ basis.T
