import datetime
import decimal

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from sensor_files import read

from pgt.ground.errors import InputError


def test_parquet_with_text_or_dates(tmp_path):
    path = tmp_path / "table.parquet"
    for values, kind in ((["a"], "string"), ([datetime.date(2020, 1, 1)], "date")):
        pyarrow.parquet.write_table(pyarrow.table({"x": [0.0], "t": [1.0], "u": values}), path)
        with pytest.raises(InputError, match=f"column 'u' holds {kind}"):
            read(path)


def test_parquet_with_a_column_twice(tmp_path):
    path = tmp_path / "table.parquet"
    twice = pyarrow.Table.from_arrays([pyarrow.array([1.0])] * 3, names=["x", "u", "u"])
    pyarrow.parquet.write_table(twice, path)
    with pytest.raises(InputError, match="two columns are named 'u'"):
        read(path, coords=("x",))


def test_parquet_with_decimals_and_whole_numbers(tmp_path):
    path = tmp_path / "table.parquet"
    table = {"x": [1, 2], "t": [0.5, 1.5], "u": [decimal.Decimal("2.25"), None]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    readings = read(path)
    np.testing.assert_array_equal(readings.points, [[1, 0.5], [2, 1.5]])
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False])
    assert readings.values[0, 0] == 2.25
