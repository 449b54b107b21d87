"""Whether a fit converged, from the reason why it stopped and the course of its cost.

Second-order stages are judged by the decrease of their cost in the last fifth of the iterations,
first-order training by that of the held-out error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgt.core.numbers import number, percent
from pgt.core.stage import Stage
from pgt.methods.finished_fit import (
    COEFFICIENT_NOT_AT_REST,
    DIVERGED,
    HELD_OUT_ERROR_STALLED,
    ON_LARGEST_MESH,
    ON_MESH_IN_TIME,
    SOLVED_IN_CLOSED_FORM,
    SOLVED_ON_MESH,
)

# A run has not converged if its last fifth still reduces the error by more than this share.
MAX_LATE_DECREASE = 0.1
# A least-squares fit with a smaller cost, in squared units of the spread, has converged. The misfit is
# then a thousandth of the spread.
MAX_CONVERGED_COST = 1e-6
# A stage with fewer iterations was cut short by the time limit. Fewer than half as many checks of the
# held-out error do not show whether it still falls.
MIN_STAGE_ITERATIONS = 10
# A fit that ran out of time is advised to take this multiple of its seconds.
SUGGESTED_TIME_FACTOR = 4
# A call that took more than this multiple of its seconds is reported; a busy machine explains less.
MAX_OVERRUN_FACTOR = 1.5


@dataclass(frozen=True)
class Descent:
    """How the cost of a fit came down.

    Attributes
    ----------
    stopped : why the fit ended, as one of the texts in `pgt.methods.finished_fit`.
    held_out_errors : the held-out error at every check; empty if nothing was held out.
    stages : the stages of a least-squares fit; empty without one.
    exhausted_seconds : the time limit if it ended the last stage, else None.
    map_estimate_cost : the cost of the linearized MAP estimate if that is the answer, else None.
    given, took : the time limit of the user, and the wall-clock seconds of the whole call.
    """

    stopped: str
    held_out_errors: Sequence[float] | np.ndarray = ()
    stages: Sequence[Stage] = ()
    exhausted_seconds: float | None = None
    map_estimate_cost: float | None = None
    given: float | None = None
    took: float | None = None

    @property
    def overrun(self) -> str:
        """A sentence if the whole call took much longer than its time limit, else an empty text.

        >>> Descent("", given=4.0, took=11.0).overrun
        'It took 11 of 4 s: compilation and error bars alone need more, so give it at least 11 s.'
        """
        if self.given is None or self.took is None or self.took <= MAX_OVERRUN_FACTOR * self.given:
            return ""
        took, given = (number(seconds, 2) for seconds in (self.took, self.given))
        return (
            f"It took {took} of {given} s: compilation and error bars alone need more, so give it at "
            f"least {took} s."
        )

    @property
    def is_cut_short(self) -> bool:
        """Whether the time limit ended the fit when one of its stages had just begun."""
        fewest = min((stage.iterations for stage in self.stages), default=0)
        return self.exhausted_seconds is not None and fewest < MIN_STAGE_ITERATIONS

    @property
    def advice(self) -> str:
        """Advice for a fit that did not converge, or an empty text.

        >>> Descent("", exhausted_seconds=60.0).advice
        'The seconds ran out before it converged: give it more, e.g. seconds=240.'
        """
        ended = self.stages[-1].ended if self.stages else "iterations"
        if self.exhausted_seconds is None:
            return "More iterations should help." if ended == "iterations" else ""
        suggested = number(SUGGESTED_TIME_FACTOR * self.exhausted_seconds)
        return f"The seconds ran out before it converged: give it more, e.g. seconds={suggested}."


def convergence(descent: Descent) -> tuple[bool | None, str]:
    """Whether the fit converged (None if that is unknown), and the reason.

    >>> falling = Stage("Gauss-Newton", (16.0, 8.0, 4.0, 2.0, 1.0), 3.0, "iterations")
    >>> convergence(Descent(falling.reason, stages=[falling]))[0]
    False
    """
    if descent.stopped == DIVERGED:
        return False, f"Training {DIVERGED}."
    if descent.stopped == COEFFICIENT_NOT_AT_REST:
        return False, f"The field was solved for, but {COEFFICIENT_NOT_AT_REST}."
    if descent.stopped == SOLVED_IN_CLOSED_FORM:
        return True, "The field was solved for in closed form; there was nothing to converge."
    if descent.stopped == SOLVED_ON_MESH:
        return True, "The equation was solved on a mesh, and its unknown coefficients converged."
    if descent.stopped in (ON_LARGEST_MESH, ON_MESH_IN_TIME):
        return None, f"The equation was {descent.stopped}: the stated error says how well."
    if descent.stages:  # second-order stages follow first-order training, so they decide
        return _from_stages(descent)
    if descent.stopped == HELD_OUT_ERROR_STALLED:
        return (
            True,
            "Training ended because the held-out error had stopped falling; the best fit was kept.",
        )
    return _from_held_out_errors(np.asarray(descent.held_out_errors, float))


def _from_held_out_errors(errors: np.ndarray) -> tuple[bool | None, str]:
    if len(errors) < MIN_STAGE_ITERATIONS // 2 or not np.isfinite(errors).all():
        return (
            None,
            "The history is too short, or nothing was held out, to tell whether it converged.",
        )
    first_late = len(errors) - max(len(errors) // 5, 1)
    decrease = (
        1 - errors[first_late:].min() / errors[:first_late].min()
        if errors[:first_late].min() > 0
        else 0.0
    )
    if decrease > MAX_LATE_DECREASE:
        return False, (
            f"The held-out error still fell by {percent(decrease)} in the last fifth of the run: "
            "a larger budget of steps or seconds should give a better field."
        )
    return True, "The held-out error had levelled off before the budget was spent."


def _from_stages(descent: Descent) -> tuple[bool, str]:
    stages, last = descent.stages, descent.stages[-1]
    costs = np.asarray(last.costs, float)
    cost_change = f"the cost from {number(costs[0])} to {number(costs[-1])}"
    late_start_cost = costs[len(costs) - 1 - max(len(costs) // 5, 1)]
    decrease = 1 - costs[-1] / late_start_cost if late_start_cost > 0 else 0.0
    count = sum(stage.iterations for stage in stages)
    within = f" in its last stage ({last.name})" if len(stages) > 1 else ""
    course = f"A least-squares fit of {count} iterations brought {cost_change}{within}"
    ended = f"It ended because {last.reason}."
    if descent.map_estimate_cost is not None and descent.map_estimate_cost <= MAX_CONVERGED_COST:
        cost = number(descent.map_estimate_cost)
        return (
            True,
            f"{course}. {ended} The field was moved from there to the MAP estimate: cost {cost}.",
        )
    if decrease > MAX_LATE_DECREASE and costs[-1] > MAX_CONVERGED_COST:
        return False, f"{course}, in its last fifth still by {percent(decrease)}. {ended}"
    if descent.is_cut_short and costs[-1] > MAX_CONVERGED_COST:
        return False, f"{course}. {ended}"
    return (
        True,
        f"{course}{'' if decrease > MAX_LATE_DECREASE else ' and had levelled off'}. {ended}",
    )
