"""Limited steps of unknown coefficients between linearizations, and the test that they are at rest.

The rows of an equation are linear in the logarithm or logit of a coefficient only nearby: a full step
from a value that is fifty times too small would multiply it by e⁵⁰. Steps are therefore limited. If
readings do not distinguish a large coefficient from a still larger one, it grows until it reaches the
edge of the search.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.core.unknown import Unknown, named_unknowns
from pgt.physics.pde import AbstractPDE

# The largest step of a logarithm or logit in one linearization: a factor of e.
MAX_LOG_STEP = 1.0
# A coefficient is at rest if its next step in the logarithm or logit is at most this large.
MAX_LOG_STEP_AT_REST = 0.05
# A coefficient whose logarithm has a larger standard deviation is practically unknown. It is at rest if
# its next step is at most half of that deviation.
MAX_INFORMATIVE_DEVIATION = 0.5
# The search ends when a logarithm is this far from its start: at ten million times the starting value, or
# at a ten-millionth of it.
MAX_LOG_DISTANCE = 16.0
# A bounded coefficient is at its bound if its logit exceeds this: a hundredth of its range is left.
MIN_LOGIT_AT_BOUND = 4.6
AT_EDGE = (
    "not determined by the readings: it ran to the edge of what is searched, ten million times its "
    "starting value or a ten-millionth"
)
STILL_MOVING = "it had not come to rest when the fit ended: begin closer to what is expected"


@dataclass(frozen=True)
class CoefficientEstimate:
    """The uncertainty of a coefficient, and whether it has converged.

    Attributes
    ----------
    deviation : the standard deviation of the raw number (a logarithm, a logit or a multiple of its unit).
    unsettled : why the coefficient has not converged; empty where it has.
    remaining_step : the size of one more step, in standard deviations.
    """

    deviation: float
    unsettled: str = ""
    remaining_step: float = 0.0


class CoefficientSteps:
    """Limited steps of the unknown coefficients of an equation, starting from their present values."""

    def __init__(self, pde: AbstractPDE):
        self.named = named_unknowns(pde)
        self.first = [log_of(node, float(node.raw)) for _, node in self.named]

    def step(
        self, raws: Float[np.ndarray, " k"], proposed: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, " k"]:
        """The raw numbers after a limited step from `raws` towards the proposed ones."""
        every = zip(self.named, self.first, raws, proposed, strict=True)
        return np.array([_limited(node, first, *pair) for (_, node), first, *pair in every], float)

    def estimates(
        self,
        raws: Float[np.ndarray, " k"],
        proposed: Float[np.ndarray, " k"],
        deviations: Float[np.ndarray, " k"],
    ) -> dict[str, CoefficientEstimate]:
        """By name, the estimate of each coefficient at `raws`, given the next proposed raw numbers."""
        every = zip(self.named, self.first, raws, proposed, deviations, strict=True)
        return {name: _estimate(node, *numbers) for (name, node), *numbers in every}


def are_settled(learnt: dict[str, CoefficientEstimate]) -> bool:
    """Whether all coefficients are at rest."""
    return not any(estimate.unsettled for estimate in learnt.values())


def is_at_edge(learnt: dict[str, CoefficientEstimate]) -> bool:
    """Whether a coefficient has reached the edge of the search."""
    return any(estimate.unsettled == AT_EDGE for estimate in learnt.values())


def _limited(node: Unknown, first: float, raw: float, proposed: float) -> float:
    """The raw number after a limited step towards the proposed one, inside the range of the search."""
    before = log_of(node, raw)
    after = before + np.clip(log_of(node, proposed) - before, -MAX_LOG_STEP, MAX_LOG_STEP)
    return raw_of(node, float(np.clip(after, first - MAX_LOG_DISTANCE, first + MAX_LOG_DISTANCE)))


def _estimate(
    node: Unknown, first: float, raw: float, proposed: float, deviation: float
) -> CoefficientEstimate:
    """The estimate of one coefficient. A coefficient at its bound, whose step would cross it, is at
    rest."""
    deviation = float(np.minimum(deviation, MAX_LOG_DISTANCE))
    step = log_of(node, proposed) - log_of(node, raw)
    distance = abs(log_of(node, _limited(node, first, raw, proposed)) - first)
    if node.bounds is not None and abs(raw) > MIN_LOGIT_AT_BOUND and raw * step > 0:
        return CoefficientEstimate(deviation)
    if distance >= MAX_LOG_DISTANCE:
        return CoefficientEstimate(deviation, AT_EDGE)
    is_known = deviation < MAX_INFORMATIVE_DEVIATION
    is_moving = abs(step) > (MAX_LOG_STEP_AT_REST if is_known else deviation / 2)
    return CoefficientEstimate(deviation, STILL_MOVING if is_moving else "")


def log_of(node: Unknown, raw: float) -> float:
    """The logarithm or logit of a coefficient from its raw number. For a multiple of a unit it is arsinh,
    which is logarithmic for large and linear for small values."""
    return float(np.arcsinh(raw)) if node.is_plain else float(raw)


def raw_of(node: Unknown, log: float) -> float:
    """The raw number of a coefficient from its logarithm: the inverse of `log_of`."""
    return float(np.sinh(log)) if node.is_plain else log
