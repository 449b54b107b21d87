"""Missing terms of equations whose truth is known."""

import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.discovery import discover, library

LINE = pgt.Domain(x=(0, 1), t=(0, 1))
WALLS = [pgt.Dirichlet("x", u=1.0)]


def sampled(truth, count, noise=0.02, seed=0):
    domain, rng = truth.domain, np.random.default_rng(seed)
    points = rng.uniform(domain.lower, domain.lower + domain.extent, (count, domain.dimension))
    columns = dict(zip(domain.axes, points.T, strict=True))
    at = truth.at(**columns)
    values = {}
    for name in truth.pde.fields:
        exact = np.asarray(at[name])
        values[name] = exact + noise * exact.std() * rng.standard_normal(count)
    return pgt.Observations.from_arrays(columns, values)


@pytest.fixture(scope="module")
def decaying():
    start = pgt.Initial(u="1 + sin(pi*x) + 0.5*sin(3*pi*x)")
    return sampled(pgt.solve("u_t = 0.02*u_xx - 1.5*u", LINE, [start, *WALLS]), 150)


def test_a_missing_term_is_found_with_an_unknown_coefficient_beside_it(decaying):
    law = pgt.Heat(pgt.Unknown(0.05, positive=True))
    found = discover(decaying, law, LINE, WALLS)
    (term,) = found.terms
    assert (term.text, term.equation) == ("u", "heat")
    assert term.lower < -1.5 < term.upper
    assert term.upper - term.lower < 0.1
    assert found.noise[0] > 5 * found.noise[1]
    (discrepancy,) = found.discrepancies
    assert discrepancy.gain > 50 > 0 > found.remaining[0].gain
    assert discrepancy.positive < 0.1  # the readings ask for a sink
    assert "−1.5*(u)" in str(found)
    assert found.candidates["term"][0] == "u"


def test_a_complete_equation_stays_as_it_is(decaying):
    found = discover(decaying, "u_t = 0.02*u_xx - 1.5*u", LINE, terms=["sin(u)"])
    assert found.terms == ()
    assert len(found.candidates) == 13
    assert "none of the candidates" in str(found)


def test_the_equation_with_its_terms_is_one_to_fit(decaying):
    found = discover(decaying, "u_t = 0.02*u_xx", LINE, WALLS, terms=["u", "1"], only=True)
    result = pgt.reconstruct(decaying, found.pde, LINE, WALLS, method="solver", progress=False)
    assert result.parameters["u"] == pytest.approx(-1.5, abs=0.05)


def test_a_term_of_a_system():
    """Prey and predators: the equation of the predators lacks what they eat."""
    domain = pgt.Domain(t=(0, 8))
    start = [pgt.Initial(u=1.0, v=0.5)]
    truth = pgt.solve(pgt.Equation("u_t = u - u*v", "v_t = 0.8*u*v - v"), domain, start)
    law = pgt.Equation("u_t = u - u*v", "v_t = -v")
    readings = sampled(truth, 80)
    candidates = ["u in equation_1", "u*v in equation_2", "u in equation_2", "v^2 in equation_2"]
    found = discover(readings, law, domain, terms=candidates, only=True)
    assert [(t.text, t.equation) for t in found.terms] == [("u*v", "equation_2")]
    assert found.terms[0].coefficient == pytest.approx(0.8, abs=0.03)


def test_the_library_follows_the_equation():
    wave = library(pgt.Wave(1.0))
    assert "u_t" in wave
    plate = library(pgt.Equation("u_xx + u_yy = 0"))
    assert {"u_x", "u_y", "lap(u)"} <= set(plate)
    system = library(pgt.Equation("u_t = v", "v_t = -u"))
    assert {"u*v in equation_1", "1 in equation_2"} <= set(system)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"terms": ["k*u"]}, "without a coefficient"),
        ({"only": True}, "there are no candidates"),
    ],
)
def test_mistakes_are_said_before_anything_is_fitted(options, message):
    readings = pgt.Observations.from_arrays({"x": [0.1], "t": [0.2]}, {"u": [1.0]})
    with pytest.raises(InputError, match=message):
        discover(readings, "u_t = u_xx", LINE, **options)


def test_a_box_of_three_coordinates_is_refused():
    cube = pgt.Domain(x=(0, 1), y=(0, 1), z=(0, 1))
    readings = pgt.Observations.from_arrays(
        {"x": [0.1, 0.2], "y": [0.2, 0.1], "z": [0.3, 0.4]}, {"u": [1.0, 2.0]}
    )
    with pytest.raises(InputError, match="at most two coordinates of space"):
        discover(readings, "u_xx + u_yy + u_zz = 0", cube, terms=["u"], only=True)
