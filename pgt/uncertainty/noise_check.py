"""Whether readings scatter as much as their given noise says.

A fit takes given noise as true, unless readings clearly exceed it. Where it is too large, the field
is smoother than the readings demand, and its error and bands are too large in proportion. The
observed scatter is the median of the absolute misfits, which ignores outliers, in units of that of
a normal distribution. Fitted readings show at most their noise, apart from the share ρ of the
variance that neighbors have in common, which is misfit of the field. Held-out readings show at
least their noise: no field predicts a reading better than that.

    larger noise:  σ² = (1 - ρ) m²  of all readings      smaller noise:  σ² = m²  of held-out ones
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from pgt.core.doubt import Doubt
from pgt.core.numbers import number
from pgt.methods.second_order.residual_correlation import neighbor_correlation
from pgt.uncertainty.held_out import HeldOutPredictions
from pgt.uncertainty.misfits import MEDIAN_TO_SIGMA

# Scatter and given noise contradict each other only beyond this ratio: instruments are not known
# better.
MIN_NOISE_RATIO = 2.0
# The lower limit of the scatter, in given σ.
MIN_SCATTER = 1e-9
# The ratio must also be significant by this many standard deviations.
MIN_SIGMAS = 3.5
# The standard deviation of the logarithm of the median of n absolute normal numbers, times √n.
LOG_MEDIAN_DEVIATION = 1.17
# Fewer readings do not show their scatter.
MIN_READINGS = 10


class NoiseContradiction(NamedTuple):
    """The noise that was given, the observed scatter, in the field's units, and the number of
    readings.
    """

    given: float
    observed: float
    readings: int

    @property
    def ratio(self) -> float:
        """The scatter over the given noise."""
        return self.observed / self.given


def find_noise_contradiction(
    more: Float[np.ndarray, " n"], less: Float[np.ndarray, " m"], given: float
) -> NoiseContradiction | None:
    """The contradiction between given noise and scatter; None where they agree.

    `more` and `less` are the misfits that can show a larger and a smaller noise, in units of their
    σ; `given` is the typical σ.

    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> [find_noise_contradiction(scale * noise, scale * noise, 1.0) is None for scale in (0.1, 1, 3)]
    [False, True, False]
    """
    for misfits, is_more in ((more, True), (less, False)):
        if len(misfits) < MIN_READINGS:
            continue
        size = max(MEDIAN_TO_SIGMA * float(np.median(np.abs(misfits))), MIN_SCATTER)
        min_ratio = max(
            MIN_NOISE_RATIO,
            float(np.exp(MIN_SIGMAS * LOG_MEDIAN_DEVIATION / np.sqrt(len(misfits)))),
        )
        if (size if is_more else 1 / size) > min_ratio:
            return NoiseContradiction(given, size * given, len(misfits))
    return None


def noise_contradictions(
    table: pd.DataFrame, held_out: HeldOutPredictions, extent: Float[np.ndarray, " d"] | float = 1.0
) -> dict[str, NoiseContradiction]:
    """By field with given noise, the contradiction with its scatter, where there is one.

    Distances between readings are in units of the `extent` of the domain.
    """
    found, coords = {}, list(held_out.readings.coords)
    for column, name in enumerate(held_out.readings.fields):
        read = held_out.readings.measured(name)
        if not (read.noise > 0).any():
            continue
        own = table.loc[table["field"] == name]
        own = own.loc[np.isfinite(own["misfit"].to_numpy(float))]
        misfits = own["misfit"].to_numpy(float)[:, None]
        places = own[coords].to_numpy() / extent
        share = neighbor_correlation(misfits, np.ones(misfits.shape, bool), places)
        gap = np.asarray(held_out.predictions, float)[read.rows, column] - read.values
        known = (read.noise > 0) & np.isfinite(gap)
        more = np.sqrt(1 - np.clip(share, 0, 1)) * misfits[:, 0]
        one = find_noise_contradiction(more, gap[known] / read.noise[known], read.typical_noise)
        if one is not None:
            found[name] = one
    return found


def with_observed_noise(
    misfits: pd.DataFrame, found: Mapping[str, NoiseContradiction]
) -> pd.DataFrame:
    """The table of misfits with the observed σ, where it contradicts a smaller given one: in the
    given σ every reading would be far from the field.
    """
    ratios = {name: max(one.ratio, 1.0) for name, one in found.items()}
    factor = misfits["field"].map(lambda name: ratios.get(name, 1.0)).to_numpy(float)
    sigma, misfit = misfits["sigma"] * factor, misfits["misfit"] / factor
    return misfits.assign(sigma=sigma, misfit=misfit)


def noise_doubts(
    found: Mapping[str, NoiseContradiction], units: Mapping[str, str]
) -> Iterator[Doubt]:
    """A doubt for every field whose readings contradict their given noise."""
    for name, one in found.items():
        unit = "" if units.get(name, "1") == "1" else units[name]
        observed, given = (number(size, 2, unit=unit) for size in (one.observed, one.given))
        beside = f"{number(one.ratio, 2)} times the noise that was given for them, {given}"
        what = "either they are noisier than that, or the equation does not describe them"
        if one.ratio < 1:
            beside = f"and the noise that was given for them is {given}"
            what = "the field is smoother than they ask for, and its error stated too large"
        numbers = {
            "field": name,
            "observed": one.observed,
            "given": one.given,
            "readings": one.readings,
        }
        yield Doubt(
            "contradicted_noise",
            f"Readings of {name} scatter by about {observed} around the field, {beside}: {what}. "
            "Where no noise is given, it is estimated.",
            numbers,
        )
