"""Columns by name out of tables and datasets."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pgt.core.errors import InputError
from pgt.data._readers import columns, flatten, read_table


def test_a_table_is_a_frame_or_a_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\ufeff x , u\n1, 2.5\n3,\n", encoding="utf-8")
    frame = read_table(path)
    assert list(frame.columns) == ["x", "u"]
    found = columns(frame, ("u", "x"))
    assert list(found) == ["u", "x"]
    np.testing.assert_array_equal(found["u"], [2.5, np.nan])
    assert read_table(pd.DataFrame({1: [0]})).columns.tolist() == ["1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,x \n1,2\n", "two columns named 'x'"),
        ("x,u\n1,2,3\n", "comma-separated"),
        ("", "could not"),
    ],
)
def test_tables_that_are_none(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(path)
    with pytest.raises(InputError, match="no file"):
        read_table(tmp_path / "b.csv")


def test_every_combination_of_the_dimensions_is_a_row():
    field = xr.Dataset(
        {"u": (("t", "x"), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], {"units": "K"}), "v": ("t", [7, 8])},
        {"x": [0.0, 1.0, 2.0], "t": ("t", [10.0, 20.0], {"units": "s"})},
    )
    points, values, units = flatten(field, None)
    assert (list(points), list(values), units) == (["x", "t"], ["u", "v"], {"t": "s", "u": "K"})
    rows = set(zip(points["x"], points["t"], values["u"], values["v"], strict=True))
    assert (1.0, 20.0, 5.0, 8) in rows
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (xr.DataArray([1.0]), "to_dataset"),
        (xr.Dataset({"u": ("depth", [1.0])}, {"x": 0.0}), "dimension 'depth'"),
        (xr.Dataset({"u": 1.0}), "no coordinate named"),
    ],
)
def test_datasets_without_places(dataset, message):
    with pytest.raises(InputError, match=message):
        flatten(dataset, None)
