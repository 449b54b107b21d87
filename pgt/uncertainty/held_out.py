"""Errors of a fit at readings that it did not see, compared with interpolation without physics.

The readings were held out of the fit, or each was predicted by a fit without it. The interpolation is
that of a Gaussian process, which knows no equation.
"""

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
    """Readings with predictions by fits that did not see them.

    Attributes
    ----------
    readings : the held-out readings, or all readings if `folds` fits predicted them in turn.
    predictions : (n, c) the predictions.
    interpolated : (n, c) the predictions by interpolation without physics, or None.
    folds : the number of fits that took turns; None if the readings were held out of one fit.
    """

    readings: Observations
    predictions: Float[np.ndarray, "n c"]
    interpolated: Float[np.ndarray, "n c"] | None = None
    folds: int | None = None


def misfit(
    predicted: Float[np.ndarray, " n"], truth: Float[np.ndarray, " n"]
) -> tuple[float, float | None]:
    """The root mean square error, and its ratio to that of the readings; None if these are all zero.

    >>> misfit(np.array([3.0, 4.0, 1.0]), np.array([3.0, 4.0, 0.0]))[1]
    0.2
    """
    error, size = np.linalg.norm(predicted - truth), np.linalg.norm(truth)
    return float(error / np.sqrt(len(truth))), float(error / size) if size > 0 else None


def held_out_errors(
    held_out: HeldOutPredictions, spreads: dict[str, float]
) -> dict[str, HeldOutError]:
    """The errors of a fit and of interpolation, by field.

    `spreads` are the standard deviations of all readings of each field. A field is omitted if none of its
    predictions is finite.
    """
    errors = {}
    for column, name in enumerate(held_out.readings.fields):
        rows, _, truth, _ = held_out.readings.measured(name)
        predicted = np.asarray(held_out.predictions, float)[rows, column]
        is_finite = np.isfinite(predicted)
        if not is_finite.any():
            continue
        rmse, relative = misfit(predicted[is_finite], truth[is_finite])
        spread = spreads.get(name, 0.0)
        of_spread = rmse / spread if spread > 0 else None
        interpolated = (
            None if held_out.interpolated is None else held_out.interpolated[rows, column]
        )
        of_interpolation = _interpolation_error(interpolated, truth, spread)
        errors[name] = HeldOutError(
            int(is_finite.sum()),
            rmse,
            relative,
            of_interpolation[0],
            of_spread,
            of_interpolation[1],
        )
    return errors


def _interpolation_error(predictions, truth, spread: float) -> tuple[float | None, float | None]:
    """The error of interpolation, relative to the size of the readings and to their spread."""
    if predictions is None:
        return None, None
    rmse, relative = map(_finite_or_none, misfit(predictions, truth))
    return relative, rmse / spread if spread > 0 and rmse is not None else None


def _finite_or_none(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def interpolate_held_out(
    fitted: Observations, held_out: Observations, domain: Domain
) -> Float[np.ndarray, "n c"] | None:
    """Predictions of held-out readings by interpolation without physics; None if none were held out."""
    if not len(held_out):
        return None
    return predict_by_process(fitted, domain, np.asarray(held_out.points, float))


def interpolate_left_out(
    readings: Observations, domain: Domain, groups: Groups | None = None
) -> Float[np.ndarray, "n c"]:
    """The prediction of every reading by interpolation of all others, or of the other `groups`.

    It is NaN in groups with a negative number, since no fit predicts these readings.
    """
    predictions = predict_by_process(readings, domain, groups=groups)
    return predictions if groups is None else np.where(groups[:, None] < 0, np.nan, predictions)


def left_out_as_held_out(
    readings: Observations, predictions: Float[np.ndarray, "n c"], domain: Domain
) -> HeldOutPredictions:
    """All readings with their leave-one-out predictions.

    The interpolation leaves out whole sensors, if enough sensors remain.
    """
    interpolated = interpolate_left_out(readings, domain, choose_held_out_sensors(readings))
    return HeldOutPredictions(readings, predictions, interpolated, len(readings))
