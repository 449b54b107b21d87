"""What is said of readings by a fit that did not see them."""

from typing import TYPE_CHECKING

import numpy as np

from pgt.data.observations import Observations
from pgt.nn import batched
from pgt.trust.calibration import Predicted
from pgt.trust.coverage import Noise, predict, predicted_noise
from pgt.trust.members import required

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction


def predictions(result: "Reconstruction") -> dict[str, Predicted]:
    """By field, readings beside what the members say of them."""
    members, about = required(result.members), result.record.get("members", {})
    if about.get("left_out_spread") is not None and result.left_out is not None:
        return _by_the_others(result, np.asarray(about["left_out_spread"]))
    return predict(
        result.observations, result.held_out,
        lambda readings: result.predict_readings(readings, members=True),
        _noise(result, about.get("noise_of_fields", about.get("noise"))),
        members=members.drawn, in_turn=about.get("leave_one_out", False),
        is_clean=about.get("is_clean", False),
    )  # fmt: skip


def _by_the_others(result: "Reconstruction", spreads: np.ndarray) -> dict[str, Predicted]:
    """What the others say of every reading, where a solution knows it in closed form; `spreads` are its
    standard deviations, of one field after the other, in units of their spread."""
    readings, said = result.observations, np.asarray(result.left_out)
    found, start = {}, 0
    for column, name in enumerate(readings.fields):
        rows, _, values, _ = readings.measured(name)
        own = spreads[start : start + len(rows)] * float(result.model.scaling.spread[column])
        start += len(rows)
        if len(rows):
            parts = np.asarray(values, float), said[rows, column], own, np.zeros(len(rows))
            found[name] = Predicted(*parts, required(result.members).drawn)
    return found


def _noise(result: "Reconstruction", common: float | list[float] | None) -> Noise | None:
    """σ of readings as PGT-UW predicts it, else that of a posterior, one for all fields or one for each;
    None where neither is."""
    fields = result.pde.fields
    predicted = predicted_noise(result.model, read_by(result), fields)
    if predicted is not None or common is None:
        return predicted
    sigma = dict(
        zip(fields, np.asarray(common) * np.asarray(result.model.scaling.spread), strict=True)
    )
    return lambda points: {name: np.full(len(points), s) for name, s in sigma.items()}


def read_by(result: "Reconstruction") -> Observations:
    """The readings of `result.model`, counted from its origin: the first member may have been fitted to
    a draw of them."""
    if result.members is None:
        return result.model.scaling.origin.readings(result.observations)
    return batched.member(result.members.observations, 0)
