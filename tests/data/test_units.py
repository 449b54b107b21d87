"""Units as text: what is the same, what differs by which factor, and that mixtures are refused."""

import pytest
import xarray as xr

import pgt
from pgt.core.arguments import Powers
from pgt.core.errors import InputError
from pgt.data.units import (
    amount,
    conversion,
    factor,
    in_units,
    same_unit,
)
from pgt.io import read_columns, read_observations, read_points

DIFFERENT = [
    ("mm", "m", 1e-3),
    ("m", "km", 1e-3),
    ("km/h", "m/s", 1 / 3.6),
    ("min", "s", 60.0),
    ("kPa", "Pa", 1e3),
    ("L", "cm3", 1e3),
    ("g", "kg", 1e-3),
    ("%", "1", 0.01),
    ("ms", "days", 1e-3 / 86400),
    ("cP", "Pa s", 1e-3),
    ("cSt", "m2/s", 1e-6),
    ("mmHg", "Pa", 133.322387415),
    ("Torr", "Pa", 101325 / 760),
    ("knots", "km/h", 1.852),
    ("mph", "m/s", 0.44704),
    ("yd", "ft", 3.0),
    ("mH2O", "Pa", 9806.65),
    ("inH2O", "mmH2O", 25.4),
    ("inHg", "mmHg", 25.4),
    ("fpm", "ft/s", 1 / 60),
]
STRANGERS = [("K", "degC"), ("m", "s"), ("m", "m2"), ("10 m", "m"), ("m/", "m"), ("", "m")]


@pytest.mark.parametrize(("first", "second", "times"), DIFFERENT)
def test_factors(first, second, times):
    assert not same_unit(first, second)
    assert factor(first, second) == pytest.approx(times, rel=1e-12)
    assert factor(second, first) == pytest.approx(1 / times, rel=1e-12)


@pytest.mark.parametrize(("first", "second"), STRANGERS)
def test_what_cannot_be_converted(first, second):
    assert factor(first, second) is None
    assert not same_unit(first, second)


@pytest.mark.parametrize(
    ("first", "second", "number", "converted"),
    [
        ("°C", "K", 20.0, 293.15),
        ("K", "degC", 273.15, 0.0),
        ("degF", "degC", 212.0, 100.0),
        ("degF", "K", -459.67, 0.0),
        ("mm", "m", 250.0, 0.25),
        ("kelvin", "K", 1.0, 1.0),
        ("counts", "counts", 7.0, 7.0),
    ],
)
def test_degrees_have_an_offset(first, second, number, converted):
    scale, offset = conversion(first, second)
    assert scale * number + offset == pytest.approx(converted, abs=1e-12)


def test_file_and_caller_must_agree(tmp_path):
    path = tmp_path / "probe.nc"
    table = xr.Dataset({"u": ("x", [1.0, 2.0], {"units": "K"})}, {"x": [0.0, 500.0]})
    table["x"].attrs["units"] = "mm"
    table.to_netcdf(path, engine="h5netcdf")
    names = {"coords": ("x",), "fields": ("u",)}
    assert dict(read_observations(path, **names, units={"x": "1 mm"}).units)["x"] == "1 mm"
    metres = read_observations(path, **names, units={"x": "m"})
    assert (dict(metres.units)["x"], metres.points.ravel().tolist()) == ("m", [0.0, 0.5])
    said = read_columns(path, **names, units={"x": "m", "u": "degC"}).notes
    assert said == ("x converted from mm to m", "u converted from K to degC")
    with pytest.raises(
        InputError, match=r"probe\.nc: 'u' is in 'K' by the file.*'Pa'.*no multiple"
    ):
        read_observations(path, **names, units={"u": "Pa"})


def test_readings_and_domain_must_agree():
    readings = pgt.Observations.from_arrays({"x": [0.0, 1.0]}, {"u": [0, 1]}, units={"x": "mm"})
    readings.check_inside(pgt.Domain(x=(0, 1)))
    readings.check_inside(pgt.Domain(x=(0, 1), units={"x": "mm"}))
    with pytest.raises(
        InputError, match=r"'x' is in 'mm' by the readings.*'m' by the domain.*0\.001"
    ):
        readings.check_inside(pgt.Domain(x=(0, 1), units={"x": "m"}))


def test_truth_and_estimate_must_agree():
    truth = xr.Dataset({"u": ("x", [1.0, 2.0], {"units": "m/s"})}, {"x": [0.0, 1.0]})
    assert pgt.metrics.relative_l2(truth, truth.assign(u=truth.u.assign_attrs(units="m s-1")))
    other = truth.assign(u=truth.u.assign_attrs(units="km/h"))
    with pytest.raises(InputError, match=r"'u' is in 'm/s' by the truth.*'km/h'.*by 3\.6"):
        pgt.metrics.relative_l2(truth, other)
    moved = truth.assign_coords(x=truth.x.assign_attrs(units="m"))
    with pytest.raises(InputError, match="'x' is in 'm' by the truth, but in 'mm' by the estimate"):
        pgt.metrics.compare(moved, moved.assign_coords(x=truth.x.assign_attrs(units="mm")))


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


def test_points_and_field_must_agree(tmp_path):
    path = tmp_path / "points.nc"
    points = xr.Dataset({"x": ("point", [0.0, 500.0], {"units": "mm"})})
    points.to_netcdf(path, engine="h5netcdf")
    assert read_points(path, ("x",), units={"x": "mm"}).tolist() == [[0.0], [500.0]]
    assert read_points(path, ("x",), units={"x": "m"}).tolist() == [[0.0], [0.5]]
    with pytest.raises(InputError, match=r"points\.nc: 'x' is in 'mm' by the file.*'s' by `units`"):
        read_points(path, ("x",), units={"x": "s"})


@pytest.mark.parametrize("text", ["sin(x)", "2", "m/s", "2 apples", "", "1e5", "2*x", "3 - u"])
def test_other_texts_are_no_amounts(text):
    assert amount(text) is None
    with pytest.raises(InputError, match="no number with a unit"):
        in_units(text, {"x": "m"})
