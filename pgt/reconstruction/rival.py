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

QUARTER = 0.25  # of the seconds: sines leave a third to the other model (training/features.py)
SIGNIFICANT = 2.0  # standard deviations of the error of so many readings


def needs_rival(task: Task, errors: dict | None, spent: float = 0.0) -> bool:
    """Whether sines may not have been able to follow the field, there are readings to tell, and there is
    time after what was spent."""
    if errors is None or not is_contested(task):
        return False
    seconds = task.training.seconds
    if seconds is not None and seconds - spent < QUARTER * seconds:
        return False
    return together(errors, task)["value"] > POOR


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
