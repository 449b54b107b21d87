"""The fit of a solver: Gauss-Newton's method for all that an equation leaves open.

The solution of the equation is a function of coefficients, initial states and boundary values. Around the
last solution it is linear in them: with the prior of unknown functions and noisy readings that is the
Gaussian model of inference/linear_gaussian.py, which chooses noise and sizes by the evidence; lengths of
functions are chosen here, by the same. Its mean is where the equation is solved next, its covariance at
the end is the posterior.

Steps in time are collocation on the host and not a compiled integrator. Only the residual at a point is
compiled here, so meshes may change between solutions; a compiled integrator compiles once for every mesh,
which takes longer than a small fit.
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
from pgt.data.observations import Observations
from pgt.data.splits import Groups
from pgt.data.splits import sensors as sensors_of
from pgt.inference.equation_prior import Basis, CorrelatedPrior
from pgt.inference.evidence import fit_posterior
from pgt.inference.linear_algebra import beside_numpy
from pgt.inference.linear_gaussian import GaussianPosterior, ReducedReadings, Rows
from pgt.methods.coefficients import MAX_LOG_STEP, CoefficientEstimate, CoefficientSteps, log_of
from pgt.methods.solver.collocation import Grid, Sensors, pieces_of
from pgt.methods.solver.forward import FIRST_TOLERANCE
from pgt.methods.solver.splines import values_of
from pgt.methods.solver.statement import raws_of, statement_of, with_raws
from pgt.methods.solver.time_stepping import (
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

MAX_ITERATIONS = 40  # of Gauss-Newton's method: most fits take fewer than ten
# Of a standard error or of a log-evidence: what is as small changes nothing of the answer. A fit ends
# where the next step moves readings and coefficients by less, and errors of the mesh are as small.
NEGLIGIBLE = 0.05
# Times the tolerance, and the roughness, for which a mesh was found: up to there it serves as well.
MAX_MESH_DRIFT = 5.0
# Functions drawn from the prior with lengths so many times shorter than those of greatest evidence: what
# a mesh follows beside the solution, so that the evidence is known around its maximum.
PROBE_FUNCTIONS, PROBE_SHORTENING = 3, 2.0
# The prior of the logarithms of lengths in half extents, and of sizes of functions beside each other: the
# middle of the first, and a standard deviation that says little.
USUAL_LENGTH, HYPER_DEVIATION = 0.7, 1.5
MAX_EVALUATIONS = 80  # of the evidence at one linearization
# A sensor has an offset, whose prior has this standard deviation in spreads of its field, where the gain
# in log-evidence is very strong (Kass and Raftery 1995).
OFFSET_DEVIATION, MIN_OFFSET_EVIDENCE = 0.1, 5.0
# Of a field, where any of them may have one: of fewer, offsets explain as well what an equation with some
# unknown coefficients leaves over.
MIN_SENSORS = 5
FIT_SHARE = 0.9  # of the seconds: the rest is for the errors and the verdict
MAX_SINGLE_THREADED = 100  # size of matrices that several threads do not make faster

Report = Callable[[float, dict[str, float]], None]


class Unsolvable(InputError):
    """The equation has no solution with the first values of all that is unknown."""


class Prior(Basis):
    """What is known of the unknown before any reading, as the Gaussian model wants it."""

    def __init__(self, root: Float[np.ndarray, "p p"], corners=None):
        """`root` of the covariance; `corners`: linear rows that hold exactly, and what they are equal
        to."""
        self.mean, self.root, self.vectors = np.zeros(len(root)), root, np.eye(len(root))
        if corners is not None and len(corners[0]):
            rows, target = corners
            seen = rows @ root
            inverse = np.linalg.pinv(seen)
            self.mean = root @ (inverse @ target)
            self.root = root - (root @ inverse) @ seen

    def prior(self, rho: float) -> CorrelatedPrior:
        """The same for every ρ: the equation holds."""
        return CorrelatedPrior(self.mean, self.root)


@dataclass(frozen=True)
class Fitted:
    """A solution and the posterior around it; what is asked of it is what is asked of a sum of sines
    (methods/closed_form/band_posterior.py)."""

    model: Solver
    pde: AbstractPDE
    solution: Solution
    solved: GaussianPosterior
    learnt: dict[str, CoefficientEstimate]
    converged: bool

    @property
    def sigma(self) -> float:
        """The noise of the readings, in units of their spread."""
        return self.solved.sigma

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]:
        """The same of every measured value."""
        return self.solved.sigma * self.solved.reduced.sigma

    def left_out(self, groups: Groups | None = None):
        """What is wrong with the prediction of every measured value from the others, and its σ."""
        return self.solved.left_out(groups)

    def without(self, inside: Int[np.ndarray, " m"]):
        """The same of some measured values, which are left out together."""
        return next(self.solved.without(inside))

    def drawn(self, count: int) -> Float[np.ndarray, "count p"]:
        """Steps from all that is unknown to what is drawn from the posterior, in pairs. Intervals of
        coefficients are as wide as it says."""
        own = self.solution.unknowns.raws
        half = self.solved.draw(count // 2, last=own.stop - own.start)
        return np.concatenate([half, -half])

    def moved(self, steps: Float[np.ndarray, "k p"]) -> Float[np.ndarray, "k c ..."]:
        """By how much the field's polynomials change with such steps, to first order."""
        grid, count = self.solution.grid, steps.shape[1]
        if len(steps) <= count:
            return pieces_of(grid, list(self.solution.changes(steps.T)))
        each = pieces_of(grid, list(self.solution.changes(np.eye(count))))
        return np.tensordot(steps, each, 1)

    def deviations(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "k n c"]:
        """How far fields drawn from the posterior are from the fit at points, in physical units."""
        return values_of(edges_of(self.solution), self._moved_pieces, points)

    @cached_property
    def _moved_pieces(self):
        return self.moved(self.drawn(POSTERIOR_DRAWS))

    def members(self, settings: Posterior) -> tuple[LinearisedModel, AbstractPDE]:
        """Models and equations drawn from the posterior, stacked, in pairs around the fit."""
        steps = self.drawn(settings.samples)
        raws = self.solution.unknown[self.solution.unknowns.raws]
        moved = raws + steps[:, self.solution.unknowns.raws]
        with jax.enable_x64(True):
            bases = batched.repeat(self.model, len(steps))
            pdes = [with_raws(self.pde, jnp.asarray(own, jnp.float64)) for own in moved]
            return LinearisedModel(bases, jnp.asarray(self.moved(steps))), batched.stack(pdes)


class _State:
    """A solution, linearised: the readings of it, and their slopes."""

    def __init__(
        self,
        solution: Solution,
        readout: Readout,
        tolerance: float,
        lengths: Float[np.ndarray, " a"],
        rough: float | None = None,
    ):
        """`lengths`: logarithms of the shortest ones of functions that its mesh follows."""
        self.solution, self.readout, self.tolerance = solution, readout, tolerance
        self.lengths = lengths
        self.rough = solution.roughness if rough is None else rough  # when its mesh was found
        self.unknown = solution.unknown
        self.read = readout.values(solution)

    @cached_property
    def slopes(self) -> Float[np.ndarray, "n p"]:
        """But for offsets."""
        return self.readout.slopes(self.solution)


class Search:
    """Gauss-Newton's method, and where it is."""

    def __init__(self, task: Task, report: Report):
        assert isinstance(task.model, Solver)
        self.task, self.report, self.model = task, report, task.model
        self.deadline = Deadline(task.training.seconds)
        self.check_time = time_check(self.deadline)
        problem = task.problem
        self.problem = statement_of(
            task.pde, problem.domain, problem.conditions, self.model.scaling
        )
        self.sensors = Sensors(problem.observations, self.model.scaling)
        self.offsets = _offset_columns(problem.observations, self.sensors)
        self.unknowns = Unknowns(self.problem, self.model.scaling, sensors=self.offsets.shape[1])
        self.coefficients = CoefficientSteps(task.pde)
        self.first = np.zeros(self.unknowns.count)
        self.first[self.unknowns.raws] = raws_of(task.pde)
        self.axes = tuple(dict.fromkeys(a for part in self.unknowns.parts for a in part.axes))
        sizes = len(self.unknowns.names) - len(self.axes)
        self.middle = np.r_[np.full(len(self.axes), np.log(USUAL_LENGTH)), np.zeros(sizes)]
        self.is_faulty = np.zeros(self.offsets.shape[1], bool)
        self.hyper, self.weighed = self.middle.copy(), self.sensors.relative
        self.tolerance = self.model.tolerance

    def best(self) -> Fitted:
        """Where the readings are most probable."""
        state, converged = self._begun(), False
        for turn in range(MAX_ITERATIONS):
            solved = self._posterior(state)
            if not self._is_resolved(state):
                try:
                    state = self._resolved(state)
                    continue
                except SolveError:
                    state.lengths = self._shortest  # no mesh follows them
                except OutOfTime:
                    break
            change = solved.weights - (state.unknown - self.first)
            share = self._share(state.unknown, change)
            moves = self._moves(state, solved, change)
            self.report(turn / MAX_ITERATIONS, {"noise": solved.sigma})
            is_fine = state.tolerance <= MAX_MESH_DRIFT * self.tolerance
            converged = moves < NEGLIGIBLE and is_fine
            if converged and (faulty := self._faulty_sensor(solved)) is not None:
                self.is_faulty[faulty] = True
                continue
            if converged or not self.deadline.allows(0.0):
                break
            try:
                following = self._stepped(state, solved, change, share, moves)
            except OutOfTime:
                break
            if following is None:
                converged = is_fine and moves < 2 * NEGLIGIBLE  # but for errors of the mesh
                break
            state = following
        solved = self._posterior(state)
        return self._fitted(state, solved, converged)

    def _begun(self) -> _State:
        """The first solution: with functions as interpolation of the readings has them, or else with the
        most probable ones."""
        coarse, complaint = max(FIRST_TOLERANCE, self.tolerance), None
        for first in self._first_guesses():
            try:
                return self._on_new_mesh(first, coarse, no_limit)
            except SolveError as stuck:
                complaint = stuck
        raise Unsolvable(
            f"the equation could not be solved with its first coefficients ({complaint}): begin "
            "closer to what is expected, give initial and boundary values, or name another model."
        )

    def _first_guesses(self) -> Iterator[Float[np.ndarray, " p"]]:
        """First guesses for coefficients, and functions that agree where they meet."""
        grid = Grid(self.problem, first_meshes(self.unknowns))
        corners = self._corners_at(grid, self.first)
        guess = FirstGuess(self.unknowns, self.task.problem.observations)
        lengths = guess.lengths()
        for k, axis in enumerate(self.axes):
            self.hyper[k] = np.log(lengths.get(axis, USUAL_LENGTH))
        prior = Prior(self._root(self.hyper), corners)
        rows, targets = guess.rows()
        if len(rows):
            seen = rows @ prior.root
            missed = targets - rows @ prior.mean
            normal = np.linalg.lstsq(
                np.concatenate([seen, np.eye(seen.shape[1])]),
                np.concatenate([missed, np.zeros(seen.shape[1])]),
                rcond=None,
            )[0]
            yield self.first + prior.mean + prior.root @ normal
        yield self.first + prior.mean

    @property
    def _shortest(self) -> Float[np.ndarray, " a"]:
        """Logarithms of lengths that a mesh should follow, so that the evidence is known around those of
        greatest evidence."""
        return self.hyper[: len(self.axes)] - np.log(PROBE_SHORTENING)

    def _is_resolved(self, state: _State) -> bool:
        """Whether the mesh follows functions that are rougher than those of greatest evidence."""
        return bool(np.all(self._shortest - state.lengths >= -np.log(PROBE_SHORTENING) / 2))

    def _resolved(self, state: _State) -> _State:
        """The same functions on a mesh that follows rougher ones, with as many modes as these have."""
        lengths = dict(zip(self.axes, np.exp(self._shortest), strict=True))
        before = self.unknowns
        self.unknowns = Unknowns(
            self.problem, self.model.scaling, lengths=lengths, sensors=self.offsets.shape[1]
        )
        self.first = before.prolonged(self.first, self.unknowns)
        unknown = before.prolonged(state.unknown, self.unknowns)
        try:
            return self._on_new_mesh(unknown, self.tolerance, self.check_time)
        except (SolveError, OutOfTime):
            self.first, self.unknowns = self.unknowns.prolonged(self.first, before), before
            raise

    def _directions(self, grid: Grid, unknown) -> Float[np.ndarray, "p k"]:
        """Functions drawn from the prior, rougher than those of greatest evidence."""
        hyper = self.hyper.copy()
        hyper[: len(self.axes)] = self._shortest
        prior = Prior(self._root(hyper), self._corners_at(grid, unknown))
        normal = np.random.default_rng(0).standard_normal((self.unknowns.count, PROBE_FUNCTIONS))
        found = prior.root @ normal
        found[self.unknowns.offsets.start :] = 0.0
        return found[:, np.any(found, axis=0)]

    def _root(self, hyper: Float[np.ndarray, " h"]) -> Float[np.ndarray, "p p"]:
        """A root of the prior's covariance; only sensors that are found to be faulty have offsets."""
        found, own = self.unknowns.root(hyper), self.unknowns.offsets
        found[own, own] = np.diag(np.where(self.is_faulty, OFFSET_DEVIATION, 0.0))
        return found

    def _slopes(self, state: _State) -> Float[np.ndarray, "n p"]:
        """How what is read changes with all that is unknown, offsets included."""
        slopes = state.slopes.copy()
        slopes[:, self.unknowns.offsets] += self.offsets
        return slopes

    def _read(self, state: _State) -> Float[np.ndarray, " n"]:
        """What sensors with their offsets read."""
        return state.read + self.offsets @ state.unknown[self.unknowns.offsets]

    def _faulty_sensor(self, solved: GaussianPosterior) -> int | None:
        """The sensor whose offset makes the readings most probable, where it does so by far; None where
        none does, or as many have one already as the others can outvote."""
        if 2 * self.is_faulty.sum() + 2 >= len(self.is_faulty):
            return None
        gains = [
            -np.inf
            if known
            else solved.evidence_with_error_along(OFFSET_DEVIATION * column) - solved.evidence
            for column, known in zip(self.offsets.T, self.is_faulty, strict=True)
        ]
        best = int(np.argmax(gains))
        return best if gains[best] > MIN_OFFSET_EVIDENCE else None

    def _share(self, unknown, change) -> float:
        """Of a step, so much that no coefficient moves too far."""
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

    def _moves(self, state: _State, solved: GaussianPosterior, change) -> float:
        """By how much a step moves what is read, in σ, and coefficients, in standard deviations."""
        read = (self._slopes(state) @ change) / (solved.sigma * self.sensors.relative)
        size = float(np.sqrt(np.mean(read**2))) if len(read) else 0.0
        known = self._deviations(solved)
        raws = np.abs(change[self.unknowns.raws]) / np.maximum(known, 1e-300)
        return max(size, float(raws.max(initial=0.0)))

    def _stepped(
        self, state: _State, solved: GaussianPosterior, change, share: float, moves: float
    ) -> _State | None:
        """The step, or as much of it as makes the readings more probable; None where nothing does.

        With other coefficients, other functions are most probable. The first linearization tells them
        only roughly, since coefficients multiply fields: where its step fails, functions follow the
        coefficients once more before these are moved by less (variable projection, Golub and Pereyra
        1973)."""
        most = self._cost(state, solved) * (1 + 1e-9) + 1e-9
        part = 2 * share
        while part == 2 * share or part * moves > NEGLIGIBLE:
            part /= 2
            try:
                following = self._solved_at(self._toward(state, solved, change, part), state)
                if self._cost(following, solved) <= most:
                    return following
                raws = following.unknown[self.unknowns.raws]
                if len(raws):
                    again = self._with_coefficients(following, solved, raws)
                    following = self._solved_at(again, following)
                    if self._cost(following, solved) <= most:
                        return following
            except SolveError:
                continue
        return None

    def _toward(
        self, state: _State, solved: GaussianPosterior, change, part: float
    ) -> Float[np.ndarray, " p"]:
        """All that is unknown after a part of a step: functions are the most probable ones for the
        coefficients."""
        own = self.unknowns.raws
        if own.start == own.stop:
            return state.unknown + part * change
        return self._with_coefficients(state, solved, state.unknown[own] + part * change[own])

    def _with_coefficients(
        self, state: _State, solved: GaussianPosterior, raws
    ) -> Float[np.ndarray, " p"]:
        """Coefficients with these values and, by the linearization, the most probable functions."""
        own, root, mean = self.unknowns.raws, self.prior.root, self.first + self.prior.mean
        slopes, sigma = self._slopes(state), solved.sigma * solved.reduced.sigma
        held = np.linalg.solve(root[own, own], raws - mean[own])  # independent of all the rest
        known = mean + root[:, own] @ held
        free = np.ones(len(root), bool)
        free[own] = False
        missed = self.sensors.values - self._read(state) + slopes @ (state.unknown - known)
        rows = [
            (slopes @ root[:, free]) / sigma[:, None],
            np.eye(free.sum()) / np.sqrt(solved.scale),
        ]
        target = [missed / sigma, np.zeros(free.sum())]
        found = np.linalg.lstsq(np.concatenate(rows), np.concatenate(target), rcond=None)[0]
        return known + root[:, free] @ found

    def _solved_at(self, unknown, state: _State) -> _State:
        """The solution on the same mesh, or on a finer one where it asks for that."""
        solution, tolerance = state.solution, self.tolerance
        if state.tolerance <= MAX_MESH_DRIFT * tolerance:
            try:
                settings = Settings(tolerance, self.check_time)
                found = solve_on(
                    solution.grid, self.unknowns, unknown, solution.steps, settings, solution
                )
            except SolveError:
                found = None
            if found is not None and found.roughness <= MAX_MESH_DRIFT * max(
                state.tolerance, state.rough
            ):
                return _State(found, state.readout, state.tolerance, state.lengths, state.rough)
        return self._on_new_mesh(unknown, tolerance, self.check_time)

    def _on_new_mesh(self, unknown, tolerance: float, check_time: CheckTime) -> _State:
        grid = Grid(self.problem, first_meshes(self.unknowns))
        directions = self._directions(grid, unknown)
        found = solve(self.unknowns, unknown, Settings(tolerance, check_time, True, directions))
        return _State(found, Readout(self.sensors, found), tolerance, self._shortest)

    def _cost(self, state: _State, solved: GaussianPosterior) -> float:
        """Twice the negative logarithm of the posterior, with what the evidence chose."""
        missed = (self.sensors.values - self._read(state)) / (solved.sigma * solved.reduced.sigma)
        away = state.unknown - self.first - self.prior.mean
        prior = np.linalg.lstsq(self.prior.root, away, rcond=1e-10)[0]
        return float(missed @ missed + prior @ prior / solved.scale)

    # ------------------------------------------------------------------------- the Gaussian model

    def _posterior(self, state: _State) -> GaussianPosterior:
        """The posterior of the linearised model, with lengths, sizes and noise of greatest evidence."""
        rows, corners = self._rows(state), self._corners(state)
        if len(self.hyper):
            reduced = ReducedReadings(
                replace(rows, sigma=self.weighed), Prior(np.eye(self.unknowns.count))
            )
            self.hyper, _ = self._most_probable(reduced, corners)
        self.prior = Prior(self._root(self.hyper), corners)
        solved = fit_posterior(rows, self.task.problem.likelihood, basis=self.prior)
        self.weighed = solved.reduced.sigma  # where outliers are expected, they count for less
        standard_error = solved.sigma * np.sqrt(solved.determined / len(self.sensors.values))
        self.tolerance = max(self.model.tolerance, NEGLIGIBLE * float(standard_error))
        return solved

    def _rows(self, state: _State) -> Rows:
        count = self.unknowns.count
        slopes = self._slopes(state)
        values = self.sensors.values - self._read(state) + slopes @ (state.unknown - self.first)
        return Rows(
            np.zeros((0, count)), np.zeros(0), slopes, values, self.sensors.relative,
            self.sensors.common, self.sensors.fields,
        )  # fmt: skip

    def _corners(self, state: _State):
        """Where unknown initial states and boundary values meet, rows that are to hold for these
        functions, counted from where they began. Coefficients are held: next to nothing is known of them
        before the readings, so that the rows would be fulfilled by them and not by the functions."""
        return self._corners_at(state.solution.grid, state.unknown)

    def _corners_at(self, grid: Grid, unknown):
        values, slopes = self.unknowns.boundary_values(grid, unknown).corners()
        slopes[:, self.unknowns.raws] = 0.0
        return slopes, slopes @ (unknown - self.first) - values

    def _most_probable(self, reduced: ReducedReadings, corners) -> tuple[np.ndarray, float]:
        """The logarithms of lengths and sizes at the greatest evidence, and that evidence."""

        def cost(hyper):
            away, tried = (hyper - self.middle) / HYPER_DEVIATION, copy(reduced)
            tried.basis = Prior(self._root(hyper), corners)
            return -tried.posterior(0.0).evidence + 0.5 * away @ away

        rougher = self.hyper.copy()
        rougher[: len(self.axes)] = self._shortest
        start = min(self.hyper, rougher, key=cost)
        found = scipy.optimize.minimize(
            cost, start, method="Nelder-Mead",
            options={
                "maxfev": MAX_EVALUATIONS, "xatol": NEGLIGIBLE, "fatol": NEGLIGIBLE,
                "initial_simplex": _simplex(start),
            },
        )  # fmt: skip
        return found.x, -float(found.fun)

    def _deviations(self, solved: GaussianPosterior) -> Float[np.ndarray, " k"]:
        """Of the coefficients."""
        return solved.spread(np.eye(self.unknowns.count)[self.unknowns.raws])

    def _fitted(self, state: _State, solved: GaussianPosterior, converged: bool) -> Fitted:
        solution = state.solution
        own = self.unknowns.raws
        raws, asked = state.unknown[own], (solved.weights + self.first)[own]
        learnt = self.coefficients.estimates(raws, asked, self._deviations(solved))
        pieces = polynomials_of(solution)[0]
        with jax.enable_x64(True):
            model = self.model.with_pieces(edges_of(solution), pieces)
            pde = with_raws(self.task.pde, jnp.asarray(raws, jnp.float64))
        return Fitted(model, pde, solution, solved, learnt, converged)


def _offset_columns(readings: Observations, sensors: Sensors) -> Float[np.ndarray, "n k"]:
    """By measured value, which sensor of its field took it, for fields that enough sensors measure."""
    sensor_of, columns = sensors_of(readings), []
    if sensor_of is None:
        return np.zeros((len(sensors.values), 0))
    for field in np.unique(sensors.fields):
        own = np.where(sensors.fields == field, sensor_of[sensors.rows], -1)
        numbers = np.unique(own[own >= 0])
        if len(numbers) >= MIN_SENSORS:
            columns += [(own == number).astype(float) for number in numbers]
    return np.array(columns).reshape(-1, len(sensors.values)).T


def _simplex(middle):
    return np.concatenate([middle[None], middle + 0.5 * np.eye(len(middle))])


def fit(task: Task, report: Report) -> Fitted:
    """The solution under which the readings of a task are most probable."""
    with beside_numpy(), blas_threads(MAX_SINGLE_THREADED):
        return Search(task, report).best()


def time_check(deadline: Deadline) -> CheckTime:
    """Ends what is going on where the seconds are used up, but for those that the result takes."""

    def check_time() -> None:
        if not deadline.allows(0.0, FIT_SHARE):
            raise OutOfTime

    return check_time
