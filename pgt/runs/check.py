"""`pgt check`: everything about a run that is known before the training."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgt import plots
from pgt.config import RunFile
from pgt.config.parts import Parts
from pgt.core.errors import InputError
from pgt.core.numbers import interval
from pgt.core.unknown import named_coefficients
from pgt.data import Domain, Observations
from pgt.data.query_points import require_grid
from pgt.data.visibility import count_cells
from pgt.io.file_access import name_file_in_errors
from pgt.io.readers import describe_files
from pgt.kernels import NoKernel
from pgt.methods.plan import Plan, choose
from pgt.models.features import Features
from pgt.models.mesh_solution import Solver
from pgt.nn.trees import count_parameters
from pgt.physics import Equation
from pgt.physics.conditions import MIN_SHARED_PART, on_ends, warn_of_overlap
from pgt.physics.equation_checks import (
    check_dimensions,
    check_homogeneous,
    coefficient_units,
    warn_of_growth,
)
from pgt.physics.unknown_conditions import bare, functions_of
from pgt.problem.assembly import Task, held_out_groups
from pgt.problem.linearity import is_solved_by_one_solve
from pgt.training.optimisers import describe_optimiser


def prepare(run: RunFile, seconds: float | None = None) -> tuple[Parts, Plan]:
    """The parts of a run file, each built once, and the plan of candidates.

    A mistake is an `InputError` that names file, line and key. `seconds` replaces the file's budget.
    """
    parts = Parts(run)
    readings, pde, domain = parts.observations, parts.pde, parts.domain
    conditions, training, error_bars = parts.conditions, parts.training, parts.error_bars
    if seconds is not None:
        training = replace(training, seconds=seconds)
    quantities, _ = parts.quantities, parts.kernel  # a mistake there shows before the training
    with run.located("output", "grid"):
        require_grid(run.output.grid, domain, len(quantities))
    with ExitStack() as stack:
        if run.observations is not None:
            stack.enter_context(run.located("observations", "file"))
            stack.enter_context(name_file_in_errors(describe_files(run.observations_paths)))
            _check_enough(readings)
        else:
            stack.enter_context(run.located("conditions"))
        plan = choose(
            readings, pde, domain, conditions, model=parts.named_model, method=run.method,
            training=training, error_bars=error_bars, seed=run.seed,
        )  # fmt: skip
        _ = plan.first  # whatever is wrong with its task shows before the training
        check_dimensions(pde, _units(readings, domain))
        if parts.has_amounts:
            check_homogeneous(pde, _units(readings, domain))
    warn_of_growth(pde)
    warn_of_overlap(conditions, domain)
    return parts, plan


def _units(observations: Observations, domain: Domain) -> dict[str, str]:
    return dict(observations.units) | domain.units


def _check_enough(observations: Observations) -> None:
    for name in observations.hidden_fields:
        raise InputError(f"the field {name!r} has no reading at all; leave it out of `fields`.")
    measured = int(np.asarray(observations.mask).any(axis=1).sum())
    if measured < 2:
        raise InputError(
            f"{measured} reading in all: one is fitted by any field, and none is left to judge it "
            "with. Give two at least, and better some dozens."
        )


def describe(run: RunFile, parts: Parts, plan: Plan) -> list[tuple[str, str]]:
    """The rows (name, value) that describe a run."""
    readings, domain, pde = parts.observations, parts.domain, parts.pde
    task = plan.first
    units = _units(readings, domain)
    rows = [] if run.observations is None else _readings(run, parts)
    rows += [_axis(readings, domain, axis) for axis in domain.axes]
    rows += [("shape", _shape(domain))] if domain.shape is not None else []
    rows += [("coverage", _coverage(readings, domain))] if len(readings) else []
    hidden = [name for name in pde.fields if name not in readings.fields]
    rows.append(("hidden fields", ", ".join(hidden) or "none"))
    learnt = [f"{name} (from {float(n.value):.4g})" for name, n in named_coefficients(task.pde)]
    states = getattr(bare(task.pde), "states", {})
    learnt += [f"{name}({state.field})" for name, state in states.items()]
    rows.append(("learnt coefficients", ", ".join(learnt) or "none"))
    if functions := functions_of(task.pde):
        notes = [f"{name}({', '.join(f.axes)})" for name, f in functions.items()]
        rows.append(("unknown functions", ", ".join(notes)))
    if wanted := coefficient_units(pde, units):
        rows.append(("coefficients are in", ", ".join(f"{n}: {u}" for n, u in wanted.items())))
    rows.append(("conditions", ", ".join(c.kind for c in task.problem.conditions) or "none"))
    rows.append(("held out", _held_out(readings, task)))
    rows.append(("error bars", repr(task.error_bars) if task.error_bars else "none"))
    network = f"{type(task.model).__name__}, {count_parameters(task.model):,} parameters"
    rows += [("model", network), *_kernel(parts), *_plan(plan)]
    return [*rows, ("budget", _budget(task))]


def _plan(plan: Plan) -> list[tuple[str, str]]:
    """The candidates of the plan in order, with reasons."""
    return [
        (f"plan, {number}", f"{one.method} ({one.model}): {one.reason}")
        for number, one in enumerate(plan.candidates, 1)
    ]


def _readings(run: RunFile, parts: Parts) -> list[tuple[str, str]]:
    """The rows on the readings: their number, how their file was understood, and the values of fields."""
    readings = parts.observations
    rows = [
        ("readings", f"{len(readings)} in {describe_files(run.observations_paths).name}"),
        ("read as", ", ".join(parts.columns.notes) or "columns by name"),
    ]
    return rows + [_column(readings, name) for name in readings.fields]


def _kernel(parts: Parts) -> list[tuple[str, str]]:
    """The kernel of a model that uses one, or the reason why it is not used."""
    kernel, pde = parts.kernel, parts.pde
    if kernel is None:
        return []
    if not isinstance(kernel, NoKernel):
        return [("kernel", repr(kernel))]
    implied = pde.implied_kernel() if isinstance(pde, Equation) else None
    why = implied.why if implied else ""
    return [("kernel", f"none: {why}" if why else "none")]


def _column(readings: Observations, name: str) -> tuple[str, str]:
    values = readings.measured(name).values
    unit = dict(readings.units).get(name)
    words = f"{len(values)} values from {interval(values.min(), values.max())}"
    return name, f"{words} {unit}" if unit else f"{words}, no unit given"


def _axis(readings: Observations, domain: Domain, axis: str) -> tuple[str, str]:
    points = np.asarray(readings.points)[:, readings.coords.index(axis)]
    unit = dict(domain.units).get(axis) or dict(readings.units).get(axis) or ""
    if not len(points):
        return axis, f"domain {interval(*domain.bounds(axis))} {unit}".rstrip()
    measured = f"readings from {interval(points.min(), points.max())}"
    return axis, f"{measured}, domain {interval(*domain.bounds(axis))} {unit}".rstrip()


def _shape(domain: Domain) -> str:
    """The share of its box that a shape fills, and its walls, with the parts that are also box ends."""
    assert domain.shape is not None
    share = domain.volume / float(np.prod(domain.extent))
    shared = {name: on_ends(domain, name) for name in domain.wall_names}
    walls = [
        f"{name} ({part:.0%} of it on ends of the box)" if part > MIN_SHARED_PART else name
        for name, part in shared.items()
    ]
    return f"{share:.3g} of the box; walls: {', '.join(walls)}"


def draw(run: RunFile) -> Path | None:
    """The path of a picture of the shape, with readings outside in red; None without a shape.

    It is drawn before the readings are refused, so that it shows which of them are outside.
    """
    parts = Parts(run)
    if parts.domain.shape is None:
        return None
    found = parts.columns.values
    points = np.stack([np.asarray(found[axis], float) for axis in parts.domain.axes], axis=-1)
    figure = plots.domain(parts.domain, points)
    return plots.save(figure, run.path.with_name(f"{run.path.stem}-shape.png"))


def _coverage(readings: Observations, domain: Domain) -> str:
    """The number of cells of a coarse grid that hold a reading."""
    found = count_cells(readings.points, domain)
    elsewhere = "; in the others only equation and conditions say what happens"
    return found.in_words + ("" if found.filled == found.total else elsewhere)


def _held_out(readings: Observations, task: Task) -> str:
    """The number of held-out readings, and how they are chosen."""
    if not len(readings):
        return "nothing: there are no readings"
    if not len(task.held_out) and not task.model.is_trained:
        return "nothing: each reading is predicted from all the others"
    if not len(task.held_out):
        return "nothing: no error can be stated"
    count = f"{len(task.held_out)} of {len(readings)} readings"
    groups = held_out_groups(readings, task.training, task.domain)
    if groups is None:
        return f"{count}, one by one at random"
    kind = "sensors" if task.training.hold_out_by == "sensor" else "blocks"
    return f"{count}, in whole {kind} ({len(np.unique(groups))} in all)"


def _budget(task: Task) -> str:
    training, polish = task.training, task.training.polish
    if not task.model.is_trained:
        return f"{_how_solved(task)}, in seconds"
    if training.steps == 0 and polish:
        length = f"{polish.iterations}" if polish.seconds is None else f"{polish.seconds:g} s of"
        return f"{length} second-order steps on all weights"
    length = f"{training.steps} steps" if training.seconds is None else f"{training.seconds:g} s"
    optimiser = describe_optimiser(training.optimiser)
    return f"{length} of {optimiser}, {training.collocation} collocation points"


def _how_solved(task: Task) -> str:
    """The way in which a model without training steps is computed."""
    if isinstance(task.model, Solver) and not len(task.problem.observations):
        return "solved on a mesh"
    if not isinstance(task.model, Features):
        return "solved on a mesh, what is unknown by linearising the solution again and again"
    if is_solved_by_one_solve(task.pde, task.model.scaling):
        return "solved in closed form"
    return "solved by linearising the equation again and again"
