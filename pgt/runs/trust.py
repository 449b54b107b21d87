"""How far to trust a fit when nobody knows the truth: readings that were held out, and plain doubts."""

import dataclasses
from dataclasses import dataclass

import equinox as eqx
import numpy as np

from pgt._errors import InputError
from pgt.bench.references import rbf
from pgt.data import Domain, Observations
from pgt.nn.precision import is_double, precision
from pgt.physics.derivatives import requested
from pgt.reconstruction import Reconstruction
from pgt.training.losses import averaged_axes, reading_rows

ENOUGH = 5  # held-out readings, below which their error says little
MOST_FOR_RBF = 3000  # readings; interpolation costs their number cubed
HOPELESS = 0.5  # relative held-out error above which a fit has not converged
STILL_FALLING = 0.8  # held-out error now over the one at four fifths of the training


@dataclass(frozen=True)
class HeldOut:
    """How well one field is predicted where it was measured but not fitted."""

    readings: int
    rmse: float
    relative: float
    rbf_relative: float | None


@dataclass(frozen=True)
class Trust:
    """Held-out errors by field, predictions there, doubts in words, and whether the fit converged."""

    fields: dict[str, HeldOut]
    predictions: np.ndarray
    doubts: tuple[str, ...]
    converged: bool


def judge(result: Reconstruction) -> Trust:
    """Compare a fit with its held-out readings, and with interpolation of the fitted ones."""
    held_out = result.held_out
    predictions = predict_readings(result, held_out)
    simple = _interpolated(result.observations, held_out, result.domain)
    fields = {}
    for column, name in enumerate(held_out.fields):
        rows = np.asarray(held_out.mask)[:, column].astype(bool)
        if rows.any():
            truth = np.asarray(held_out.values, float)[rows, column]
            ours = _errors(predictions[rows, column], truth)
            theirs = None if simple is None else _errors(simple[rows, column], truth)[1]
            fields[name] = HeldOut(int(rows.sum()), *ours, theirs)
    doubts = (*_about_held_out(fields), *_about_training(result), *_about_hidden(result))
    return Trust(fields, predictions, doubts, _converged(result, fields))


def predict_readings(result: Reconstruction, readings: Observations) -> np.ndarray:
    """(n, c) what the fit says of readings, averages over boxes included."""
    if not len(readings):
        return np.zeros((0, len(readings.fields)))

    averaged = averaged_axes(readings)
    # Every field is asked for, also where it was not measured.
    asked = dataclasses.replace(
        readings,
        values=np.where(readings.mask, readings.values, 0.0),
        mask=np.ones_like(readings.mask),
    )

    @eqx.filter_jit
    def misfit(model, fitted, asked):
        context = model.encode(fitted)
        rows = reading_rows(lambda z: model.decode(context, z), asked, model.scaling, averaged)
        return rows * model.scaling.spread

    with precision(is_double(result.model)):
        return np.asarray(misfit(result.model, result.observations, asked), float) + asked.values


def _errors(predicted: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Root mean square error, and the same relative to the readings."""
    wrong, size = np.linalg.norm(predicted - truth), np.linalg.norm(truth)
    return float(wrong / np.sqrt(len(truth))), float(wrong / size) if size > 0 else float("inf")


def _interpolated(fitted: Observations, held_out: Observations, domain: Domain):
    """What scipy's radial basis functions say of the held-out readings; None where they cannot."""
    if not len(held_out) or len(fitted) > MOST_FOR_RBF:
        return None
    try:
        return rbf(fitted, domain, np.asarray(held_out.points, float)).predictions
    except InputError:  # too few readings, or all on a line
        return None


# ------------------------------------------------------------------------------- doubts


def _about_held_out(fields: dict[str, HeldOut]):
    if not fields:
        yield "No readings were held out, so nothing tells how good the fit is between the readings."
    for name, found in fields.items():
        if found.readings < ENOUGH:
            yield f"Only {found.readings} held-out readings of {name}: their error says little."
        if found.rbf_relative is not None and found.relative > found.rbf_relative:
            yield (
                f"{name}: interpolation without physics (scipy's RBF) predicts the held-out readings "
                f"better, {found.rbf_relative:.2g} against {found.relative:.2g}. Check equation, "
                "coefficients and units, or train for longer."
            )


def _about_training(result: Reconstruction):
    stopped = str(result.summary["stopped"])
    if stopped.startswith("diverged"):
        yield f"Training {stopped}."
    held_out = result.history.held_out.to_numpy() if len(result.held_out) else np.zeros(0)
    if len(held_out) >= 10 and not result.summary["polish_costs"]:
        before, now = held_out[int(0.8 * len(held_out))], held_out[-1]
        if stopped == "budget spent" and now < STILL_FALLING * before:
            yield "The held-out error was still falling when the budget was spent: train for longer."


def _about_hidden(result: Reconstruction):
    """A hidden field of which the equations hold only derivatives is known up to a constant."""
    asked = requested(result.pde)
    for column, name in enumerate(result.observations.fields):
        measured = any(
            np.asarray(o.mask)[:, column].any() for o in (result.observations, result.held_out)
        )
        if not measured and name not in asked:
            moving = "t" in result.pde.coords and f"{name}_t" not in asked
            yield (
                f"{name} was never measured, and the equations hold only its derivatives: it is "
                f"determined up to {'a function of time' if moving else 'a constant'}."
            )


def _converged(result: Reconstruction, fields: dict[str, HeldOut]) -> bool:
    if str(result.summary["stopped"]).startswith("diverged"):
        return False
    return all(found.relative <= HOPELESS for found in fields.values())
