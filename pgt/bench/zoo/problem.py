"""One problem of the zoo: a frozen record that loads into readings, equation, domain and truth."""

from dataclasses import dataclass

import numpy as np

from pgt.bench.problems import Setup
from pgt.bench.zoo.truth import Formula, Solved
from pgt.data import Domain, sample
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE

KINDS = ("parabolic", "hyperbolic", "elliptic", "dispersive", "chaotic", "reaction", "flow")
NOISE = 0.05  # of the spread, where readings are noisy


@dataclass(frozen=True)
class Readings:
    """How many places are read, with σ = `noise` times the spread of a field; `hidden` ones are not."""

    count: int
    noise: float = 0.0
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ZooProblem:
    """A field whose truth is known, and what is told of it.

    `about` says in a few words what it is. Defaults may be tuned on a problem with `tuned_on`; the others
    are held back, to show what the defaults are worth where nobody looked.
    """

    name: str
    kind: str
    about: str
    pde: AbstractPDE
    domain: Domain
    truth: Formula | Solved
    readings: Readings
    tuned_on: bool
    conditions: tuple[AbstractCondition, ...] = ()

    @property
    def measured(self) -> tuple[str, ...]:
        """The fields that are read, in the order of the equation."""
        return tuple(name for name in self.pde.fields if name not in self.readings.hidden)

    def load(self, seed: int) -> Setup:
        """Readings at grid points of the truth, drawn with a seed."""
        truth, how = self.truth.on(self.domain), self.readings
        clean = sample(truth, how.count, fields=self.measured, seed=seed)
        sigma = how.noise * np.asarray(clean.values).std(axis=0)
        noise = dict(zip(self.measured, map(float, sigma), strict=True))
        drawn = sample(truth, how.count, fields=self.measured, noise=how.noise, seed=seed)
        readings = drawn.aligned(self.pde.fields)
        return Setup(readings, self.pde, self.domain, self.conditions, truth, noise)
