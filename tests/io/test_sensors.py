"""A table of sensors and their positions."""

import pytest
from sensor_files import write

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.cells import read_sensors


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
