"""Names, units and places in headings."""

import pytest

from pgt.core.errors import InputError
from pgt.io.headings import (
    parse_heading,
    parse_headings,
)


@pytest.mark.parametrize(
    ("text", "name", "unit"),
    [
        ("x [m]", "x", "m"),
        ("T (°C)", "T", "°C"),
        ("T (C)", "T", "degC"),
        ("T_degC", "T", "degC"),
        ("p / kPa", "p", "kPa"),
        ("x/m", "x", "m"),
        ("u, m/s", "u", "m/s"),
        ("T in °C", "T", "°C"),
        ("Temp. inlet (Deg C)", "Temp. inlet", "Deg C"),
        ("101 <TC1> (C)", "101 <TC1>", "degC"),
        ("time [minutes since 2024-03-12 10:00]", "time", "minutes since 2024-03-12 10:00"),
        ("T_s", "T_s", None),
        ("p (kPa(g))", "p (kPa(g))", None),  # not grams
        ("k [W/(m·K)]", "k", "W/(m·K)"),
        ("u_m/s", "u", "m/s"),
        ("u_ms", "u_ms", None),  # no milliseconds
        ("u/(m/s)", "u", "m/s"),
        ("T (min)", "T (min)", None),
        ("Drying (min)", "Drying", "min"),
        ("x_m", "x", "m"),
        ("t_s", "t", "s"),
        ("Temp_F", "Temp", "degF"),
        ("t (sec.)", "t", "sec"),
        ("Depth (in.)", "Depth", "inch"),
        ("T (raw)", "T (raw)", None),
        ("u", "u", None),
        ("", "", None),
    ],
)
def test_units(text, name, unit):
    heading = parse_heading(text)
    assert (heading.name, heading.unit, heading.positions) == (name, unit, {})


@pytest.mark.parametrize(
    ("text", "name", "unit", "places"),
    [
        ("T@x=0.1", "T", None, {"x": (0.1, None)}),
        ("TC1 (x=0.1 m)", "TC1", None, {"x": (0.1, "m")}),
        ("T(x=0,1m)", "T", None, {"x": (0.1, "m")}),
        ("T@x=10mm [degC]", "T", "degC", {"x": (10.0, "mm")}),
        ("TC1 [x=0.1 m, y=2 cm] (°C)", "TC1", "°C", {"x": (0.1, "m"), "y": (2.0, "cm")}),
        ("T@x=0.1,y=-3e-1", "T", None, {"x": (0.1, None), "y": (-0.3, None)}),
        ("T @ x = 0.25 m / °C", "T", "°C", {"x": (0.25, "m")}),
        ("T_x=0.1", "T", None, {"x": (0.1, None)}),
    ],
)
def test_places(text, name, unit, places):
    heading = parse_heading(text)
    assert (heading.name, heading.unit, heading.positions) == (name, unit, places)


@pytest.mark.parametrize(
    ("text", "unit", "places"),
    [
        ("Temperature (K), Point: (0.1, -2)", "K", {"x": (0.1, None), "y": (-2.0, None)}),
        ("p (1, 2, 3)", None, {"x": (1.0, None), "y": (2.0, None), "z": (3.0, None)}),
        ("T (0,5)", None, {}),  # a decimal, or a place?
        ("T (K) @ t=0.5", "K", {"t": (0.5, None)}),
        ("x (mm)[mm]", "mm", {}),
        ("Temp, °C (logger 5, x dir)", "°C", {}),
        ("Depth (in)", "inch", {}),
        ("T (in)", None, {}),
    ],
)
def test_more_units_and_places(text, unit, places):
    heading = parse_heading(text)
    assert (heading.unit, heading.positions) == (unit, places)


def test_two_units_of_one_column_are_refused():
    assert parse_headings(["T (°C)"], ["deg C"])[0].unit == "deg C"
    assert parse_headings(["T_min"], ["°C"])[0].unit == "°C"
    with pytest.raises(InputError, match=r"'T \(K\)' .* 'K', .* '°C'"):
        parse_headings(["T (K)"], ["°C"])


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("CH1(0.1,0.2)", {"x": (0.1, None), "y": (0.2, None)}),
        ("CH1 (1, 2)", {"x": (1.0, None), "y": (2.0, None)}),
        ("P[1,2,3]", {"x": (1.0, None), "y": (2.0, None), "z": (3.0, None)}),
        ("CH1(0,1;0,2)", {"x": (0.1, None), "y": (0.2, None)}),
        ("CH1(10 mm, 20 mm) [°C]", {"x": (10.0, "mm"), "y": (20.0, "mm")}),
        ("CH 1 (0.1 / 0.2)", {"x": (0.1, None), "y": (0.2, None)}),
        ("CH1(1,2)", {}),  # or 1.2
        ("CH (1/2)", {}),
        ("T (1.5 bar, 2 bar)", {}),
        ("T (1.2.3, 4)", {}),
    ],
)
def test_a_point_in_brackets_is_a_place(text, places):
    assert parse_heading(text).positions == places
