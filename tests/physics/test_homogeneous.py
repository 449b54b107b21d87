"""Equations as text whose coefficients have units, and fields that are read in others."""

import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.physics.homogeneous import check_homogeneous

PIV = {"x": "mm", "y": "mm", "t": "s", "u": "m/s", "v": "m/s"}
FLOW = pgt.Equation(
    "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)", "u_x + v_y = 0", coords=("x", "y", "t"), nu=1.0
)


def test_terms_that_multiply_velocities_do_not_add_up():
    with pytest.raises(InputError, match=r"'u' is in 'm/s', which is 1000 of what these make"):
        check_homogeneous(FLOW, PIV)
    check_homogeneous(FLOW, PIV | {"u": "mm/s", "v": "mm/s"})
    check_homogeneous(FLOW, PIV | {"t": "ms"})
    check_homogeneous(FLOW, {"x": "mm", "y": "mm", "t": "s"})


@pytest.mark.parametrize(
    ("text", "fits"),
    [("h_t = a*h_xx", True), ("h_t = a*(h*h_x)_x", False), ("h_t = a*h_xx + 0.1", False)],
)
def test_a_linear_equation_holds_in_any_unit_of_its_field(text, fits):
    text = text.replace("(h*h_x)_x", "(h*h_xx + h_x*h_x)")
    pde, units = pgt.Equation(text, a=1.0), {"x": "km", "t": "d", "h": "m"}
    if fits:
        check_homogeneous(pde, units)
        return
    with pytest.raises(InputError, match=r"'h' is in 'm', which is 0.001"):
        check_homogeneous(pde, units)


def test_a_temperature_is_a_unit_of_its_own():
    pde = pgt.Equation("T_t = a*T_xx + 0.1*(T - 20)", a=1.0)
    check_homogeneous(pde, {"x": "mm", "t": "min", "T": "°F"})


def test_the_front_door_asks_where_a_coefficient_has_a_unit():
    random = np.random.default_rng(0)
    readings = pgt.Observations.from_arrays(
        {name: random.uniform(size=9) for name in ("x", "t")},
        {"u": random.uniform(size=9)},
        units={"x": "mm", "t": "s", "u": "m/s"},
    )
    box, text = {"x": (0, 1), "t": (0, 1)}, "u_t + u*u_x = nu*u_xx"
    with pytest.raises(InputError, match="the terms of the equation do not add up"):
        pgt.reconstruct(readings, pgt.Equation(text, nu="1e-6 m^2/s"), box)
