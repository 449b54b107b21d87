"""What sensors would read of a solution, and how that changes with what is unknown."""

import numpy as np
import scipy.sparse
from jaxtyping import Float

from pgt.data.observations import Observations, cell_quadrature, typical
from pgt.methods.solver.collocation import Grid
from pgt.methods.solver.march import Solution
from pgt.nn.scaling import Scaling


class Sensors:
    """All measured values, field by field, dimensionless: in units of their spread."""

    def __init__(self, readings: Observations, scaling: Scaling):
        nodes, weights = cell_quadrature(readings)
        nodes = np.asarray(nodes, float)
        rows, fields, values, sigma = [], [], [], []
        for field, name in enumerate(readings.fields):
            row, _, measured, noise = readings.measured(name)
            mean, spread = float(scaling.mean[field]), float(scaling.spread[field])
            rows.append(row)
            fields.append(np.full(len(row), field))
            values.append((measured - mean) / spread)
            sigma.append(noise / spread)
        rows, self.fields = np.concatenate(rows), np.concatenate(fields)
        self.nodes, self.weights = nodes[rows], np.asarray(weights, float)
        self.values, noise = np.concatenate(values), np.concatenate(sigma)
        self.mean = np.asarray(scaling.mean, float)[self.fields]
        self.spread = np.asarray(scaling.spread, float)[self.fields]
        self.common = typical(noise) or None
        self.relative = np.where(noise > 0, noise / (self.common or 1.0), 1.0)

    def seen_by(self, solution: Solution) -> "Seen":
        """The readings of solutions on this mesh."""
        return Seen(self, solution.grid, solution.steps)


class Seen:
    """Readings as sums of the numbers of steps."""

    def __init__(self, sensors: Sensors, grid: Grid, steps):
        self.sensors = sensors
        count = len(sensors.weights)
        nodes = sensors.nodes.reshape(-1, sensors.nodes.shape[-1])
        owner = np.repeat(np.arange(len(sensors.values)), count)
        weights = np.tile(sensors.weights, len(sensors.values)) / sensors.spread[owner]
        inside, local = _in_steps(nodes, steps, grid.problem.domain.has_time)
        self.parts = []
        for stage in range(len(steps)):
            own = np.flatnonzero(inside == stage)
            matrix = scipy.sparse.coo_array(
                (weights[own], (owner[own], np.arange(len(own)))),
                (len(sensors.values), len(own)),
            ).tocsr()
            rows = values_at(grid, nodes[own], local[own], sensors.fields[owner[own]])
            self.parts.append(matrix @ rows)

    def values(self, solution: Solution) -> Float[np.ndarray, " n"]:
        """What is read of a solution."""
        read = sum(
            part @ stage.numbers for part, stage in zip(self.parts, solution.stages, strict=True)
        )
        return np.asarray(read) - self.sensors.mean / self.sensors.spread

    def slopes(
        self, solution: Solution, directions: Float[np.ndarray, "p q"]
    ) -> Float[np.ndarray, "n q"]:
        """How that changes with what is unknown."""
        changes = solution.changes(directions)
        return np.asarray(
            sum(part @ change for part, change in zip(self.parts, changes, strict=True))
        )


def _in_steps(nodes, steps, has_time: bool):
    """The step of each node, and where in it, from 0 to 1."""
    if not has_time:
        return np.zeros(len(nodes), int), np.ones(len(nodes))
    starts, lengths = np.array(steps).T
    inside = np.clip(np.searchsorted(starts, nodes[:, -1], side="right") - 1, 0, len(starts) - 1)
    return inside, (nodes[:, -1] - starts[inside]) / lengths[inside]


def values_at(grid: Grid, nodes, local, fields) -> scipy.sparse.csr_array:
    """Values of fields at places and moments of one step, by the step's numbers."""
    found = scipy.sparse.lil_array((len(nodes), grid.size))
    for field in np.unique(fields):
        own = np.flatnonzero(fields == field)
        rows = grid.in_time[field].rows(local[own])
        for k, spline in enumerate(grid.splines[field]):
            along = spline.rows(nodes[own, k]).toarray()
            rows = (rows[:, :, None] * along[:, None]).reshape(len(own), -1)
        found[own, grid.own(int(field))] = rows
    return found.tocsr()
