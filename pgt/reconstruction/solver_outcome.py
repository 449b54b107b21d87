"""The outcome of an equation that is solved on a mesh.

If coefficients, the initial state or boundary values are unknown, they are fitted to the readings through
the solution. If nothing is unknown, the conditions determine the solution, and readings only judge it.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.errors import InputError
from pgt.core.machine import blas_threads
from pgt.core.progress import ProgressBar
from pgt.core.unknown import named_unknowns
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.coefficients import are_settled
from pgt.methods.finished_fit import (
    COEFFICIENT_NOT_AT_REST,
    ON_LARGEST_MESH,
    ON_MESH_IN_TIME,
    SOLVED_ON_MESH,
    Fit,
)
from pgt.methods.history import History
from pgt.methods.solver.collocation import MeasuredValues
from pgt.methods.solver.forward import Ended, Forward, solved_forward
from pgt.methods.solver.solution_fit import MAX_SINGLE_THREADED, Unsolvable, time_check
from pgt.methods.solver.solution_fit import fit as fit_on_mesh
from pgt.methods.solver.statement import Statement, raws_of, statement_of, with_raws
from pgt.methods.solver.time_stepping import (
    OutOfTime,
    Readout,
    SolveError,
    edges_of,
    polynomials_of,
)
from pgt.methods.solver.unknown_functions import Unknowns
from pgt.models.mesh_solution import Solver
from pgt.problem.assembly import Task
from pgt.problem.budget import Deadline
from pgt.uncertainty.contradictions import displaced_sensor_from
from pgt.uncertainty.outcome import Outcome, check_by_sines, outcome_of


def on_mesh(task: Task, progress: ProgressBar, checkpoint=None, is_kept=None) -> Outcome:
    """The outcome of an equation that is solved on a mesh."""
    began = time.monotonic()
    if (problem := _determined_problem(task)) is not None:
        return _solve_forward(task, problem, progress)
    mesh_fit = fit_on_mesh(task, lambda share, numbers: progress.update("solve", share, numbers))
    is_settled = mesh_fit.converged and are_settled(mesh_fit.learnt)
    history = History.empty(["data"], [name for name, _ in named_unknowns(task.pde)])
    fit = Fit(
        mesh_fit.model, mesh_fit.pde, mesh_fit.sigma, history, time.monotonic() - began,
        stopped=SOLVED_ON_MESH if is_settled else COEFFICIENT_NOT_AT_REST, learnt=mesh_fit.learnt,
    )  # fmt: skip
    with beside_numpy(), blas_threads(MAX_SINGLE_THREADED):
        outcome = outcome_of(mesh_fit, fit, task, mesh_fit.deviations, mesh_fit.members)
    outcome = replace(outcome, posteriors=(mesh_fit.solved,))
    return with_doubts(outcome, task) if is_kept is None or is_kept(outcome) else outcome


def with_doubts(outcome: Outcome, task: Task) -> Outcome:
    """The outcome of a fit on a mesh with the conditions that the readings contradict and the sensor that
    is displaced. They take as long as some fits, so that an answer which is replaced does without."""
    fit, posteriors = outcome.fit, list(outcome.posteriors)
    with beside_numpy(), blas_threads(MAX_SINGLE_THREADED):
        doubts = check_by_sines(fit, task, outcome.noise, are_sensors_checked=False)
        displaced = displaced_sensor_from(posteriors, fit.model, task.problem)
    doubts |= {"displaced_sensor": displaced, "posteriors": outcome.posteriors}
    return replace(outcome, **doubts)


# ------------------------------------------------------------------------- where nothing is unknown

ENDS: Mapping[Ended, str] = {
    "tolerance": SOLVED_ON_MESH,
    "rounding": SOLVED_ON_MESH,
    "seconds": ON_MESH_IN_TIME,
    "mesh": ON_LARGEST_MESH,
}


def _determined_problem(task: Task) -> Statement | None:
    """The problem of a task without unknowns or without readings to fit them to; None for others."""
    assert isinstance(task.model, Solver)
    problem, scaling = task.problem, task.model.scaling
    statement = statement_of(task.pde, problem.domain, problem.conditions, scaling)
    is_known = Unknowns(statement, scaling).count == 0
    return statement if is_known or not len(problem.observations) else None


def _solve_forward(task: Task, problem: Statement, progress: ProgressBar) -> Outcome:
    """The outcome of an equation without unknowns, whose solution readings only judge."""
    assert isinstance(task.model, Solver)
    if task.error_bars is not None:
        raise InputError(
            "error_bars: nothing of the equation is unknown, so nothing is drawn; leave them out. "
            "`field_error` states the error of the solution.",
            about="error_bars",
        )
    began, seconds = time.monotonic(), task.training.seconds
    try:
        with beside_numpy(), blas_threads(MAX_SINGLE_THREADED):
            forward = solved_forward(
                problem, task.model.scaling, task.model.tolerance,
                time_check(Deadline(seconds)), partial(progress.update, "solve"),
            )  # fmt: skip
    except SolveError as error:
        raise Unsolvable(
            f"the equation could not be solved ({error}): check its coefficients, its initial and "
            "boundary values and their units, or name another model."
        ) from None
    except OutOfTime:
        raise Unsolvable(
            f"seconds={seconds}: the equation was not solved on a first coarse mesh in that time; "
            "give more."
        ) from None
    with jax.enable_x64(True):
        solution = forward.solution
        scaled = Solver(forward.scaling, tolerance=task.model.tolerance)
        model = scaled.with_pieces(edges_of(solution), polynomials_of(solution)[0])
        pde = with_raws(task.pde, jnp.asarray(raws_of(task.pde), jnp.float64))
    solve_seconds = time.monotonic() - began
    fit = Fit(
        model, pde, 0.0, History.empty(["data"], []), solve_seconds, stopped=ENDS[forward.ended]
    )
    errors = dict(zip(task.pde.fields, forward.errors.tolist(), strict=True))
    outcome = Outcome(fit, None, discretization=errors)
    return (
        _with_reading_errors(outcome, forward, task) if len(task.problem.observations) else outcome
    )


def _with_reading_errors(outcome: Outcome, forward: Forward, task: Task) -> Outcome:
    """The outcome with its errors at the readings, none of which was fitted."""
    readings = task.problem.observations
    sensors = MeasuredValues(readings, forward.scaling)
    predicted = Readout(sensors, forward.solution).values(forward.solution)
    errors = predicted - sensors.values
    noise = sensors.common or float(np.sqrt(np.mean(errors**2)))
    left_out, start = np.full(readings.values.shape, np.nan), 0
    origin = forward.scaling.origin.along(readings.fields)
    for column, name in enumerate(readings.fields):
        rows = readings.measured(name).rows
        own_rows = slice(start, start := start + len(rows))
        left_out[rows, column] = (
            predicted[own_rows] * sensors.spread[own_rows] + sensors.mean[own_rows] + origin[column]
        )
    return replace(
        outcome, held_out_error=float(np.sqrt(np.mean(errors**2))), noise=noise,
        left_out_predictions=left_out,
    )  # fmt: skip
