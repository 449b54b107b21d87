"""A table of sensors and their positions."""

import pytest
from sensor_files import write

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.cells import read_sensors
from pgt.io.survey import survey


def test_names_and_positions(tmp_path):
    path = write(tmp_path, "Sensor;X [mm];y\nTC 1;0,5;1\n2;3,5;2\n")
    assert read_sensors(path, Dialect()) == {
        "TC 1": {"x": (0.5, "mm"), "y": (1.0, None)},
        "2": {"x": (3.5, "mm"), "y": (2.0, None)},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,4\n", "has a column of names, such as 'sensor'.*this one has 'a', 'b'"),
        ("sensor,x\nA,1\nA,2\n", "line 3: the sensor 'A' stands here twice"),
        ("sensor,x\nB,2\nA,left\n", "line 3, column 'x': 'left' is not a number"),
    ],
)
def test_tables_of_something_else(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_sensors(write(tmp_path, text), Dialect())


def test_a_distance_lies_along_the_only_axis_that_is_asked_for(tmp_path):
    log = write(tmp_path, "t,TC1,TC2\n0,20,21\n1,22,23\n", "log.csv")
    for heading in ("Channel;Distance [mm]", "tc;depth_mm", "Sensor name;Position (mm)"):
        places = write(tmp_path, f"{heading}\nTC1;100\nTC2;500\n", "places.csv")
        found = survey([log, places], measured=("T",), axes=("x", "t"))
        assert found.coords == ("x", "t")
        assert (found.bounds["x"], found.table.units["x"]) == ((100, 500), "mm")


def test_a_sensor_without_a_position_is_named(tmp_path):
    log = write(tmp_path, "t,TC1,TC2\n0,20,21\n1,22,23\n", "log.csv")
    places = write(tmp_path, "sensor,x\nTC1,0.1\nTC2,\n", "places.csv")
    with pytest.raises(InputError, match="'TC2' does not say where its sensor is along 'x'"):
        survey([log, places], measured=("T",), axes=("x", "t"))


def test_a_table_of_sensors_that_are_called_differently_is_said(tmp_path):
    log = write(tmp_path, "t,tc1,tc2\n0,20,21\n1,22,23\n", "log.csv")
    places = write(tmp_path, "sensor,x\nTC1,0.1\nTC2,0.5\n", "places.csv")
    with pytest.raises(InputError, match=r"looks like a table of sensors.*Write the names alike"):
        survey([log, places], measured=("T",), axes=("x", "t"))


def test_names_of_places_are_no_axis(tmp_path):
    log = write(tmp_path, "t,location,T\n0,P1,20\n0,P2,21\n", "log.csv")
    places = write(tmp_path, "name,x\nP1,0.1\nP2,0.5\n", "places.csv")
    found = survey([log, places], measured=("T",), axes=("x", "t"))
    assert (found.coords, found.bounds["x"]) == (("x", "t"), (0.1, 0.5))
