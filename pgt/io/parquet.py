"""Parquet tables, through pyarrow."""

import datetime
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers
from pgt.core.registry import register
from pgt.io.columns import Columns, as_numbers_or_dates, check_row_count
from pgt.io.file_access import missing_package, wrap_library_errors
from pgt.io.headings import Positions, parse_headings
from pgt.io.selection import CellTable, Converter, LoadedColumns, name_index, select_columns

PARQUET_SAMPLE_ROWS = 5000  # rows that show what columns hold
PANDAS_INDEX = "__index_level_0__"  # the name that pandas gives an unnamed index


@register(".parquet", kind="reader")
def read_parquet(
    path: Path,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    *,
    sensors: dict[str, Positions] | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    """The columns `coords` and `others`; nulls are missing, units come from the metadata of fields."""
    wanted, table = coords + others, open_parquet_table(path)
    with _open_parquet(path) as file:
        names = file.schema_arrow.names
        is_plain = set(wanted) <= set(names) and not _has_text(file.schema_arrow, wanted)
        if sensors or dialect or not is_plain:
            found = select_columns(table, coords, others, sensors, dialect or Dialect())
            return replace(found, lines=None)  # a Parquet file has no lines
        check_row_count(file.metadata.num_rows)
        columns = file.read(columns=list(dict.fromkeys(wanted)), use_threads=False)
        values = {name: _column_values(name, columns.column(name)) for name in wanted}
        units = {name: unit for name, unit in _metadata_units(file).items() if name in wanted}
    return Columns(values, units)


def open_parquet_table(path: Path, _dialect: Dialect | None = None) -> CellTable:
    """The file as a table of cells, as if it were written as text."""
    with _open_parquet(path) as file:
        names = [*file.schema_arrow.names]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two columns are named {name!r}; rename one of them.")
        check_row_count(file.metadata.num_rows)
        if not file.metadata.num_rows:
            raise InputError("the table has no rows.")
        batch = next(file.iter_batches(PARQUET_SAMPLE_ROWS, use_threads=False))
        units = _metadata_units(file)
    names.sort(key=lambda name: name != PANDAS_INDEX)  # pandas puts it last
    rows = [*zip(*(_column_cells(batch.column(name)) for name in names), strict=True)]

    def load(converters: dict[int, Converter]) -> LoadedColumns:
        with _open_parquet(path) as file:
            columns = file.read(columns=[names[at] for at in converters], use_threads=False)
            lines = np.arange(1, columns.num_rows + 1)
            cells = {at: _column_cells(columns.column(names[at])) for at in converters}
        return {at: convert(cells[at], lines) for at, convert in converters.items()}, lines

    headings = parse_headings(["" if name == PANDAS_INDEX else name for name in names])
    own = [replace(h, unit=units.get(n, h.unit)) for h, n in zip(headings, names, strict=True)]
    stem = path.name.partition(".")[0]
    return CellTable(name_index(own, rows), rows, load, (), {}, stem)


@contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    try:
        import pyarrow.parquet  # an optional dependency
    except ImportError:
        raise missing_package("pyarrow", "a Parquet file") from None
    with wrap_library_errors("Parquet"), pyarrow.parquet.ParquetFile(path) as file:
        yield file


def _has_text(schema: Any, names: Sequence[str]) -> bool:
    """Whether a column is text, which may hold dates, units or words."""
    return any("string" in str(schema.field(name).type) for name in names)


def _metadata_units(file: Any) -> dict[str, str]:
    schema = file.schema_arrow
    metadata = {name: schema.field(name).metadata or {} for name in schema.names}
    return {n: m[b"units"].decode("utf-8", "replace") for n, m in metadata.items() if b"units" in m}


def _column_cells(column: Any) -> list[str]:
    """The cells of a column as text."""
    import pyarrow.types

    if pyarrow.types.is_timestamp(column.type):  # those with a zone are kept in UTC
        column = column.cast(pyarrow.timestamp("us"), safe=False)
    return [_cell_text(value) for value in column.to_pylist()]


def _cell_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    return str(value)


def _column_values(name: str, column) -> np.ndarray:
    import pyarrow.types

    if pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type):
        return column.cast("float64", safe=False).to_numpy()
    if pyarrow.types.is_decimal(column.type) or pyarrow.types.is_null(column.type):
        return as_numbers(name, np.array(column.to_pylist(), dtype=object))
    if pyarrow.types.is_timestamp(column.type):  # those with a zone are kept in UTC
        return column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
    if pyarrow.types.is_date(column.type):
        return column.cast(pyarrow.date32(), safe=False).to_numpy().astype("datetime64[us]")
    if pyarrow.types.is_duration(column.type):
        seconds = column.to_numpy() / np.timedelta64(1, "s")
        return np.asarray(seconds, float)
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        return as_numbers_or_dates(name, np.array(column.to_pylist(), dtype=object))
    raise InputError(f"column {name!r} holds {column.type} values; store numbers or dates.")
