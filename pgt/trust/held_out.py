"""How well readings are predicted that were not fitted, and how well interpolation predicts them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.splits import Groups, spared_sensors
from pgt.ground.verdict import HeldOut
from pgt.trust.references.process import by_process


@dataclass(frozen=True)
class Unseen:
    """Readings that judge a fit, since what predicts them has not seen them.

    Attributes
    ----------
    readings : those held out, or all of them where `folds` fits predicted them in turn.
    predictions : (n, c) what was said of them.
    interpolated : (n, c) what interpolation without physics says of them, or None.
    folds : how many fits took turns; None: they were held out of one fit.
    """

    readings: Observations
    predictions: Float[np.ndarray, "n c"]
    interpolated: Float[np.ndarray, "n c"] | None = None
    folds: int | None = None


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
        simple = None if unseen.interpolated is None else unseen.interpolated[rows, column]
        theirs = _of_interpolation(simple, truth, spread)
        found[name] = HeldOut(int(finite.sum()), rmse, relative, theirs[0], of_spread, theirs[1])
    return found


def _of_interpolation(said, truth, spread: float) -> tuple[float | None, float | None]:
    """The error of interpolation, relative to the readings and to their spread."""
    if said is None:
        return None, None
    rmse, relative = map(_finite, misfit(said, truth))
    return relative, rmse / spread if spread > 0 and rmse is not None else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def interpolated(
    fitted: Observations, unseen: Observations, domain: Domain
) -> Float[np.ndarray, "n c"] | None:
    """Predictions of unseen readings by interpolation without physics; None where there are none."""
    if not len(unseen):
        return None
    return by_process(fitted, domain, np.asarray(unseen.points, float))


def interpolated_in_turn(
    readings: Observations, domain: Domain, groups: Groups | None = None
) -> Float[np.ndarray, "n c"]:
    """The prediction of every reading by interpolation of all others; with `groups`, of other groups. NaN
    in a group below 0, of which there is no prediction to compare with."""
    found = by_process(readings, domain, groups=groups)
    return found if groups is None else np.where(groups[:, None] < 0, np.nan, found)


def left_out_in_turn(
    readings: Observations, predictions: Float[np.ndarray, "n c"], domain: Domain
) -> Unseen:
    """All readings, each predicted from the others, or from other sensors where one can be spared."""
    simple = interpolated_in_turn(readings, domain, spared_sensors(readings))
    return Unseen(readings, predictions, simple, len(readings))
