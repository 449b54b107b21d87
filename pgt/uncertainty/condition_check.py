"""Conditions that the readings contradict.

A condition counts as exactly as the equation. Where a few readings contradict it, the MAP estimate
explains them by noise or by a softer equation, and its posterior does not show that one of the rows
is wrong. So the rows of every condition are left out in turn, and the problem, linearized at the
field that was found, is solved once more with all of its scales. A condition that holds makes the
readings more probable; one that does not makes them less probable. The logarithm of that ratio is
the evidence against the condition. On the scale of Kass and Raftery (1995) more than 5 is very
strong.

The difference between the two fields is the effect of the condition on the answer.

The ratio alone does not find every wrong condition. Without an initial state, for example, the most
probable answer to a wrong wall is often a narrow layer in which equation and condition are both
soft, so that the readings carry no evidence about the wall. But then the answer itself violates the
condition, at most of its nodes, by a large share of its typical size: condition or equation is
wrong.
"""

import time
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from jaxtyping import Float

from pgt.inference.linear_gaussian import Solved, most_probable
from pgt.methods.closed_form.design_rows import condition_misses, field_rows, nodes_of, rows_of
from pgt.models.features import Features
from pgt.physics.conditions import AbstractCondition, AbstractWallCondition
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem

# Very strong evidence on the scale of Kass and Raftery.
MIN_LOG_EVIDENCE = 5.0
# A condition that is violated by more of its typical size does not hold; the same limit as for the
# residual of an equation.
MAX_RELATIVE_MISFIT = 0.25
# The number of places at which two fields are compared.
COMPARISON_POINTS = 256


@dataclass(frozen=True)
class ContradictedCondition:
    """A condition in words, with the evidence against it.

    Attributes
    ----------
    condition : the condition in words.
    evidence : the log-evidence of the readings against it; 0 where only the violation speaks
        against it.
    changes : by field, the root mean square difference to the field without the condition, in units
        of the field's spread.
    violation : the misfit of the answer at the median node, relative to the condition's typical size.
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

    `model` and `pde` are the answer, and `others` the prior of unknown functions. After `seconds`
    no further condition is tried.
    """
    tested = [k for k, one in enumerate(problem.conditions) if one.kind != "gauge"]
    violations = condition_misses(model, pde, problem, points) if tested else []
    # A wrong condition distorts the others: only those violated about as much as the worst are blamed.
    limit = max(MAX_RELATIVE_MISFIT, max((violations[k] for k in tested), default=0.0) / 2)
    none = (0.0,) * len(model.network.readout)
    found = {k: ContradictedCondition("", 0.0, none) for k in tested if violations[k] >= limit}
    for k, evidence, changes in _evidence_against_each(
        model, pde, problem, points, others, seconds, expected
    ):
        found[k] = ContradictedCondition("", evidence, changes)
    named = [
        replace(one, condition=describe_condition(problem.conditions[k]), violation=violations[k])
        for k, one in found.items()
    ]
    return sorted(named, key=lambda one: (-one.evidence, -one.violation))


def _evidence_against_each(
    model: Features,
    pde: AbstractPDE,
    problem: Problem,
    points: int,
    others,
    seconds,
    expected: float,
):
    """The number of every condition that makes the readings less probable, the log-evidence, and
    the changes of the fields without it.
    """
    tested = [k for k, one in enumerate(problem.conditions) if one.kind != "gauge"]
    if not tested or problem.likelihood != "gauss":
        return
    began, answer = time.monotonic(), None
    rows_at_places = field_rows(model, nodes_of(problem.domain, COMPARISON_POINTS))
    for number, left_out in enumerate(tested):
        # The first comparison solves twice: with all conditions and without one.
        each = (time.monotonic() - began) / number if number else 2 * expected
        if seconds is not None and time.monotonic() - began + each > seconds:
            break
        answer = answer or _solve_linearized(model, pde, problem, points, others)
        without = _solve_linearized(
            model, pde, _without_condition(problem, left_out), points, others
        )
        if answer is None or without is None:
            break
        evidence = without.peak.evidence - answer.peak.evidence
        if evidence > MIN_LOG_EVIDENCE:
            change = _field_values(model, without, rows_at_places) - _field_values(
                model, answer, rows_at_places
            )
            yield left_out, evidence, tuple(np.sqrt(np.mean(change**2, axis=0)).tolist())


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


def _solve_linearized(model, pde, problem: Problem, points: int, others) -> Solved | None:
    """The posterior by the rows linearized at the answer; None where they are not finite."""
    rows = replace(rows_of(model, pde, problem, points), others=others)
    is_finite = np.isfinite(rows.equation).all() and np.isfinite(rows.target).all()
    return most_probable(rows) if is_finite else None


def _field_values(model: Features, solved: Solved, rows_at_places: Float[np.ndarray, "n m"]):
    """The fields at places, in units of their spread."""
    network = model.network
    return rows_at_places @ network.readouts(solved.weights[None, : network.size])[0].T
