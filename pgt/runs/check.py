"""Everything about a run that can be said before anything is trained."""

from dataclasses import dataclass

import numpy as np

from pgt._errors import InputError
from pgt._reconstruct import default_model
from pgt._unknown import named_unknowns
from pgt.bench.cost import step_cost
from pgt.config import RunFile
from pgt.data import Domain, Observations
from pgt.models.base import AbstractFieldModel
from pgt.nn.frozen import count_parameters
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE
from pgt.training.losses import Problem
from pgt.training.settings import Training

CELLS = 4  # per axis, in which the readings are counted


@dataclass(frozen=True)
class Prepared:
    """A run file turned into what `reconstruct` takes."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    training: Training
    model: AbstractFieldModel


def prepare(run: RunFile) -> Prepared:
    """Read and build everything; any mistake is an `InputError` that names file, line and key."""
    observations, domain, pde = run.read_observations(), run.build_domain(), run.build_pde()
    conditions, training = run.build_conditions(), run.build_training()
    with run.located("observations", "file"):
        observations.check_inside(domain)
    with run.located("observations", "fields"):
        aligned = observations.aligned(pde.fields)
    model = run.build_model(observations)
    if model is None:
        model = default_model(aligned, pde, domain, seed=run.seed)
    return Prepared(observations, pde, domain, conditions, training, model)


def describe(run: RunFile, prepared: Prepared) -> list[tuple[str, str]]:
    """(what, how much) of a run, in the order in which a reader asks."""
    readings, pde = prepared.observations, prepared.pde
    rows = [("readings", f"{len(readings)} in {run.observations_path.name}")]
    rows += [_column(readings, name) for name in readings.fields]
    rows += [_axis(readings, prepared.domain, axis) for axis in prepared.domain.axes]
    rows.append(("coverage", _coverage(readings, prepared.domain)))
    hidden = [name for name in pde.fields if name not in readings.fields]
    rows.append(("hidden fields", ", ".join(hidden) or "none"))
    learnt = [f"{name} (from {float(n.value):.4g})" for name, n in named_unknowns(pde)]
    rows.append(("learnt coefficients", ", ".join(learnt) or "none"))
    rows.append(("conditions", ", ".join(c.kind for c in prepared.conditions) or "none"))
    held = prepared.training.hold_out
    rows.append(("held out", f"{100 * held:.0f} % of the readings" if held else "nothing"))
    network = f"{type(prepared.model).__name__}, {count_parameters(prepared.model):,} parameters"
    rows += [("model", network), ("budget", _budget(prepared.training))]
    rows.append(("memory of a step", _memory(prepared)))
    return rows


def _column(readings: Observations, name: str) -> tuple[str, str]:
    column = readings.fields.index(name)
    values = np.asarray(readings.values, float)[np.asarray(readings.mask)[:, column], column]
    if not len(values):
        raise InputError(f"the field {name!r} has no reading at all; leave it out of `fields`.")
    unit = dict(readings.units).get(name)
    words = f"{len(values)} values from {values.min():.4g} to {values.max():.4g}"
    return name, f"{words} {unit}" if unit else f"{words}, no unit given"


def _axis(readings: Observations, domain: Domain, axis: str) -> tuple[str, str]:
    points = np.asarray(readings.points)[:, readings.coords.index(axis)]
    low, high = domain.bounds(axis)
    unit = dict(domain.units).get(axis) or dict(readings.units).get(axis) or ""
    measured = f"readings from {points.min():.4g} to {points.max():.4g}"
    return axis, f"{measured}, domain {low:.4g} to {high:.4g} {unit}".rstrip()


def _coverage(readings: Observations, domain: Domain) -> str:
    """Of the cells of a coarse grid, how many hold a reading."""
    order = [readings.coords.index(axis) for axis in domain.axes]
    unit = (np.asarray(readings.points, float)[:, order] - domain.lower) / domain.extent
    cells = np.clip((unit * CELLS).astype(int), 0, CELLS - 1)
    filled, total = len(np.unique(cells, axis=0)), CELLS**domain.dimension
    return f"{filled} of {total} cells hold a reading" + (
        "" if filled == total else "; in the others only equation and conditions say what happens"
    )


def _budget(training: Training) -> str:
    length = f"{training.steps} steps" if training.seconds is None else f"{training.seconds:g} s"
    return f"{length} of {training.optimiser}, {training.collocation} collocation points"


def _memory(prepared: Prepared) -> str:
    """What one step needs, which only the compiler knows; what it compiles is kept for later."""
    readings = prepared.observations.aligned(prepared.pde.fields)
    problem = Problem.build(
        readings, prepared.pde, prepared.conditions, prepared.domain, prepared.model.scaling,
        physics=prepared.training.collocation > 0,
    )  # fmt: skip
    cost = step_cost(prepared.model, prepared.pde, problem, prepared.training)
    needed = cost["peak_bytes"]
    return "not told by this device" if needed is None else f"{needed / 2**20:.3g} MiB"
