"""Conditions and sensors that the other readings contradict.

A fit takes a condition to be as exact as the equation. If a few readings contradict it, the MAP
estimate explains them by noise or by a softer equation, and its posterior does not show that one of
the rows is wrong. So the rows of every condition are left out in turn, and the problem, linearized at
the fitted field, is solved again with new scales. A condition that holds makes the readings more
probable; a wrong one makes them less probable. The logarithm of the ratio of these probabilities is
the evidence against the condition. More than 3 is strong on the scale of Kass and Raftery (1995).
The difference between the two fields is the effect of the condition on the answer.

The ratio alone does not find every wrong condition. Without an initial state, for example, the most
probable answer to a wrong wall is often a narrow layer in which equation and condition are both
soft, so that the readings carry no evidence about the wall. But then the answer itself violates the
condition at most of its nodes, by a large share of its typical size: condition or equation is
wrong.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from pgt.data.splits import sensors
from pgt.inference.evidence import maximize_evidence, scan_stiffness
from pgt.inference.linear_algebra import beside_numpy
from pgt.inference.linear_gaussian import GaussianPosterior
from pgt.methods.closed_form.design_rows import condition_misses, field_rows, nodes_of, rows_of
from pgt.models.features import Features
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.trees import cast
from pgt.physics.conditions import AbstractCondition, AbstractWallCondition
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem
from pgt.uncertainty.field_error import POINTS_PER_INSTANT

# The log-evidence that counts as strong on the scale of Kass and Raftery. A smaller limit accuses correct
# conditions and sensors, a larger one misses small faults. Correct sets of sensors stay below -1.
MIN_LOG_EVIDENCE = 3.0
# A condition does not hold if it is violated by more than this share of its typical size. The limit is
# the same for the residual of an equation.
MAX_RELATIVE_MISFIT = 0.25


@dataclass(frozen=True)
class ContradictedCondition:
    """A condition that the readings contradict, with the evidence against it.

    Attributes
    ----------
    condition : the condition in words.
    evidence : the log-evidence of the readings against it; 0 if only the violation is known.
    changes : the root mean square change of each field without the condition, in units of its spread.
    violation : the median misfit of the answer over the nodes, relative to the condition's typical size.
    """

    condition: str
    evidence: float
    changes: tuple[float, ...]
    violation: float = 0.0

    @property
    def sigmas(self) -> float:
        """The evidence as a number of standard deviations of a normal number."""
        return sqrt(2 * self.evidence)


def find_contradicted_conditions(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others: Float[np.ndarray, " k"] | None = None,
    seconds: float | None = None,
    expected: float = 0.0,
) -> list[ContradictedCondition]:
    """The conditions that the readings contradict, the worst first.

    `model` and `pde` are the answer, and `others` is the prior of unknown functions. No further condition
    is tested after `seconds`; `expected` is the estimated time of one solve.
    """
    tested = [k for k, entry in enumerate(problem.conditions) if entry.kind != "gauge"]
    violations = condition_misses(model, pde, problem, points) if tested else []
    # A wrong condition distorts the others, so only those violated about as much as the worst are blamed.
    min_violation = max(MAX_RELATIVE_MISFIT, max((violations[k] for k in tested), default=0.0) / 2)
    no_changes = (0.0,) * len(model.network.readout)
    contradicted = {
        k: ContradictedCondition("", 0.0, no_changes)
        for k in tested
        if violations[k] >= min_violation
    }
    for k, evidence, changes in _evidence_against_each(
        model, pde, problem, points, others, seconds, expected
    ):
        contradicted[k] = ContradictedCondition("", evidence, changes)
    described = [
        replace(entry, condition=describe_condition(problem.conditions[k]), violation=violations[k])
        for k, entry in contradicted.items()
    ]
    return sorted(described, key=lambda entry: (-entry.evidence, -entry.violation))


def _evidence_against_each(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others,
    seconds,
    expected: float,
):
    """Yield (position, log-evidence, changes of the fields) of every condition that makes the readings
    less probable.
    """
    tested = [k for k, one in enumerate(problem.conditions) if one.kind != "gauge"]
    if not tested or problem.likelihood != "gauss":
        return
    start, full = time.monotonic(), None
    rows_at_places = field_rows(model, nodes_of(problem.domain, POINTS_PER_INSTANT))
    for tested_count, position in enumerate(tested):
        # The first comparison solves twice: with all conditions and without one.
        seconds_of_next = (
            (time.monotonic() - start) / tested_count if tested_count else 2 * expected
        )
        if seconds is not None and time.monotonic() - start + seconds_of_next > seconds:
            break
        full = full or _solve_linearized(model, pde, problem, points, others)
        without = _solve_linearized(
            model, pde, _without_condition(problem, position), points, others
        )
        if full is None or without is None:
            break
        evidence = without.maximum.evidence - full.maximum.evidence
        if evidence > MIN_LOG_EVIDENCE:
            change = _field_values(model, without, rows_at_places) - _field_values(
                model, full, rows_at_places
            )
            yield position, evidence, tuple(np.sqrt(np.mean(change**2, axis=0)).tolist())


def describe_condition(condition: AbstractCondition) -> str:
    """The condition in words: its kind and where it holds.

    >>> import pgt
    >>> describe_condition(pgt.Dirichlet("x", side="lower", u=0.0))
    'Dirichlet at the lower end of x'
    """
    name = type(condition).__name__
    if not isinstance(condition, AbstractWallCondition):
        return name
    if condition.wall is not None:
        where = f"the wall {condition.wall}"
    elif condition.axis is None:
        where = "the ends of all axes of space"
    else:
        ends = "both ends" if condition.side == "both" else f"the {condition.side} end"
        where = f"{ends} of {', '.join(condition.axis)}"
    return f"{name} at {where}" + (f", {condition.where}" if condition.where else "")


def _without_condition(problem: Problem, number: int) -> Problem:
    """The problem without one condition."""
    pairs = zip(problem.conditions, problem.condition_scales, strict=True)
    kept = [pair for k, pair in enumerate(pairs) if k != number]
    conditions, scales = zip(*kept, strict=True) if kept else ((), ())
    return replace(problem, conditions=conditions, condition_scales=scales)


def _solve_linearized(
    model, pde, problem: Problem, points: int, others
) -> GaussianPosterior | None:
    """The posterior from the rows linearized at the answer; None if they are not finite."""
    rows = replace(rows_of(model, pde, problem, points), function_prior=others)
    is_finite = np.isfinite(rows.equation).all() and np.isfinite(rows.target).all()
    return maximize_evidence(rows) if is_finite else None


def _field_values(
    model: Features, posterior: GaussianPosterior, rows_at_places: Float[np.ndarray, "n m"]
):
    """The fields at places, in units of their spread."""
    network = model.network
    return rows_at_places @ network.readouts(posterior.weights[None, : network.size])[0].T


# ------------------------------------------------------------------------------- sensors

# This part finds sensors with a wrong clock, a wrong position or a wrong zero.
#
# The errors of such a sensor lie along one direction: the derivative of the field in time or space at
# its readings, or a constant. The MAP estimate compensates for them by an equation that holds less
# strictly. Its residuals stay as small as the noise, and its posterior does not show that the field is
# wrong. So that direction is added as an unknown, for one sensor and one cause after the other, and all
# scales are estimated again, including the stiffness ρ of the equation. With B hypotheses of equal prior
# probability,
#
#     log-evidence that one of them holds = log ( Σ exp(gain) / B )
#
# A gain is the logarithm of the factor by which the unknown makes the readings more probable. For
# correct readings it is negative. Every gain costs one product with an existing decomposition.


# The prior size of a fault, as a share of the extent of an axis or of the spread of a field. With a
# larger one, small faults have less evidence.
USUAL_FAULT = 0.1


@dataclass(frozen=True)
class DisplacedSensor:
    """The sensor that is most probably at fault.

    Attributes
    ----------
    place : its position.
    cause : what is wrong: an axis, "clock" or "zero of" a field.
    evidence : the log-evidence that some sensor is at fault.
    """

    place: tuple[float, ...]
    cause: str
    evidence: float


def find_displaced_sensor(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others: Float[np.ndarray, " k"] | None = None,
) -> DisplacedSensor | None:
    """The sensor with a wrong clock, position or zero; None without evidence or without fixed sensors.

    The arguments are those of `posteriors_of_sensors`.
    """
    return displaced_sensor_from(
        posteriors_of_sensors(model, pde, problem, points, others), model, problem
    )


def posteriors_of_sensors(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others: Float[np.ndarray, " k"] | None = None,
) -> list[GaussianPosterior]:
    """The posteriors at all ρ that judge the sensors; empty where there are no fixed ones.

    `model` and `pde` are the answer, and `others` is the prior of unknown functions.
    """
    if not _is_applicable(problem, at_least=1):
        return []
    rows = rows_of(model, pde, problem, points)
    if not (np.isfinite(rows.equation).all() and np.isfinite(rows.target).all()):
        return []
    return scan_stiffness(replace(rows, function_prior=others))


def displaced_sensor_from(
    posteriors: Sequence[GaussianPosterior], model: AbstractFieldModel, problem: Problem
) -> DisplacedSensor | None:
    """The sensor with a wrong clock, position or zero, from given posteriors; None without evidence.

    The posteriors have the readings of the problem in its order; `model` is the answer.
    """
    if not posteriors or not _is_applicable(problem):
        return None
    sensor_of = sensors(problem.observations)
    evidence_without = max(posterior.evidence for posterior in posteriors)
    hypotheses = list(_hypotheses(model, problem, sensor_of))
    gains = np.array(
        [
            max(posterior.evidence_with_error_along(column) for posterior in posteriors)
            - evidence_without
            for *_, column in hypotheses
        ]
    )
    evidence = float(logsumexp(gains) - np.log(len(gains)))
    if not evidence > MIN_LOG_EVIDENCE:
        return None
    sensor, cause, _ = hypotheses[int(np.argmax(gains))]
    place = _place_of(problem, sensor_of, sensor)
    return DisplacedSensor(place, cause, evidence)


def _is_applicable(problem: Problem, at_least: int = 2) -> bool:
    """Whether there are fixed sensors with normal noise, and an equation that relates them."""
    is_normal = problem.likelihood == "gauss"
    has_equation = bool(problem.equation_scales)
    return is_normal and has_equation and sensors(problem.observations, at_least) is not None


def _slopes(model: AbstractFieldModel, problem: Problem) -> Float[np.ndarray, "n c d"]:
    """The derivatives of the fields at the readings, in units of their spreads over each axis."""
    extent, spread = problem.domain.extent, np.asarray(model.scaling.spread, float)
    with beside_numpy():
        exact, readings = cast((model, problem.observations), jnp.float64)
        context = exact.encode(readings)
        slope_at = jax.vmap(jax.jacfwd(lambda z: exact.decode(context, z)))
        slopes = np.asarray(slope_at(jnp.asarray(readings.points)))
    return slopes * np.asarray(extent, float) / spread[:, None]


def _hypotheses(model: AbstractFieldModel, problem: Problem, sensor_of):
    """Yield (sensor, cause, error of all readings by a fault of usual size, in units of the spread)."""
    readings = problem.observations
    measured = [readings.measured(name).rows for name in readings.fields]
    slopes = _slopes(model, problem)
    by_cause = {
        "clock" if axis == "t" else axis: slopes[..., k] for k, axis in enumerate(readings.coords)
    }
    directions = {
        cause: np.concatenate([errors[rows, c] for c, rows in enumerate(measured)])
        for cause, errors in by_cause.items()
    }
    field = np.repeat(np.arange(len(measured)), [len(rows) for rows in measured])
    directions |= {
        f"zero of {name}": (field == c).astype(float) for c, name in enumerate(readings.fields)
    }
    of_sensor = sensor_of[np.concatenate(measured)]
    for sensor in np.unique(of_sensor):
        for cause, column in directions.items():
            errors = np.where(of_sensor == sensor, USUAL_FAULT * column, 0.0)
            if errors.any():
                yield int(sensor), cause, errors


def _place_of(problem: Problem, sensor_of, sensor: int) -> tuple[float, ...]:
    """The position of a sensor along the axes of space, in physical coordinates."""
    readings = problem.origin.physical(problem.observations)
    first = np.asarray(readings.points, float)[np.flatnonzero(sensor_of == sensor)[0]]
    return tuple(
        float(position)
        for position, axis in zip(first, readings.coords, strict=True)
        if axis != "t"
    )
