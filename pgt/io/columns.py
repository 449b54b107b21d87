"""What every reader returns, and how a column is asked for."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pgt.data._checks import closest
from pgt.ground.errors import InputError

MOST_ROWS = 20_000_000  # beyond this the readings no longer fit beside everything else
SHOWN = 20  # names in a message


@dataclass(frozen=True)
class Columns:
    """Columns of one length by name; NaN where a cell is missing, `datetime64` where it is a date.

    Attributes
    ----------
    values : by name.
    units : where the file says them.
    lines : in text files, the line each row stands in.
    said : how the file was understood, in a few words each: "semicolons", "8 sensors".
    origin : of an axis that counts from a moment, that moment: {"t": "2024-03-12T10:00:00"}.
    noise : σ as `Observations` take it, where a reader was told of it.
    sensors : the name of the sensor of each row, where they have names.

    >>> Columns({"x": np.array([0.1, 0.7])}, units={"x": "m"}).units
    {'x': 'm'}
    """

    values: dict[str, np.ndarray]
    units: dict[str, str] = field(default_factory=dict)
    lines: np.ndarray | None = None
    said: tuple[str, ...] = ()
    origin: dict[str, str] = field(default_factory=dict)
    noise: Any = None
    sensors: np.ndarray | None = None

    def __len__(self) -> int:
        return max(map(len, self.values.values()), default=0)


def check_present(wanted: Iterable[str], known: Iterable[str]) -> None:
    known = tuple(known)
    for name in wanted:
        if name not in known:
            raise absent(name, known)


def absent(name: str, known: Iterable[str], hint: str = "") -> InputError:
    """That there is no such column, and what to write."""
    known = tuple(known)
    shown = known if len(known) <= SHOWN else (*known[:SHOWN], "…")
    return InputError(
        f"there is no column {name!r}.{closest(name, shown)} Where the file calls it "
        f'differently, say so: `columns={{{json.dumps(name)}: "name in the file"}}`.{hint}'
    )


def check_count(rows: int) -> None:
    if rows > MOST_ROWS:
        raise InputError(
            f"there are {rows:,} rows or more; at most {MOST_ROWS:,} are read. Take every n-th, or "
            "a part."
        )
