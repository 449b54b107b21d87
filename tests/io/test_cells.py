"""Tables of cells in whatever file."""

import pytest
from logger_files import CELLS, workbook
from sensor_files import write

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.cells import open_cells, read_sensors


def test_text_and_workbooks_alike(tmp_path):
    text = write(tmp_path, "x [m];t [s];T [°C]\n0,1;0;20,5\n0,5;0;21\n")
    book = write(tmp_path, workbook(("Data", CELLS)), "a.xlsx")
    for path in (text, book):
        with open_cells(path, Dialect()) as table:
            assert [heading.name for heading in table.headings] == ["x", "t", "T"]
            assert table.cells(1)[0].startswith("0")


def test_no_table_of_sensors_is_none():
    assert read_sensors(None, Dialect()) is None


def test_what_is_no_table_of_cells(tmp_path):
    with (
        pytest.raises(InputError, match=r"ending '.npz' is unknown"),
        open_cells(tmp_path / "a.npz", Dialect()),
    ):
        pass
