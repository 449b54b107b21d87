"""The columns by name that every reader returns, and arrays as numbers or dates."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pgt.core.errors import InputError, closest
from pgt.core.number_arrays import as_numbers
from pgt.io.time_stamps import is_time_stamp, parse_time_stamps

MAX_ROWS = 20_000_000  # more readings do not fit into memory with everything else
MAX_NAMES_SHOWN = 20  # in a message


@dataclass(frozen=True)
class Columns:
    """Columns of one length by name; NaN where a cell is missing, `datetime64` for dates.

    Attributes
    ----------
    values : by name.
    units : by name, where the file gives them.
    lines : in text files, the line of each row.
    notes : how the file was understood, in a few words each: "semicolons", "8 sensors".
    origin : by axis that counts from a moment, that moment: {"t": "2024-03-12T10:00:00"}.
    noise : σ as `Observations` take it, where the reader was given one.
    sensors : the name of the sensor of each row, where sensors have names.

    >>> Columns({"x": np.array([0.1, 0.7])}, units={"x": "m"}).units
    {'x': 'm'}
    """

    values: dict[str, np.ndarray]
    units: dict[str, str] = field(default_factory=dict)
    lines: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    origin: dict[str, str] = field(default_factory=dict)
    noise: Any = None
    sensors: np.ndarray | None = None

    def __len__(self) -> int:
        return max(map(len, self.values.values()), default=0)


def check_present(wanted: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that are not known."""
    known = tuple(known)
    for name in wanted:
        if name not in known:
            raise missing_column(name, known)


def missing_column(name: str, known: Iterable[str], hint: str = "") -> InputError:
    """The error that there is no such column, and what to write."""
    known = tuple(known)
    shown = known if len(known) <= MAX_NAMES_SHOWN else (*known[:MAX_NAMES_SHOWN], "…")
    return InputError(
        f"there is no column {name!r}.{closest(name, shown)} Where the file has another name for it, "
        f'write `columns={{{json.dumps(name)}: "name in the file"}}`.{hint}'
    )


def check_row_count(rows: int) -> None:
    """Refuse more rows than are read."""
    if rows > MAX_ROWS:
        raise InputError(
            f"there are {rows:,} rows or more; at most {MAX_ROWS:,} are read. Take every n-th, or "
            "a part."
        )


def as_numbers_or_dates(name: str, array: np.ndarray) -> np.ndarray:
    """An array as numbers or datetime64, of the same shape.

    >>> as_numbers_or_dates("t", np.array(["2024-03-12 10:00:00"]))
    array(['2024-03-12T10:00:00.000000'], dtype='datetime64[us]')
    """
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array.dtype.kind in "USO" and (texts := _texts_in(array)) and all(map(is_time_stamp, texts)):
        cells = [_decode_text(cell) for cell in array.ravel()]
        return parse_time_stamps(cells, np.arange(len(cells)), name, None).reshape(array.shape)
    return as_numbers(name, array)


def _texts_in(array: np.ndarray) -> list[str]:
    """The cells that are not empty, where all are text; otherwise nothing."""
    cells = [cell for cell in array.ravel().tolist() if cell is not None]
    is_text = all(isinstance(cell, str | bytes) for cell in cells)
    return [text for cell in cells if (text := _decode_text(cell))] if is_text else []


def _decode_text(cell) -> str:
    if cell is None:
        return ""
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)


POSITION_TOLERANCE = 1e-9  # relative to the extent of a coordinate, or the size of a reading


def add_sensor_and_line(
    table: pd.DataFrame, columns: Columns, coords: Sequence[str]
) -> pd.DataFrame:
    """A table of readings or sensors with the columns `sensor` and `line`, where the files have them.

    Rows are found by their position and, if given, by the reading. The mean of several readings has
    the line of the first.

    >>> found = Columns({"x": np.array([0.1, 0.7])}, lines=np.array([2, 3]))
    >>> add_sensor_and_line(pd.DataFrame({"x": [0.7]}), found, ("x",))["line"].tolist()
    ['3']
    """
    axes = [axis for axis in coords if axis in table.columns]
    rows = [_find_row(row, columns, axes) for row in table.to_dict("records")]
    lines = columns.lines if len(axes) == len(coords) else None  # a sensor has many lines
    for name, known in (("sensor", columns.sensors), ("line", lines)):
        if known is not None and rows:
            table = table.assign(**{name: ["" if k is None else str(known[k]) for k in rows]})
    return table


def _find_row(row: dict, columns: Columns, axes: Sequence[str]) -> int | None:
    """The first row of the files at this position, if possible with the same reading."""
    here = np.ones(len(columns), bool)
    for axis in axes:
        along = np.asarray(columns.values[axis], float)
        here &= np.abs(along - row[axis]) <= POSITION_TOLERANCE * max(
            np.ptp(along), np.abs(along).max()
        )
    values = columns.values.get(str(row.get("field")))
    if values is not None:
        here &= np.isfinite(values)
        if "reading" in row:
            alike = np.isclose(values, row["reading"], rtol=POSITION_TOLERANCE, atol=0.0)
            here = here & alike if (here & alike).any() else here
    return int(np.argmax(here)) if here.any() else None


ArrayNames = dict[str, str]  # by array in a file, what its attributes say it is
