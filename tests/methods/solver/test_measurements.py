"""What is read of a solution, in units of the spread."""

import numpy as np
from mesh_problems import LINE, decay, unknowns_of

from pgt import Dirichlet, Equation, Initial, Observations
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.march import solve
from pgt.methods.solver.measurements import Sensors


def test_sensors_read_values_and_averages():
    x, t = np.array([0.3, 0.5]), np.array([0.2, 1.0])
    pde, conditions = Equation("u_t = 0.1*u_xx"), [Initial(u="sin(pi*x)"), Dirichlet("x", u=0.0)]
    with beside_numpy():
        unknowns = unknowns_of(pde, LINE, conditions)
        solution = solve(unknowns, np.zeros(0), 1e-7)
        scaling = unknowns.scaling
        for width in (None, {"x": 0.2}):
            readings = Observations.from_arrays({"x": x, "t": t}, {"u": [0.0, 0.0]}, width=width)
            seen = Sensors(readings, scaling).seen_by(solution)
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
