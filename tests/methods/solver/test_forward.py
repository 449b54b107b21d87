"""Solutions without readings, and whether their errors are those that are stated."""

import numpy as np
import pytest
from mesh_problems import LINE, decay, values

from pgt import (
    Dirichlet,
    Domain,
    Equation,
    Initial,
    InputError,
    Observations,
    Scaling,
    Unknown,
)
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.forward import is_determined, solved_forward
from pgt.methods.solver.statement import statement_on
from pgt.methods.solver.time_stepping import OutOfTime

PI = np.pi
COLD, WAVE = Dirichlet("x", u=0.0), Initial(u="sin(pi*x)")
HEAT = Equation("u_t = 0.1*u_xx")


def forward(pde, domain, conditions, tolerance=1e-6, **options):
    with beside_numpy():
        scaling = Scaling.fit(Observations.none(domain.axes, pde.fields), domain)
        problem = statement_on(domain, pde, conditions, scaling)
        return solved_forward(problem, scaling, tolerance, **options)


CASES = {
    "heat": (HEAT, LINE, [WAVE, COLD], decay),
    "wave": (
        Equation("u_tt = u_xx"), LINE, [Initial(u="sin(pi*x)", u_t=0.0), COLD],
        lambda x, t: np.sin(PI * x) * np.cos(PI * t),
    ),
    "layer": (
        Equation("0.01*u_xx + u_x = 1"), Domain(x=(0, 1)), [COLD],
        lambda x: x - (1 - np.exp(-100 * x)) / (1 - np.exp(-100)),
    ),
    "a source alone, in large numbers": (
        Equation("lap(u) = -2e6*pi^2*sin(pi*x)*sin(pi*y)", coords=("x", "y")),
        Domain(x=(0, 1), y=(0, 1)), [Dirichlet(u=0.0)],
        lambda x, y: 1e6 * np.sin(PI * x) * np.sin(PI * y),
    ),
    "oscillator": (
        Equation("u_t = v", "v_t = -u"), Domain(t=(0, 10)), [Initial(u=1.0, v=0.0)], np.cos,
    ),
}  # fmt: skip


@pytest.mark.parametrize("tolerance", [1e-3, 1e-7])
@pytest.mark.parametrize("name", CASES)
def test_the_error_is_below_the_tolerance_and_as_stated(name, tolerance):
    pde, domain, conditions, exact = CASES[name]
    found = forward(pde, domain, conditions, tolerance)
    points = domain.even(4000)
    truth = exact(*points.T)
    error = np.sqrt(np.mean((values(found.solution, points)[:, 0] - truth) ** 2)) / truth.std()
    assert found.ended == "tolerance"
    assert found.errors[0] <= tolerance
    assert found.errors[0] / 2 < error < 2 * found.errors[0]


def test_the_better_solution_is_kept_when_the_seconds_are_used_up():
    errors, calls = [], []

    def check_time():
        calls.append(len(errors))
        if len(errors) > 1:
            raise OutOfTime

    def report(share, numbers):
        errors.append(numbers["error"])

    found = forward(*CASES["heat"][:3], 1e-10, check_time=check_time, report=report)
    assert found.ended == "seconds"
    assert float(found.errors.max()) == min(errors)
    with pytest.raises(OutOfTime):
        forward(*CASES["heat"][:3], check_time=check_time)


@pytest.mark.parametrize(
    ("pde", "conditions", "missing"),
    [
        (HEAT, [COLD], [r"Initial\(u="]),
        (HEAT, [WAVE], ["lower end of x", "upper end of x"]),
        (HEAT, [WAVE, Dirichlet("x", side="lower", u=0.0)], ["upper end of x"]),
        (Equation("u_tt = u_xx"), [WAVE, COLD], [r"Initial\(u_t="]),
        (Equation("u_t = D*u_xx", D=Unknown(0.1)), [WAVE, COLD], ["coefficient D"]),
    ],
)
def test_what_is_missing_is_named(pde, conditions, missing):
    neutral = Scaling.fit(Observations.none(("x", "t"), pde.fields), LINE)
    for part in missing:
        with pytest.raises(InputError, match=part):
            is_determined(pde, LINE, conditions, neutral, is_required=True)
