"""The responses of readings to terms, against solutions of the equation with these terms."""

import numpy as np
import pytest

import pgt
from pgt.discovery.term_evidence import TermEvidence
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.solution_fit import Search
from pgt.models.mesh_solution import Solver
from pgt.physics.extended_equation import ExtendedEquation
from pgt.problem.assembly import assemble

LINE = pgt.Domain(x=(0, 1), t=(0, 1))
CONDITIONS = [pgt.Initial(u="1 + sin(pi*x)"), pgt.Dirichlet("x", u=1.0)]
TERMS = ("u^2", "u*u_x", "u_xxx")


@pytest.fixture(scope="module")
def readings():
    truth = pgt.solve("u_t = 0.05*u_xx - 0.5*u^2", LINE, CONDITIONS)
    rng = np.random.default_rng(0)
    x, t = rng.uniform(0, 1, (2, 80))
    values = np.asarray(truth.at(x=x, t=t).u)
    noise = 0.01 * values.std() * rng.standard_normal(80)
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": values + noise})


@pytest.fixture(scope="module")
def evidence(readings):
    law = ExtendedEquation(pgt.Equation("u_t = 0.05*u_xx"), discrepancy=True)
    scaling = pgt.Scaling.fit(readings.aligned(law.fields), LINE)
    task = assemble(readings, law, LINE, CONDITIONS, model=lambda seed: Solver(scaling))
    with beside_numpy():
        search = Search(task, lambda share, numbers: None)
        return TermEvidence(search, search.best(), TERMS)


def test_the_missing_term_has_the_greatest_evidence(evidence):
    best = evidence.best()
    assert best.terms == ("u^2",)
    error = abs(best.coefficients[0] + 0.5)
    assert error < 4 * best.deviations[0] < 0.05
    gains = evidence.gains(best.terms)
    assert gains["u^2"] > 100 > 0 > gains["u*u_x"]


def test_responses_are_those_of_an_equation_with_the_term(evidence):
    """The response v of u_t = 0.05 u_xx + q to c u² solves v_t = 0.05 v_xx + u², with v = 0 at the start
    and on the walls. The fitted u is close to the true one, which is solved for here."""
    scale = evidence.scales[0]
    search = evidence.search
    fitted = evidence.responses[:, 0] / scale * search.sensors.spread
    pair = pgt.Equation("u_t = 0.05*u_xx - 0.5*u^2", "v_t = 0.05*v_xx + u^2")
    walls = [pgt.Initial(u="1 + sin(pi*x)", v=0.0), pgt.Dirichlet("x", u=1.0, v=0.0)]
    both = pgt.solve(pair, LINE, walls)
    points = search.sensors.nodes.reshape(-1, 2)
    expected = np.asarray(both.at(x=points[:, 0], t=points[:, 1]).v)
    assert fitted == pytest.approx(expected, abs=0.01 * np.abs(expected).max())


def test_evidence_is_a_gaussian_density_in_closed_form(evidence):
    """At the noise and scale that the engine chose, by the covariance of the readings."""
    found = evidence.of(("u^2",))
    columns = np.concatenate([evidence.others, evidence.responses[:, :1]], axis=1)
    noise = found.sigma**2
    precision = columns.T @ columns / noise + np.eye(columns.shape[1])
    mean = np.linalg.solve(precision, columns.T @ evidence.values / noise)
    # The prior's scale differs from 1, which hardly moves a coefficient that readings determine.
    assert mean[-1] * evidence.scales[0] == pytest.approx(found.coefficients[0], abs=1e-3)


def test_error_bars_hold_the_field_where_the_equation_is_wrong(readings):
    """The discrepancy of the heat equation is the missing term, and the band of u holds the truth."""
    law = ExtendedEquation(pgt.Equation("u_t = 0.05*u_xx"), discrepancy=True)
    result = pgt.reconstruct(
        readings, law, LINE, CONDITIONS, method="solver", error_bars=pgt.Posterior(),
        progress=False,
    )  # fmt: skip
    truth = pgt.solve("u_t = 0.05*u_xx - 0.5*u^2", LINE, CONDITIONS).grid(x=15, t=15).u
    band = result.band(x=15, t=15)
    inside = (band.u_lower <= truth) & (truth <= band.u_upper)
    assert 0.75 < float(inside.mean()) <= 1.0
    source, missing = band.discrepancy, -0.5 * truth**2
    assert float(((source - missing) ** 2).mean() ** 0.5) < 0.2 * float((missing**2).mean() ** 0.5)
