"""Which conditions the readings contradict.

A condition that is given counts as exactly as the equation. Where a few readings contradict it, the most
probable fit takes them for noisy, or equation and conditions for soft, and nothing in its posterior tells
that one of the rows is wrong. So the rows of every condition are left out in turn, and the problem,
linearised at the field that was found, is solved once more for all of its scales. The readings are more
probable with a condition that holds: it says something of them. They are less probable with one that
does not, and the logarithm of that ratio is the evidence against it. On the scale of Kass and Raftery
(1995) more than 5 is very strong.

The difference between the two fields is what the condition does to the answer.

That ratio alone does not name every wrong condition. Without an initial state, say, the most probable
answer to a wrong wall is often a narrow band in which equation and condition are both so soft that the
field passes by the wall, and there the readings tell nothing for or against it. But then the answer
itself does not fulfill the condition, at most of its nodes, by a large share of its typical size: one of
the two is wrong, like an equation of whose terms that much is left over.
"""

import time
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from jaxtyping import Float

from pgt.models.features import Features
from pgt.physics.conditions import AbstractCondition, AbstractWallCondition
from pgt.physics.pde import AbstractPDE
from pgt.training.feature_rows import condition_misses, field_rows, nodes_of, rows_of
from pgt.training.gaussian import Solved, most_probable
from pgt.training.losses import Problem

VERY_STRONG = 5.0  # of the log-evidence, by Kass and Raftery
MISSED = (
    0.25  # of the typical size of a condition: the share at which an equation does not hold either
)
PLACES = 256  # where two fields are compared


@dataclass(frozen=True)
class Contradicted:
    """A condition in words, the log-evidence of the readings against it, and by field how far the field
    is from the one without it: the root mean square over the domain, in units of its spread. `missed`: by
    what share of its typical size the answer misses the condition at half of its nodes. Where that alone
    tells, the evidence and the changes are 0."""

    condition: str
    evidence: float
    changes: tuple[float, ...]
    missed: float = 0.0

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
    misses = condition_misses(model, pde, problem, points) if asked else []
    # A wrong condition draws the others away: what is missed much less than the worst is not at fault.
    limit = max(MISSED, max((misses[k] for k in asked), default=0.0) / 2)
    none = (0.0,) * len(model.network.readout)
    found = {k: Contradicted("", 0.0, none) for k in asked if misses[k] >= limit}
    for k, evidence, changes in _against(model, pde, problem, points, others, seconds):
        found[k] = Contradicted("", evidence, changes)
    named = [
        replace(one, condition=in_words(problem.conditions[k]), missed=misses[k])
        for k, one in found.items()
    ]
    return sorted(named, key=lambda one: (-one.evidence, -one.missed))


def _against(model: Features, pde: AbstractPDE, problem: Problem, points: int, others, seconds):
    """The number of every condition that makes the readings less probable, by how much, and the changes
    of the fields without it."""
    asked = [k for k, one in enumerate(problem.conditions) if one.kind != "gauge"]
    if not asked or problem.likelihood != "gauss":
        return
    began, answer = time.monotonic(), None
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
            yield left_out, evidence, tuple(np.sqrt(np.mean(change**2, axis=0)).tolist())


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
