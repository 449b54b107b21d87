"""The prior of unknown functions, and where they meet."""

import numpy as np
import pytest
from mesh_problems import LINE, scaling_of, unknowns_of

import pgt
from pgt import Dirichlet, Domain, Equation, Initial, Unknown
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.collocation import Grid
from pgt.methods.solver.statement import statement_of
from pgt.methods.solver.time_stepping import first_meshes
from pgt.methods.solver.unknown_functions import FirstGuess, Line, Unknowns


@pytest.mark.parametrize("length", [0.3, 1.0])
def test_the_prior_has_the_covariance_that_it_claims(length):
    line, at = Line(0.0, 2.0, 24), np.linspace(0.1, 1.9, 7)
    root = line.values(at) @ line.root(length)
    wanted = np.exp(-0.5 * ((at[:, None] - at) / length) ** 2)
    assert np.abs(root @ root.T - wanted).max() < 1e-3


def corners(pde, domain=LINE, conditions=()):
    with beside_numpy():
        unknowns = unknowns_of(pde, domain, conditions)
        grid = Grid(unknowns.problem, first_meshes(unknowns))
        return unknowns.boundary_values(grid, np.zeros(unknowns.count)).corners()[1], unknowns


def test_what_is_unknown_agrees_where_it_meets():
    """By the equation at both ends, or the conditions there; not where the state was given."""
    heat = Equation("u_t = D*u_xx", D=Unknown(0.1, positive=True))
    assert len(corners(heat)[0]) == 2
    assert len(corners(heat, LINE, [Dirichlet("x", u=0.0)])[0]) == 2
    assert len(corners(heat, LINE, [Initial(u=0.0)])[0]) == 0
    square = Domain(x=(0, 1), y=(0, 1))
    assert len(corners(Equation("lap(u) = 0", coords=("x", "y")), square)[0]) == 4


# ---- first guesses


PLACES, TIMES = np.linspace(0, 1, 15), np.linspace(0, 1, 11)


def guess(pde, readings, domain=LINE, conditions=()):
    with beside_numpy():
        scaling = scaling_of(pde, domain)
        bound = [condition.bind(domain, pde.fields) for condition in conditions]
        unknowns = Unknowns(statement_of(pde, domain, bound, scaling), scaling)
    return unknowns, FirstGuess(unknowns, readings)


def read(field, domain=LINE):
    x, t = (part.ravel() for part in np.meshgrid(PLACES, TIMES))
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": field(x, t)})


def fitted(unknowns, first):
    rows, targets = first.rows()
    return np.linalg.lstsq(rows, targets, rcond=1e-9)[0]


def wave(x, t):
    return np.sin(2 * x + 3 * t)


def test_a_state_and_its_rate_are_those_of_the_interpolation():
    unknowns, first = guess(pgt.Wave(1.5), read(wave))
    found, x = fitted(unknowns, first), np.linspace(0, 1, 30)[:, None]
    expected = {"state_0": np.sin(2 * x[:, 0]), "state_1": 3 * np.cos(2 * x[:, 0])}
    compared = {part.kind: unknowns.functions(part, x) @ found for part in unknowns.parts}
    for kind, values in expected.items():
        np.testing.assert_allclose(compared[kind], values, atol=0.02)


def test_fields_that_nobody_read_are_left_to_the_prior():
    t = np.linspace(0, 1, 20)
    readings = pgt.Observations.from_arrays({"t": t}, {"a": np.cos(t)})
    pde = pgt.Equation(["a_t = b", "b_t = -a"])
    unknowns, first = guess(pde, readings.aligned(pde.fields), pgt.Domain(t=(0, 1)))
    rows, _ = first.rows()
    hidden = unknowns.parts[1]
    assert rows[:, unknowns.parts[0].columns].any()
    assert not rows[:, hidden.columns].any()
