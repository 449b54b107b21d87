"""Workbooks of Excel."""

import datetime
import sys

import pytest
from logger_files import CELLS, workbook
from sensor_files import write

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import excel, read_columns

NAMES = {"coords": ("x", "t"), "fields": ("T",)}


def test_units_in_a_second_row_and_empty_cells(tmp_path):
    rows = [["x", "t", "T"], ["m", "s", "°C"], [0.1, 0, 20.5], [0.5, 0, None], [], [0.5, 1, "OVER"]]
    found = read_columns(write(tmp_path, workbook(("A", rows)), "a.xlsx"), **NAMES)
    assert found.units == {"x": "m", "t": "s", "T": "°C"}
    assert found.lines.tolist() == [3, 4, 6]
    assert str(found.values["T"].tolist()) == "[20.5, nan, nan]"


@pytest.mark.parametrize(
    ("sheets", "dialect", "message"),
    [
        ([("A", CELLS), ("B", CELLS)], None, "'A', 'B' all hold something"),
        ([("A", CELLS)], Dialect(sheet="C"), "there is no sheet 'C'; there are 'A'"),
        ([("A", [])], None, "the sheet is empty"),
        ([("A", [["x", "t", "T"]])], None, "row 1 is the heading, and nothing follows"),
        ([("A", [["x", "t", "T"], [0, 0, "warm"]])], None, "line 2, column 'T': 'warm'"),
    ],
)
def test_sheets_that_are_not_read(tmp_path, sheets, dialect, message):
    path = write(tmp_path, workbook(*sheets), "a.xlsx")
    with pytest.raises(InputError, match=message):
        read_columns(path, dialect=dialect, **NAMES)


def test_large_workbooks_and_missing_packages(tmp_path, monkeypatch):
    path = write(tmp_path, workbook(("A", CELLS)), "a.xlsx")
    with monkeypatch.context() as patched:
        patched.setattr(excel, "MAX_WORKBOOK_BYTES", 100)
        with pytest.raises(InputError, match="the workbook unpacks to"):
            read_columns(path, **NAMES)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"needs the package openpyxl.*\[excel\]"):
        read_columns(path, **NAMES)
    with pytest.raises(InputError, match=r"save it as .xlsx"):
        read_columns(path.rename(tmp_path / "a.xls"), **NAMES)


def test_dates_and_lengths_of_time_are_text_as_one_writes_it():
    moment = datetime.datetime(2024, 3, 12)
    texts = [moment, moment.replace(hour=10), datetime.timedelta(days=1, hours=2, seconds=0.5)]
    assert [excel._cell_text(value) for value in texts] == [
        "2024-03-12", "2024-03-12 10:00:00", "26:00:00.500000",
    ]  # fmt: skip


def test_formulas_without_a_value_are_refused(tmp_path):
    """Hidden without a word they would be readings that are lost."""
    path = write(
        tmp_path, workbook(("A", [["x", "t", "T"], [0.1, 0, "=1+2"], [0.5, 0, 21]])), "a.xlsx"
    )
    with pytest.raises(InputError, match="the formula in C2 has no value; open the workbook"):
        read_columns(path, **NAMES)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [["x", "t", "T"], [0.1, 0, 20], [0.5, 0, 21], ["x", "t", "p"], [0.1, 0, 9]],
            "line 4 is another heading",
        ),
        ([["x", 0.1, 0.5, 0.1], ["t", 0, 0, 60], ["T", 20, 21, 22]], "the table lies on its side"),
    ],
)
def test_several_tables_and_those_on_their_side(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_columns(write(tmp_path, workbook(("A", rows)), "a.xlsx"), **NAMES)
