"""Sensors with a wrong clock, a wrong position or a wrong zero.

The readings of such a sensor are wrong along one direction: the derivative of the field in time or
space at its readings, or a constant. The MAP estimate makes up for it by an equation that holds
less strictly; its residuals stay as small as the noise, and its posterior does not show that the
field is wrong. So that direction is added as an unknown, for one sensor and one cause after the
other, and all scales are estimated again, including the stiffness ρ of the equation. With B
hypotheses of equal prior probability,

    log-evidence that one of them holds = log ( Σ exp(gain) / B )

where a gain is the logarithm of how much more probable the readings become. For correct readings
the additional unknown makes them less probable. Every gain costs one product with an existing
decomposition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from pgt.data.splits import sensors
from pgt.inference.linear_algebra import beside_numpy
from pgt.inference.linear_gaussian import Rows, Solved, scanned
from pgt.methods.closed_form.design_rows import rows_of
from pgt.models.features import Features
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem

# The prior size of a fault, as a share of the extent of an axis or of the spread of a field.
USUAL_FAULT = 0.1
# The log-evidence above which a sensor is reported; by Kass and Raftery (1995) 1 is positive and 3
# strong. None of 12 correct sets came above -1; two of 24 with a wrong clock or position stay below
# 2.
MIN_LOG_EVIDENCE = 2.0


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
    """The sensor with a wrong clock, position or zero; None where there is no evidence, or no fixed
    sensor.

    `model` and `pde` are the answer, and `others` the prior of unknown functions.
    """
    if not _is_applicable(problem):
        return None
    rows = rows_of(model, pde, problem, points)
    if not (np.isfinite(rows.equation).all() and np.isfinite(rows.target).all()):
        return None
    return displaced_sensor_from(scanned(Rows(**{**vars(rows), "others": others})), model, problem)


def displaced_sensor_from(
    posteriors: Sequence[Solved], model: AbstractFieldModel, problem: Problem
) -> DisplacedSensor | None:
    """The same from posteriors whose readings are those of the problem, in its order; `model` is
    the answer.
    """
    if not _is_applicable(problem):
        return None
    sensor_of = sensors(problem.observations)
    without = max(solved.evidence for solved in posteriors)
    hypotheses = list(_hypotheses(model, problem, sensor_of))
    gains = np.array(
        [
            max(one.evidence_beside(column) for one in posteriors) - without
            for *_, column in hypotheses
        ]
    )
    evidence = float(logsumexp(gains) - np.log(len(gains)))
    if not evidence > MIN_LOG_EVIDENCE:
        return None
    sensor, cause, _ = hypotheses[int(np.argmax(gains))]
    place = _place_of(problem, sensor_of, sensor)
    return DisplacedSensor(place, cause, evidence)


def _is_applicable(problem: Problem) -> bool:
    """Whether there are fixed sensors with normal noise, and an equation that relates them."""
    is_normal = problem.likelihood == "gauss"
    has_equation = bool(problem.equation_scales)
    return is_normal and has_equation and sensors(problem.observations) is not None


def _slopes(model: AbstractFieldModel, problem: Problem) -> Float[np.ndarray, "n c d"]:
    """The derivatives of the fields at the readings, in units of their spreads over each axis."""
    extent, spread = problem.domain.extent, np.asarray(model.scaling.spread, float)
    with beside_numpy():
        exact, readings = cast((model, problem.observations), jnp.float64)
        context = exact.encode(readings)
        slope = jax.vmap(jax.jacfwd(lambda z: exact.decode(context, z)))
        found = np.asarray(slope(jnp.asarray(readings.points)))
    return found * np.asarray(extent, float) / spread[:, None]


def _hypotheses(model: AbstractFieldModel, problem: Problem, sensor_of):
    """(sensor, cause, error of the readings by a fault of usual size), in units of the spread."""
    readings = problem.observations
    measured = [readings.measured(name).rows for name in readings.fields]
    slopes = _slopes(model, problem)
    by_cause = {
        "clock" if axis == "t" else axis: slopes[..., k] for k, axis in enumerate(readings.coords)
    }
    parts = {
        cause: np.concatenate([own[rows, c] for c, rows in enumerate(measured)])
        for cause, own in by_cause.items()
    }
    field = np.repeat(np.arange(len(measured)), [len(rows) for rows in measured])
    parts |= {
        f"zero of {name}": (field == c).astype(float) for c, name in enumerate(readings.fields)
    }
    of_sensor = sensor_of[np.concatenate(measured)]
    for sensor in np.unique(of_sensor):
        for cause, column in parts.items():
            own = np.where(of_sensor == sensor, USUAL_FAULT * column, 0.0)
            if own.any():
                yield int(sensor), cause, own


def _place_of(problem: Problem, sensor_of, sensor: int) -> tuple[float, ...]:
    """The position of a sensor along the axes of space, in physical coordinates."""
    readings = problem.origin.physical(problem.observations)
    first = np.asarray(readings.points, float)[np.flatnonzero(sensor_of == sensor)[0]]
    return tuple(float(at) for at, axis in zip(first, readings.coords, strict=True) if axis != "t")
