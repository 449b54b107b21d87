"""Which equations need one solve, in whatever units they are written."""

import equinox as eqx
import numpy as np
import pytest
from few_readings import DOMAINS, readings

from pgt.core.unknown import Unknown
from pgt.nn.scaling import Scaling
from pgt.physics import (
    AdvectionDiffusion,
    AllenCahn,
    Burgers,
    Equation,
    Heat,
    NavierStokes2D,
    Poisson,
    Wave,
)
from pgt.problem.linearity import is_linear, is_solved_by_one_solve

LINEAR = [
    Heat(0.01),
    Heat(0.01, dimension=2),
    Wave(1.5),
    Poisson(source="sin(x)*y"),
    AdvectionDiffusion(velocity=0.4, diffusivity=0.02),
    Equation("u_t = (0.1 + x^2)*u_xx + exp(-t)*u_x + sin(3*x)", fields=("u",)),
    Equation("u_t = 0.1*u_xx - 2*u + 5", fields=("u",)),
]
NONLINEAR = [
    Burgers(0.01),
    AllenCahn(0.01),
    NavierStokes2D(0.01),
    Equation("u_t = u_xx + exp(u)", fields=("u",)),
    Equation("u_t = u_x*u_xx", fields=("u",)),
    Equation("u_t = u_xx + u*v", "v_t = v_xx", fields=("u", "v")),
]


def scaling(pde, length=1.0, value=1.0, middle=1.0):
    """As of a domain and fields of that size."""
    axes, fields = len(pde.coords), len(pde.fields)
    return eqx.tree_at(
        lambda s: (s.middle, s.half_extent, s.mean, s.spread, s.resolution),
        Scaling.fit(readings(), DOMAINS["open"]),
        (
            np.full(axes, middle * length),
            np.full(axes, length),
            np.full(fields, value),
            np.full(fields, value),
            np.full(axes, length / 10),
        ),
    )


def name(pde):
    return f"{type(pde).__name__}{len(pde.coords)}{len(pde.fields)}"


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e-6, 1e5), (1e6, 1e-5)], ids=str)
@pytest.mark.parametrize("pde", LINEAR, ids=name)
def test_linear_in_any_units(pde, units):
    assert is_linear(pde, scaling(pde, *units))
    assert is_solved_by_one_solve(pde, scaling(pde, *units, middle=30.0))


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e-6, 1e5)], ids=str)
@pytest.mark.parametrize("pde", NONLINEAR, ids=name)
def test_not_linear_in_any_units(pde, units):
    assert not is_linear(pde, scaling(pde, *units))
    assert not is_solved_by_one_solve(pde, scaling(pde, *units))


def test_an_unknown_coefficient_makes_an_equation_nonlinear_in_all_unknowns():
    pde = Heat(Unknown(0.01, positive=True))
    assert is_linear(pde, scaling(pde))
    assert not is_solved_by_one_solve(pde, scaling(pde))


@pytest.mark.parametrize(
    ("text", "start"), [("u_t = (0.1 + b*u)*u_xx", 0.0), ("u_t = 0.1*u_xx - u^b", 1.0)]
)
def test_a_starting_value_cannot_hide_a_nonlinear_term(text, start):
    pde = Equation(text, fields=("u",), b=Unknown(start))
    assert not is_linear(pde, scaling(pde))
