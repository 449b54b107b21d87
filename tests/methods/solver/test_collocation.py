"""Solutions as polynomials in elements, whoever evaluates them, and what sensors read of them."""

import jax
import jax.numpy as jnp
import numpy as np
from mesh_problems import LINE, decay, scaling_of, solved, unknowns_of, values

from pgt import Dirichlet, Domain, Equation, Initial, Observations, Solver
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.collocation import MeasuredValues, pieces_of
from pgt.methods.solver.time_stepping import (
    Readout,
    Settings,
    Solution,
    edges_of,
    solve,
)

# ---- polynomials in elements


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
        rows = solution.grid.values_at(own, local, np.ones(len(own), int))
        assert np.abs(rows @ stage.numbers - found[inside, 1]).max(initial=0.0) < 1e-12


# ---- what sensors read


def test_sensors_read_values_and_averages():
    x, t = np.array([0.3, 0.5]), np.array([0.2, 1.0])
    pde, conditions = Equation("u_t = 0.1*u_xx"), [Initial(u="sin(pi*x)"), Dirichlet("x", u=0.0)]
    with beside_numpy():
        unknowns = unknowns_of(pde, LINE, conditions)
        solution = solve(unknowns, np.zeros(0), Settings(1e-7))
        scaling = unknowns.scaling
        for width in (None, {"x": 0.2}):
            readings = Observations.from_arrays({"x": x, "t": t}, {"u": [0.0, 0.0]}, width=width)
            seen = Readout(MeasuredValues(readings, scaling), solution)
            found = seen.values(solution) * scaling.spread[0] + scaling.mean[0]
            shrunk = 1.0 if width is None else np.sinc(0.1)  # of the mean over 0.2 of sin(pi x)
            assert np.abs(found - shrunk * decay(x, t)).max() < 1e-6


def test_noise_that_is_given_is_relative_to_a_common_one():
    readings = Observations.from_arrays(
        {"x": [0.1, 0.2, 0.3]}, {"u": [1.0, 2.0, 3.0]}, noise=np.array([[0.1], [0.1], [0.2]])
    )
    from pgt import Scaling

    sensors = MeasuredValues(readings, Scaling.fit(readings, Domain(x=(0, 1))))
    assert np.allclose(sensors.relative[2] / sensors.relative[0], 2.0)
    assert np.allclose(sensors.common * sensors.relative * sensors.spread, [0.1, 0.1, 0.2])
