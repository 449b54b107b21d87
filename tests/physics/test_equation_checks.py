"""Units that an equation can add up, and those that it cannot."""

import re
import warnings

import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.core.errors import InputError
from pgt.methods.plan import choose
from pgt.physics.equation_checks import (
    check_defined,
    check_dimensions,
    check_homogeneous,
    undefined,
    warn_of_growth,
)

FLOW = {"x": "m", "y": "m", "t": "s", "u": "m/s", "v": "m s-1", "p": "m2/s2"}


def test_units_that_fit_an_equation():
    flow = pgt.NavierStokes2D(0.01)
    for units in (FLOW, {}, {"u": "km/h"}, FLOW | {"u": "1"}, FLOW | {"t": "1"}):
        check_dimensions(flow, units)
    check_dimensions(flow, {"x": "D", "y": "D", "t": "D/U", "u": "1", "v": "1", "p": "1"})
    check_dimensions(pgt.NavierStokes2D(0.01, convection=2.0), FLOW | {"u": "km/h"})
    check_dimensions(pgt.Equation("u_t = u_xx + u_yy"), {"x": "m", "y": "km"})


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


# ------------------------------------------------------------------------------- homogeneous


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


# ------------------------------------------------------------------------------- well posed

GROWING = {
    "u_t = -0.01*u_xx": "u_t = 0.01*u_xx",
    "u_t + 0.01*u_xx = 0": "u_t = 0.01*u_xx",
    "2*u_t = u_x - 4*lap(u) + 3": "u_t = 0.5*u_x + 2*u_xx + 2*u_yy + 1.5",
    "u_t = u_xxxx": "u_t = -1*u_xxxx",
    "u_t = u_xxx - u_xx": "u_t = 1*u_xxx + 1*u_xx",
    "u_t + u*u_x = -0.1*u_xx": "u_t = 0.1*u_xx + ...",
}


def said(pde):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_growth(pde)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(("text", "meant"), GROWING.items())
def test_a_mistaken_sign_is_said_with_the_line_that_was_meant(text, meant):
    coords = ("x", "y", "t") if "lap" in text else ()
    (words,) = said(pgt.Equation(text, fields=("u",), coords=coords))
    assert "ill-posed forward in time" in words
    (line,) = re.findall("Write '(.*)'", words)
    assert sorted(line.split()) == sorted(meant.split())
    if "..." not in line:
        assert said(pgt.Equation(line, fields=("u",), coords=coords)) == []


# ------------------------------------------------------------------------------- defined

BOX = pgt.Domain(x=(-1, 1), t=(0, 2))


def over_time(*times):
    return xr.DataArray(np.ones(len(times)), {"t": list(times)}, dims="t")


@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(0.1, source=over_time(0, 0.5)),
        pgt.Heat(0.1, source=over_time(0.5, 2)),
        pgt.NavierStokes2D(0.1, source=(over_time(0, 1), None)),
    ],
)
def test_a_table_that_ends_before_the_domain_does_is_refused(pde):
    box = pgt.Domain(**dict.fromkeys(pde.coords, (0, 2)))
    with pytest.raises(InputError, match=r"table covers t from .* domain goes from 0 to 2"):
        check_defined(pde, box)


@pytest.mark.parametrize("text", ["sqrt(x)", "log(t - 1)", "x^0.5"])
def test_what_is_no_number_in_a_part_of_the_domain_is_refused(text):
    for pde in (pgt.Heat(0.1, source=text), pgt.Equation(f"u_t = 0.1*u_xx + u*{text}")):
        with pytest.raises(InputError, match=r"at x = .*, t = .* no finite number, whatever"):
            check_defined(pde, BOX)


@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(0.1),
        pgt.Heat(0.1, source="sqrt(x + 1)/t"),
        pgt.Heat(0.1, source=over_time(0, 1, 2)),
        pgt.Equation("u_t = x*log(u)"),  # of half of all fields
        pgt.Equation("u_t = x*sqrt(u - 100)"),  # of fields that nobody drew
        pgt.Equation("u_t = 0.1*u_xx + t*q", q=pgt.UnknownFunction("x")),
    ],
)
def test_what_depends_on_the_field_is_for_the_fit_to_say(pde):
    check_defined(pde, BOX)
    assert not undefined(pde, BOX.even(8)).any()


def test_a_pressure_of_its_own_unit_needs_its_density():
    sound = {"x": "m", "t": "s", "u": "m/s", "p": "Pa"}
    check_dimensions(pgt.Acoustics(343.0, 1.2), sound)
    with pytest.raises(InputError, match="'p' is in 'Pa'"):
        check_dimensions(pgt.Acoustics(343.0), sound)


PIV = {"x": "mm", "y": "mm", "t": "s", "u": "m/s", "v": "m/s"}


HOMOGENEOUS_FLOW = pgt.Equation(
    "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)", "u_x + v_y = 0", coords=("x", "y", "t"), nu=1.0
)


def test_terms_that_multiply_velocities_do_not_add_up():
    with pytest.raises(InputError, match=r"'u' is in 'm/s', which is 1000 of what these make"):
        check_homogeneous(HOMOGENEOUS_FLOW, PIV)
    check_homogeneous(HOMOGENEOUS_FLOW, PIV | {"u": "mm/s", "v": "mm/s"})
    check_homogeneous(HOMOGENEOUS_FLOW, PIV | {"t": "ms"})
    check_homogeneous(HOMOGENEOUS_FLOW, {"x": "mm", "y": "mm", "t": "s"})


READINGS = pgt.Observations.from_arrays({"x": [-0.5, 0.5], "t": [0.5, 1.5]}, {"u": [1.0, 2.0]})


def test_it_is_asked_before_anything_is_fitted():
    pde = pgt.Heat(0.1, source=over_time(0, 0.5))
    with pytest.raises(InputError, match="Heat: the table covers t"):
        _ = choose(READINGS, pde, BOX).first
    without = pgt.Training(collocation=0, steps=1)
    _ = choose(READINGS, pde, BOX, training=without).first  # readings alone ask for no equation
