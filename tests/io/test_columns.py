import numpy as np
import pytest
from sensor_files import read

from pgt.ground.errors import InputError
from pgt.io import columns


def test_many_rows(tmp_path, monkeypatch):
    table = np.random.default_rng(0).uniform(size=(5000, 3))
    path = tmp_path / "many.csv"
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="x,t,u", comments="")
    readings = read(path)
    np.testing.assert_array_equal(np.hstack([readings.points, readings.values]), table)
    monkeypatch.setattr(columns, "MOST_ROWS", 4999)
    with pytest.raises(InputError, match="at most 4,999"):
        read(path)


def test_the_first_column_that_is_missing_is_named():
    columns.check_present(("x", "t"), iter(["t", "u", "x"]))
    with pytest.raises(
        InputError, match=r"no column 'q'.*`columns=\{\"q\": \"name in the file\"\}"
    ):
        columns.check_present(("x", "q", "r"), ("x", "u"))


def test_as_many_rows_as_are_allowed_are_read():
    columns.check_count(columns.MOST_ROWS)
    with pytest.raises(InputError, match="20,000,001 rows or more"):
        columns.check_count(columns.MOST_ROWS + 1)
