"""Which sensor took a reading, and where in its file the reading stands."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pgt.io.columns import Columns

SAME = 1e-9  # of the extent of a coordinate, or of the size of a reading


def named(table: pd.DataFrame, columns: Columns, coords: Sequence[str]) -> pd.DataFrame:
    """A table of readings or sensors with the columns `sensor` and `line`, where the files say them.

    Rows are found by their place and, where there is one, by what was read there; the mean of several
    readings has the line of the first.

    >>> found = Columns({"x": np.array([0.1, 0.7])}, lines=np.array([2, 3]))
    >>> named(pd.DataFrame({"x": [0.7]}), found, ("x",))["line"].tolist()
    ['3']
    """
    axes = [axis for axis in coords if axis in table.columns]
    rows = [_row(row, columns, axes) for row in table.to_dict("records")]
    lines = columns.lines if len(axes) == len(coords) else None  # a sensor stands in many lines
    for name, said in (("sensor", columns.sensors), ("line", lines)):
        if said is not None and rows:
            table = table.assign(**{name: ["" if k is None else str(said[k]) for k in rows]})
    return table


def _row(row: dict, columns: Columns, axes: Sequence[str]) -> int | None:
    """The first row of the files at this place that says the same, or else anything."""
    here = np.ones(len(columns), bool)
    for axis in axes:
        along = np.asarray(columns.values[axis], float)
        here &= np.abs(along - row[axis]) <= SAME * max(np.ptp(along), np.abs(along).max())
    values = columns.values.get(str(row.get("field")))
    if values is not None:
        here &= np.isfinite(values)
        if "reading" in row:
            alike = np.isclose(values, row["reading"], rtol=SAME, atol=0.0)
            here = here & alike if (here & alike).any() else here
    return int(np.argmax(here)) if here.any() else None
