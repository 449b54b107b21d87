"""Equations that grow: said before anything is fitted, with the line that was meant."""

import re
import warnings

import pytest

import pgt
from pgt.physics.well_posed import warn_of_growth

GROWING = {
    "u_t = -0.01*u_xx": "u_t = 0.01*u_xx",
    "u_t + 0.01*u_xx = 0": "u_t = 0.01*u_xx",
    "2*u_t = u_x - 4*lap(u) + 3": "u_t = 0.5*u_x + 2*u_xx + 2*u_yy + 1.5",
    "u_t = u_xxxx": "u_t = -1*u_xxxx",
    "u_t = u_xxx - u_xx": "u_t = 1*u_xxx + 1*u_xx",
    "u_t + u*u_x = -0.1*u_xx": "u_t = 0.1*u_xx + ...",
}
FINE = [
    "u_t = 0.01*u_xx",
    "u_t = -u_xxxx - u_xx",  # Kuramoto and Sivashinsky: long waves grow, short ones do not
    "u_tt = u_xx",
    "u_tt = -u_xx",  # elliptic in time, and not for us to judge
    "u_xx = 0",
    "u_t = -(1 + u)*u_xx",
    "u_t = -u_x",
    "u_t = u_xxx",
]


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


@pytest.mark.parametrize("text", FINE)
def test_others_are_left_alone(text):
    assert said(pgt.Equation(text, fields=("u",))) == []
    assert said(pgt.Heat(0.01)) == []


def test_fields_that_hold_each_other_are_left_alone():
    system = pgt.Equation("u_t = -u_xx + v_xx", "v_t = -v_xx", fields=("u", "v"))
    (words,) = said(system)
    assert "'v_t = -v_xx'" in words


def test_named_coefficients_count_as_they_are():
    assert said(pgt.Equation("u_t = k*u_xx", k=0.1)) == []
    assert len(said(pgt.Equation("u_t = k*u_xx", k=-0.1))) == 1
