"""Names, units and places in headings."""

import pytest

from pgt.core.errors import InputError
from pgt.io.headings import (
    parse_heading,
    parse_headings,
    place_by_grid,
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
        ("Drying (min)", "Drying", "min"),
        ("x_m", "x", "m"),
        ("t_s", "t", "s"),
        ("Temp_F", "Temp", "degF"),
        ("t (sec.)", "t", "sec"),
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
        ("T (0,5)", None, {}),  # a decimal, or a place?
        ("T (K) @ t=0.5", "K", {"t": (0.5, None)}),
        ("x (mm)[mm]", "mm", {}),
        ("Temp, °C (logger 5, x dir)", "°C", {}),
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


def places(*names, axes=("x", "t")):
    return [heading.positions for heading in place_by_grid(parse_headings(names), axes)][1:]


def test_numbers_beside_a_time_are_places():
    assert places("t", "0,1", "0.5") == [{"x": (0.1, None)}, {"x": (0.5, None)}]
    assert places("Depth [m]", "0", "60", axes=("z", "t")) == [{"t": (0, None)}, {"t": (60, None)}]


@pytest.mark.parametrize(
    "names",
    [
        ("t", "101", "102", "103"),  # channels
        ("t", "0.1", "T"),
        ("t", "0.1", "0.1"),
        ("t", "0.1"),
        ("t", "0.1", "nan"),
        ("T", "0.1", "0.5"),
        ("scan", "0.1", "0.5"),
    ],
)
def test_other_headings_stay_as_they_are(names):
    assert not any(places(*names))


def test_one_axis_has_to_be_left():
    assert not any(places("x", "0.1", "0.5", axes=("x", "y", "t")))
    assert not any(places("x", "0.1", "0.5", axes=()))
