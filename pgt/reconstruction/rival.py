"""When a second model is asked, and which of the two answers is kept.

Sines solve a linear equation exactly where they can follow its field. A narrow pulse they may not, and
then take their own failure for noise: nothing in their posterior tells. Readings do, if there are enough.
"""

from dataclasses import replace
from math import sqrt

import numpy as np

from pgt.data.observations import Observations
from pgt.reconstruction.expected_error import together
from pgt.training.assemble import Task
from pgt.training.features import POOR, is_contested
from pgt.training.fit import Outcome

SIGNIFICANT = 2.0  # standard deviations of the error of so many readings


def needs_rival(task: Task, errors: dict | None) -> bool:
    """Whether sines may not have been able to follow the field, and there are readings to tell."""
    return errors is not None and is_contested(task) and together(errors, task)["value"] > POOR


def predicts_better(other: Outcome, outcome: Outcome, held_out: Observations) -> bool:
    """Whether readings that were not fitted are missed by less, and by more than chance explains."""
    if other.held_out_error is None or outcome.held_out_error is None:
        return False
    count = int(np.asarray(held_out.mask).sum())
    return other.held_out_error < (1 - SIGNIFICANT / sqrt(2 * count)) * outcome.held_out_error


def in_time_left(task: Task, spent: float) -> Task:
    """The task with what is left of the seconds, where there was a limit."""
    finish = task.training.polish
    if not finish or finish.seconds is None:
        return task
    left = replace(finish, seconds=max(finish.seconds - spent, finish.seconds / 3))
    # What is left depends on the machine: a run that is continued has to be the same run.
    return replace(task, training=replace(task.training, polish=left), asked=task.training)
