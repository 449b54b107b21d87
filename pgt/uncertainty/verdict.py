"""The verdict on a fit without knowing the truth: did it converge, how large is its error, what is
doubtful.

The verdict is data; the code that prints it decides nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from pgt.core.doubt import Doubt, FieldError, HeldOutError, Verdict
from pgt.core.numbers import listed, number, percent
from pgt.data.dates import are_counted, text
from pgt.data.observations import Observations
from pgt.data.visibility import Cells
from pgt.inference.linear_gaussian import SMALLEST_SIGMA
from pgt.methods.finished_fit import DIVERGED
from pgt.uncertainty.contradictions import MAX_RELATIVE_MISFIT
from pgt.uncertainty.convergence import Descent, convergence
from pgt.uncertainty.held_out import HeldOutPredictions, held_out_errors
from pgt.uncertainty.misfits import (
    MIN_READINGS,
    drifting_sensors,
    far_readings,
    noise_contradictions,
    noise_doubts,
    with_observed_noise,
)

# An equation whose residual is a larger share of its terms is doubted; above `MAX_RELATIVE_MISFIT`, as
# for conditions, the field is not to be trusted.
MIN_RESIDUAL_DOUBTED = 0.1
# Held-out or stated errors in units of the spread: below the first nobody minds, above the second they
# are large, above the third the fit explains nothing and has not converged.
MIN_ERROR_DOUBTED, MIN_LARGE_ERROR, MAX_EXPLAINED_ERROR = 0.05, 0.2, 0.9
# Places far from readings are doubted where their stated error is this multiple of that near readings.
MIN_FAR_NEAR_RATIO = 2.0
# A sentence names at most this many sensors.
MAX_SENSORS_NAMED = 5

Doubts = Iterator[Doubt]


@dataclass(frozen=True)
class Evidence:
    """The evidence of a verdict; `Reconstruction.evidence` gathers it.

    Attributes
    ----------
    fitted, held_out : the readings that were fitted, and those that were not.
    judged : the readings that judge the fit, beside their predictions by fits that did not see them.
    descent : how the cost of the fit came down.
    misfits : every reading beside the field, as `misfit_table` gives it.
    values : by field, hidden ones too, its values at the places of readings.
    free_fields : by hidden field that the equations do not determine, up to what they determine it.
    undetermined_functions : by unknown function, where its error bars are wide.
    coefficient_notes : by learned coefficient, a caveat, where there is one.
    unidentified_coefficients : by learned coefficient, why it is not identified, where it is not.
    field_error : by field, the stated error over the whole domain, where it is known.
    relative_residuals : by equation, its residual relative to the size of its terms.
    contradicted_conditions : the conditions that readings contradict: `condition` in words, `sigmas` of
        evidence, the `change` of the field in units of its spread, and the `violation` relative to the
        condition's typical size.
    displaced_sensor : the `place` of a sensor with a wrong position, clock or zero, the most probable
        `cause`, and the log-`evidence` that some sensor is wrong; None where there is none.
    cells : in how much of the domain there are readings.
    conditions : the kinds of the conditions that were given.
    likelihood : of the readings, as `Training` names it.
    extent : of the domain along each axis, the unit of distances between readings.
    named : adds `sensor` and `line` to a table of readings, where a file contains them.
    """

    fitted: Observations
    held_out: Observations
    judged: HeldOutPredictions
    descent: Descent
    misfits: pd.DataFrame
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    free_fields: Mapping[str, str] = field(default_factory=dict)
    undetermined_functions: Mapping[str, str] = field(default_factory=dict)
    coefficient_notes: Mapping[str, str] = field(default_factory=dict)
    unidentified_coefficients: Mapping[str, str] = field(default_factory=dict)
    field_error: Mapping[str, FieldError] = field(default_factory=dict)
    relative_residuals: Mapping[str, float] = field(default_factory=dict)
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
        """The fields with readings."""
        return [name for name in self.fitted.fields if len(self.measured(name))]

    @property
    def not_finite(self) -> int:
        """How many predictions of the judging readings are not finite."""
        missing = ~np.isfinite(np.asarray(self.judged.predictions, float))
        return int((np.asarray(self.judged.readings.mask) & missing).sum())


def judge(evidence: Evidence) -> Verdict:
    """The verdict by held-out readings, interpolation, the course of training and the readings
    themselves.
    """
    spreads = {name: float(evidence.measured(name).std()) for name in evidence.measured_fields}
    errors = held_out_errors(evidence.judged, spreads)
    contradicted = noise_contradictions(evidence.misfits, evidence.judged, evidence.extent)
    misfits = with_observed_noise(evidence.misfits, contradicted)
    converged, reason = convergence(evidence.descent)
    descent = evidence.descent
    if converged is False and descent.stopped != DIVERGED:
        if not descent.is_cut_short and _is_noise_limited(evidence, errors):
            converged, reason = True, f"{reason} What remains is the noise of the readings."
        elif descent.stages:
            reason = f"{reason} {descent.advice}".rstrip()
    reason = f"{reason} {descent.overrun}".rstrip()
    if unexplained := [*_unexplained(evidence, errors)]:
        # A reason for convergence would contradict the rest.
        course = [] if converged else [reason]
        converged, reason = False, " ".join([*course, *unexplained])
    if broken := [
        n for n, share in evidence.relative_residuals.items() if share > MAX_RELATIVE_MISFIT
    ]:
        # The search ended, but not at a solution of the equation.
        converged = None if converged else converged
        reason = f"{reason} But the equation does not hold: {listed(broken)}."
    doubts = (
        *([_not_converged(reason)] if converged is False else []),
        *_not_finite(evidence),
        *_unidentified_coefficients(evidence),
        *_large_errors(evidence, errors),
        *undetermined_places(evidence.field_error),
        *_unread_cells(evidence),
        *_large_residuals(evidence),
        *_contradicted_conditions(evidence),
        *noise_doubts(contradicted, dict(evidence.fitted.units)),
        *_far_readings(evidence, misfits),
        *_drifting_sensors(evidence, misfits),
        *_displaced_sensor(evidence),
        *_too_few_held_out(evidence),
        *_worse_than_interpolation(errors),
        *_undetermined_fields(evidence),
        *_undetermined_functions(evidence),
        *_doubtful_coefficients(evidence),
    )
    expected = _with_doubts(evidence.field_error, doubts)
    return Verdict(converged, reason, errors, doubts, evidence.judged.folds, expected)


# Doubts that mean that a field may be wrong by more than stated, in words. Those of places
# (undetermined_places) follow from the stated error itself.
REASONS_FOR_LARGER_ERROR = {
    "not_converged": "the fit has not converged",
    "not_finite": "predictions are not finite",
    "large_error": "the held-out error is large",
    "large_residual": "the equation does not hold",
    "contradicted_condition": "a condition does not hold",
    "displaced_sensor": "a sensor may be at fault",
}


def _with_doubts(
    errors: Mapping[str, FieldError], doubts: Sequence[Doubt]
) -> dict[str, FieldError]:
    """The stated errors, each with the doubts that say that it may be larger, so that both are
    printed together.

    A doubt about one field does not concern the others. A doubt with an error of its own counts
    only where that error is larger than the stated one.
    """
    found = {}
    for name, error in errors.items():
        parts = []
        for doubt in doubts:
            reason, least = (
                REASONS_FOR_LARGER_ERROR.get(doubt.kind),
                doubt.numbers.get("of_spread", np.inf),
            )
            if reason and doubt.numbers.get("field", name) == name and least > error.value:
                known = f", {percent(least)} of the spread" if np.isfinite(least) else ""
                parts.append(f"{reason}{known}")
        found[name] = replace(error, doubted="; ".join(dict.fromkeys(parts)))
    return found


def _is_noise_limited(evidence: Evidence, errors: Mapping[str, HeldOutError]) -> bool:
    """Whether a fit that still moved cannot become better.

    That is the case where the equation is fulfilled, and held-out readings are predicted better
    than by interpolation but missed by more than the stated error of the field: the rest is their
    noise.
    """
    fulfilled = all(share <= MIN_RESIDUAL_DOUBTED for share in evidence.relative_residuals.values())
    return bool(errors and evidence.relative_residuals and fulfilled) and all(
        found.of_spread is not None
        and found.interpolated_of_spread is not None
        and name in evidence.field_error
        and evidence.field_error[name].value < found.of_spread < found.interpolated_of_spread
        for name, found in errors.items()
    )


def _unexplained(evidence: Evidence, errors: Mapping[str, HeldOutError]) -> Iterator[str]:
    """Why a field does not explain held-out readings, however training went."""
    for name, found in errors.items():
        if found.of_spread is not None and found.of_spread > MAX_EXPLAINED_ERROR:
            yield (
                f"The held-out error of {name} is {percent(found.of_spread)} of the spread of its "
                "readings: the field explains them no better than a constant."
            )
    if count := evidence.not_finite:
        yield f"{count} predictions at held-out readings are not finite."


# ------------------------------------------------------------------------------- doubts


def _not_converged(reason: str) -> Doubt:
    return Doubt("not_converged", f"The fit has not converged. {reason}")


def _not_finite(evidence: Evidence) -> Doubts:
    values = {name: found for name, found in evidence.values.items() if len(found)}
    broken = [name for name, found in values.items() if not np.isfinite(found).any()]
    if broken:
        sentence = f"{listed(broken)}: not a single finite value."
        yield Doubt("not_finite", sentence, {"fields": broken}, is_grave=True)
    if count := evidence.not_finite:
        sentence = f"{count} predictions at held-out readings are not finite and left out below."
        yield Doubt("not_finite", sentence, {"predictions": count}, is_grave=True)


def _large_errors(evidence: Evidence, errors: Mapping[str, HeldOutError]) -> Doubts:
    units = dict(evidence.fitted.units)
    for name, found in errors.items():
        noise = evidence.fitted.measured(name).typical_noise
        excused = noise > 0 and found.rmse <= 2 * noise
        if found.of_spread is None or found.of_spread <= MIN_LARGE_ERROR or excused:
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


def _unread_cells(evidence: Evidence) -> Doubts:
    """The part of the domain without readings, where held-out readings judge nothing.

    It is grave where the stated error is not small, and no condition determines the field there.
    """
    found = evidence.cells
    if found is None or not found.is_sparse:
        return
    errors = [error.value for error in evidence.field_error.values()]
    known = bool(errors) and max(errors) <= MIN_ERROR_DOUBTED
    yield Doubt(
        "unread_places",
        f"{found.in_words}: in the others only equation and conditions determine the field, and the "
        "held-out error says nothing about them.",
        {"filled": found.filled, "cells": found.total},
        is_grave=not known and not evidence.conditions,
    )


def _large_residuals(evidence: Evidence) -> Doubts:
    for name, share in evidence.relative_residuals.items():
        if np.isfinite(share) and share > MIN_RESIDUAL_DOUBTED:
            how = "does not hold" if share > MAX_RELATIVE_MISFIT else "holds only roughly"
            yield Doubt(
                "large_residual",
                f"The equation {name} {how}: {percent(share)} of the size of its terms is left over. "
                "Either the fit is not good enough, or the equation, its coefficients or its units do "
                "not describe what was read.",
                {"equation": name, "share": share},
                is_grave=share > MAX_RELATIVE_MISFIT,
            )


def _contradicted_conditions(evidence: Evidence) -> Doubts:
    for found in evidence.contradicted_conditions:
        sigmas, change, violation = (float(found[key]) for key in ("sigmas", "change", "violation"))
        parts = []
        if sigmas > 0:
            parts.append(
                f"the readings contradict this condition, by {number(sigmas, 2)} σ, and without it the "
                f"field differs by {percent(change)} of its spread"
            )
        if violation > MIN_RESIDUAL_DOUBTED:
            parts.append(
                f"the field violates this condition by {percent(violation)} of its typical size "
                "or more at half of its places"
            )
        yield Doubt(
            "contradicted_condition",
            f"{found['condition']}: {'; '.join(parts)}. Check its values and units, and the times and "
            "places of the readings.",
            dict(found),
            is_grave=change > MIN_ERROR_DOUBTED or violation > MAX_RELATIVE_MISFIT,
        )


def _far_readings(evidence: Evidence, misfits: pd.DataFrame) -> Doubts:
    found = far_readings(misfits)
    if found.empty:
        return
    worst, count = evidence.named(found.head(1)).iloc[0], len(found)
    place = {axis: float(worst[axis]) for axis in evidence.fitted.coords}
    where = ", ".join(
        f"{axis} = {_position(axis, evidence, position)}" for axis, position in place.items()
    )
    where += _sensor_and_line(worst)
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


def _sensor_and_line(row: pd.Series) -> str:
    """The sensor of a reading, and its line, where they are known."""
    named = {"sensor": "sensor {}", "line": "line {}"}
    parts = [words.format(row[name]) for name, words in named.items() if row.get(name)]
    return f" ({', '.join(parts)})" if parts else ""


def _position(axis: str, evidence: Evidence, position: float) -> str:
    is_date = axis == "t" and are_counted(dict(evidence.fitted.units))
    return text(position) if is_date else number(position, 4)


def _drifting_sensors(evidence: Evidence, misfits: pd.DataFrame) -> Doubts:
    found = evidence.named(drifting_sensors(misfits, evidence.fitted.coords))
    count = len(found)
    if count:
        space = [axis for axis in evidence.fitted.coords if axis != "t"]
        called = [_sensor_name(row, space, evidence) for row in found.to_dict("records")]
        which = f" ({listed(called[:MAX_SENSORS_NAMED])})"
        who = f"One sensor{which} differs" if count == 1 else f"{count} sensors{which} differ"
        yield Doubt(
            "drifting_sensors",
            f"{who} from the field by a significant offset or trend in time: either it "
            "drifts, or the equation does not describe what it reads.",
            {"sensors": count},
        )


def _sensor_name(row: Mapping[Any, Any], space: Sequence[str], evidence: Evidence) -> str:
    """A sensor by its name or place, and by how much it reads too high or too low."""
    where = ", ".join(f"{axis} = {_position(axis, evidence, row[axis])}" for axis in space)
    gap = float(row["offset"])
    side = "high" if gap > 0 else "low"
    return f"{row.get('sensor') or where}: {row['field']} {number(abs(gap))} too {side}"


def _displaced_sensor(evidence: Evidence) -> Doubts:
    found = evidence.displaced_sensor
    if found is None:
        return
    space = [axis for axis in evidence.fitted.coords if axis != "t"]
    place = dict(zip(space, found["place"], strict=True))
    where = ", ".join(f"{axis} = {_position(axis, evidence, at)}" for axis, at in place.items())
    cause = str(found["cause"])
    what = f"its position along {cause}" if cause in space else f"its {cause}"
    yield Doubt(
        "displaced_sensor",
        "Equation and readings agree clearly better if a sensor is at fault, most probably that at "
        f"{where}, as if {what} were wrong. The field follows what it reads, and may be wrong by more "
        "than is stated. Check times, positions and zeros of the sensors.",
        {"cause": cause, "evidence": found["evidence"], **place},
    )


def _too_few_held_out(evidence: Evidence) -> Doubts:
    readings = evidence.judged.readings
    counts = {name: len(readings.measured(name).rows) for name in evidence.measured_fields}
    none = [name for name, count in counts.items() if count == 0]
    few = {name: count for name, count in counts.items() if 0 < count < MIN_READINGS}
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
            f"{MIN_READINGS} or more for each field say more.",
            few,
        )


def _worse_than_interpolation(errors: Mapping[str, HeldOutError]) -> Doubts:
    for name, found in errors.items():
        ours, theirs = found.of_spread, found.interpolated_of_spread
        if ours is not None and theirs is not None and ours > max(theirs, SMALLEST_SIGMA):
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
                is_grave=certain and ours > MIN_ERROR_DOUBTED,
            )


def _undetermined_fields(evidence: Evidence) -> Doubts:
    for name, freedom in evidence.free_fields.items():
        yield Doubt(
            "undetermined_field",
            f"{name} was never measured, and the equations hold only its derivatives: it is "
            f"determined up to {freedom}. A gauge would say which is meant.",
            {"field": name, "up_to": freedom},
        )


def _undetermined_functions(evidence: Evidence) -> Doubts:
    for name, where in evidence.undetermined_functions.items():
        yield Doubt(
            "undetermined_function",
            f"Readings say little about {name} for {where}: it is known there to no better than a "
            "fifth of its spread, from how smooth it is elsewhere. Readings that depend on it there "
            "would help.",
            {"function": name, "where": where},
        )


def _unidentified_coefficients(evidence: Evidence) -> Doubts:
    for name, why in evidence.unidentified_coefficients.items():
        numbers = {"coefficient": name, "note": why}
        yield Doubt("unidentified_coefficient", f"{name}: {why}.", numbers, is_grave=True)


def _doubtful_coefficients(evidence: Evidence) -> Doubts:
    for name, note in evidence.coefficient_notes.items():
        yield Doubt("doubtful_coefficient", f"{name}: {note}.", {"coefficient": name, "note": note})


def undetermined_places(errors: Mapping[str, FieldError]) -> Iterator[Doubt]:
    """Doubts of places far from readings, by the stated errors: held-out readings judge only the
    places that have readings.
    """
    for name, found in errors.items():
        if found.value > MIN_LARGE_ERROR:
            yield _undetermined_everywhere(name, found)
        elif (
            found.value > MIN_ERROR_DOUBTED
            and found.inside is not None
            and found.outside is not None
        ):
            yield from _undetermined_far_away(name, found.value, found.inside, found.outside)


def _undetermined_everywhere(name: str, found: FieldError) -> Doubt:
    where = ""
    if found.inside is not None and found.outside is not None and found.outside > found.inside:
        far_off = percent(found.outside)
        where = f" Near readings it is {percent(found.inside)}, far from them {far_off}."
    return Doubt(
        "undetermined_places",
        f"Readings and equation do not determine {name} everywhere: the stated error "
        f"is {percent(found.value)} of its spread over the domain (100 % is no better "
        f"than a constant).{where} Boundary or initial values, or readings there, would help.",
        {"field": name, "expected": found.value},
        is_grave=True,
    )


def _undetermined_far_away(
    name: str, expected: float, inside: float, outside: float
) -> Iterator[Doubt]:
    if outside <= max(2 * MIN_ERROR_DOUBTED, MIN_FAR_NEAR_RATIO * inside):
        return
    yield Doubt(
        "undetermined_places",
        f"Far from readings {name} is known less well: the stated error is {percent(outside)} of its "
        f"spread there, {percent(inside)} near them. Boundary or initial values, or readings "
        "there, would help.",
        {"field": name, "expected": expected, "far": outside},
    )
