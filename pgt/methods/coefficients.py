"""How far unknown coefficients may move from one linearization of an equation to the next, and when they
are at rest.

The rows of an equation are linear in the logarithm or logit of a coefficient only nearby: a step from a
value that is fifty times too small would multiply it by e⁵⁰. So steps are limited. If readings do not
distinguish a large coefficient from a still larger one, it grows until it reaches the edge of the search.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.core.unknown import Unknown, named_unknowns
from pgt.physics.pde import AbstractPDE

# The largest step of a logarithm or logit in one linearization: a factor of e.
MAX_LOG_STEP = 1.0
# A coefficient whose next step of a logarithm or logit is smaller is at rest: the change would be
# invisible.
MAX_LOG_STEP_AT_REST = 0.05
# A coefficient with a larger standard deviation of its logarithm is practically unknown. It is at rest if
# its next step is less than half of that.
MAX_INFORMATIVE_DEVIATION = 0.5
# The search ends at this distance of a logarithm from the start: ten million times the starting value, or
# a ten-millionth of it.
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
    """How well a coefficient is known.

    Attributes
    ----------
    deviation : the standard deviation of the number that is learned (a logarithm, a logit or a
        multiple of its unit).
    unsettled : why the coefficient has not converged; empty where it has.
    remaining_step : how far one more step would move it, in standard deviations.
    """

    deviation: float
    unsettled: str = ""
    remaining_step: float = 0.0


class CoefficientSteps:
    """Limited steps of the unknown coefficients of an equation, which start from the values it has."""

    def __init__(self, pde: AbstractPDE):
        self.named = named_unknowns(pde)
        self.first = [log_of(node, float(node.raw)) for _, node in self.named]

    def step(
        self, raws: Float[np.ndarray, " k"], proposed: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, " k"]:
        """The trained numbers after a limited step from `raws` towards the proposed ones."""
        every = zip(self.named, self.first, raws, proposed, strict=True)
        return np.array([_limited(node, first, *pair) for (_, node), first, *pair in every], float)

    def estimates(
        self,
        raws: Float[np.ndarray, " k"],
        proposed: Float[np.ndarray, " k"],
        deviations: Float[np.ndarray, " k"],
    ) -> dict[str, CoefficientEstimate]:
        """By name, how well each coefficient is known at `raws` if this is the next proposed step."""
        every = zip(self.named, self.first, raws, proposed, deviations, strict=True)
        return {name: _estimate(node, *numbers) for (name, node), *numbers in every}


def are_settled(learnt: dict[str, CoefficientEstimate]) -> bool:
    """Whether all coefficients are at rest."""
    return not any(found.unsettled for found in learnt.values())


def is_at_edge(learnt: dict[str, CoefficientEstimate]) -> bool:
    """Whether a coefficient is at the edge of the search."""
    return any(found.unsettled == AT_EDGE for found in learnt.values())


def _limited(node: Unknown, first: float, raw: float, proposed: float) -> float:
    before = log_of(node, raw)
    after = before + np.clip(log_of(node, proposed) - before, -MAX_LOG_STEP, MAX_LOG_STEP)
    return raw_of(node, float(np.clip(after, first - MAX_LOG_DISTANCE, first + MAX_LOG_DISTANCE)))


def _estimate(
    node: Unknown, first: float, raw: float, proposed: float, deviation: float
) -> CoefficientEstimate:
    """A coefficient that cannot take the proposed step because it is at its bound is at rest."""
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
    """The logarithm or logit of a coefficient from its trained number. For a multiple of a unit it is
    arsinh, which is logarithmic for large and linear for small values."""
    return float(np.arcsinh(raw)) if node.is_plain else float(raw)


def raw_of(node: Unknown, log: float) -> float:
    """The trained number from its logarithm: the inverse of `log_of`."""
    return float(np.sinh(log)) if node.is_plain else log
