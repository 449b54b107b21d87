"""One problem of the zoo: a frozen record that loads into readings, equation, domain and truth."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from pgt.data import Domain, sample
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE
from pgt_bench.problems import Setup
from pgt_bench.zoo.truth import Formula, Solved

KINDS = ("parabolic", "hyperbolic", "elliptic", "dispersive", "chaotic", "reaction", "flow")
NOISE = 0.05  # of the spread, where readings are noisy
TUNED, HELD_BACK, LATER = GROUPS = ("tuned", "held-back", "later")


@dataclass(frozen=True)
class Readings:
    """How many places are read, with σ = `noise` times the spread of a field; `hidden` ones are not.

    With `stations`, all are at that many positions along x, which stand still; with `within`, between
    two positions along an axis only.
    """

    count: int
    noise: float = 0.0
    hidden: tuple[str, ...] = ()
    stations: int = 0
    within: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def seen(self, truth: xr.Dataset) -> xr.Dataset:
        """The part of the truth's grid that readings may come from.

        >>> line = xr.Dataset({"u": ("x", np.zeros(13))}, {"x": np.arange(13.0)})
        >>> Readings(2, stations=2).seen(line).x.values.tolist()
        [3.0, 9.0]
        """
        part = truth.sel({axis: slice(*ends) for axis, ends in self.within.items()})
        if not self.stations:
            return part
        middles = (np.arange(self.stations) + 0.5) / self.stations
        return part.isel(x=np.round(middles * (part.sizes["x"] - 1)).astype(int))


@dataclass(frozen=True, eq=False)
class ZooProblem:
    """A field whose truth is known, and what is told of it.

    `about` says in a few words what it is. Defaults were tuned on problems of the `group` "tuned". Those
    of "held-back" were left out of that at first, and those of "later" were added when the defaults were
    nearly final. Defaults have been changed since, with the results of all groups known.
    """

    name: str
    kind: str
    about: str
    pde: AbstractPDE
    domain: Domain
    truth: Formula | Solved
    readings: Readings
    group: str
    conditions: tuple[AbstractCondition, ...] = ()

    @property
    def measured(self) -> tuple[str, ...]:
        """The fields that are read, in the order of the equation."""
        return tuple(name for name in self.pde.fields if name not in self.readings.hidden)

    def load(self, seed: int) -> Setup:
        """Readings at grid points of the truth, drawn with a seed."""
        truth, how = self.truth.on(self.domain), self.readings
        seen = how.seen(truth)
        clean = sample(seen, how.count, fields=self.measured, seed=seed)
        sigma = how.noise * np.asarray(clean.values).std(axis=0)
        noise = dict(zip(self.measured, map(float, sigma), strict=True))
        drawn = sample(seen, how.count, fields=self.measured, noise=how.noise, seed=seed)
        readings = drawn.aligned(self.pde.fields)
        return Setup(readings, self.pde, self.domain, self.conditions, truth, noise)
