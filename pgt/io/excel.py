"""Workbooks of Excel, through openpyxl: one sheet is read as a table of cells."""

import datetime
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io._files import need, understood
from pgt.io.columns import Columns, check_count
from pgt.io.headings import Places, parse_headings
from pgt.io.layout import check_names, find_rows
from pgt.io.table import Convert, Table, select

OTHERS = (".xls", ".ods")
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
    layout = find_rows([cells for _, cells in rows])
    number, names = rows[layout.heading]
    above = rows[layout.heading - 1][1] if layout.heading else names
    names = [" ".join((cell or other).split()) for cell, other in zip(names, above, strict=True)]
    check_names(number, names)
    if len(rows) <= layout.first:
        raise InputError(f"row {number} is the heading, and nothing follows it.")
    units = None if layout.units is None else rows[layout.units][1]
    below = rows[layout.first :]
    check_count(len(below))

    def load(converters: dict[int, Convert]) -> tuple[dict[int, np.ndarray], np.ndarray]:
        lines = np.array([line for line, _ in below])
        columns = {place: [cells[place] for _, cells in below] for place in converters}
        return {place: read(columns[place], lines) for place, read in converters.items()}, lines

    said = (f"sheet {name!r}", *layout.said)
    sample = [cells for _, cells in below]
    return Table(parse_headings(names, units), sample, load, said, {}, path.name.partition(".")[0])


def _sheet(path: Path, dialect: Dialect) -> tuple[str, list[tuple[int, list[str]]]]:
    """The name of the sheet, and its rows that are not empty, as text."""
    _check_size(path)
    try:
        import openpyxl  # noqa: F401  # an extra: only those who have workbooks need it
    except ImportError:
        raise need("openpyxl", "a workbook", "excel") from None
    with understood("a workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and such, which no reading depends on
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
            f"the sheets {', '.join(map(repr, filled))} all hold something; say which to read: "
            f'`dialect=pgt.io.Dialect(sheet="{first}")`.'
        )
    for name, frame in filled.items():
        rows = [(n, [_text(v) for v in row]) for n, row in enumerate(frame.to_numpy(), 1)]
        return name, [(n, cells) for n, cells in rows if any(cells) and cells[0][:1] != "#"]
    return "", []


def _check_size(path: Path) -> None:
    with understood("a workbook"), zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > LARGEST:
        raise InputError(
            f"the workbook unpacks to {size >> 20:,} MiB; at most {LARGEST >> 20} are read. Save "
            "the sheet as CSV."
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
