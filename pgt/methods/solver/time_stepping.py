"""Adaptive time stepping of an equation, and the sensitivities of the solution to the unknowns.

`solve` chooses mesh and steps: where the last polynomial coefficients of a field are not small, the step
is shortened or the mesh element halved. `solve_on` keeps mesh and steps, so that the solution is a smooth
function of the unknowns.

Newton's method solves a batch of several steps at once: their rows are evaluated together, and the
corrections are passed on from each step to the next. While the mesh is being refined, a batch has more
than one step only if the equation is affine, where one iteration is enough.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse.linalg
from jaxtyping import Float
from scipy.linalg import lu_factor, lu_solve

from pgt.methods.solver.collocation import Grid, Linearization, MeasuredValues, linearize, pieces_of
from pgt.methods.solver.splines import MAX_BUFFER, Mesh, Splines
from pgt.methods.solver.statement import FAR_EXTENTS, Statement
from pgt.methods.solver.unknown_functions import Unknowns

# The number of elements of an axis on the first mesh. More make a coarse solution slower, fewer take
# one more refinement.
FIRST_ELEMENTS = 2
# The largest ratio of the lengths of neighboring elements on the first mesh. A larger one needs fewer
# elements to reach an end that lies far away.
MAX_WIDENING = 4.0
# Collocation points of an element along each axis, by the number of axes. More suit smoother fields.
ELEMENT_POINTS = {1: 8, 2: 6}
# The largest number of degrees of freedom of a step: the factors of its matrix take up to 1 GiB. With
# sensitivities the limit is a quarter of it, because the factors of every step are kept.
MAX_NUMBERS = 2**15
MAX_STEPS = 20_000  # an equation that needs more steps is treated as having no solution
# The same for one whose sensitivities need more numbers, 4 GiB. A larger limit lets sharper fronts be
# fitted, and may fill the memory.
MAX_SENSITIVITIES = 2**29
MIN_FRACTION = 2.0**-20  # the shortest element or step, as a share of its axis; reached at a jump
MAX_NEWTON_ITERATIONS = 12  # where more would be needed, a shorter step is cheaper
# Newton's method ends at a change this small, relative to the tolerance of the mesh.
NEWTON_TOLERANCE = 1e-3
MAX_FIELD_SIZE = 1e4  # in spreads of the field; a solution that exceeds it counts as divergent
# The tolerance for first-order changes of the solution, in units of the fields' spread. It may be loose,
# because Gauss-Newton's method corrects such errors in its next iteration.
SENSITIVITY_TOLERANCE = 0.03
MAX_RESTART = 0.1  # if the mesh is refined within this share of the time, stepping begins again
# Only elements whose error is at least this share of the largest error are halved. The errors of the
# others may be caused by it.
WORST_FRACTION = 0.1


class SolveError(Exception):
    """Newton's method did not converge, or the solution is not finite."""


class OutOfTime(Exception):
    """The seconds were used up before the solution was found."""


CheckTime = Callable[[], None]  # raises `OutOfTime` where the seconds are used up


def no_limit() -> None:
    """A `CheckTime` that never raises."""


@dataclass(frozen=True)
class Sensitivity:
    """The slopes of the free numbers of a step in the numbers of its initial state and in the unknowns.

    `inverse` multiplies by the inverse of the step's matrix. Where it is None, `by_state` and
    `by_unknown` are already multiplied by it.
    """

    by_state: Any
    by_unknown: Float[np.ndarray, "n p"]
    inverse: Callable[[np.ndarray], np.ndarray] | None

    def change(self, state: Float[np.ndarray, "m q"], directions: Float[np.ndarray, "p q"]):
        """The change of the free numbers where the initial state changes by `state` and the unknowns
        by `directions`."""
        residual_change = self.by_state @ state + self.by_unknown @ directions
        return -(residual_change if self.inverse is None else self.inverse(residual_change))


@dataclass(frozen=True)
class TimeStep:
    """One step in time with its solution. `sensitivity` is None where it is not needed."""

    start: float
    length: float
    numbers: Float[np.ndarray, " n"]
    sensitivity: Sensitivity | None


@dataclass(frozen=True)
class Solution:
    """The solution on one mesh, for one vector of unknowns.

    `is_capped` says that the mesh reached its largest size before it was fine enough.
    """

    grid: Grid
    unknowns: Unknowns
    unknown: Float[np.ndarray, " p"]
    stages: tuple[TimeStep, ...]
    is_capped: bool = False

    @property
    def steps(self) -> tuple[tuple[float, float], ...]:
        return tuple((stage.start, stage.length) for stage in self.stages)

    def changes(self, directions: Float[np.ndarray, "p q"]) -> Iterator[Float[np.ndarray, "n q"]]:
        """The first-order change of the numbers of every step, for each direction of the unknowns."""
        grid = self.grid
        tangent = _initial_tangent(_initial_state(grid, self.unknowns, self.unknown), directions)
        for stage in self.stages:
            step_change = _step_change(grid, stage, tangent, directions)
            yield step_change
            tangent = _final_state(grid, step_change, stage.length)

    @cached_property
    def roughness(self) -> float:
        """The largest of the last polynomial coefficients over all steps, in units of the fields'
        sizes."""
        grid, errors = self.grid, []
        for stage in self.stages:
            sizes = _field_sizes(grid, self.unknowns, stage.numbers)
            errors.append(_error_in_time(grid, stage.numbers, sizes))
            errors += [float(e.max()) for e in _errors_in_space(grid, stage.numbers, sizes)]
        return max(errors, default=0.0)


class Readout:
    """The map from solutions on one mesh, with fixed steps, to the readings of the sensors."""

    def __init__(self, sensors: MeasuredValues, solution: Solution):
        self.sensors, self.parts = sensors, sensors.on(solution.grid, solution.steps)

    def values(self, solution: Solution) -> Float[np.ndarray, " n"]:
        """The readings that a solution predicts, in units of the spread."""
        values = sum(
            part @ stage.numbers for part, stage in zip(self.parts, solution.stages, strict=True)
        )
        return np.asarray(values) - self.sensors.mean / self.sensors.spread

    def slopes(self, solution: Solution) -> Float[np.ndarray, "n p"]:
        """The slopes of the predicted readings in all unknowns."""
        changes = solution.changes(np.eye(solution.unknowns.count))
        slopes = np.zeros((len(self.sensors.values), solution.unknowns.count))
        for part, change in zip(self.parts, changes, strict=True):
            if part.nnz:
                slopes += part @ change
        return slopes


# ------------------------------------------------------------------------------ polynomials


def edges_of(solution: Solution) -> list[Float[np.ndarray, " _"]]:
    """The edges of the elements along every axis of the domain."""
    edges = [np.asarray(mesh.edges) for mesh in solution.grid.meshes]
    if solution.grid.problem.domain.has_time:
        starts = [start for start, _ in solution.steps]
        edges.append(np.array([*starts, solution.grid.problem.domain.bounds("t")[1]]))
    return edges


def polynomials_of(solution: Solution) -> Float[np.ndarray, "1 c ..."]:
    """The Legendre coefficients of the fields of a solution, as `pieces_of` returns them."""
    return pieces_of(solution.grid, [stage.numbers[:, None] for stage in solution.stages])


# ------------------------------------------------------------------------------ a whole solution


def first_meshes(unknowns: Unknowns) -> tuple[Mesh, ...]:
    """The coarse meshes from which refinement starts."""
    domain = unknowns.problem.domain
    meshes = []
    for axis in domain.spatial_axes:
        periodic = axis in domain.periodic
        count = FIRST_ELEMENTS * (2 if periodic else 1)
        edges = _first_edges(unknowns.problem, axis, count)
        points = ELEMENT_POINTS[len(domain.spatial_axes)]
        meshes.append(Mesh(tuple(edges.tolist()), points, periodic))
    return tuple(meshes)


def _first_edges(problem: Statement, axis: str, count: int) -> Float[np.ndarray, " n"]:
    """The edges of `count` elements of equal length, with growing elements out to an end that lies far
    away. A radius with a large ratio of its ends is divided geometrically."""
    low, high = problem.domain.bounds(axis)
    if axis == "r" and low > 0 and high > MAX_WIDENING**count * low:
        count_by_ratio = int(np.ceil(np.log(high / low) / np.log(MAX_WIDENING)))
        return np.geomspace(low, high, 1 + count_by_ratio)
    inner = problem.inner.bounds(axis)
    length = (inner[1] - inner[0]) / count
    edges = np.linspace(*inner, count + 1)
    extra_count = int(np.log(2 * FAR_EXTENTS * count) / np.log(MAX_WIDENING))
    lengths = length * MAX_WIDENING ** np.arange(1, extra_count + 1)
    below, above = (
        np.cumsum(lengths) if end else np.zeros(0) for end in (low < inner[0], high > inner[1])
    )
    below, above = below[below < inner[0] - low], above[above < high - inner[1]]
    return np.unique(np.r_[low, (inner[0] - below)[::-1], edges, inner[1] + above, high])


@dataclass(frozen=True)
class Settings:
    """The settings of a solution.

    Attributes
    ----------
    tolerance : of mesh and steps, in units of the fields' spread.
    with_sensitivities : whether the sensitivities of all steps are kept, which takes memory.
    directions : changes of the unknowns; the mesh also resolves the solution's response to them.
    max_steps : an equation that needs more steps is treated as having no solution.
    """

    tolerance: float
    check_time: CheckTime = no_limit
    with_sensitivities: bool = True
    directions: Float[np.ndarray, "p q"] = field(default_factory=lambda: np.zeros((0, 0)))
    max_steps: int = MAX_STEPS

    @property
    def max_numbers(self) -> int:
        return MAX_NUMBERS // 4 if self.with_sensitivities else MAX_NUMBERS


def solve_on(
    grid: Grid,
    unknowns: Unknowns,
    unknown: Float[np.ndarray, " p"],
    steps: Sequence[tuple[float, float]],
    settings: Settings,
    near: Solution | None = None,
) -> Solution:
    """The solution on a fixed mesh with fixed steps. Newton's method starts from `near`, if given."""
    solver = _StepSolver(grid, unknowns, unknown, settings)
    state = [[numbers for numbers, _ in own] for own in _initial_state(grid, unknowns, unknown)]
    stages: list[TimeStep] = []
    # Without a nearby solution, a nonlinear step starts from the end of the previous one: no batches.
    batch_size = solver.max_batch if near is not None or unknowns.problem.is_affine else 1
    for first in range(0, len(steps), batch_size):
        batch_steps = np.array(steps[first : first + batch_size])
        if near is None:
            guess = solver.guess(state, batch_steps, stages[-1] if stages else None)
        else:
            guess = np.stack([stage.numbers for stage in near.stages[first : first + batch_size]])
        stages += solver.solve(state, guess, batch_steps)
        state = _final_state(grid, stages[-1].numbers, stages[-1].length)
    return Solution(grid, unknowns, unknown, tuple(stages))


def solve(
    unknowns: Unknowns,
    unknown: Float[np.ndarray, " p"],
    settings: Settings,
    meshes: tuple[Mesh, ...] | None = None,
) -> Solution:
    """The solution on an adaptive mesh with adaptive steps.

    Mesh and steps also resolve how the solution changes along the directions of `settings`: a mesh made
    for a smooth solution alone cannot represent the response to a rougher initial state.
    """
    grid = Grid(unknowns.problem, meshes or first_meshes(unknowns))
    if not settings.directions.size:
        settings = replace(settings, directions=np.zeros((unknowns.count, 0)))
    if not unknowns.problem.domain.has_time:
        return _solve_steady(grid, unknowns, unknown, settings)
    grid, is_capped = _refine_for_start(grid, unknowns, unknown, settings)
    while True:
        solution = _march(grid, unknowns, unknown, settings)
        if solution.grid is grid:
            return replace(solution, is_capped=solution.is_capped or is_capped)
        grid = solution.grid  # the steps were chosen on a coarser mesh: choose them again


def _march(grid: Grid, unknowns: Unknowns, unknown, settings: Settings) -> Solution:
    """A solution with adaptive steps. Where the mesh was too coarse, the solution has a finer grid; its
    earlier steps are then missing or on coarser grids, and the march has to be repeated."""
    begin, end = unknowns.problem.domain.bounds("t")
    slack, shortest = 1e-12 * (end - begin), MIN_FRACTION * (end - begin)
    start, directions = _initial_state(grid, unknowns, unknown), settings.directions
    state, tangent = [[n for n, _ in own] for own in start], _initial_tangent(start, directions)
    solver = _StepSolver(grid, unknowns, unknown, settings)
    time, length, count, is_capped = begin, (end - begin) / 16, 1, False
    stages: list[TimeStep] = []
    previous = None
    ends = np.array([*unknowns.problem.knots, end])  # a step must not contain a kink of a table
    while time < end - slack:
        if len(stages) >= settings.max_steps:
            raise SolveError(f"more than {settings.max_steps} steps")
        kept = settings.with_sensitivities * grid.size * unknowns.count * len(stages)
        if kept > MAX_SENSITIVITIES:
            raise SolveError("sensitivities that need more than 4 GiB")
        steps = _next_steps(time, length, ends, slack, min(count, solver.max_batch))
        try:
            guess = solver.guess(state, steps, previous)
            tried = solver.solve(state, guess, steps)
        except SolveError as error:
            if steps[0, 1] <= shortest:
                raise SolveError(f"{error}, on the largest mesh") if is_capped else error from None
            length, count = steps[0, 1] / 4, 1
            continue
        finer, factor = None, 1.0
        for stage in tried:
            change = _step_change(grid, stage, tangent, directions)
            error = _step_error(grid, unknowns, stage, change, settings.tolerance)
            order = max(t.size for t in grid.in_time)
            factor = 0.9 * (settings.tolerance / max(error, 1e-30)) ** (1 / order)
            if error > settings.tolerance and stage.length > shortest:
                length, count = stage.length * np.clip(factor, 0.1, 0.7), 1
                break
            # At a jump, which even the shortest step does not resolve, a finer mesh does not help.
            if error <= settings.tolerance:
                rough = _rough_elements(grid, unknowns, stage.numbers, change, settings.tolerance)
                if any(flags.any() for flags in rough):
                    finer = _refined(grid, rough, settings.max_numbers)
                    if finer is not None:
                        break
                    is_capped = True
            stages.append(
                stage if settings.with_sensitivities else replace(stage, sensitivity=None)
            )
            tangent = _final_state(grid, change, stage.length)
            state, previous = _final_state(grid, stage.numbers, stage.length), stage
            time = stage.start + stage.length
        else:
            count = 2 * count if unknowns.problem.is_affine else 1
            length = max(length, tried[-1].length) * np.clip(factor, 0.2, 4.0)
        if finer is not None:
            if time - begin < MAX_RESTART * (end - begin):
                return Solution(finer, unknowns, unknown, (), is_capped)
            state, tangent = _transferred(grid, finer, state), _transferred(grid, finer, tangent)
            grid, previous, count = finer, None, 1
            solver = _StepSolver(grid, unknowns, unknown, settings)
    return Solution(grid, unknowns, unknown, tuple(stages), is_capped)


def _next_steps(
    time: float, length: float, ends, slack: float, count: int
) -> Float[np.ndarray, "s 2"]:
    """At most `count` steps of about this length. They end at knots and leave no short rest before
    them."""
    steps = []
    while len(steps) < count and time < ends[-1] - slack:
        remaining = ends[np.searchsorted(ends, time + slack, side="right")] - time
        step = length
        if remaining - length < 0.1 * length:
            step = remaining
        elif remaining < 2 * length:
            step = remaining / 2
        steps.append((time, step))
        time = time + step
    return np.array(steps)


def _solve_steady(grid: Grid, unknowns: Unknowns, unknown, settings: Settings) -> Solution:
    """The solution of a steady equation on an adaptive mesh."""
    directions = settings.directions
    kept = replace(settings, with_sensitivities=settings.with_sensitivities or directions.size > 0)
    while True:
        solution = solve_on(grid, unknowns, unknown, [(0.0, 1.0)], kept)
        change = next(solution.changes(directions)) if directions.size else directions[:0]
        numbers = solution.stages[0].numbers
        rough = _rough_elements(grid, unknowns, numbers, change, settings.tolerance)
        if not any(flags.any() for flags in rough):
            return solution
        finer = _refined(grid, rough, settings.max_numbers)
        if finer is None:
            return replace(solution, is_capped=True)
        grid = finer


# ------------------------------------------------------------------------------ Newton's method


class _StepSolver:
    """Newton's method for batches of steps of one solution."""

    def __init__(self, grid: Grid, unknowns: Unknowns, unknown, settings: Settings):
        self.grid, self.unknowns, self.settings = grid, unknowns, settings
        self.raws, self.boundary = unknown[unknowns.raws], unknowns.boundary_values(grid, unknown)
        entries = (
            grid.size * (~grid.state).sum() if grid.pattern is None else len(grid.pattern.values)
        )
        self.max_batch = int(max(MAX_BUFFER // max(entries, 1), 1))
        directions = settings.directions
        self.with_sensitivity = settings.with_sensitivities or (directions.size > 0)

    def guess(self, state, steps, previous: TimeStep | None) -> Float[np.ndarray, "s n"]:
        """First numbers of some steps: the state at the start, constant in time. A field without a state
        starts from its last value."""
        grid, numbers = self.grid, np.zeros((len(steps), self.grid.size))
        for step_numbers, (_, length) in zip(numbers, steps, strict=True):
            step_numbers[grid.state] = _state_numbers(state, length)
        for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
            if time.order:
                continue
            value = float(self.unknowns.scaling.mean[f])
            if previous is not None:
                last = previous.numbers[grid.own(f)].reshape(time.size, count)
                value = (time.rows(np.ones(1)) @ last)[0]
            numbers[:, grid.own(f)].reshape(len(steps), time.size, count)[:, 0] = value
        return numbers

    def solve(self, state, numbers: Float[np.ndarray, "s n"], steps) -> list[TimeStep]:
        """The solution of consecutive steps that start from `state`; Newton's method starts from
        `numbers`."""
        grid, unknowns = self.grid, self.unknowns
        free, numbers = ~grid.state, numbers.copy()
        scaling = unknowns.scaling
        limit = np.where(unknowns.is_sized, MAX_FIELD_SIZE * np.asarray(scaling.spread), np.inf)
        numbers[0, grid.state] = _state_numbers(state, steps[0, 1])
        for _ in range(MAX_NEWTON_ITERATIONS):
            self.settings.check_time()
            rows = linearize(grid, numbers, steps, self.raws, self.boundary)
            if not np.isfinite(rows.values).all():
                raise SolveError("a value that is not finite")
            inverses = self._inverses(rows)
            largest, state_now = 0.0, state
            for k, (step_numbers, (_, length)) in enumerate(zip(numbers, steps, strict=True)):
                correction = _state_numbers(state_now, length) - step_numbers[grid.state]
                change = inverses[k](rows.values[k] + rows.by_state[k] @ correction)
                step_numbers[grid.state] += correction
                step_numbers[free] -= change
                sizes = _field_sizes(grid, unknowns, step_numbers)
                if not np.all(sizes < limit):
                    raise SolveError("the solution grows without bound")
                size = float(np.sqrt(np.mean((change / np.repeat(sizes, self._widths)) ** 2)))
                largest, state_now = (
                    max(largest, size),
                    _final_state(grid, step_numbers, length),
                )
            if not np.isfinite(largest):
                raise SolveError("a value that is not finite")
            is_converged = largest <= NEWTON_TOLERANCE * self.settings.tolerance
            if unknowns.problem.is_affine or is_converged:
                return self._time_steps(numbers, steps, rows, inverses)
        raise SolveError("Newton's method did not converge")

    @cached_property
    def _widths(self):
        """By field, the number of its free numbers."""
        return [
            int((~self.grid.state[self.grid.own(f)]).sum()) for f in range(len(self.grid.in_time))
        ]

    def _inverses(self, rows: Linearization):
        """By step, the function that multiplies by the inverse of the matrix of its free numbers."""
        try:
            if not self.grid.is_dense:
                return [scipy.sparse.linalg.splu(matrix).solve for matrix in rows.by_free]
            factors = [lu_factor(matrix, check_finite=False) for matrix in rows.by_free]
        except (np.linalg.LinAlgError, RuntimeError, ValueError):
            raise SolveError("a singular matrix") from None
        return [partial(lu_solve, factor, check_finite=False) for factor in factors]

    def _time_steps(self, numbers, steps, rows: Linearization, inverses) -> list[TimeStep]:
        stages = []
        for k, (start, length) in enumerate(steps):
            sensitivity = None
            if self.with_sensitivity:
                by_state, by_unknown = rows.by_state[k], rows.by_unknown(k)
                inverse = inverses[k]
                if self.grid.is_dense:
                    by_state, by_unknown, inverse = inverse(by_state), inverse(by_unknown), None
                sensitivity = Sensitivity(by_state, by_unknown, inverse)
            stages.append(TimeStep(float(start), float(length), numbers[k], sensitivity))
        return stages


# ------------------------------------------------------------------------------ states


def _initial_state(grid: Grid, unknowns: Unknowns, unknown):
    """By field, its initial value and time derivatives, each as (numbers, slopes in the unknowns)."""
    return [
        [unknowns.initial(grid, f, order, unknown) for order in range(time.order)]
        for f, time in enumerate(grid.in_time)
    ]


def _initial_tangent(start, directions: Float[np.ndarray, "p q"]):
    """The tangent of the initial state: its change for each direction of the unknowns."""
    return [[slope @ directions for _, slope in derivatives] for derivatives in start]


def _step_change(grid: Grid, stage: TimeStep, tangent, directions) -> Float[np.ndarray, "n q"]:
    """The change of the numbers of a step for each direction of the unknowns; `tangent` is that of the
    state at its start."""
    change = np.zeros((grid.size, directions.shape[1]))
    if not directions.shape[1]:
        return change
    assert stage.sensitivity is not None  # it is kept where there are directions
    if grid.state.any():
        change[grid.state] = _state_numbers(tangent, stage.length)
    change[~grid.state] = stage.sensitivity.change(change[grid.state], directions)
    return change


def _state_numbers(state, length: float):
    """The state as numbers of a step: time derivatives are multiplied by powers of its length."""
    parts = [length**order * values for own in state for order, values in enumerate(own)]
    return np.concatenate(parts) if parts else np.zeros((0,))


def _final_state(grid: Grid, numbers, length: float):
    """The state at the end of a step."""
    state = []
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        field_numbers = numbers[grid.own(f)].reshape(time.size, -1)
        shape = count, *numbers.shape[1:]
        state.append([
            (time.last[k] @ field_numbers).reshape(shape) / length**k for k in range(time.order)
        ])  # fmt: skip
    return state


def _transferred(grid: Grid, finer: Grid, state):
    """A state, transferred to a finer mesh."""
    return [
        [_transferred_field(values, grid.splines[f], finer.splines[f]) for values in derivatives]
        for f, derivatives in enumerate(state)
    ]


def _transferred_field(values, before: Sequence[Splines], after: Sequence[Splines]):
    """The numbers of a field in space, transferred to the splines of another mesh."""
    extra_shape = values.shape[1:]
    numbers = values.reshape((*(s.size for s in before), *extra_shape))
    for k, (old, new) in enumerate(zip(before, after, strict=True)):
        rows = old.rows(new.places)
        along_axis = np.moveaxis(numbers, k, 0)
        place_values = rows @ along_axis.reshape(
            len(along_axis), int(np.prod(along_axis.shape[1:]))
        )
        place_values = place_values.reshape(len(new.places), *along_axis.shape[1:])
        numbers = np.moveaxis(new.fitted(place_values), 0, k)
    return numbers.reshape((int(np.prod([s.size for s in after], dtype=int)), *extra_shape))


# ------------------------------------------------------------------------------ errors


def _field_sizes(grid: Grid, unknowns: Unknowns, numbers) -> Float[np.ndarray, " c"]:
    """The size of every field: its spread, or its largest deviation from the mean if that is larger."""
    spread, mean = (np.asarray(p, float) for p in (unknowns.scaling.spread, unknowns.scaling.mean))
    deviations = [
        np.abs(numbers[grid.own(f)] - mean[f]).max(initial=0.0) for f in range(len(spread))
    ]
    return np.maximum(spread, deviations)


def _step_error(grid: Grid, unknowns: Unknowns, stage: TimeStep, change, tolerance: float) -> float:
    """The error of a step in time. Errors of its `change` are scaled so that both may be compared with
    `tolerance`."""
    error = _error_in_time(grid, stage.numbers, _field_sizes(grid, unknowns, stage.numbers))
    spread = np.asarray(unknowns.scaling.spread, float)
    for column in change.T:
        change_error = _error_in_time(grid, column, spread)
        error = max(error, tolerance / SENSITIVITY_TOLERANCE * change_error)
    return error


def _error_in_time(grid: Grid, numbers, sizes) -> float:
    """The largest last coefficient of a step's polynomials in time, in units of the field's size."""
    errors = []
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        if time.order:
            last = time.pieces[-1] @ numbers[grid.own(f)].reshape(time.size, count)
            errors.append(float(np.sqrt(np.mean((last / sizes[f]) ** 2))))
    return max(errors, default=0.0)


def _rough_elements(grid: Grid, unknowns: Unknowns, numbers, change, tolerance: float):
    """By axis of space, flags of the elements to halve: the last coefficients of a field, or of its
    change, exceed the tolerance there and are not small beside the largest ones."""
    errors = _errors_in_space(grid, numbers, _field_sizes(grid, unknowns, numbers))
    spread = np.asarray(unknowns.scaling.spread, float)
    for column in change.T:
        change_errors = _errors_in_space(grid, column, spread)
        errors = [
            np.maximum(a, tolerance / SENSITIVITY_TOLERANCE * b)
            for a, b in zip(errors, change_errors, strict=True)
        ]
    worst = max((error.max(initial=0.0) for error in errors), default=0.0)
    tolerance = max(tolerance, WORST_FRACTION * worst)
    return [
        (error > tolerance) & (mesh.lengths > MIN_FRACTION * (mesh.edges[-1] - mesh.edges[0]))
        for error, mesh in zip(errors, grid.meshes, strict=True)
    ]


def _errors_in_space(grid: Grid, numbers, sizes) -> list[Float[np.ndarray, " n"]]:
    """By axis and element, the largest of the last two coefficients of any field, in units of its
    size."""
    errors = [np.zeros(mesh.count) for mesh in grid.meshes]
    for f, time in enumerate(grid.in_time):
        field_numbers = numbers[grid.own(f)].reshape(time.size, *(s.size for s in grid.splines[f]))
        for k, (mesh, spline) in enumerate(zip(grid.meshes, grid.splines[f], strict=True)):
            last = spline.coefficients(field_numbers, k + 1)[:, -2:].reshape(mesh.count, -1)
            error = np.abs(last).max(axis=1) / sizes[f]
            errors[k] = np.maximum(errors[k], error)
    return errors


def _refined(grid: Grid, rough, max_numbers: int) -> Grid | None:
    """The grid with the flagged elements halved; None where it would have too many numbers."""
    meshes = tuple(mesh.refined(flags) for mesh, flags in zip(grid.meshes, rough, strict=True))
    growth = np.prod(
        [m.count / max(mesh.count, 1) for m, mesh in zip(meshes, grid.meshes, strict=True)]
    )
    return Grid(grid.problem, meshes) if growth * grid.size <= max_numbers else None


def _refine_for_start(
    grid: Grid, unknowns: Unknowns, unknown, settings: Settings
) -> tuple[Grid, bool]:
    """A grid that resolves the initial state, and whether the limit on its size prevented that."""
    while grid.state.any():
        start = _initial_state(grid, unknowns, unknown)
        numbers = np.zeros(grid.size)
        change = np.zeros((grid.size, settings.directions.shape[1]))
        numbers[grid.state] = _state_numbers([[n for n, _ in own] for own in start], 1.0)
        change[grid.state] = _state_numbers(_initial_tangent(start, settings.directions), 1.0)
        rough = _rough_elements(grid, unknowns, numbers, change, settings.tolerance)
        if not any(flags.any() for flags in rough):
            break
        finer = _refined(grid, rough, settings.max_numbers)
        if finer is None:
            return grid, True
        grid = finer
    return grid, False
