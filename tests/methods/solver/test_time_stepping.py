"""Solutions against exact ones, with nothing unknown."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mesh_problems import LINE, decay, scaling_of, solved, unknowns_of, values
from numpy.polynomial.hermite import hermgauss

from pgt import Dirichlet, Domain, Equation, Initial, Observations, Solver
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.collocation import Sensors, pieces_of
from pgt.methods.solver.time_stepping import (
    Readout,
    Settings,
    Solution,
    SolveError,
    edges_of,
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


def test_a_steady_field_has_no_time():
    square = Domain(x=(0, 1), y=(0, 2))
    pde = Equation("lap(u) = 0", coords=("x", "y"))
    solution = solved(pde, square, [Dirichlet(u="x*y")])
    points = square.even(40)
    assert np.abs(values(solution, points)[:, 0] - points.prod(axis=1)).max() < 1e-9


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
            seen = Readout(Sensors(readings, scaling), solution)
            found = seen.values(solution) * scaling.spread[0] + scaling.mean[0]
            shrunk = 1.0 if width is None else np.sinc(0.1)  # of the mean over 0.2 of sin(pi x)
            assert np.abs(found - shrunk * decay(x, t)).max() < 1e-6


def test_noise_that_is_given_is_relative_to_a_common_one():
    readings = Observations.from_arrays(
        {"x": [0.1, 0.2, 0.3]}, {"u": [1.0, 2.0, 3.0]}, noise=np.array([[0.1], [0.1], [0.2]])
    )
    from pgt import Domain, Scaling

    sensors = Sensors(readings, Scaling.fit(readings, Domain(x=(0, 1))))
    assert np.allclose(sensors.relative[2] / sensors.relative[0], 2.0)
    assert np.allclose(sensors.common * sensors.relative * sensors.spread, [0.1, 0.1, 0.2])
