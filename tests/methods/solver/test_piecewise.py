"""Polynomials in elements are the solution, whoever evaluates them."""

import jax
import jax.numpy as jnp
import numpy as np
from mesh_problems import LINE, scaling_of, solved, values

from pgt import Dirichlet, Domain, Equation, Initial, Solver
from pgt.methods.solver.march import Solution
from pgt.methods.solver.measurements import values_at
from pgt.methods.solver.piecewise import edges_of, pieces_of


def modelled(solution: Solution, pde, domain) -> Solver:
    numbers = [stage.numbers[:, None] for stage in solution.stages]
    pieces = pieces_of(solution.grid, numbers)[0]
    return Solver(scaling_of(pde, domain)).with_pieces(edges_of(solution), pieces)


def test_the_model_the_pieces_and_the_splines_agree():
    pde = Equation("q = 0.1*u_x", "u_t = q_x", fields=("u", "q"))
    conditions = [Initial(u="sin(pi*x)"), Dirichlet("x", u=0.0)]
    solution, points = solved(pde, LINE, conditions, 1e-4), LINE.even(50)
    found = values(solution, points)
    with jax.enable_x64(True):
        model = modelled(solution, pde, LINE)
        by_model = jax.vmap(lambda z: model.decode((), z))(jnp.asarray(points))
    assert np.abs(found - np.asarray(by_model)).max() < 1e-12
    for start, length in solution.steps:
        inside = (points[:, 1] > start) & (points[:, 1] < start + length)
        own, local = points[inside], (points[inside, 1] - start) / length
        stage = next(s for s in solution.stages if s.start == start)
        rows = values_at(solution.grid, own, local, np.ones(len(own), int))
        assert np.abs(rows @ stage.numbers - found[inside, 1]).max(initial=0.0) < 1e-12


def test_a_steady_field_has_no_time():
    square = Domain(x=(0, 1), y=(0, 2))
    pde = Equation("lap(u) = 0", coords=("x", "y"))
    solution = solved(pde, square, [Dirichlet(u="x*y")])
    points = square.even(40)
    assert np.abs(values(solution, points)[:, 0] - points.prod(axis=1)).max() < 1e-9
