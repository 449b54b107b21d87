"""Columns of arrays: numbers, or dates, also as text. Suspects by the names of their sensors and
the lines of their files."""

import numpy as np
import pandas as pd
import pytest
from sensor_files import read

from pgt.core.errors import InputError
from pgt.io import columns, read_columns
from pgt.io.columns import Columns, add_sensor_and_line, as_numbers_or_dates


def test_many_rows(tmp_path, monkeypatch):
    table = np.random.default_rng(0).uniform(size=(5000, 3))
    path = tmp_path / "many.csv"
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="x,t,u", comments="")
    readings = read(path)
    np.testing.assert_array_equal(np.hstack([readings.points, readings.values]), table)
    monkeypatch.setattr(columns, "MAX_ROWS", 4999)
    with pytest.raises(InputError, match="at most 4,999"):
        read(path)


def test_the_first_column_that_is_missing_is_named():
    columns.check_present(("x", "t"), iter(["t", "u", "x"]))
    with pytest.raises(
        InputError, match=r"no column 'q'.*`columns=\{\"q\": \"name in the file\"\}"
    ):
        columns.check_present(("x", "q", "r"), ("x", "u"))


def test_as_many_rows_as_are_allowed_are_read():
    columns.check_row_count(columns.MAX_ROWS)
    with pytest.raises(InputError, match="20,000,001 rows or more"):
        columns.check_row_count(columns.MAX_ROWS + 1)


MOMENTS = np.array(["2024-03-12T10:00", "NaT"], "datetime64[us]")


@pytest.mark.parametrize(
    "column",
    [
        np.array(["2024-03-12 10:00", ""]),
        np.array([b"2024-03-12 10:00", b""]),
        np.array(["2024-03-12 10:00", None], object),
        MOMENTS.astype("datetime64[s]"),
    ],
)
def test_dates_are_dates_however_they_are_kept(column):
    np.testing.assert_array_equal(as_numbers_or_dates("t", column), MOMENTS)


def test_numbers_stay_numbers_of_their_shape():
    found = as_numbers_or_dates("T", np.array([["1.5", "2"], ["3", "4"]], object))
    assert found.tolist() == [[1.5, 2], [3, 4]]
    assert as_numbers_or_dates("T", np.arange(3)).tolist() == [0, 1, 2]


def test_other_text_is_refused():
    with pytest.raises(InputError, match="'left' is not a number"):
        as_numbers_or_dates("x", np.array(["left", "right"]))


WIDE = "t;TC1@x=0.1;TC2@x=0.5\n0;20.5;21.0\n60;20.7;21.5\n120;20.9;21.9\n"


def wide(tmp_path):
    (tmp_path / "wide.csv").write_text(WIDE)
    return read_columns(
        tmp_path / "wide.csv", coords=("x", "t"), fields=("T",), columns={"T": "TC*"}
    )


def test_a_reading_of_a_wide_table_has_the_heading_of_its_column(tmp_path):
    rows = pd.DataFrame({"x": [0.5], "t": [60.0], "field": ["T"], "reading": [21.5]})
    found = add_sensor_and_line(rows, wide(tmp_path), ("x", "t"))
    assert found[["sensor", "line"]].iloc[0].tolist() == ["TC2@x=0.5", "3"]


def test_a_sensor_has_a_name_but_no_line(tmp_path):
    found = add_sensor_and_line(
        pd.DataFrame({"x": [0.1], "field": ["T"]}), wide(tmp_path), ("x", "t")
    )
    assert found["sensor"].tolist() == ["TC1@x=0.1"]
    assert "line" not in found


def test_of_several_files_each_is_a_sensor(tmp_path):
    for name, x in (("a", 0.1), ("b", 0.7)):
        (tmp_path / f"{name}.csv").write_text(f"x,t,T\n{x},0,20\n{x},1,21\n")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    columns = read_columns(files, coords=("x", "t"), fields=("T",))
    rows = pd.DataFrame({"x": [0.7], "t": [1.0], "field": ["T"], "reading": [21.0]})
    found = add_sensor_and_line(rows, columns, ("x", "t"))
    assert found[["sensor", "line"]].iloc[0].tolist() == ["b", "3 of b.csv"]


def test_sensors_named_in_a_column_keep_their_names(tmp_path):
    (tmp_path / "long.csv").write_text("probe,t,T\nP1,0,20\nP2,0,21\nP1,1,22\n")
    (tmp_path / "places.csv").write_text("probe,x\nP1,0.1\nP2,0.7\n")
    columns = read_columns(
        tmp_path / "long.csv", coords=("x", "t"), fields=("T",), sensors=tmp_path / "places.csv"
    )
    assert columns.sensors is not None
    assert columns.sensors.tolist() == ["P1", "P2", "P1"]


def test_what_was_read_there_tells_two_readings_of_a_place_apart():
    here = {"x": np.array([0.1, 0.1]), "u": np.array([1.0, 2.0])}
    columns = Columns(here, lines=np.array([2, 3]))
    rows = pd.DataFrame({"x": [0.1] * 3, "field": ["u"] * 3, "reading": [2.0, 1.0, 1.5]})
    assert add_sensor_and_line(rows, columns, ("x",))["line"].tolist() == [
        "3",
        "2",
        "2",
    ]  # the mean: the first


def test_what_is_in_no_file_stays_as_it_is():
    columns = Columns({"x": np.array([0.1])}, lines=np.array([2]))
    assert add_sensor_and_line(pd.DataFrame({"x": [0.4]}), columns, ("x",))["line"].tolist() == [""]
    assert "line" not in add_sensor_and_line(pd.DataFrame({"x": []}), columns, ("x",))
    bare = Columns({"x": np.array([0.1])})
    assert list(add_sensor_and_line(pd.DataFrame({"x": [0.1]}), bare, ("x",))) == ["x"]
