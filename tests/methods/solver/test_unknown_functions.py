"""The prior of unknown functions, and where they meet."""

import numpy as np
import pytest
from mesh_problems import LINE, unknowns_of

from pgt import Dirichlet, Domain, Equation, Initial, Unknown
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.collocation import Grid
from pgt.methods.solver.march import first_meshes
from pgt.methods.solver.unknown_functions import Line


@pytest.mark.parametrize("length", [0.3, 1.0])
def test_the_prior_has_the_covariance_that_it_claims(length):
    line, at = Line(0.0, 2.0, 24), np.linspace(0.1, 1.9, 7)
    root = line.values(at) @ line.root(length)
    wanted = np.exp(-0.5 * ((at[:, None] - at) / length) ** 2)
    assert np.abs(root @ root.T - wanted).max() < 1e-3


def test_a_periodic_function_has_no_ends():
    line = Line(0.0, 1.0, 15, True)
    assert np.allclose(line.values(np.zeros(1)), line.values(np.ones(1)))
    root = line.values(np.array([0.02, 0.98])) @ line.root(0.5)
    assert (root[0] @ root[1]) > 0.95 * (root[0] @ root[0])


def corners(pde, domain=LINE, conditions=()):
    with beside_numpy():
        unknowns = unknowns_of(pde, domain, conditions)
        grid = Grid(unknowns.problem, first_meshes(unknowns))
        return unknowns.opened(grid, np.zeros(unknowns.count)).corners()[1], unknowns


def test_what_is_unknown_agrees_where_it_meets():
    """By the equation at both ends, or the conditions there; not where the state was given."""
    heat = Equation("u_t = D*u_xx", D=Unknown(0.1, positive=True))
    assert len(corners(heat)[0]) == 2
    assert len(corners(heat, LINE, [Dirichlet("x", u=0.0)])[0]) == 2
    assert len(corners(heat, LINE, [Initial(u=0.0)])[0]) == 0
    square = Domain(x=(0, 1), y=(0, 1))
    assert len(corners(Equation("lap(u) = 0", coords=("x", "y")), square)[0]) == 4


def test_the_unknown_is_functions_then_coefficients():
    _, unknowns = corners(Equation("u_t = D*u_xx", D=Unknown(0.1, positive=True)))
    assert unknowns.names == ("x", "t", "ends_0")
    assert (unknowns.raws.start, unknowns.raws.stop) == (unknowns.count - 1, unknowns.count)
    root = unknowns.root(np.zeros(3))
    assert np.isfinite(root).all()
    assert root.shape == (unknowns.count, unknowns.count)
