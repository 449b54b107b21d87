"""The sentences of a report: what was measured, what was inferred, and how it was judged."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pgt.core.doubt import HeldOutError, Verdict
from pgt.core.numbers import digits_between, listed, number, percent
from pgt.core.stage import stages_of
from pgt.data.observations import Observations
from pgt.report.contents import ReportData

IN_TURN = "each reading was predicted from all the others (leave-one-out)"


@dataclass(frozen=True)
class Range:
    """The readings of one field: their number, range and noise."""

    name: str
    fitted: int
    held_out: int
    low: float
    high: float
    noise: float  # σ as given, 0 where not
    estimated: float  # σ as the fit leaves it, 0 where not known


def ranges(data: ReportData) -> list[Range]:
    """One row for each field that was read."""
    rows = []
    for name in data.fields:
        if name in data.hidden:
            continue
        fitted, held_out = (part.measured(name) for part in (data.fitted, data.held_out))
        both = np.concatenate([fitted.values, held_out.values])
        estimated = float((data.tables.noise or {}).get(name, 0.0))
        counts = len(fitted.rows), len(held_out.rows)
        rows.append(Range(name, *counts, both.min(), both.max(), fitted.typical_noise, estimated))
    return rows


def what_was_measured(data: ReportData) -> str:
    measured = [row.name for row in ranges(data)]
    if not measured:
        return (
            "No readings were given: the field follows from the equation and its conditions alone."
        )
    count = len(data.fitted) + len(data.held_out)
    where = "places and instants" if "t" in data.fitted.coords else "places"
    span = []
    for index, axis in enumerate(data.fitted.coords):
        parts = [np.asarray(part.points)[:, index] for part in (data.fitted, data.held_out)]
        along = np.concatenate(parts)
        low, high = float(along.min()), float(along.max())
        digits = digits_between(low, high)
        bounds = f"{number(low, digits)} to {number(high, digits, data.unit(axis))}"
        span.append(f"{axis} from {bounds}")
    read = f"Sensors read {listed(measured)} at {count} {where}, {listed(span)}."
    if is_left_out_in_turn(data.verdict, data.fitted, data.held_out):
        return f"{read} All of these rows were fitted: {IN_TURN}, which judges the result."
    purpose = "judge the result" if data.verdict.folds is None else "tell when to stop"
    return (
        f"{read} {len(data.fitted)} of these rows were fitted and {len(data.held_out)} held out to "
        f"{purpose}."
    )


def what_was_inferred(data: ReportData) -> str:
    units = {name: data.unit(name) for name in data.fields}
    shown = listed([f"{name} (in {unit})" if unit else name for name, unit in units.items()])
    sentences = [f"The continuous field of {shown} between and beyond the sensors."]
    if data.hidden:
        verbs = ("was", "follows") if len(data.hidden) == 1 else ("were", "follow")
        names = listed(data.hidden)
        sentences.append(
            f"{names} {verbs[0]} never measured and {verbs[1]} from the equation alone."
        )
    if learnt := data.tables.coefficients:
        several = "s" if len(learnt) > 1 else ""
        sentences.append(
            f"The coefficient{several} {listed(learnt)} of the equation, learnt together with the field."
        )
    return " ".join(sentences)


FOLDS_OF = {"block": "whole blocks of space and time", "sensor": "whole sensors"}


def how_it_was_judged(data: ReportData) -> str:
    """A sentence that says at which readings the held-out error was measured."""
    if is_left_out_in_turn(data.verdict, data.fitted, data.held_out):
        return f"{IN_TURN[0].upper()}{IN_TURN[1:]}: {_of_spread(data)}."
    settings = data.summary.get("training")
    by = str(settings.get("hold_out_by")) if isinstance(settings, dict) else ""
    if data.verdict.folds is not None:
        kind = FOLDS_OF.get(by, "single readings")
        return (
            f"{data.verdict.folds}-fold cross-validation, folds made of {kind}: each reading was "
            f"predicted by a fit that did not see it: {_of_spread(data)}."
        )
    if by in FOLDS_OF:
        return (
            f"The readings were held out in {FOLDS_OF[by]}, which are harder to predict than single "
            "readings among others."
        )
    return "The readings were held out one by one, at random."


def _of_spread(data: ReportData) -> str:
    errors = relative_errors(data)
    return f"{errors} of the spread" if errors else "no relative error"


def relative_errors(data: ReportData) -> str:
    """The held-out errors in a row, each over the spread of its readings; empty where none is known."""
    known = {name: found.of_spread for name, found in data.verdict.held_out.items()}
    errors = [f"{name} {percent(e)}" for name, e in known.items() if e is not None]
    return listed(errors) if errors else ""


def interpolated_errors(data: ReportData) -> str:
    """The errors of interpolation without physics at the same readings; empty where none is known."""
    known = {name: f.interpolated_of_spread for name, f in data.verdict.held_out.items()}
    errors = [f"{name} {percent(error)}" for name, error in known.items() if error is not None]
    return listed(errors) if errors else ""


def beside_interpolation(found: HeldOutError) -> str:
    """The error of interpolation without physics, and whether the two differ by more than chance."""
    theirs = found.interpolated_of_spread
    if theirs is None or found.of_spread is None:
        return "not known"
    if not found.differs_from(theirs):
        return f"{percent(theirs)}: no certain difference"
    return (
        f"{percent(theirs)}: {'worse' if theirs > found.of_spread else 'better'}, and not by chance"
    )


def is_left_out_in_turn(verdict: Verdict, fitted: Observations, held_out: Observations) -> bool:
    """Whether the errors are leave-one-out errors: each reading is predicted from all the others."""
    return verdict.folds == len(fitted) and not len(held_out)


def expected_errors(verdict: Verdict) -> list[str]:
    """A sentence for each field whose error over the whole domain is known."""
    return [
        f"{name}: expected error over the whole domain: {error.in_words}."
        for name, error in verdict.field_error.items()
    ]


def how_it_ended(summary: Mapping) -> str:
    """A sentence on why the fit ended, from its last stage or else from its summary."""
    if stages := stages_of(summary):
        last = stages[-1]
        return f"{last.name} ended after {last.iterations} iterations: {last.reason}."
    stopped = summary.get("stopped")
    return f"The fit ended: {stopped}." if stopped else ""


KINDS = {
    "Features": "a sum of sines",
    "PINN": "a small tanh network",
    "Solver": "the equation, solved on a mesh",
}


def which_model(summary: Mapping) -> str:
    """The candidate of the plan that answers, its reason, and the outcome of those before it.

    The text is empty where the summary has no plan.
    """
    plan = [one for one in summary.get("plan") or () if one["outcome"] != "not tried"]
    if not plan:
        return ""
    sentences = [
        one["reason"]
        if one["outcome"] == "kept"
        else f"{one['reason']} {one['model']}: {one['outcome']}."
        for one in plan
    ]
    name = str(summary.get("model"))
    kind = f" ({KINDS[name]})" if name in KINDS else ""
    return " ".join([*sentences, f"Model: {name}{kind}."])
