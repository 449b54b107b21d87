"""Workbooks of Excel, through openpyxl: one sheet is read as a table of cells."""

import datetime
import html
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.io.columns import Columns, check_row_count
from pgt.io.encoding import ZIP, check_file_start, max_unpacked_bytes
from pgt.io.file_access import missing_package, wrap_library_errors
from pgt.io.header import (
    MAX_HEADING_LINES,
    MAX_HEADING_ROW,
    complete_headings,
    merge_heading_rows,
    merge_position_rows,
)
from pgt.io.headings import Positions, parse_headings
from pgt.io.layout import (
    check_heading,
    check_orientation,
    explain_second_heading,
    find_layout_of_rows,
)
from pgt.io.selection import select_columns
from pgt.io.table import CellTable, Converter, LoadedColumns

OTHER_WORKBOOKS = (".xls", ".ods")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*(?:<f\b[^>]*/>|<f\b[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)"
)
SheetRow = tuple[int, list[str]]
MAX_WORKBOOK_BYTES = 500 << 20  # of the unpacked workbook


@register(".xlsx", ".xlsm", kind="reader")
def read_workbook(
    path: Path,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    *,
    sensors: dict[str, Positions] | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    """The columns `coords` and `others` of the only sheet, or of the sheet that the dialect names."""
    dialect = dialect or Dialect()
    return select_columns(open_sheet(path, dialect), coords, others, sensors, dialect)


@register(*OTHER_WORKBOOKS, kind="reader")
def refuse_other_workbook(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Refuse workbooks of other formats."""
    raise unreadable_workbook()


def unreadable_workbook() -> InputError:
    return InputError("this kind of workbook is not read; save it as .xlsx, or as CSV.")


def open_sheet(path: Path, dialect: Dialect) -> CellTable:
    """The table in a workbook."""
    name, rows = _read_sheet(path, dialect)
    if not rows:
        raise InputError("the sheet is empty; write one heading line with the column names first.")
    rows = [*merge_position_rows(rows[:MAX_HEADING_ROW]), *rows[MAX_HEADING_ROW:]]
    layout = find_layout_of_rows([cells for _, cells in rows])
    number, names = rows[layout.heading]
    above = rows[max(layout.heading - MAX_HEADING_LINES, 0) : layout.heading]
    names = merge_heading_rows(names, [cells for _, cells in above])
    check_heading(number, names)
    check_orientation(number, names, [cells[0] for _, cells in rows[layout.first :]])
    if len(rows) <= layout.first:
        raise InputError(f"row {number} is the heading, and nothing follows it.")
    units = None if layout.units is None else rows[layout.units][1]
    below = _fill_merged_cells(path, name, rows[layout.first :])
    check_row_count(len(below))

    def load(converters: dict[int, Converter]) -> LoadedColumns:
        lines = np.array([line for line, _ in below])
        columns = {at: [cells[at] for _, cells in below] for at in converters}
        with explain_second_heading(below, names, number):
            values = {at: convert(columns[at], lines) for at, convert in converters.items()}
        return values, lines

    notes = (f"sheet {name!r}", *layout.notes, *_note_hidden_rows(path))
    sample = [cells for _, cells in below]
    headings = complete_headings(parse_headings(names, units), sample)
    stem = path.name.partition(".")[0]
    return CellTable(headings, sample, load, notes, {}, stem).normalized()


def _read_sheet(path: Path, dialect: Dialect) -> tuple[str, list[SheetRow]]:
    """The name of the sheet, and its rows that are not empty, as text."""
    _check_size(path)
    _check_formulas(path)
    try:
        import openpyxl  # noqa: F401  # an optional dependency
    except ImportError:
        raise missing_package("openpyxl", "a workbook", "excel") from None
    with wrap_library_errors("a workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles, which do not matter
        frames = pd.read_excel(
            path, sheet_name=None, header=None, dtype=object, engine="openpyxl", na_filter=False
        )
    hidden = _hidden_sheets(path)
    filled = {name: f for name, f in frames.items() if f.size and name not in hidden}
    if dialect.sheet is not None:
        if dialect.sheet not in frames:
            raise InputError(
                f"there is no sheet {dialect.sheet!r}; there are {', '.join(map(repr, frames))}."
            )
        filled = {dialect.sheet: frames[dialect.sheet]}
    if len(filled) > 1:
        first = next(iter(filled))
        raise InputError(
            f"the sheets {', '.join(map(repr, filled))} all hold something; choose one: "
            f'`dialect=pgt.io.Dialect(sheet="{first}")`.'
        )
    for name, frame in filled.items():
        rows = [(n, [_cell_text(v) for v in row]) for n, row in enumerate(frame.to_numpy(), 1)]
        return name, [(n, cells) for n, cells in rows if any(cells) and cells[0][:1] != "#"]
    return "", []


def _hidden_sheets(path: Path) -> set[str]:
    """The names of hidden sheets."""
    with (
        wrap_library_errors("a workbook"),
        zipfile.ZipFile(path) as archive,
    ):  # name may be numbered
        parts = [name for name in archive.namelist() if re.fullmatch(r"xl/workbook\d*\.xml", name)]
        texts = [archive.read(name).decode("utf-8", "replace") for name in parts]
    sheets = [sheet for text in texts for sheet in re.findall(r"<(?:\w+:)?sheet\s[^>]*>", text)]
    hidden = [sheet for sheet in sheets if re.search(r'state="(?:veryH|h)idden"', sheet)]
    return {
        html.unescape(found[1])
        for sheet in hidden
        if (found := re.search(r'name="([^"]*)"', sheet))
    }


def _note_hidden_rows(path: Path) -> list[str]:
    """A note that hidden rows are read, too, for a workbook of one sheet."""
    sheets = _read_sheet_parts(path)
    hidden = re.findall(rb'<row\b[^>]*\shidden="(?:1|true)"', sheets[0]) if len(sheets) == 1 else []
    return [f"{len(hidden)} hidden row{'s' if len(hidden) > 1 else ''} read, too"] if hidden else []


def _read_sheet_parts(path: Path) -> list[bytes]:
    """The XML of all sheets."""
    with wrap_library_errors("a workbook"), zipfile.ZipFile(path) as archive:
        return [archive.read(name) for name in archive.namelist() if _SHEET.fullmatch(name)]


def _fill_merged_cells(path: Path, sheet: str, rows: list[SheetRow]) -> list[SheetRow]:
    """The rows, with the value of cells that are merged downwards repeated in each row."""
    if not rows or not any(b"<mergeCell " in part for part in _read_sheet_parts(path)):
        return rows
    import openpyxl

    by_number = {number: list(cells) for number, cells in rows}
    merged: Any = openpyxl.load_workbook(path, data_only=True)[sheet]
    for area in merged.merged_cells.ranges:
        if area.min_row not in by_number or area.min_col != area.max_col:
            continue
        for number in range(area.min_row + 1, area.max_row + 1):
            if number in by_number:
                by_number[number][area.min_col - 1] = by_number[area.min_row][area.min_col - 1]
    return list(by_number.items())


def _check_size(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(100)
    check_file_start(start)
    if not start.startswith(ZIP[:2]):
        raise InputError("this is no workbook; if it is a table as text, give it the ending .csv.")
    with wrap_library_errors("a workbook"), zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > (most := max_unpacked_bytes(path, MAX_WORKBOOK_BYTES)):
        raise InputError(
            f"the workbook unpacks to {size >> 20:,} MiB; at most {most >> 20} are read of one of its "
            "size. Save the sheet as CSV."
        )


def _check_formulas(path: Path) -> None:
    """Refuse formulas without a value: programs that write workbooks leave computing them to Excel."""
    for text in _read_sheet_parts(path):
        for cell in _FORMULA.finditer(text):
            if b't="str"' not in cell[1]:  # an empty text is a value
                where = re.search(rb'r="([A-Z]+\d+)"', cell[1])
                raise InputError(
                    f"the formula in {where[1].decode() if where else 'a cell'} has no value; open the "
                    "workbook in Excel or LibreOffice and save it there."
                )


def _cell_text(value) -> str:
    if value is None or value is pd.NaT:
        return ""
    if isinstance(value, datetime.datetime):  # a plain date has the time of midnight
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, datetime.timedelta):
        return _format_duration(value)
    return str(value).strip()


def _format_duration(value: datetime.timedelta) -> str:
    """A duration as hours, minutes and seconds, also beyond a day."""
    minutes, seconds = divmod(value.total_seconds(), 60.0)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours}:{minutes:02d}:{f'{seconds:09.6f}'.rstrip('0').rstrip('.')}"
