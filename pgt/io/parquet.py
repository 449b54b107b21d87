"""Parquet tables, through pyarrow."""

import datetime
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pgt.data._checks import as_numbers
from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io._files import need, understood
from pgt.io.columns import Columns, check_count
from pgt.io.headings import Places, parse_headings
from pgt.io.plain import numbers_or_dates
from pgt.io.suffixed import without_units
from pgt.io.table import Convert, Table, select, titled
from pgt.io.unstacked import unstacked

SAMPLE = 5000  # rows that show what columns are
INDEX = "__index_level_0__"  # what pandas calls an index without a name


@register(".parquet", kind="reader")
def read(
    path: Path,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    *,
    sensors: dict[str, Places] | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    """The columns `coords` and `others`; nulls are missing, units come from the fields' metadata."""
    wanted, table = coords + others, table_of(path)
    with _opened(path) as file:
        names = file.schema_arrow.names
        is_plain = set(wanted) <= set(names) and not _has_text(file.schema_arrow, wanted)
        if sensors or table.kinds or dialect or not is_plain:
            found = select(table, coords, others, sensors, dialect or Dialect())
            return replace(found, lines=None)  # which nobody can look up
        check_count(file.metadata.num_rows)
        columns = file.read(columns=list(dict.fromkeys(wanted)), use_threads=False)
        values = {name: _numbers(name, columns.column(name)) for name in wanted}
        units = {name: unit for name, unit in _units(file).items() if name in wanted}
    return Columns(values, units)


def table_of(path: Path, _dialect: Dialect | None = None) -> Table:
    """The file as a table of cells: what its columns are shows as it does in text."""
    with _opened(path) as file:
        names = [*file.schema_arrow.names]
        _check_unique(names)
        check_count(file.metadata.num_rows)
        if not file.metadata.num_rows:
            raise InputError("the table has no rows.")
        batch = next(file.iter_batches(SAMPLE, use_threads=False))
        units = _units(file)
    names.sort(key=lambda name: name != INDEX)  # pandas puts it last
    rows = [*zip(*(_cells(batch.column(name)) for name in names), strict=True)]

    def load(converters: dict[int, Convert]) -> tuple[dict[int, np.ndarray], np.ndarray]:
        with _opened(path) as file:
            wanted = [names[place] for place in converters]
            columns = file.read(columns=wanted, use_threads=False)
            lines = np.arange(1, columns.num_rows + 1)
            cells = {place: _cells(columns.column(names[place])) for place in converters}
        return {place: convert(cells[place], lines) for place, convert in converters.items()}, lines

    headings = parse_headings(["" if name == INDEX else name for name in names])
    own = [replace(h, unit=units.get(n, h.unit)) for h, n in zip(headings, names, strict=True)]
    table = Table(titled(own, rows), rows, load, (), {}, path.name.partition(".")[0])
    return unstacked(without_units(table))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        import pyarrow.parquet  # an extra: only those who have such files need it
    except ImportError:
        raise need("pyarrow", "a Parquet file") from None
    with understood("Parquet"), pyarrow.parquet.ParquetFile(path) as file:
        yield file


def _has_text(schema: Any, names: Sequence[str]) -> bool:
    """Whether a column is text, which may be more than numbers: dates, units, words."""
    return any("string" in str(schema.field(name).type) for name in names)


def _units(file: Any) -> dict[str, str]:
    schema = file.schema_arrow
    metadata = {name: schema.field(name).metadata or {} for name in schema.names}
    return {n: m[b"units"].decode("utf-8", "replace") for n, m in metadata.items() if b"units" in m}


def _cells(column: Any) -> list[str]:
    """A column as a table of text would have it."""
    import pyarrow.types

    if pyarrow.types.is_timestamp(column.type):  # those with a zone are kept in UTC
        column = column.cast(pyarrow.timestamp("us"), safe=False)
    return [_cell(value) for value in column.to_pylist()]


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    return str(value)


def _check_unique(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two columns are named {name!r}; rename one of them.")


def _numbers(name: str, column) -> np.ndarray:
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
        return numbers_or_dates(name, np.array(column.to_pylist(), dtype=object))
    raise InputError(f"column {name!r} holds {column.type} values; store numbers or dates.")
