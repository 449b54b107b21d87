"""The field of sines with one band: by one solve, or by one after the other.

A linear equation with known coefficients is solved at once (linear_gaussian.py). Otherwise the rows are
linearised at the field found so far, again and again; the equation may only become a hundred times
stiffer from one time to the next, and only while that makes the readings more probable.

While a coefficient is wrong, the equation only spoils readings that are known to many digits, and the
most probable answer is to drop it. So where coefficients are to be learnt, readings lie under a veil:
they are first taken to be noisy, and then less and less so, as long as the equation is kept and
coefficients stay where a thicker veil showed them.


Unknown functions on their way from one linearisation of an equation to the next, and their prior.

A sum of sines of one band that are all alike is so smooth that a few readings say for certain what it is
everywhere: no function is like that. The weights of a function's sines become smaller with their
frequency instead, as those of a Matérn kernel do,

    T(w) = (1 + |c w / band|²)^(-(ν + d/2)/2)

whose functions have ν derivatives. Readings choose the band, and with it how fast they change.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.machine import blas_threads
from pgt.core.unknown import named_unknowns, resolve
from pgt.inference.equation_prior import Basis, ConditionalBasis
from pgt.inference.likelihood import FREEDOM, KNEE, NORMAL, Likelihood
from pgt.inference.linear_gaussian import CLEAN, CLOSE, Rows, Solved, most_probable
from pgt.methods.closed_form.design_rows import (
    COEFFICIENT_UNIT,
    field_rows,
    nodes_of,
    rows_of,
    weights_of,
    with_weights,
)
from pgt.methods.coefficients import (
    MAX_LOG_STEP,
    CoefficientEstimate,
    CoefficientSteps,
    are_settled,
    is_at_edge,
)
from pgt.models.exact_waves import Symbol
from pgt.models.features import Features, Sines
from pgt.nn.scaling import Scaling
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import Bordered, functions_of, wall_fields
from pgt.problem.assembly import Task
from pgt.problem.budget import ROWS_PER_WEIGHT, Deadline
from pgt.problem.field_scales import log_fields

PLACES = 5  # at which coefficients are compared
CONSTANT = 1e-10  # relative to the largest coefficient: what differs by less is the same
LEAST = 1e-12  # of the largest term of an equation: a source, or a term, that is none


def symbol_of(pde: AbstractPDE, scaling: Scaling) -> Symbol | None:
    """P(κ) of a linear equation P(∂) u = 0 in unit coordinates; None where coefficients are unknown or
    vary, where there is a source, or not as many equations as fields.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> [symbol_of(pde, scaling) is None for pde in (pgt.Heat(0.1), pgt.Equation("u_t = x*u_xx"))]
    [False, True]
    """
    if isinstance(pde, Bordered) or functions_of(pde) or named_unknowns(pde):
        return None
    known, names = resolve(pde), [n for n in requested(pde) if n not in pde.coords]
    with jax.enable_x64(True):
        found = [_coefficients(known, names, scaling, seed) for seed in range(PLACES)]
    slopes, sources = (np.stack(part) for part in zip(*found, strict=True))
    if not np.isfinite(slopes).all() or slopes.shape[1] != len(pde.fields):
        return None
    scale = np.max(np.abs(slopes), axis=(0, 2))
    varies = np.ptp(slopes, axis=0).max(axis=1) > CONSTANT * scale
    if not (scale > 0).all() or varies.any() or (np.abs(sources) > LEAST * scale).any():
        return None
    symbol = _symbol(pde, names, slopes[0], scaling)
    far = scaling.origin.along(pde.fields)
    return None if far.any() and not symbol.holds_constants else symbol


def _coefficients(pde: AbstractPDE, names: list[str], scaling: Scaling, seed: int):
    """The factors of all terms of the residuals of a linear equation, and the residuals of a field
    that is zero, at a random place."""
    random = np.random.default_rng(seed)
    place = np.asarray(scaling.from_unit(random.uniform(-1, 1, len(pde.coords))), float)
    place = place + scaling.origin.along(pde.coords)
    here = {axis: jnp.asarray(value) for axis, value in zip(pde.coords, place, strict=True)}

    def rows(values: Float[np.ndarray, " k"]) -> Float[np.ndarray, " e"]:
        table = DerivativeTable(dict(zip(names, jnp.asarray(values), strict=True)) | here)
        return np.array([float(row) for row in pde.residual(table).values()])

    nothing = rows(np.zeros(len(names)))
    drawn = random.uniform(1, 2, len(names))
    slopes = [(rows(column) - nothing) / d for column, d in zip(np.diag(drawn), drawn, strict=True)]
    return np.stack(slopes, axis=-1), nothing


def _symbol(
    pde: AbstractPDE, names: list[str], slopes: Float[np.ndarray, "c k"], scaling: Scaling
) -> Symbol:
    """The coefficients by the powers of κ in unit coordinates; every equation in its own unit."""
    half, spread = np.asarray(scaling.half_extent, float), np.asarray(scaling.spread, float)
    terms: dict[tuple[int, ...], np.ndarray] = {}
    for name, column in zip(names, slopes.T, strict=True):
        for field, along in _derivatives(name, pde):
            powers = np.bincount(np.asarray(along, int), minlength=len(pde.coords))
            factors = terms.setdefault(tuple(powers.tolist()), np.zeros((len(slopes),) * 2))
            factors[:, field] += column * spread[field] / np.prod(half[list(along)])
    factors = np.stack(list(terms.values()))
    factors /= np.max(np.abs(factors), axis=(0, 2))[:, None]
    return Symbol(np.array(list(terms), int), factors)


def _derivatives(name: str, pde: AbstractPDE) -> list[tuple[int, tuple[int, ...]]]:
    """The field, and the axes along which it is differentiated; those of a Laplacian one by one."""
    if not name.startswith(f"{LAPLACIAN}("):
        return [parse_name(name, pde.coords, pde.fields)]
    field = pde.fields.index(name[len(LAPLACIAN) + 1 : -1])
    return [(field, (a, a)) for a, axis in enumerate(pde.coords) if axis != "t"]


# ------------------------------------------------------------------------------- the solution

# The field of sines with one band: by one solve, or by one after the other.
#
# A linear equation with known coefficients is solved at once (linear_gaussian.py). Otherwise the rows are
# linearised at the field found so far, again and again; the equation may only become a hundred times
# stiffer from one time to the next, and only while that makes the readings more probable.
#
# While a coefficient is wrong, the equation only spoils readings that are known to many digits, and the
# most probable answer is to drop it. So where coefficients are to be learnt, readings lie under a veil:
# they are first taken to be noisy, and then less and less so, as long as the equation is kept and
# coefficients stay where a thicker veil showed them.
#
#
# Unknown functions on their way from one linearisation of an equation to the next, and their prior.
#
# A sum of sines of one band that are all alike is so smooth that a few readings say for certain
# what it is everywhere: no function is like that. The weights of a function's sines become smaller
# with their frequency instead, as those of a Matérn kernel do,
#
#     T(w) = (1 + |c w / band|²)^(-(ν + d/2)/2)
#
# whose functions have ν derivatives. Readings choose the band, and with it how fast they change.


SMOOTH = 2.5  # ν: derivatives that a function has
BENDS = 4.0  # c: the frequency from which on sines become smaller is such a part of the band
TESTED = 256  # places where a change of a function is looked at
RESTLESS = 0.02  # of a logarithm, or of the size of a function: such a change is not the last


class Functions:
    """Those of one task in one band. `prior` has the standard deviations of all weights that are not a
    field's own: of functions, then of coefficients; None where there are no functions."""

    def __init__(self, model: Features, task: Task):
        pde = task.pde
        functions = functions_of(pde)
        fields, self.count = model.network.readout.shape
        self.first = fields - len(functions)
        spread = np.asarray(model.scaling.spread, float)[self.first :]
        self.logs = np.array([name in log_fields(pde) for name in pde.fields[self.first :]], bool)
        self.units = np.where(self.logs, spread, 1.0)
        self.prior = None
        if functions:
            sines = model.network.sines
            assert model.band is not None  # a search says which
            self.seen = field_rows(model, nodes_of(task.problem.domain, TESTED))
            axes = [[pde.coords.index(a) for a in f.axes] for f in functions.values()]
            parts = [_smooth(sines, model.band, own) for own in axes]
            self.prior = np.concatenate([*parts, np.ones(len(named_unknowns(pde)))])

    def step(
        self, weights: Float[np.ndarray, " p"], step: Float[np.ndarray, " p"]
    ) -> tuple[float, bool]:
        """How much of a step is to be believed, and whether there is to be another."""
        if self.prior is None:
            return 1.0, False
        change, after = np.abs(self._values(step)), np.abs(self._values(weights + step))
        largest = np.max(change[self.logs], initial=0.0)
        size = np.where(self.logs, 1.0, after.max(axis=1))
        restless = bool(np.any(change.max(axis=1) > RESTLESS * size))
        return float(min(1.0, MAX_LOG_STEP / max(largest, MAX_LOG_STEP))), restless

    def _values(self, weights: Float[np.ndarray, " p"]) -> Float[np.ndarray, "k n"]:
        """Of the functions at some places; logarithms as they are."""
        begin, end = self.first * self.count, (self.first + len(self.units)) * self.count
        own = weights[begin:end].reshape(-1, self.count)
        return self.units[:, None] * (own @ self.seen.T)


def _smooth(sines: Sines, band: tuple[float, ...], axes: list[int]) -> Float[np.ndarray, " m"]:
    """T of every sine; functions of a shape count as the shortest waves."""
    waves = np.asarray(sines.frequencies, float)[:, axes] / np.asarray(band, float)[axes]
    power = -(SMOOTH + len(axes) / 2) / 2
    sizes = (1 + BENDS**2 * np.sum(waves**2, axis=1)) ** power
    return np.append(sizes, np.full(sines.count - len(sizes), sizes.min()))


NODES = 1024  # at least, where the equation holds
ITERATIONS = 40  # linearisations
STALE, GAIN = 3, 0.5  # those without such a gain of evidence before the end
VEILS = (3e-2, 3e-3, 3e-4, 3e-6, 3e-8)  # of the spread: noise that coefficients are found under
CONTRADICTED = 3.0  # standard deviations of a coefficient
DROPPED = 4.0  # log10 of ρ: an equation that becomes so much softer is no longer believed
SOFT = 2.0  # log10 of ρ at the first linearisation
REWEIGHTINGS = 8
# Rounds in which fields get a noise of their own, what is plainly not the same one, of how many readings
# that can be told, and by how much it may change in a round.
BALANCINGS, UNEQUAL, FEWEST_OF_A_FIELD, MOST_AT_ONCE = 4, 1.5, 10, (0.1, 10.0)
SILENT = 0.99  # of a standard deviation left of the prior's: nothing was said


# Model and equation, the posterior, what is learnt of coefficients, and the evidence under each veil.
Solution = tuple[Features, AbstractPDE, Solved, dict[str, CoefficientEstimate], dict[float, float]]


class Turned(NamedTuple):
    """Where linearisations ended: weights, the posterior, what is learnt of coefficients, and the seconds
    that the last of them took."""

    weights: Float[np.ndarray, " p"]
    solved: Solved
    learnt: dict[str, CoefficientEstimate]
    took: float


def points_of(model: Features, task: Task) -> int:
    """As many as make the rows of the equation outnumber the weights."""
    equations = max(len(task.problem.equation_scales), 1)
    return max(NODES, math.ceil(ROWS_PER_WEIGHT * model.network.readout.size / equations))


def solved_at_once(model: Features, task: Task, near: float | None = None) -> Solution:
    """With `near`, ρ is looked for there first: a third of the work where that is where it is."""
    rows = rows_of(model, task.pde, task.problem, points_of(model, task))
    if wall_fields(task.pde):
        rows = replace(rows, others=Functions(model, task).prior)
    solved = posterior_of(rows, task.problem.likelihood, near, loosely=True)
    if near is not None and abs(solved.peak.exponent - near) > CLOSE:  # better still beyond
        solved = posterior_of(rows, task.problem.likelihood, loosely=True)
    fitted, pde = with_weights(model, task.pde, solved.weights)
    return fitted, pde, solved, {}, {}


def solved_beside(model: Features, task: Task, priors: Iterable[Float[np.ndarray, " k"]]):
    """One solution for each prior of what stands in the equation; the equation is taken apart once."""
    rows = rows_of(model, task.pde, task.problem, points_of(model, task))
    first = None
    for others in priors:
        first = first or ConditionalBasis(rows.equation, rows.target, others)
        beside, basis = replace(rows, others=others), first.beside(others)
        solved = posterior_of(beside, task.problem.likelihood, loosely=True, basis=basis)
        yield *with_weights(model, task.pde, solved.weights), solved


def solved_in_turn(model: Features, task: Task, deadline: Deadline) -> Solution:
    """Linearised at the readings' own field first, then at the last field found."""
    alone = readings_alone(model, task)
    weights, fields = weights_of(model, task.pde), model.network.readout.size
    weights[:fields], near = alone.weights[:fields], SOFT
    veils = [veil for veil in VEILS if alone.sigma < veil] if named_unknowns(task.pde) else []
    found, evidences = None, {}
    for veil in (*veils, 0.0):
        if found is not None and not deadline.allows(found.took):
            break
        turned = _turns(model, task, deadline, (weights, near), veil)
        exponent = turned.solved.exponent
        if found is not None and (exponent < near - DROPPED or _contradicts(turned, found)):
            break
        found, evidences[veil] = turned, turned.solved.evidence
        weights, near = turned.weights, exponent
    assert found is not None  # the last of the veils is none
    fitted, pde = with_weights(model, task.pde, found.weights)
    return fitted, pde, found.solved, found.learnt, evidences


def _contradicts(turned: Turned, before: Turned) -> bool:
    """Whether a coefficient is far from where it was under a thicker veil: then sines cannot follow the
    field so closely, and the equation pays for it."""
    deviations = np.array([known.deviation for known in before.learnt.values()])
    moved = np.abs(turned.weights - before.weights)[len(before.weights) - len(deviations) :]
    return bool(np.any(COEFFICIENT_UNIT * moved > CONTRADICTED * deviations))


def _turns(
    model: Features,
    task: Task,
    deadline: Deadline,
    start: tuple[Float[np.ndarray, " p"], float],
    veil: float,
) -> Turned:
    """From weights and log10 ρ at the start to those of greatest evidence, under a `veil` of that much
    noise at least. While a coefficient is on its way, the evidence is that of another equation, and
    nothing found so far is kept."""
    pde, points, likelihood = task.pde, points_of(model, task), task.problem.likelihood
    coefficients, fields = CoefficientSteps(task.pde), model.network.readout.size
    functions = Functions(model, task)
    weights, near = start
    best, stale, took = None, 0, 0.0
    for _ in range(ITERATIONS):
        if best is not None and not deadline.allows(took):
            break
        before = deadline.spent
        model, pde = with_weights(model, pde, weights)
        rows = replace(rows_of(model, pde, task.problem, points), others=functions.prior)
        if not np.isfinite(rows.equation).all() or not np.isfinite(rows.target).all():
            break
        # While a coefficient is wrong, readings are missed by more than their noise: it is kept here.
        solved = posterior_of(veiled(rows, max(veil, rows.given or 0.0)), likelihood, near)
        took = deadline.spent - before
        raws, asked = (COEFFICIENT_UNIT * w[fields:] for w in (weights, solved.weights))
        learnt = coefficients.estimates(raws, asked, _deviations(solved, fields))
        step, near = solved.weights - weights, solved.exponent
        share, restless = functions.step(weights, step)
        weights = weights + share * step
        weights[fields:] = coefficients.step(raws, asked) / COEFFICIENT_UNIT
        moving = restless or not are_settled(learnt)
        moved = best is None or moving or not are_settled(best.learnt)
        if best is None or moved or solved.evidence > best.solved.evidence + GAIN:
            best, stale = Turned(weights, solved, learnt, took), 0
        else:
            stale += 1
        if stale >= (1 if veil else STALE) or is_at_edge(learnt):
            break
    if best is None:
        raise InputError(
            "the equation gives no finite number for the field that the readings alone suggest, such as "
            "a root or logarithm of a negative number: check its coefficients and units, or give a "
            "network as model=, which begins elsewhere."
        )
    return best


def readings_alone(model: Features, task: Task, veil: float = 0.0) -> Solved:
    """What they show without the equation, under that much noise at least."""
    rows = veiled(rows_of(model, task.pde, task.problem, 0), veil)
    return posterior_of(rows, task.problem.likelihood)


def veiled(rows: Rows, veil: float) -> Rows:
    """The same where σ of the readings is known to be at least that."""
    return replace(rows, veil=veil)


def _deviations(solved: Solved, fields: int) -> Float[np.ndarray, " k"]:
    """Of the numbers that are learnt for the coefficients, which are the last weights, by what equation
    and readings say of them alone: the prior may be as narrow as the readings are close together."""
    size = len(solved.weights)
    own = np.eye(size - fields, size, fields)
    shares = solved.spread(own) / np.sqrt(solved.scale)
    with np.errstate(divide="ignore"):
        told = shares / np.sqrt(np.maximum(1 - shares**2, 0))
    narrow = COEFFICIENT_UNIT * np.sqrt(solved.scale)
    return np.where(shares > SILENT, np.inf, narrow * told)


def posterior_of(
    rows: Rows,
    likelihood: Likelihood,
    near: float | None = None,
    *,
    loosely: bool = False,
    basis: Basis | ConditionalBasis | None = None,
) -> Solved:
    """The posterior; with outliers among the readings, each of them reweighted by its misfit."""
    with blas_threads(rows.equation.shape[1]):
        return _weighed(rows, likelihood, near, basis or rows.basis(), loosely=loosely)


def _weighed(
    rows: Rows,
    likelihood: Likelihood,
    near: float | None,
    basis: Basis | ConditionalBasis,
    *,
    loosely: bool,
) -> Solved:
    if likelihood == "gauss":
        solved = most_probable(rows, near, basis, loosely=loosely)
        return _balanced(rows, solved, basis, loosely=loosely)
    solved, plain = most_probable(rows, near, basis), rows.sigma
    for last in (False,) * (REWEIGHTINGS - 1) + (True,):
        misfit = (rows.values - rows.readings @ solved.weights) / plain
        sigma = max(NORMAL * float(np.median(np.abs(misfit))), 1e-6)
        rows = replace(rows, sigma=plain / np.sqrt(_trust(likelihood, misfit / sigma)))
        solved = most_probable(rows, solved.exponent, basis, loosely=loosely and last)
    return solved


def _balanced(
    rows: Rows, solved: Solved, basis: Basis | ConditionalBasis, *, loosely: bool
) -> Solved:
    """Once more with a noise for each field, where it is not known and the readings of some are plainly
    missed by more than those of others: the better ones would count for too little, the others be
    followed too closely."""
    kinds = rows.kinds
    is_said = rows.given is not None or rows.veil > 0
    if kinds is None or is_said or solved.sigma <= CLEAN:
        return solved
    counts = np.bincount(kinds)
    enough = counts >= FEWEST_OF_A_FIELD
    for _ in range(BALANCINGS):
        factors = np.where(enough, np.clip(solved.noise_of(kinds), *MOST_AT_ONCE), 1.0)
        if enough.sum() < 2 or np.max(factors[enough]) < UNEQUAL * np.min(factors[enough]):
            break
        wanted = np.maximum(rows.sigma * factors[kinds], CLEAN / solved.sigma)
        rows = replace(rows, sigma=wanted)
        solved = most_probable(rows, solved.peak.exponent, basis, loosely=loosely)
    return solved


def _trust(likelihood: Likelihood, misfit: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """How much a reading counts that is missed by so many σ."""
    if likelihood == "huber":
        return 1 / np.maximum(np.abs(misfit) / KNEE, 1.0)
    return (FREEDOM + 1) / (FREEDOM + misfit**2)
