r"""The most probable system of a family behind readings, with a law that is taken for granted.

A system is its coefficients and independent standard normals z, from which the solver computes the
fields. `assimilate` minimizes

$$ \tfrac12 |z|^2 + \tfrac12 (y - G(z))^T R^{-1} (y - G(z)) $$

for readings y = G(z) + e with errors of variance R, by Gauss–Newton steps; one step suffices where the
solver is linear, and no other answer then has a smaller mean square error. An unknown noise level is that
of greatest evidence. While the linearization is inaccurate its error counts as noise, so that steps far
from the solution trust the readings less. Networks over a family are measured against this answer.
"""

import dataclasses
import math
from collections.abc import Mapping
from itertools import product
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy.special import ndtri

from pgt.core.arguments import Count, Limits
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.observations import Observations
from pgt.data.query_points import as_points
from pgt.families.family import AbstractFamily, as_family, known_coefficients
from pgt.families.fast_map import MAX_NOISE, compare_at, estimate_one, is_small
from pgt.families.field_posterior import (
    AxisRequest,
    FieldBand,
    LinearPosterior,
    condition_by_evidence,
    on_grid,
)
from pgt.families.laws.solved import AbstractSolved
from pgt.families.observation_operator import (
    FAST_NODES,
    FINE_NODES,
    AssimilationProblem,
    ObservationOperator,
    PointEvaluator,
    double_precision,
    problem_of,
)
from pgt.inference import linear_algebra
from pgt.physics.pde import AbstractPDE

DrawCount = Annotated[int, Limits(at_least=0)]
REACH = 1.6449  # The half-width of a band of 90 % in standard deviations.
# Noise levels that are tried, in units of the spread.
LEVELS = 1e-4 * 10 ** np.arange(0, 4.1, 0.25)
CONVERGED = 0.02  # The error of the linearization at the readings, in units of their noise.
MAX_HALVINGS = 6  # of a step
CHUNK = 32  # rows of the Jacobian that are computed together
DRAWS = 64  # The number of posterior draws that make the bands.
MAX_UNKNOWNS_FOR_DRAWS = 2000  # Up to this size bands are cheap and made by default.
# Noise above this level, in units of the spread, may come from a poor start of an unknown coefficient.
RESTART_NOISE = 0.03
START_VALUES = {
    1: 7,
    2: 4,
}  # Starting values per unknown coefficient, by the number of unknown ones.


class Assimilation(eqx.Module):
    """The most probable system behind readings, with bands by the Laplace approximation.

    `coefficients` holds the known and the estimated ones, `bands` the 90 % intervals of the latter.
    `noise_level` is the σ of readings without a given one, in units of the spread of their field.
    `spread` is the standard deviation of the fields at the family's nodes. `outside` says in words how
    the readings contradict the family; `is_lawful` says whether the answer may still be used.

    >>> import pgt
    >>> family = pgt.families.get("heat")
    >>> truth = family.dataset(family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> readings = pgt.sample(truth, n=40)
    >>> found = pgt.families.assimilate(family, readings, {"diffusivity": 0.02}, fast=True)
    >>> found.outside, sorted(found.grid().data_vars)
    ((), ['u', 'u_high', 'u_low'])
    """

    family: AbstractSolved
    coefficients: dict[str, float]
    bands: dict[str, tuple[float, float]]
    noise_level: float
    outside: tuple[str, ...]
    steps: int
    unknowns: Float[np.ndarray, " n"]
    spread: Float[np.ndarray, "*grid c"] | None
    is_lawful: bool = True

    @property
    def noise(self) -> Float[np.ndarray, "..."]:
        """The standard normals of the state."""
        shape = self.family.noise_shape
        return self.unknowns[: math.prod(shape)].reshape(shape)

    def mean_and_spread(
        self, points: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "m c"], Float[np.ndarray, "m c"]]:
        """Fields and standard deviations at points, one a row; NaN where no spread was computed."""
        shape = (*(len(line) for line in self.family.axes.values()), len(self.family.fields))
        table = np.full(shape, np.nan) if self.spread is None else self.spread
        with double_precision():
            at = PointEvaluator.of(self.family, np.asarray(points, float))
            numbers = {name: np.asarray(value) for name, value in self.coefficients.items()}
            mean, spread = _evaluate(at, jnp.asarray(self.unknowns), numbers, table)
            return np.asarray(mean), np.asarray(spread)

    def at(self, points: Float[np.ndarray, "m d"]) -> FieldBand:
        """The most probable field and its band at points, one a row."""
        mean, spread = self.mean_and_spread(as_points(points, self.family.domain))
        return FieldBand(mean, mean - REACH * spread, mean + REACH * spread, list(self.outside))

    def grid(self, **axes: AxisRequest) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid, by default at the family's nodes."""
        attributes = self.coefficients | {"outside": "; ".join(self.outside)}
        asked = axes or self.family.axes
        return on_grid(self.at, self.family.domain, self.family.fields, asked, attributes)


@checked
def assimilate(
    family: AbstractFamily | str,
    readings: Observations,
    coefficients: Mapping | AbstractPDE | None = None,
    *,
    fast: bool = False,
    draws: DrawCount | None = None,
    steps: Count = 25,
) -> Assimilation:
    """The most probable system of a family, given readings and the coefficients that are known.

    Parameters
    ----------
    family
        A family with a solver, or its name; its law is taken for granted.
    readings
        Readings of any of its fields, in its own units; unknown noise is estimated.
    coefficients
        The known ones; the others are estimated within the family's ranges.
    fast
        Search in one compiled program with the coarse solver, in milliseconds instead of seconds. It
        needs all coefficients and a family of few unknowns.
    draws
        The number of posterior draws for the bands; by default 64, and none for many unknowns. The fast
        search has its bands in closed form.
    steps
        The largest number of Gauss–Newton steps with the accurate solver.

    >>> import pgt
    >>> family = pgt.families.get("heat")
    >>> truth = family.dataset(family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> found = pgt.families.assimilate(family, pgt.sample(truth, n=40), {"diffusivity": 0.02})
    >>> bool(abs(found.grid().u - truth.u).max() < 1e-3), found.steps
    (True, 1)
    """
    solved = as_solved(as_family(family))
    if solved.unidentifiable:
        raise InputError(
            f"assimilate: readings of {solved.name} do not determine its state: "
            f"{solved.unidentifiable}; use pgt.reconstruct with the equation."
        )
    readings = readings.wrapped(solved.domain).aligned(solved.fields)
    readings.check_inside(solved.domain)
    known = known_coefficients(solved, coefficients)
    if fast:
        return _assimilate_fast(solved, readings, known)
    with double_precision():
        problem = problem_of(solved, readings, known, FINE_NODES)
        found = _search(solved, problem, readings, known, steps)
        cheap = problem.operator.size <= MAX_UNKNOWNS_FOR_DRAWS
        count = (DRAWS if cheap else 0) if draws is None else draws
        return _checked_law(_summary(solved, problem, found, count), problem)


def as_solved(family: AbstractFamily) -> AbstractSolved:
    """The family, which must have a solver."""
    if not isinstance(family, AbstractSolved):
        raise InputError(
            f"assimilate: {family.name} holds systems and computes none; give a family that solves its "
            "equation (a subclass of `pgt.families.AbstractSolved`)."
        )
    return family


def _assimilate_fast(
    family: AbstractSolved, readings: Observations, known: dict[str, float]
) -> Assimilation:
    missing = [name for name in family.ranges if name not in known]
    if missing or not is_small(family):
        reason = f"needs the coefficient {missing[0]!r}" if missing else "needs fewer unknowns"
        raise InputError(f"assimilate(fast=True) of {family.name} {reason}; leave fast=False.")
    with double_precision():
        problem = problem_of(family, readings, known, FAST_NODES)
        found = jax.tree.map(np.asarray, estimate_one(problem, family))
    has_noise, real = bool(problem.is_given.any()), problem.is_real
    noise = float(found.level) * float(np.median((problem.sigma / problem.unit)[real]))
    lawful = bool(found.is_lawful(has_noise))
    outside = found.comparison.doubts(known) if lawful else found.contradictions(has_noise, noise)
    return Assimilation(
        family, known, {}, noise, tuple(outside), int(found.steps), found.unknowns, found.spread,
        lawful,
    )  # fmt: skip


# ------------------------------------------------------------------------------- the accurate search


class _SearchResult(NamedTuple):
    """The most probable z, its posterior, the noise level, and the error of the last linearization in
    units of the noise."""

    mean: Float[np.ndarray, " n"]
    posterior: LinearPosterior
    level: float
    missed: float
    steps: int


def _search(
    family: AbstractSolved,
    problem: AssimilationProblem,
    readings: Observations,
    known: dict[str, float],
    steps: int,
) -> _SearchResult:
    """From the mean of the law and, for unknown coefficients, from other starts where that fails."""
    operator = problem.operator
    is_known = len(known) == len(family.ranges)
    zero = np.zeros(operator.size)
    found = _gauss_newton(problem, zero, 1)
    if found.missed > CONVERGED and steps > 1:  # The solver is not linear.
        start = found.mean
        if is_known and is_small(family):  # The fast search is cheaper than one accurate step.
            quick = _assimilate_fast(family, readings, known)
            start = quick.unknowns if quick.is_lawful else start
        found = _gauss_newton(problem, np.asarray(start), steps - 1)
    if not is_known and (found.level > RESTART_NOISE or found.missed > 1):
        again = _gauss_newton(problem, _coefficient_start(problem, zero), steps)
        found = min(found, again, key=lambda f: f.posterior.cost)
    return found


def _gauss_newton(
    problem: AssimilationProblem, start: Float[np.ndarray, " n"], most: int
) -> _SearchResult:
    """At most `most` steps, each as long as it lowers the cost."""
    real, operator = problem.is_real, problem.operator
    values, unit = problem.values[real], problem.unit[real]
    known = np.where(problem.is_given, problem.sigma, 0.0)[real]
    coarse, last = operator.coarse(), {}

    def read(z):
        if z.tobytes() not in last:  # A step starts where the last one ended.
            last.clear()
            last[z.tobytes()] = np.asarray(_readings(operator, jnp.asarray(z)))[real]
        return last[z.tobytes()]

    def variances(everywhere: bool):
        """With noise at every level where σ is unknown, or `everywhere`."""
        is_open = (known == 0) | everywhere
        levels = LEVELS if is_open.any() else LEVELS[:1]
        return [known**2 + (np.where(is_open, level, 0.0) * unit) ** 2 for level in levels]

    # The given σ is trusted only where the linearization is accurate.
    cautions = (True, False) if (known > 0).any() else (True,)
    z, step = start, 0
    while True:
        here = read(z)
        # The coarse solver suffices for derivatives: the readings decide where a step ends.
        rows = linear_algebra.local(np.asarray(_rows(coarse, jnp.asarray(z)))[real])
        origin = here - np.asarray(
            rows @ linear_algebra.local(z)
        )  # The linearized readings: origin + J z.
        step += 1
        for everywhere in cautions:
            posterior, number = condition_by_evidence(rows, values - origin, variances(everywhere))
            found, reached = _line_search(read, values, here, z, posterior)
            expected = origin + np.asarray(rows @ linear_algebra.local(found))
            missed = float(np.sqrt(np.mean((reached - expected) ** 2 / posterior.variance)))
            is_converged = missed < CONVERGED and found is posterior.mean
            if not is_converged:
                break
        z = found
        if is_converged or step >= most:
            return _SearchResult(z, posterior, float(LEVELS[number]), missed, step)


def _line_search(read, values, here, z, posterior: LinearPosterior):
    """The posterior mean, or a shorter step that lowers the cost; and the readings there."""

    def cost(z, here) -> float:
        return float(z @ z + np.sum((values - here) ** 2 / posterior.variance))

    before, share = cost(z, here), 1.0
    for _ in range(MAX_HALVINGS):
        found = posterior.mean if share == 1 else z + share * (posterior.mean - z)
        reached = np.asarray(read(found))
        if cost(found, reached) <= before * (1 + 1e-9):
            return found, reached
        share /= 2
    return found, reached


def _coefficient_start(problem: AssimilationProblem, start) -> Float[np.ndarray, " n"]:
    """A start with the unknown coefficients, of a few, that make the readings most probable."""
    operator = problem.operator
    names = [name for name in operator.family.ranges if name not in operator.known]
    if len(names) not in START_VALUES:
        return start
    count = START_VALUES[len(names)]
    normals = ndtri((np.arange(count) + 0.5) / count)
    size, best = math.prod(operator.family.noise_shape), (np.inf, start)
    for chosen in product(normals, repeat=len(names)):
        held = operator.coefficients(jnp.concatenate([jnp.zeros(size), jnp.asarray(chosen)]))
        fixed = eqx.tree_at(lambda p: p.operator.known, problem, held)
        found = _gauss_newton(fixed, start[:size], 4)
        best = min(best, (found.posterior.cost, np.append(found.mean, chosen)), key=lambda b: b[0])
    return best[1]


# ------------------------------------------------------------------------------- the summary


def _summary(
    family: AbstractSolved, problem: AssimilationProblem, found: _SearchResult, draws: int
) -> Assimilation:
    operator, spread, bands = problem.operator, None, {}
    coefficients = operator.coefficients(jnp.asarray(found.mean))
    if draws:
        own = eqx.tree_at(lambda a: a.family, operator, family)
        drawn = jnp.asarray(found.mean + found.posterior.draw(0, draws))
        spread = np.asarray(_spread(own, jnp.asarray(found.mean), drawn))
        bands = {
            name: tuple(np.quantile(values, (0.05, 0.95)).tolist())
            for name, values in jax.vmap(operator.coefficients)(drawn).items()
            if name not in operator.known
        }
    numbers = {name: float(value) for name, value in coefficients.items()}
    return Assimilation(
        family, numbers, bands, found.level, _contradictions(problem, found), found.steps,
        found.mean, spread,
    )  # fmt: skip


def _contradictions(problem: AssimilationProblem, found: _SearchResult) -> tuple[str, ...]:
    sentences, given = [], problem.is_given[problem.is_real]
    ratio = found.posterior.chi_square / len(given)
    if given.all() and ratio > 1 + 5 * math.sqrt(2 / len(given)):
        sentences.append(
            f"the readings are {math.sqrt(ratio):.1f} times as far from the family's mean as its own are"
        )
    if not given.all() and found.level > MAX_NOISE:
        sentences.append(
            f"no system of the family comes nearer to its readings than {100 * found.level:.0f} % of them"
        )
    if found.missed > 1:
        sentences.append(f"after {found.steps} steps the search has not converged")
    return tuple(sentences)


def _checked_law(answer: Assimilation, problem: AssimilationProblem) -> Assimilation:
    """With the comparison of laws, where that is cheap."""
    known = {name: float(value) for name, value in problem.operator.known.items()}
    if not is_small(answer.family) or not known:
        return answer
    comparison, distance = jax.tree.map(
        np.asarray, compare_at(problem, answer.family, jnp.asarray(answer.unknowns))
    )
    outside = (*answer.outside, *comparison.doubts(known))
    spread = None if answer.spread is None else np.hypot(answer.spread, distance)
    return dataclasses.replace(answer, outside=outside, spread=spread)


@eqx.filter_jit
def _readings(operator: ObservationOperator, unknowns):
    return operator(unknowns)


@eqx.filter_jit
def _rows(operator: ObservationOperator, unknowns):
    return readings_and_rows(operator, unknowns, len(operator.columns))[1]


def readings_and_rows(
    read, z: Float[Array, " n"], count: int
) -> tuple[Float[Array, " m"], Float[Array, "m n"]]:
    """`count` readings and their derivatives, by columns or by rows, whichever are fewer."""
    is_forward = z.size <= 2 * count
    # The barrier keeps the compiler from folding the solver into constants, which takes minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size if is_forward else count, dtype=z.dtype))
    if is_forward:
        here, push = jax.linearize(read, z)
        return here, jax.lax.map(push, units, batch_size=CHUNK).T
    here, pull = jax.vjp(read, z)
    return here, jax.lax.map(lambda unit: pull(unit)[0], units, batch_size=CHUNK)


@eqx.filter_jit
def _evaluate(at: PointEvaluator, unknowns, coefficients, spread):
    return at(unknowns, coefficients, spread)


@eqx.filter_jit
def _spread(operator: ObservationOperator, mean, draws):
    """The root mean square deviation of draws from a field, at every node."""
    center = operator.fields(mean)
    misses = jax.lax.map(lambda one: (operator.fields(one) - center) ** 2, draws, batch_size=8)
    return jnp.sqrt(jnp.mean(misses, axis=0))
