"""The error of a field of which no posterior tells, by the readings that were not fitted.

They are missed by the error of the field and by their own noise. How much of it is noise is given, or
seen at the readings that were fitted: what these are missed by, less what neighbours are missed by alike,
which is field that the model did not follow. With m the misses and ρ what neighbours share,

    error² = mean m² of readings not fitted - σ²,    σ² ≈ (1 - ρ) mean m² of those fitted

A fit that memorises its readings misses them by less than their noise, and the error is stated too large.
Readings that are not fitted lie where readings are. In what part of the domain lies farther from them,
the error is taken to be as much larger as it was in the median outside the hull of the readings of 36
fits of six equations.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pgt.ground.verdict import FieldError
from pgt.trust.field_error import UNSURE

FARTHER = 12.0  # times the error near readings
SURE = 2.0  # standard errors of a mean square


class Missed(NamedTuple):
    """By how much readings of one field are missed, and what is known of their noise: its σ where it was
    given, and what neighbours among those fitted are missed by alike, a share of the variance."""

    unfitted: Float[np.ndarray, " m"]
    fitted: Float[np.ndarray, " n"]
    common: float = 0.0
    noise: float = 0.0


def error_by_missed(missed: Missed, spread: float, far: float = 0.0) -> FieldError | None:
    """The error to be expected of a field with that spread over the domain, `far` being the share of it
    that has no readings near; None where no reading tells.

    >>> noise = np.random.default_rng(0).normal(size=4000)
    >>> noisy = Missed(np.hypot(0.03, 0.04) * noise[:2000], 0.04 * noise[2000:])
    >>> round(error_by_missed(noisy, 1.0).value, 2)
    0.03
    """
    squares = missed.unfitted[np.isfinite(missed.unfitted)] ** 2
    if not len(squares):
        return None
    whole = float(np.mean(squares))
    chance = whole * np.sqrt(2 / len(squares))
    # What could be chance alone is the least that can be said.
    square = min(max(whole - _explained(missed), chance), whole)
    scale = np.sqrt(1 - far + far * FARTHER**2) / spread
    low = np.sqrt(max(square - SURE * chance, square / SURE**2)) * scale / UNSURE
    high = np.sqrt(square + SURE * chance) * scale * UNSURE
    found = FieldError(float(np.sqrt(square) * scale), float(low), float(high))
    if not 0 < far < 1:
        return found
    near = float(np.sqrt(square) / spread)
    return replace(found, inside=near, outside=FARTHER * near)


def _explained(missed: Missed) -> float:
    """The variance of the readings' own noise."""
    if missed.noise > 0:
        return missed.noise**2
    squares = missed.fitted[np.isfinite(missed.fitted)] ** 2
    return (1 - np.clip(missed.common, 0, 1)) * float(np.mean(squares)) if len(squares) else 0.0
