"""Calibrated bands, which are scaled so that they hold left-out readings as often as promised.

A fit gives a mean μ and a spread s (the standard deviation over its members); readings have the noise
σ. Held-out readings y show by which factor √(s² + σ²) is too wide or too narrow (split conformal
prediction, Vovk et al. 2005; Lei et al. 2018)::

    score   e_i = |y_i − μ_i| / √(s_i² + σ_i²)
    factor  q = the ⌈(n + 1) · level⌉-th smallest of n scores
    bands   of a reading:  μ ± q √(s² + σ²)         of the field:  μ ± q' c s

The first band holds a new reading with a probability of at least `level` for any fit, if new readings
are distributed like the held-out ones. The second band has no such guarantee. Noisy readings cannot
show a field error that is small beside the noise, so q then measures the quality of σ and says little
about s. The factor c corrects for a spread estimated from k members, by quantiles of Student's t and
of a Gaussian::

    c = t √(1 + 1/k) / z,  k − 1 degrees of freedom          c = t / z,  k degrees, where μ is known

If s is not small beside σ, q contains c already, and only the rest of c applies. The factor q' equals q,
unless q is less than a Gaussian's: then it is reduced only as far as the difference is statistically
significant.

A Gaussian posterior also gives the prediction of each fitted reading from all others. The reading
has the leverage h = s²/σ², and (`leave_one_out`)::

    y − μ₋ = (y − μ) / (1 − h)          s₋² = s² / (1 − h)

Then all readings calibrate the bands, not only the held-out ones, if the posterior is right. With exact
readings a fit still estimates its own misfit as noise. That misfit is an error of the field, so the
scores are e_i = |y_i − μ_i| / s_i.

All functions are pure functions of numpy arrays; `Reconstruction.coverage` and
`Reconstruction.band` use them.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtri, stdtrit

from pgt.core.errors import InputError

# The upper limit of a leverage, since a reading with leverage 1 has no leave-one-out prediction.
MAX_LEVERAGE = 0.95
# The median of the square of a standard normal number.
MEDIAN_SQUARED_NORMAL = float(ndtri(0.75) ** 2)
Column = Float[np.ndarray, " n"]


class MemberCount(NamedTuple):
    """The number of independent members, and whether their mean is known exactly."""

    count: int
    has_known_mean: bool = False


@dataclass(frozen=True)
class Predicted:
    """Readings of one field with predictions by a fit that did not see them.

    Attributes
    ----------
    readings, mean, spread : (n,) the measured values, and the mean and standard deviation of the members.
    noise : σ of the readings, one number or (n,), for example from PGT-UW; None if it is estimated.
    members : the number of members of the spread; None if there are so many that no correction is needed.

    >>> Predicted(np.ones(2), np.zeros(2), np.full(2, 0.1), noise=0.2).scale.tolist()
    [0.223606797749979, 0.223606797749979]
    """

    readings: Column
    mean: Column
    spread: Column
    noise: float | Column | None = None
    members: MemberCount | None = None

    def __post_init__(self):
        shape = np.shape(self.readings)
        for name in ("readings", "mean", "spread", "noise"):
            if (value := getattr(self, name)) is None:
                continue
            column = np.asarray(value, float)
            column = np.full(shape, column) if name == "noise" and column.ndim == 0 else column
            if column.shape != shape or not np.isfinite(column).all():
                raise InputError(
                    f"Predicted({name}=...): give {shape[0]} finite numbers, one per reading."
                )
            if name in ("spread", "noise") and (column < 0).any():
                raise InputError(f"Predicted({name}=...): a standard deviation is 0 or more.")
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def sigma(self) -> Column:
        """σ of every reading, as given or estimated."""
        if self.noise is None:
            return np.full(len(self), estimate_noise(self.readings - self.mean, self.spread))
        return np.asarray(self.noise)

    @property
    def scale(self) -> Column:
        """√(s² + σ²), the unit of a score."""
        return np.hypot(self.spread, self.sigma)

    def take(self, rows: Bool[np.ndarray, " n"]) -> "Predicted":
        """The selected readings."""
        noise = self.noise[rows] if isinstance(self.noise, np.ndarray) else None
        parts = self.readings[rows], self.mean[rows], self.spread[rows]
        return Predicted(*parts, noise, self.members)

    def joined(self, other: "Predicted") -> "Predicted":
        """The readings of both objects."""

        def both(name: str) -> Column:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        columns = [both(name) for name in ("readings", "mean", "spread", "sigma")]
        return Predicted(*columns, members=self.members)


def leave_one_out(fitted: Predicted) -> Predicted:
    """Every fitted reading with its leave-one-out prediction by a Gaussian posterior.

    `fitted.spread` is that of the posterior with the reading included. If it is near σ, the field
    interpolates the reading, and its prediction from the others is not known. So the leverage is limited
    to `MAX_LEVERAGE`.

    >>> halved = leave_one_out(Predicted(np.ones(1), np.full(1, 0.8), np.full(1, 0.3), noise=0.6))
    >>> round(float(halved.mean[0]), 3), round(float(halved.spread[0]), 3)  # h = 1/4
    (0.733, 0.346)
    """
    variance = np.maximum(fitted.sigma**2, 1e-300)
    residual_share = 1 - np.minimum(fitted.spread**2 / variance, MAX_LEVERAGE)
    mean = fitted.readings - (fitted.readings - fitted.mean) / residual_share
    return replace(
        fitted, mean=mean, spread=fitted.spread / np.sqrt(residual_share), noise=fitted.sigma
    )


def estimate_noise(misfit: Column, spread: Column) -> float:
    """σ for which the median of r²/(s² + σ²), with misfits r and spreads s, is that of a Gaussian.

    The median ignores outliers. The result is 0 if the spread alone explains the misfits. A misfit that
    the fit has everywhere also counts as noise, since readings cannot distinguish the two.

    >>> round(estimate_noise(np.array([-0.5, 0.3, 0.2, 9.0, 0.1]), np.zeros(5)), 3)
    0.445
    """
    if not len(misfit):
        return 0.0
    low, high = 0.0, float(np.max(np.abs(misfit))) / math.sqrt(MEDIAN_SQUARED_NORMAL)
    for _ in range(60):  # bisection, to the last digit
        middle = (low + high) / 2
        variance = np.maximum(spread**2 + middle**2, 1e-300)
        too_small = np.median(misfit**2 / variance) > MEDIAN_SQUARED_NORMAL
        low, high = (middle, high) if too_small else (low, middle)
    return high if low > 0 else 0.0


@dataclass(frozen=True)
class Calibration:
    """The calibration factors of bands, as `calibrate` makes them.

    Attributes
    ----------
    scores : (n,) the misfits of held-out readings over √(s² + σ²), in increasing order.
    noise : the typical σ of a reading, for bands of new readings.
    members : the number of members of a spread; None if there are so many that no correction is needed.
    noise_share : the mean of σ² / (s² + σ²) over the held-out readings.
    """

    scores: Column
    noise: float
    members: MemberCount | None = None
    noise_share: float = 1.0

    def factor(self, level: float) -> float:
        """q, for which a band of ± q √(s² + σ²) holds a new reading with probability `level` or more.

        With too few readings, n < level / (1 − level), no finite factor is guaranteed. Then q is that
        of a Gaussian, or the largest score if that is larger, and `note` says so.

        >>> Calibration(np.arange(1.0, 10.0), 0.0).factor(0.8)
        8.0
        """
        check_level(level)
        if self.is_guaranteed(level):
            return float(self.scores[_quantile_rank(len(self.scores), level) - 1])
        return max([float(ndtri((1 + level) / 2)), *self.scores.tolist()])

    def is_guaranteed(self, level: float) -> bool:
        """Whether there are enough held-out readings for this level."""
        return _quantile_rank(len(self.scores), level) <= len(self.scores)

    def note(self, level: float) -> str:
        """A warning if too few readings calibrate the factor, else an empty text."""
        if self.is_guaranteed(level):
            return ""
        return (
            f"{len(self.scores)} readings are too few to calibrate bands of {level:g}: "
            f"{math.ceil(round(level / (1 - level), 9))} are needed. The bands are Gaussian ones, or as "
            "wide as the largest misfit seen."
        )

    def half_width(self, spread, level: float, noise: Any) -> Any:
        """q √(s² + σ²), half the width of a band of readings.

        >>> Calibration(np.arange(1.0, 10.0), 4.0).half_width(3.0, 0.8, noise=4.0).item()
        40.0
        """
        return self.factor(level) * np.hypot(spread, noise)

    def field_factor(self, level: float) -> float:
        """q' c, for which ± q' c s is a band of the field.

        It is narrower than a Gaussian band only if the scores are significantly small: a few readings may
        all be close to the field by chance.

        >>> round(Calibration(np.arange(1.0, 10.0), 1.0, MemberCount(8)).field_factor(0.8) / 8.0, 2)
        1.17
        >>> [round(Calibration(np.linspace(0, 1, n), 1.0).field_factor(0.9), 2) for n in (12, 400)]
        [1.64, 0.92]
        """
        variance_excess = small_sample_factor(self.members, level) ** 2 - 1
        return self._significant_factor(level) * math.sqrt(1 + self.noise_share * variance_excess)

    def _significant_factor(self, level: float) -> float:
        """q', which is q if that is at least a Gaussian's.

        Otherwise it is q at a level that is higher by one standard deviation of the share of so many
        scores, and at most a Gaussian's.
        """
        factor, gaussian = self.factor(level), float(ndtri((1 + level) / 2))
        if factor >= gaussian:
            return factor
        count = len(self.scores)
        rank = _quantile_rank(count, level) + math.ceil(math.sqrt(count * level * (1 - level)))
        return min(float(self.scores[rank - 1]), gaussian) if rank <= count else gaussian


def small_sample_factor(members: MemberCount | None, level: float) -> float:
    """c, the factor by which a band must be wider because its spread was estimated from few members.

    >>> counts = (None, MemberCount(32, True), MemberCount(8), MemberCount(2))
    >>> [round(small_sample_factor(count, 0.9), 2) for count in counts]
    [1.0, 1.03, 1.22, 4.7]
    """
    if members is None:
        return 1.0
    count, has_known_mean = members
    p = (1 + level) / 2
    if has_known_mean:
        return float(stdtrit(count, p) / ndtri(p))
    return float(stdtrit(count - 1, p) * math.sqrt(1 + 1 / count) / ndtri(p))


def calibrate(held_out: Predicted) -> Calibration:
    """The calibration by held-out readings, or by the out-of-fold predictions of `cross_validate`.

    Out-of-fold predictions are as good as held-out ones if the fit of all readings resembles the fits of
    the folds (cross-conformal prediction). Their `spread` is that of the members at the readings, or 0
    for bands of one width.

    >>> readings = np.array([0.1, -0.2, 0.3])
    >>> calibrate(Predicted(readings, np.zeros(3), np.full(3, 0.1), noise=0.0)).scores.round(6).tolist()
    [1.0, 2.0, 3.0]
    """
    sigma = held_out.sigma
    typical = float(np.sqrt(np.mean(sigma**2))) if len(sigma) else 0.0
    scale = np.hypot(held_out.spread, sigma)
    share = np.mean((sigma / scale)[scale > 0] ** 2) if (scale > 0).any() else 1.0
    scores = np.sort(calibration_scores(held_out, scale))
    return Calibration(scores, typical, held_out.members, float(share))


def calibration_scores(predicted: Predicted, scale: Column) -> Column:
    """The misfits in units of the scale; infinite if a misfit has the scale 0."""
    misfit = np.abs(predicted.readings - predicted.mean)
    ratio = np.divide(misfit, scale, out=np.full_like(misfit, np.inf), where=scale > 0)
    return np.where(misfit > 0, ratio, 0.0)


def _quantile_rank(count: int, level: float) -> int:
    """The rank, among `count` scores, of the one that is the factor of a level."""
    # The product is rounded first, since (9 + 1) · 0.8 is 8 only up to rounding.
    return math.ceil(round((count + 1) * level, 9))


def check_level(level: float) -> None:
    """Raise unless the level of a band is between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"level={level}: write a share between 0 and 1, such as 0.9.")
