"""An equation solved step by step, and how its solution changes with what is unknown.

Steps in time are as long as their polynomials allow, elements of space as short as theirs need: where the
last coefficients of a field are not small, the step is taken again, or the element halved. Once mesh and
steps are found they stay, so that the solution is a smooth function of all that is unknown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pgt.methods.solver.collocation import FAR, Factor, Grid, Linearised, Posed, linearised
from pgt.methods.solver.splines import Mesh, Splines
from pgt.methods.solver.unknown_functions import Unknowns

FIRST_ELEMENTS = 2
# Numbers of a step, beyond which no element is halved. A factor of their matrix fills up to 1 GiB; where
# slopes are kept, those of every step fill as much.
MOST_NUMBERS, MOST_WITH_SLOPES = 2**15, 2**13
WORST_FIRST = 0.1  # of the largest error of an element: those with less wait
SHORTEST_ELEMENT, SHORTEST_STEP = 2.0**-20, 2.0**-20  # of the axis
MOST_STEPS = 2000
ITERATIONS = 12  # of Newton's method
WIDENING = 4.0  # of an element beside the one before it, at most, on the first mesh
GROWTH = 4.0  # from one step to the next, at most
POINTS = {1: 8, 2: 6}  # of an element along each axis, by the number of axes of space
UNBOUNDED = 1e4  # spreads of a field: an equation with these numbers has no solution
# Of the fields' spread: the error of a change of the solution, which Gauss-Newton's method corrects.
OF_CHANGE = 0.03
AT_REST = 1e-3  # of the tolerance: what one more step of Newton's method may change


class TimeStep(NamedTuple):
    """One step in time with its solution."""

    start: float
    length: float
    numbers: Float[np.ndarray, " n"]
    factor: Factor | None  # these two only where sensitivities are asked for
    slopes: Linearised | None


class Stuck(Exception):
    """Newton's method did not converge, or the solution is not finite."""


class OutOfTime(Exception):
    """The seconds were used up before the solution was found."""


Ask = Callable[[], None]  # raises `OutOfTime` where the seconds are used up


def ask_nobody() -> None:
    """For a solution that may take as long as it needs."""


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


def _moving(start, directions: Float[np.ndarray, "p q"]):
    """How the initial state changes with what is unknown."""
    return [[slope @ directions for _, slope in own] for own in start]


def _change(grid: Grid, stage: TimeStep, moving, directions) -> Float[np.ndarray, "n q"]:
    """How the numbers of a step change with what is unknown; `moving`: how its first state does."""
    assert stage.factor is not None  # it was asked to keep them
    assert stage.slopes is not None
    state, found = grid.state, np.zeros((grid.size, directions.shape[1]))
    if not directions.shape[1]:
        return found
    if state.any():
        found[state] = _state_numbers(grid, moving, stage.length)
    known = stage.slopes.by_number[:, state] @ found[state]
    found[~state] = -stage.factor.solve(known + stage.slopes.by_unknown @ directions)
    return found


def first_meshes(unknowns: Unknowns) -> tuple[Mesh, ...]:
    """From where a search for a mesh begins."""
    domain = unknowns.problem.domain
    found = []
    for axis in domain.spatial_axes:
        periodic = axis in domain.periodic
        count = FIRST_ELEMENTS * (2 if periodic else 1)
        edges = _first_edges(unknowns.problem, axis, count)
        found.append(Mesh(tuple(edges.tolist()), POINTS[len(domain.spatial_axes)], periodic))
    return tuple(found)


def _first_edges(problem: Posed, axis: str, count: int) -> Float[np.ndarray, " n"]:
    """Elements of one length, but growing with the radius, and out to an end that lies far away."""
    low, high = problem.domain.bounds(axis)
    if axis == "r" and low > 0 and high > WIDENING**count * low:
        return np.geomspace(low, high, 1 + int(np.ceil(np.log(high / low) / np.log(WIDENING))))
    inner = problem.inner.bounds(axis)
    length = (inner[1] - inner[0]) / count
    edges = np.linspace(*inner, count + 1)
    steps = length * WIDENING ** np.arange(1, int(np.log(2 * FAR * count) / np.log(WIDENING)) + 1)
    below, above = (
        np.cumsum(steps) if end else np.zeros(0) for end in (low < inner[0], high > inner[1])
    )
    below, above = below[below < inner[0] - low], above[above < high - inner[1]]
    return np.unique(np.r_[low, (inner[0] - below)[::-1], edges, inner[1] + above, high])


def solve_on(
    grid: Grid,
    unknowns: Unknowns,
    unknown: Float[np.ndarray, " p"],
    steps: Sequence[tuple[float, float]],
    tolerance: float,
    near: Solution | None = None,
    ask: Ask = ask_nobody,
    with_slopes: bool = True,
) -> Solution:
    """The solution with steps that are known; `near` is one from which Newton's method may begin. Without
    slopes it takes less memory, and has no sensitivities."""
    opened, raws = unknowns.opened(grid, unknown), unknown[unknowns.raws]
    state = [[numbers for numbers, _ in own] for own in _start(grid, unknowns, unknown)]
    stages = []
    for k, (start, length) in enumerate(steps):
        first = _first_guess(grid, unknowns, state, length, stages[-1] if stages else None)
        if near is not None:
            first[~grid.state] = near.stages[k].numbers[~grid.state]
        stage = _solved(grid, unknowns, first, (start, length), raws, opened, tolerance, ask)
        stages.append(_kept(stage, with_slopes))
        state = _end(grid, stage.numbers, length)
    return Solution(grid, unknowns, unknown, tuple(stages))


def solve(
    unknowns: Unknowns,
    unknown: Float[np.ndarray, " p"],
    tolerance: float,
    meshes: tuple[Mesh, ...] | None = None,
    ask: Ask = ask_nobody,
    with_slopes: bool = True,
    directions: Float[np.ndarray, "p q"] | None = None,
) -> Solution:
    """The solution on a mesh and with steps that follow it; arguments as in `solve_on`.

    Mesh and steps also follow how the solution changes along `directions`: a mesh that is made for a
    smooth solution tells nothing of what a rougher initial state would do.
    """
    grid = Grid(unknowns.problem, meshes or first_meshes(unknowns))
    domain = unknowns.problem.domain
    if directions is None:
        directions = np.zeros((unknowns.count, 0))
    if not domain.has_time:
        return _steady(grid, unknowns, unknown, tolerance, ask, with_slopes, directions)
    most = MOST_WITH_SLOPES if with_slopes else MOST_NUMBERS
    grid, is_capped = _refined_start(grid, unknowns, unknown, tolerance, most, directions)
    while True:
        found = _marched(grid, unknowns, unknown, tolerance, ask, with_slopes, directions)
        if found.grid is grid:
            return replace(found, is_capped=found.is_capped or is_capped)
        grid = found.grid  # steps were as short as the coarser mesh made them: once more


def _marched(
    grid: Grid, unknowns: Unknowns, unknown, tolerance, ask: Ask, with_slopes, directions
) -> Solution:
    """A solution with steps that follow it; on a finer mesh where that was too coarse, and then its
    stages before are on coarser ones."""
    raws, opened = unknown[unknowns.raws], unknowns.opened(grid, unknown)
    begin, end = unknowns.problem.domain.bounds("t")
    start = _start(grid, unknowns, unknown)
    state, moving = [[numbers for numbers, _ in own] for own in start], _moving(start, directions)
    time, length, is_capped = begin, (end - begin) / 16, False
    stages, before, spread = [], None, np.asarray(unknowns.scaling.spread, float)
    ends = np.array([*unknowns.problem.knots, end])  # a polynomial does not follow what bends
    while time < end - 1e-12 * (end - begin):
        if len(stages) >= MOST_STEPS:
            raise Stuck(f"more than {MOST_STEPS} steps")
        until = ends[np.searchsorted(ends, time + 1e-12 * (end - begin), side="right")]
        length = _shared_out(length, until - time)
        shortest = length <= SHORTEST_STEP * (end - begin)
        try:
            first = _first_guess(grid, unknowns, state, length, before)
            stage = _solved(grid, unknowns, first, (time, length), raws, opened, tolerance, ask)
        except Stuck as stuck:
            if shortest:
                raise Stuck(f"{stuck}, on the largest mesh") if is_capped else stuck from None
            length /= 4
            continue
        change = _change(grid, stage, moving, directions)
        sizes = _sizes(grid, unknowns, stage.numbers)
        error = _error_in_time(grid, stage.numbers, sizes)
        for column in change.T:
            error = max(error, tolerance / OF_CHANGE * _error_in_time(grid, column, spread))
        order = max(t.size for t in grid.in_time)
        factor = 0.9 * (tolerance / max(error, 1e-30)) ** (1 / order)
        if error > tolerance and not shortest:
            length *= np.clip(factor, 0.1, 0.7)
            continue
        # Of a jump, which the shortest step does not follow, no mesh shows more.
        rough = []
        if error <= tolerance:
            rough = _rough(grid, unknowns, stage.numbers, change, tolerance)
        if any(flags.any() for flags in rough):
            finer = _finer(grid, rough, MOST_WITH_SLOPES if with_slopes else MOST_NUMBERS)
            if finer is not None:
                state, moving = _moved(grid, finer, state), _moved(grid, finer, moving)
                opened = unknowns.opened(finer, unknown)
                grid, before = finer, None
                continue
            is_capped = True
        stages.append(_kept(stage, with_slopes))
        moving = _end(grid, change, length)
        state, before, time = _end(grid, stage.numbers, length), stage, time + length
        length *= min(factor, GROWTH)
    return Solution(grid, unknowns, unknown, tuple(stages), is_capped)


def _shared_out(length: float, left: float) -> float:
    """A step of about this length, so that no short one is left at the end."""
    if left - length < 0.1 * length:
        return left
    return left / 2 if left < 2 * length else length


def _steady(
    grid: Grid, unknowns: Unknowns, unknown, tolerance, ask: Ask, with_slopes, directions
) -> Solution:
    while True:
        solution = solve_on(
            grid, unknowns, unknown, [(0.0, 1.0)], tolerance, None, ask,
            with_slopes or directions.size > 0,
        )  # fmt: skip
        change = next(solution.changes(directions)) if directions.size else directions[:0]
        rough = _rough(grid, unknowns, solution.stages[0].numbers, change, tolerance)
        if not any(flags.any() for flags in rough):
            return solution
        finer = _finer(grid, rough, MOST_WITH_SLOPES if with_slopes else MOST_NUMBERS)
        if finer is None:
            return replace(solution, is_capped=True)
        grid = finer


# ------------------------------------------------------------------------------ one step


def _solved(grid, unknowns, numbers, step, raws, opened, tolerance, ask: Ask) -> TimeStep:
    """Newton's method for one step. The slopes are those at the solution."""
    free, widths = ~grid.state, np.diff(grid.starts)
    spread = np.asarray(unknowns.scaling.spread, float)
    largest = np.where(unknowns.is_sized, UNBOUNDED * spread, np.inf)
    slopes = linearised(grid, numbers, step, raws, opened)
    for _ in range(ITERATIONS):
        ask()
        if not np.isfinite(slopes.values).all():
            raise Stuck("a value that is not finite")
        try:
            factor = Factor(slopes.by_number[:, free])
        except (RuntimeError, ValueError):
            raise Stuck("a singular matrix") from None
        numbers = numbers.copy()
        change = factor.solve(slopes.values)
        numbers[free] -= change
        sizes = _sizes(grid, unknowns, numbers)
        scale = np.repeat(sizes, widths)[free]
        if not np.all(sizes < largest):
            raise Stuck("the solution grows without bound")
        slopes = linearised(grid, numbers, step, raws, opened)
        more = factor.solve(slopes.values)
        size, first = (float(np.sqrt(np.mean((part / scale) ** 2))) for part in (more, change))
        if not np.isfinite(size):
            raise Stuck("a value that is not finite")
        if size <= AT_REST * tolerance:
            if size > 1e-9 * first:  # the equation is not linear: slopes at the solution
                numbers[free] -= more
                factor = Factor(slopes.by_number[:, free])
            return TimeStep(step[0], step[1], numbers, factor, slopes)
    raise Stuck("Newton's method did not converge")


def _kept(stage: TimeStep, with_slopes: bool) -> TimeStep:
    return stage if with_slopes else stage._replace(factor=None, slopes=None)


def _first_guess(grid: Grid, unknowns: Unknowns, state, length: float, before: TimeStep | None):
    """The state at the start of a step, for all of it; of fields without one, what they were last."""
    numbers = np.zeros(grid.size)
    numbers[grid.state] = _state_numbers(grid, state, length)
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        if time.order:
            continue
        own = numbers[grid.own(f)].reshape(time.size, count)
        if before is None:
            own[0] = float(unknowns.scaling.mean[f])
        else:
            last = before.numbers[grid.own(f)].reshape(time.size, count)
            own[0] = (time.rows(np.ones(1)) @ last)[0]
    return numbers


def _start(grid: Grid, unknowns: Unknowns, unknown):
    """By field, its initial state and derivatives in time, each with its slopes."""
    return [
        [unknowns.initial(grid, f, order, unknown) for order in range(time.order)]
        for f, time in enumerate(grid.in_time)
    ]


def _state_numbers(grid: Grid, state, length: float):
    """The numbers that a state gives a step of such a length."""
    parts = [length**order * values for own in state for order, values in enumerate(own)]
    return np.concatenate(parts) if parts else np.zeros((0,))


def _end(grid: Grid, numbers, length: float):
    """The state at the end of a step."""
    found = []
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        own = numbers[grid.own(f)].reshape(time.size, count, *numbers.shape[1:])
        found.append([
            np.tensordot(time.rows(np.ones(1), order)[0], own, 1) / length**order
            for order in range(time.order)
        ])  # fmt: skip
    return found


# ------------------------------------------------------------------------------ errors


def _sizes(grid: Grid, unknowns: Unknowns, numbers) -> Float[np.ndarray, " c"]:
    """Of every field, its spread, or by how much it is away from its mean where that is more."""
    spread, mean = (np.asarray(p, float) for p in (unknowns.scaling.spread, unknowns.scaling.mean))
    away = [np.abs(numbers[grid.own(f)] - mean[f]).max(initial=0.0) for f in range(len(spread))]
    return np.maximum(spread, away)


def _error_in_time(grid: Grid, numbers, sizes) -> float:
    """The last coefficient of a step's polynomial, in units of the field's size."""
    errors = []
    for f, (time, count) in enumerate(zip(grid.in_time, grid.in_space, strict=True)):
        if time.order:
            last = time.pieces[-1] @ numbers[grid.own(f)].reshape(time.size, count)
            errors.append(float(np.sqrt(np.mean((last / sizes[f]) ** 2))))
    return max(errors, default=0.0)


def _rough(grid: Grid, unknowns: Unknowns, numbers, change, tolerance: float):
    """By axis of space, the elements in which the last coefficients of a field, or of a change, are not
    small; the worst ones first: what they get wrong may be all that is wrong in others."""
    errors = _errors_in_space(grid, numbers, _sizes(grid, unknowns, numbers))
    spread = np.asarray(unknowns.scaling.spread, float)
    for column in change.T:
        more = _errors_in_space(grid, column, spread)
        errors = [
            np.maximum(a, tolerance / OF_CHANGE * b) for a, b in zip(errors, more, strict=True)
        ]
    worst = max((error.max(initial=0.0) for error in errors), default=0.0)
    tolerance = max(tolerance, WORST_FIRST * worst)
    return [
        (error > tolerance) & _can_halve(mesh)
        for error, mesh in zip(errors, grid.meshes, strict=True)
    ]


def _can_halve(mesh: Mesh):
    return mesh.lengths > SHORTEST_ELEMENT * (mesh.edges[-1] - mesh.edges[0])


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


def _finer(grid: Grid, rough, most: int) -> Grid | None:
    """The grid with rough elements halved; None where it would have too many numbers."""
    meshes = tuple(mesh.refined(flags) for mesh, flags in zip(grid.meshes, rough, strict=True))
    more = np.prod(
        [m.count / max(mesh.count, 1) for m, mesh in zip(meshes, grid.meshes, strict=True)]
    )
    return Grid(grid.problem, meshes) if more * grid.size <= most else None


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


def _refined_start(
    grid: Grid, unknowns: Unknowns, unknown, tolerance, most: int, directions
) -> tuple[Grid, bool]:
    """A mesh on which the initial state is smooth, and whether that would need a larger one than there
    may be."""
    while grid.state.any():
        start = _start(grid, unknowns, unknown)
        numbers, change = np.zeros(grid.size), np.zeros((grid.size, directions.shape[1]))
        state = [[numbers for numbers, _ in own] for own in start]
        numbers[grid.state] = _state_numbers(grid, state, 1.0)
        change[grid.state] = _state_numbers(grid, _moving(start, directions), 1.0)
        rough = _rough(grid, unknowns, numbers, change, tolerance)
        if not any(flags.any() for flags in rough):
            break
        finer = _finer(grid, rough, most)
        if finer is None:
            return grid, True
        grid = finer
    return grid, False


def rough_by(solution: Solution) -> float:
    """The largest of the last coefficients of any step, in units of the fields' spread."""
    grid, errors = solution.grid, []
    for stage in solution.stages:
        sizes = _sizes(grid, solution.unknowns, stage.numbers)
        errors.append(_error_in_time(grid, stage.numbers, sizes))
        errors += [float(e.max()) for e in _errors_in_space(grid, stage.numbers, sizes)]
    return max(errors, default=0.0)
