"""When a second model is asked, and which of the two answers is kept.

Sines solve a linear equation exactly where they can follow its field. A narrow pulse they may not, and
then take their own failure for noise: nothing in their posterior tells. Readings do, if there are enough.
A network small enough for second-order steps reaches many digits of a field that it can follow, and few
of a rich one: there a larger network, trained by first-order steps, comes further.
"""

from dataclasses import replace

import numpy as np

from pgt.models.features import Features
from pgt.models.solver import Solver
from pgt.reconstruction.expected_error import together
from pgt.training.assemble import Task
from pgt.training.budget import seconds_given
from pgt.training.chance import is_less
from pgt.training.features import POOR, is_contested
from pgt.training.fit import Outcome
from pgt.training.loop import UNSETTLED
from pgt.training.overtaxed import bends_equation, is_overtaxed
from pgt.training.polish import NOISY
from pgt.trust.held_out import held_out_errors, left_out_in_turn

QUARTER = 0.25  # of the seconds: sines leave a third to the other model (training/features.py)
HONEST = 1.5  # of their own σ: readings left out are missed by no more, root mean square
JUDGED = 0.05  # of the seconds: a large network is compiled once more to be judged


def needs_rival(task: Task, outcome: Outcome, errors: dict | None, spent: float = 0.0) -> bool:
    """Whether the model may not have been able to follow the field, there are readings to tell, and there
    is time after what was spent."""
    seconds = seconds_given(task.training)
    if task.rival is None or (seconds is not None and seconds - spent < QUARTER * seconds):
        return False
    if isinstance(task.model, Solver):
        return outcome.fit.stopped == UNSETTLED or _is_worse_than_interpolation(task, outcome)
    if isinstance(task.model, Features):
        return errors is not None and is_contested(task) and together(errors, task)["value"] > POOR
    missed, fit = outcome.held_out_error, outcome.fit
    if missed is None or missed <= NOISY:
        return False
    return is_overtaxed(fit.model, task.problem) or bends_equation(fit.model, fit.pde, task.problem)


def _is_worse_than_interpolation(task: Task, outcome: Outcome) -> bool:
    """Whether readings are predicted from each other better without the equation, and by more than chance
    explains: coefficients at rest may be those of a local optimum, far from the readings."""
    if outcome.left_out is None:
        return False
    readings = task.problem.origin.physical(task.problem.observations)
    unseen = left_out_in_turn(readings, outcome.left_out, task.domain)
    spreads = {name: float(readings.measured(name).values.std()) for name in readings.fields}
    return any(
        found.is_significant and (found.of_spread or 0.0) > (found.interpolated_of_spread or 0.0)
        for found in held_out_errors(unseen, spreads).values()
    )


def predicts_better(other: Outcome, outcome: Outcome, rival: Task) -> bool:
    """Whether the other outcome, that of the rival, misses the readings held out from it by less, and by
    more than chance explains. Sines are asked about the same readings: each from the others, or each
    sensor from the others, would be another question."""
    missed, rows = outcome.held_out_error, rival.rows_held_out
    if outcome.without is not None and rows is not None and len(rows):
        missed = outcome.without(rows)
    if other.held_out_error is None or missed is None:
        return False
    judges = rival.held_out if len(rival.held_out) else rival.problem.observations
    count = int(np.asarray(judges.mask).sum())
    return is_less(other.held_out_error, missed, count)


def is_surer(outcome: Outcome, errors: dict | None, others: dict | None, task: Task) -> bool:
    """Whether sines that know how far they are off expect less error than their rival, by the errors
    expected of both. They are solved with all readings; the rival never sees those that it is judged by,
    and may have been lucky with a few noisy ones."""
    if outcome.misses is None or errors is None or others is None:
        return False
    if outcome.fit.stopped == UNSETTLED:  # its coefficients are not those of greatest probability
        return False
    is_honest = float(np.sqrt(np.mean(outcome.misses**2))) < HONEST
    return is_honest and together(errors, task)["value"] < together(others, task)["value"]


def in_time_left(task: Task, spent: float) -> Task:
    """The task with what is left of the seconds, where there was a limit."""
    training, seconds = task.training, seconds_given(task.training)
    if seconds is None:
        return task
    if training.polish and training.seconds is None:
        left = max(seconds - spent, seconds / 3)
        shorter = replace(training, polish=replace(training.polish, seconds=left))
    else:
        left = max((1 - JUDGED) * seconds - spent, seconds / 3)
        shorter = replace(training, seconds=left)
    # What is left depends on the machine: a run that is continued has to be the same run.
    return replace(task, training=shorter, asked=training)
