"""What files hold, guessed from what they say. Axes along which readings differ. Files that say
where the sensors of others are. What the arrays in a file are called."""

import re

import instrument_files
import numpy as np
import pytest
from archive_files import ARCHIVES, NO_TABLES
from instrument_files import INSTRUMENTS
from logger_files import LOGGERS, ORIGIN, PLACED, POSITIONS, ROWS, wide, written
from program_files import CORNERS, PLANES, PROGRAMS, REFUSED
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io.survey import ARRAY_NAME_READERS, _find_sensor_table, survey

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


def test_components_of_a_velocity_are_found(tmp_path):
    path = write(tmp_path, "x [mm]\ty [mm]\tVx [m/s]\tVy [m/s]\tp\n0\t0\t1\t2\t3\n1\t1\t2\t3\t4\n")
    found = survey([path], measured=("u", "v", "p"))
    assert found.columns == {"u": "Vx [m/s]", "v": "Vy [m/s]"}
    assert found.fields == ("u", "v", "p")
    path = write(tmp_path, "x,y,X-Velocity,Velocity v,Pressure\n0,0,1,2,3\n1,1,2,3,4\n")
    assert survey([path], measured=("u", "v", "p")).unused == ()
    path = write(tmp_path, "x,t,Vx,T\n0,0,1,2\n1,1,2,3\n")
    assert survey([path], measured=("T",)).columns == {}  # who asks for no velocity gets none


def test_rows_that_are_said_to_be_invalid_are_hidden(tmp_path):
    path = write(tmp_path, "x,t,u,isValid\n0,0,1,1\n1,0,0,0\n2,0,3,1\n")
    found = survey([path])
    assert (found.fields, found.hidden) == (("u",), {"u": (1, 3)})
    assert "1 row marked as invalid hidden" in found.table.notes
    assert found.dialect == Dialect(valid="isValid")
    measured = survey([path], columns={"u": "isValid"})
    assert (measured.fields, measured.dialect) == (("u",), None)
    path = write(tmp_path, "x,t,u,CHC\n0,0,1,1\n1,0,0,-1\n2,0,3,2\n")
    assert survey([path], measured=("u",)).unused == ("CHC",)
    said = survey([path], dialect=Dialect(valid="CHC"))
    assert (said.fields, said.hidden) == (("u",), {"u": (1, 3)})


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,4\n", "no column is called x, y, z or t.*`columns="),
        ("x,t\n1,2\n3,4\n", "no column of readings"),
        (wide(PLACED, date="01/02/2024 "), "day or the month first"),
    ],
)
def test_what_cannot_be_guessed(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, text)])


ALL_survey = INSTRUMENTS | {f"{name} (program)": file for name, file in PROGRAMS.items()}
ALL_survey |= {f"{name} (archive)": file for name, file in ARCHIVES.items()}


@pytest.mark.parametrize("name", ALL_survey)
def test_files_of_instruments_are_understood_without_a_word(tmp_path, name):
    path = instrument_files.written(tmp_path, ALL_survey[name])
    found = survey([path], measured=("T",), axes=("x", "t"))
    assert (found.coords, found.fields) == (("x", "t"), ("T",))
    table = found.table
    scale = 1e-3 if table.units.get("x") == "mm" else 1.0
    times = table.values["t"] - (86340 if "midnight" in name else 0)
    rows = zip(table.values["x"] * scale, times, table.values["T"], strict=True)
    measured = sorted(tuple(row) for row in rows if not np.isnan(row[2]))
    np.testing.assert_allclose(measured, sorted(ROWS), rtol=1e-12)
    units = ALL_survey[name].units
    assert {axis: table.units.get(axis) for axis in units} == units


@pytest.mark.parametrize("name", PLANES)
def test_velocities_in_a_plane_are_understood_without_a_word(tmp_path, name):
    path = write(tmp_path, PLANES[name].content, PLANES[name].name)
    found = survey([path], measured=("u", "v"), axes=("x", "y"))
    assert (found.coords, found.fields) == (("x", "y"), ("u", "v"))
    columns = [found.table.values[each].tolist() for each in ("x", "y", "u", "v")]
    assert [*zip(*columns, strict=True)] == CORNERS
    assert found.table.units.get("x") == PLANES[name].unit


@pytest.mark.parametrize("name", REFUSED)
def test_what_must_not_be_read_is_refused_in_one_sentence(tmp_path, name):
    text, message = REFUSED[name]
    with pytest.raises(InputError, match=re.escape(message)):
        survey([write(tmp_path, text, "a.dat")], measured=("T",), axes=("x", "t"))


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_only_looks_like_a_table_is_refused_in_one_sentence(tmp_path, name):
    content, message = NO_TABLES[name]
    with pytest.raises(InputError, match=re.escape(message)):
        survey([write(tmp_path, content, "a.csv")], measured=("T",), axes=("x", "t"))


@pytest.mark.parametrize(
    ("heading", "measured", "columns"),
    [
        ("X,x,t,T", ("u",), {"u": "T"}),  # R calls the numbers of rows X
        ("Zeit [s],x,t [°C],RH", ("T",), {"t": "Zeit [s]", "T": "t [°C]"}),
        ("x,y,U,Ux,Uy", ("u", "v"), {"u": "Ux", "v": "Uy"}),
        ("x,y,Vx,Vy,V", ("u", "v"), {"u": "Vx", "v": "Vy"}),
        ("x,y,U,V,p", ("u", "v"), {"u": "U", "v": "V"}),
    ],
)
def test_letters_that_mean_two_things(tmp_path, heading, measured, columns):
    rows = "\n".join(",".join(map(str, row)) for row in ([1, 2, 3, 4, 5], [2, 3, 5, 6, 7]))
    rows = "\n".join(",".join(row.split(",")[: heading.count(",") + 1]) for row in rows.split("\n"))
    found = survey([write(tmp_path, f"{heading}\n{rows}\n", "a.csv")], measured=measured)
    assert found.columns == columns


def test_the_table_of_sensors_names_columns_or_files_of_the_others(tmp_path):
    log, places = (
        write(tmp_path, wide("Time;TC1;TC2"), "log.csv"),
        write(tmp_path, POSITIONS, "p.csv"),
    )
    alone = write(tmp_path, "t,T\n0,1\n1,2\n", "TC1.csv")
    assert _find_sensor_table([log, places], Dialect()) == places
    assert _find_sensor_table([alone, places], Dialect()) == places
    assert _find_sensor_table([places], Dialect()) is None
    assert _find_sensor_table([alone, log], Dialect()) is None


@pytest.mark.parametrize("ending", sorted(ARRAY_NAME_READERS))
def test_broken_files_are_one_message(tmp_path, capfd, ending):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(InputError, match=r"a file of arrays|not a MATLAB file|NetCDF"):
        survey([path])
    assert capfd.readouterr().err == ""
