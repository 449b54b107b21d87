"""Readings with predictions by fits that did not see them, for calibrated bands and their coverage."""

from typing import TYPE_CHECKING

import numpy as np

from pgt.data.observations import Observations
from pgt.nn import batched
from pgt.uncertainty.calibration import Predicted
from pgt.uncertainty.coverage import NoiseModel, compare_with_members, noise_model
from pgt.uncertainty.members import require_members

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction


def predicted_readings(result: "Reconstruction") -> dict[str, Predicted]:
    """Readings with the predictions of the members, by field."""
    members, record = require_members(result.members), result.record.get("members", {})
    if record.get("left_out_spread") is not None and result.left_out_predictions is not None:
        return _left_out_in_closed_form(result, np.asarray(record["left_out_spread"]))
    return compare_with_members(
        result.observations, result.held_out,
        lambda readings: result.predict_readings(readings, members=True),
        _noise_model(result, record.get("noise_of_fields", record.get("noise"))),
        members=members.independent, use_leave_one_out=record.get("leave_one_out", False),
        are_exact=record.get("exact_readings", False),
    )  # fmt: skip


def _left_out_in_closed_form(result: "Reconstruction", spreads: np.ndarray) -> dict[str, Predicted]:
    """Every reading with its leave-one-out prediction in closed form, by field.

    `spreads` are the standard deviations of these predictions, field after field, in units of each
    field's spread.
    """
    readings, predictions = result.observations, np.asarray(result.left_out_predictions)
    by_field, start = {}, 0
    for column, name in enumerate(readings.fields):
        rows, _, values, _ = readings.measured(name)
        sigmas = spreads[start : start + len(rows)] * float(result.model.scaling.spread[column])
        start += len(rows)
        if len(rows):
            parts = (
                np.asarray(values, float),
                predictions[rows, column],
                sigmas,
                np.zeros(len(rows)),
            )
            by_field[name] = Predicted(*parts, require_members(result.members).independent)
    return by_field


def _noise_model(result: "Reconstruction", common: float | list[float] | None) -> NoiseModel | None:
    """The function that gives σ of readings: that of PGT-UW, or else the `common` σ of a posterior (one
    number, or one per field); None without either.
    """
    fields = result.pde.fields
    predicted = noise_model(result.model, encoded_readings(result), fields)
    if predicted is not None or common is None:
        return predicted
    sigma = dict(
        zip(fields, np.asarray(common) * np.asarray(result.model.scaling.spread), strict=True)
    )
    return lambda points: {name: np.full(len(points), s) for name, s in sigma.items()}


def encoded_readings(result: "Reconstruction") -> Observations:
    """The readings that `result.model` encodes, relative to its origin.

    The first member of an ensemble may have been fitted to a bootstrap draw of the readings.
    """
    if result.members is None:
        return result.model.scaling.origin.readings(result.observations)
    return batched.member(result.members.observations, 0)
