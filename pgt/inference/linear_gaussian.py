r"""The Gaussian model behind a sum of features: prior, equation, readings, all in closed form.

Weights a have the prior N(0, s²). The rows of equation and conditions, E a = f, hold up to σ_e, the
readings, D a = y, up to σ. The prior that the equation implies (equation_prior.py), and the distribution
of the readings that follows from it, are

    a | E ~ N(m, s² L Lᵀ)
    y | E ~ N(D m, s² B Bᵀ + σ²),    B = D L

where m, L and the singular values of B depend on ρ = s²/σ_e² alone; s² then follows in closed form for
every τ = σ/s, so the evidence p(y | E), by which ρ, s and σ are chosen, costs one decomposition for
each ρ. Nothing squares a condition number: fields are exact to 1e-12 where the equation and the readings
allow it.

The field is that of greatest evidence. How wrong it may be is said by all ρ, τ and s, each as probable as
the readings make it, since few readings hardly tell them. The prior of s², of ρ and of the share of noise
in the readings is uniform in the logarithm; given τ, 1/s² then has a χ² distribution of n degrees of
freedom.
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import chdtri

from pgt.core.machine import blas_threads
from pgt.data.splits import Groups
from pgt.inference.equation_prior import Basis, ConditionalBasis, qr, svd

COARSE = np.arange(-2.0, 37.0, 4.0)  # log10 of ρ: a scan
FINE = (2.0, 1.0)  # then steps around the best
CLOSE = 2.0  # of log10 ρ, from one linearisation to the next
TAUS = 10.0 ** np.arange(-15.0, 3.01, 0.25)  # σ / s
SCALES = 10.0 ** np.arange(-16.0, 13.0, 0.25)  # s², where σ is given
UNSEEN = 1e-17  # of the largest column: what no reading can tell from nothing
ROUNDED_OFF = 1e-10  # of the largest eigenvalue: an inverse that has no digits there is not asked
DIGITS = 1e-14  # of the largest singular value: what is smaller is rounding
SMALLEST_SIGMA = 1e-14  # of the spread of the readings: they have no more digits
LEAST_BESIDE = (
    1e-12  # σ, and σ/s beside the largest singular value, in which products have digits left
)
CLEAN = 1e-3  # of the spread: with less noise than that, what is wrong is what sines cannot follow
PLAINLY = 10.0  # of the log-evidence: such a difference is no chance
NEGLIGIBLE = (
    6.0  # of the log-evidence: what is less probable by that is not drawn once in a hundred times
)
SCALINGS = 30  # steps of a fixed point
TINY = np.finfo(float).tiny
NEARLY = 1.0  # of the log-evidence: noisy readings hardly tell a softer equation from a stiff one


@dataclass(frozen=True)
class Rows:
    """Equation E a = f and readings D a = y of one problem, dimensionless. σ of a reading is `sigma`
    times the common one; `given` is that common σ where it is known, and `veil` one that is taken for it
    where it is larger. `kinds` are the numbers of the fields that were read: instruments for different
    ones differ. `others` is the prior of the last weights, where those of the fields follow from them
    (equation_prior.py)."""

    equation: Float[np.ndarray, "rows p"]
    target: Float[np.ndarray, " rows"]
    readings: Float[np.ndarray, "n p"]
    values: Float[np.ndarray, " n"]
    sigma: Float[np.ndarray, " n"]
    given: float | None = None
    kinds: Int[np.ndarray, " n"] | None = None
    veil: float = 0.0
    others: Float[np.ndarray, " k"] | None = None

    def basis(self) -> Basis | ConditionalBasis:
        """What the equation says by itself."""
        if self.others is None:
            return Basis(self.equation, self.target)
        return ConditionalBasis(self.equation, self.target, self.others)


class Reduced:
    """The readings in the basis of the equation, compressed where they are more than the weights."""

    def __init__(self, rows: Rows, basis: Basis | ConditionalBasis | None = None):
        self.basis = basis or rows.basis()
        self.given, self.sigma, self.count = rows.given, rows.sigma, len(rows.values)
        self.veil = rows.veil
        self.full = (rows.readings / rows.sigma[:, None]) @ self.basis.vectors
        self.full_values = rows.values / rows.sigma
        self.turn, self.rest = None, 0.0
        self.seen, self.values = self.full, self.full_values
        if self.full.shape[0] > self.full.shape[1]:
            self.turn, self.seen = qr(self.full)
            self.values = self.turn.T @ self.full_values
            self.rest = float(np.sum((self.full_values - self.turn @ self.values) ** 2))

    def solved(self, exponent: float) -> "Solved":
        """The model at ρ = 10^exponent, with the s and σ of greatest evidence."""
        return Solved(self, exponent)


class Levels(NamedTuple):
    """Pairs of s² and σ, and the log-evidence of each; whether s² is the most probable one for σ/s."""

    evidence: Float[np.ndarray, " t"]
    scale: Float[np.ndarray, " t"]
    sigma: Float[np.ndarray, " t"]
    is_free: bool


class Beside(NamedTuple):
    """A direction v along which readings may be wrong: its parts along the left singular vectors, the
    square of what is outside of them, and that times the misfit of the readings there."""

    along: Float[np.ndarray, " k"]
    outside: float
    missed: float

    def over(self, variances, tau2, seen):
        """vᵀK⁻¹v and vᵀK⁻¹r, with K in units of s²."""
        size = np.sum(self.along[:, None] ** 2 / variances, axis=0) + self.outside / tau2
        product = (self.along * seen)[:, None]
        return size, np.sum(product / variances, axis=0) + self.missed / tau2


class Peak(NamedTuple):
    """The greatest evidence, and log10 of the ρ that has it."""

    evidence: float
    exponent: float


class Solved:
    """The posterior at one ρ. Its `peak` is that of all ρ that were tried."""

    def __init__(self, reduced: Reduced, exponent: float):
        self.reduced, self.exponent = reduced, exponent
        self.prior = reduced.basis.prior(10.0**exponent)
        columns = self.prior.across(reduced.seen)
        sizes = np.linalg.norm(columns, axis=0)
        self.kept = np.flatnonzero(sizes > UNSEEN * sizes.max(initial=0.0))
        self.left, self.values, self.right = svd(columns[:, self.kept])
        misfit = reduced.values - reduced.seen @ self.prior.mean
        self.seen = self.left.T @ misfit
        self.rest = reduced.rest + float(np.sum((misfit - self.left @ self.seen) ** 2))
        self.told = float(np.sum((reduced.full @ self.prior.mean) ** 2))
        self.levels = self._levels()
        best = int(np.argmax(self.levels.evidence))
        self.evidence, self.scale, self.sigma = (float(a[best]) for a in self.levels[:3])
        self.peak = Peak(self.evidence, exponent)
        self.tried: list[Solved] = [self]

    def _levels(self, beside: "Beside | None" = None) -> "Levels":
        """Those of σ and s² that are tried; a σ that was given is kept as long as none that is larger is
        plainly more probable."""
        given, veil = self.reduced.given, self.reduced.veil
        if given is None and not veil:
            return self._among(TAUS**2, beside=beside)
        known = max(given or 0.0, veil)
        kept = self._among(known**2 / SCALES, SCALES, beside=beside)
        if veil >= known:
            return kept
        larger = self._among(TAUS**2, least=known, beside=beside)
        return larger if larger.evidence.max() > kept.evidence.max() + PLAINLY else kept

    def evidence_beside(self, column: Float[np.ndarray, " n"]) -> float:
        """The greatest evidence at this ρ where readings may also be wrong along one direction: `column`
        times a normal number of standard deviation 1.

        In closed form, K being the covariance of the readings, by K + v vᵀ (Sherman and Morrison): log
        det grows by log(1 + vᵀK⁻¹v), and the misfit rᵀK⁻¹r falls by (vᵀK⁻¹r)² / (1 + vᵀK⁻¹v). Where s² is
        free it is chosen once more.
        """
        left, column = self._left, column / self.reduced.sigma
        along = left.T @ column
        is_whole = left.shape[0] == left.shape[1]  # nothing is outside but rounding
        outside = np.zeros(len(column)) if is_whole else column - left @ along
        found = Beside(along, float(outside @ outside), float(outside @ self._misfit))
        return float(self._levels(found).evidence.max())

    def _among(
        self, tau2, scale=None, least: float = SMALLEST_SIGMA, beside: "Beside | None" = None
    ) -> "Levels":
        """Some σ²/s², with the s² of each that is most probable where it is not said, and σ at least
        that; `beside`: where readings may be wrong along one direction."""
        count, rank = self.reduced.count, len(self.values)
        squares = self.values[:, None] ** 2
        total = np.sum(self.seen[:, None] ** 2 / (squares + tau2), axis=0) + self.rest / tau2
        is_free = scale is None
        if scale is None:
            scale = np.maximum(total / count, least**2 / tau2)
        logs = np.sum(np.log(squares + tau2), axis=0) + (count - rank) * np.log(tau2)
        if beside is not None:
            size, overlap = beside.over(squares + tau2, tau2, self.seen)
            told = np.minimum(overlap**2 / np.maximum(size, TINY), (1 - ROUNDED_OFF) * total)
            if is_free:
                scale = np.maximum(_scale_beside(count, total - told, told, size), least**2 / tau2)
            logs = logs + np.log1p(size / scale)
            total = total - told * size / (scale + size)
        evidence = -0.5 * (count * np.log(scale) + logs + total / scale)
        noise = scale * tau2
        # dlog τ to dlog of the share of noise: readings that are nothing but noise are one case of many.
        signal = (scale * np.sum(squares) + self.told) / count
        evidence = evidence + np.log(np.maximum(signal / (signal + noise), TINY))
        if (
            beside is not None
        ):  # where noise is no more than rounding, a direction explains rounding
            largest = float(self.values.max(initial=0.0))
            is_rounded = (noise < LEAST_BESIDE**2) | (tau2 < (LEAST_BESIDE * largest) ** 2)
            evidence = np.where(is_rounded, -np.inf, evidence)
        evidence = evidence - float(np.sum(np.log(self.reduced.sigma)))
        return Levels(evidence, scale, np.sqrt(noise), is_free)

    # ------------------------------------------------------------------------------ how sure

    def plausible(self) -> "list[tuple[float, Solved]]":
        """The posterior at every ρ, σ and s² that was tried and may be drawn, with the logarithm of how
        probable it is."""
        found = []
        for solved, width in zip(self.tried, _widths(self.tried), strict=True):
            evidence = solved.levels.evidence + np.log(width)
            found += [
                (float(evidence[k]), solved.at_level(int(k)))
                for k in np.flatnonzero(evidence > self.peak.evidence - NEGLIGIBLE)
            ]
        return found

    def at_level(self, number: int) -> "Solved":
        """The posterior at the same ρ, with another σ and s²."""
        other = copy(self)
        for name in ("_variances", "weights"):
            other.__dict__.pop(name, None)
        other.scale, other.sigma = (float(a[number]) for a in self.levels[1:3])
        return other

    # ------------------------------------------------------------------------------ the field

    @cached_property
    def _variances(self) -> Float[np.ndarray, " k"]:
        """Of the readings along the singular vectors of B."""
        return self.scale * self.values**2 + self.sigma**2

    @property
    def determined(self) -> float:
        """How many numbers the readings determine: the trace of the matrix that predicts them."""
        return float(np.sum(self.scale * self.values**2 / self._variances))

    @cached_property
    def weights(self) -> Float[np.ndarray, " p"]:
        """The mean of the posterior."""
        step = self.right.T @ (self.scale * self.values * self.seen / self._variances)
        whole = np.zeros(len(self.prior.mean))
        whole[self.kept] = step
        return self.reduced.basis.vectors @ (self.prior.mean + self.prior.along(whole[None])[0])

    def spread(self, rows: Float[np.ndarray, "m p"]) -> Float[np.ndarray, " m"]:
        """The posterior's standard deviation of `rows @ a`."""
        prior = np.sqrt(self.scale) * self.prior.across(rows @ self.reduced.basis.vectors)
        told = prior[:, self.kept] @ self.right.T
        untold = prior.copy()
        untold[:, self.kept] -= told @ self.right
        left = told * (self.sigma / np.sqrt(self._variances))
        return np.sqrt(np.sum(untold**2, axis=1) + np.sum(left**2, axis=1))

    def draw(self, count: int, seed: int = 0, last: int = 0) -> Float[np.ndarray, "count p"]:
        """Steps from the mean to weights drawn from the posterior, of all ρ, σ and s². So many `last`
        weights have their covariance among themselves exactly, however few the draws are: then ρ, σ and
        s² are the most probable ones."""
        random = np.random.default_rng(seed)
        normal = random.standard_normal((count, len(self.prior.mean)))
        if 0 < last <= count:
            across = self.prior.across(self.reduced.basis.vectors[-last:])
            return self._drawn(_evened(normal, self._told(across))) - self.weights
        evidences, found = zip(*self.plausible(), strict=True)
        numbers = shared_out(np.exp(np.array(evidences) - max(evidences)), count)
        # Quantiles in random order: few random numbers would have tails, or none, by chance.
        even = (random.permutation(count) + 0.5) / count
        degrees = self.reduced.count
        stretch = (
            np.sqrt(degrees / chdtri(degrees, even)) if self.levels.is_free else np.ones(count)
        )
        steps, start = [], 0
        for solved, number in zip(found, numbers, strict=True):
            own = slice(start, start := start + number)
            if number:
                steps.append(solved._drawn(stretch[own, None] * normal[own]) - self.weights)
        return np.concatenate(steps)

    def _drawn(self, normal: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "m p"]:
        """Weights, by normal numbers."""
        steps = np.sqrt(self.scale) * self.prior.along(self._told(normal))
        return self.weights + steps @ self.reduced.basis.vectors.T

    def _told(self, normal: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "m p"]:
        """Shorter along what the readings tell."""
        told = normal[:, self.kept] @ self.right.T
        shorter = normal.copy()
        shorter[:, self.kept] += (told * (self.sigma / np.sqrt(self._variances) - 1)) @ self.right
        return shorter

    # ------------------------------------------------------------------------------ leave one out

    def noise_of(self, kinds: Int[np.ndarray, " n"]) -> Float[np.ndarray, " k"]:
        """σ of the readings of each kind as they are missed, in units of what it is taken to be: with h
        the share of a reading in what is said at its place, σ² Σ (1 − h) = Σ r²."""
        inverse_misfit, inverse = self._inverse()
        missed, left = inverse_misfit**2, inverse(None)
        sums = np.array([np.bincount(kinds, weights=part) for part in (missed, left)])
        return np.sqrt(sums[0] / np.maximum(sums[1], np.finfo(float).tiny))

    def left_out(self, groups: Groups | None = None):
        """What is wrong with the prediction of every reading from the others, and its σ.

        With `groups`, from the readings of other groups. In closed form: with K the covariance of the
        readings and r their misfit of m, (K⁻¹)_GG⁻¹ (K⁻¹ r)_G, of variance (K⁻¹)_GG⁻¹.
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
        """What is wrong with the prediction of some readings from all others, and its σ: of each of the
        `parts`, whose readings are left out together."""
        inverse_misfit, inverse = self._inverse()
        for inside in parts:
            found = self._without_many if len(inside) > len(self.values) else self._without_few
            error, spread = found(inside, inverse_misfit, inverse) or self._from_others(inside)
            yield self.reduced.sigma[inside] * error, self.reduced.sigma[inside] * spread

    def _without_few(self, inside: Int[np.ndarray, " m"], inverse_misfit, inverse):
        """(K⁻¹)_GG⁻¹ (K⁻¹ r)_G and the root of the diagonal of (K⁻¹)_GG⁻¹; None where rounding would
        decide."""
        sizes, along = np.linalg.eigh(inverse(inside))
        if sizes[0] < ROUNDED_OFF * sizes[-1]:
            return None
        error = along @ ((along.T @ inverse_misfit[inside]) / sizes)
        return error, np.sqrt(along**2 @ (1 / sizes))

    def _without_many(self, inside: Int[np.ndarray, " m"], inverse_misfit, inverse):
        """The same for more readings than B has singular values. With (K⁻¹)_GG = (1 − V Vᵀ)/σ², its
        inverse is σ² (1 + V (1 − VᵀV)⁻¹ Vᵀ), and VᵀV is as large as there are singular values."""
        part = self._left[inside] * (np.sqrt(self.scale / self._variances) * self.values)
        sizes, along = np.linalg.eigh(np.eye(part.shape[1]) - part.T @ part)
        if sizes[0] < ROUNDED_OFF:
            return None
        part, pulled = part @ (along / np.sqrt(sizes)), inverse_misfit[inside]
        error = self.sigma**2 * (pulled + part @ (part.T @ pulled))
        return error, self.sigma * np.sqrt(1 + np.sum(part**2, axis=1))

    def _from_others(self, inside: Int[np.ndarray, " m"]):
        """The same where (K⁻¹)_GG is lost to rounding, as it is where some readings alone tell what exact
        readings leave to tell: solved once more, from the other rows of B."""
        others = np.setdiff1d(np.arange(self.reduced.count), inside)
        rows, misfit = self._left * self.values, self._misfit
        left, values, right = svd(rows[others])
        kept = values > DIGITS * values.max(initial=0.0)
        left, values, right = left[:, kept], values[kept], right[kept]
        told = rows[inside] @ right.T
        untold = rows[inside] - told @ right
        variances = self.scale * values**2 + self.sigma**2
        error = misfit[inside] - told @ (
            self.scale * values * (left.T @ misfit[others]) / variances
        )
        open_still = np.sum(untold**2, axis=1) + told**2 @ (self.sigma**2 / variances)
        return error, np.sqrt(self.scale * open_still + self.sigma**2)

    @cached_property
    def _left(self) -> Float[np.ndarray, "n k"]:
        """The left singular vectors of B, a row for every reading."""
        turn = self.reduced.turn
        return self.left if turn is None else turn @ self.left

    @cached_property
    def _misfit(self) -> Float[np.ndarray, " n"]:
        """What the equation alone misses the readings by, in their σ."""
        return self.reduced.full_values - self.reduced.full @ self.prior.mean

    def _inverse(self):
        """K⁻¹ r, and a function that gives blocks of K⁻¹, or its diagonal."""
        left, misfit = self._left, self._misfit
        outside = 0.0 if left.shape[0] == left.shape[1] else self.sigma**-2
        along = left.T @ misfit
        product = left @ (along / self._variances) + outside * (misfit - left @ along)

        def block(inside):
            if inside is None:
                inner = np.sum(left**2 / self._variances, axis=1)
                return inner + outside * np.maximum(1 - np.sum(left**2, axis=1), 0)
            part = left[inside]
            beyond = np.eye(len(inside)) - part @ part.T
            return (part / self._variances) @ part.T + outside * beyond

        return product, block


def _scale_beside(count: int, others, told, size):
    """The most probable s² of `count` squares, one of which, `told`, has the variance s² + `size`, and
    all others s²; by the fixed point of its condition, from where the one counts as all others do and
    from where it does not count."""
    starts = (others + told) / count, others / max(count - 1, 1)
    best, least = starts[0], np.full(np.shape(starts[0]), np.inf)
    for scale in starts:
        for _ in range(SCALINGS):
            share = scale / (scale + size)
            scale = (others + told * share**2) / (count - 1 + share)
        cost = (count - 1) * np.log(scale) + np.log(scale + size)
        cost = cost + others / scale + told / (scale + size)
        best = np.where(cost < least, scale, best)
        least = np.minimum(cost, least)
    return best


def shared_out(shares: Float[np.ndarray, " k"], count: int) -> list[int]:
    """So many draws in proportion to shares, as evenly as whole numbers can be."""
    ends = np.round(np.cumsum(shares) / np.sum(shares) * count).astype(int)
    return np.diff(ends, prepend=0).tolist()


def _evened(normal: Float[np.ndarray, "n p"], along: Float[np.ndarray, "k p"]):
    """The same numbers with mean square 1 along some directions, and uncorrelated there."""
    basis = np.linalg.qr(along.T)[0]
    seen = normal @ basis
    left, _, right = np.linalg.svd(seen, full_matrices=False)
    return normal + (np.sqrt(len(normal)) * left @ right - seen) @ basis.T


def most_probable(
    rows: Rows,
    near: float | None = None,
    basis: Basis | ConditionalBasis | None = None,
    *,
    loosely: bool = False,
) -> Solved:
    """The model with the ρ, s and σ of greatest evidence; with `near`, its log10 ρ is close to that.

    `loosely`: where readings are noisy, with the least ρ that is nearly as probable. A sum of finitely
    many sines that fulfils an equation ever better is left with no freedom at last, though the equation
    has many solutions: of these it would take one for certain.
    """
    tried = scanned(rows, near, basis)
    best = max(tried, key=lambda solved: solved.evidence)
    likely = [solved for solved in tried if solved.evidence > best.evidence - NEGLIGIBLE]
    found = best if not loosely or best.sigma <= CLEAN else _softest(best, tried)
    found.tried = sorted(likely, key=lambda solved: solved.exponent)
    return found


def _widths(tried: list[Solved]) -> Float[np.ndarray, " k"]:
    """How much of log ρ each of those tried stands for."""
    exponents = np.array([solved.exponent for solved in tried])
    return np.gradient(exponents) if len(exponents) > 1 else np.ones(1)


def _softest(best: Solved, tried: list[Solved]) -> Solved:
    """The one with the least ρ that is nearly as probable as the best."""
    enough = best.evidence - NEARLY
    softest = min((s for s in tried if s.evidence > enough), key=lambda solved: solved.exponent)
    while softest.exponent - CLOSE >= COARSE[0]:
        softer = best.reduced.solved(softest.exponent - CLOSE)
        if softer.evidence <= enough:
            break
        softest = softer
    softest.peak = best.peak
    return softest


def scanned(
    rows: Rows, near: float | None = None, basis: Basis | ConditionalBasis | None = None
) -> list[Solved]:
    """The model at several ρ, closest around that of greatest evidence."""
    with blas_threads(rows.readings.shape[1]):
        return _scanned(rows, near, basis)


def _scanned(
    rows: Rows, near: float | None, basis: Basis | ConditionalBasis | None
) -> list[Solved]:
    reduced = Reduced(rows, basis)
    if not len(rows.equation):
        return [reduced.solved(COARSE[0])]
    first = COARSE if near is None else near + np.array([-CLOSE, 0.0, CLOSE])
    tried = {float(e): reduced.solved(float(e)) for e in first}
    for step in FINE if near is None else FINE[1:]:
        best = max(tried, key=lambda e: tried[e].evidence)
        for exponent in (best - step, best + step):
            if exponent not in tried:
                tried[exponent] = reduced.solved(exponent)
    return list(tried.values())
