"""The evidence of sets of terms that an equation may lack, from one solution with a discrepancy.

The equation F(u) = q is fitted with its discrepancy q, a smooth unknown source. The fitted field u is
then close to the true one, although the equation is not. Linearized there, the readings depend on
everything unknown and on the coefficients c of the terms as

    y = y(u) + S_θ δθ - S_q q + Σ_k S_k c_k + noise

where S_k is the response of the readings to the source g_k(u), a score of the Lagrange multiplier test.
The discrepancy is now replaced by terms: for each set of terms this is a linear-Gaussian model, whose
evidence takes milliseconds. No derivative of a reading is computed: the solver maps sources to readings.

A coefficient has the prior N(0, s_k²), with which its term is as large as the other terms of the
equation. The evidence therefore counts it as a cost that a term may have any such coefficient.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from pgt.core.unknown import Unknown, named_unknowns
from pgt.inference.evidence import fit_posterior
from pgt.inference.linear_gaussian import Rows
from pgt.methods.solver.collocation import Grid, linearize
from pgt.methods.solver.solution_fit import Fitted, Prior, Search
from pgt.methods.solver.statement import FunctionValue, raws_of, with_more_terms
from pgt.methods.solver.time_stepping import Readout, Settings, solve_on
from pgt.methods.solver.unknown_functions import Unknowns
from pgt.physics.coefficient_tree import current
from pgt.physics.extended_equation import ExtendedEquation
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import Bordered, bare

# A term is taken if it raises the log-evidence by this much more than the logarithm of the number of
# candidates: the odds are then 20 to 1 although many were tried. Less finds weaker terms, and false ones.
MIN_GAIN = 3.0
# Of more candidates than this, only the best are combined in pairs, which limits the time.
MAX_PAIRED = 15
MAX_TERMS = 4  # further terms are seldom determined by some hundred readings


class SetEvidence(NamedTuple):
    """A set of terms with its log-evidence, the noise level in units of the spread, and the coefficients
    and their standard deviations, in the order of the set."""

    terms: tuple[str, ...]
    evidence: float
    sigma: float
    coefficients: Float[np.ndarray, " k"]
    deviations: Float[np.ndarray, " k"]

    @property
    def estimates(self) -> list[tuple[float, float]]:
        """The coefficients with their standard deviations."""
        pairs = zip(self.coefficients.tolist(), self.deviations.tolist(), strict=True)
        return list(pairs)

    @property
    def by_term(self) -> dict[str, float]:
        """The coefficients by term."""
        return dict(zip(self.terms, self.coefficients.tolist(), strict=True))


class TermEvidence:
    """The evidence of sets of terms, at a fit with a discrepancy."""

    def __init__(self, search: Search, fitted: Fitted, terms: Sequence[str]):
        """`fitted` is the fit of `search`, whose equation is an `ExtendedEquation` with a discrepancy;
        it may have some of the `terms` already."""
        self.search, self.cache = search, {}
        solution, old = fitted.solution, search.unknowns
        pde = _with_terms(fitted.pde, terms)
        conditions = search.task.problem.conditions
        problem = with_more_terms(search.problem, pde, conditions)
        unknowns = Unknowns(problem, old.scaling, lengths=old.lengths)
        raws = raws_of(pde)
        unknown = np.concatenate([solution.unknown[: old.raws.start], raws])
        grid = Grid(problem, solution.grid.meshes, solution.grid.time_points)
        same = solve_on(
            grid, unknowns, unknown, solution.steps, Settings(search.tolerance), solution
        )
        readout = Readout(search.sensors, same)
        slopes = readout.slopes(same)

        names = [name for name, _ in named_unknowns(pde)]
        column_of = dict(zip(names, range(unknowns.raws.start, unknowns.raws.stop), strict=True))
        scales = self._scales(grid, unknowns, same, [column_of[term] for term in terms])
        self.terms = tuple(term for term, scale in zip(terms, scales, strict=True) if scale > 0)
        self.scales = scales[scales > 0]

        # The other unknowns, counted from their first values: in the old and in the new vector.
        is_source = np.zeros(old.count, bool)
        for part in old.parts:
            is_source[part.columns] |= isinstance(part.what, FunctionValue)
        functions = np.flatnonzero(~is_source[: old.raws.start])
        old_names = [name for name, _ in named_unknowns(search.problem.pde)]
        shared = [
            (old.raws.start + k, column_of[n]) for k, n in enumerate(old_names) if n not in terms
        ]
        before = np.concatenate([functions, [k for k, _ in shared]]).astype(int)
        after = np.concatenate([functions, [k for _, k in shared]]).astype(int)
        first = np.zeros(unknowns.count)
        first[after] = search.first[before]

        predicted = readout.values(same)
        values = search.sensors.values - predicted + slopes @ (unknown - first)
        self.values = values - slopes[:, after] @ search.prior.mean[before]
        root = np.asarray(np.linalg.qr(search.prior.root[before].T, mode="r")).T
        self.others = slopes[:, after] @ root
        self.responses = slopes[:, [column_of[term] for term in self.terms]] * self.scales

    def _scales(self, grid, unknowns, solution, columns) -> Float[np.ndarray, " k"]:
        """The coefficients with which terms are as large as the other terms of their equation; 0 for
        terms that vanish."""
        numbers = np.stack([stage.numbers for stage in solution.stages])
        boundary = unknowns.boundary_values(grid, solution.unknown)
        rows = linearize(
            grid, numbers, np.array(solution.steps), solution.unknown[unknowns.raws], boundary
        )
        spread = np.asarray(unknowns.scaling.spread, float)
        sources = [spread[function.field] for function in unknowns.problem.functions]
        scales = np.zeros(len(columns))
        for size, (_, by_raw) in zip(sources, rows.others, strict=False):
            own = np.sqrt(np.mean(by_raw**2, axis=(0, 1)))[np.array(columns) - unknowns.raws.start]
            scales = np.where(own > 0, size / np.maximum(own, 1e-300), scales)
        return scales

    def of(self, terms: Collection[str]) -> SetEvidence:
        """The evidence of a set of terms in the place of the discrepancy."""
        chosen = tuple(term for term in self.terms if term in terms)
        if chosen not in self.cache:
            self.cache[chosen] = self._compute(chosen)
        return self.cache[chosen]

    def _compute(self, chosen: tuple[str, ...]) -> SetEvidence:
        columns = [self.terms.index(term) for term in chosen]
        slopes = np.concatenate([self.others, self.responses[:, columns]], axis=1)
        count, sensors = slopes.shape[1], self.search.sensors
        rows = Rows(
            np.zeros((0, count)), np.zeros(0), slopes, self.values, sensors.relative,
            sensors.common, sensors.fields, errors=self.search.task.problem.sensor_errors,
        )  # fmt: skip
        likelihood = self.search.task.problem.likelihood
        solved = fit_posterior(rows, likelihood, basis=Prior(np.eye(count)))
        start, scales = count - len(columns), self.scales[columns]
        return SetEvidence(
            chosen, solved.evidence, solved.sigma, solved.weights[start:] * scales,
            solved.spread(np.eye(count)[start:]) * scales,
        )  # fmt: skip

    @property
    def penalty(self) -> float:
        """The log-evidence that every term must be worth."""
        return MIN_GAIN + float(np.log(max(len(self.terms), 1)))

    def score(self, terms: Collection[str]) -> float:
        """The log-evidence of a set less the penalty of its terms."""
        found = self.of(terms)
        return found.evidence - self.penalty * len(found.terms)

    def best(self, max_terms: int = MAX_TERMS) -> SetEvidence:
        """The set of the highest score: the best of all pairs, improved by single changes."""
        max_terms = min(max_terms, MAX_TERMS)
        best = max(self._small_sets(max_terms), key=self.score)
        while True:
            neighbors = self._neighbors(best, max_terms)
            following = max(neighbors, key=self.score, default=best)
            if self.score(following) <= self.score(best):
                return self.of(best)
            best = following

    def _small_sets(self, max_terms: int) -> Iterator[tuple[str, ...]]:
        """The empty set, single terms, and pairs of the best of these."""
        yield ()
        yield from ((term,) for term in self.terms)
        if max_terms > 1:
            ordered = sorted(self.terms, key=lambda term: -self.score((term,)))
            yield from combinations(ordered[:MAX_PAIRED], 2)

    def _neighbors(self, terms: Collection[str], max_terms: int) -> Iterator[tuple[str, ...]]:
        """The sets with one term more, less, or replaced."""
        others = [term for term in self.terms if term not in terms]
        rests = [tuple(t for t in terms if t != term) for term in terms]
        yield from rests
        for rest in [*rests, *([tuple(terms)] if len(terms) < max_terms else [])]:
            yield from ((*rest, term) for term in others)

    def gains(self, terms: Collection[str]) -> dict[str, float]:
        """By term, what the log-evidence gains from it beside the others of a set."""
        return {
            term: self.of({*terms, term}).evidence - self.of(set(terms) - {term}).evidence
            for term in self.terms
        }


def _with_terms(pde: AbstractPDE, terms: Sequence[str]) -> AbstractPDE:
    """The equation with all terms, those that it lacks with the coefficient zero. All are multiples of
    1."""
    extended = bare(pde)
    assert isinstance(extended, ExtendedEquation)
    values: Mapping[str, float] = {t: float(current(c)) for t, c in extended.coefficients.items()}
    with jax.enable_x64(True):
        coefficients = {t: Unknown(values.get(t, 0.0), unit=1.0) for t in {*terms, *values}}
        complete = ExtendedEquation(extended.pde, coefficients, discrepancy=True)
    if isinstance(pde, Bordered):
        return Bordered(complete, pde.on_walls, pde.functions, pde.multiply)
    return complete
