"""Coefficients with units of their own, in Python."""

import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.physics.problem_inputs import as_problem

UNITS = {"x": "mm", "t": "s", "u": "K"}


def problem(pde, units=UNITS):
    points = {"x": np.array([10.0, 20.0]), "t": np.array([0.0, 1.0])}
    readings = pgt.Observations.from_arrays(points, {"u": np.array([1.0, 2.0])}, units=units)
    return as_problem(readings, pde, pgt.Domain(x=(0, 100), t=(0, 2)))[1]


def test_an_amount_becomes_a_number_in_the_units_of_the_readings():
    pde = problem(pgt.Heat(diffusivity="0.6 m^2/min"))
    assert pde.diffusivity == pytest.approx(0.6 * 1e6 / 60, rel=1e-12)
    assert problem(pgt.Heat(diffusivity=2.0)).diffusivity == 2.0


@pytest.mark.parametrize(
    ("pde", "units", "words"),
    [
        (pgt.Heat("3 m/s"), UNITS, r"Heat\(diffusivity\): '3 m/s'.*has to be in 'm2 s-1'"),
        (pgt.Heat("3 m^2/s"), {"u": "K"}, r"the unit of x has to be known.*units={'x': 'm'}"),
        (pgt.Equation("u_t = k*u_xx", k="2 kg/s"), UNITS, r"Equation\(k\): the unit 'kg/s'"),
    ],
)
def test_what_cannot_be_converted_is_said_of_the_coefficient(pde, units, words):
    with pytest.raises(InputError, match=words):
        problem(pde, units)


def test_wrong_text_and_wrong_signs_are_refused_at_once():
    with pytest.raises(InputError, match="'a lot'"):
        pgt.Heat(diffusivity="a lot")
    with pytest.raises(InputError, match="-3 m\\^2/s but must be above 0"):
        pgt.Heat(diffusivity="-3 m^2/s")


def test_an_unknown_with_a_unit_of_another_kind_is_refused():
    with pytest.raises(InputError, match=r"Heat\(diffusivity\): '1 m/s'.*has to be in 'm2 s-1'"):
        problem(pgt.Heat(pgt.Unknown("3 m/s")))
    with pytest.raises(InputError, match="must be above 0"):
        pgt.Heat(pgt.Unknown("-3 m^2/s"))
    with pytest.raises(InputError, match="here write the number alone"):
        pgt.Heat(pgt.Unknown("3 m^2/s")).kernel()
