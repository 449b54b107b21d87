"""Where Gauss-Newton's method begins: unknown functions as interpolation of the readings has them.

A search from a flat field may end at a local optimum, in the wrong phase of an oscillation for example,
or find no solution at all. Interpolation without the equation is far closer where readings are dense, and
is flat where there are none.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.inference.gaussian_process import Process, processes, unit_coordinates
from pgt.methods.solver.collocation import Open
from pgt.methods.solver.unknown_functions import Part, Unknowns

PER_FUNCTION = 2  # points along an axis at which a function is fitted, by its number of modes
STEP = 1e-3  # of an axis: for derivatives of the interpolation
TRUST = 0.1  # standard deviation of the interpolation, in sizes of a function
SHORTEST, LONGEST = 0.05, 4.0  # lengths of functions, in half extents

Interpolated = Callable[[np.ndarray, int], np.ndarray]


class FirstGuess:
    """The interpolation of the readings, and what it says of unknown functions."""

    def __init__(self, unknowns: Unknowns, readings: Observations):
        self.unknowns, self.domain = unknowns, unknowns.problem.domain
        self.processes = processes(readings, self.domain)

    def lengths(self) -> dict[str, float]:
        """By axis, the shortest length of any field, in half extents."""
        found: dict[str, float] = {}
        for process in self.processes.values():
            for axis, length in zip(_columns(self.domain), process.lengths, strict=True):
                length = float(np.clip(2 * length, SHORTEST, LONGEST))
                found[axis] = min(length, found.get(axis, LONGEST))
        return found

    def rows(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        """Functions at points and what the interpolation says of them there, in standard deviations."""
        rows, targets = [np.zeros((0, self.unknowns.count))], [np.zeros(0)]
        for part in self.unknowns.parts:
            field = part.what.field if isinstance(part.what, Open) else part.what[0]
            if field not in self.processes:
                continue
            points = _points(part)
            values = self._values(part, self.processes[field], points)
            rows.append(self.unknowns.functions(part, points) / (TRUST * part.size))
            targets.append(values / (TRUST * part.size))
        return np.concatenate(rows), np.concatenate(targets)

    def _values(self, part: Part, process: Process, points) -> Float[np.ndarray, " n"]:
        """What a function is equal to at points of its axes, counted as it is counted."""
        domain, scaling = self.domain, self.unknowns.scaling
        whole = np.empty((len(points), domain.dimension))
        for axis, column in zip(part.axes, points.T, strict=True):
            whole[:, domain.index(axis)] = column
        if isinstance(part.what, Open):
            face, field, order = part.what
            axis, inward = face.axis, 1 - 2 * face.side
            whole[:, domain.index(axis)] = domain.bounds(axis)[face.side]
        else:
            (field, order), axis, inward = part.what, "t", 1
            if domain.has_time:
                whole[:, -1] = domain.bounds("t")[0]

        def at(place):
            return process(unit_coordinates(place, domain))

        def derivative(place):
            if order == 0:
                return at(place) - float(scaling.mean[field])
            step = np.zeros(domain.dimension)
            step[domain.index(axis)] = inward * STEP * domain.extent[domain.index(axis)]
            weights = (-1.0, 1.0) if order == 1 else (1.0, -2.0, 1.0)
            total = sum(w * at(place + k * step) for k, w in enumerate(weights))
            return total / step.sum() ** order

        if order > 2:
            return np.zeros(len(points))
        values = derivative(whole)
        if part.moves:
            start = whole.copy()
            start[:, -1] = domain.bounds("t")[0]
            values = values - derivative(start)
        return values


def _points(part: Part) -> Float[np.ndarray, "n k"]:
    """Points along the axes of a part."""
    along = [
        np.linspace(line.low, line.high, PER_FUNCTION * line.count, endpoint=not line.periodic)
        for line in part.lines
    ]
    grids = np.meshgrid(*along, indexing="ij")
    return np.stack([g.ravel() for g in grids], axis=1) if grids else np.zeros((1, 0))


def _columns(domain: Domain) -> list[str]:
    """The axis of every column of unit coordinates."""
    return [a for axis in domain.axes for a in [axis] * (2 if axis in domain.periodic else 1)]
