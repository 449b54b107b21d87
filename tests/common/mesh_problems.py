"""Problems with exact solutions, as the solver sees them."""

import numpy as np

import pgt
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.collocation import pieces_of
from pgt.methods.solver.splines import values_of
from pgt.methods.solver.statement import statement_of
from pgt.methods.solver.time_stepping import Settings, edges_of, solve
from pgt.methods.solver.unknown_functions import Unknowns
from pgt.nn.scaling import Scaling

LINE = pgt.Domain(x=(0, 1), t=(0, 1))


def decay(x, t, diffusivity=0.1):
    """One mode of heat between cold ends."""
    return np.exp(-diffusivity * np.pi**2 * t) * np.sin(np.pi * x)


def scaling_of(pde, domain, size=1.0):
    """Scales of fields that go from -size to size."""
    ends = {axis: np.linspace(*domain.bounds(axis), 3) for axis in domain.axes}
    values = {name: size * np.array([-1.2, 0.0, 1.2]) for name in pde.fields}
    return Scaling.fit(pgt.Observations.from_arrays(ends, values), domain)


def unknowns_of(pde, domain, conditions=(), size=1.0):
    """What is unknown of a problem."""
    scaling = scaling_of(pde, domain, size)
    bound = [condition.bind(domain, pde.fields) for condition in conditions]
    return Unknowns(statement_of(pde, domain, bound, scaling), scaling)


def solved(pde, domain, conditions=(), tolerance=1e-7, size=1.0):
    """The solution with nothing unknown."""
    with beside_numpy():
        unknowns = unknowns_of(pde, domain, conditions, size)
        return solve(unknowns, np.zeros(unknowns.count), Settings(tolerance))


def values(solution, points):
    """Its fields at points."""
    numbers = [stage.numbers[:, None] for stage in solution.stages]
    return values_of(edges_of(solution), pieces_of(solution.grid, numbers), points)[0]


def heat_readings(count=60, noise=0.01, seed=0):
    """Readings of the decaying mode at random places."""
    random = np.random.default_rng(seed)
    x, t = random.uniform(size=(2, count))
    read = decay(x, t) + noise * random.normal(size=count)
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": read})
