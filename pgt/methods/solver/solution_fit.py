"""The fit of the solver method: Gauss-Newton's method for everything that a problem leaves unknown.

The solution u(θ) of the equation is a function of the unknowns θ: coefficients, initial states and
boundary values. Each iteration linearizes u around the current θ. With the prior of θ and noisy
readings this gives the Gaussian model of inference/linear_gaussian.py, which chooses the noise level and
the scale of the prior by the evidence. The correlation lengths and relative sizes of unknown functions
are chosen here, also by the evidence. The equation is solved next at the posterior mean; the posterior at
the last iterate is the result.

Time stepping is collocation on the host. Only the residual at a point is compiled, so the mesh may change
between solutions. A compiled integrator would be compiled anew for every mesh, which takes longer than a
small fit.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Float, Int

from pgt.core.errors import InputError
from pgt.core.machine import blas_threads
from pgt.data.splits import Groups
from pgt.inference.equation_prior import Basis, CorrelatedPrior
from pgt.inference.evidence import fit_posterior
from pgt.inference.linear_algebra import beside_numpy
from pgt.inference.linear_gaussian import GaussianPosterior, ReducedReadings, Rows
from pgt.methods.coefficients import MAX_LOG_STEP, CoefficientEstimate, CoefficientSteps, log_of
from pgt.methods.solver.collocation import Grid, MeasuredValues, pieces_of
from pgt.methods.solver.forward import FIRST_TOLERANCE
from pgt.methods.solver.splines import values_of
from pgt.methods.solver.statement import raws_of, statement_of, with_limits, with_raws
from pgt.methods.solver.time_stepping import (
    MAX_STEPS,
    CheckTime,
    OutOfTime,
    Readout,
    Settings,
    Solution,
    SolveError,
    edges_of,
    first_meshes,
    no_limit,
    polynomials_of,
    solve,
    solve_on,
)
from pgt.methods.solver.unknown_functions import FirstGuess, Unknowns
from pgt.models.linearised import LinearisedModel
from pgt.models.mesh_solution import Solver
from pgt.nn import batched
from pgt.physics.pde import AbstractPDE
from pgt.problem.assembly import Task
from pgt.problem.budget import Deadline
from pgt.training.settings import POSTERIOR_DRAWS, Posterior

# The limit on Gauss-Newton iterations. Most fits take fewer than ten.
MAX_ITERATIONS = 40
# A change of this many standard errors, or of this much log-evidence, does not affect the answer. A fit
# has converged when the next step moves readings and coefficients by less and mesh errors are as small.
NEGLIGIBLE = 0.05
# A mesh is kept until the tolerance it was made for, or the roughness of the solution on it, is off by
# this factor. A smaller value rebuilds meshes more often.
MAX_MESH_DRIFT = 5.0
# The mesh also resolves this many functions drawn from the prior with lengths shortened by this factor,
# so that the evidence is accurate around its maximum.
PROBE_FUNCTIONS, PROBE_SHORTENING = 3, 2.0
# The prior of the hyperparameters is normal in their logarithms, with this standard deviation. Lengths
# have this median, in half extents; relative sizes of functions have the median 1.
USUAL_LENGTH, HYPER_DEVIATION = 0.7, 1.5
# The limit on evidence evaluations in the search for hyperparameters, per linearization.
MAX_EVALUATIONS = 80
# A first guess that needs more steps than this at the coarse tolerance is far off; the next is tried.
MAX_FIRST_STEPS = 1000
# Where the equation cannot be solved over the whole time, the fit to the first half may use this share of
# the seconds that are left. It needs this many readings, enough for an initial state.
FIRST_HALF_SHARE, MIN_READINGS_OF_HALF = 0.5, 4
FIT_SHARE = 0.9  # the fit's share of the seconds; the rest is for stated errors and verdict
MAX_SINGLE_THREADED = 100  # matrices up to this size gain nothing from several BLAS threads

Report = Callable[[float, dict[str, float]], None]


class Unsolvable(InputError):
    """The equation has no solution at any first guess of the unknowns."""


class Prior(Basis):
    """The prior N(mean, s² root rootᵀ) of all unknowns, in the form that the Gaussian model expects."""

    def __init__(self, root: Float[np.ndarray, "p p"], corners=None):
        """`root` is a root of the covariance. `corners` is a pair (rows, target): the prior is
        conditioned on rows @ unknowns = target, which holds exactly."""
        self.mean, self.root, self.vectors = np.zeros(len(root)), root, np.eye(len(root))
        if corners is not None and len(corners[0]):
            rows, target = corners
            rows_root = rows @ root
            inverse = np.linalg.pinv(rows_root)
            self.mean = root @ (inverse @ target)
            self.root = root - (root @ inverse) @ rows_root

    def fitted(self, rows: Float[np.ndarray, "n p"], targets) -> Float[np.ndarray, " p"]:
        """The most probable unknowns for rows @ unknowns = targets with errors of unit variance."""
        rows_root = rows @ self.root
        standard = np.linalg.lstsq(
            np.concatenate([rows_root, np.eye(rows_root.shape[1])]),
            np.concatenate([targets - rows @ self.mean, np.zeros(rows_root.shape[1])]),
            rcond=None,
        )[0]
        return self.mean + self.root @ standard

    def prior(self, rho: float) -> CorrelatedPrior:
        """The prior, which does not depend on the stiffness ρ because the equation holds exactly."""
        return CorrelatedPrior(self.mean, self.root)


@dataclass(frozen=True)
class Fitted:
    """A solution and the posterior around it. It is a `GaussianFit`, as is a sum of sines
    (methods/closed_form/band_posterior.py).

    `remaining` is the next step of the unknowns, which is not negligible if the fit did not converge.
    """

    model: Solver
    pde: AbstractPDE
    solution: Solution
    solved: GaussianPosterior
    learnt: dict[str, CoefficientEstimate]
    converged: bool
    remaining: Float[np.ndarray, " p"]

    @property
    def sigma(self) -> float:
        """The noise level of the readings, in units of their spread."""
        return self.solved.sigma

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]:
        """The noise level of every measured value, in units of the spread."""
        return self.solved.sigma * self.solved.reduced.sigma

    def left_out(self, groups: Groups | None = None):
        """The error of the leave-one-out prediction of every measured value, and its σ."""
        return self.solved.left_out(groups)

    def without(self, inside: Int[np.ndarray, " m"]):
        """The error of the prediction of values that are left out together, and its σ."""
        return next(self.solved.without(inside))

    def drawn(self, count: int) -> Float[np.ndarray, "count p"]:
        """Steps from the fitted unknowns to posterior draws, in pairs ±step. Their covariance in the
        coefficients is exact, so that intervals of coefficients have no sampling error."""
        coefficients = self.solution.unknowns.raws
        half = self.solved.draw(count // 2, last=coefficients.stop - coefficients.start)
        return np.concatenate([half, -half])

    def moved(self, steps: Float[np.ndarray, "k p"]) -> Float[np.ndarray, "k c ..."]:
        """The first-order change of the field's polynomials for each step of the unknowns."""
        grid, count = self.solution.grid, steps.shape[1]
        if len(steps) <= count:
            return pieces_of(grid, list(self.solution.changes(steps.T)))
        pieces_by_unknown = pieces_of(grid, list(self.solution.changes(np.eye(count))))
        return np.tensordot(steps, pieces_by_unknown, 1)

    def deviations(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "k n c"]:
        """The deviations of posterior draws of the fields from the fit at points, in physical units. They
        also contain the step that the fit did not make."""
        return values_of(edges_of(self.solution), self._drawn_pieces, points)

    @cached_property
    def _drawn_pieces(self):
        drawn = self.drawn(POSTERIOR_DRAWS)
        signs = np.repeat([1.0, -1.0], len(drawn) // 2)
        return self.moved(drawn + signs[:, None] * self.remaining)

    def members(self, settings: Posterior) -> tuple[LinearisedModel, AbstractPDE]:
        """Models and equations drawn from the posterior, stacked, in pairs ± around the fit."""
        steps = self.drawn(settings.samples)
        raws = self.solution.unknown[self.solution.unknowns.raws]
        raws_of_draws = raws + steps[:, self.solution.unknowns.raws]
        with jax.enable_x64(True):
            bases = batched.repeat(self.model, len(steps))
            pdes = [
                with_raws(self.pde, jnp.asarray(drawn_raws, jnp.float64))
                for drawn_raws in raws_of_draws
            ]
            return LinearisedModel(bases, jnp.asarray(self.moved(steps))), batched.stack(pdes)


class _State:
    """A solution with the readings it predicts and their slopes in the unknowns."""

    def __init__(
        self,
        solution: Solution,
        readout: Readout,
        tolerance: float,
        lengths: Float[np.ndarray, " a"],
        rough: float | None = None,
    ):
        """`lengths` has, by axis, the logarithm of the shortest length that the mesh resolves. `rough`
        is the roughness of the solution for which the mesh was made."""
        self.solution, self.readout, self.tolerance = solution, readout, tolerance
        self.lengths = lengths
        self.rough = solution.roughness if rough is None else rough
        self.unknown = solution.unknown
        self.read = readout.values(solution)

    @cached_property
    def slopes(self) -> Float[np.ndarray, "n p"]:
        """The slopes of the readings in the unknowns."""
        return self.readout.slopes(self.solution)


class Search:
    """Gauss-Newton's method for one task, with its current hyperparameters and tolerance.

    Unknowns are counted from `first`: zero, but for the starting values of the coefficients.
    """

    def __init__(self, task: Task, report: Report):
        assert isinstance(task.model, Solver)
        self.task, self.report, self.model = task, report, task.model
        self.deadline = Deadline(task.training.seconds)
        self.check_time = time_check(self.deadline)
        problem = task.problem
        self.problem = statement_of(
            task.pde, problem.domain, problem.conditions, self.model.scaling
        )
        self.sensors = MeasuredValues(problem.observations, self.model.scaling)
        self.unknowns = Unknowns(self.problem, self.model.scaling)
        self.coefficients = CoefficientSteps(task.pde)
        self.first = np.zeros(self.unknowns.count)
        self.first[self.unknowns.raws] = raws_of(task.pde)
        self.axes = tuple(dict.fromkeys(a for part in self.unknowns.parts for a in part.axes))
        sizes = len(self.unknowns.names) - len(self.axes)
        self.middle = np.r_[np.full(len(self.axes), np.log(USUAL_LENGTH)), np.zeros(sizes)]
        self.hyper, self.weighed = self.middle.copy(), self.sensors.relative
        self.tolerance = self.model.tolerance

    def best(self) -> Fitted:
        """The MAP estimate with its posterior."""
        state, converged = self._first_state(), False
        for turn in range(MAX_ITERATIONS):
            solved = self._posterior(state)
            if not self._is_resolved(state):
                try:
                    state = self._on_resolving_mesh(state)
                    continue
                except SolveError:
                    state.lengths = self._target_lengths  # no mesh resolves them: do not try again
                except OutOfTime:
                    break
            change = solved.weights - (state.unknown - self.first)
            share = self._limited_share(state.unknown, change)
            step_size = self._step_size(state, solved, change)
            self.report(turn / MAX_ITERATIONS, {"noise": solved.sigma})
            is_fine = state.tolerance <= MAX_MESH_DRIFT * self.tolerance
            converged = step_size < NEGLIGIBLE and is_fine
            if converged or not self.deadline.allows(0.0):
                break
            try:
                following = self._after_step(state, solved, change, share, step_size)
            except OutOfTime:
                break
            if following is None:
                # Errors of the mesh may hide a small descent.
                converged = is_fine and step_size < 2 * NEGLIGIBLE
                break
            state = following
        solved = self._posterior(state)
        return self._fitted(state, solved, converged)

    def _first_state(self) -> _State:
        """The state at the first guess for which the equation can be solved."""
        coarse, complaint = max(FIRST_TOLERANCE, self.tolerance), None
        check_time = self.check_time if self.task.has_fallback else no_limit
        for first in self._first_guesses():
            try:
                return self._on_new_mesh(first, coarse, check_time, MAX_FIRST_STEPS)
            except SolveError as stuck:
                complaint = stuck
            except OutOfTime:
                complaint = "the seconds are used up"
                break
        raise Unsolvable(
            f"the equation could not be solved with its first coefficients ({complaint}): begin "
            "closer to what is expected, give initial and boundary values, or name another model."
        )

    def _first_guesses(self) -> Iterator[Float[np.ndarray, " p"]]:
        """First guesses of the unknowns: functions fitted to an interpolation of the readings, then the
        prior mean, then the fit to the first half of the time. Functions agree where they meet."""
        grid = Grid(self.problem, first_meshes(self.unknowns))
        corners = self._corners_at(grid, self.first)
        guess = FirstGuess(self.unknowns, self.task.problem.observations)
        lengths = guess.lengths()
        for k, axis in enumerate(self.axes):
            self.hyper[k] = np.log(lengths.get(axis, USUAL_LENGTH))
        prior = Prior(self.unknowns.root(self.hyper), corners)
        rows, targets = guess.rows()
        if len(rows):
            yield self.first + prior.fitted(rows, targets)
        yield self.first + prior.mean
        if (earlier := self._first_half()) is not None:
            unknown = self.first + prior.fitted(
                *guess.rows_after(earlier.unknowns, earlier.unknown)
            )
            unknown[self.unknowns.raws] = earlier.unknown[earlier.unknowns.raws]
            yield unknown

    def _first_half(self) -> Solution | None:
        """The fit to the first half of the time, where a wrong initial state has had less time to grow.
        None where there is no time or where too few readings would remain."""
        problem = self.task.problem
        if not problem.domain.has_time:
            return None
        low, high = problem.domain.bounds("t")
        early = np.flatnonzero(np.asarray(problem.observations.points)[:, -1] <= (low + high) / 2)
        if len(early) < MIN_READINGS_OF_HALF or not self.deadline.allows(0.0, FIT_SHARE):
            return None
        shorter = replace(
            problem,
            observations=problem.observations.take(early),
            domain=with_limits(problem.domain, t=(low, (low + high) / 2)),
        )
        seconds = self.deadline.seconds
        training = replace(
            self.task.training,
            seconds=seconds and FIRST_HALF_SHARE * (seconds - self.deadline.spent),
        )
        task = replace(self.task, problem=shorter, training=training)
        return Search(task, self.report).best().solution

    @property
    def _target_lengths(self) -> Float[np.ndarray, " a"]:
        """By axis, the logarithm of the length that the mesh should resolve: `PROBE_SHORTENING` times
        shorter than the most probable one."""
        return self.hyper[: len(self.axes)] - np.log(PROBE_SHORTENING)

    def _is_resolved(self, state: _State) -> bool:
        """Whether the mesh resolves lengths sufficiently shorter than the most probable ones."""
        return bool(np.all(self._target_lengths - state.lengths >= -np.log(PROBE_SHORTENING) / 2))

    def _on_resolving_mesh(self, state: _State) -> _State:
        """The same functions, with more modes, on a mesh that resolves shorter lengths."""
        lengths = dict(zip(self.axes, np.exp(self._target_lengths), strict=True))
        previous = self.unknowns
        self.unknowns = Unknowns(self.problem, self.model.scaling, lengths=lengths)
        self.first = previous.prolonged(self.first, self.unknowns)
        unknown = previous.prolonged(state.unknown, self.unknowns)
        try:
            return self._on_new_mesh(unknown, self.tolerance, self.check_time)
        except (SolveError, OutOfTime):
            self.first, self.unknowns = self.unknowns.prolonged(self.first, previous), previous
            raise

    def _probe_directions(self, grid: Grid, unknown) -> Float[np.ndarray, "p k"]:
        """Draws of the unknowns from a prior with the lengths that the mesh is to resolve."""
        hyper = self.hyper.copy()
        hyper[: len(self.axes)] = self._target_lengths
        prior = Prior(self.unknowns.root(hyper), self._corners_at(grid, unknown))
        standard = np.random.default_rng(0).standard_normal((self.unknowns.count, PROBE_FUNCTIONS))
        drawn = prior.root @ standard
        drawn[self.unknowns.raws] = 0.0
        return drawn[:, np.any(drawn, axis=0)]

    def _limited_share(self, unknown, change) -> float:
        """The largest share of a step, up to 1, with which no coefficient moves too far."""
        moves = [
            abs(log_of(node, raw + step) - log_of(node, raw))
            for (_, node), raw, step in zip(
                self.coefficients.named,
                unknown[self.unknowns.raws],
                change[self.unknowns.raws],
                strict=True,
            )
        ]
        return min(1.0, MAX_LOG_STEP / max(max(moves, default=0.0), 1e-300))

    def _step_size(self, state: _State, solved: GaussianPosterior, change) -> float:
        """The size of a step: the larger of the root mean square change of the readings, in σ, and the
        largest change of a coefficient, in standard deviations."""
        reading_change = (state.slopes @ change) / (solved.sigma * self.sensors.relative)
        size = float(np.sqrt(np.mean(reading_change**2))) if len(reading_change) else 0.0
        deviations = self._deviations(solved)
        coefficient_change = np.abs(change[self.unknowns.raws]) / np.maximum(deviations, 1e-300)
        return max(size, float(coefficient_change.max(initial=0.0)))

    def _after_step(
        self, state: _State, solved: GaussianPosterior, change, share: float, step_size: float
    ) -> _State | None:
        """The state after a step that does not raise the cost, found by halving the step; None where
        there is none.

        The most probable functions depend on the coefficients. The linearization gives them only roughly,
        since coefficients multiply fields. Where a step fails, the functions are therefore solved for
        again at the new coefficients before the step is halved (variable projection, Golub and Pereyra
        1973)."""
        max_cost = self._cost(state, solved) * (1 + 1e-9) + 1e-9
        part = 2 * share
        while part == 2 * share or part * step_size > NEGLIGIBLE:
            part /= 2
            try:
                following = self._solved_at(self._partial_step(state, solved, change, part), state)
                if self._cost(following, solved) <= max_cost:
                    return following
                raws = following.unknown[self.unknowns.raws]
                if len(raws):
                    projected = self._with_coefficients(following, solved, raws)
                    following = self._solved_at(projected, following)
                    if self._cost(following, solved) <= max_cost:
                        return following
            except SolveError:
                continue
        return None

    def _partial_step(
        self, state: _State, solved: GaussianPosterior, change, part: float
    ) -> Float[np.ndarray, " p"]:
        """The unknowns after a part of a step in the coefficients, with the functions that are most
        probable for them."""
        columns = self.unknowns.raws
        if columns.start == columns.stop:
            return state.unknown + part * change
        return self._with_coefficients(
            state, solved, state.unknown[columns] + part * change[columns]
        )

    def _with_coefficients(
        self, state: _State, solved: GaussianPosterior, raws
    ) -> Float[np.ndarray, " p"]:
        """The unknowns with these coefficients and with the most probable functions for them, to first
        order around the state."""
        columns, root, mean = self.unknowns.raws, self.prior.root, self.first + self.prior.mean
        slopes, sigma = state.slopes, solved.sigma * solved.reduced.sigma
        # In the prior, coefficients are independent of functions.
        held = np.linalg.solve(root[columns, columns], raws - mean[columns])
        base = mean + root[:, columns] @ held
        free = np.ones(len(root), bool)
        free[columns] = False
        residual = self.sensors.values - state.read + slopes @ (state.unknown - base)
        rows = [
            (slopes @ root[:, free]) / sigma[:, None],
            np.eye(free.sum()) / np.sqrt(solved.scale),
        ]
        target = [residual / sigma, np.zeros(free.sum())]
        functions = np.linalg.lstsq(np.concatenate(rows), np.concatenate(target), rcond=None)[0]
        return base + root[:, free] @ functions

    def _solved_at(self, unknown, state: _State) -> _State:
        """The state at these unknowns, on the same mesh where it still serves, else on a new one."""
        solution, tolerance = state.solution, self.tolerance
        if state.tolerance <= MAX_MESH_DRIFT * tolerance:
            try:
                settings = Settings(tolerance, self.check_time)
                moved = solve_on(
                    solution.grid, self.unknowns, unknown, solution.steps, settings, solution
                )
            except SolveError:
                moved = None
            if moved is not None and moved.roughness <= MAX_MESH_DRIFT * max(
                state.tolerance, state.rough
            ):
                return _State(moved, state.readout, state.tolerance, state.lengths, state.rough)
        return self._on_new_mesh(unknown, tolerance, self.check_time)

    def _on_new_mesh(
        self, unknown, tolerance: float, check_time: CheckTime, max_steps: int = MAX_STEPS
    ) -> _State:
        grid = Grid(self.problem, first_meshes(self.unknowns))
        directions = self._probe_directions(grid, unknown)
        max_steps += len(self.problem.knots)
        settings = Settings(tolerance, check_time, True, directions, max_steps)
        solution = solve(self.unknowns, unknown, settings)
        return _State(solution, Readout(self.sensors, solution), tolerance, self._target_lengths)

    def _cost(self, state: _State, solved: GaussianPosterior) -> float:
        """Twice the negative log-posterior up to a constant, with noise and prior scale of `solved`."""
        misfit = (self.sensors.values - state.read) / (solved.sigma * solved.reduced.sigma)
        step = state.unknown - self.first - self.prior.mean
        standard_step = np.linalg.lstsq(self.prior.root, step, rcond=1e-10)[0]
        return float(misfit @ misfit + standard_step @ standard_step / solved.scale)

    # ------------------------------------------------------------------------- the Gaussian model

    def _posterior(self, state: _State) -> GaussianPosterior:
        """The posterior of the linearized model, with the lengths, sizes and noise of greatest evidence.
        The hyperparameters, the prior and the tolerance of the search are updated."""
        rows, corners = self._rows(state), self._corners(state)
        if len(self.hyper):
            reduced = ReducedReadings(
                replace(rows, sigma=self.weighed), Prior(np.eye(self.unknowns.count))
            )
            self.hyper, _ = self._most_probable_hyper(reduced, corners)
        self.prior = Prior(self.unknowns.root(self.hyper), corners)
        solved = fit_posterior(rows, self.task.problem.likelihood, basis=self.prior)
        self.weighed = solved.reduced.sigma  # a robust likelihood gives outliers a larger σ
        standard_error = solved.sigma * np.sqrt(solved.determined / len(self.sensors.values))
        self.tolerance = max(self.model.tolerance, NEGLIGIBLE * float(standard_error))
        return solved

    def _rows(self, state: _State) -> Rows:
        """The readings, linearized at the state; there are no equation rows."""
        count = self.unknowns.count
        slopes = state.slopes
        values = self.sensors.values - state.read + slopes @ (state.unknown - self.first)
        return Rows(
            np.zeros((0, count)), np.zeros(0), slopes, values, self.sensors.relative,
            self.sensors.common, self.sensors.fields, errors=self.task.problem.sensor_errors,
        )  # fmt: skip

    def _corners(self, state: _State):
        """Linear rows that hold where unknown initial states and boundary values meet, and their target,
        for unknowns counted from `first`. Coefficients are held fixed. Their prior is so wide that the
        rows would otherwise be satisfied by moving coefficients and not functions."""
        return self._corners_at(state.solution.grid, state.unknown)

    def _corners_at(self, grid: Grid, unknown):
        values, slopes = self.unknowns.boundary_values(grid, unknown).corners()
        slopes[:, self.unknowns.raws] = 0.0
        return slopes, slopes @ (unknown - self.first) - values

    def _most_probable_hyper(self, reduced: ReducedReadings, corners) -> tuple[np.ndarray, float]:
        """The logarithms of lengths and sizes of greatest evidence times prior, and its logarithm."""

        def cost(hyper):
            distance, candidate = (hyper - self.middle) / HYPER_DEVIATION, copy(reduced)
            candidate.basis = Prior(self.unknowns.root(hyper), corners)
            return -candidate.posterior(0.0).evidence + 0.5 * distance @ distance

        rougher = self.hyper.copy()
        rougher[: len(self.axes)] = self._target_lengths
        start = min(self.hyper, rougher, key=cost)
        search = scipy.optimize.minimize(
            cost, start, method="Nelder-Mead",
            options={
                "maxfev": MAX_EVALUATIONS, "xatol": NEGLIGIBLE, "fatol": NEGLIGIBLE,
                "initial_simplex": _start_simplex(start),
            },
        )  # fmt: skip
        return search.x, -float(search.fun)

    def _deviations(self, solved: GaussianPosterior) -> Float[np.ndarray, " k"]:
        """The posterior standard deviations of the coefficients."""
        return solved.spread(np.eye(self.unknowns.count)[self.unknowns.raws])

    def _fitted(self, state: _State, solved: GaussianPosterior, converged: bool) -> Fitted:
        solution = state.solution
        coefficients = self.unknowns.raws
        raws, proposed = state.unknown[coefficients], (solved.weights + self.first)[coefficients]
        learnt = self.coefficients.estimates(raws, proposed, self._deviations(solved))
        pieces = polynomials_of(solution)[0]
        with jax.enable_x64(True):
            model = self.model.with_pieces(edges_of(solution), pieces)
            pde = with_raws(self.task.pde, jnp.asarray(raws, jnp.float64))
        remaining = solved.weights - (state.unknown - self.first)
        return Fitted(model, pde, solution, solved, learnt, converged, remaining)


def _start_simplex(start):
    return np.concatenate([start[None], start + 0.5 * np.eye(len(start))])


def fit(task: Task, report: Report) -> Fitted:
    """The MAP estimate of a task with its posterior."""
    with beside_numpy(), blas_threads(MAX_SINGLE_THREADED):
        return Search(task, report).best()


def time_check(deadline: Deadline) -> CheckTime:
    """A function that raises `OutOfTime` once the fit's share of the seconds is used up."""

    def check_time() -> None:
        if not deadline.allows(0.0, FIT_SHARE):
            raise OutOfTime

    return check_time
