"""How long each part of a fit may take, decided before it begins.

A network whose weights all fit a second-order step needs no training before it: on problems of all
kinds Gauss–Newton from the first step ends lower, and sooner, than after a share of the time given to a
first-order optimiser (benchmarks/newton.py). Others are trained first; their decoder is polished.
"""

from dataclasses import replace

from pgt.models.base import AbstractFieldModel
from pgt.training.polish import polish_settings
from pgt.training.settings import Training
from pgt.training.system import is_whole

STEPS = 2000  # of a first-order optimiser
ITERATIONS, PATIENCE, FRESH = 300, 120, 0.7  # of second-order steps that nothing comes before
UNLIMITED = 10**6
TRAINED = 0.6  # of the seconds, where a polish follows


def budgeted(training: Training, model: AbstractFieldModel) -> Training:
    """The settings with nothing left open: how many steps, for how long, and the polish after them."""
    if not model.is_trained:
        return training
    polish = polish_settings(model, training)
    if training.steps is not None or polish is False or not is_whole(model, polish):
        return _trained_first(training, model)
    seconds = training.seconds
    if training.polish is None:
        iterations = ITERATIONS if seconds is None else UNLIMITED
        polish = replace(polish, iterations=iterations, patience=PATIENCE, fresh=FRESH)
    if seconds is not None and polish.seconds is None:
        polish = replace(polish, seconds=seconds)
    return replace(training, steps=0, seconds=None, polish=polish)


def _trained_first(training: Training, model: AbstractFieldModel) -> Training:
    steps = STEPS if training.steps is None else training.steps
    polish, seconds = polish_settings(model, training), training.seconds
    if polish is False or seconds is None or polish.seconds is not None:
        return replace(training, steps=steps, polish=polish)
    finish = replace(polish, seconds=(1 - TRAINED) * seconds)
    return replace(training, steps=steps, seconds=TRAINED * seconds, polish=finish)


def seconds_given(training: Training) -> float | None:
    """Those of the training and of its polish together; None where there is no limit.

    >>> from pgt.training.settings import Polish
    >>> seconds_given(Training(seconds=6.0, polish=Polish(seconds=4.0))), seconds_given(Training())
    (10.0, None)
    """
    finish = training.polish.seconds if training.polish else None
    given = [seconds for seconds in (training.seconds, finish) if seconds is not None]
    return sum(given) if given else None
