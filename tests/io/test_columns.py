"""Columns of arrays: numbers, or dates, also as text. Suspects by the names of their sensors and
the lines of their files."""

import numpy as np
import pandas as pd
import pytest

from pgt.core.errors import InputError
from pgt.io import columns, read_columns
from pgt.io.columns import add_sensor_and_line, as_numbers_or_dates


def test_the_first_column_that_is_missing_is_named():
    columns.check_present(("x", "t"), iter(["t", "u", "x"]))
    with pytest.raises(
        InputError, match=r"no column 'q'.*`columns=\{\"q\": \"name in the file\"\}"
    ):
        columns.check_present(("x", "q", "r"), ("x", "u"))


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


def test_other_text_is_refused():
    with pytest.raises(InputError, match="'left' is not a number"):
        as_numbers_or_dates("x", np.array(["left", "right"]))


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
