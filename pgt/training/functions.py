r"""Unknown functions on their way from one linearisation of an equation to the next, and their prior.

A sum of sines of one band that are all alike is so smooth that a few readings say for certain what it is
everywhere: no function is like that. The weights of a function's sines become smaller with their
frequency instead, as those of a Matérn kernel do,

    T(w) = (1 + |c w / band|²)^(-(ν + d/2)/2)

whose functions have ν derivatives. Readings choose the band, and with it how fast they change.
"""

import numpy as np
from jaxtyping import Float

from pgt.ground.unknown import named_unknowns
from pgt.models.features import Features, Sines
from pgt.physics.bordered import functions_of
from pgt.training.assemble import Task
from pgt.training.coefficients import STEP
from pgt.training.feature_rows import field_rows, nodes_of
from pgt.training.scales import logarithms

SMOOTH = 2.5  # ν: derivatives that a function has
BENDS = 4.0  # c: the frequency from which on sines become smaller is such a part of the band
TESTED = 256  # places where a change of a function is looked at
RESTLESS = 0.02  # of a logarithm, or of the size of a function: such a change is not the last


class Functions:
    """Those of one task in one band. `prior` has the standard deviations of all weights that are not a
    field's own: of functions, then of coefficients; None where there are no functions."""

    def __init__(self, model: Features, task: Task):
        pde = task.pde
        functions = functions_of(pde)
        fields, self.count = model.network.readout.shape
        self.first = fields - len(functions)
        spread = np.asarray(model.scaling.spread, float)[self.first :]
        self.logs = np.array([name in logarithms(pde) for name in pde.fields[self.first :]], bool)
        self.units = np.where(self.logs, spread, 1.0)
        self.prior = None
        if functions:
            sines = model.network.sines
            assert model.band is not None  # a search says which
            self.seen = field_rows(model, nodes_of(task.problem.domain, TESTED))
            axes = [[pde.coords.index(a) for a in f.axes] for f in functions.values()]
            parts = [_smooth(sines, model.band, own) for own in axes]
            self.prior = np.concatenate([*parts, np.ones(len(named_unknowns(pde)))])

    def step(
        self, weights: Float[np.ndarray, " p"], step: Float[np.ndarray, " p"]
    ) -> tuple[float, bool]:
        """How much of a step is to be believed, and whether there is to be another."""
        if self.prior is None:
            return 1.0, False
        change, after = np.abs(self._values(step)), np.abs(self._values(weights + step))
        largest = np.max(change[self.logs], initial=0.0)
        size = np.where(self.logs, 1.0, after.max(axis=1))
        restless = bool(np.any(change.max(axis=1) > RESTLESS * size))
        return float(min(1.0, STEP / max(largest, STEP))), restless

    def _values(self, weights: Float[np.ndarray, " p"]) -> Float[np.ndarray, "k n"]:
        """Of the functions at some places; logarithms as they are."""
        begin, end = self.first * self.count, (self.first + len(self.units)) * self.count
        own = weights[begin:end].reshape(-1, self.count)
        return self.units[:, None] * (own @ self.seen.T)


def _smooth(sines: Sines, band: tuple[float, ...], axes: list[int]) -> Float[np.ndarray, " m"]:
    """T of every sine; functions of a shape count as the shortest waves."""
    waves = np.asarray(sines.frequencies, float)[:, axes] / np.asarray(band, float)[axes]
    power = -(SMOOTH + len(axes) / 2) / 2
    sizes = (1 + BENDS**2 * np.sum(waves**2, axis=1)) ** power
    return np.append(sizes, np.full(sines.count - len(sizes), sizes.min()))
