"""Tables of cells in whatever file. A table of sensors and their positions."""

import contextlib
import re

import numpy as np
import pyarrow.parquet
import pytest
import scipy.io
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from logger_files import LOGGERS, written
from sensor_files import T, U, X, check, read, write, write_mat, write_npz

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import read_columns, read_points
from pgt.io.readers import read_sensor_positions
from pgt.io.survey import survey


def test_columns_units_and_noise(tmp_path):
    path = write(tmp_path, "X [m],t,temperature,σ\n0,0,1,0.5\n1,0,2,0.25\n")
    readings = read(
        path,
        columns={"x": "X [m]", "u": "temperature"},
        units={"x": "m", "u": "K"},
        noise={"u": "σ"},
    )
    np.testing.assert_array_equal(readings.noise[:, 0], [0.5, 0.25])
    assert readings.units == (("x", "m"), ("u", "K"))
    np.testing.assert_array_equal(
        read(path, columns={"x": "X [m]", "u": "temperature"}, noise={"u": 3}).noise, 3
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"X": "x"}}, "`columns` has 'X'"),
        ({"columns": {"x": "t"}}, "'t' would be read twice"),
        ({"units": {"w": "m"}}, "`units` names 'w'"),
        ({"noise": {"u": "sigma"}}, "no column 'sigma'"),
        ({"noise": {"w": 1.0}}, "`noise` names 'w'"),
        ({"fields": ("x",)}, "'x' would be read twice|name of an axis|twice"),
        ({"coords": ("q",)}, "no column 'q'"),
        ({"fields": ()}, "`fields` is empty"),
        ({"duplicates": "drop"}, "`duplicates` is 'drop'"),
    ],
)
def test_broken_arguments(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        read(write(tmp_path, "x,t,u\n0,1,2\n"), **options)


def test_duplicates_may_be_averaged(tmp_path):
    readings = read(write(tmp_path, "x,t,u\n0,1,2\n0,1,4\n"), duplicates="mean")
    np.testing.assert_array_equal(readings.values, [[3.0]])


@given(st.binary(max_size=60), st.sampled_from([".csv", ".nc", ".npz", ".mat", ".parquet"]))
def test_garbage_is_refused_in_words(tmp_path_factory, content, suffix):
    start = {".csv": b"x,t,u\n", ".nc": b"\x89HDF\r\n\x1a\n", ".npz": b"PK\x03\x04"}
    path = write(
        tmp_path_factory.mktemp("garbage"), start.get(suffix, b"") + content, f"table{suffix}"
    )
    with contextlib.suppress(InputError):
        readings = read(path)
        assert suffix == ".csv"
        assert np.isfinite(readings.points).all()


# --- other formats ------------------------------------------------------------


def write_parquet(path):
    units = pyarrow.field("u", pyarrow.float64(), metadata={"units": "K"})
    schema = pyarrow.schema([("x", pyarrow.float32()), ("t", pyarrow.int64()), units])
    data = {"x": X, "t": [0, 1, 2], "u": [1.5, None, -3e-2]}
    pyarrow.parquet.write_table(pyarrow.table(data, schema=schema), path)


def scattered():
    return xr.Dataset(
        {"u": ("sensor", U, {"units": "K"}), "x": ("sensor", X), "name": ("sensor", list("abc"))},
        {"t": ("sensor", T, {"units": "s"})},
    )


WRITERS = {
    ".parquet": write_parquet,
    ".nc": lambda path: scattered().to_netcdf(path, engine="h5netcdf"),
    ".cdf": lambda path: scattered().drop_vars("name").to_netcdf(path, engine="scipy"),
    ".npz": write_npz,
    ".mat": write_mat,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_other_formats(tmp_path, suffix):
    path = tmp_path / f"sensors{suffix}"
    WRITERS[suffix](path)
    readings = read(path)
    check(readings)
    units = {".parquet": {"u": "K"}, ".nc": {"t": "s", "u": "K"}, ".cdf": {"t": "s", "u": "K"}}
    assert dict(readings.units) == units.get(suffix, {})
    assert dict(read(path, units={"u": "kelvin"}).units)["u"] == "kelvin"
    np.testing.assert_array_equal(read_points(path, ("t", "x")), np.stack([T, X], axis=1))
    with pytest.raises(InputError, match=r"no column 'w'.*Known: "):
        read(path, fields=("w",))


@pytest.mark.parametrize("suffix", WRITERS)
def test_truncated_files(tmp_path, suffix):
    path = tmp_path / f"sensors{suffix}"
    WRITERS[suffix](path)
    whole = path.read_bytes()
    for length in (0, 3, 10, len(whole) // 3, len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=re.escape(str(path))):
            read(path)


GRID = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".nc"])
@pytest.mark.parametrize("layout", ["grid", "turned", "mesh"])
def test_gridded_arrays(tmp_path, suffix, layout):
    path = tmp_path / f"grid{suffix}"
    x, t = np.array([0.0, 1, 2]), np.array([5.0, 6])
    mesh = np.meshgrid(x, t, indexing="ij")
    arrays = {
        "grid": {"x": (("i",), x), "t": (("j",), t), "u": (("i", "j"), GRID)},
        "turned": {"x": (("i",), x), "t": (("j",), t), "u": (("j", "i"), GRID.T)},
        "mesh": {"x": (("i", "j"), mesh[0]), "t": (("i", "j"), mesh[1]), "u": (("i", "j"), GRID)},
    }[layout]
    plain = {name: array for name, (_, array) in arrays.items()}
    if suffix == ".npz":
        np.savez(path, **plain)
    elif suffix == ".mat":
        scipy.io.savemat(path, plain)
    else:
        xr.Dataset(arrays).to_netcdf(path, engine="h5netcdf")
    readings = read(path)
    table = {tuple(p): v for p, v in zip(readings.points, readings.values[:, 0], strict=True)}
    assert table == {(i, 5.0 + j): GRID[i, j] for i in range(3) for j in range(2)}


# --- as loggers write them ----------------------------------------------------


def read_logger(folder, file):
    options = dict(file.options)
    if "dialect" in options:
        options["dialect"] = Dialect(**options["dialect"])
    if "sensors" in options:
        options["sensors"] = folder / options["sensors"]
    paths = written(folder, file)
    files = paths if len(paths) > 1 else paths[0]
    return read_columns(files, coords=("x", "t"), fields=("T",), **options)


@pytest.mark.parametrize("name", LOGGERS)
def test_files_as_loggers_write_them(tmp_path, name):
    file = LOGGERS[name]
    if file.message:
        with pytest.raises(InputError, match=file.message) as caught:
            read_logger(tmp_path, file)
        assert str(caught.value).startswith(str(tmp_path))
        return
    found = read_logger(tmp_path, file)
    rows = np.stack([found.values[name] for name in ("x", "t", "T")], axis=1)
    np.testing.assert_allclose(rows, file.rows, rtol=1e-14)
    assert ", ".join(found.notes) == file.said
    assert (found.units, found.origin) == (file.units, file.origin)


PIECES = st.sampled_from(
    [b"x", b"t", b"T", b"TC1 (x=0.1 m)", b"T@x=0,5", b"[m]", b"0,5", b"1.234", b"-9999", b"OVER", b"",
     b"2024-03-12 10:00", b"01/02/2024", b"10:00:00", b"Zeit", b"\xb0C", b'"', b"#", b"\x00", b"1e999"]
)  # fmt: skip
LINES = st.lists(st.lists(PIECES, min_size=1, max_size=4), max_size=6)


@given(LINES, st.sampled_from([b";", b",", b"\t", b" ", b";;"]), st.sampled_from(["", "utf-16"]))
def test_whatever_a_logger_writes_is_read_or_refused_in_words(
    tmp_path_factory, rows, mark, encoding
):
    content = b"\n".join(mark.join(row) for row in rows)
    if encoding:
        content = content.decode("latin-1").encode(encoding)
    path = write(tmp_path_factory.mktemp("logger"), content)
    for look in (
        lambda: read_columns(path, coords=("x", "t"), fields=("T",)).values,
        lambda: read_columns(path, coords=("x", "t"), fields=("T",), sensors=path).values,
        lambda: survey([path]).bounds,
    ):
        with contextlib.suppress(InputError):
            assert look()


def test_axes_that_are_read_from_angles_are_warned_of(tmp_path):
    path = tmp_path / "river.csv"
    path.write_text("lon,lat,u\n7.1,50.1,1\n7.2,50.2,2\n")
    with pytest.warns(UserWarning, match=r"Angles such as 'lon' are no lengths: write distances"):
        read_columns(path, coords=("x", "y"), fields=("u",), columns={"x": "lon", "y": "lat"})


def test_names_and_positions(tmp_path):
    path = write(tmp_path, "Sensor;X [mm];y\nTC 1;0,5;1\n2;3,5;2\n")
    assert read_sensor_positions(path, Dialect()) == {
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
        read_sensor_positions(write(tmp_path, text), Dialect())


def test_a_sensor_without_a_position_is_named(tmp_path):
    log = write(tmp_path, "t,TC1,TC2\n0,20,21\n1,22,23\n", "log.csv")
    places = write(tmp_path, "sensor,x\nTC1,0.1\nTC2,\n", "places.csv")
    with pytest.raises(InputError, match=r"column 'TC2' .* along 'x'"):
        survey([log, places], measured=("T",), axes=("x", "t"))


def test_a_table_of_sensors_that_are_called_differently_is_said(tmp_path):
    log = write(tmp_path, "t,tc1,tc2\n0,20,21\n1,22,23\n", "log.csv")
    places = write(tmp_path, "sensor,x\nTC1,0.1\nTC2,0.5\n", "places.csv")
    with pytest.raises(InputError, match=r"looks like a table of sensors.*Write the names alike"):
        survey([log, places], measured=("T",), axes=("x", "t"))
