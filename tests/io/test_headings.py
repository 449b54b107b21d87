"""Names, units and places in headings."""

import pytest

from pgt.core.errors import InputError
from pgt.io.headings import (
    apply_length_unit,
    parse_heading,
    parse_headings,
    parse_positions,
    parse_unit,
    place_by_lengths,
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


def test_a_row_of_units_is_laid_over_the_headings():
    found = parse_headings(["t", "T [K]", "note"], ["[s]", "", "-"])
    assert [heading.unit for heading in found] == ["s", "K", None]
    assert parse_unit("(mm)") == "mm"
    assert parse_unit("inlet") is None


def test_an_index_is_no_position():
    assert parse_positions("max=0.1") == {}
    assert parse_positions("rod x=0.1 y=2") == {"x": (0.1, None), "y": (2.0, None)}


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


def test_lengths_are_places_where_nothing_else_differs():
    def places(*texts):
        return [
            heading.positions.get("z") for heading in place_by_lengths(parse_headings(texts), "z")
        ]

    assert places("Date", "5cm", "10cm") == [None, (5.0, "cm"), (10.0, "cm")]
    assert places("T_5cm_Avg", "T_0.1m_Avg") == [(5.0, "cm"), (0.1, "m")]
    assert places("T 2 ft", "T 4 ft") == [(2.0, "ft"), (4.0, "ft")]
    assert places("T_5cm", "q_10cm") == [None, None]
    assert places("T_5min", "T_10min") == [None, None]
    named = place_by_lengths(parse_headings(["T_5cm [°C]", "T_10cm [°C]"]), "x")
    assert [(heading.name, heading.unit) for heading in named] == [("T", "°C")] * 2


def test_a_unit_of_all_lengths():
    headings = apply_length_unit(parse_headings(["x", "y [cm]", "T"]), ["% Length unit,mm"])
    assert [heading.unit for heading in headings] == ["mm", "cm", None]
    assert apply_length_unit(headings[2:], ["% Length unit: inlet"]) == headings[2:]


def test_two_units_of_one_column_are_refused():
    assert parse_headings(["T (°C)"], ["deg C"])[0].unit == "deg C"
    assert parse_headings(["T_min"], ["°C"])[0].unit == "°C"
    with pytest.raises(InputError, match=r"'T \(K\)' .* 'K', .* '°C'"):
        parse_headings(["T (K)"], ["°C"])


def test_f_is_fahrenheit_of_a_temperature_alone():
    assert [parse_heading(text).unit for text in ("Temp (F)", "T [F]", "Cap (F)")] == [
        "degF",
        "degF",
        None,
    ]


def test_the_least_of_a_reading_is_no_minute():
    found = [parse_heading(text) for text in ("T_min", "u_min", "t_min", "elapsed_min")]
    assert [heading.unit for heading in found] == [None, None, "min", "min"]
    assert found[0].name == "T_min"


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


def test_one_number_in_brackets_is_a_place_where_it_is_no_channel():
    def places(*texts):
        return [
            h.positions.get("x", (None,))[0] for h in place_by_lengths(parse_headings(texts), "x")
        ]

    assert places("T(0)", "T(0.5)", "T(1)") == [0, 0.5, 1]
    assert places("T(1)", "T(2)") == [None, None]
    assert places("T(0.5)") == [None]
