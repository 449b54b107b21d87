"""Everything about a run that can be said before anything is trained."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pgt._reconstruct import checked, default_model, groups_of, hold_out
from pgt.config import RunFile
from pgt.data import Domain, Observations
from pgt.ground.errors import InputError
from pgt.ground.unknown import named_unknowns
from pgt.io._files import naming
from pgt.models.base import AbstractFieldModel
from pgt.nn.frozen import count_parameters
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE
from pgt.runs.dimensions import check_dimensions, coefficient_units
from pgt.training.error_bars import ErrorBars
from pgt.training.fit import check_error_bars
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
    build: Callable[[int], AbstractFieldModel]  # the network of a seed
    model: AbstractFieldModel
    error_bars: ErrorBars | None


def prepare(run: RunFile) -> Prepared:
    """Read and build everything; any mistake is an `InputError` that names file, line and key."""
    observations, domain, pde = run.read_observations(), run.build_domain(), run.build_pde()
    conditions, training = run.build_conditions(), run.build_training()
    run.build_quantities()
    with run.located("observations", "file"), naming(run.observations_path):
        _check_enough(observations)
        aligned = checked(observations, pde, domain)
        hold_out(aligned, training, run.seed)
        check_dimensions(pde, _units(observations, domain))

    def build(seed: int) -> AbstractFieldModel:
        model = run.build_model(observations, seed)
        return model or default_model(aligned, pde, domain, seed=seed)

    model, error_bars = build(run.seed), run.build_error_bars()
    with run.located("error_bars"):
        check_error_bars(error_bars, model, training)
    return Prepared(observations, pde, domain, conditions, training, build, model, error_bars)


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
    if wanted := coefficient_units(pde, _units(readings, prepared.domain)):
        rows.append(("coefficients are in", ", ".join(f"{n}: {u}" for n, u in wanted.items())))
    rows.append(("conditions", ", ".join(c.kind for c in prepared.conditions) or "none"))
    rows.append(("held out", _held_out(prepared, run.seed)))
    rows.append(("error bars", repr(prepared.error_bars) if prepared.error_bars else "none"))
    network = f"{type(prepared.model).__name__}, {count_parameters(prepared.model):,} parameters"
    return [*rows, ("model", network), ("budget", _budget(prepared.training))]


def _column(readings: Observations, name: str) -> tuple[str, str]:
    column = readings.fields.index(name)
    values = np.asarray(readings.values, float)[np.asarray(readings.mask)[:, column], column]
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


def _held_out(prepared: Prepared, seed: int) -> str:
    """How many readings, and how they are chosen."""
    _, held_out = hold_out(prepared.observations, prepared.training, seed)
    if not len(held_out):
        return "nothing: no error can be told"
    count = f"{len(held_out)} of {len(prepared.observations)} readings"
    groups = groups_of(prepared.observations, prepared.training)
    if groups is None:
        return f"{count}, one by one at random"
    return f"{count}, in whole blocks ({groups.max() + 1} in all)"


def _budget(training: Training) -> str:
    length = f"{training.steps} steps" if training.seconds is None else f"{training.seconds:g} s"
    return f"{length} of {training.optimiser}, {training.collocation} collocation points"
