"""Whether readings scatter by what their given noise says.

A fit takes a noise that is given for true. Where it is too small, the field bends after errors of the
readings; where it is too large, it is smoother than they ask for, and both its error and its bands are
wrong in proportion. With m what unseen readings are missed by, and e what the field is expected to be
wrong by near them, the scatter that readings show is the median of |m| / √(σ² + e²), in units of that of
a normal distribution, which outliers do not move. Less than σ needs no e: no field predicts a reading
better than its own noise.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from pgt.data.observations import Measured
from pgt.ground.numbers import number
from pgt.ground.verdict import Doubt, FieldError
from pgt.trust.held_out import Unseen
from pgt.trust.suspicion import NORMAL

PLAINLY = 2.0  # times the noise given, or a share of it: no instrument is known better
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


def contradiction(
    read: Measured,
    said: Float[np.ndarray, " m"],
    error: float = 0.0,
) -> Contradiction | None:
    """Of readings of one field, and of what was `said` of them that did not see them: their scatter where
    it is plainly not their noise, `error` being that of the field near readings, in its units.

    >>> noise, places = np.random.default_rng(0).normal(size=60), np.zeros((60, 1))
    >>> read = Measured(np.arange(60), places, 3 * noise, np.full(60, 1.0))
    >>> round(contradiction(read, np.zeros(60)).ratio), contradiction(read, np.zeros(60), error=3.0)
    (3, None)
    """
    known = (read.noise > 0) & np.isfinite(said)
    if known.sum() < FEWEST:
        return None
    missed, sigma = np.abs(said - read.values)[known], read.noise[known]
    far, near = (NORMAL * float(np.median(missed / of)) for of in (np.hypot(sigma, error), sigma))
    plainly = max(PLAINLY, float(np.exp(CERTAIN * OF_MEDIAN / np.sqrt(known.sum()))))
    if near * plainly >= 1 and far <= plainly:
        return None
    given = read.typical_noise
    return Contradiction(given, near * given, int(known.sum()))


def contradictions(
    unseen: Unseen, errors: Mapping[str, FieldError], spreads: Mapping[str, float]
) -> dict[str, Contradiction]:
    """By field, where there is one."""
    found = {}
    for column, name in enumerate(unseen.readings.fields):
        read, error = unseen.readings.measured(name), errors.get(name)
        expected = 0.0 if error is None else (error.inside or error.value) * spreads.get(name, 0.0)
        said = np.asarray(unseen.predictions, float)[read.rows, column]
        if (one := contradiction(read, said, expected)) is not None:
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
            f"Readings of {name} scatter by about {shown} around what is said of them without them, "
            f"{beside}: {what}. Left out, the noise is estimated.",
            numbers,
        )
