r"""Sensors that read as if their clock, their place or their zero were another.

What a sensor reads is then wrong along one direction, the derivative of the field in time or space at its
readings, or a constant. The most probable fit makes up for it by an equation that holds less strictly:
its residuals stay as small as the noise, and its posterior does not know that the field is wrong. So that
direction is set free, for one sensor and one cause after the other, and all scales are chosen once more,
the stiffness ρ of the equation as well. With B hypotheses, each as probable as any other before the
readings,

    log-evidence that one of them holds = log ( Σ exp(gain) / B )

where a gain is the logarithm of how much more probable the readings become. Readings that are what they
are said to be pay for the freedom: they lose. Every gain costs a product with what is decomposed anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp

from pgt.data.splits import sensors
from pgt.models.base import AbstractFieldModel
from pgt.models.features import Features
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.dense import beside_numpy
from pgt.training.feature_rows import rows_of
from pgt.training.gaussian import Rows, Solved, scanned
from pgt.training.losses import Problem

# Of the extent of an axis, and of the spread of a field: what is usual of wrong sensors.
MOVED = 0.1
# Of the log-evidence that one sensor is at fault; by Kass and Raftery (1995) 1 is positive, 3 strong. Of
# 12 sets that were right none came above -1, of 24 with a wrong clock or wrong places two stay below 2.
PLAIN = 2.0


@dataclass(frozen=True)
class Displaced:
    """The sensor that is at fault most probably, by its place; as if what of it were wrong; and the
    log-evidence that something is wrong with one of the sensors."""

    place: tuple[float, ...]
    cause: str
    evidence: float


def displaced(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others: Float[np.ndarray, " k"] | None = None,
) -> Displaced | None:
    """Whether some sensor reads as if it were elsewhere or late or off; `model` and `pde` are the answer,
    and `others` the prior of unknown functions. None where nothing says so, or no sensor stands still."""
    if not _are_asked(problem):
        return None
    rows = rows_of(model, pde, problem, points)
    if not (np.isfinite(rows.equation).all() and np.isfinite(rows.target).all()):
        return None
    return displaced_by(scanned(Rows(**{**vars(rows), "others": others})), model, problem)


def displaced_by(
    tried: Sequence[Solved], model: AbstractFieldModel, problem: Problem
) -> Displaced | None:
    """The same by posteriors whose readings are those of the problem, in its order; `model` is the
    answer."""
    if not _are_asked(problem):
        return None
    which = sensors(problem.observations)
    without = max(solved.evidence for solved in tried)
    asked = list(_hypotheses(model, problem, which))
    gains = np.array(
        [max(one.evidence_beside(column) for one in tried) - without for *_, column in asked]
    )
    evidence = float(logsumexp(gains) - np.log(len(gains)))
    if not evidence > PLAIN:
        return None
    sensor, cause, _ = asked[int(np.argmax(gains))]
    place = _place_of(problem, which, sensor)
    return Displaced(place, cause, evidence)


def _are_asked(problem: Problem) -> bool:
    """Whether there are sensors that stand still, with normal noise, and an equation between them."""
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


def _hypotheses(model: AbstractFieldModel, problem: Problem, which):
    """(sensor, cause, how its readings are wrong by the usual size of it), in units of the spread."""
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
    of_sensor = which[np.concatenate(measured)]
    for sensor in np.unique(of_sensor):
        for cause, column in parts.items():
            own = np.where(of_sensor == sensor, MOVED * column, 0.0)
            if own.any():
                yield int(sensor), cause, own


def _place_of(problem: Problem, which, sensor: int) -> tuple[float, ...]:
    """Along the axes of space, counted from zero."""
    readings = problem.origin.physical(problem.observations)
    first = np.asarray(readings.points, float)[np.flatnonzero(which == sensor)[0]]
    return tuple(float(at) for at, axis in zip(first, readings.coords, strict=True) if axis != "t")
