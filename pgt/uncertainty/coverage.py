"""Calibrated bands of fields and readings, and how often bands hold readings.

`compare_with_members` brings readings and the predictions of the members together, `bands` makes
calibrated bands (calibration.py), and `coverage_table` counts how many readings lie inside bands that
were calibrated on other readings.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri

from pgt.core.errors import InputError
from pgt.data.dates import seconds
from pgt.data.domain import AXES
from pgt.data.observations import Observations
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.trees import compiled, is_double, precision
from pgt.uncertainty.calibration import (
    Calibration,
    MemberCount,
    Predicted,
    calibrate,
    calibration_scores,
    check_level,
    estimate_noise,
    leave_one_out,
    small_sample_factor,
)

# The default levels of bands.
LEVELS = (0.5, 0.8, 0.9, 0.95)
# The number of folds. The coverage of each fold is counted by a calibration on all others.
COVERAGE_FOLDS = 5
# A function from readings to the predictions of every member.
PredictMembers = Callable[[Observations], Float[np.ndarray, "k n c"]]
# A function from points to σ of a reading of each field there.
NoiseModel = Callable[[Float[np.ndarray, "n d"]], Mapping[str, Float[np.ndarray, " n"]]]


def compare_with_members(
    fitted: Observations,
    held_out: Observations,
    predict_members: PredictMembers,
    noise: NoiseModel | None = None,
    *,
    members: MemberCount | None = None,
    use_leave_one_out: bool = False,
    are_exact: bool = False,
) -> dict[str, Predicted]:
    """The held-out readings with the predictions of the members, by field.

    Their noise is that given with them, or else that of `noise` (from PGT-UW or a posterior), or else the
    scatter of the fitted readings about the fit. An estimate from held-out readings would count the error
    of the field as noise; fitted readings contain little of it.

    `members` says how many members are independent. With `use_leave_one_out`, for members of a posterior,
    the fitted readings are added with their leave-one-out predictions. If readings `are_exact`, they have
    no noise and the whole misfit is an error of the field.
    """
    at_fitted = _moments(fitted, predict_members)
    residual_noise = {
        name: _residual_noise(fitted, name, mean) for name, (mean, _) in at_fitted.items()
    }
    compared = _compared(
        held_out, _moments(held_out, predict_members), noise, residual_noise, members
    )
    fitted_compared = (
        _compared(fitted, at_fitted, noise, residual_noise, members) if use_leave_one_out else {}
    )
    for name, predicted in fitted_compared.items():
        left_out = leave_one_out(predicted)
        compared[name] = compared[name].joined(left_out) if name in compared else left_out
    if are_exact:
        return {name: replace(p, noise=np.zeros(len(p))) for name, p in compared.items()}
    return compared


def _compared(
    readings: Observations,
    moments: Mapping[str, tuple[np.ndarray, np.ndarray]],
    noise: NoiseModel | None,
    residual_noise: Mapping[str, float],
    members: MemberCount | None,
) -> dict[str, Predicted]:
    """The readings with the mean and spread of the members, by field."""
    modeled_noise = noise(np.asarray(readings.points, float)) if noise and len(readings) else {}
    compared = {}
    for name, (mean, spread) in moments.items():
        rows, _, measured, given_noise = readings.measured(name)
        if len(rows):
            sigma = (
                modeled_noise[name][rows]
                if name in modeled_noise
                else residual_noise.get(name, 0.0)
            )
            sigma = np.where(given_noise > 0, given_noise, sigma)
            compared[name] = Predicted(measured, mean[rows], spread[rows], sigma, members)
    return compared


def bands(
    values: xr.Dataset,
    calibrations: Mapping[str, Calibration],
    level: float,
    of: str,
    noise: NoiseModel | None = None,
    members: MemberCount | None = None,
    correlated_misfit: Mapping[str, float] | None = None,
) -> xr.Dataset:
    """A dataset with `u`, `u_lower` and `u_upper` of every field in `values` that has a `u_std`.

    The `correlated_misfit` of a field widens its band, since the spread does not contain this error. A
    hidden field has no readings that could calibrate it. It gets the largest factor of the other fields,
    which is a guess, and no band of readings (`of="reading"`).
    """
    check_level(level)
    if of not in ("field", "reading"):
        raise InputError(f"band(of={of!r}): write 'field' or 'reading'.")
    data, notes = {}, {}
    modeled_noise = _noise_on_dataset(noise, values) if noise and of == "reading" else {}
    for name in (str(n) for n in values.data_vars if f"{n}_std" in values):
        mean, spread = values[name], values[f"{name}_std"]
        calibration = calibrations.get(name)
        if calibration is None and of == "field":
            others = [c.factor(level) for c in calibrations.values()]
            largest = max([float(ndtri((1 + level) / 2)), *others])
            half_width = largest * small_sample_factor(members, level) * spread
            notes[f"{name} was never measured: its band is not calibrated."] = None
        elif calibration is not None and of == "field":
            half_width = calibration.field_factor(level) * spread
            notes[calibration.note(level)] = None
        elif calibration is not None:
            half_width = calibration.half_width(
                spread, level, modeled_noise.get(name, calibration.noise)
            )
            notes[calibration.note(level)] = None
        else:
            continue
        if of == "field" and (misfit := (correlated_misfit or {}).get(name, 0.0)):
            half_width = np.hypot(half_width, float(ndtri((1 + level) / 2)) * misfit)
        data |= {name: mean, f"{name}_lower": mean - half_width, f"{name}_upper": mean + half_width}
    table = xr.Dataset(data, attrs={**values.attrs, "level": level, "of": of})
    for name in data:
        table[name].attrs.update(values[name.removesuffix("_lower").removesuffix("_upper")].attrs)
    return table.assign_attrs(note=" ".join(filter(None, notes))) if any(notes) else table


def crps(readings, mean, scale) -> np.ndarray:
    """The continuous ranked probability score of a Gaussian, in the unit of the readings::

        ∫ (Φ((x − μ)/σ) − 1[x ≥ y])² dx  =  σ ( z (2Φ(z) − 1) + 2φ(z) − 1/√π ),     z = (y − μ)/σ

    A smaller misfit and a narrower Gaussian lower it; for σ = 0 it is |y − μ| (Gneiting & Raftery 2007).

    >>> crps([0.0, 3.0], [0.0, 1.0], [1.0, 0.0]).round(6).tolist()
    [0.233695, 2.0]
    """
    misfit, scale = np.subtract(readings, mean), np.asarray(scale, float)
    safe = np.where(scale > 0, scale, 1.0)
    z = misfit / safe
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    score = safe * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / math.sqrt(math.pi))
    return np.where(scale > 0, score, np.abs(misfit))


def coverage_table(
    held_out: Mapping[str, Predicted],
    levels: Sequence[float] = LEVELS,
    groups: Mapping[str, Int[np.ndarray, " n"]] | None = None,
) -> xr.Dataset:
    """How often bands hold readings that they were not calibrated on, and how wide they are.

    Parameters
    ----------
    held_out, levels
        The held-out readings by field, and the promised shares.
    groups
        The number of the group of each reading, by field. A group is tested by a calibration on all
        others. Default: five random groups. These make readings exchangeable, so that `coverage` is
        near the level by construction. Blocks of space and time test whether it also holds where
        nothing was measured.

    Returns
    -------
    xarray.Dataset with the dimensions level and field. `coverage` is that of calibrated bands and
    `uncalibrated` that of Gaussian ones, ± z √(s² + σ²). `width` and `factor` belong to the calibrated
    bands of readings, `field_width` to those of the field. By field there are the `crps` of the Gaussian,
    the `noise` and the number of `readings`. The attribute `note` says where readings were too few.

    >>> judged = {"u": Predicted(np.linspace(-2, 2, 41), np.zeros(41), np.ones(41), noise=0.0)}
    >>> coverage_table(judged, levels=[0.5]).factor.item()
    1.0
    """
    for level in levels:
        check_level(level)
    if not held_out:
        raise InputError("coverage: no field has held-out readings; train with hold_out above 0.")
    columns = [
        _field_coverage(predicted, levels, _fold_numbers(len(predicted), (groups or {}).get(name)))
        for name, predicted in held_out.items()
    ]
    by_level = ("coverage", "uncalibrated", "width", "field_width", "factor")
    data = {
        name: (("level", "field") if name in by_level else "field", np.stack(values, axis=-1))
        for name, values in {n: [c[n] for c in columns] for n in columns[0]}.items()
    }
    notes = {calibrate(p).note(level): None for p in held_out.values() for level in levels}
    note = " ".join(filter(None, notes))
    coords = {"level": list(levels), "field": list(held_out)}
    return xr.Dataset(data, coords, attrs={"note": note} if note else {})


def _field_coverage(predicted: Predicted, levels: Sequence[float], parts) -> dict[str, np.ndarray]:
    calibration, scale = calibrate(predicted), predicted.scale
    factors = np.array([calibration.factor(level) for level in levels])
    of_field = np.array([calibration.field_factor(level) for level in levels])
    gaussian = np.array([ndtri((1 + level) / 2) for level in levels])
    inside = np.zeros((len(levels), len(predicted)), bool)
    for part in np.unique(parts):
        is_judged = parts == part
        of_others = calibrate(predicted.take(~is_judged))
        judged = predicted.take(is_judged)
        sigma = judged.noise if judged.noise is not None else of_others.noise
        scores = calibration_scores(judged, np.hypot(judged.spread, sigma))
        inside[:, is_judged] = [scores <= of_others.factor(level) for level in levels]
    return {
        "coverage": inside.mean(axis=1),
        "uncalibrated": (calibration_scores(predicted, scale) <= gaussian[:, None]).mean(axis=1),
        "width": 2 * factors * np.mean(scale),
        "field_width": 2 * of_field * np.mean(predicted.spread),
        "factor": factors,
        "crps": np.asarray(np.mean(crps(predicted.readings, predicted.mean, scale))),
        "noise": np.asarray(calibration.noise),
        "readings": np.asarray(len(predicted)),
    }


def _fold_numbers(count: int, groups) -> Int[np.ndarray, " n"]:
    if count < 2:
        raise InputError(
            f"coverage: {count} held-out reading of a field; one tests what another calibrates, so "
            "hold out more, as in Training(hold_out=0.2)."
        )
    if groups is None:
        return np.random.default_rng(0).permutation(count) % min(COVERAGE_FOLDS, count)
    groups = np.asarray(groups)
    if groups.shape != (count,) or len(np.unique(groups)) < 2:
        raise InputError(f"coverage(groups=...): give {count} numbers, of two groups at least.")
    return groups


def noise_model(
    model: AbstractFieldModel, readings: Observations, fields: Sequence[str]
) -> NoiseModel | None:
    """The function that gives σ of readings, if the model predicts it (PGT-UW), or None.

    The model encodes the `readings`, which are relative to its origin. Points are physical.
    """
    if not model.predicts_variance:
        return None

    def sigma(points):
        points = model.scaling.origin.local(points, readings.coords)
        with precision(is_double(model)):
            table = np.asarray(_predicted_sigma(model, readings, jnp.asarray(points)), float)
        return dict(zip(fields, table.T, strict=True))

    return sigma


@compiled
def _predicted_sigma(model, readings: Observations, points):
    context = model.encode(readings)
    logs = jax.lax.map(lambda z: model.log_variance(context, z), points, batch_size=8192)
    return jnp.exp(logs / 2) * model.scaling.spread


def _noise_on_dataset(noise: NoiseModel, values: xr.Dataset) -> dict[str, xr.DataArray]:
    """σ of readings at the points of a dataset, scattered or on a grid, by field."""
    columns = xr.broadcast(*(values[axis] for axis in AXES if axis in values.coords))
    points = np.stack([positions_of(column).ravel() for column in columns], axis=-1)
    return {n: columns[0].copy(data=s.reshape(columns[0].shape)) for n, s in noise(points).items()}


def positions_of(column: xr.DataArray) -> np.ndarray:
    """The positions of a coordinate as numbers; dates become seconds."""
    return seconds("t", column.to_numpy()) if column.dtype.kind == "M" else column.to_numpy()


def _moments(
    readings: Observations, predict_members: PredictMembers
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(mean, standard deviation) over the members at the readings, (n,) each, by field."""
    if not len(readings):
        return {}
    members = predict_members(readings)
    moments = members.mean(axis=0).T, members.std(axis=0, ddof=1).T
    return dict(zip(readings.fields, zip(*moments, strict=True), strict=True))


def _residual_noise(fitted: Observations, name: str, mean: np.ndarray) -> float:
    """σ of the fitted readings of one field, estimated from their misfits."""
    measured = fitted.measured(name)
    misfit = measured.values - mean[measured.rows]
    return estimate_noise(misfit, np.zeros(len(misfit)))
