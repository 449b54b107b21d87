"""Predictions of readings: by fits that did not see them, for calibrated bands and their coverage, and by
sensors with errors of their own."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.data.domain import AXES
from pgt.data.observations import Observations
from pgt.inference.sensor_effects import Effect, places_of, shift_of
from pgt.nn import batched
from pgt.reconstruction.evaluation import Evaluation
from pgt.uncertainty.calibration import Predicted
from pgt.uncertainty.coverage import NoiseModel, compare_with_members, noise_model, positions_of
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


# ------------------------------------------------------------------------------- errors of sensors

# A stated standard deviation of sensor errors counts as much as the errors of so many sensors.
STATED_SENSORS = 3


@dataclass(frozen=True)
class ShiftedField:
    """The predictions of readings whose times are shifted, inside the domain."""

    field: Evaluation

    def __call__(
        self, readings: Observations, shift: float
    ) -> tuple[Float[np.ndarray, "n c"], Float[np.ndarray, " n"]]:
        """The predictions, and the shift of the time of each reading, in physical units."""
        moved, actual = readings, np.zeros(len(readings))
        if shift:
            points = np.array(readings.points, float)
            times = points[:, -1].copy()
            points[:, -1] = np.clip(times + shift, *self.field.domain.bounds("t"))
            moved, actual = replace(readings, points=points), points[:, -1] - times
        return np.asarray(self.field.predict_readings(moved), float), actual


def with_sensor_errors(result: "Reconstruction", band: xr.Dataset, quantile: float) -> xr.Dataset:
    """The band of new readings with the errors of sensors.

    At the place of a sensor that was read, the band is moved by the errors of that sensor. Elsewhere it
    is widened by the spread of the offsets of all sensors, if one was stated.
    """
    effects = [
        Effect(**{**effect, "place": tuple(effect["place"])})
        for effect in result.record.get("sensor_effects", ())
    ]
    if not effects:
        return band
    columns = xr.broadcast(*(band[axis] for axis in AXES if axis in band.coords))
    points = np.stack([positions_of(column).ravel() for column in columns], axis=-1)
    fields = [name for name in result.pde.fields if name in band]
    shape = (len(points), len(fields))
    queried = Observations(
        points, np.zeros(shape), np.ones(shape, bool), np.zeros(shape), None, result.domain.axes,
        tuple(fields),
    )  # fmt: skip
    shift = shift_of(effects, queried.aligned(result.pde.fields), ShiftedField(result.evaluation))
    places = places_of(queried)
    for name in fields:
        own = [effect for effect in effects if effect.field == name]
        is_read = np.array([(places == np.asarray(e.place)).all(axis=1) for e in own]).any(axis=0)
        wider = np.where(is_read, 0.0, quantile * offset_spread(own))
        moved = shift[:, result.pde.fields.index(name)]
        half = (band[f"{name}_upper"] - band[name]).to_numpy()
        half = np.hypot(half, wider.reshape(half.shape))
        middle = band[name].to_numpy() + moved.reshape(half.shape)
        for key, numbers in (
            (name, middle),
            (f"{name}_lower", middle - half),
            (f"{name}_upper", middle + half),
        ):
            band[key] = band[key].copy(data=numbers)
    return band


def offset_spread(effects: list[Effect]) -> float:
    """The standard deviation of the offset of a sensor that was not read: the stated one, revised by the
    offsets of the sensors that were read; 0 where none was stated.

    >>> offset_spread([Effect((0.1,), "u", "offset", 0.3, 0.0, 0.0, stated=0.1)])  # (3 0.1² + 0.3²) / 4
    0.17320508075688773
    """
    offsets = [effect for effect in effects if effect.kind == "offset" and effect.stated]
    if not offsets:
        return 0.0
    prior = STATED_SENSORS * offsets[0].stated ** 2
    squares = sum(effect.value**2 + effect.deviation**2 for effect in offsets)
    return float(np.sqrt((prior + squares) / (STATED_SENSORS + len(offsets))))
