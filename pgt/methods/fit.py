"""Which method fits which model.

Networks and sums of sines are fitted by training/fit.py. A model that another method fits has its line
here.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from pgt.methods.solver import solved_task
from pgt.models.base import AbstractFieldModel
from pgt.models.solver import Solver
from pgt.training.assemble import Task
from pgt.training.fit import Outcome
from pgt.training.fit import fit_task as fit_by_training
from pgt.training.progress import ProgressBar

Method = Callable[[Task, ProgressBar], Outcome]
METHODS: Mapping[type[AbstractFieldModel], Method] = {Solver: solved_task}


def fit_task(
    task: Task,
    *,
    checkpoint: Path | None = None,
    progress: bool | None = None,
    is_kept: Callable[[Outcome], bool] = lambda outcome: True,
) -> Outcome:
    """The task, fitted by the method of its model; arguments as in training/fit.py."""
    method = METHODS.get(type(task.model))
    if method is None:
        return fit_by_training(task, checkpoint=checkpoint, progress=progress, is_kept=is_kept)
    with ProgressBar(progress) as bar:
        return method(task, bar)
