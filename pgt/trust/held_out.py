"""How well readings are predicted that were not fitted, and how well interpolation predicts them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.splits import spared_sensors
from pgt.ground.errors import InputError
from pgt.ground.verdict import HeldOut
from pgt.trust.references.interpolation import rbf
from pgt.trust.references.process import by_process

TENTHS = 10
MOST_FOR_RBF = 3000  # readings; interpolation costs their number cubed


@dataclass(frozen=True)
class Unseen:
    """Readings that judge a fit, since what predicts them has not seen them.

    Attributes
    ----------
    readings : those held out, or all of them where `folds` fits predicted them in turn.
    predictions : (n, c) what was said of them.
    interpolated : (n, c) what interpolation without physics says of them, or None.
    folds : how many fits took turns; None: they were held out of one fit.
    process : (n, c) what a Gaussian process without physics says of them, or None.
    """

    readings: Observations
    predictions: Float[np.ndarray, "n c"]
    interpolated: Float[np.ndarray, "n c"] | None = None
    folds: int | None = None
    process: Float[np.ndarray, "n c"] | None = None


def misfit(
    predicted: Float[np.ndarray, " n"], truth: Float[np.ndarray, " n"]
) -> tuple[float, float | None]:
    """Root mean square error, and the same relative to the readings; None where these are all zero.

    >>> misfit(np.array([3.0, 4.0, 1.0]), np.array([3.0, 4.0, 0.0]))[1]
    0.2
    """
    wrong, size = np.linalg.norm(predicted - truth), np.linalg.norm(truth)
    return float(wrong / np.sqrt(len(truth))), float(wrong / size) if size > 0 else None


def held_out_errors(unseen: Unseen, spreads: dict[str, float]) -> dict[str, HeldOut]:
    """By field, the errors of a fit and of interpolation; `spreads` are those of all readings.

    A field that has no unseen reading with a finite prediction is left out.
    """
    found = {}
    for column, name in enumerate(unseen.readings.fields):
        rows, _, truth, _ = unseen.readings.measured(name)
        guess = np.asarray(unseen.predictions, float)[rows, column]
        finite = np.isfinite(guess)
        if not finite.any():
            continue
        rmse, relative = misfit(guess[finite], truth[finite])
        spread = spreads.get(name, 0.0)
        of_spread = rmse / spread if spread > 0 else None
        (rbf_relative, rbf_of_spread), (process_relative, process_of_spread) = (
            _of_others(None if said is None else said[rows, column], truth, spread)
            for said in (unseen.interpolated, unseen.process)
        )
        found[name] = HeldOut(
            int(finite.sum()), rmse, relative, rbf_relative, of_spread, rbf_of_spread,
            process_relative, process_of_spread,
        )  # fmt: skip
    return found


def _of_others(said, truth, spread: float) -> tuple[float | None, float | None]:
    """The error of a method without physics, relative to the readings and to their spread."""
    if said is None:
        return None, None
    rmse, relative = map(_finite, misfit(said, truth))
    return relative, rmse / spread if spread > 0 and rmse is not None else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def interpolated(
    fitted: Observations, unseen: Observations, domain: Domain
) -> Float[np.ndarray, "n c"] | None:
    """What scipy's radial basis functions say of readings; None where they cannot."""
    if not len(unseen) or len(fitted) > MOST_FOR_RBF:
        return None
    try:
        return rbf(fitted, domain, np.asarray(unseen.points, float)).predictions
    except InputError:  # too few readings, or all on a line
        return None


def interpolated_in_turn(
    readings: Observations, fold: Int[np.ndarray, " n"], domain: Domain
) -> Float[np.ndarray, "n c"] | None:
    """The same for every reading: of each fold from the readings of the others."""
    found = np.full(np.shape(readings.values), np.nan)
    for number in range(int(fold.max()) + 1):
        inside = fold == number
        simple = interpolated(readings.take(~inside), readings.take(inside), domain)
        if simple is None:
            return None
        found[inside] = simple
    return found


def left_out_in_turn(
    readings: Observations, predictions: Float[np.ndarray, "n c"], domain: Domain
) -> Unseen:
    """All readings, each predicted from the others, or from other sensors where one can be spared;
    interpolation leaves out a tenth of them at a time."""
    which = spared_sensors(readings)
    groups = np.arange(len(readings)) if which is None else which
    count = int(groups.max(initial=-1)) + 1
    fold = (np.random.default_rng(0).permutation(count) % min(TENTHS, max(count, 1)))[groups]
    simple = interpolated_in_turn(readings, fold, domain) if len(readings) > TENTHS else None
    process = by_process(readings, domain, groups=which)
    return Unseen(readings, predictions, simple, len(readings), process)
