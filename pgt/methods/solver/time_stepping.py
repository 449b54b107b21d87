"""An equation solved step by step, and how its solution changes with what is unknown.

Steps in time are as long as their polynomials allow, elements of space as short as theirs need: where the
last coefficients of a field are not small, the step is taken again, or the element halved. Once mesh and
steps are found they stay, so that the solution is a smooth function of all that is unknown.

Newton's method solves several steps at once: their rows are evaluated together, and corrections go from
one step to the next. While a mesh is looked for, several steps are tried only where the equation is
affine and one iteration solves it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse.linalg
from jaxtyping import Float
from scipy.linalg import lu_factor, lu_solve

from pgt.methods.solver.collocation import Grid, Linearization, Sensors, linearize, pieces_of
from pgt.methods.solver.splines import MAX_BUFFER, Mesh, Splines
from pgt.methods.solver.statement import FAR_EXTENTS, Statement
from pgt.methods.solver.unknown_functions import Unknowns

FIRST_ELEMENTS = 2  # of an axis: more make a coarse solution slower, fewer take one more refinement
MAX_WIDENING = 4.0  # of an element beside the one before it, on the first mesh: more reach farther
ELEMENT_POINTS = {1: 8, 2: 6}  # along each axis, by the number of axes: more for smoother fields
# Numbers of a step, beyond which no element is halved: a factor of their matrix fills up to 1 GiB. Where
# sensitivities are kept, so do those of every step with a quarter of the numbers.
MAX_NUMBERS = 2**15
MAX_STEPS = 20_000  # of a solution: an equation that needs more counts as one without
MIN_FRACTION = 2.0**-20  # of an axis: no element or step is shorter, as at a jump
MAX_NEWTON_ITERATIONS = 12  # with more, a shorter step is cheaper
NEWTON_TOLERANCE = 1e-3  # of the tolerance of the mesh: the change at which Newton's method ends
MAX_FIELD_SIZE = 1e4  # spreads of a field: an equation with such numbers has no solution
# Of the fields' spread: the error of a change of the solution, which Gauss-Newton's method corrects.
SENSITIVITY_TOLERANCE = 0.03
MAX_RESTART = 0.1  # of the time: a mesh that is refined before is taken for the first steps as well
WORST_FRACTION = 0.1  # of the largest error: elements with less wait, as it may be caused elsewhere


class SolveError(Exception):
    """Newton's method did not converge, or the solution is not finite."""


class OutOfTime(Exception):
    """The seconds were used up before the solution was found."""


CheckTime = Callable[[], None]  # raises `OutOfTime` where the seconds are used up


def no_limit() -> None:
    """For a solution that may take as long as it needs."""


@dataclass(frozen=True)
class Sensitivity:
    """How the free numbers of a step change with the numbers of its state, and with what is unknown."""

    by_state: Any  # times the inverse of the matrix already where that is None
    by_unknown: Float[np.ndarray, "n p"]
    inverse: Callable[[np.ndarray], np.ndarray] | None

    def change(self, state: Float[np.ndarray, "m q"], directions: Float[np.ndarray, "p q"]):
        """Of the free numbers, where the state changes by this, and what is unknown by `directions`."""
        found = self.by_state @ state + self.by_unknown @ directions
        return -(found if self.inverse is None else self.inverse(found))


@dataclass(frozen=True)
class TimeStep:
    """One step in time with its solution; its sensitivity is there only where it was asked for."""

    start: float
    length: float
    numbers: Float[np.ndarray, " n"]
    sensitivity: Sensitivity | None


@dataclass(frozen=True)
class Solution:
    """The solution on one mesh, for one value of all that is unknown."""

    grid: Grid
    unknowns: Unknowns
    unknown: Float[np.ndarray, " p"]
    stages: tuple[TimeStep, ...]
    is_capped: bool = False  # whether the mesh was at its largest before it was fine enough

    @property
    def steps(self) -> tuple[tuple[float, float], ...]:
        return tuple((stage.start, stage.length) for stage in self.stages)

    def changes(self, directions: Float[np.ndarray, "p q"]) -> Iterator[Float[np.ndarray, "n q"]]:
        """Of every step, how its numbers change with what is unknown, to first order."""
        grid = self.grid
        moving = _moving(_start(grid, self.unknowns, self.unknown), directions)
        for stage in self.stages:
            found = _change(grid, stage, moving, directions)
            yield found
            moving = _end(grid, found, stage.length)

    @cached_property
    def roughness(self) -> float:
        """The largest of the last coefficients of any step, in units of the fields' spread."""
        grid, errors = self.grid, []
        for stage in self.stages:
            sizes = _sizes(grid, self.unknowns, stage.numbers)
            errors.append(_error_in_time(grid, stage.numbers, sizes))
            errors += [float(e.max()) for e in _errors_in_space(grid, stage.numbers, sizes)]
        return max(errors, default=0.0)


class Readout:
    """What sensors read of solutions on one mesh with the same steps."""

    def __init__(self, sensors: Sensors, solution: Solution):
        self.sensors, self.parts = sensors, sensors.on(solution.grid, solution.steps)

    def values(self, solution: Solution) -> Float[np.ndarray, " n"]:
        """The readings of a solution, in units of the spread."""
        read = sum(
            part @ stage.numbers for part, stage in zip(self.parts, solution.stages, strict=True)
        )
        return np.asarray(read) - self.sensors.mean / self.sensors.spread

    def slopes(self, solution: Solution) -> Float[np.ndarray, "n p"]:
        """How they change with all that is unknown."""
        changes = solution.changes(np.eye(solution.unknowns.count))
        found = np.zeros((len(self.sensors.values), solution.unknowns.count))
        for part, change in zip(self.parts, changes, strict=True):
            if part.nnz:
                found += part @ change
        return found


# ------------------------------------------------------------------------------ polynomials


def edges_of(solution: Solution) -> list[Float[np.ndarray, " _"]]:
    """Where elements begin and end, along every axis of the domain."""
    found = [np.asarray(mesh.edges) for mesh in solution.grid.meshes]
    if solution.grid.problem.domain.has_time:
        starts = [start for start, _ in solution.steps]
        found.append(np.array([*starts, solution.grid.problem.domain.bounds("t")[1]]))
    return found


def polynomials_of(solution: Solution) -> Float[np.ndarray, "1 c ..."]:
    """The fields of a solution, as `pieces_of` gives them."""
    return pieces_of(solution.grid, [stage.numbers[:, None] for stage in solution.stages])


# ------------------------------------------------------------------------------ a whole solution


def first_meshes(unknowns: Unknowns) -> tuple[Mesh, ...]:
    """From where a search for a mesh begins."""
    domain = unknowns.problem.domain
    found = []
    for axis in domain.spatial_axes:
        periodic = axis in domain.periodic
        count = FIRST_ELEMENTS * (2 if periodic else 1)
        edges = _first_edges(unknowns.problem, axis, count)
        points = ELEMENT_POINTS[len(domain.spatial_axes)]
        found.append(Mesh(tuple(edges.tolist()), points, periodic))
    return tuple(found)


def _first_edges(problem: Statement, axis: str, count: int) -> Float[np.ndarray, " n"]:
    """Elements of one length, but growing with the radius, and out to an end that lies far away."""
    low, high = problem.domain.bounds(axis)
    if axis == "r" and low > 0 and high > MAX_WIDENING**count * low:
        numbers = int(np.ceil(np.log(high / low) / np.log(MAX_WIDENING)))
        return np.geomspace(low, high, 1 + numbers)
    inner = problem.inner.bounds(axis)
    length = (inner[1] - inner[0]) / count
    edges = np.linspace(*inner, count + 1)
    farther = int(np.log(2 * FAR_EXTENTS * count) / np.log(MAX_WIDENING))
    steps = length * MAX_WIDENING ** np.arange(1, farther + 1)
    below, above = (
        np.cumsum(steps) if end else np.zeros(0) for end in (low < inner[0], high > inner[1])
    )
    below, above = below[below < inner[0] - low], above[above < high - inner[1]]
    return np.unique(np.r_[low, (inner[0] - below)[::-1], edges, inner[1] + above, high])


@dataclass(frozen=True)
class Settings:
    """How a solution is found: its tolerance in units of the fields' spread, the clock, whether its
    sensitivities are kept, which take memory, and directions of change that the mesh is to follow."""

    tolerance: float
    check_time: CheckTime = no_limit
    with_sensitivities: bool = True
    directions: Float[np.ndarray, "p q"] = field(default_factory=lambda: np.zeros((0, 0)))

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
    """The solution with steps that are known; `near` is one from which Newton's method may begin."""
    solver = _StepSolver(grid, unknowns, unknown, settings)
    state = [[numbers for numbers, _ in own] for own in _start(grid, unknowns, unknown)]
    stages: list[TimeStep] = []
    # Nonlinear steps begin where the last one ended, unless a solution is near.
    batch = solver.max_batch if near is not None or unknowns.problem.is_affine else 1
    for first in range(0, len(steps), batch):
        own = np.array(steps[first : first + batch])
        if near is None:
            guess = solver.guess(state, own, stages[-1] if stages else None)
        else:
            guess = np.stack([stage.numbers for stage in near.stages[first : first + batch]])
        stages += solver.solve(state, guess, own)
        state = _end(grid, stages[-1].numbers, stages[-1].length)
    return Solution(grid, unknowns, unknown, tuple(stages))


def solve(
    unknowns: Unknowns,
    unknown: Float[np.ndarray, " p"],
    settings: Settings,
    meshes: tuple[Mesh, ...] | None = None,
) -> Solution:
    """The solution on a mesh and with steps that follow it.

    Mesh and steps also follow how the solution changes along the directions of `settings`: a mesh that is
    made for a smooth solution tells nothing of what a rougher initial state would do.
    """
    grid = Grid(unknowns.problem, meshes or first_meshes(unknowns))
    if not settings.directions.size:
        settings = replace(settings, directions=np.zeros((unknowns.count, 0)))
    if not unknowns.problem.domain.has_time:
        return _solve_steady(grid, unknowns, unknown, settings)
    grid, is_capped = _refine_for_start(grid, unknowns, unknown, settings)
    while True:
        found = _march(grid, unknowns, unknown, settings)
        if found.grid is grid:
            return replace(found, is_capped=found.is_capped or is_capped)
        grid = found.grid  # steps were as short as the coarser mesh made them: once more


def _march(grid: Grid, unknowns: Unknowns, unknown, settings: Settings) -> Solution:
    """A solution with steps that follow it; on a finer mesh where that was too coarse, and then its
    stages before are missing or on coarser ones."""
    begin, end = unknowns.problem.domain.bounds("t")
    slack, shortest = 1e-12 * (end - begin), MIN_FRACTION * (end - begin)
    start, directions = _start(grid, unknowns, unknown), settings.directions
    state, moving = [[numbers for numbers, _ in own] for own in start], _moving(start, directions)
    solver = _StepSolver(grid, unknowns, unknown, settings)
    time, length, count, is_capped = begin, (end - begin) / 16, 1, False
    stages: list[TimeStep] = []
    before = None
    ends = np.array([*unknowns.problem.knots, end])  # a polynomial does not follow what bends
    while time < end - slack:
        if len(stages) >= MAX_STEPS:
            raise SolveError(f"more than {MAX_STEPS} steps")
        steps = _next_steps(time, length, ends, slack, min(count, solver.max_batch))
        try:
            guess = solver.guess(state, steps, before)
            tried = solver.solve(state, guess, steps)
        except SolveError as error:
            if steps[0, 1] <= shortest:
                raise SolveError(f"{error}, on the largest mesh") if is_capped else error from None
            length, count = steps[0, 1] / 4, 1
            continue
        finer, factor = None, 1.0
        for stage in tried:
            change = _change(grid, stage, moving, directions)
            error = _step_error(grid, unknowns, stage, change, settings.tolerance)
            order = max(t.size for t in grid.in_time)
            factor = 0.9 * (settings.tolerance / max(error, 1e-30)) ** (1 / order)
            if error > settings.tolerance and stage.length > shortest:
                length, count = stage.length * np.clip(factor, 0.1, 0.7), 1
                break
            # Of a jump, which the shortest step does not follow, no mesh shows more.
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
            moving = _end(grid, change, stage.length)
            state, before = _end(grid, stage.numbers, stage.length), stage
            time = stage.start + stage.length
        else:
            count = 2 * count if unknowns.problem.is_affine else 1
            length = max(length, tried[-1].length) * np.clip(factor, 0.2, 4.0)
        if finer is not None:
            if time - begin < MAX_RESTART * (end - begin):
                return Solution(finer, unknowns, unknown, (), is_capped)
            state, moving = _moved(grid, finer, state), _moved(grid, finer, moving)
            grid, before, count = finer, None, 1
            solver = _StepSolver(grid, unknowns, unknown, settings)
    return Solution(grid, unknowns, unknown, tuple(stages), is_capped)


def _next_steps(
    time: float, length: float, ends, slack: float, count: int
) -> Float[np.ndarray, "s 2"]:
    """So many steps of about this length, none beyond a knot, and no short one left before it."""
    found = []
    while len(found) < count and time < ends[-1] - slack:
        left = ends[np.searchsorted(ends, time + slack, side="right")] - time
        own = length
        if left - length < 0.1 * length:
            own = left
        elif left < 2 * length:
            own = left / 2
        found.append((time, own))
        time = time + own
    return np.array(found)


def _solve_steady(grid: Grid, unknowns: Unknowns, unknown, settings: Settings) -> Solution:
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
    """Newton's method for some steps of one solution."""

    def __init__(self, grid: Grid, unknowns: Unknowns, unknown, settings: Settings):
        self.grid, self.unknowns, self.settings = grid, unknowns, settings
        self.raws, self.boundary = unknown[unknowns.raws], unknowns.boundary_values(grid, unknown)
        entries = (
            grid.size * (~grid.state).sum() if grid.pattern is None else len(grid.pattern.values)
        )
        self.max_batch = int(max(MAX_BUFFER // max(entries, 1), 1))
        directions = settings.directions
        self.with_sensitivity = settings.with_sensitivities or (directions.size > 0)

    def guess(self, state, steps, before: TimeStep | None) -> Float[np.ndarray, "s n"]:
        """The state at the start of a step, for all of it; of fields without one, what they were last."""
        grid, numbers = self.grid, np.zeros((len(steps), self.grid.size))
        for own, (_, length) in zip(numbers, steps, strict=True):
            own[grid.state] = _state_numbers(state, length)
        for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
            if time.order:
                continue
            first = float(self.unknowns.scaling.mean[f])
            if before is not None:
                last = before.numbers[grid.own(f)].reshape(time.size, count)
                first = (time.rows(np.ones(1)) @ last)[0]
            numbers[:, grid.own(f)].reshape(len(steps), time.size, count)[:, 0] = first
        return numbers

    def solve(self, state, numbers: Float[np.ndarray, "s n"], steps) -> list[TimeStep]:
        """The solution of steps that follow each other from a state, beginning from these numbers."""
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
            largest, now = 0.0, state
            for k, (own, (_, length)) in enumerate(zip(numbers, steps, strict=True)):
                moved = _state_numbers(now, length) - own[grid.state]
                change = inverses[k](rows.values[k] + rows.by_state[k] @ moved)
                own[grid.state] += moved
                own[free] -= change
                sizes = _sizes(grid, unknowns, own)
                if not np.all(sizes < limit):
                    raise SolveError("the solution grows without bound")
                size = float(np.sqrt(np.mean((change / np.repeat(sizes, self._widths)) ** 2)))
                largest, now = max(largest, size), _end(grid, own, length)
            if not np.isfinite(largest):
                raise SolveError("a value that is not finite")
            is_converged = largest <= NEWTON_TOLERANCE * self.settings.tolerance
            if unknowns.problem.is_affine or is_converged:
                return self._found(numbers, steps, rows, inverses)
        raise SolveError("Newton's method did not converge")

    @cached_property
    def _widths(self):
        """By field, how many of its numbers are free."""
        return [
            int((~self.grid.state[self.grid.own(f)]).sum()) for f in range(len(self.grid.in_time))
        ]

    def _inverses(self, rows: Linearization):
        """By step, what multiplies by the inverse of the matrix of its free numbers."""
        try:
            if not self.grid.is_dense:
                return [scipy.sparse.linalg.splu(own).solve for own in rows.by_free]
            factors = [lu_factor(own, check_finite=False) for own in rows.by_free]
        except (np.linalg.LinAlgError, RuntimeError, ValueError):
            raise SolveError("a singular matrix") from None
        return [partial(lu_solve, factor, check_finite=False) for factor in factors]

    def _found(self, numbers, steps, rows: Linearization, inverses) -> list[TimeStep]:
        found = []
        for k, (start, length) in enumerate(steps):
            sensitivity = None
            if self.with_sensitivity:
                by_state, by_unknown = rows.by_state[k], rows.by_unknown(k)
                inverse = inverses[k]
                if self.grid.is_dense:
                    by_state, by_unknown, inverse = inverse(by_state), inverse(by_unknown), None
                sensitivity = Sensitivity(by_state, by_unknown, inverse)
            found.append(TimeStep(float(start), float(length), numbers[k], sensitivity))
        return found


# ------------------------------------------------------------------------------ states


def _start(grid: Grid, unknowns: Unknowns, unknown):
    """By field, its initial state and derivatives in time, each with its slopes."""
    return [
        [unknowns.initial(grid, f, order, unknown) for order in range(time.order)]
        for f, time in enumerate(grid.in_time)
    ]


def _moving(start, directions: Float[np.ndarray, "p q"]):
    """How the initial state changes with what is unknown."""
    return [[slope @ directions for _, slope in own] for own in start]


def _change(grid: Grid, stage: TimeStep, moving, directions) -> Float[np.ndarray, "n q"]:
    """How the numbers of a step change with what is unknown; `moving`: how its first state does."""
    found = np.zeros((grid.size, directions.shape[1]))
    if not directions.shape[1]:
        return found
    assert stage.sensitivity is not None  # it was asked for
    if grid.state.any():
        found[grid.state] = _state_numbers(moving, stage.length)
    found[~grid.state] = stage.sensitivity.change(found[grid.state], directions)
    return found


def _state_numbers(state, length: float):
    """The numbers that a state gives a step of such a length."""
    parts = [length**order * values for own in state for order, values in enumerate(own)]
    return np.concatenate(parts) if parts else np.zeros((0,))


def _end(grid: Grid, numbers, length: float):
    """The state at the end of a step."""
    found = []
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        own = numbers[grid.own(f)].reshape(time.size, -1)
        shape = count, *numbers.shape[1:]
        found.append([
            (time.last[order] @ own).reshape(shape) / length**order for order in range(time.order)
        ])  # fmt: skip
    return found


def _moved(grid: Grid, finer: Grid, state):
    """A state on another mesh."""
    return [
        [_refitted(values, grid.splines[f], finer.splines[f]) for values in own]
        for f, own in enumerate(state)
    ]


def _refitted(values, before: Sequence[Splines], after: Sequence[Splines]):
    """The numbers of a field in space on another mesh."""
    more = values.shape[1:]
    found = values.reshape((*(s.size for s in before), *more))
    for k, (old, new) in enumerate(zip(before, after, strict=True)):
        rows = old.rows(new.places)
        moved = np.moveaxis(found, k, 0)
        there = rows @ moved.reshape(len(moved), int(np.prod(moved.shape[1:])))
        there = there.reshape(len(new.places), *moved.shape[1:])
        found = np.moveaxis(new.fitted(there), 0, k)
    return found.reshape((int(np.prod([s.size for s in after], dtype=int)), *more))


# ------------------------------------------------------------------------------ errors


def _sizes(grid: Grid, unknowns: Unknowns, numbers) -> Float[np.ndarray, " c"]:
    """Of every field, its spread, or by how much it is away from its mean where that is more."""
    spread, mean = (np.asarray(p, float) for p in (unknowns.scaling.spread, unknowns.scaling.mean))
    away = [np.abs(numbers[grid.own(f)] - mean[f]).max(initial=0.0) for f in range(len(spread))]
    return np.maximum(spread, away)


def _step_error(grid: Grid, unknowns: Unknowns, stage: TimeStep, change, tolerance: float) -> float:
    """The error of a step in time, or of a change of it, in units of the tolerance of the field."""
    error = _error_in_time(grid, stage.numbers, _sizes(grid, unknowns, stage.numbers))
    spread = np.asarray(unknowns.scaling.spread, float)
    for column in change.T:
        more = _error_in_time(grid, column, spread)
        error = max(error, tolerance / SENSITIVITY_TOLERANCE * more)
    return error


def _error_in_time(grid: Grid, numbers, sizes) -> float:
    """The last coefficient of a step's polynomial, in units of the field's size."""
    errors = []
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        if time.order:
            last = time.pieces[-1] @ numbers[grid.own(f)].reshape(time.size, count)
            errors.append(float(np.sqrt(np.mean((last / sizes[f]) ** 2))))
    return max(errors, default=0.0)


def _rough_elements(grid: Grid, unknowns: Unknowns, numbers, change, tolerance: float):
    """By axis of space, the elements in which the last coefficients of a field, or of a change, are not
    small; the worst ones first: what they get wrong may be all that is wrong in others."""
    errors = _errors_in_space(grid, numbers, _sizes(grid, unknowns, numbers))
    spread = np.asarray(unknowns.scaling.spread, float)
    for column in change.T:
        more = _errors_in_space(grid, column, spread)
        errors = [
            np.maximum(a, tolerance / SENSITIVITY_TOLERANCE * b)
            for a, b in zip(errors, more, strict=True)
        ]
    worst = max((error.max(initial=0.0) for error in errors), default=0.0)
    tolerance = max(tolerance, WORST_FRACTION * worst)
    return [
        (error > tolerance) & (mesh.lengths > MIN_FRACTION * (mesh.edges[-1] - mesh.edges[0]))
        for error, mesh in zip(errors, grid.meshes, strict=True)
    ]


def _errors_in_space(grid: Grid, numbers, sizes) -> list[Float[np.ndarray, " n"]]:
    """By axis and element, the largest of the last two coefficients of a field, in units of its
    spread."""
    found = [np.zeros(mesh.count) for mesh in grid.meshes]
    for f, time in enumerate(grid.in_time):
        own = numbers[grid.own(f)].reshape(time.size, *(s.size for s in grid.splines[f]))
        for k, (mesh, spline) in enumerate(zip(grid.meshes, grid.splines[f], strict=True)):
            last = spline.coefficients(own, k + 1)[:, -2:].reshape(mesh.count, -1)
            error = np.abs(last).max(axis=1) / sizes[f]
            found[k] = np.maximum(found[k], error)
    return found


def _refined(grid: Grid, rough, max_numbers: int) -> Grid | None:
    """The grid with rough elements halved; None where it would have too many numbers."""
    meshes = tuple(mesh.refined(flags) for mesh, flags in zip(grid.meshes, rough, strict=True))
    more = np.prod(
        [m.count / max(mesh.count, 1) for m, mesh in zip(meshes, grid.meshes, strict=True)]
    )
    return Grid(grid.problem, meshes) if more * grid.size <= max_numbers else None


def _refine_for_start(
    grid: Grid, unknowns: Unknowns, unknown, settings: Settings
) -> tuple[Grid, bool]:
    """A mesh on which the initial state is smooth, and whether that would need a larger one than there
    may be."""
    while grid.state.any():
        start = _start(grid, unknowns, unknown)
        numbers = np.zeros(grid.size)
        change = np.zeros((grid.size, settings.directions.shape[1]))
        numbers[grid.state] = _state_numbers([[n for n, _ in own] for own in start], 1.0)
        change[grid.state] = _state_numbers(_moving(start, settings.directions), 1.0)
        rough = _rough_elements(grid, unknowns, numbers, change, settings.tolerance)
        if not any(flags.any() for flags in rough):
            break
        finer = _refined(grid, rough, settings.max_numbers)
        if finer is None:
            return grid, True
        grid = finer
    return grid, False
