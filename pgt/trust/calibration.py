"""Error bars that hold: bands scaled until held-out readings lie inside as often as promised.

A fit gives a mean μ and a spread s (the standard deviation over its members), readings have noise σ.
Held-out readings y tell how much too wide or too narrow √(s² + σ²) is (split conformal prediction,
Vovk et al. 2005; Lei et al. 2018)::

    score   e_i = |y_i − μ_i| / √(s_i² + σ_i²)
    factor  q = the ⌈(n + 1) · level⌉-th smallest of n scores
    bands   of a reading:  μ ± q √(s² + σ²)         of the field:  μ ± q' c s

For readings drawn like held-out ones, the first band holds a new one with probability `level` at
least, whatever the fit is like. The second has no such warrant: a noisy reading cannot tell a field
error that is small beside the noise, so that q then says how good σ is, and little about s. There c
allows for a spread taken of k members only, by quantiles of Student's t and of a Gaussian::

    c = t √(1 + 1/k) / z,  k − 1 degrees of freedom          c = t / z,  k degrees, where μ is known

as far as q has not done so already: it has where s is not small beside σ. And q' is q, or where that is
less than a Gaussian's, as much less as it is beyond chance.

The Gaussian posterior of a fit tells what it would say without one of its readings: a share h = s²/σ²
of each reading went into the fit there, so that (`leave_one_out`)::

    y − μ₋ = (y − μ) / (1 − h)          s₋² = s² / (1 − h)

All readings then calibrate, not the few that were held out. These have no warrant but the posterior's.
A fit takes what it misses clean readings by for their noise; but they have none, all of it is the field's
error, and their scores are e_i = |y_i − μ_i| / s_i.

Pure functions of numpy arrays; `Reconstruction.coverage` and `Reconstruction.band` use them.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtri, stdtrit

from pgt.ground.errors import InputError

MOST_LEVERAGE = 0.95  # of a reading that goes into the fit at its place
MEDIAN_OF_SQUARE = float(ndtri(0.75) ** 2)  # of a standard Gaussian number
Column = Float[np.ndarray, " n"]


class Drawn(NamedTuple):
    """How many independent members there are, and whether the field they scatter about is known."""

    count: int
    is_centred: bool = False


@dataclass(frozen=True)
class Predicted:
    """Readings of one field beside what a fit says of them that did not see them.

    Attributes
    ----------
    readings, mean, spread : (n,) what was measured; mean and standard deviation over the members.
    noise : σ of the readings, one number or (n,), such as what PGT-UW predicts; None: estimated.
    members : of what the spread was taken; None: of many fields.

    >>> Predicted(np.ones(2), np.zeros(2), np.full(2, 0.1), noise=0.2).scale.tolist()
    [0.223606797749979, 0.223606797749979]
    """

    readings: Column
    mean: Column
    spread: Column
    noise: float | Column | None = None
    members: Drawn | None = None

    def __post_init__(self):
        shape = np.shape(self.readings)
        for name in ("readings", "mean", "spread", "noise"):
            if (given := getattr(self, name)) is None:
                continue
            column = np.asarray(given, float)
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
        """σ of every reading, estimated where it is not given."""
        if self.noise is None:
            return np.full(len(self), estimate_noise(self.readings - self.mean, self.spread))
        return np.asarray(self.noise)

    @property
    def scale(self) -> Column:
        """√(s² + σ²), by which a misfit is measured."""
        return np.hypot(self.spread, self.sigma)

    def take(self, rows: Bool[np.ndarray, " n"]) -> "Predicted":
        """Some of the readings."""
        noise = self.noise[rows] if isinstance(self.noise, np.ndarray) else None
        parts = self.readings[rows], self.mean[rows], self.spread[rows]
        return Predicted(*parts, noise, self.members)

    def joined(self, other: "Predicted") -> "Predicted":
        """These readings and those."""

        def both(name: str) -> Column:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        columns = [both(name) for name in ("readings", "mean", "spread", "sigma")]
        return Predicted(*columns, members=self.members)


def leave_one_out(fitted: Predicted) -> Predicted:
    """What a Gaussian posterior says of each fitted reading without it; `fitted.spread` is its own.

    A spread near σ means that a reading is followed wherever it goes: what the others say of it is
    then not known, and no more than `MOST_LEVERAGE` of it is taken out.

    >>> halved = leave_one_out(Predicted(np.ones(1), np.full(1, 0.8), np.full(1, 0.3), noise=0.6))
    >>> round(float(halved.mean[0]), 3), round(float(halved.spread[0]), 3)  # h = 1/4
    (0.733, 0.346)
    """
    variance = np.maximum(fitted.sigma**2, 1e-300)
    left = 1 - np.minimum(fitted.spread**2 / variance, MOST_LEVERAGE)
    mean = fitted.readings - (fitted.readings - fitted.mean) / left
    return replace(fitted, mean=mean, spread=fitted.spread / np.sqrt(left), noise=fitted.sigma)


def estimate_noise(misfit: Column, spread: Column) -> float:
    """σ that explains the misfits together with the spread: median of r²/(s² + σ²) as for a Gaussian.

    The median, not the mean, so that outliers do not count. 0 where the spread alone explains them.
    What the fit misses everywhere counts as noise, too: readings cannot tell the two apart.

    >>> round(estimate_noise(np.array([-0.5, 0.3, 0.2, 9.0, 0.1]), np.zeros(5)), 3)
    0.445
    """
    if not len(misfit):
        return 0.0
    low, high = 0.0, float(np.max(np.abs(misfit))) / math.sqrt(MEDIAN_OF_SQUARE)
    for _ in range(60):  # halves the gap each time, to the last digit
        middle = (low + high) / 2
        variance = np.maximum(spread**2 + middle**2, 1e-300)
        too_small = np.median(misfit**2 / variance) > MEDIAN_OF_SQUARE
        low, high = (middle, high) if too_small else (low, middle)
    return high if low > 0 else 0.0


@dataclass(frozen=True)
class Calibration:
    """How much wider than Gaussian a band must be; made by `calibrate`.

    Attributes
    ----------
    scores : (n,) misfits of held-out readings over √(s² + σ²), increasing.
    noise : the typical σ of a reading, for bands of new ones.
    members : of what spreads are taken; None: of many fields.
    noise_share : the mean of σ² / (s² + σ²) over those readings.
    """

    scores: Column
    noise: float
    members: Drawn | None = None
    noise_share: float = 1.0

    def factor(self, level: float) -> float:
        """q: a band of ± q √(s² + σ²) holds a new reading with probability `level` or more.

        With too few readings, n < level / (1 − level), no finite factor is warranted: it is then that
        of a Gaussian, or the largest score if that is larger, and `note` says so.

        >>> Calibration(np.arange(1.0, 10.0), 0.0).factor(0.8)
        8.0
        """
        check_level(level)
        if self.is_warranted(level):
            return float(self.scores[_rank(len(self.scores), level) - 1])
        return max([float(ndtri((1 + level) / 2)), *self.scores.tolist()])

    def is_warranted(self, level: float) -> bool:
        """Whether there are enough held-out readings for this level."""
        return _rank(len(self.scores), level) <= len(self.scores)

    def note(self, level: float) -> str:
        """What is to be known about the factor; empty where all is well."""
        if self.is_warranted(level):
            return ""
        return (
            f"{len(self.scores)} readings are too few to calibrate bands of {level:g}: "
            f"{math.ceil(round(level / (1 - level), 9))} are needed. The bands are Gaussian ones, or as "
            "wide as the largest misfit seen."
        )

    def half_width(self, spread, level: float, noise: Any) -> Any:
        """q √(s² + σ²), of a band of readings.

        >>> Calibration(np.arange(1.0, 10.0), 4.0).half_width(3.0, 0.8, noise=4.0).item()
        40.0
        """
        return self.factor(level) * np.hypot(spread, noise)

    def field_factor(self, level: float) -> float:
        """q' c: a band of the field is ± q' c s wide, narrower than a Gaussian one as far as readings say
        so beyond chance: of few, all may happen to lie close.

        >>> round(Calibration(np.arange(1.0, 10.0), 1.0, Drawn(8)).field_factor(0.8) / 8.0, 2)
        1.17
        >>> [round(Calibration(np.linspace(0, 1, n), 1.0).field_factor(0.9), 2) for n in (12, 400)]
        [1.64, 0.92]
        """
        more = few_members(self.members, level) ** 2 - 1
        return self._beyond_chance(level) * math.sqrt(1 + self.noise_share * more)

    def _beyond_chance(self, level: float) -> float:
        """q; where it is less than of a Gaussian, that of a level higher by one standard deviation of the
        share that so many readings show by chance, but no more than of a Gaussian."""
        found, gaussian = self.factor(level), float(ndtri((1 + level) / 2))
        if found >= gaussian:
            return found
        count = len(self.scores)
        rank = _rank(count, level) + math.ceil(math.sqrt(count * level * (1 - level)))
        return min(float(self.scores[rank - 1]), gaussian) if rank <= count else gaussian


def few_members(members: Drawn | None, level: float) -> float:
    """c: how much wider a band must be whose spread was taken of a few members.

    >>> [round(few_members(m, 0.9), 2) for m in (None, Drawn(32, True), Drawn(8), Drawn(2))]
    [1.0, 1.03, 1.22, 4.7]
    """
    if members is None:
        return 1.0
    count, is_centred = members
    p = (1 + level) / 2
    if is_centred:
        return float(stdtrit(count, p) / ndtri(p))
    return float(stdtrit(count - 1, p) * math.sqrt(1 + 1 / count) / ndtri(p))


def calibrate(held_out: Predicted) -> Calibration:
    """The calibration by held-out readings, or by the out-of-fold predictions of `cross_validate`.

    Readings that were predicted in turn, each by a fit without its fold, are as good as held-out ones
    where the fit of all readings is much like those (cross-conformal prediction); their `spread` is
    that of the members at the readings, or 0 for bands of one width.

    >>> readings = np.array([0.1, -0.2, 0.3])
    >>> calibrate(Predicted(readings, np.zeros(3), np.full(3, 0.1), noise=0.0)).scores.round(6).tolist()
    [1.0, 2.0, 3.0]
    """
    sigma = held_out.sigma
    typical = float(np.sqrt(np.mean(sigma**2))) if len(sigma) else 0.0
    scale = np.hypot(held_out.spread, sigma)
    share = np.mean((sigma / scale)[scale > 0] ** 2) if (scale > 0).any() else 1.0
    scores = np.sort(scores_of(held_out, scale))
    return Calibration(scores, typical, held_out.members, float(share))


def scores_of(predicted: Predicted, scale: Column) -> Column:
    """Misfits in units of the scale; infinite where something is missed and nothing was expected."""
    misfit = np.abs(predicted.readings - predicted.mean)
    ratio = np.divide(misfit, scale, out=np.full_like(misfit, np.inf), where=scale > 0)
    return np.where(misfit > 0, ratio, 0.0)


def _rank(count: int, level: float) -> int:
    # Rounded first: (9 + 1) · 0.8 is 8, and not a little more.
    return math.ceil(round((count + 1) * level, 9))


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level={level}: write a share between 0 and 1, such as 0.9.")
