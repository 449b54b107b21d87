"""Whether two equations are one: by what they ask of a field, not by how they are written."""

import pytest

import pgt
from pgt.physics.equivalence import same_equation

ONE = [
    (pgt.Heat(0.02), pgt.Equation("2*u_t - 0.04*u_xx = 0")),
    (pgt.Heat(0.02, dimension=2), pgt.Equation("u_t = 0.02*lap(u)", coords=("x", "y", "t"))),
    (pgt.Burgers(0.01), pgt.Equation("u_t = 0.01*u_xx - u*u_x")),
    (pgt.NavierStokes2D(0.01), pgt.NavierStokes2D(0.01)),
]
TWO = [
    (pgt.Heat(0.02), pgt.Heat(0.03)),
    (pgt.Heat(0.02), pgt.Heat(0.02, source=1.0)),
    (pgt.Heat(0.02), pgt.Heat(0.02, source="sin(pi*x)")),
    (pgt.Heat(0.02), pgt.Heat(0.02, dimension=2)),
    (pgt.Heat(0.02), pgt.AdvectionDiffusion(0.5, 0.02)),
    (pgt.Heat(0.02), pgt.AllenCahn(0.02, 1.0)),
]


@pytest.mark.parametrize(("one", "other"), ONE)
def test_another_way_to_write_it_is_the_same(one, other):
    assert same_equation(one, other)
    assert same_equation(other, one)


@pytest.mark.parametrize(("one", "other"), TWO)
def test_another_term_or_number_is_another_equation(one, other):
    assert not same_equation(one, other)
    assert not same_equation(other, one)
