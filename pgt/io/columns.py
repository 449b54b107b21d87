"""What every reader returns, and how a column is asked for."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from pgt.data._checks import closest
from pgt.ground.errors import InputError

MOST_ROWS = 20_000_000  # beyond this the readings no longer fit beside everything else


@dataclass(frozen=True)
class Columns:
    """Columns of one length by the names they have in the file; NaN where a cell is missing.

    >>> Columns({"x": np.array([0.1, 0.7])}, units={"x": "m"}).units
    {'x': 'm'}
    """

    values: dict[str, np.ndarray]
    units: dict[str, str] = field(default_factory=dict)
    lines: np.ndarray | None = None  # in text files, the line each row stands in


def check_present(wanted: Iterable[str], known: Iterable[str]) -> None:
    known = tuple(known)
    for name in wanted:
        if name not in known:
            raise InputError(
                f"there is no column {name!r}.{closest(name, known)} Where the file calls it "
                f'differently, say so: columns = {{"{name}": "name in the file"}}.'
            )


def check_count(rows: int) -> None:
    if rows > MOST_ROWS:
        raise InputError(
            f"there are {rows:,} rows or more; at most {MOST_ROWS:,} are read. Take every n-th, or "
            "a part."
        )
