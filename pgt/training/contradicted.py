"""Which conditions the readings contradict.

A condition that is given counts as exactly as the equation. Where a few readings contradict it, the most
probable fit takes them for noisy, or equation and conditions for soft, and nothing in its posterior tells
that one of the rows is wrong. So the rows of every condition are left out in turn, and the problem,
linearised at the field that was found, is solved once more for all of its scales. The readings are more
probable with a condition that holds: it says something of them. They are less probable with one that
does not, and the logarithm of that ratio is the evidence against it. On the scale of Kass and Raftery
(1995) more than 5 is very strong.

The difference between the two fields is what the condition does to the answer.
"""

import time
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from jaxtyping import Float

from pgt.models.features import Features
from pgt.physics.conditions import AbstractCondition, AbstractWallCondition
from pgt.physics.pde import AbstractPDE
from pgt.training.feature_rows import field_rows, nodes_of, rows_of
from pgt.training.gaussian import Solved, most_probable
from pgt.training.losses import Problem

VERY_STRONG = 5.0  # of the log-evidence, by Kass and Raftery
PLACES = 256  # where two fields are compared


@dataclass(frozen=True)
class Contradicted:
    """A condition in words, the log-evidence of the readings against it, and by field how far the field
    is from the one without it: the root mean square over the domain, in units of its spread."""

    condition: str
    evidence: float
    changes: tuple[float, ...]

    @property
    def sigmas(self) -> float:
        """As many standard deviations of a normal number have that evidence against them."""
        return sqrt(2 * self.evidence)


def contradicted(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others: Float[np.ndarray, " k"] | None = None,
    seconds: float | None = None,
) -> list[Contradicted]:
    """The conditions that readings contradict, the worst first; `model` and `pde` are the answer, and
    `others` the prior of unknown functions. After so many `seconds` no further condition is tried."""
    asked = [k for k, one in enumerate(problem.conditions) if one.kind != "gauge"]
    if not asked or problem.likelihood != "gauss":
        return []
    began, found, answer = time.monotonic(), [], None
    there = field_rows(model, nodes_of(problem.domain, PLACES))
    for number, left_out in enumerate(asked):
        each = (time.monotonic() - began) / max(number, 1)
        if seconds is not None and time.monotonic() - began + each > seconds:
            break
        answer = answer or _solved(model, pde, problem, points, others)
        without = _solved(model, pde, _without(problem, left_out), points, others)
        if answer is None or without is None:
            break
        evidence = without.peak.evidence - answer.peak.evidence
        if evidence > VERY_STRONG:
            change = _values(model, without, there) - _values(model, answer, there)
            sizes = np.sqrt(np.mean(change**2, axis=0)).tolist()
            name = in_words(problem.conditions[left_out])
            found.append(Contradicted(name, evidence, tuple(sizes)))
    return sorted(found, key=lambda one: -one.evidence)


def in_words(condition: AbstractCondition) -> str:
    """A condition by its kind and where it holds.

    >>> import pgt
    >>> in_words(pgt.Dirichlet("x", side="lower", u=0.0)), in_words(pgt.Initial(u=0.0))
    ('Dirichlet at the lower end of x', 'Initial')
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


def _without(problem: Problem, number: int) -> Problem:
    """The same without one condition."""
    pairs = zip(problem.conditions, problem.condition_scales, strict=True)
    kept = [pair for k, pair in enumerate(pairs) if k != number]
    conditions, scales = zip(*kept, strict=True) if kept else ((), ())
    return replace(problem, conditions=conditions, condition_scales=scales)


def _solved(model, pde, problem: Problem, points: int, others) -> Solved | None:
    """The posterior by the rows linearised at the answer; None where these are no numbers."""
    rows = replace(rows_of(model, pde, problem, points), others=others)
    is_finite = np.isfinite(rows.equation).all() and np.isfinite(rows.target).all()
    return most_probable(rows) if is_finite else None


def _values(model: Features, solved: Solved, there: Float[np.ndarray, "n m"]):
    """The fields at places, in units of their spread."""
    shape = model.network.readout.shape
    return there @ solved.weights[: shape[0] * shape[1]].reshape(shape).T
