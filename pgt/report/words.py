"""The run in words and figures: what was measured and inferred, did it converge, what is doubtful."""

from dataclasses import dataclass

import numpy as np

from pgt.report.contents import ReportData, column
from pgt.report.numbers import listed, number, percent

FEW = 10  # the error of n readings is itself known to about 1/√(2n): 22 % of it for ten
LARGE = 0.2  # of the spread of the readings
STILL_FALLING = 0.1  # of the error, in the last fifth of a run
GOOD_COST = 1e-6  # of a polish, in squared units of the spread: a thousandth of it is left


@dataclass(frozen=True)
class Measured:
    """The readings of one field."""

    name: str
    fitted: int
    held_out: int
    low: float
    high: float
    spread: float
    noise: float  # σ as given, 0 where not
    estimated: float  # σ as the fit leaves it, 0 where not known


@dataclass(frozen=True)
class Misfit:
    """How far the field is from readings it has not seen."""

    name: str
    count: int
    rms: float
    relative: float | None  # to the root mean square of the readings
    of_spread: float | None  # to their standard deviation: 1 is as good as guessing the mean


def measured(data: ReportData) -> list[Measured]:
    """One row for each field that was read."""
    rows = []
    for name in data.fields:
        if name in data.hidden:
            continue
        fitted, held_out = (column(part, name)[1] for part in (data.observations, data.held_out))
        both = np.concatenate([fitted, held_out])
        noise = _noise(data, name)
        low, high, spread = both.min(), both.max(), both.std()
        estimated = float((data.noise or {}).get(name, 0.0))
        counts = len(fitted), len(held_out)
        rows.append(Measured(name, *counts, low, high, float(spread), noise, estimated))
    return rows


def misfits(data: ReportData) -> list[Misfit]:
    """The held-out error of every field with held-out readings and finite predictions."""
    rows = []
    for reading in measured(data):
        truth, guess = held_out_pairs(data, reading.name)
        if not len(truth):
            continue
        rms, size = _rms(guess - truth), _rms(truth)
        relative = rms / size if size > 0 else None
        of_spread = rms / reading.spread if reading.spread > 0 else None
        rows.append(Misfit(reading.name, len(truth), rms, relative, of_spread))
    return rows


def held_out_pairs(data: ReportData, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Held-out readings of a field and the predictions there, where those are finite."""
    readings, predictions = data.judges
    rows, truth = column(readings, name)
    if not len(rows):
        return truth, truth
    guess = np.asarray(predictions, float)[rows, readings.fields.index(name)]
    finite = np.isfinite(guess)
    return truth[finite], guess[finite]


def what_was_measured(data: ReportData) -> str:
    readings = measured(data)
    if not readings:
        return (
            "No readings were given: the field follows from the equation and its conditions alone."
        )
    count = len(data.observations) + len(data.held_out)
    where = "places and instants" if "t" in data.observations.coords else "places"
    names = listed([reading.name for reading in readings])
    span = []
    for index, axis in enumerate(data.observations.coords):
        parts = [np.asarray(part.points)[:, index] for part in (data.observations, data.held_out)]
        along = np.concatenate(parts)
        bounds = f"{number(along.min())} to {number(along.max(), unit=data.unit(axis))}"
        span.append(f"{axis} from {bounds}")
    return (
        f"Sensors read {names} at {count} {where}, {listed(span)}. "
        f"{len(data.observations)} of these rows were fitted and {len(data.held_out)} held out to "
        f"{'judge the result' if data.folds is None else 'tell when to stop'}."
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
    if data.coefficients:
        several = "s" if len(data.coefficients) > 1 else ""
        sentences.append(
            f"The coefficient{several} {listed(data.coefficients)} of the equation, learnt together "
            "with the field."
        )
    return " ".join(sentences)


def how_it_was_judged(data: ReportData) -> str:
    """What the held-out error is an error of."""
    settings = data.summary.get("training")
    blocked = isinstance(settings, dict) and settings.get("hold_out_by") == "block"
    errors = [f"{m.name} {percent(m.relative)}" for m in misfits(data) if m.relative is not None]
    if data.folds is not None:
        kind = "whole blocks of space and time" if blocked else "single readings"
        return (
            f"{data.folds.count}-fold cross-validation, folds made of {kind}: each reading was predicted "
            f"by a fit that did not see it: {listed(errors) if errors else 'no relative error'}."
        )
    if blocked:
        return (
            "The readings were held out in whole blocks of space and time, which are harder to predict "
            "than single readings among others."
        )
    return "The readings were held out one by one, at random."


def convergence(data: ReportData) -> tuple[bool | None, str]:
    """Whether the fit converged (None: cannot be told), and why we say so."""
    stopped = str(data.summary.get("stopped") or "")
    if stopped.startswith("diverged"):
        return False, f"Training {stopped}."
    costs = np.asarray(data.summary.get("polish_costs") or (), float)
    if len(costs) > 1:
        return _polish_verdict(costs)
    if stopped == "held-out error stopped falling":
        return (
            True,
            "Training ended because the held-out error had stopped falling; the best fit was kept.",
        )
    errors = np.asarray(data.history["held_out"], float)
    if len(errors) < 5 or not len(data.held_out) or not np.isfinite(errors).all():
        return (
            None,
            "The history is too short, or nothing was held out, to tell whether it converged.",
        )
    cut = len(errors) - max(len(errors) // 5, 1)
    gain = 1 - errors[cut:].min() / errors[:cut].min() if errors[:cut].min() > 0 else 0.0
    if gain > STILL_FALLING:
        return False, (
            f"The held-out error still fell by {percent(gain)} in the last fifth of the run: "
            "a larger budget of steps or seconds should give a better field."
        )
    return True, "The held-out error had levelled off before the budget was spent."


def _polish_verdict(costs: np.ndarray) -> tuple[bool, str]:
    """Of the least-squares finish, which comes last and so decides."""
    fell = f"the cost from {number(costs[0])} to {number(costs[-1])}"
    start = costs[len(costs) - 1 - max(len(costs) // 5, 1)]
    gain = 1 - costs[-1] / start if start > 0 else 0.0
    done = f"A least-squares polish of {len(costs) - 1} iterations brought {fell}"
    if gain > STILL_FALLING and costs[-1] > GOOD_COST:
        last = f"in its last fifth still by {percent(gain)}: more iterations should help."
        return False, f"{done}, {last}"
    return True, f"{done}{'' if gain > STILL_FALLING else ' and had levelled off'}."


def doubts(data: ReportData) -> list[str]:
    """Plain warnings, the most serious first; empty when nothing is doubtful."""
    converged, why = convergence(data)
    found = [f"The fit has not converged. {why}"] if converged is False else []
    found += _holes(data)
    readings = {reading.name: reading for reading in measured(data)}
    found += [text for m in misfits(data) if (text := _large(m, readings[m.name], data))]
    found += [*_far_readings(data), *_drifting_sensors(data), *_held_out_doubts(data)]
    return [*found, *map(str, data.warnings)]


def _holes(data: ReportData) -> list[str]:
    broken = [n for n in data.fields if not np.isfinite(data.field[n].to_numpy()).any()]
    readings, predictions = data.judges
    unsound = int((np.asarray(readings.mask) & ~np.isfinite(predictions)).sum())
    found = [f"{listed(broken)}: not a single finite value on the grid."] if broken else []
    if unsound:
        found.append(
            f"{unsound} predictions at held-out readings are not finite and left out below."
        )
    return found


def _large(misfit: Misfit, reading: Measured, data: ReportData) -> str | None:
    excused = reading.noise > 0 and misfit.rms <= 2 * reading.noise
    if misfit.of_spread is None or misfit.of_spread <= LARGE or excused:
        return None
    error = number(misfit.rms, unit=data.unit(misfit.name))
    return (
        f"The held-out error of {misfit.name} is large: {error}, {percent(misfit.of_spread)} of the "
        "spread of its readings (100 % is no better than their mean). Either the readings are that "
        "noisy, or there are too few of them, or the equation does not describe them."
    )


def _far_readings(data: ReportData) -> list[str]:
    if data.suspicious is None or data.suspicious.empty:
        return []
    worst, count = data.suspicious.iloc[0], len(data.suspicious)
    axes = [axis for axis in data.observations.coords if axis in worst.index]
    place = ", ".join(f"{axis} = {number(worst[axis], 4)}" for axis in axes)
    which = "One reading is" if count == 1 else f"{count} readings or more are"
    return [
        f"{which} farther from the field than noise explains, the farthest, of {worst['field']} at "
        f"{place}, by {number(abs(worst['misfit']), 2)} σ. Look at the table of suspicious readings; "
        'with outliers write likelihood = "student".'
    ]


def _drifting_sensors(data: ReportData) -> list[str]:
    if data.drifting is None or data.drifting.empty:
        return []
    count = len(data.drifting)
    who = "One sensor differs" if count == 1 else f"{count} sensors differ"
    return [
        f"{who} from the field by an offset or a trend in time that is no chance: either it drifts, or "
        "the equation does not describe what it reads."
    ]


def _held_out_doubts(data: ReportData) -> list[str]:
    counts = {m.name: len(column(data.judges[0], m.name)[0]) for m in measured(data)}
    none = [name for name, count in counts.items() if count == 0]
    few = [f"{name} ({count})" for name, count in counts.items() if 0 < count < FEW]
    found = []
    if none:
        found.append(
            f"No reading of {listed(none)} was held out, so nothing here says how well the field does "
            "where it was not fitted."
        )
    if few:
        found.append(
            f"Few readings were held out: {listed(few)}. Their error is only a rough guide; "
            f"{FEW} or more for each field say more."
        )
    return found


def _noise(data: ReportData, name: str) -> float:
    if name not in data.observations.fields:
        return 0.0
    index = data.observations.fields.index(name)
    rows, _ = column(data.observations, name)
    noise = np.asarray(data.observations.noise, float)[rows, index]
    return _rms(noise) if len(noise) else 0.0


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
