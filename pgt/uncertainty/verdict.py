"""The verdict on a fit whose truth is unknown: whether it converged, how large its error is, and what
is doubtful about it.

`Evidence` collects what is known about a fit, and `judge` turns it into a `Verdict`. Each function
below the line "doubts" looks at one part of the evidence and yields the doubts that follow from it.
The verdict is data: the code that prints it decides nothing.
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

# An equation is doubted if its residual exceeds this share of its terms. Above `MAX_RELATIVE_MISFIT`,
# which also limits conditions, the field is not to be trusted.
MIN_RESIDUAL_DOUBTED = 0.1
# Limits of held-out and stated errors, in units of the spread. An error below the first limit does not
# matter, an error above the second is large, and above the third the fit explains nothing and has not
# converged.
MIN_ERROR_DOUBTED, MIN_LARGE_ERROR, MAX_EXPLAINED_ERROR = 0.05, 0.2, 0.9
# Places far from readings are doubted if their stated error exceeds that near readings by this factor.
MIN_FAR_NEAR_RATIO = 2.0
# An error of a sensor is doubted beyond this many of the standard deviations that were stated for it.
MAX_STATED_ERROR = 4.0
# A sentence names at most this many sensors.
MAX_SENSORS_NAMED = 5

Doubts = Iterator[Doubt]


@dataclass(frozen=True)
class Evidence:
    """The evidence of a verdict; `Reconstruction.evidence` gathers it.

    Attributes
    ----------
    fitted, held_out : the readings that were fitted, and those that were not.
    judged : the readings that judge the fit, with predictions by fits that did not see them.
    descent : how the cost of the fit came down.
    misfits : the `misfit_table` of all readings.
    values : the values of each field, hidden ones included, at the places of the readings.
    free_fields : the freedom that the equations leave to a hidden field, such as a constant.
    undetermined_functions : where the error bars of an unknown function are wide.
    coefficient_notes : caveats about learned coefficients.
    unidentified_coefficients : why a learned coefficient is not identified.
    field_error : the stated error of each field over the whole domain, if it is known.
    relative_residuals : the residual of each equation relative to the size of its terms.
    contradicted_conditions : the conditions that the readings contradict. Each has the `condition` in
        words, `sigmas` of evidence, the `change` of the field in units of its spread, and the `violation`
        relative to the condition's typical size.
    displaced_sensor : the sensor with a wrong position, clock or zero, or None. It has a `place`, the
        most probable `cause`, and the log-`evidence` that some sensor is wrong.
    sensor_effects : the errors of sensors that were taken out of the readings.
    cells : the share of the domain that has readings.
    conditions : the kinds of the given conditions.
    likelihood : the likelihood of the readings, as `Training` names it.
    extent : the extent of the domain along each axis, which is the unit of distances between readings.
    named : adds the columns `sensor` and `line` to a table of readings that came from a file.
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
    sensor_effects: Sequence[Mapping[str, Any]] = ()
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
        """The number of predictions of judging readings that are not finite."""
        missing = ~np.isfinite(np.asarray(self.judged.predictions, float))
        return int((np.asarray(self.judged.readings.mask) & missing).sum())


def judge(evidence: Evidence) -> Verdict:
    """The verdict on the fit that the evidence describes."""
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
        # A reason why the fit converged would contradict what follows.
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
        *_sensor_errors(evidence),
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


# The kinds of doubts that mean that a field may be wrong by more than stated, in words. The kind
# "undetermined_places" is not among them, since it follows from the stated error itself.
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
    """The stated errors, each with the reasons why it may be larger.

    A doubt about one field does not concern the others. A doubt that names an error counts only if
    that error is larger than the stated one.
    """
    with_reasons = {}
    for name, error in errors.items():
        reasons = []
        for doubt in doubts:
            reason, doubted_error = (
                REASONS_FOR_LARGER_ERROR.get(doubt.kind),
                doubt.numbers.get("of_spread", np.inf),
            )
            if reason and doubt.numbers.get("field", name) == name and doubted_error > error.value:
                amount = (
                    f", {percent(doubted_error)} of the spread"
                    if np.isfinite(doubted_error)
                    else ""
                )
                reasons.append(f"{reason}{amount}")
        with_reasons[name] = replace(error, doubted="; ".join(dict.fromkeys(reasons)))
    return with_reasons


def _is_noise_limited(evidence: Evidence, errors: Mapping[str, HeldOutError]) -> bool:
    """Whether a fit that had not come to rest cannot become better.

    This holds if the equation is fulfilled, and if held-out readings are predicted better than by
    interpolation but missed by more than the stated error of the field: the rest is their noise.
    """
    is_fulfilled = all(
        share <= MIN_RESIDUAL_DOUBTED for share in evidence.relative_residuals.values()
    )
    return bool(errors and evidence.relative_residuals and is_fulfilled) and all(
        held_out.of_spread is not None
        and held_out.interpolated_of_spread is not None
        and name in evidence.field_error
        and evidence.field_error[name].value < held_out.of_spread < held_out.interpolated_of_spread
        for name, held_out in errors.items()
    )


def _unexplained(evidence: Evidence, errors: Mapping[str, HeldOutError]) -> Iterator[str]:
    """Sentences that say why a field does not explain held-out readings."""
    for name, error in errors.items():
        if error.of_spread is not None and error.of_spread > MAX_EXPLAINED_ERROR:
            yield (
                f"The held-out error of {name} is {percent(error.of_spread)} of the spread of its "
                "readings: the field explains them no better than a constant."
            )
    if count := evidence.not_finite:
        yield f"{count} predictions at held-out readings are not finite."


# ------------------------------------------------------------------------------- doubts


def _not_converged(reason: str) -> Doubt:
    return Doubt("not_converged", f"The fit has not converged. {reason}")


def _not_finite(evidence: Evidence) -> Doubts:
    evaluated = {name: values for name, values in evidence.values.items() if len(values)}
    fields = [name for name, values in evaluated.items() if not np.isfinite(values).any()]
    if fields:
        sentence = f"{listed(fields)}: not a single finite value."
        yield Doubt("not_finite", sentence, {"fields": fields}, is_grave=True)
    if count := evidence.not_finite:
        sentence = f"{count} predictions at held-out readings are not finite and left out below."
        yield Doubt("not_finite", sentence, {"predictions": count}, is_grave=True)


def _large_errors(evidence: Evidence, errors: Mapping[str, HeldOutError]) -> Doubts:
    units = dict(evidence.fitted.units)
    for name, held_out in errors.items():
        noise = evidence.fitted.measured(name).typical_noise
        is_noise = noise > 0 and held_out.rmse <= 2 * noise
        if held_out.of_spread is None or held_out.of_spread <= MIN_LARGE_ERROR or is_noise:
            continue
        unit = units.get(name, "1")
        error = number(held_out.rmse, unit="" if unit == "1" else unit)
        yield Doubt(
            "large_error",
            f"The held-out error of {name} is large: {error}, {percent(held_out.of_spread)} of the "
            "spread of its readings (100 % is no better than their mean). Either the readings are that "
            "noisy, or there are too few of them, or the equation does not describe them.",
            {"field": name, "rmse": held_out.rmse, "of_spread": held_out.of_spread},
        )


def _unread_cells(evidence: Evidence) -> Doubts:
    """A doubt about the part of the domain without readings, which held-out readings do not judge.

    It is grave if the stated error is not small and no condition determines the field there.
    """
    cells = evidence.cells
    if cells is None or not cells.is_sparse:
        return
    errors = [error.value for error in evidence.field_error.values()]
    is_known = bool(errors) and max(errors) <= MIN_ERROR_DOUBTED
    yield Doubt(
        "unread_places",
        f"{cells.in_words}: in the others only equation and conditions determine the field, and the "
        "held-out error says nothing about them.",
        {"filled": cells.filled, "cells": cells.total},
        is_grave=not is_known and not evidence.conditions,
    )


def _large_residuals(evidence: Evidence) -> Doubts:
    for name, share in evidence.relative_residuals.items():
        if np.isfinite(share) and share > MIN_RESIDUAL_DOUBTED:
            how = "does not hold" if share > MAX_RELATIVE_MISFIT else "holds only roughly"
            yield Doubt(
                "large_residual",
                f"The equation {name} {how}: {percent(share)} of the size of its terms is left over. "
                "Either the fit is not good enough, or the equation, its coefficients or its units do "
                "not describe what was read; `pgt discover` looks for a missing term.",
                {"equation": name, "share": share},
                is_grave=share > MAX_RELATIVE_MISFIT,
            )


def _contradicted_conditions(evidence: Evidence) -> Doubts:
    for entry in evidence.contradicted_conditions:
        sigmas, change, violation = (float(entry[key]) for key in ("sigmas", "change", "violation"))
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
            f"{entry['condition']}: {'; '.join(parts)}. Check its values and units, and the times and "
            "places of the readings.",
            dict(entry),
            is_grave=change > MIN_ERROR_DOUBTED or violation > MAX_RELATIVE_MISFIT,
        )


def _far_readings(evidence: Evidence, misfits: pd.DataFrame) -> Doubts:
    far = far_readings(misfits)
    if far.empty:
        return
    worst, count = evidence.named(far.head(1)).iloc[0], len(far)
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
    """The sensor and the line of a reading in words, as far as they are known."""
    named = {"sensor": "sensor {}", "line": "line {}"}
    parts = [words.format(row[name]) for name, words in named.items() if row.get(name)]
    return f" ({', '.join(parts)})" if parts else ""


def _position(axis: str, evidence: Evidence, position: float) -> str:
    is_date = axis == "t" and are_counted(dict(evidence.fitted.units))
    return text(position) if is_date else number(position, 4)


def _drifting_sensors(evidence: Evidence, misfits: pd.DataFrame) -> Doubts:
    drifting = evidence.named(drifting_sensors(misfits, evidence.fitted.coords))
    count = len(drifting)
    if count:
        space = [axis for axis in evidence.fitted.coords if axis != "t"]
        names = [_sensor_name(row, space, evidence) for row in drifting.to_dict("records")]
        which = f" ({listed(names[:MAX_SENSORS_NAMED])})"
        who = f"One sensor{which} differs" if count == 1 else f"{count} sensors{which} differ"
        yield Doubt(
            "drifting_sensors",
            f"{who} from the field by a significant offset or trend in time: either it "
            "drifts, or the equation does not describe what it reads.",
            {"sensors": count},
        )


def _sensor_name(row: Mapping[Any, Any], space: Sequence[str], evidence: Evidence) -> str:
    """The name or place of a sensor, and by how much it reads too high or too low."""
    gap = _effect_in_words({"kind": "offset", "value": row["offset"]})
    return f"{_sensor_place(row, space, evidence)}: {row['field']} {gap}"


def _sensor_place(row: Mapping[Any, Any], space: Sequence[str], evidence: Evidence) -> str:
    where = ", ".join(f"{axis} = {_position(axis, evidence, row[axis])}" for axis in space)
    return row.get("sensor") or where


def _sensor_errors(evidence: Evidence) -> Doubts:
    """A doubt about the sensors whose errors were found, or are far larger than was stated."""
    space = [axis for axis in evidence.fitted.coords if axis != "t"]
    wrong = {}
    for effect in evidence.sensor_effects:
        if abs(effect["value"]) > MAX_STATED_ERROR * effect["stated"]:
            wrong.setdefault((tuple(effect["place"]), effect["field"]), []).append(effect)
    if not wrong:
        return
    keys = [dict(zip(space, place, strict=True)) | {"field": name} for place, name in wrong]
    named = evidence.named(pd.DataFrame(keys)).to_dict("records")
    names = [
        f"{_sensor_place(row, space, evidence)}: {row['field']} "
        + " and ".join(_effect_in_words(effect) for effect in effects)
        for row, effects in zip(named, wrong.values(), strict=True)
    ]
    count = len(names)
    who = "One sensor reads" if count == 1 else f"{count} sensors read"
    yield Doubt(
        "drifting_sensors",
        f"{who} wrong, if the equation holds ({listed(names[:MAX_SENSORS_NAMED])}): the errors were "
        "estimated with the field and taken out of the readings. Check these sensors.",
        {"sensors": count},
    )


def _effect_in_words(effect: Mapping[str, Any]) -> str:
    """An error of a sensor in words, such as "0.1 too high"."""
    value, size = float(effect["value"]), number(abs(float(effect["value"])))
    words = {
        "offset": f"{size} too {'high' if value > 0 else 'low'}",
        "drift": f"{'rises' if value > 0 else 'falls'} by {size} per unit of time",
        "gain": f"changes by {percent(abs(value))} too {'much' if value > 0 else 'little'}",
        "clock": f"{size} too {'early' if value > 0 else 'late'}",
    }
    return words[str(effect["kind"])]


def _displaced_sensor(evidence: Evidence) -> Doubts:
    displaced = evidence.displaced_sensor
    if displaced is None:
        return
    space = [axis for axis in evidence.fitted.coords if axis != "t"]
    place = dict(zip(space, displaced["place"], strict=True))
    where = ", ".join(f"{axis} = {_position(axis, evidence, at)}" for axis, at in place.items())
    cause = str(displaced["cause"])
    fault = f"its position along {cause}" if cause in space else f"its {cause}"
    yield Doubt(
        "displaced_sensor",
        "Equation and readings agree clearly better if a sensor is at fault, most probably that at "
        f"{where}, as if {fault} were wrong. The field follows what it reads, and may be wrong by more "
        "than is stated. Check times, positions and zeros of the sensors.",
        {"cause": cause, "evidence": displaced["evidence"], **place},
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
    for name, error in errors.items():
        ours, theirs = error.of_spread, error.interpolated_of_spread
        if ours is not None and theirs is not None and ours > max(theirs, SMALLEST_SIGMA):
            is_significant = error.is_significant
            chance = (
                "and by more than chance explains"
                if is_significant
                else "though it may be by chance"
            )
            yield Doubt(
                "worse_than_interpolation",
                f"{name}: interpolation without physics (a Gaussian process) predicts the held-out "
                f"readings better, {percent(theirs)} of their spread against {percent(ours)}, {chance}. "
                "Check equation, coefficients and units, or train for longer; `pgt discover` looks for "
                "a missing term.",
                {
                    "field": name,
                    "of_spread": ours,
                    "interpolated_of_spread": theirs,
                    "significant": is_significant,
                },
                is_grave=is_significant and ours > MIN_ERROR_DOUBTED,
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
    """Doubts about places far from readings, from the stated errors.

    Held-out readings judge only the places that have readings.
    """
    for name, error in errors.items():
        if error.value > MIN_LARGE_ERROR:
            yield _undetermined_everywhere(name, error)
        elif (
            error.value > MIN_ERROR_DOUBTED
            and error.inside is not None
            and error.outside is not None
        ):
            yield from _undetermined_far_away(name, error.value, error.inside, error.outside)


def _undetermined_everywhere(name: str, error: FieldError) -> Doubt:
    where = ""
    if error.inside is not None and error.outside is not None and error.outside > error.inside:
        far = percent(error.outside)
        where = f" Near readings it is {percent(error.inside)}, far from them {far}."
    return Doubt(
        "undetermined_places",
        f"Readings and equation do not determine {name} everywhere: the stated error "
        f"is {percent(error.value)} of its spread over the domain (100 % is no better "
        f"than a constant).{where} Boundary or initial values, or readings there, would help.",
        {"field": name, "expected": error.value},
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
