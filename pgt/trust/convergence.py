"""Whether a fit had come to rest when it ended."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgt.ground.numbers import number, percent
from pgt.ground.stage import Stage
from pgt.training.loop import DIVERGED, NO_LONGER_FALLING, ON_MESH, SOLVED, UNSETTLED

STILL_FALLING = 0.1  # of the error, in the last fifth of a run
GOOD_COST = 1e-6  # of a polish, in squared units of the spread: a thousandth of it is left
FEWEST_ITERATIONS = 10  # of a stage of the polish: with fewer it is nowhere near its end
MORE_SECONDS = 4  # times those that ran out: what to try next
FEWEST_CHECKS = 5  # of the held-out error, from which its course can be told


@dataclass(frozen=True)
class Descent:
    """How a fit came down.

    Attributes
    ----------
    stopped : why training ended, in the words of `pgt.training.loop`.
    held_out_errors : at every check; empty where nothing was held out.
    stages : of the least-squares fit; empty without one.
    ran_out_of : the seconds that were given, where they ended the last stage.
    moved_to : the cost where the field was moved to after the polish, in one solve, where it was.
    """

    stopped: str
    held_out_errors: Sequence[float] | np.ndarray = ()
    stages: Sequence[Stage] = ()
    ran_out_of: float | None = None
    moved_to: float | None = None

    @property
    def is_cut_short(self) -> bool:
        """Whether the clock ended the fit when one of its stages had hardly begun."""
        fewest = min((stage.iterations for stage in self.stages), default=0)
        return self.ran_out_of is not None and fewest < FEWEST_ITERATIONS

    @property
    def advice(self) -> str:
        """What to do about a fit that had not come to rest.

        >>> Descent("", ran_out_of=60.0).advice
        'The seconds ran out before it came to rest: give it more, e.g. seconds=240.'
        """
        ended = self.stages[-1].ended if self.stages else "iterations"
        if self.ran_out_of is None:
            return "More iterations should help." if ended == "iterations" else ""
        more = number(MORE_SECONDS * self.ran_out_of)
        return f"The seconds ran out before it came to rest: give it more, e.g. seconds={more}."


def convergence(descent: Descent) -> tuple[bool | None, str]:
    """Whether the fit converged (None: cannot be told), and why we say so.

    >>> falling = Stage("Gauss-Newton", (16.0, 8.0, 4.0, 2.0, 1.0), 3.0, "iterations")
    >>> convergence(Descent(falling.reason, stages=[falling]))[0]
    False
    """
    if descent.stopped == DIVERGED:
        return False, f"Training {DIVERGED}."
    if descent.stopped == UNSETTLED:
        return False, f"The field was solved for, but {UNSETTLED}."
    if descent.stopped == SOLVED:
        return True, "The field was solved for in closed form; there was nothing to converge."
    if descent.stopped == ON_MESH:
        return True, "The equation was solved on a mesh, and what is unknown of it came to rest."
    if descent.stages:  # they come last, and so decide
        return _of_stages(descent)
    if descent.stopped == NO_LONGER_FALLING:
        return (
            True,
            "Training ended because the held-out error had stopped falling; the best fit was kept.",
        )
    return _of_errors(np.asarray(descent.held_out_errors, float))


def _of_errors(errors: np.ndarray) -> tuple[bool | None, str]:
    if len(errors) < FEWEST_CHECKS or not np.isfinite(errors).all():
        return (
            None,
            "The history is too short, or nothing was held out, to tell whether it converged.",
        )
    cut = len(errors) - max(len(errors) // 5, 1)
    gain = 1 - errors[cut:].min() / errors[:cut].min() if errors[:cut].min() > 0 else 0.0
    if gain > STILL_FALLING:
        return False, (
            f"The held-out error still fell by {percent(gain)} in the last fifth of the run: "
            "a larger budget of steps or seconds should give a better field."
        )
    return True, "The held-out error had levelled off before the budget was spent."


def _of_stages(descent: Descent) -> tuple[bool, str]:
    stages, last = descent.stages, descent.stages[-1]
    costs = np.asarray(last.costs, float)
    fell = f"the cost from {number(costs[0])} to {number(costs[-1])}"
    start = costs[len(costs) - 1 - max(len(costs) // 5, 1)]
    gain = 1 - costs[-1] / start if start > 0 else 0.0
    count = sum(stage.iterations for stage in stages)
    within = f" in its last stage ({last.name})" if len(stages) > 1 else ""
    done = f"A least-squares fit of {count} iterations brought {fell}{within}"
    ended = f"It ended because {last.reason}."
    if descent.moved_to is not None and descent.moved_to <= GOOD_COST:
        cost = number(descent.moved_to)
        return (
            True,
            f"{done}. {ended} The field was moved from there to the MAP estimate: cost {cost}.",
        )
    if gain > STILL_FALLING and costs[-1] > GOOD_COST:
        return False, f"{done}, in its last fifth still by {percent(gain)}. {ended}"
    if descent.is_cut_short and costs[-1] > GOOD_COST:
        return False, f"{done}. {ended}"
    return True, f"{done}{'' if gain > STILL_FALLING else ' and had levelled off'}. {ended}"
