"""`discover`: the terms that an equation lacks, chosen from candidates by evidence.

1. The equation is fitted with its discrepancy, a smooth unknown source of a size of greatest evidence.
2. Sets of terms in the place of the discrepancy are compared by evidence (term_evidence.py).
3. The equation with the terms of the best set and with a discrepancy is fitted, and the sets are compared
   anew, until the set stays the same. A set has at most one term more than the one before: the first
   field may be so poor that terms make up for its errors.
4. The equation with these terms and without a discrepancy is fitted: coefficients and intervals.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import jax
import numpy as np
import pandas as pd
import scipy.special

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.machine import blas_threads
from pgt.core.numbers import number
from pgt.core.progress import ProgressBar
from pgt.core.unknown import Unknown
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.discovery.discrepancy import Discrepancy
from pgt.discovery.term_evidence import MAX_TERMS, SetEvidence, TermEvidence
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.solution_fit import MAX_SINGLE_THREADED, Fitted, Search, Unsolvable
from pgt.models.mesh_solution import Solver
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition
from pgt.physics.curved_coordinates import at_axis
from pgt.physics.derivatives import requested, residual_names
from pgt.physics.equation import over_range
from pgt.physics.extended_equation import IN, ExtendedEquation, formulas, named, split
from pgt.physics.pde import AbstractPDE
from pgt.physics.problem_inputs import Governing, Readings, Where, as_problem
from pgt.physics.unknown_conditions import bare
from pgt.problem.assembly import assemble
from pgt.training.settings import Training

# The limit on fits with a discrepancy: one for each term, and two for changes.
MAX_ROUNDS = MAX_TERMS + 2
# A fit with other terms and a discrepancy explains the readings as well as the best one. Where its noise
# level is larger by this factor, the fit is at a poor optimum, and its terms mean nothing.
MAX_NOISE_RATIO = 2.0
# The seconds of each fit. Nearly all take less than ten; others do not end without a limit.
FIT_SECONDS = 60.0
# The level of the intervals, as of other coefficients.
LEVEL = 0.9
# The number of points at which a discrepancy is evaluated.
DISCREPANCY_POINTS = 1000
NOT_SOLVED = (
    "The equation with these terms could not be solved: coefficients are those of a linearization."
)
NOT_CONFIRMED = (
    "A fit with these terms and a discrepancy did not confirm them: treat them as a guess."
)


@dataclass(frozen=True)
class FoundTerm:
    """A term that the readings ask for, on the right-hand side of an equation.

    Attributes
    ----------
    text : the term.
    equation : the name of the equation.
    coefficient, lower, upper : its coefficient, with the interval that holds it with 90 %.
    gain : the log-evidence that it adds to the equation with the other terms.

    >>> print(FoundTerm("u*u_x", "heat", -1.02, -1.05, -0.99, 87.0).in_words)
    −1.02*(u*u_x), with 90 % between −1.05 and −0.99
    """

    text: str
    equation: str
    coefficient: float
    lower: float
    upper: float
    gain: float

    @property
    def in_words(self) -> str:
        """The term with its coefficient and interval."""
        low, high = number(self.lower), number(self.upper)
        return f"{number(self.coefficient)}*({self.text}), with 90 % between {low} and {high}"


@dataclass(frozen=True)
class Discovery:
    """The result of `discover`.

    Attributes
    ----------
    terms : the terms that the readings ask for, the most important first; empty for a complete equation.
    candidates : a table of all candidates: the log-evidence `gain` of each `alone`, its coefficient
        then, and the gain `beside` the terms that were found.
    pde : the equation with these terms, whose coefficients are unknown: fit it with `reconstruct`.
    discrepancies : what the equation as given leaves unexplained, for each equation.
    remaining : what the equation with the terms leaves unexplained.
    noise : the noise level of the readings in units of their spread, as given, and with the terms.
    note : what could not be done; usually empty.
    seconds : the processor time.
    """

    terms: tuple[FoundTerm, ...]
    candidates: pd.DataFrame
    pde: AbstractPDE
    discrepancies: tuple[Discrepancy, ...]
    remaining: tuple[Discrepancy, ...]
    noise: tuple[float, float]
    note: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def in_words(self) -> str:
        """What was found, in sentences."""
        sentences = []
        if not self.terms:
            sentences.append("The readings ask for none of the candidates.")
        for term in self.terms:
            where = f" in {term.equation}" if len(self.discrepancies) > 1 else ""
            sentences.append(
                f"The readings ask for the term {term.in_words}{where} (log-evidence "
                f"{number(term.gain)})."
            )
        shown = self.remaining if self.terms else self.discrepancies
        for left in shown:
            if left.gain > 0:
                ask = "With these terms, readings" if self.terms else "Readings"
                sentences.append(f"{ask} ask for {left.in_words} in {left.equation}.")
        return " ".join([*sentences, *filter(None, [self.note])])

    def __str__(self) -> str:
        return self.in_words


@checked
def library(pde: AbstractPDE) -> tuple[str, ...]:
    """The candidates for an equation: about 12 for one field in one coordinate of space and time.

    >>> import pgt
    >>> library(pgt.Equation("u_t = 0"))
    ('1', 'u', 'u^2', 'u^3')
    >>> len(library(pgt.Heat(0.01)))
    12
    """
    names, space = requested(pde), [axis for axis in pde.coords if axis != "t"]
    rows = residual_names(pde)
    terms = ["1"]
    for name in pde.fields:
        terms += [name, f"{name}^2", f"{name}^3"]
        if f"{name}_tt" in names:
            terms += [f"{name}_t", f"{name}^2*{name}_t"]
        for axis in space:
            terms += [f"{name}_{axis}", f"{name}*{name}_{axis}"]
        if space == ["x"]:
            terms += [f"{name}_xx", f"{name}*{name}_xx", f"{name}_x^2"]
            terms += [f"{name}^2*{name}_x", f"{name}_xxx", f"{name}_xxxx"]
        elif space:
            terms += [f"lap({name})", f"{name}*lap({name})", f"dot(grad({name}), grad({name}))"]
    terms += [f"{a}*{b}" for k, a in enumerate(pde.fields) for b in pde.fields[k + 1 :]]
    if len(rows) == 1:
        return tuple(terms)
    return tuple(f"{term}{IN}{row}" for row in rows for term in terms)


@checked
def discover(
    observations: Readings,
    pde: Governing,
    domain: Where,
    conditions: Sequence[AbstractCondition] = (),
    *,
    terms: Sequence[str] = (),
    only: bool = False,
    training: Training | None = None,
    progress: bool | None = None,
) -> Discovery:
    """The terms that an equation lacks, chosen from candidates by evidence, with their coefficients.

    The equation is solved on a mesh, so that the domain is a box with at most two coordinates of space.
    It takes seconds in one of them.

    Parameters
    ----------
    observations, pde, domain, conditions
        As in `reconstruct`.
    terms
        Further candidates as text, such as "sin(u)", "x*u" or "u*v in equation_2".
    only
        Whether these are the only candidates; by default those of `library` are added.
    training
        The likelihood of the readings, and the `seconds` of each fit, by default 60.
    progress
        Whether to show a progress bar; default: if standard error is a terminal.

    >>> import pgt
    >>> line, walls = pgt.Domain(x=(0, 1), t=(0, 1)), [pgt.Dirichlet("x", u=0.0)]
    >>> truth = pgt.solve("u_t = 0.1*u_xx - u", line, [*walls, pgt.Initial(u="sin(pi*x)")])
    >>> grid = truth.grid(x=10, t=6)
    >>> found = discover(grid, "u_t = 0.1*u_xx", line, walls, terms=["u", "u^2"], only=True)
    >>> [(term.text, round(term.coefficient, 2)) for term in found.terms]
    [('u', -1.0)]
    """
    began = time.process_time()
    observations, pde, domain = as_problem(observations, pde, domain)
    conditions = at_axis(conditions, pde, domain)
    pde = over_range(pde, observations, domain, conditions)
    candidates = _candidates(pde, terms, only)
    problem = _Problem(
        observations, pde, domain, tuple(conditions), training or Training(seconds=FIT_SECONDS)
    )
    with (
        ProgressBar(progress, "discover") as bar,
        beside_numpy(),
        blas_threads(MAX_SINGLE_THREADED),
    ):
        found = _discovered(problem, candidates, bar)
    coefficients = {named(term.text, term.equation, pde): term.coefficient for term in found.terms}
    if coefficients:  # built here, in the precision in which it is fitted later
        found = replace(found, pde=ExtendedEquation(pde, _unknown(coefficients)))
    return replace(found, seconds=time.process_time() - began)


def _candidates(pde: AbstractPDE, terms: Sequence[str], only: bool) -> tuple[str, ...]:
    """All candidates, each once."""
    given = tuple(dict.fromkeys(terms))
    candidates = given if only else tuple(dict.fromkeys((*library(pde), *given)))
    if not candidates:
        raise InputError("discover(terms=[], only=True): there are no candidates; write some.")
    formulas([split(term, pde)[0] for term in candidates], pde)
    return candidates


@dataclass(frozen=True)
class _Problem:
    """What the user gave."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    training: Training

    def fit(
        self, coefficients: Mapping[str, float], bar: ProgressBar, *, discrepancy: bool
    ) -> tuple[Search, Fitted]:
        """The fit of the equation with these terms, from first values of their coefficients."""
        terms = {
            term: Unknown(value, unit=abs(value) or 1.0) for term, value in coefficients.items()
        }
        pde = ExtendedEquation(self.pde, terms, discrepancy=discrepancy)
        scaling = Scaling.fit(self.observations.aligned(pde.fields), self.domain)
        task = assemble(
            self.observations, pde, self.domain, self.conditions,
            model=lambda seed: Solver(scaling), training=self.training,
        )  # fmt: skip
        search = Search(task, lambda share, numbers: bar.update("fit", share, numbers))
        return search, search.best()


class _Round(NamedTuple):
    """A fit of the equation with some terms and a discrepancy, and the best set of terms there."""

    terms: frozenset[str]
    fitted: Fitted
    evidence: TermEvidence
    best: SetEvidence


def _rounds(problem: _Problem, candidates: tuple[str, ...], bar: ProgressBar) -> Iterator[_Round]:
    """Fits with a discrepancy, each with the best terms of the one before, until these stay the same."""
    coefficients: dict[str, float] = {}
    least_noise = np.inf
    for count in range(MAX_ROUNDS):
        try:
            search, fitted = problem.fit(coefficients, bar, discrepancy=True)
        except Unsolvable:
            if not count:
                raise
            return
        if fitted.sigma > MAX_NOISE_RATIO * least_noise:
            return
        least_noise = min(least_noise, fitted.sigma)
        evidence = TermEvidence(search, fitted, candidates)
        best = evidence.best(len(coefficients) + 1)
        yield _Round(frozenset(coefficients), fitted, evidence, best)
        if coefficients.keys() == set(best.terms):
            return
        coefficients = best.by_term


def _discovered(problem: _Problem, candidates: tuple[str, ...], bar: ProgressBar) -> Discovery:
    """The result, but for its equation and seconds."""
    rounds = list(_rounds(problem, candidates, bar))
    first, last = rounds[0], rounds[-1]
    none, gains = first.evidence.of(()), last.evidence.gains(last.best.terms)
    found, sigma, note = _final(problem, last.best, bar)
    if not note and last.terms != set(last.best.terms):
        note = NOT_CONFIRMED
    terms = tuple(
        FoundTerm(*split(term, problem.pde), *numbers, gains[term])
        for term, numbers in sorted(found.items(), key=lambda pair: -gains[pair[0]])
    )
    return Discovery(
        terms, _table(first.evidence, gains), problem.pde, _discrepancies(problem, first.fitted, none),
        _discrepancies(problem, last.fitted, last.best), (none.sigma, sigma), note,
    )  # fmt: skip


def _unknown(coefficients: Mapping[str, float]) -> dict[str, Unknown]:
    """Unknown coefficients that start from these values."""
    return {term: Unknown(value, unit=abs(value) or 1.0) for term, value in coefficients.items()}


def _final(problem: _Problem, best: SetEvidence, bar: ProgressBar):
    """The coefficients with their intervals by term, from a fit without a discrepancy; the noise level,
    and a note. Where the equation cannot be solved, they are those of the linearization."""
    quantile = float(scipy.special.ndtri((1 + LEVEL) / 2))
    estimates, sigma, note = list(best.estimates), best.sigma, ""
    if best.terms:
        try:
            _, fitted = problem.fit(best.by_term, bar, discrepancy=False)
        except Unsolvable:
            note = NOT_SOLVED
        else:
            extended, sigma = bare(fitted.pde), fitted.sigma
            assert isinstance(extended, ExtendedEquation)
            nodes = [(term, extended.coefficients[term]) for term in best.terms]
            estimates = [
                (float(node.value), fitted.learnt[term].deviation * node.unit)
                for term, node in nodes
                if isinstance(node, Unknown)
            ]
    intervals = {
        term: (float(value), float(value - quantile * sd), float(value + quantile * sd))
        for term, (value, sd) in zip(best.terms, estimates, strict=True)
    }
    return intervals, sigma, note


def _table(evidence: TermEvidence, beside: Mapping[str, float]) -> pd.DataFrame:
    """The table of candidates, the best first."""
    rows, none = [], evidence.of(()).evidence
    for term in evidence.terms:
        alone = evidence.of((term,))
        rows.append(
            {
                "term": term,
                "alone": alone.evidence - none,
                "coefficient": float(alone.coefficients[0]),
                "deviation": float(alone.deviations[0]),
                "beside": beside.get(term, np.nan),
            }
        )
    return pd.DataFrame(rows).sort_values("alone", ascending=False, ignore_index=True)


def _discrepancies(
    problem: _Problem, fitted: Fitted, without: SetEvidence
) -> tuple[Discrepancy, ...]:
    """The discrepancy of each equation at a fit; `without` is the equation that has none."""
    extended, fields = bare(fitted.pde), fitted.pde.fields
    assert isinstance(extended, ExtendedEquation)
    domain, origin = problem.domain, fitted.model.scaling.origin
    points = domain.even(DISCREPANCY_POINTS)
    local = origin.local(points, domain.axes)
    with jax.enable_x64(True):
        values = np.asarray(jax.vmap(lambda z: fitted.model.decode((), z))(local))
    deviations = fitted.deviations(local).std(axis=0)
    columns = dict(zip(domain.axes, points.T, strict=True))
    gain = fitted.solved.evidence - without.evidence
    return tuple(
        Discrepancy.of(row, columns, values[:, k], deviations[:, k], gain, domain.units)
        for row, k in zip(
            residual_names(problem.pde), map(fields.index, extended.functions), strict=True
        )
    )
