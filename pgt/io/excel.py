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

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io._files import need, understood
from pgt.io.above import HIGH
from pgt.io.columns import Columns, check_count
from pgt.io.encoding import ZIP, check_is_no_other, most_unpacked
from pgt.io.headings import Places, parse_headings
from pgt.io.layout import check_another_heading, check_names, check_upright, find_rows
from pgt.io.placed import LOOKED_AT, in_heading
from pgt.io.stacked import named
from pgt.io.suffixed import without_units
from pgt.io.table import Convert, Table, select, titled
from pgt.io.unstacked import unstacked

OTHERS = (".xls", ".ods")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*(?:<f\b[^>]*/>|<f\b[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)"
)
Row = tuple[int, list[str]]
LARGEST = 500 << 20  # bytes of a workbook when it is unpacked


@register(".xlsx", ".xlsm", kind="reader")
def read(
    path: Path,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    *,
    sensors: dict[str, Places] | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    """The columns `coords` and `others` of the only sheet, or of the one that the dialect names."""
    dialect = dialect or Dialect()
    return select(sheet_of(path, dialect), coords, others, sensors, dialect)


@register(*OTHERS, kind="reader")
def read_others(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Other workbooks are not read."""
    raise other_workbook()


def other_workbook() -> InputError:
    return InputError("this kind of workbook is not read; save it as .xlsx, or as CSV.")


def sheet_of(path: Path, dialect: Dialect) -> Table:
    """The table in a workbook."""
    name, rows = _sheet(path, dialect)
    if not rows:
        raise InputError("the sheet is empty; write one heading line with the column names first.")
    rows = [*in_heading(rows[:LOOKED_AT]), *rows[LOOKED_AT:]]
    layout = find_rows([cells for _, cells in rows])
    number, names = rows[layout.heading]
    names = named(
        names, [cells for _, cells in rows[max(layout.heading - HIGH, 0) : layout.heading]]
    )
    check_names(number, names)
    check_upright(number, names, [cells[0] for _, cells in rows[layout.first :]])
    if len(rows) <= layout.first:
        raise InputError(f"row {number} is the heading, and nothing follows it.")
    units = None if layout.units is None else rows[layout.units][1]
    below = _with_merged(path, name, rows[layout.first :])
    check_count(len(below))

    def load(converters: dict[int, Convert]) -> tuple[dict[int, np.ndarray], np.ndarray]:
        lines = np.array([line for line, _ in below])
        columns = {place: [cells[place] for _, cells in below] for place in converters}
        with check_another_heading(below, names, number):
            values = {place: read(columns[place], lines) for place, read in converters.items()}
        return values, lines

    said = (f"sheet {name!r}", *layout.said, *_hidden_rows(path))
    sample = [cells for _, cells in below]
    headings = titled(parse_headings(names, units), sample)
    table = Table(headings, sample, load, said, {}, path.name.partition(".")[0])
    return unstacked(without_units(table))


def _sheet(path: Path, dialect: Dialect) -> tuple[str, list[Row]]:
    """The name of the sheet, and its rows that are not empty, as text."""
    _check_size(path)
    _check_formulas(path)
    try:
        import openpyxl  # noqa: F401  # an extra: only those who have workbooks need it
    except ImportError:
        raise need("openpyxl", "a workbook", "excel") from None
    with understood("a workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and such, which no reading depends on
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
            f"the sheets {', '.join(map(repr, filled))} all hold something; say which to read: "
            f'`dialect=pgt.io.Dialect(sheet="{first}")`.'
        )
    for name, frame in filled.items():
        rows = [(n, [_text(v) for v in row]) for n, row in enumerate(frame.to_numpy(), 1)]
        return name, [(n, cells) for n, cells in rows if any(cells) and cells[0][:1] != "#"]
    return "", []


def _hidden_sheets(path: Path) -> set[str]:
    """The names of sheets that the workbook does not show."""
    with understood("a workbook"), zipfile.ZipFile(path) as archive:  # some number it
        parts = [name for name in archive.namelist() if re.fullmatch(r"xl/workbook\d*\.xml", name)]
        texts = [archive.read(name).decode("utf-8", "replace") for name in parts]
    sheets = [sheet for text in texts for sheet in re.findall(r"<(?:\w+:)?sheet\s[^>]*>", text)]
    hidden = [sheet for sheet in sheets if re.search(r'state="(?:veryH|h)idden"', sheet)]
    return {
        html.unescape(found[1])
        for sheet in hidden
        if (found := re.search(r'name="([^"]*)"', sheet))
    }


def _hidden_rows(path: Path) -> list[str]:
    """That rows which the workbook does not show are read, too, where it has one sheet."""
    with understood("a workbook"), zipfile.ZipFile(path) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if _SHEET.fullmatch(name)]
    count = (
        len(re.findall(rb'<row\b[^>]*\shidden="(?:1|true)"', sheets[0])) if len(sheets) == 1 else 0
    )
    return [f"{count} hidden row{'s' if count > 1 else ''} read, too"] if count else []


def _with_merged(path: Path, sheet: str, rows: list[Row]) -> list[Row]:
    """The rows with the value of cells that are merged downwards in each of their rows."""
    with understood("a workbook"), zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if _SHEET.fullmatch(name)]
        if not rows or not any(b"<mergeCell " in archive.read(name) for name in sheets):
            return rows
    import openpyxl

    by_number = {number: list(cells) for number, cells in rows}
    merged: Any = openpyxl.load_workbook(path, data_only=True)[sheet]
    for area in merged.merged_cells.ranges:
        if area.min_row not in by_number or area.min_col != area.max_col:
            continue
        for number in range(area.min_row + 1, area.max_row + 1):
            cells = by_number.get(number)
            if cells is not None:
                cells[area.min_col - 1] = by_number[area.min_row][area.min_col - 1]
    return list(by_number.items())


def _check_size(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(100)
    check_is_no_other(start)
    if not start.startswith(ZIP[:2]):
        raise InputError("this is no workbook; if it is a table as text, give it the ending .csv.")
    with understood("a workbook"), zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > (most := most_unpacked(path, LARGEST)):
        raise InputError(
            f"the workbook unpacks to {size >> 20:,} MiB; at most {most >> 20} are read of one of its "
            "size. Save the sheet as CSV."
        )


def _check_formulas(path: Path) -> None:
    """Refuse formulas that nobody computed: programs that write workbooks leave that to Excel."""
    with understood("a workbook"), zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if _SHEET.fullmatch(name)]
        texts = [archive.read(name) for name in sheets]
    for text in texts:
        for cell in _FORMULA.finditer(text):
            if b't="str"' not in cell[1]:  # text that is empty
                where = re.search(rb'r="([A-Z]+\d+)"', cell[1])
                raise InputError(
                    f"the formula in {where[1].decode() if where else 'a cell'} has no value; open the "
                    "workbook in Excel or LibreOffice and save it there."
                )


def _text(value) -> str:
    if value is None or value is pd.NaT:
        return ""
    if isinstance(value, datetime.datetime):  # a date alone has midnight for its time
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, datetime.timedelta):
        return _hours(value)
    return str(value).strip()


def _hours(value: datetime.timedelta) -> str:
    """A length of time as hours, minutes and seconds, beyond a day too."""
    minutes, seconds = divmod(value.total_seconds(), 60.0)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours}:{minutes:02d}:{f'{seconds:09.6f}'.rstrip('0').rstrip('.')}"
