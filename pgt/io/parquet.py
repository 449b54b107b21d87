"""Parquet tables, through pyarrow."""

from pathlib import Path

import numpy as np

from pgt.data._checks import as_numbers
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io._files import need, understood
from pgt.io.columns import Columns, absent, check_count
from pgt.io.headings import parse_heading
from pgt.io.plain import numbers_or_dates


@register(".parquet", kind="reader")
def read(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """The columns `coords` and `others`; nulls are missing, units come from the fields' metadata."""
    try:
        import pyarrow.parquet  # an extra: only those who have such files need it
    except ImportError:
        raise need("pyarrow", "a Parquet file") from None
    wanted = coords + others
    with understood("Parquet"), pyarrow.parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        _check_unique(schema.names)
        for name in wanted:
            if name not in schema.names:
                raise absent(name, schema.names, _wide(schema.names))
        check_count(file.metadata.num_rows)
        table = file.read(columns=list(dict.fromkeys(wanted)), use_threads=False)
    values = {name: _numbers(name, table.column(name)) for name in wanted}
    metadata = {name: schema.field(name).metadata or {} for name in wanted}
    units = {
        n: m[b"units"].decode("utf-8", "replace") for n, m in metadata.items() if b"units" in m
    }
    return Columns(values, units)


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


def _wide(names: list[str]) -> str:
    """What to do where each column is a sensor, with its place in the heading."""
    if not any(parse_heading(name).places for name in names):
        return ""
    return " Sensors side by side are read from text and workbooks: write the table as CSV."
