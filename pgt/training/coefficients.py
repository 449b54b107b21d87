"""How far unknown coefficients may move from one linearisation of an equation to the next.

A row is linear in a logarithm or a logit only nearby: one step in it from a coefficient fifty times too
small would multiply it by e⁵⁰. And where readings do not tell a large coefficient from a still larger
one, it runs away, until it is at the edge of what is searched.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.ground.unknown import Unknown, named_unknowns
from pgt.physics.pde import AbstractPDE

STEP = 1.0  # of a logarithm or a logit, at most: a factor of e
REST = 0.05  # the same: a smaller step changes nothing that is to be seen
VAGUE = 0.5  # standard deviation of a logarithm: nothing is known, and a step of half of it is none
FAR = 16.0  # of a logarithm: ten million times the starting value, or a ten-millionth
BOUND = 4.6  # a logit: a hundredth of the admissible range is left
EDGE = (
    "not determined by the readings: it ran to the edge of what is searched, ten million times its "
    "starting value or a ten-millionth"
)
MOVING = "it had not come to rest when the fit ended: begin closer to what is expected"


@dataclass(frozen=True)
class Learnt:
    """How well a coefficient is known: the standard deviation of the number that is learnt (a logarithm,
    a logit or a multiple of its unit), and why it is not at rest; nothing where it is. `unrest` is how
    far one more step would move it, in standard deviations."""

    deviation: float
    unsettled: str = ""
    unrest: float = 0.0


class Coefficients:
    """The unknowns of one equation, on their way from the values it has."""

    def __init__(self, pde: AbstractPDE):
        self.named = named_unknowns(pde)
        self.first = [log_of(node, float(node.raw)) for _, node in self.named]

    def step(
        self, raws: Float[np.ndarray, " k"], asked: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, " k"]:
        """From the numbers that are learnt to those asked for, no farther than may be believed."""
        every = zip(self.named, self.first, raws, asked, strict=True)
        return np.array([_near(node, first, *pair) for (_, node), first, *pair in every], float)

    def learnt(
        self,
        raws: Float[np.ndarray, " k"],
        asked: Float[np.ndarray, " k"],
        deviations: Float[np.ndarray, " k"],
    ) -> dict[str, Learnt]:
        """By name, how well each is known where this step from `raws` was asked for."""
        every = zip(self.named, self.first, raws, asked, deviations, strict=True)
        return {name: _learnt(node, *numbers) for (name, node), *numbers in every}


def are_settled(learnt: dict[str, Learnt]) -> bool:
    """Whether all coefficients had come to rest."""
    return not any(found.unsettled for found in learnt.values())


def is_at_edge(learnt: dict[str, Learnt]) -> bool:
    """Whether one of them cannot go on."""
    return any(found.unsettled == EDGE for found in learnt.values())


def _near(node: Unknown, first: float, raw: float, asked: float) -> float:
    before = log_of(node, raw)
    after = before + np.clip(log_of(node, asked) - before, -STEP, STEP)
    return raw_of(node, float(np.clip(after, first - FAR, first + FAR)))


def _learnt(node: Unknown, first: float, raw: float, asked: float, deviation: float) -> Learnt:
    """At a bound a coefficient is at rest, as it cannot go where it is asked to."""
    deviation = float(np.minimum(deviation, FAR))
    step = log_of(node, asked) - log_of(node, raw)
    reached = abs(log_of(node, _near(node, first, raw, asked)) - first)
    if node.bounds is not None and abs(raw) > BOUND and raw * step > 0:
        return Learnt(deviation)
    if reached >= FAR:
        return Learnt(deviation, EDGE)
    is_moving = abs(step) > (REST if deviation < VAGUE else deviation / 2)
    return Learnt(deviation, MOVING if is_moving else "")


def log_of(node: Unknown, raw: float) -> float:
    """Of a multiple of a unit, what is a logarithm where it is large and itself where it is small."""
    return float(np.arcsinh(raw)) if node.is_plain else float(raw)


def raw_of(node: Unknown, log: float) -> float:
    """The number that is learnt, from its logarithm."""
    return float(np.sinh(log)) if node.is_plain else log
