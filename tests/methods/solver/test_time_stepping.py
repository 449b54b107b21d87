"""Solutions against exact ones, with nothing unknown."""

import numpy as np
import pytest
from mesh_problems import LINE, decay, solved, unknowns_of, values
from numpy.polynomial.hermite import hermgauss

from pgt import Dirichlet, Domain, Equation, Initial
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.time_stepping import (
    Settings,
    SolveError,
    solve,
    solve_on,
)

PI = np.pi


def error(solution, exact, domain, field=0):
    points = domain.even(400)
    return np.abs(values(solution, points)[:, field] - exact(*points.T)).max()


RING = Domain(x=(0, 1), t=(0, 1), periodic=("x",))
SQUARE = Domain(x=(0, 1), y=(0, 1))
COLD = Dirichlet("x", u=0.0)
CASES = {
    "heat": (
        Equation("u_t = 0.1*u_xx"), LINE, [Initial(u="sin(pi*x)"), COLD], decay,
    ),
    "transport": (
        Equation("u_t + u_x = 0"), LINE,
        [Initial(u="sin(2*pi*x)"), Dirichlet("x", side="lower", u="-sin(2*pi*t)")],
        lambda x, t: np.sin(2 * PI * (x - t)),
    ),
    "wave": (
        Equation("u_tt = u_xx"), LINE, [Initial(u="sin(pi*x)", u_t=0.0), COLD],
        lambda x, t: np.sin(PI * x) * np.cos(PI * t),
    ),
    "ring": (
        Equation("u_t + u_x = 0.01*u_xx"), RING, [Initial(u="sin(2*pi*x)")],
        lambda x, t: np.exp(-0.04 * PI**2 * t) * np.sin(2 * PI * (x - t)),
    ),
    "oscillator": (
        Equation("u_t = v", "v_t = -u"), Domain(t=(0, 10)), [Initial(u=1.0, v=0.0)], np.cos,
    ),
    "layer": (
        Equation("0.01*u_xx + u_x = 1"), Domain(x=(0, 1)), [COLD],
        lambda x: x - (1 - np.exp(-100 * x)) / (1 - np.exp(-100)),
    ),
    "poisson": (
        Equation("lap(u) = -2*pi^2*sin(pi*x)*sin(pi*y)", coords=("x", "y")), SQUARE,
        [Dirichlet(u=0.0)], lambda x, y: np.sin(PI * x) * np.sin(PI * y),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_exact_solution_is_found(name):
    pde, domain, conditions, exact = CASES[name]
    assert error(solved(pde, domain, conditions), exact, domain) < 1e-6


def test_elements_follow_a_front():
    """Burgers' equation, with the exact solution of Cole and Hopf."""
    viscosity = 0.01 / PI
    domain = Domain(x=(-1, 1), t=(0, 1))
    pde = Equation("u_t + u*u_x = nu*u_xx", nu=viscosity)
    solution = solved(pde, domain, [Initial(u="-sin(pi*x)"), Dirichlet("x", u=0.0)], 1e-5)
    nodes, weights = hermgauss(150)

    def exact(x, t):
        y = x[:, None] - np.sqrt(4 * viscosity * t[:, None]) * nodes
        share = np.exp(-(np.cos(PI * y) + 1) / (2 * PI * viscosity)) * weights
        return -(np.sin(PI * y) * share).sum(axis=1) / share.sum(axis=1)

    assert error(solution, exact, domain) < 1e-5
    assert min(solution.grid.meshes[0].lengths) < 0.1 < max(solution.grid.meshes[0].lengths)


def test_changes_are_those_of_another_solution():
    """The slope in a coefficient and in an unknown state, against differences."""
    import pgt

    pde = Equation("u_t = D*u_xx + u*(1-u)", D=pgt.Unknown(0.1, positive=True))
    with beside_numpy():
        unknowns = unknowns_of(pde, LINE)
        middle = 0.05 * np.random.default_rng(0).normal(size=unknowns.count)
        middle[unknowns.raws] = np.log(0.1)
        direction = np.random.default_rng(1).normal(size=unknowns.count)
        solution = solve(unknowns, middle, Settings(1e-6))
        (*_, change) = solution.changes(direction[:, None])
        step = 1e-5
        ends = [
            solve_on(
                solution.grid, unknowns, middle + s * direction, solution.steps, Settings(1e-10)
            )
            for s in (step, -step)
        ]
    difference = (ends[0].stages[-1].numbers - ends[1].stages[-1].numbers) / (2 * step)
    assert np.abs(change[:, 0] - difference).max() < 1e-5 * np.abs(difference).max()


def test_a_solution_that_grows_without_bound_is_given_up():
    pde = Equation("u_t = u^2")
    with pytest.raises(SolveError, match=r"without bound|converge|steps"):
        solved(pde, Domain(t=(0, 3)), [Initial(u=1.0)])
