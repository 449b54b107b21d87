"""What of its budget a polish leaves to what comes after."""

from dataclasses import replace

from pgt.training.deadline import Deadline
from pgt.training.descent import State
from pgt.training.settings import Polish

# Error bars come after it: what they and the error stated compile takes twice as long as the first
# iteration, and they factor what has many times the rows of a step.
AFTER, AFTER_STEPS = 2.2, 70
MOST_AFTER = 0.35  # of the seconds: a fit needs the others, however long it compiles
# Of the seconds: steps under a prior are quick, and error bars are worth nothing without.
LEAST_UNDER_PRIOR = 0.1


def shared(settings: Polish, share: float) -> Polish:
    """A share of the budget."""
    seconds = None if settings.seconds is None else share * settings.seconds
    iterations = max(round(share * settings.iterations), 1)
    return replace(settings, iterations=iterations, seconds=seconds)


def left_of(settings: Polish, end: State, deadline: Deadline) -> Polish:
    """What a descent left of the budget, less the seconds that error bars will need."""
    iterations = max(settings.iterations - end.iteration, 1)
    if settings.seconds is None:
        return replace(settings, iterations=iterations)
    # A run that was killed and goes on has spent more than this clock knows.
    spent = max(deadline.spent, end.seconds) + seconds_after(end, settings.seconds)
    left = max(settings.seconds - spent, LEAST_UNDER_PRIOR * settings.seconds)
    return replace(settings, iterations=iterations, seconds=left)


def seconds_after(end: State, seconds: float) -> float:
    """Of the seconds, those that error bars will need, by the steps before them."""
    each = (end.seconds - end.first) / max(end.iteration - 1, 1)
    return min(AFTER * end.first + AFTER_STEPS * each, MOST_AFTER * seconds)
