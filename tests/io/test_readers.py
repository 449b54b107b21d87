import contextlib
import datetime
import os
import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.io
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pgt.ground.errors import InputError
from pgt.io import columns, read_field, read_observations, read_points

NAN = float("nan")
X, T = [0.5, 0.25, 0.75], [0.0, 1.0, 2.0]
U = [1.5, NAN, -3e-2]


def write(folder, content, name="sensors.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, coords=("x", "t"), fields=("u",), **options):
    return read_observations(path, coords=coords, fields=fields, **options)


def check(readings):
    """The three readings that every format of these tests holds."""
    assert (readings.coords, readings.fields) == (("x", "t"), ("u",))
    np.testing.assert_array_equal(readings.points, np.stack([X, T], axis=1))
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False, True])
    np.testing.assert_array_equal(readings.values[:, 0], [1.5, 0, -3e-2])


# --- text ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x,t,u\n0.5,0,1.5\n0.25,1,\n0.75,2,-3e-2\n",
        "t;note;u;x\n0;a,b;1.5;.5\n1;;NA;0.25\n2;;-0.03;0.75",
        "x\tt\tu\r\n0.5\t0\t1.5\r\n0.25\t1\tnan\r\n0.75\t2\t-.03\r\n",
        "  x   t u\n0.5 0 1.5\n 0.25 1 null\n0.75 2 -0.03\n",
        "\ufeffx,t,u\r0.5,0,1.5\r0.25,1,N/A\r0.75,2,-0.03\r",
        '# from the lab\n\n x , "t", u \n"0.5", 0,1.5\n# half time\n0.25,1,None\n0.75,2,-0.03\n',
        ",x,t,u\n0,0.5,0,1.5\n1,0.25,1,\n2,0.75,2,-0.03\n",
        'x;t;"u; raw, in K";u\n0.5;0;1;1.5\n0.25;1;1;NaN\n0.75;2;1;-0.03\n',
        "x\tt\tu, m/s\tu\n0.5\t0\t1\t1.5\n0.25\t1\t1\t\n0.75\t2\t1\t-0.03\n",
    ],
)
def test_text_tables(tmp_path, text):
    check(read(write(tmp_path, text)))


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


BROKEN = {
    "empty file": ("", "is empty"),
    "only comments": ("# nothing\n\n", "is empty"),
    "heading only": ("x,t,u\n", "line 1 is the heading, and no row follows"),
    "no heading": ("0,1,2\n0,2,3\n", "line 1 holds numbers where the column names"),
    "commented heading": ("# x,t,u\n0,1,2\n", "line 2 holds numbers.*without #"),
    "text in numbers": ("x,t,u\n0,1,2\n\n0,2,warm\n", "line 4, column 'u': 'warm' is not a number"),
    "text in coordinates": ("x,t,u\nleft,1,2\n", "line 2, column 'x': 'left'"),
    "missing coordinate": ("# c\nx,t,u\n0,1,2\n,1,3\n", "coordinate 'x', line 4, is nan"),
    "wrong separator": ("x|t|u\n0|1|2\n", r"no column 'x'.*Known: x\|t\|u"),
    "other separator in the rows": (
        "x,t,u\n0;1;2\n",
        "line 2 has 1 cell.*has 3, separated by comma",
    ),
    "mixed separators": ("x,t;u\n0,1;2\n", "commas and semicolons"),
    "decimal commas": ("x;t;u\n0;1;2,5\n", "'2,5' is not a number. Write a decimal point: 2.5"),
    "decimal commas split": ("x,t,u\n0,5,1,2,3,5\n", "line 2 has 6 cell.*decimal commas"),
    "too few cells": ("x,t,u\n0,1,2\n0,2\n", "line 3 has 2 cell"),
    "column twice": ("x,t,u,u\n0,1,2,3\n", "two columns are named 'u'"),
    "missing column": ("x,time,u\n0,1,2\n", "no column 't'.*Known: x, time, u"),
    "close name": ("x,t,u_\n0,1,2\n", "Did you mean 'u_'.*columns ="),
    "NaN everywhere": ("x,t,u\n0,1,NaN\n0,2,\n", "every value"),
    "infinite": ("x,t,u\n0,1,inf\n", "field 'u', line 2, is infinite"),
    "too large": ("x,t,u\n0,1,1e999\n", "line 2, is infinite"),
    "duplicate rows": ("x,t,u\n0,1,2\n1,1,2\n# again\n0,1,2\n", "lines 2 and 5 both measure 'u'"),
    "underscore": ("x,t,u\n0,1,1_000\n", "'1_000' is not a number"),
    "foreign digits": ("x,t,u\n0,1,１２\n", "is not a number"),
    "open quotation mark": ('x,t,u\n0,1,"2\n0,2,3\n', "line 2: the quotation marks"),
    "marks inside a cell": ('x,t,u\n0,1,2"5"\n', "column 'u'"),
    "cell over two lines": ('x,t,u,note\n0,1,2,a"b,"c\n0,2,3,d"\n', "line 2"),
    "nul": ("x,t,u\n0,1,2\x00\n", "line 2, column 'u'"),
    "long text": ("x,t,u\n0,1," + "z" * 10**5 + "\n", "z{40}…' is not a number"),
    "latin-1": ("x,t,u\n0,1,2\n0,2,°\n".encode("latin-1"), "line 3 is not UTF-8.*0xb0"),
    "utf-16": ("x,t,u\n0,1,2\n".encode("utf-16"), "UTF-16; save the file as UTF-8"),
    "binary": (bytes(range(256)), "sensors.csv: "),
    "negative noise": ("x,t,u,s\n0,1,2,-1\n", "`noise` of 'u', line 2, is -1"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_tables(tmp_path, case):
    content, message = BROKEN[case]
    path = write(tmp_path, content)
    noise = {"u": "s"} if "noise" in case else None
    with pytest.raises(InputError, match=message) as caught:
        read(path, noise=noise)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"X": "x"}}, "`columns` names 'X'.*equation's name first"),
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


def test_broken_paths(tmp_path):
    path = write(tmp_path, "x,t,u\n0,1,2\n")
    with pytest.raises(InputError, match=r"no such file. In the same folder: sensors.csv"):
        read(tmp_path / "sensor.csv")
    with pytest.raises(InputError, match="Not even the folder"):
        read(tmp_path / "nowhere" / "sensors.csv")
    with pytest.raises(InputError, match="this is a folder"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"ending '.xlsx' is unknown; known are .*\.csv, .*\.nc"):
        read(path.rename(tmp_path / "sensors.xlsx"))
    with pytest.raises(InputError, match="has no ending"):
        read(write(tmp_path, "", "sensors"))
    with pytest.raises(InputError, match=r"the system refuses \(File name too long\)"):
        read(tmp_path / ("s" * 300 + ".csv"))
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "a\0.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="not an ordinary file"):
        read(tmp_path / "pipe.csv")


def test_duplicates_may_be_averaged(tmp_path):
    readings = read(write(tmp_path, "x,t,u\n0,1,2\n0,1,4\n"), duplicates="mean")
    np.testing.assert_array_equal(readings.values, [[3.0]])


def test_many_rows(tmp_path, monkeypatch):
    table = np.random.default_rng(0).uniform(size=(5000, 3))
    path = tmp_path / "many.csv"
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="x,t,u", comments="")
    readings = read(path)
    np.testing.assert_array_equal(np.hstack([readings.points, readings.values]), table)
    monkeypatch.setattr(columns, "MOST_ROWS", 4999)
    with pytest.raises(InputError, match="at most 4,999"):
        read(path)


def test_a_file_that_must_not_be_read(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, VALID)
    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(InputError, match=r"sensors.csv: the system refuses \(Permission denied\)"):
        read(path)


def test_points(tmp_path):
    path = write(tmp_path, "t,X\n0,1\n2,3\n2,3\n")
    points = read_points(path, ("x", "t"), columns={"x": "X"})
    np.testing.assert_array_equal(points, [[1, 0], [3, 2], [3, 2]])
    np.testing.assert_array_equal(read_points(write(tmp_path, "x\n1\n2\n"), "x"), [[1], [2]])
    with pytest.raises(InputError, match="coordinate 'x', line 3, is nan"):
        read_points(write(tmp_path, "x,t\n1,2\nNA,2\n"), ("x", "t"))


# --- mutations of a valid file ------------------------------------------------

VALID = b"x,t,u,note\n0.5,0.25,1.5,a\n0.125,1e-1,,b\n-3,2.5,NaN,\n7,8,9,d\n"
ALPHABET = b'0123456789.,;\t\n\r eE+-_"#xtuNa\x00\xff\xc3\xa9|'


def mutated(rng):
    data = bytearray(VALID)
    for _ in range(rng.integers(1, 4)):
        start = int(rng.integers(len(data) + 1))
        stop = start + int(rng.integers(0, 4))
        kind = rng.integers(4)
        if kind == 0:
            del data[start:stop]
        elif kind == 1:
            data[start:stop] = rng.choice(bytearray(ALPHABET), size=rng.integers(1, 4)).tobytes()
        elif kind == 2:
            data[start:start] = data[stop : stop + 8]
        else:
            del data[max(start, 12) :]
    return bytes(data)


def plainly_read(data):
    """x, t, u of a comma-separated file, without a single check; None where quotes occur."""
    text = data.decode("utf-8-sig")
    lines = [s.strip("\n") for s in re.split("\r\n|\r|\n", text)]
    rows = [line.split(",") for line in lines if line.strip() and line.strip()[0] != "#"]
    names = [cell.strip() for cell in rows[0]]
    if '"' in text or not {"x", "t", "u"} <= set(names):
        return None
    table = [[row[names.index(name)].strip() for name in "xtu"] for row in rows[1:]]
    hidden = ("", "na", "nan", "n/a", "null", "none")
    return [[NAN if c.lower() in hidden else float(c) for c in row] for row in table]


def test_thousands_of_mutations_are_read_rightly_or_refused(tmp_path):
    rng, accepted = np.random.default_rng(4), 0
    for _ in range(3000):
        path = write(tmp_path, data := mutated(rng))
        try:
            readings = read(path)
        except InputError:
            continue
        expected = plainly_read(data)
        if expected is not None:
            accepted += 1
            values = np.where(readings.mask, readings.values, NAN)
            np.testing.assert_array_equal(np.hstack([readings.points, values]), expected)
    assert 300 < accepted < 2500


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


def write_npz(path):
    np.savez_compressed(path, x=X, t=T, u=np.array([U]), other=np.zeros((4, 4)))


def write_mat(path):
    scipy.io.savemat(path, {"x": X, "t": np.array([T]).T, "u": U, "note": "text"})


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


def test_a_file_that_is_not_what_its_name_says(tmp_path):
    for suffix in WRITERS:
        with pytest.raises(InputError, match=r"NetCDF|NPZ|MAT|Parquet"):
            read(write(tmp_path, VALID, f"table{suffix}"))


def test_parquet_with_text_or_dates(tmp_path):
    path = tmp_path / "table.parquet"
    for values, kind in ((["a"], "string"), ([datetime.date(2020, 1, 1)], "date")):
        pyarrow.parquet.write_table(pyarrow.table({"x": [0.0], "t": [1.0], "u": values}), path)
        with pytest.raises(InputError, match=f"column 'u' holds {kind}"):
            read(path)


def test_pickles_are_never_loaded(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, x=X, t=T, u=np.array([{}, 1, 2], dtype=object))
    with pytest.raises(InputError, match="could not be read as NPZ"):
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


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X, "t": T, "u": [1.0, 2.0]}, r"do not fit together: x \(3,\)"),
        ({"x": X, "t": T, "u": np.zeros((3, 3))}, "same length .*meshgrid"),
        ({"x": X, "t": T[:2], "u": np.zeros((3, 4))}, "do not fit together"),
        ({"x": X, "t": T, "u": [1j, 2, 3]}, "complex"),
        ({"x": X, "t": T, "u": ["a", "b", "c"]}, "'a' is not a number"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.npz")


def test_matlab_oddities(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"x": X, "t": 2.0, "u": U, "s": {"a": 1}})
    np.testing.assert_array_equal(read(path).points[:, 1], 2.0)  # one number holds for all
    with pytest.raises(InputError, match="'s' is not an array of real numbers"):
        read(path, fields=("s",))
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    with pytest.raises(InputError, match=r"MATLAB 7.3"):
        read(write(tmp_path, header, "b.mat"))


@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_damaged_archives(tmp_path, suffix):
    path, rng = tmp_path / f"a{suffix}", np.random.default_rng(0)
    WRITERS[suffix](path)
    whole = path.read_bytes()
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(len(data), size=2):
            data[place] = rng.integers(256)
        with contextlib.suppress(InputError):
            assert len(read(write(tmp_path, bytes(data), path.name)))


def test_netcdf_dimensions(tmp_path):
    path = tmp_path / "a.nc"
    dataset = xr.Dataset({"u": (("x", "depth"), [[1.0], [2.0]])}, {"x": [0.0, 1.0]})
    dataset.to_netcdf(path, engine="h5netcdf")
    assert len(read(path, coords=("x",))) == 2  # a dimension of length 1 is no dimension
    xr.concat([dataset, dataset], "depth").to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match="dimension 'depth' \\(2 entries\\)"):
        read(path, coords=("x",))
    with pytest.raises(InputError, match="no column 'depth'"):  # its values are nowhere given
        read(path, coords=("x", "t"), columns={"t": "depth"})


def test_dates_stay_numbers(tmp_path):
    path = tmp_path / "a.nc"
    times = {"units": "hours since 2020-01-01"}
    xr.Dataset({"u": ("t", [1.0, 2.0])}, {"t": ("t", [0.0, 6.0], times)}).to_netcdf(
        path, engine="h5netcdf"
    )
    readings = read(path, coords=("t",))
    np.testing.assert_array_equal(readings.points[:, 0], [0, 6])
    assert dict(readings.units)["t"] == times["units"]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (xr.Dataset({}, {"x": [0.0]}), "no field"),
        (xr.Dataset({"u": (("x", "member"), [[1.0]])}, {"x": [0.0]}), "dimension 'member'"),
        (xr.Dataset({"u": ("x", [1.0])}), "dimension 'x'"),
        (xr.Dataset({"u": ("x", ["a"])}, {"x": [0.0]}), "not numbers"),
        (xr.Dataset({"u": ("x", [1.0])}, {"x": [NAN]}), "coordinate 'x' is not finite"),
    ],
)
def test_fields_that_are_none(tmp_path, dataset, message):
    dataset.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=message):
        read_field(tmp_path / "a.nc")
    with pytest.raises(InputError, match=r"'\.csv' is unknown"):
        read_field(write(tmp_path, "x,u\n1,2\n"))
