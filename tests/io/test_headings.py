"""Names, units and places in headings."""

import pytest

from pgt.io.headings import as_unit, parse_heading, parse_headings, places_in


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
        ("T (raw)", "T (raw)", None),
        ("u", "u", None),
        ("", "", None),
    ],
)
def test_units(text, name, unit):
    heading = parse_heading(text)
    assert (heading.name, heading.unit, heading.places) == (name, unit, {})


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
    assert (heading.name, heading.unit, heading.places) == (name, unit, places)


def test_a_row_of_units_is_laid_over_the_headings():
    found = parse_headings(["t", "T [K]", "note"], ["[s]", "", "-"])
    assert [heading.unit for heading in found] == ["s", "K", None]
    assert as_unit("(mm)") == "mm"
    assert as_unit("inlet") is None


def test_an_index_is_no_position():
    assert places_in("max=0.1") == {}
    assert places_in("rod x=0.1 y=2") == {"x": (0.1, None), "y": (2.0, None)}
