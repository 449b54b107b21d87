"""Numbers with units of their own."""

import pytest

from pgt.core.arguments import Powers
from pgt.core.errors import InputError
from pgt.data.unit_text import amount, in_units

DIFFUSIVITY = Powers(length=2, time=-1)
VISCOSITY = Powers(length=2, time=-1, pressure="p")
STEADY = {"x": "mm", "y": "mm", "u": "m/s"}


@pytest.mark.parametrize(
    ("text", "units", "powers", "number"),
    [
        ("1.2e-5 m^2/s", {"x": "m", "t": "s"}, DIFFUSIVITY, 1.2e-5),
        ("1.2e-5 m²/s", {"x": "mm", "t": "h"}, DIFFUSIVITY, 1.2e-5 * 1e6 * 3600),
        ("0.1mm2 s-1", {"x": "m", "t": "min since 2024-03-12"}, DIFFUSIVITY, 6e-6),
        ("36 km/h", {"x": "m", "t": "s"}, Powers(length=1, time=-1), 10.0),
        ("2 rad/m", {"x": "cm"}, Powers(length=-1), 0.02),
        ("5 %", {}, Powers(), 0.05),
        ("3 K/s", {"t": "min", "T": "°C"}, None, 180.0),
        ("3 °C/s", {"t": "s", "T": "K"}, None, 3.0),
        ("1e-6 m^2/s", STEADY, DIFFUSIVITY, 1e-3),  # mm m/s: times are in ms
        ("1e-6 m^2/s", STEADY | {"u": "mm/s"}, VISCOSITY, 1.0),
        ("1e-3 Pa s", STEADY | {"p": "Pa"}, VISCOSITY, 1.0),  # Pa mm / (m/s)
        ("2 Pa", {"x": "m", "t": "s", "rho": "kg"}, None, 2.0),
    ],
)
def test_amounts_become_numbers_of_the_problem(text, units, powers, number):
    assert in_units(text, units, powers) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize("text", ["sin(x)", "2", "m/s", "2 apples", "", "1e5", "2*x", "3 - u"])
def test_other_texts_are_no_amounts(text):
    assert amount(text) is None
    with pytest.raises(InputError, match="no number with a unit"):
        in_units(text, {"x": "m"})


@pytest.mark.parametrize(
    ("text", "units", "powers", "words"),
    [
        ("3 m/s", {"x": "m", "t": "s"}, DIFFUSIVITY, "'m/s', but this has to be in 'm2 s-1'"),
        ("3 kg", {"x": "m", "t": "s"}, DIFFUSIVITY, "'kg', but this has to be in 'm2 s-1'"),
        ("3 m^2/s", {"t": "s"}, DIFFUSIVITY, "the unit of x has to be known"),
        ("3 m^2/s", {"x": "m"}, DIFFUSIVITY, "the unit of t has to be known"),
        ("3 m^2/s", {"x": "m", "y": "mm", "t": "s"}, DIFFUSIVITY, "multiply the numbers by 1000"),
        ("3 m^2/s", {"x": "m", "t": "", "u": "m/s"}, DIFFUSIVITY, "the unit of t has to be known"),
        ("3 m/s", {"x": "", "h": "m", "t": "s"}, None, "the unit of x has to be known"),
        ("1e-3 Pa s", STEADY, VISCOSITY, "'m2 s-1'.*Divided by the density it is"),
        ("1e-6 m2/s", STEADY | {"p": "kPa"}, VISCOSITY, "'m-1 s-1 g'.*Times the density it is"),
        ("3 K/s", {"t": "s", "u": "V"}, None, "holds 'K', but no field"),
    ],
)
def test_what_does_not_fit_names_both(text, units, powers, words):
    with pytest.raises(InputError, match=words):
        in_units(text, units, powers)
