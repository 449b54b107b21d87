r"""The fit with the sines of one band, by one solve or by Gauss-Newton's method.

A linear equation with known coefficients is one linear-Gaussian problem (inference/linear_gaussian.py).
Otherwise the fit starts from the weights a₀ of the readings alone and iterates

    a_{k+1} = mean of the posterior with the rows linearized at a_k,

where the stiffness ρ of the equation is searched within a factor 100 of the last one, until the evidence
no longer grows and coefficients are at rest.

While a coefficient is wrong, the equation contradicts readings that are known to many digits, and the
most probable fit ignores the equation. Where coefficients are unknown, the noise of the readings is
therefore first held at a floor. The floor is then removed, and the new fit is kept if the equation stays
stiff and the coefficients stay within their intervals.

Unknown functions have the prior of a Matérn kernel with ν derivatives: the standard deviation of the
weight of sin(w·z) is

    T(w) = (1 + |c w / band|²)^(-(ν + d/2)/2).

Without it, a few readings would determine a sum of sines of one band everywhere.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.unknown import named_unknowns
from pgt.inference.equation_prior import ConditionalBasis
from pgt.inference.evidence import STIFFNESS_STEPS, fit_posterior
from pgt.inference.linear_gaussian import GaussianPosterior, Rows
from pgt.methods.closed_form.band_posterior import BandFit
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
from pgt.models.features import Features, Sines
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import functions_of, wall_fields
from pgt.problem.assembly import Task
from pgt.problem.budget import ROWS_PER_WEIGHT, Deadline
from pgt.problem.field_scales import log_fields

# The smallest number of collocation nodes. More resolve a coefficient that varies, but make the QR
# factorization slower.
MIN_NODES = 1024
# The floor of the noise in the first search for coefficients, in units of the spread.
SIGMA_FLOOR = 3e-2
# log10 ρ of the first linearization; and the loss of log10 ρ beyond which a fit ignores the equation.
FIRST_STIFFNESS, MAX_STIFFNESS_LOSS = 2.0, 4.0
# The number of standard deviations by which a coefficient may move when the floor is removed.
MAX_COEFFICIENT_CHANGE = 3.0
# The largest number of linearizations; and the number without a sufficient gain of log-evidence after
# which the search ends.
MAX_LINEARIZATIONS, PATIENCE, MIN_GAIN = 40, 3, 0.5
# A coefficient is undetermined if its posterior deviation is more than this share of the prior one.
UNINFORMED_SHARE = 0.99
# The prior of a function: its derivatives ν, and the factor c by which it is smoother than a field.
FUNCTION_DERIVATIVES, FUNCTION_SLOWNESS = 2.5, 4.0
# A function is at rest when its relative change, or the change of its logarithm, is smaller.
FUNCTION_AT_REST = 0.02


class UnknownFunctions:
    """The unknown functions of a task in one band, with their prior and their limited steps.

    `prior` has the standard deviations of the weights of functions, then those of coefficients; it is
    None where there are no functions.
    """

    def __init__(self, model: Features, task: Task):
        pde = task.pde
        functions = functions_of(pde)
        fields, self.count = model.network.readout.shape
        self.first = fields - len(functions)
        spread = np.asarray(model.scaling.spread, float)[self.first :]
        self.is_log = np.array([name in log_fields(pde) for name in pde.fields[self.first :]], bool)
        self.units = np.where(self.is_log, spread, 1.0)
        self.prior = None
        if functions:
            assert model.band is not None  # a search sets it
            self.sines = field_rows(model, nodes_of(task.problem.domain, MIN_NODES // 4))
            axes = [[pde.coords.index(a) for a in f.axes] for f in functions.values()]
            lengths = FUNCTION_SLOWNESS / np.asarray(model.band, float)
            parts = [
                matern_deviations(
                    model.network.sines, columns, FUNCTION_DERIVATIVES, lengths[columns]
                )
                for columns in axes
            ]
            self.prior = np.concatenate([*parts, np.ones(len(named_unknowns(pde)))])

    def step(
        self, weights: Float[np.ndarray, " p"], step: Float[np.ndarray, " p"]
    ) -> tuple[float, bool]:
        """The share of a step that may be taken, and whether functions are still moving."""
        if self.prior is None:
            return 1.0, False
        change, after = np.abs(self._values(step)), np.abs(self._values(weights + step))
        largest = np.max(change[self.is_log], initial=0.0)
        size = np.where(self.is_log, 1.0, after.max(axis=1))
        is_moving = bool(np.any(change.max(axis=1) > FUNCTION_AT_REST * size))
        return float(min(1.0, MAX_LOG_STEP / max(largest, MAX_LOG_STEP))), is_moving

    def _values(self, weights: Float[np.ndarray, " p"]) -> Float[np.ndarray, "k n"]:
        """The values of the functions at the nodes; functions fitted as logarithms stay logarithms."""
        begin, end = self.first * self.count, (self.first + len(self.units)) * self.count
        by_function = weights[begin:end].reshape(-1, self.count)
        return self.units[:, None] * (by_function @ self.sines.T)


def matern_deviations(
    sines: Sines, axes: list[int], derivatives: float, lengths
) -> Float[np.ndarray, " m"]:
    """The prior deviation T of every sine along these axes. Functions of a shape get that of the shortest
    wave."""
    waves = lengths * np.asarray(sines.frequencies, float)[:, axes]
    sizes = (1 + np.sum(waves**2, axis=1)) ** (-(derivatives + len(axes) / 2) / 2)
    return np.append(sizes, np.full(sines.count - len(sizes), sizes.min()))


def node_count(model: Features, task: Task) -> int:
    """The number of collocation nodes with which the equation has `ROWS_PER_WEIGHT` rows per weight, but
    at least `MIN_NODES`."""
    equations = max(len(task.problem.equation_scales), 1)
    needed = math.ceil(ROWS_PER_WEIGHT * model.network.readout.size / equations)
    return max(MIN_NODES, needed)


def task_rows(model: Features, pde: AbstractPDE, task: Task, points: int) -> Rows:
    """All rows of a task, linearized at the weights of model and equation, with all readings of its
    stream, where these were compressed."""
    rows = rows_of(model, pde, task.problem, points)
    if task.compressed is None:
        return rows
    return replace(rows, compressed=task.compressed, sigma=task.compressed.sigma)


def readings_posterior(model: Features, task: Task, sigma_floor: float = 0.0) -> GaussianPosterior:
    """The posterior given the readings alone, without the equation."""
    rows = replace(task_rows(model, task.pde, task, 0), sigma_floor=sigma_floor)
    return fit_posterior(rows, task.problem.likelihood)


def needed_floor(model: Features, task: Task) -> float:
    """The noise floor for the search of coefficients; 0 where there are none, or where the noise itself
    is larger."""
    if not named_unknowns(task.pde) or readings_posterior(model, task).sigma >= SIGMA_FLOOR:
        return 0.0
    return SIGMA_FLOOR


# ---------------------------------------------------------------------------------- linear equations


def solve_linear(model: Features, task: Task, near: float | None = None) -> BandFit:
    """The fit of a linear equation with known coefficients, by one solve; `near` guesses its log10 ρ."""
    rows = task_rows(model, task.pde, task, node_count(model, task))
    if wall_fields(task.pde):
        rows = replace(rows, function_prior=UnknownFunctions(model, task).prior)
    likelihood = task.problem.likelihood
    posterior = fit_posterior(rows, likelihood, near, prefers_soft=True)
    if near is not None and abs(posterior.maximum.log_stiffness - near) > STIFFNESS_STEPS[0]:
        # The guess was wrong: scan all ρ.
        posterior = fit_posterior(rows, likelihood, prefers_soft=True)
    return BandFit(*with_weights(model, task.pde, posterior.weights), posterior, {})


def solve_for_priors(
    model: Features, task: Task, priors: Iterable[Float[np.ndarray, " k"]]
) -> Iterable[BandFit]:
    """The fits of a linear equation for several priors of its unknown functions. The equation is
    factorized only once."""
    rows = rows_of(model, task.pde, task.problem, node_count(model, task))
    basis = None
    for prior in priors:
        basis = basis or ConditionalBasis(rows.equation, rows.target, prior)
        posterior = fit_posterior(
            replace(rows, function_prior=prior), task.problem.likelihood,
            prefers_soft=True, basis=basis.with_prior(prior),
        )  # fmt: skip
        yield BandFit(*with_weights(model, task.pde, posterior.weights), posterior, {})


def posterior_with_fixed_coefficients(
    model: Features, task: Task, sigma_floor: float = 0.0
) -> GaussianPosterior:
    """The posterior of the fields with coefficients held at their values, by one solve."""
    pde = task.pde
    rows = rows_of(model, pde, task.problem, node_count(model, task))
    size, weights = model.network.size, weights_of(model, pde)
    coefficient_part, prior = rows.equation[:, size:] @ weights[size:], None
    if wall_fields(pde):
        prior = UnknownFunctions(model, task).prior
        prior = None if prior is None else prior[: len(prior) - len(weights) + size]
    fixed = Rows(
        rows.equation[:, :size], rows.target - coefficient_part, rows.readings[:, :size], rows.values,
        rows.sigma, rows.given, rows.fields, sigma_floor, prior,
    )  # fmt: skip
    return fit_posterior(fixed, task.problem.likelihood)


# ---------------------------------------------------------------------------------- other equations


class _Iterate(NamedTuple):
    """The result of Gauss-Newton's method: weights, posterior, estimates of the coefficients, and the
    seconds of the last linearization."""

    weights: Float[np.ndarray, " p"]
    posterior: GaussianPosterior
    learnt: dict[str, CoefficientEstimate]
    seconds: float


def solve_nonlinear(model: Features, task: Task, deadline: Deadline) -> BandFit:
    """The fit of an equation that is not linear in all its unknowns, by Gauss-Newton's method."""
    by_readings = readings_posterior(model, task)
    weights, fields = weights_of(model, task.pde), model.network.readout.size
    weights[:fields] = by_readings.weights[:fields]
    has_floor = bool(named_unknowns(task.pde)) and by_readings.sigma < SIGMA_FLOOR
    iterate = _gauss_newton(
        model, task, deadline, weights, FIRST_STIFFNESS, SIGMA_FLOOR if has_floor else 0.0
    )
    floor_evidence = iterate.posterior.evidence if has_floor else None
    if has_floor and deadline.allows(iterate.seconds):
        stiffness = iterate.posterior.log_stiffness
        free = _gauss_newton(model, task, deadline, iterate.weights, stiffness, 0.0)
        is_dropped = free.posterior.log_stiffness < stiffness - MAX_STIFFNESS_LOSS
        if not is_dropped and not _contradicts(free, iterate):
            iterate = free
    fitted = with_weights(model, task.pde, iterate.weights)
    return BandFit(*fitted, iterate.posterior, iterate.learnt, floor_evidence)


def _contradicts(free: _Iterate, floored: _Iterate) -> bool:
    """Whether a coefficient of the fit without floor moved far from its value under the floor. These
    sines then cannot represent the field as accurately as it was read, and the equation is violated."""
    deviations = np.array([estimate.deviation for estimate in floored.learnt.values()])
    change = np.abs(free.weights - floored.weights)[len(floored.weights) - len(deviations) :]
    return bool(np.any(COEFFICIENT_UNIT * change > MAX_COEFFICIENT_CHANGE * deviations))


def _gauss_newton(
    model: Features,
    task: Task,
    deadline: Deadline,
    weights: Float[np.ndarray, " p"],
    near: float,
    sigma_floor: float,
) -> _Iterate:
    """The most probable iterate, starting from these weights and this log10 ρ. While a coefficient is
    moving, the evidence belongs to a different equation, and the latest iterate is always kept."""
    pde, nodes, likelihood = task.pde, node_count(model, task), task.problem.likelihood
    coefficients, fields = CoefficientSteps(task.pde), model.network.readout.size
    functions = UnknownFunctions(model, task)
    best, stale, seconds = None, 0, 0.0
    for _ in range(MAX_LINEARIZATIONS):
        if best is not None and not deadline.allows(seconds):
            break
        before = deadline.spent
        model, pde = with_weights(model, pde, weights)
        rows = task_rows(model, pde, task, nodes)
        if not np.isfinite(rows.equation).all() or not np.isfinite(rows.target).all():
            break
        # While a coefficient is wrong, misfits exceed the noise: a given σ is only a floor, too.
        floor = max(sigma_floor, rows.given or 0.0)
        rows = replace(rows, function_prior=functions.prior, sigma_floor=floor)
        posterior = fit_posterior(rows, likelihood, near)
        seconds = deadline.spent - before
        raws, proposed = (COEFFICIENT_UNIT * w[fields:] for w in (weights, posterior.weights))
        learnt = coefficients.estimates(raws, proposed, _deviations(posterior, fields))
        step, near = posterior.weights - weights, posterior.log_stiffness
        share, is_moving = functions.step(weights, step)
        weights = weights + share * step
        weights[fields:] = coefficients.step(raws, proposed) / COEFFICIENT_UNIT
        is_moving = is_moving or not are_settled(learnt)
        is_kept = (
            best is None
            or is_moving
            or not are_settled(best.learnt)
            or posterior.evidence > best.posterior.evidence + MIN_GAIN
        )
        if is_kept:
            best, stale = _Iterate(weights, posterior, learnt, seconds), 0
        else:
            stale += 1
        if stale >= (1 if sigma_floor else PATIENCE) or is_at_edge(learnt):
            break
    if best is None:
        raise InputError(
            "the equation gives no finite number for the field that the readings alone suggest, such as "
            "a root or logarithm of a negative number: check its coefficients and units, or give a "
            "network as model=, which begins elsewhere."
        )
    return best


def _deviations(posterior: GaussianPosterior, fields: int) -> Float[np.ndarray, " k"]:
    """The standard deviations of the coefficients without the prior of the weights, which may be too
    narrow for them: its scale follows from the fields."""
    size = len(posterior.weights)
    coefficient_rows = np.eye(size - fields, size, fields)
    shares = posterior.spread(coefficient_rows) / np.sqrt(posterior.scale)
    with np.errstate(divide="ignore"):
        without_prior = shares / np.sqrt(np.maximum(1 - shares**2, 0))
    unit = COEFFICIENT_UNIT * np.sqrt(posterior.scale)
    return np.where(shares > UNINFORMED_SHARE, np.inf, unit * without_prior)
