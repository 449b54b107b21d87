"""The verdict on a fit when nobody knows the truth: did it converge, how large is its error, what is
doubtful. It is data; whoever prints it decides nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from pgt.data.cells import Cells
from pgt.data.dates import are_counted, text
from pgt.data.observations import Observations
from pgt.ground.numbers import listed, number, percent
from pgt.ground.verdict import Doubt, FieldError, HeldOut, Verdict
from pgt.training.loop import DIVERGED
from pgt.trust.convergence import Descent, convergence
from pgt.trust.far_places import LARGE, MATTERS, undetermined_places
from pgt.trust.held_out import Unseen, held_out_errors
from pgt.trust.stated_noise import by_shown, contradictions, doubts_of_noise
from pgt.trust.suspicion import drifting, far

HOPELESS = 0.9  # of the spread of the readings: beyond it nothing is explained or has converged
# Residuals of the size of the terms of an equation: nothing to be said, doubtful, and grave.
FULFILLED, UNFULFILLED, CONTRADICTED = 0.05, 0.1, 0.25
KNOWN = 0.01  # expected error, of the spread: with less, parts without readings are known as well
NEGLIGIBLE = 1e-6  # of the spread: nobody minds who is better below it
MOST_NAMED = 5  # sensors in a sentence
FEW = 10  # the error of n readings is itself known to about 1/√(2n): 22 % of it for ten

Doubts = Iterator[Doubt]


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on; `Reconstruction.evidence` gathers it.

    Attributes
    ----------
    fitted, held_out : the readings that were fitted, and those that were not.
    unseen : the readings that judge, beside what was said of them.
    descent : how the fit came down.
    misfits : every reading beside the field, as `misfit_table` gives it.
    values : by field, hidden ones too, what it says where readings were taken.
    free_fields : by hidden field, up to what the equations determine it, where they leave something open.
    untold_functions : by unknown function, where readings say little of it.
    coefficient_notes : by learnt coefficient, what is to be known about it, where there is something.
    lost_coefficients : by learnt coefficient, why its value means nothing, where it does not.
    field_error : by field, the error to be expected over the whole domain, where it is known.
    unfulfilled : by equation, its residual relative to the size of its terms.
    contradicted_conditions : those that readings contradict: the condition in words, by how many σ,
        how much of its spread it changes the field by, and by what share of its typical size the field
        misses it.
    displaced_sensor : the place of a sensor that reads as if it stood elsewhere, or its clock or zero
        were wrong, the cause that is most probable, and the log-evidence that some sensor does;
        None where none.
    cells : in how much of the domain there are readings.
    conditions : the kinds of the conditions that were given.
    likelihood : of the readings, as `Training` names it.
    extent : of the domain along each axis, by which distances between readings are told.
    named : puts `sensor` and `line` into a table of readings, where a file says them.
    """

    fitted: Observations
    held_out: Observations
    unseen: Unseen
    descent: Descent
    misfits: pd.DataFrame
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    free_fields: Mapping[str, str] = field(default_factory=dict)
    untold_functions: Mapping[str, str] = field(default_factory=dict)
    coefficient_notes: Mapping[str, str] = field(default_factory=dict)
    lost_coefficients: Mapping[str, str] = field(default_factory=dict)
    field_error: Mapping[str, FieldError] = field(default_factory=dict)
    unfulfilled: Mapping[str, float] = field(default_factory=dict)
    contradicted_conditions: Sequence[Mapping[str, Any]] = ()
    displaced_sensor: Mapping[str, Any] | None = None
    cells: Cells | None = None
    conditions: Sequence[str] = ()
    likelihood: str = "gauss"
    extent: np.ndarray | float = 1.0
    named: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table

    def measured(self, name: str) -> np.ndarray:
        """All readings of a field, fitted or not."""
        parts = (self.fitted, self.held_out)
        return np.concatenate([part.measured(name).values for part in parts])

    @property
    def measured_fields(self) -> list[str]:
        """The fields that some sensor read."""
        return [name for name in self.fitted.fields if len(self.measured(name))]

    @property
    def not_finite(self) -> int:
        """How many predictions of unseen readings are no numbers."""
        missing = ~np.isfinite(np.asarray(self.unseen.predictions, float))
        return int((np.asarray(self.unseen.readings.mask) & missing).sum())


def judge(evidence: Evidence) -> Verdict:
    """What held-out readings, interpolation, the course of training and the readings themselves say."""
    spreads = {name: float(evidence.measured(name).std()) for name in evidence.measured_fields}
    errors = held_out_errors(evidence.unseen, spreads)
    contradicted = contradictions(evidence.misfits, evidence.unseen, evidence.extent)
    misfits = by_shown(evidence.misfits, contradicted)
    converged, reason = convergence(evidence.descent)
    descent = evidence.descent
    if converged is False and descent.stopped != DIVERGED:
        if not descent.is_cut_short and _is_at_noise(evidence, errors):
            converged, reason = True, f"{reason} What is left is the noise of the readings."
        elif descent.stages:
            reason = f"{reason} {descent.advice}".rstrip()
    if unexplained := [*_unexplained(evidence, errors)]:
        # "Nothing to converge" would contradict what follows.
        course = [] if converged else [reason]
        converged, reason = False, " ".join([*course, *unexplained])
    if broken := [n for n, share in evidence.unfulfilled.items() if share > CONTRADICTED]:
        # An end of the search, and no solution of the equation.
        converged = None if converged else converged
        reason = f"{reason} But the equation does not hold: {listed(broken)}."
    doubts = (
        *([_not_converged(reason)] if converged is False else []),
        *_holes(evidence),
        *_lost_coefficients(evidence),
        *_large_errors(evidence, errors),
        *undetermined_places(evidence.field_error),
        *_unread_places(evidence),
        *_large_residuals(evidence),
        *_contradicted_conditions(evidence),
        *doubts_of_noise(contradicted, dict(evidence.fitted.units)),
        *_far_readings(evidence, misfits),
        *_drifting_sensors(evidence, misfits),
        *_displaced_sensor(evidence),
        *_too_few_held_out(evidence),
        *_worse_than_interpolation(errors),
        *_undetermined_fields(evidence),
        *_untold_functions(evidence),
        *_doubtful_coefficients(evidence),
    )
    expected = _beside_doubts(evidence.field_error, doubts)
    return Verdict(converged, reason, errors, doubts, evidence.unseen.folds, expected)


# Doubts that mean that a field may be wrong by more than is expected, in words. Those of places
# (undetermined_places) tell of the expected error itself.
LARGER = {
    "not_converged": "the fit has not converged",
    "not_finite": "predictions are not finite",
    "large_error": "the held-out error is large",
    "large_residual": "the equation does not hold",
    "contradicted_condition": "a condition does not hold",
    "displaced_sensor": "a sensor may be at fault",
}


def _beside_doubts(
    errors: Mapping[str, FieldError], doubts: Sequence[Doubt]
) -> dict[str, FieldError]:
    """The errors expected, each with the doubts that say that it may be larger: whoever prints the one
    prints the other. A doubt of one field says nothing of the others; and one that has a number for its
    error says so only where that is larger than what is expected."""
    found = {}
    for name, error in errors.items():
        said = []
        for doubt in doubts:
            reason, least = LARGER.get(doubt.kind), doubt.numbers.get("of_spread", np.inf)
            if reason and doubt.numbers.get("field", name) == name and least > error.value:
                known = f", {percent(least)} of the spread" if np.isfinite(least) else ""
                said.append(f"{reason}{known}")
        found[name] = replace(error, doubted="; ".join(dict.fromkeys(said)))
    return found


def _is_at_noise(evidence: Evidence, errors: Mapping[str, HeldOut]) -> bool:
    """Whether a fit that still moved could not become better: the equation is fulfilled, unseen readings
    are predicted better than by interpolation, and missed by more than the field is expected to be wrong,
    so that it is their noise that is missed."""
    fulfilled = all(share <= FULFILLED for share in evidence.unfulfilled.values())
    return bool(errors and evidence.unfulfilled and fulfilled) and all(
        found.of_spread is not None
        and found.interpolated_of_spread is not None
        and name in evidence.field_error
        and evidence.field_error[name].value < found.of_spread < found.interpolated_of_spread
        for name, found in errors.items()
    )


def _unexplained(evidence: Evidence, errors: Mapping[str, HeldOut]) -> Iterator[str]:
    """Why a field does not explain readings that it has not seen, however training went."""
    for name, found in errors.items():
        if found.of_spread is not None and found.of_spread > HOPELESS:
            yield (
                f"The held-out error of {name} is {percent(found.of_spread)} of the spread of its "
                "readings: the field explains them no better than a constant."
            )
    if count := evidence.not_finite:
        yield f"{count} predictions at held-out readings are not finite."


# ------------------------------------------------------------------------------- doubts


def _not_converged(reason: str) -> Doubt:
    return Doubt("not_converged", f"The fit has not converged. {reason}")


def _holes(evidence: Evidence) -> Doubts:
    broken = [name for name, values in evidence.values.items() if not np.isfinite(values).any()]
    if broken:
        sentence = f"{listed(broken)}: not a single finite value."
        yield Doubt("not_finite", sentence, {"fields": broken}, is_grave=True)
    if count := evidence.not_finite:
        sentence = f"{count} predictions at held-out readings are not finite and left out below."
        yield Doubt("not_finite", sentence, {"predictions": count}, is_grave=True)


def _large_errors(evidence: Evidence, errors: Mapping[str, HeldOut]) -> Doubts:
    units = dict(evidence.fitted.units)
    for name, found in errors.items():
        noise = evidence.fitted.measured(name).typical_noise
        excused = noise > 0 and found.rmse <= 2 * noise
        if found.of_spread is None or found.of_spread <= LARGE or excused:
            continue
        unit = units.get(name, "1")
        error = number(found.rmse, unit="" if unit == "1" else unit)
        yield Doubt(
            "large_error",
            f"The held-out error of {name} is large: {error}, {percent(found.of_spread)} of the "
            "spread of its readings (100 % is no better than their mean). Either the readings are that "
            "noisy, or there are too few of them, or the equation does not describe them.",
            {"field": name, "rmse": found.rmse, "of_spread": found.of_spread},
        )


def _unread_places(evidence: Evidence) -> Doubts:
    """Where there are no readings, those held out judge nothing. It is grave where the error to be
    expected is not small, and no condition says more."""
    found = evidence.cells
    if found is None or not found.is_sparse:
        return
    errors = [error.value for error in evidence.field_error.values()]
    known = bool(errors) and max(errors) <= KNOWN
    yield Doubt(
        "unread_places",
        f"{found.in_words}: in the others only equation and conditions say what happens, and the "
        "held-out error says nothing of them.",
        {"filled": found.filled, "cells": found.total},
        is_grave=not known and not evidence.conditions,
    )


def _large_residuals(evidence: Evidence) -> Doubts:
    for name, share in evidence.unfulfilled.items():
        if np.isfinite(share) and share > UNFULFILLED:
            how = "does not hold" if share > CONTRADICTED else "holds only roughly"
            yield Doubt(
                "large_residual",
                f"The equation {name} {how}: {percent(share)} of the size of its terms is left over. "
                "Either the fit is not good enough, or the equation, its coefficients or its units do "
                "not describe what was read.",
                {"equation": name, "share": share},
                is_grave=share > CONTRADICTED,
            )


def _contradicted_conditions(evidence: Evidence) -> Doubts:
    for found in evidence.contradicted_conditions:
        sigmas, change, missed = (float(found[key]) for key in ("sigmas", "change", "missed"))
        said = []
        if sigmas > 0:
            said.append(
                f"the readings contradict this condition, by {number(sigmas, 2)} σ, and without it the "
                f"field differs by {percent(change)} of its spread"
            )
        if missed > UNFULFILLED:
            said.append(
                f"the field misses this condition by {percent(missed)} of its typical size or more at "
                "half of its places"
            )
        yield Doubt(
            "contradicted_condition",
            f"{found['condition']}: {'; '.join(said)}. Check its values and units, and the times and "
            "places of the readings.",
            dict(found),
            is_grave=change > MATTERS or missed > CONTRADICTED,
        )


def _far_readings(evidence: Evidence, misfits: pd.DataFrame) -> Doubts:
    found = far(misfits)
    if found.empty:
        return
    worst, count = evidence.named(found.head(1)).iloc[0], len(found)
    place = {axis: float(worst[axis]) for axis in evidence.fitted.coords}
    where = ", ".join(
        f"{axis} = {_at(axis, evidence, position)}" for axis, position in place.items()
    )
    where += _origin(worst)
    which = "One reading is" if count == 1 else f"{count} readings are"
    size = abs(float(worst["misfit"]))
    remedy = (
        '; with outliers write likelihood = "student".' if evidence.likelihood == "gauss" else "."
    )
    yield Doubt(
        "far_readings",
        f"{which} farther from the field than noise explains, the farthest, of {worst['field']} at "
        f"{where}, by {number(size, 2)} σ. Look at the table of suspicious readings{remedy}",
        {"readings": count, "field": str(worst["field"]), "sigmas": size, **place},
    )


def _origin(row: pd.Series) -> str:
    """The sensor of a reading, and its line, where they are known."""
    named = {"sensor": "sensor {}", "line": "line {}"}
    said = [words.format(row[name]) for name, words in named.items() if row.get(name)]
    return f" ({', '.join(said)})" if said else ""


def _at(axis: str, evidence: Evidence, position: float) -> str:
    is_date = axis == "t" and are_counted(dict(evidence.fitted.units))
    return text(position) if is_date else number(position, 4)


def _drifting_sensors(evidence: Evidence, misfits: pd.DataFrame) -> Doubts:
    found = evidence.named(drifting(misfits, evidence.fitted.coords))
    count = len(found)
    if count:
        names = found.get("sensor")
        called = [] if names is None else [name for name in dict.fromkeys(names) if name]
        which = f" ({listed(called[:MOST_NAMED])})" if called else ""
        who = f"One sensor{which} differs" if count == 1 else f"{count} sensors{which} differ"
        yield Doubt(
            "drifting_sensors",
            f"{who} from the field by an offset or a trend in time that is no chance: either it "
            "drifts, or the equation does not describe what it reads.",
            {"sensors": count},
        )


def _displaced_sensor(evidence: Evidence) -> Doubts:
    found = evidence.displaced_sensor
    if found is None:
        return
    space = [axis for axis in evidence.fitted.coords if axis != "t"]
    place = dict(zip(space, found["place"], strict=True))
    where = ", ".join(f"{axis} = {_at(axis, evidence, at)}" for axis, at in place.items())
    cause = str(found["cause"])
    what = f"its position along {cause}" if cause in space else f"its {cause}"
    yield Doubt(
        "displaced_sensor",
        "Equation and readings agree plainly better where a sensor is at fault, most probably that at "
        f"{where}, as if {what} were wrong. The field follows what it reads, and may be wrong by more "
        "than is expected. Check times, positions and zeros of the sensors.",
        {"cause": cause, "evidence": found["evidence"], **place},
    )


def _too_few_held_out(evidence: Evidence) -> Doubts:
    readings = evidence.unseen.readings
    counts = {name: len(readings.measured(name).rows) for name in evidence.measured_fields}
    none = [name for name, count in counts.items() if count == 0]
    few = {name: count for name, count in counts.items() if 0 < count < FEW}
    if none:
        yield Doubt(
            "no_held_out",
            f"No reading of {listed(none)} was held out, so nothing here says how well the field does "
            "where it was not fitted.",
            {"fields": none},
        )
    if few:
        which = listed([f"{name} ({count})" for name, count in few.items()])
        yield Doubt(
            "few_held_out",
            f"Few readings were held out: {which}. Their error is only a rough guide; "
            f"{FEW} or more for each field say more.",
            few,
        )


def _worse_than_interpolation(errors: Mapping[str, HeldOut]) -> Doubts:
    for name, found in errors.items():
        ours, theirs = found.of_spread, found.interpolated_of_spread
        if ours is not None and theirs is not None and ours > max(theirs, NEGLIGIBLE):
            certain = found.is_significant
            chance = "and by more than chance explains" if certain else "though it may be by chance"
            yield Doubt(
                "worse_than_interpolation",
                f"{name}: interpolation without physics (a Gaussian process) predicts the held-out "
                f"readings better, {percent(theirs)} of their spread against {percent(ours)}, {chance}. "
                "Check equation, coefficients and units, or train for longer.",
                {
                    "field": name,
                    "of_spread": ours,
                    "interpolated_of_spread": theirs,
                    "significant": certain,
                },
                is_grave=certain and ours > MATTERS,
            )


def _undetermined_fields(evidence: Evidence) -> Doubts:
    for name, freedom in evidence.free_fields.items():
        yield Doubt(
            "undetermined_field",
            f"{name} was never measured, and the equations hold only its derivatives: it is "
            f"determined up to {freedom}. A gauge would say which is meant.",
            {"field": name, "up_to": freedom},
        )


def _untold_functions(evidence: Evidence) -> Doubts:
    for name, where in evidence.untold_functions.items():
        yield Doubt(
            "undetermined_function",
            f"Readings say little of {name} for {where}: it is known there to no better than a fifth of "
            "its spread, by how smooth it is elsewhere. Readings that depend on it there would help.",
            {"function": name, "where": where},
        )


def _lost_coefficients(evidence: Evidence) -> Doubts:
    for name, why in evidence.lost_coefficients.items():
        numbers = {"coefficient": name, "note": why}
        yield Doubt("lost_coefficient", f"{name}: {why}.", numbers, is_grave=True)


def _doubtful_coefficients(evidence: Evidence) -> Doubts:
    for name, note in evidence.coefficient_notes.items():
        yield Doubt("doubtful_coefficient", f"{name}: {note}.", {"coefficient": name, "note": note})
