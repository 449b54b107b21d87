"""The forward solution of a problem without unknowns, and its error.

Mesh and steps are refined until the error is below a tolerance. The error is estimated by the difference
from a solution on the same elements and steps with polynomials of higher degree, which is so much more
accurate that the difference is practically the error itself. The difference is integrated exactly over
the domain.

Fields are scaled by their initial and boundary values before anything is solved. The first solution, on a
coarse mesh, gives the size of all other fields, such as one that only a source drives.
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

# The default tolerance of the error, in units of the fields' spread: finer than any plot shows.
TOLERANCE = 1e-6
# The tolerance of the first, coarse solution, which takes a small share of the time.
FIRST_TOLERANCE = 1e-3
# The limits of the factor between consecutive mesh tolerances. The minimum avoids a needlessly fine mesh,
# the maximum keeps the number of solutions small.
MIN_REDUCTION, MAX_REDUCTION = 1e-3, 0.3
# Tolerances, and spreads relative to a field's size, that are smaller are rounding errors.
ROUNDING = 1e-12

Ended = Literal["tolerance", "seconds", "mesh", "rounding"]
Report = Callable[[float, dict[str, float]], None]


class Forward(NamedTuple):
    """A forward solution.

    `errors` are those of the fields, in units of their spread; `errors_before` are the largest errors of
    the coarser solutions. `ended` says why refinement ended: the error is below the tolerance, the
    seconds are used up, the mesh is at its largest, or rounding errors dominate.
    """

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
    """The solution of a problem without unknowns; an `InputError` says what is missing otherwise."""
    scaling, is_known = scaled_by_conditions(problem, scaling)
    unknowns = Unknowns(problem, scaling, is_known)
    require_determined(unknowns)
    mesh_tolerance, meshes, best, errors_so_far = max(FIRST_TOLERANCE, tolerance), None, None, []
    while True:
        try:
            settings = Settings(mesh_tolerance, check_time, with_sensitivities=False)
            solution = solve(unknowns, raws_of(problem.pde), settings, meshes)
            scaling = _rescaled(solution)
            errors = _estimated_errors(solution, scaling, mesh_tolerance, check_time)
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
            best = Forward(solution, scaling, errors, "tolerance", tuple(errors_so_far))
        errors_so_far.append(error)
        is_settled = bool(is_known.all())  # the scales of some fields are known only from now on
        if error <= tolerance and is_settled:
            return best
        if solution.is_capped and is_settled:
            return best._replace(ended="mesh")
        if mesh_tolerance <= ROUNDING:
            return best._replace(ended="rounding")
        reduction = MAX_REDUCTION * tolerance / max(error, tolerance)
        if is_settled:
            mesh_tolerance *= max(reduction, MIN_REDUCTION)
        mesh_tolerance = max(mesh_tolerance, ROUNDING)
        meshes, is_known = solution.grid.meshes, np.ones_like(is_known)
        unknowns = Unknowns(problem, scaling)


def _estimated_errors(
    solution: Solution, scaling: Scaling, tolerance: float, check_time: CheckTime
):
    """By field, the root mean square difference from a solution with higher polynomial degree, in units
    of the spread."""
    unknowns, grid = solution.unknowns, solution.grid.enriched()
    settings = Settings(0.1 * tolerance, check_time, with_sensitivities=False)
    finer = solve_on(grid, unknowns, solution.unknown, solution.steps, settings)
    difference = difference_of(polynomials_of(solution), polynomials_of(finer))
    _, squares = moments_of(edges_of(solution), difference)
    return np.sqrt(squares[0]) / np.asarray(scaling.spread, float)


def _rescaled(solution: Solution) -> Scaling:
    """The scaling by the means and spreads of a solution's fields."""
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
    """The scaling by initial and boundary values where these give a field's size, and flags of the fields
    for which they do. With `fields`, only those flagged there are rescaled."""
    values_by_field = _condition_values(problem)
    mean, spread = (np.array(part, float) for part in (scaling.mean, scaling.spread))
    is_known = np.zeros(len(values_by_field), bool)
    for field, parts in enumerate(values_by_field):
        values = np.concatenate([np.zeros(0), *parts])
        size = float(np.abs(values).max(initial=0.0))
        if size == 0 or not np.isfinite(size) or (fields is not None and not fields[field]):
            continue
        deviation = float(values.std())
        mean[field] = values.mean()
        spread[field], is_known[field] = (deviation if deviation > ROUNDING * size else size), True
    return replace(scaling, mean=mean, spread=spread), is_known


def _condition_values(problem: Statement) -> list[list[np.ndarray]]:
    """By field, the values that conditions prescribe."""
    values_by_field: list[list[np.ndarray]] = [[] for _ in problem.fields]
    faces = [(rows, None) for rows in problem.initial]
    faces += [(given.rows, given.face) for given in problem.given]
    raws = raws_of(problem.pde)
    for rows, face in faces:
        points = _face_points(problem.domain, face)
        at_zero = rows.slopes(raws, points, np.zeros((len(points), len(rows.names))))
        for k in range(rows.count):
            requested = np.flatnonzero(np.any(at_zero.by_name[:, k], axis=0))
            if len(requested) != 1 or rows.names[requested[0]] not in problem.fields:
                continue
            slopes = at_zero.by_name[:, k, requested[0]]
            with np.errstate(divide="ignore", invalid="ignore"):
                values = -at_zero.values[:, k] / slopes
            field = problem.fields.index(rows.names[requested[0]])
            values_by_field[field].append(values[np.isfinite(values)])
    return values_by_field


def _face_points(domain: Domain, face: Face | None) -> Float[np.ndarray, "n d"]:
    """Points on a face of the domain, or at the start where `face` is None."""
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
    """Whether the solver can solve the problem and conditions leave no function open; coefficients may be
    unknown. The arguments are as the user gave them. With `is_required`, an `InputError` names everything
    that is unknown, if the solver can solve the problem at all."""
    try:
        unknowns = Unknowns(statement_on(domain, pde, conditions, scaling), scaling)
    except InputError:
        return False
    if is_required:
        require_determined(unknowns)
    return not unknowns.parts


def require_determined(unknowns: Unknowns) -> None:
    """Raise an `InputError` that names the unknowns, where there are any."""
    if missing := missing_of(unknowns):
        raise InputError(
            f"there are no readings, and the equation has no single solution: {listed(missing)}."
        )


def missing_of(unknowns: Unknowns) -> list[str]:
    """The unknowns of a problem in words, each with the input that would supply it."""
    fields = unknowns.problem.fields
    missing = []
    for part in unknowns.parts:
        if isinstance(part.what, OpenValue):
            missing.append(_missing_boundary_value(part.what, fields[part.what.field]))
        else:
            field, order = part.what
            name = fields[field] + ("_" + "t" * order if order else "")
            what = f"the initial {name}" if order else f"the initial state of {name}"
            missing.append(f"{what} is missing (write Initial({name}=...))")
    for name, _ in named_unknowns(unknowns.problem.pde):
        missing.append(f"the coefficient {name} is unknown (write a number)")
    return missing


def _missing_boundary_value(value: OpenValue, field: str) -> str:
    side = ("lower", "upper")[value.face.side]
    kind = "Dirichlet" if value.order == 0 else "Neumann"
    return (
        f"a boundary value of {field} at the {side} end of {value.face.axis} is missing (write "
        f'{kind}("{value.face.axis}", side="{side}", {field}=...) or make the axis periodic)'
    )
