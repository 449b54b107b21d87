"""The solution of an equation of which nothing is unknown, and its error.

The mesh and the steps are refined until the error is below a tolerance. The error of a solution is its
difference from another one on the same elements and steps, whose polynomials are of higher degree: that
one is more accurate by so much that the difference is the error itself. It is integrated over the domain
exactly.

Before anything is solved, fields are scaled by their initial and boundary values. The first solution, on
a coarse mesh, tells the size of the others, such as a field that only a source drives.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from pgt.core.errors import InputError
from pgt.core.numbers import listed
from pgt.core.unknown import named_unknowns
from pgt.data.domain import Domain
from pgt.methods.solver.splines import difference_of, moments_of
from pgt.methods.solver.statement import (
    PROBE_POINTS,
    Face,
    OpenValue,
    Statement,
    raws_of,
    statement_on,
)
from pgt.methods.solver.time_stepping import (
    CheckTime,
    OutOfTime,
    Settings,
    Solution,
    SolveError,
    edges_of,
    no_limit,
    polynomials_of,
    solve,
    solve_on,
)
from pgt.methods.solver.unknown_functions import Unknowns
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE

TOLERANCE = 1e-6  # of the fields' spread: less than is plotted or compared
FIRST_TOLERANCE = 1e-3  # of the coarse solution that is refined; it takes a small share of the time
# From one tolerance of the mesh to the next: no less than this, since the error may be below it by luck,
# and no more, so that few solutions are needed.
MIN_REDUCTION, MAX_REDUCTION = 1e-3, 0.3
ROUNDING = 1e-12  # of a tolerance, or of a field's size: below it rounding decides

Ended = Literal["tolerance", "seconds", "mesh", "rounding"]
Report = Callable[[float, dict[str, float]], None]


class Forward(NamedTuple):
    """A solution, the scales of its fields, their errors in units of their spread, and why the mesh was
    refined no further: its error is below the tolerance, the seconds are used up, the mesh is at its
    largest, or rounding decides. `errors_before` are the largest ones of coarser solutions."""

    solution: Solution
    scaling: Scaling
    errors: Float[np.ndarray, " c"]
    ended: Ended
    errors_before: tuple[float, ...]


def solved_forward(
    problem: Statement,
    scaling: Scaling,
    tolerance: float,
    check_time: CheckTime = no_limit,
    report: Report = lambda share, numbers: None,
) -> Forward:
    """The solution of a problem that is determined; else an `InputError` that says what is missing."""
    scaling, is_known = scaled_by_conditions(problem, scaling)
    unknowns = Unknowns(problem, scaling, is_known)
    require_determined(unknowns)
    allowed, meshes, best, course = max(FIRST_TOLERANCE, tolerance), None, None, []
    while True:
        try:
            settings = Settings(allowed, check_time, with_sensitivities=False)
            solution = solve(unknowns, raws_of(problem.pde), settings, meshes)
            scaling = _rescaled(solution)
            errors = _errors(solution, scaling, allowed, check_time)
        except OutOfTime:
            if best is None:
                raise
            return best._replace(ended="seconds")
        except SolveError:
            if best is None:
                raise
            return best._replace(ended="mesh")
        error = float(errors.max(initial=0.0))
        report(min(np.log(error) / np.log(tolerance), 1.0) if error else 1.0, {"error": error})
        if best is None or error < best.errors.max(initial=0.0):
            best = Forward(solution, scaling, errors, "tolerance", tuple(course))
        course.append(error)
        is_settled = bool(is_known.all())  # the first solution did not know how large fields are
        if error <= tolerance and is_settled:
            return best
        if solution.is_capped and is_settled:
            return best._replace(ended="mesh")
        if allowed <= ROUNDING:
            return best._replace(ended="rounding")
        wanted = MAX_REDUCTION * tolerance / max(error, tolerance)
        if is_settled:
            allowed *= max(wanted, MIN_REDUCTION)
        allowed = max(allowed, ROUNDING)
        meshes, is_known = solution.grid.meshes, np.ones_like(is_known)
        unknowns = Unknowns(problem, scaling)


def _errors(solution: Solution, scaling: Scaling, tolerance: float, check_time: CheckTime):
    """By field, the root mean square difference from a solution with polynomials of higher degree, in
    units of the spread."""
    unknowns, grid = solution.unknowns, solution.grid.enriched()
    settings = Settings(0.1 * tolerance, check_time, with_sensitivities=False)
    finer = solve_on(grid, unknowns, solution.unknown, solution.steps, settings)
    difference = difference_of(polynomials_of(solution), polynomials_of(finer))
    _, squares = moments_of(edges_of(solution), difference)
    return np.sqrt(squares[0]) / np.asarray(scaling.spread, float)


def _rescaled(solution: Solution) -> Scaling:
    """The scales of a solution's own fields."""
    scaling = solution.unknowns.scaling
    means, squares = (part[0] for part in moments_of(edges_of(solution), polynomials_of(solution)))
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0))
    sizes = np.maximum(np.asarray(scaling.spread, float), np.abs(means))
    spreads = np.where(spreads > ROUNDING * sizes, spreads, np.asarray(scaling.spread, float))
    return replace(scaling, mean=means, spread=spreads)


# ------------------------------------------------------------------------- scales


def scaled_by_conditions(
    problem: Statement, scaling: Scaling, fields: Bool[np.ndarray, " c"] | None = None
) -> tuple[Scaling, Bool[np.ndarray, " c"]]:
    """The scales with those of initial and boundary values, where these tell a field's size; and which
    fields they tell it of. `fields`: only of these."""
    found = _values_of_conditions(problem)
    mean, spread = (np.array(part, float) for part in (scaling.mean, scaling.spread))
    is_known = np.zeros(len(found), bool)
    for field, parts in enumerate(found):
        values = np.concatenate([np.zeros(0), *parts])
        size = float(np.abs(values).max(initial=0.0))
        if size == 0 or not np.isfinite(size) or (fields is not None and not fields[field]):
            continue
        own = float(values.std())
        mean[field] = values.mean()
        spread[field], is_known[field] = (own if own > ROUNDING * size else size), True
    return replace(scaling, mean=mean, spread=spread), is_known


def _values_of_conditions(problem: Statement) -> list[list[np.ndarray]]:
    """By field, the values that conditions give it."""
    found: list[list[np.ndarray]] = [[] for _ in problem.fields]
    faces = [(rows, None) for rows in problem.initial]
    faces += [(given.rows, given.face) for given in problem.given]
    raws = raws_of(problem.pde)
    for rows, face in faces:
        points = _on_face(problem.domain, face)
        at_zero = rows.slopes(raws, points, np.zeros((len(points), len(rows.names))))
        for k in range(rows.count):
            asked = np.flatnonzero(np.any(at_zero.by_name[:, k], axis=0))
            if len(asked) != 1 or rows.names[asked[0]] not in problem.fields:
                continue
            slopes = at_zero.by_name[:, k, asked[0]]
            with np.errstate(divide="ignore", invalid="ignore"):
                values = -at_zero.values[:, k] / slopes
            field = problem.fields.index(rows.names[asked[0]])
            found[field].append(values[np.isfinite(values)])
    return found


def _on_face(domain: Domain, face: Face | None) -> Float[np.ndarray, "n d"]:
    """Points on a face of the domain, or at its start."""
    axes = []
    for axis in domain.axes:
        low, high = domain.bounds(axis)
        if face is None and axis == "t":
            axes.append(np.array([low]))
        elif face is not None and axis == face.axis:
            axes.append(np.array([(low, high)[face.side]]))
        else:
            axes.append(np.linspace(low, high, PROBE_POINTS))
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)


# ------------------------------------------------------------------------- what is missing


def is_determined(
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition],
    scaling: Scaling,
    *,
    is_required: bool = False,
) -> bool:
    """Whether the method solves the problem and conditions leave nothing of it open, but for
    coefficients; arguments as the user gave them. Where that is required, an `InputError` says what
    is missing of a problem that the method solves."""
    try:
        unknowns = Unknowns(statement_on(domain, pde, conditions, scaling), scaling)
    except InputError:
        return False
    if is_required:
        require_determined(unknowns)
    return not unknowns.parts


def require_determined(unknowns: Unknowns) -> None:
    """An `InputError` that names what is unknown, where anything is."""
    if missing := missing_of(unknowns):
        raise InputError(
            f"there are no readings, and the equation has no single solution: {listed(missing)}."
        )


def missing_of(unknowns: Unknowns) -> list[str]:
    """What a problem leaves open, each with what would give it."""
    fields = unknowns.problem.fields
    missing = []
    for part in unknowns.parts:
        if isinstance(part.what, OpenValue):
            missing.append(_open_in_words(part.what, fields[part.what.field]))
        else:
            field, order = part.what
            name = fields[field] + ("_" + "t" * order if order else "")
            what = f"the initial {name}" if order else f"the initial state of {name}"
            missing.append(f"{what} is missing (write Initial({name}=...))")
    for name, _ in named_unknowns(unknowns.problem.pde):
        missing.append(f"the coefficient {name} is unknown (write a number)")
    return missing


def _open_in_words(value: OpenValue, field: str) -> str:
    side = ("lower", "upper")[value.face.side]
    kind = "Dirichlet" if value.order == 0 else "Neumann"
    return (
        f"a boundary value of {field} at the {side} end of {value.face.axis} is missing (write "
        f'{kind}("{value.face.axis}", side="{side}", {field}=...) or make the axis periodic)'
    )
