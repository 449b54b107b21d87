"""Whether readings scatter by what their given noise says.

A fit takes a noise that is given for true, unless readings plainly exceed it. Where it is too large, the
field is smoother than they ask for, and its error and its bands are wrong in proportion. What readings
show is the median of what they are missed by, which outliers do not move, in units of that of a normal
distribution. Readings that were fitted show no more than their noise, but for what neighbours are missed
by alike, a share ρ of the variance, which is field that was not followed; those that were not fitted
show no less: no field predicts a reading better than its own noise.

    more:  σ² = (1 - ρ) m²  of all readings              less:  σ² = m²  of unseen ones
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from pgt.ground.numbers import number
from pgt.ground.verdict import Doubt
from pgt.training.overtaxed import common_share
from pgt.trust.held_out import Unseen
from pgt.trust.suspicion import NORMAL

PLAINLY = 2.0  # times the noise given, or a share of it: no instrument is known better
SMALLEST = 1e-9  # of σ
CERTAIN, OF_MEDIAN = 3.5, 1.17  # standard deviations; times 1/√n, that of the logarithm of a median
FEWEST = 10  # readings


class Contradiction(NamedTuple):
    """A noise that was given, what readings scatter by, in the field's units, and of how many."""

    given: float
    shown: float
    readings: int

    @property
    def ratio(self) -> float:
        """More than 1: they scatter by more."""
        return self.shown / self.given


def contradicted(
    more: Float[np.ndarray, " n"], less: Float[np.ndarray, " m"], given: float
) -> Contradiction | None:
    """The scatter of readings where it is plainly more than their noise, or less; both are what they are
    missed by in units of their σ, which is `given` as one number.

    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> [contradicted(scale * noise, scale * noise, 1.0) is None for scale in (0.1, 1, 3)]
    [False, True, False]
    """
    for missed, is_more in ((more, True), (less, False)):
        if len(missed) < FEWEST:
            continue
        size = max(NORMAL * float(np.median(np.abs(missed))), SMALLEST)
        plainly = max(PLAINLY, float(np.exp(CERTAIN * OF_MEDIAN / np.sqrt(len(missed)))))
        if (size if is_more else 1 / size) > plainly:
            return Contradiction(given, size * given, len(missed))
    return None


def contradictions(
    misfits: pd.DataFrame, unseen: Unseen, extent: Float[np.ndarray, " d"] | float = 1.0
) -> dict[str, Contradiction]:
    """By field whose readings have a given noise, where they contradict it; distances between readings
    are in units of the `extent` of the domain."""
    found, coords = {}, list(unseen.readings.coords)
    for column, name in enumerate(unseen.readings.fields):
        read = unseen.readings.measured(name)
        if not (read.noise > 0).any():
            continue
        table = misfits.loc[misfits["field"] == name]
        table = table.loc[np.isfinite(table["misfit"].to_numpy(float))]
        missed = table["misfit"].to_numpy(float)[:, None]
        share = common_share(missed, np.ones(missed.shape, bool), table[coords].to_numpy() / extent)
        gap = np.asarray(unseen.predictions, float)[read.rows, column] - read.values
        known = (read.noise > 0) & np.isfinite(gap)
        more = np.sqrt(1 - np.clip(share, 0, 1)) * missed[:, 0]
        one = contradicted(more, gap[known] / read.noise[known], read.typical_noise)
        if one is not None:
            found[name] = one
    return found


def by_shown(misfits: pd.DataFrame, found: Mapping[str, Contradiction]) -> pd.DataFrame:
    """A table of misfits in the σ that readings show where they contradict a smaller one: in that, all of
    them would be far from the field."""
    ratios = {name: max(one.ratio, 1.0) for name, one in found.items()}
    factor = misfits["field"].map(lambda name: ratios.get(name, 1.0)).to_numpy(float)
    sigma, misfit = misfits["sigma"] * factor, misfits["misfit"] / factor
    return misfits.assign(sigma=sigma, misfit=misfit)


def doubts_of_noise(
    found: Mapping[str, Contradiction], units: Mapping[str, str]
) -> Iterator[Doubt]:
    """One for every field whose readings contradict the noise that was given for them."""
    for name, one in found.items():
        unit = "" if units.get(name, "1") == "1" else units[name]
        shown, given = (number(size, 2, unit=unit) for size in (one.shown, one.given))
        beside = f"{number(one.ratio, 2)} times the noise that was given for them, {given}"
        what = "either they are noisier than that, or the equation does not describe them"
        if one.ratio < 1:
            beside = f"and the noise that was given for them is {given}"
            what = "the field is smoother than they ask for, and its error stated too large"
        numbers = {"field": name, "shown": one.shown, "given": one.given, "readings": one.readings}
        yield Doubt(
            "contradicted_noise",
            f"Readings of {name} scatter by about {shown} around the field, {beside}: {what}. Where no "
            "noise is given, it is estimated.",
            numbers,
        )
