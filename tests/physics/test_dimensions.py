"""Units that an equation can add up, and those that it cannot."""

import pytest

import pgt
from pgt.core.errors import InputError
from pgt.physics.dimensions import check_dimensions, coefficient_units

FLOW = {"x": "m", "y": "m", "t": "s", "u": "m/s", "v": "m s-1", "p": "m2/s2"}


def test_units_that_fit_an_equation():
    flow = pgt.NavierStokes2D(0.01)
    for units in (FLOW, {}, {"u": "km/h"}, FLOW | {"u": "1"}, FLOW | {"t": "1"}):
        check_dimensions(flow, units)
    check_dimensions(flow, {"x": "D", "y": "D", "t": "D/U", "u": "1", "v": "1", "p": "1"})
    check_dimensions(pgt.NavierStokes2D(0.01, convection=2.0), FLOW | {"u": "km/h"})
    check_dimensions(pgt.Equation("u_t = u_xx + u_yy"), {"x": "m", "y": "km"})


def test_seconds_since_a_date_are_seconds():
    units = {"x": "cm", "t": "seconds since 2024-03-12T10:00:00"}
    assert coefficient_units(pgt.Heat(0.01), units) == {"diffusivity": "cm2 s-1"}


def test_a_pressure_of_its_own_unit_needs_its_density():
    sound = {"x": "m", "t": "s", "u": "m/s", "p": "Pa"}
    check_dimensions(pgt.Acoustics(343.0, 1.2), sound)
    with pytest.raises(InputError, match="'p' is in 'Pa'"):
        check_dimensions(pgt.Acoustics(343.0), sound)


def test_heads_and_displacements_are_lengths():
    check_dimensions(pgt.Darcy(1e-4), {"x": "m", "y": "m", "h": "m"})
    with pytest.raises(InputError, match="'h' is in 'cm' by the readings"):
        check_dimensions(pgt.Darcy(1e-4), {"x": "m", "y": "m", "h": "cm"})
    with pytest.raises(InputError, match="'v' is in 'mm' by the readings"):
        check_dimensions(pgt.Elasticity(1.0, 0.3), {"x": "m", "y": "m", "u": "m", "v": "mm"})


def test_a_depth_is_a_length_though_it_comes_before_the_velocity():
    units = {"x": "m", "y": "m", "t": "s", "h": "m", "u": "m/s", "v": "m/s"}
    check_dimensions(pgt.ShallowWater(), units)
    with pytest.raises(InputError, match="'u' is in 'm' by the readings"):
        check_dimensions(pgt.ShallowWater(), units | {"u": "m"})
    renamed = pgt.ShallowWater(fields=("depth", "ux", "uy"))
    with pytest.raises(InputError, match="'depth' is in 'm/s' by the readings"):
        check_dimensions(renamed, {"x": "m", "t": "s", "depth": "m/s"})


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ({"y": "mm"}, "'y' is in 'mm' by the readings, but in 'm' by the axis x.*0.001"),
        ({"u": "km/h"}, "'u' is in 'km/h' by the readings, but in 'm s-1' by the equation.*0.27"),
        ({"p": "Pa"}, "'p' is in 'Pa' by the readings, but in 'm2 s-2'.*no multiple"),
        ({"t": "min"}, "'u' is in 'm/s' by the readings, but in 'm min-1'.*multiply.*60"),
    ],
)
def test_units_that_do_not_fit_an_equation(units, words):
    with pytest.raises(InputError, match=words):
        check_dimensions(pgt.NavierStokes2D(0.01), FLOW | units)


def test_units_of_coefficients():
    assert coefficient_units(pgt.Wave(1.0), {"x": "km", "t": "h"}) == {"speed": "km h-1"}
    hours = {"x": "m", "t": "hours since 2020-01-01"}
    assert coefficient_units(pgt.Heat(1.0), hours) == {"diffusivity": "m2 h-1"}
    assert coefficient_units(pgt.Heat(1.0), {"x": "m"}) == {}
    assert coefficient_units(pgt.Equation("u_t = u_xx"), {"x": "m", "t": "s"}) == {}


def test_velocities_of_a_steady_flow_have_one_unit():
    slow, flow = pgt.Stokes(1.0), pgt.NavierStokes2D(0.01, steady=True)
    check_dimensions(slow, {"x": "mm", "y": "mm", "u": "m/s", "v": "m s-1", "p": "Pa"})
    with pytest.raises(InputError, match=r"'v' is in 'mm/s' by the readings, but in 'm/s'.*u in"):
        check_dimensions(slow, {"x": "mm", "u": "m/s", "v": "mm/s"})
    check_dimensions(flow, {"x": "mm", "u": "m/s", "p": "m2/s2"})
    with pytest.raises(InputError, match="'p' is in 'mm2/s2' by the readings, but in 'm/s m/s'"):
        check_dimensions(flow, {"x": "mm", "u": "m/s", "p": "mm2/s2"})
    assert coefficient_units(flow, {"x": "mm", "u": "m/s"}) == {"viscosity": "mm m/s"}
    assert coefficient_units(slow, {"x": "mm", "u": "m/s", "p": "Pa"}) == {}
