"""What files hold, guessed from what they say."""

import numpy as np
import pytest
from logger_files import LOGGERS, ORIGIN, PLACED, POSITIONS, wide, written
from sensor_files import write, write_mat, write_npz

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.survey import survey

READ = [name for name, file in LOGGERS.items() if not file.message]


@pytest.mark.parametrize("name", READ)
def test_logger_files_are_understood_without_a_word(tmp_path, name):
    file = LOGGERS[name]
    files = written(tmp_path, file) + [tmp_path / "positions.csv"] * ("positions.csv" in file.files)
    dialect = Dialect(**file.options["dialect"]) if "dialect" in file.options else None
    found = survey(files, dialect=dialect)
    assert (found.coords, len(found.fields)) == (("x", "t"), 1)
    bounds = found.bounds
    scale = {"units in the name": (1e3, 1 / 60), "minutes since a moment": (1, 1 / 60)}
    x, t = scale.get(name, (1, 1))
    assert bounds["x"] == pytest.approx((0.1 * x, 0.5 * x))
    assert bounds["t"] == pytest.approx((0.0, 120.0 * t))
    assert found.repeated == 0


def test_fields_of_an_equation_are_found(tmp_path):
    path = write(tmp_path, "x;t;T [°C];V;battery\n0,5;0;20;1;9\n0,7;0;21;2;9\n")
    assert survey([path], measured=("u",)).columns == {"u": "T [°C]"}
    found = survey([path], measured=("v", "T"))
    assert (found.fields, found.columns) == (("v", "T"), {"v": "V", "T": "T [°C]"})
    assert found.unused == ("battery",)
    assert survey([path]).fields == ("T", "V", "battery")
    assert survey([path], columns={"u": "battery"}).fields == ("u",)


def test_what_is_hidden_and_repeated_is_counted(tmp_path):
    path = write(tmp_path, "x,t,u\n0,0,1\n0,0,2\n1,0,-9999\n1,0,3\n2,0,\n")
    found = survey([path])
    assert (found.repeated, found.hidden) == (1, {"u": (2, 5)})
    assert found.bounds == {"x": (0.0, 2.0), "t": (0.0, 1.0)}


def test_the_table_of_sensors_is_known_among_the_files(tmp_path):
    log, places = (
        write(tmp_path, wide("Time;TC1;TC2"), "log.csv"),
        write(tmp_path, POSITIONS, "p.csv"),
    )
    found = survey([log, places], measured=("T",))
    assert (found.sensors, found.files, found.fields) == (places, (log,), ("T",))
    assert found.table.origin == ORIGIN
    alone = survey([log])
    assert (alone.coords, alone.lacks_places) == (("t",), True)


def test_arrays_have_names_too(tmp_path):
    write_npz(tmp_path / "a.npz")
    write_mat(tmp_path / "a.mat")
    for name in ("a.npz", "a.mat"):
        found = survey([tmp_path / name], measured=("u",))
        assert (found.coords, found.fields) == (("x", "t"), ("u",))
        np.testing.assert_array_equal(found.bounds["x"], (0.25, 0.75))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,4\n", "no column is called x, y, z or t.*`columns="),
        ("x,t\n1,2\n3,4\n", "no column of readings beside the coordinates"),
        (wide(PLACED, date="01/02/2024 "), "day or the month first"),
    ],
)
def test_what_cannot_be_guessed(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, text)])
