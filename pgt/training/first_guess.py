"""Where the only unknown coefficient of an equation begins.

Linearised at a coefficient that is far off and at the field that few sensors suggest, an equation is most
probable where it is dropped, and the coefficient comes to rest anywhere. But at every value of it the
equation is linear, and one solve says how probable the readings are. So values around the first guess
are tried with few sines. The search begins at another one if that makes the readings plainly more
probable, by an equation that is believed more than it is at the first guess.
"""

from dataclasses import replace

import numpy as np

from pgt.ground.unknown import named_unknowns
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE
from pgt.training.assemble import Task
from pgt.training.coefficients import log_of, raw_of
from pgt.training.deadline import Deadline
from pgt.training.feature_rows import COEFFICIENT_UNIT, rows_of, weights_of, with_weights
from pgt.training.found import PLAINLY
from pgt.training.gaussian import Rows, Solved, most_probable
from pgt.training.linearity import is_linear
from pgt.training.one_band import NODES, VEILS, readings_alone, veiled

SINES = 200  # of every field, at most: with half of them values look alike
# Of a logarithm: from a fifth of the first guess to five times it.
STEPS = 0.125 * np.arange(-12, 13)
BELIEVED = 2.0  # log10 of ρ, more than at the first guess


def begun(model: Features, task: Task, deadline: Deadline, band: tuple[float, ...]) -> Task:
    """The task with the coefficient where its search is to begin: at its first guess, or elsewhere."""
    if len(named_unknowns(task.pde)) != 1 or not is_held(task, model.scaling):
        return task
    few = model.with_sines(min(SINES, len(model.network.sines.phases)), band)
    alone = readings_alone(few, task)
    veil = VEILS[0] if alone.sigma < VEILS[0] else 0.0
    first = _solved_at(task.pde, few, task, veil)
    best, where = first, task.pde
    for step in STEPS:
        if not deadline.allows(0.0):
            break
        pde = _moved(few, task.pde, float(step))
        found = _solved_at(pde, few, task, veil)
        if found.evidence > best.evidence:
            best, where = found, pde
    plainly = best.evidence > first.evidence + PLAINLY
    return replace(task, pde=where) if plainly and _is_believed(best, first) else task


def is_held(task: Task, scaling: Scaling) -> bool:
    """Whether one solve says how probable the readings are by coefficients that are held."""
    return task.problem.likelihood == "gauss" and is_linear(task.pde, scaling)


def held_evidence(model: Features, pde: AbstractPDE, task: Task) -> float:
    """How probable the readings are where the coefficients are what they are in `pde`, by one solve."""
    veil = VEILS[0] if readings_alone(model, task).sigma < VEILS[0] else 0.0
    return _solved_at(pde, model, task, veil).evidence


def _is_believed(found: Solved, first: Solved) -> bool:
    return found.exponent >= first.exponent + BELIEVED


def _moved(model: Features, pde: AbstractPDE, step: float) -> AbstractPDE:
    """The equation with its coefficient elsewhere."""
    node, weights = named_unknowns(pde)[0][1], weights_of(model, pde)
    weights[-1] = raw_of(node, log_of(node, float(node.raw)) + step) / COEFFICIENT_UNIT
    return with_weights(model, pde, weights)[1]


def _solved_at(pde: AbstractPDE, model: Features, task: Task, veil: float) -> Solved:
    """The field where the coefficient is known to be what it is."""
    return most_probable(veiled(_held(rows_of(model, pde, task.problem, NODES), model, pde), veil))


def _held(rows: Rows, model: Features, pde: AbstractPDE) -> Rows:
    """The same without the columns of coefficients, which stay where they are."""
    fields = model.network.readout.size
    known = rows.equation[:, fields:] @ weights_of(model, pde)[fields:]
    return replace(
        rows, equation=rows.equation[:, :fields], target=rows.target - known,
        readings=rows.readings[:, :fields],
    )  # fmt: skip
