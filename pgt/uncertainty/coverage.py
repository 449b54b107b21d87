"""Calibrated bands of fields and readings, and how often bands hold readings."""

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

LEVELS = (0.5, 0.8, 0.9, 0.95)
# Coverage is counted in this many parts, each by a calibration on all others.
COVERAGE_FOLDS = 5
# Readings to the predictions of every member.
PredictMembers = Callable[[Observations], Float[np.ndarray, "k n c"]]
# Points to σ of a reading of each field there.
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
    """Held-out readings of every field beside the predictions of the members, by field.

    Their noise is that given with them, else that of `noise` (from PGT-UW or a posterior), else
    that of the fitted readings about the fit. An estimate from held-out readings would count the
    misfit of the field as noise; the fitted ones contain little of it.

    `members` says how many members are independent. `use_leave_one_out`, for those of a posterior,
    adds the fitted readings, each beside its leave-one-out prediction. Where `are_exact`, readings
    have no noise: the whole misfit is error of the field.
    """
    at_fitted = _moments(fitted, predict_members)
    typical = {name: _residual_noise(fitted, name, mean) for name, (mean, _) in at_fitted.items()}
    found = _compared(held_out, _moments(held_out, predict_members), noise, typical, members)
    seen = _compared(fitted, at_fitted, noise, typical, members) if use_leave_one_out else {}
    for name, predicted in seen.items():
        left_out = leave_one_out(predicted)
        found[name] = found[name].joined(left_out) if name in found else left_out
    if are_exact:
        return {name: replace(p, noise=np.zeros(len(p))) for name, p in found.items()}
    return found


def _compared(
    readings: Observations,
    moments: Mapping[str, tuple[np.ndarray, np.ndarray]],
    noise: NoiseModel | None,
    typical: Mapping[str, float],
    members: MemberCount | None,
) -> dict[str, Predicted]:
    """Readings beside the mean and spread of the members, by field."""
    modeled = noise(np.asarray(readings.points, float)) if noise and len(readings) else {}
    found = {}
    for name, (mean, spread) in moments.items():
        rows, _, measured, given = readings.measured(name)
        if len(rows):
            sigma = modeled[name][rows] if name in modeled else typical.get(name, 0.0)
            sigma = np.where(given > 0, given, sigma)
            found[name] = Predicted(measured, mean[rows], spread[rows], sigma, members)
    return found


def bands(
    values: xr.Dataset,
    calibrations: Mapping[str, Calibration],
    level: float,
    of: str,
    noise: NoiseModel | None = None,
    members: MemberCount | None = None,
    correlated_misfit: Mapping[str, float] | None = None,
) -> xr.Dataset:
    """`u`, `u_lower` and `u_upper` of every field in `values` that has a `u_std`.

    The band of a field is wider by its `correlated_misfit`, an error that the spread does not
    contain. A hidden field has no readings that could calibrate it. It gets the largest factor of
    the other fields, which is a guess, and no band of readings (`of="reading"`).
    """
    check_level(level)
    if of not in ("field", "reading"):
        raise InputError(f"band(of={of!r}): write 'field' or 'reading'.")
    data, notes = {}, {}
    modeled = _noise_on_dataset(noise, values) if noise and of == "reading" else {}
    for name in (str(n) for n in values.data_vars if f"{n}_std" in values):
        mean, spread = values[name], values[f"{name}_std"]
        found = calibrations.get(name)
        if found is None and of == "field":
            others = [c.factor(level) for c in calibrations.values()]
            largest = max([float(ndtri((1 + level) / 2)), *others])
            half = largest * small_sample_factor(members, level) * spread
            notes[f"{name} was never measured: its band is not calibrated."] = None
        elif found is not None and of == "field":
            half = found.field_factor(level) * spread
            notes[found.note(level)] = None
        elif found is not None:
            half = found.half_width(spread, level, modeled.get(name, found.noise))
            notes[found.note(level)] = None
        else:
            continue
        if of == "field" and (misfit := (correlated_misfit or {}).get(name, 0.0)):
            half = np.hypot(half, float(ndtri((1 + level) / 2)) * misfit)
        data |= {name: mean, f"{name}_lower": mean - half, f"{name}_upper": mean + half}
    table = xr.Dataset(data, attrs={**values.attrs, "level": level, "of": of})
    for name in data:
        table[name].attrs.update(values[name.removesuffix("_lower").removesuffix("_upper")].attrs)
    return table.assign_attrs(note=" ".join(filter(None, notes))) if any(notes) else table


def crps(readings, mean, scale) -> np.ndarray:
    """The continuous ranked probability score of a Gaussian, in the unit of the readings::

        ∫ (Φ((x − μ)/σ) − 1[x ≥ y])² dx  =  σ ( z (2Φ(z) − 1) + 2φ(z) − 1/√π ),     z = (y − μ)/σ

    It falls with both misfit and width; for σ = 0 it is |y − μ| (Gneiting & Raftery 2007).

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
        Held-out readings by field, and the promised shares.
    groups
        By field, the number of the group of each reading; a group is tested by a calibration on all
        others. Default: five random groups. With those, readings are exchangeable and `coverage` comes
        out near the level by construction; blocks of space and time test whether it also holds where
        nothing was measured.

    Returns
    -------
    xarray.Dataset with dimensions level and field: `coverage` of calibrated bands, `uncalibrated` that
    of Gaussian ones, ± z √(s² + σ²), `width` and `factor` of the calibrated ones, `field_width` of the
    field's own bands; and by field `crps` of the Gaussian, `noise`, `readings`. Its attribute `note`
    says where readings were too few.

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
    whole, scale = calibrate(predicted), predicted.scale
    factors = np.array([whole.factor(level) for level in levels])
    of_field = np.array([whole.field_factor(level) for level in levels])
    gaussian = np.array([ndtri((1 + level) / 2) for level in levels])
    inside = np.zeros((len(levels), len(predicted)), bool)
    for part in np.unique(parts):
        mine = parts == part
        others = calibrate(predicted.take(~mine))
        judged = predicted.take(mine)
        sigma = judged.noise if judged.noise is not None else others.noise
        scores = calibration_scores(judged, np.hypot(judged.spread, sigma))
        inside[:, mine] = [scores <= others.factor(level) for level in levels]
    return {
        "coverage": inside.mean(axis=1),
        "uncalibrated": (calibration_scores(predicted, scale) <= gaussian[:, None]).mean(axis=1),
        "width": 2 * factors * np.mean(scale),
        "field_width": 2 * of_field * np.mean(predicted.spread),
        "factor": factors,
        "crps": np.asarray(np.mean(crps(predicted.readings, predicted.mean, scale))),
        "noise": np.asarray(whole.noise),
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
    """σ of readings, where the model predicts it (PGT-UW); None where it does not.

    `readings` are what the model encodes, counted from its origin; points are given in physical
    numbers.
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
    """σ at the points of a dataset, scattered or on a grid."""
    columns = xr.broadcast(*(values[axis] for axis in AXES if axis in values.coords))
    points = np.stack([_positions(column).ravel() for column in columns], axis=-1)
    return {n: columns[0].copy(data=s.reshape(columns[0].shape)) for n, s in noise(points).items()}


def _positions(column: xr.DataArray) -> np.ndarray:
    """Positions; dates become seconds, as in points."""
    return seconds("t", column.to_numpy()) if column.dtype.kind == "M" else column.to_numpy()


def _moments(
    readings: Observations, predict_members: PredictMembers
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Mean and standard deviation over the members, (n,) each, of every field at the readings."""
    if not len(readings):
        return {}
    members = predict_members(readings)
    moments = members.mean(axis=0).T, members.std(axis=0, ddof=1).T
    return dict(zip(readings.fields, zip(*moments, strict=True), strict=True))


def _residual_noise(fitted: Observations, name: str, mean: np.ndarray) -> float:
    """σ of the fitted readings about the fit."""
    measured = fitted.measured(name)
    misfit = measured.values - mean[measured.rows]
    return estimate_noise(misfit, np.zeros(len(misfit)))
