"""Workbooks of Excel, through openpyxl: one sheet is read as a table of cells."""

import datetime
import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io.columns import check_row_count
from pgt.io.encoding import ZIP, check_file_start, max_unpacked_bytes
from pgt.io.file_access import missing_package, wrap_library_errors
from pgt.io.headings import parse_headings
from pgt.io.layout import (
    check_heading,
    check_orientation,
    explain_second_heading,
    find_layout_of_rows,
)
from pgt.io.selection import CellTable, Converter, LoadedColumns, name_index

_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*(?:<f\b[^>]*/>|<f\b[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)"
)
SheetRow = tuple[int, list[str]]
MAX_WORKBOOK_BYTES = 500 << 20  # of the unpacked workbook


def open_sheet(path: Path, dialect: Dialect) -> CellTable:
    """The table in a workbook."""
    name, rows = _read_sheet(path, dialect)
    if not rows:
        raise InputError("the sheet is empty; write one heading line with the column names first.")
    layout = find_layout_of_rows([cells for _, cells in rows])
    number, names = rows[layout.heading]
    check_heading(number, names)
    check_orientation(number, names, [cells[0] for _, cells in rows[layout.first :]])
    if len(rows) <= layout.first:
        raise InputError(f"row {number} is the heading, and nothing follows it.")
    units = None if layout.units is None else rows[layout.units][1]
    below = rows[layout.first :]
    check_row_count(len(below))

    def load(converters: dict[int, Converter]) -> LoadedColumns:
        lines = np.array([line for line, _ in below])
        columns = {at: [cells[at] for _, cells in below] for at in converters}
        with explain_second_heading(below, names, number):
            values = {at: convert(columns[at], lines) for at, convert in converters.items()}
        return values, lines

    sample = [cells for _, cells in below]
    headings = name_index(parse_headings(names, units), sample)
    stem = path.name.partition(".")[0]
    return CellTable(headings, sample, load, (f"sheet {name!r}", *layout.notes), {}, stem)


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
    filled = {name: frame for name, frame in frames.items() if frame.size}
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
    with wrap_library_errors("a workbook"), zipfile.ZipFile(path) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if _SHEET.fullmatch(name)]
    for text in sheets:
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
        minutes, seconds = divmod(value.total_seconds(), 60.0)
        return f"{int(minutes) // 60}:{int(minutes) % 60:02d}:{seconds:09.6f}"
    return str(value).strip()
