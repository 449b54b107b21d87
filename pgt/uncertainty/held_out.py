"""Errors at held-out readings, of a fit and of interpolation."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.core.doubt import HeldOutError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.splits import Groups, choose_held_out_sensors
from pgt.inference.gaussian_process import predict_by_process


@dataclass(frozen=True)
class HeldOutPredictions:
    """Readings beside predictions by fits that did not see them.

    Attributes
    ----------
    readings : those held out, or all of them where `folds` fits predicted them in turn.
    predictions : (n, c) the predictions.
    interpolated : (n, c) the predictions by interpolation without physics, or None.
    folds : how many fits took turns; None: the readings were held out of one fit.
    """

    readings: Observations
    predictions: Float[np.ndarray, "n c"]
    interpolated: Float[np.ndarray, "n c"] | None = None
    folds: int | None = None


def misfit(
    predicted: Float[np.ndarray, " n"], truth: Float[np.ndarray, " n"]
) -> tuple[float, float | None]:
    """The root mean square error, and the same relative to the readings; None where these are all
    zero.

    >>> misfit(np.array([3.0, 4.0, 1.0]), np.array([3.0, 4.0, 0.0]))[1]
    0.2
    """
    wrong, size = np.linalg.norm(predicted - truth), np.linalg.norm(truth)
    return float(wrong / np.sqrt(len(truth))), float(wrong / size) if size > 0 else None


def held_out_errors(
    held_out: HeldOutPredictions, spreads: dict[str, float]
) -> dict[str, HeldOutError]:
    """By field, the errors of a fit and of interpolation; `spreads` are those of all readings.

    A field without a held-out reading that has a finite prediction is omitted.
    """
    found = {}
    for column, name in enumerate(held_out.readings.fields):
        rows, _, truth, _ = held_out.readings.measured(name)
        guess = np.asarray(held_out.predictions, float)[rows, column]
        finite = np.isfinite(guess)
        if not finite.any():
            continue
        rmse, relative = misfit(guess[finite], truth[finite])
        spread = spreads.get(name, 0.0)
        of_spread = rmse / spread if spread > 0 else None
        simple = None if held_out.interpolated is None else held_out.interpolated[rows, column]
        theirs = _interpolation_error(simple, truth, spread)
        found[name] = HeldOutError(
            int(finite.sum()), rmse, relative, theirs[0], of_spread, theirs[1]
        )
    return found


def _interpolation_error(predictions, truth, spread: float) -> tuple[float | None, float | None]:
    """The error of interpolation, relative to the readings and to their spread."""
    if predictions is None:
        return None, None
    rmse, relative = map(_finite_or_none, misfit(predictions, truth))
    return relative, rmse / spread if spread > 0 and rmse is not None else None


def _finite_or_none(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def interpolate_held_out(
    fitted: Observations, held_out: Observations, domain: Domain
) -> Float[np.ndarray, "n c"] | None:
    """Predictions of held-out readings by interpolation without physics; None where there are none."""
    if not len(held_out):
        return None
    return predict_by_process(fitted, domain, np.asarray(held_out.points, float))


def interpolate_left_out(
    readings: Observations, domain: Domain, groups: Groups | None = None
) -> Float[np.ndarray, "n c"]:
    """The prediction of every reading by interpolation of all others; with `groups`, of other
    groups.

    It is NaN in a group with a negative number, of which there is no prediction to compare with.
    """
    found = predict_by_process(readings, domain, groups=groups)
    return found if groups is None else np.where(groups[:, None] < 0, np.nan, found)


def left_out_as_held_out(
    readings: Observations, predictions: Float[np.ndarray, "n c"], domain: Domain
) -> HeldOutPredictions:
    """All readings, each predicted from the others, or from other sensors where enough sensors
    remain.
    """
    simple = interpolate_left_out(readings, domain, choose_held_out_sensors(readings))
    return HeldOutPredictions(readings, predictions, simple, len(readings))
