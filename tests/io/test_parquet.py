""""""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from sensor_files import read

from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.survey import survey


def test_parquet_with_text_or_dates(tmp_path):
    path = tmp_path / "table.parquet"
    messages = {"'a' is not a number": ["a"], "column 'u' holds date": [datetime.date(2020, 1, 1)]}
    for message, values in messages.items():
        pyarrow.parquet.write_table(pyarrow.table({"x": [0.0], "t": [1.0], "u": values}), path)
        with pytest.raises(InputError, match=message):
            read(path)


def test_parquet_with_decimals_and_whole_numbers(tmp_path):
    path = tmp_path / "table.parquet"
    table = {"x": [1, 2], "t": [0.5, 1.5], "u": [decimal.Decimal("2.25"), None]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    readings = read(path)
    np.testing.assert_array_equal(readings.points, [[1, 0.5], [2, 1.5]])
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False])
    assert readings.values[0, 0] == 2.25


def test_moments_of_any_kind_are_times(tmp_path):
    path, day = tmp_path / "table.parquet", datetime.datetime(2024, 3, 12, 10)
    zone = datetime.timezone(datetime.timedelta(hours=1))
    local = [day.replace(tzinfo=zone), (day + datetime.timedelta(hours=1)).replace(tzinfo=zone)]
    dates = [day.date(), day.date() + datetime.timedelta(days=1)]
    lengths = [datetime.timedelta(0), datetime.timedelta(minutes=2)]
    for times, step, origin in (
        (local, 3600.0, "2024-03-12T09:00:00"), (dates, 86400.0, "2024-03-12"), (lengths, 120.0, None),
    ):  # fmt: skip
        pyarrow.parquet.write_table(
            pyarrow.table({"x": [0.0, 0.0], "t": times, "u": [1.0, 2.0]}), path
        )
        found = read_columns(path, coords=("x", "t"), fields=("u",))
        assert (found.values["t"].tolist(), found.origin.get("t")) == ([0.0, step], origin)


def test_a_table_without_rows_is_refused(tmp_path):
    path = tmp_path / "empty.parquet"
    pd.DataFrame({"t": [], "x": [], "T": []}).to_parquet(path)
    with pytest.raises(InputError, match="no rows"):
        survey([path])
